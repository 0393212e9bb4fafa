/* Answers of the Prometheus API: the parts read, and refusals. */
#include "scrape/query_answer.h"
#include "unit.h"

#include <math.h>

struct seen {
	char text[512];
	size_t series;
	bool enough;
};

static bool begin(void *data, const struct exposition_series *series)
{
	struct seen *s = data;
	size_t len = strlen(s->text);
	struct slice instance = exposition_label(series, "instance");
	s->series++;
	snprintf(s->text + len, sizeof s->text - len, "%.*s/%.*s/%zu:", (int)series->name.len, series->name.data,
	         (int)instance.len, instance.len ? instance.data : "", series->labels_count);
	return !s->enough;
}

static void take(void *data, double unix_s, double value)
{
	struct seen *s = data;
	size_t len = strlen(s->text);
	snprintf(s->text + len, sizeof s->text - len, " %g=%g", unix_s, value);
}

static bool name(void *data, struct slice text)
{
	struct seen *s = data;
	size_t len = strlen(s->text);
	snprintf(s->text + len, sizeof s->text - len, "<%.*s>", (int)text.len, text.data);
	return !s->enough;
}

static int read_range(const char *text, struct seen *seen, struct ipf_error *err)
{
	const struct query_handler handler = {seen, begin, take};
	struct jdoc doc = {0};
	int status = query_answer_range(&doc, slice_of(text), &handler, err);
	jdoc_release(&doc);
	return status;
}

static void range_is_read(void **state)
{
	struct seen seen = {0};
	struct ipf_error err = {0};
	(void)state;
	assert_int_equal(read_range("{\"status\":\"success\",\"data\":{\"resultType\":\"matrix\",\"result\":["
	                            "{\"metric\":{\"__name__\":\"a:b\",\"instance\":\"h\\u0041:1\",\"x\":\"\"},"
	                            "\"values\":[[10.5,\"3\"],[11,\"-1e3\"],[12,\"+Inf\"]]},"
	                            "{\"metric\":{},\"histograms\":[]}]}}",
	                            &seen, &err),
	                 0);
	assert_string_equal(seen.text, "a:b/hA:1/2: 10.5=3 11=-1000 12=inf//0:");
	seen = (struct seen){.enough = true};
	assert_int_equal(read_range("{\"status\":\"success\",\"data\":{\"resultType\":\"matrix\",\"result\":["
	                            "{\"metric\":{},\"values\":[[1,\"2\"]]},{\"metric\":{},\"values\":[]}]}}",
	                            &seen, &err),
	                 0);
	assert_int_equal(seen.series, 1);
	assert_string_equal(seen.text, "//0:");
}

static void others_are_refused(void **state)
{
	static const char *const wrong[] = {
		"",
		"[]",
		"{}",
		"<html>",
		"{\"status\":\"success\"}",
		"{\"status\":\"success\",\"data\":{\"resultType\":\"vector\",\"result\":[]}}",
		"{\"status\":\"odd\",\"data\":{\"resultType\":\"matrix\",\"result\":[]}}",
		"{\"status\":\"success\",\"data\":{\"resultType\":\"matrix\",\"result\":[{\"metric\":{\"a\":1}}]}}",
		"{\"status\":\"success\",\"data\":{\"resultType\":\"matrix\",\"result\":[{\"metric\":{},\"values\":[[1,2]]}]}}",
		"{\"status\":\"success\",\"data\":{\"resultType\":\"matrix\",\"result\":[{\"metric\":{},\"values\":[[1]]}]}}",
		"{\"status\":\"success\",\"data\":{\"resultType\":\"matrix\",\"result\":[{\"metric\":{},\"values\":[[1,\"x\"]]}]}}",
	};
	(void)state;
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		struct seen seen = {0};
		struct ipf_error err = {0};
		assert_int_equal(read_range(wrong[i], &seen, &err), -1);
		assert_int_equal(err.kind, IPF_INPUT);
		assert_non_null(strstr(err.text, "no answer of the Prometheus API"));
	}
}

static void errors_are_the_servers(void **state)
{
	struct seen seen = {0};
	struct ipf_error err = {0}, none = {0};
	struct jdoc doc = {0};
	(void)state;
	assert_int_equal(
		read_range("{\"status\":\"error\",\"errorType\":\"bad_data\",\"error\":\"no \\u001b[2J\"}", &seen, &err), -1);
	assert_non_null(strstr(err.text, "bad_data: no "));
	assert_null(strchr(err.text, '\033'));
	assert_int_equal(query_answer_error(&doc, slice_of("{\"status\":\"success\"}"), &none), 0);
	assert_int_equal(query_answer_error(&doc, slice_of("<html>"), &none), 0);
	assert_int_equal(none.kind, IPF_OK);
	jdoc_release(&doc);
}

static void names_are_read(void **state)
{
	struct seen seen = {0}, first = {.enough = true};
	struct ipf_error err = {0};
	struct jdoc doc = {0};
	const struct slice body = slice_of("{\"status\":\"success\",\"data\":[\"up\",\"vllm:a\"]}");
	(void)state;
	assert_int_equal(query_answer_names(&doc, body, name, &seen, &err), 0);
	assert_string_equal(seen.text, "<up><vllm:a>");
	assert_int_equal(query_answer_names(&doc, body, name, &first, &err), 0);
	assert_string_equal(first.text, "<up>");
	assert_int_equal(query_answer_names(&doc, slice_of("{\"status\":\"success\",\"data\":[1]}"), name, &seen, &err),
	                 -1);
	jdoc_release(&doc);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(range_is_read),
		cmocka_unit_test(others_are_refused),
		cmocka_unit_test(errors_are_the_servers),
		cmocka_unit_test(names_are_read),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
