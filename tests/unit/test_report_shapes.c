/* Saved reports that are valid JSON of a wrong shape: each member can be of any kind, or missing. */
#include "unit.h"

#include "document/document_md.h"
#include "document/document_text.h"
#include "html/document_html.h"
#include "sections/sections.h"

#include <stdlib.h>
#include <string.h>

static json_t *load(const char *path)
{
	const char *tests = getenv("TESTS");
	char name[1000];
	json_error_t wrong;
	snprintf(name, sizeof name, "%s/%s", tests ? tests : "tests", path);
	json_t *json = json_load_file(name, 0, &wrong);
	if (!json)
		fail_msg("%s: %s", name, wrong.text);
	return json;
}

static void show(json_t *report, bool brief)
{
	struct document d = {0};
	struct buffer text = {0}, md = {0}, page = {0};
	struct ipf_error err = {0};
	struct report_view view = {.brief = brief};
	assert_int_equal(report_document(&d, report, &view, &err), 0);
	document_text(&d, &(struct text_style){.width = brief ? 80 : 40}, &text);
	document_md(&d, &md);
	document_html(&d, &page);
	assert_false(text.failed || md.failed || page.failed);
	buffer_byte(&text, 0);
	if (strstr(text.data, "(null)"))
		fail_msg("a text that is missing: %.200s", strstr(text.data, "(null)"));
	buffer_release(&text);
	buffer_release(&md);
	buffer_release(&page);
	document_release(&d);
}

static size_t count_of(json_t *json)
{
	const char *key;
	json_t *value;
	size_t count = 1, i;
	json_object_foreach(json, key, value) count += count_of(value);
	json_array_foreach(json, i, value) count += count_of(value);
	return count;
}

/* Puts another value in the place of the value number *at below, and counts *at down to 0. */
static void replace(json_t *json, size_t *at, json_t *by)
{
	const char *key;
	json_t *value;
	void *next;
	size_t i;
	json_object_foreach_safe(json, next, key, value)
	{
		if (*at == 0)
			return;
		if (--*at == 0) {
			json_object_set(json, key, by);
			return;
		}
		replace(value, at, by);
	}
	json_array_foreach(json, i, value)
	{
		if (*at == 0)
			return;
		if (--*at == 0) {
			json_array_set(json, i, by);
			return;
		}
		replace(value, at, by);
	}
}

static void other_values(const char *path, int rounds)
{
	static const char *const values[] = {"null",
	                                     "5",
	                                     "-1",
	                                     "1e300",
	                                     "-9223372036854775808",
	                                     "\"\"",
	                                     "\"x\"",
	                                     "\"inf\"",
	                                     "[]",
	                                     "{}",
	                                     "[null]",
	                                     "[{}]",
	                                     "[[1]]",
	                                     "true",
	                                     "{\"x\": null}",
	                                     "{\"p50\": 1}",
	                                     "[1, \"x\"]",
	                                     "{\"x\": {\"x\": {}}}"};
	uint64_t random = test_seed(path);
	json_t *report = load(path);
	const size_t count = count_of(report);
	show(report, true);
	for (int round = 0; round < rounds; round++) {
		json_t *changed = json_deep_copy(report);
		for (uint64_t k = test_random(&random) % 3 + 1; k > 0; k--) {
			size_t at = 1 + test_random(&random) % (count - 1);
			json_t *value = json_loads(values[test_random(&random) % (sizeof values / sizeof *values)], JSON_DECODE_ANY,
			                           NULL);
			replace(changed, &at, value);
			json_decref(value);
		}
		show(changed, round % 2);
		json_decref(changed);
	}
	json_decref(report);
}

static void members_of_other_kinds(void **state)
{
	(void)state;
	other_values("data/report/mixed.json", 400);
	other_values("fuzz/corpus/report_saved/run.json", 400);
}

/* Each member of the first levels, of each kind. */
static void first_members(void **state)
{
	(void)state;
	static const char *const values[] = {"null", "5", "\"x\"", "[]", "{}", "[{}]", "[[]]", "[null, 1]", "{\"x\": 1}"};
	json_t *report = load("fuzz/corpus/report_saved/run.json"), *member;
	const char *name;
	json_object_foreach(report, name, member)
	{
		for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
			json_t *changed = json_copy(report);
			json_object_set_new(changed, name, json_loads(values[i], JSON_DECODE_ANY, NULL));
			show(changed, true);
			show(changed, false);
			json_object_del(changed, name);
			show(changed, false);
			json_decref(changed);
		}
	}
	json_decref(report);
	report = load("fuzz/corpus/report_saved/shapes.json");
	show(report, true);
	show(report, false);
	json_decref(report);
}

static void nothing_at_all(void **state)
{
	(void)state;
	json_t *empty = json_object(), *list = json_array();
	show(empty, true);
	show(empty, false);
	show(list, false);
	show(NULL, true);
	json_decref(empty);
	json_decref(list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(members_of_other_kinds),
		cmocka_unit_test(first_members),
		cmocka_unit_test(nothing_at_all),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
