#include "absent.h"
#include "api/response.h"
#include "clock.h"
#include "collect_cases.h"
#include "measure/measure.h"
#include "stats/rng.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { CASES = sizeof collect_cases / sizeof *collect_cases };

static struct api *api;
static struct response response;
static struct measure measure;

/* ---- making a record, showing a row ---- */

struct made {
	struct record record;
	struct buffer body;
	struct record_read reads[4096];
};

static void make_record(struct made *m, const struct collect_case *c)
{
	record_init(&m->record);
	buffer_clear(&m->body);
	m->record.n = m->record.req = m->record.stage = 0;
	m->record.asked_input_tokens = 5;
	m->record.start_ns = 0;
	m->record.status = c->status > 0 ? c->status : c->status ? IPF_ABSENT : 200;
	m->record.error = c->error;
	m->record.streamed = !c->whole;
	size_t count = 0;
	for (size_t i = 0; i < sizeof c->reads / sizeof *c->reads && c->reads[i]; i++) {
		int64_t t_ns = (int64_t)(i + 1) * 10 * NS_PER_MS;
		m->record.end_ns = t_ns;
		if (!*c->reads[i])
			continue;
		m->reads[count++] = (struct record_read){t_ns, (int64_t)strlen(c->reads[i]), t_ns};
		buffer_text(&m->body, c->reads[i]);
	}
	m->record.reads = m->reads;
	m->record.reads_count = count;
	m->record.body = m->body.len ? buffer_all(&m->body) : (struct slice){0};
}

static void show_text(struct buffer *out, const char *name, struct slice json)
{
	struct jdoc doc = {0};
	struct ipf_error err = {0};
	if (!json.data)
		return;
	buffer_text(out, name);
	assert_int_equal(jdoc_parse(&doc, json.data, json.len, &err), 0);
	jdoc_text(&doc, JDOC_ROOT, out);
	jdoc_release(&doc);
}

static void show_ms(struct buffer *out, const char *name, int64_t ns)
{
	if (ns != IPF_ABSENT)
		buffer_format(out, " %s=%lld", name, (long long)(ns / NS_PER_MS));
}

static void show_count(struct buffer *out, const char *name, int64_t count)
{
	if (count != IPF_ABSENT)
		buffer_format(out, " %s=%lld", name, (long long)count);
}

static void summary(const struct result *row, struct buffer *out)
{
	buffer_clear(out);
	if (row->ok)
		buffer_text(out, "ok");
	show_text(out, "", row->error_kind);
	show_text(out, ":", row->error_text);
	show_count(out, "ev", row->events);
	show_count(out, "co", row->coalesced);
	show_count(out, "ae", row->after_end);
	show_ms(out, "ttft", row->ttft_ns);
	show_ms(out, "ttfa", row->ttfa_ns);
	show_ms(out, "ttst", row->ttst_ns);
	show_ms(out, "e2e", row->e2e_ns);
	show_ms(out, "tpot", row->tpot_ns);
	show_ms(out, "corrected", row->tpot_corrected_ns);
	show_ms(out, "mean", row->itl_mean_ns);
	show_ms(out, "max", row->itl_max_ns);
	show_count(out, "st", row->stalls);
	show_count(out, "in", row->input_tokens);
	show_count(out, "out", row->output_tokens);
	show_text(out, "/", row->tokens_source);
	show_count(out, "rt", row->reasoning_tokens);
	show_count(out, "ct", row->cached_tokens);
	show_text(out, " fin=", row->finish);
	show_text(out, " in one piece: ", row->not_streamed);
}

static void understand(const struct made *m, struct result *row)
{
	const struct response_options response_options = {.keep_text = true};
	const struct measure_options measure_options = {.keep_text = true, .stall_ns = IPF_ABSENT};
	struct ipf_error err = {0};
	assert_int_equal(response_parse(&response, &m->record, api, &response_options, &err), 0);
	assert_int_equal(measure_row(&measure, &m->record, &response, &measure_options, row, &err), 0);
}

/* ---- tests ---- */

static void every_case_is_understood(void **state)
{
	(void)state;
	static struct made m;
	struct buffer got = {0};
	int wrong = 0;
	for (size_t i = 0; i < CASES; i++) {
		const struct collect_case *c = &collect_cases[i];
		struct result row;
		make_record(&m, c);
		understand(&m, &row);
		summary(&row, &got);
		bool same = !strcmp(got.data, c->expected);
		if (c->text) {
			struct buffer text = {0};
			show_text(&text, "", row.text);
			same = same && text.data && !strcmp(text.data, c->text);
			buffer_release(&text);
		}
		if (!same)
			print_error("%s:\n  got      %s\n  expected %s\n", c->name, got.data, c->expected);
		wrong += !same;
	}
	buffer_release(&got);
	assert_int_equal(wrong, 0);
}

/* The row as a line, less the members that may depend on how the bytes were split. */
static void line_of(struct made *m, struct buffer *line)
{
	struct result row;
	understand(m, &row);
	if (row.coalesced != IPF_ABSENT)
		row.coalesced = 0;
	result_write(&row, line);
}

/* Pieces of random sizes, all at the time of the first one. */
static void split(struct made *m, struct rng *rng, uint64_t largest)
{
	size_t at = 0, count = 0;
	for (; at < m->body.len; count++) {
		size_t len = 1 + rng_below(rng, largest);
		len = len < m->body.len - at ? len : m->body.len - at;
		m->reads[count] = (struct record_read){10 * NS_PER_MS, (int64_t)len, 10 * NS_PER_MS};
		at += len;
	}
	m->record.reads_count = count;
}

static void reads_never_change_what_is_understood(void **state)
{
	(void)state;
	static struct made m;
	const uint64_t seed = 5;
	struct buffer expected = {0}, got = {0};
	struct rng rng;
	rng_init(&rng, seed, "splits", 0);
	for (size_t i = 0; i < CASES; i++) {
		make_record(&m, &collect_cases[i]);
		assert_true(m.body.len < sizeof m.reads / sizeof *m.reads);
		split(&m, &rng, 1);
		line_of(&m, &expected);
		for (int round = 0; round < 30; round++) {
			split(&m, &rng, round < 10 ? 3 : 300);
			line_of(&m, &got);
			if (strcmp(got.data, expected.data) != 0)
				fail_msg("seed %llu, %s, round %d:\n%s\n%s", (unsigned long long)seed, collect_cases[i].name, round,
				         got.data, expected.data);
		}
	}
	buffer_release(&expected);
	buffer_release(&got);
}

/* An event counts at the read that brought its last byte: one that comes byte by byte, a millisecond each, shows it. */
static void events_end_with_their_last_byte(void **state)
{
	(void)state;
	static struct made m;
	static const struct collect_case two = {.name = "two", .reads = {TEXT("a") "\n\n" TEXT("b") DONE}};
	struct result row;
	make_record(&m, &two);
	for (size_t i = 0; i < m.body.len; i++)
		m.reads[i] = (struct record_read){(int64_t)(i + 1) * NS_PER_MS, 1, 0};
	m.record.reads_count = m.body.len;
	understand(&m, &row);
	assert_int_equal(row.ttft_ns, (int64_t)strlen(TEXT("a")) * NS_PER_MS);
	assert_int_equal(row.e2e_ns, (int64_t)strlen(TEXT("a") "\n\n" TEXT("b")) * NS_PER_MS);
}

/* Stamps of the kernel are converted from another clock and may step back a little: events don't. */
static void time_never_steps_back(void **state)
{
	(void)state;
	static struct made m;
	static const struct collect_case three = {.name = "three", .reads = {TEXT("a"), TEXT("b"), TEXT("c"), DONE}};
	struct result row;
	make_record(&m, &three);
	m.reads[1].t_ns = m.reads[0].t_ns - 5;
	understand(&m, &row);
	assert_int_equal(row.ttst_ns, 0);
	assert_int_equal(row.e2e_ns, 30 * NS_PER_MS);
}

static int open_api(void **state)
{
	(void)state;
	struct ipf_error err = {0};
	return api_open(&api, "openai-chat", &err);
}

static int close_api(void **state)
{
	(void)state;
	api_close(api);
	response_release(&response);
	measure_release(&measure);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_case_is_understood),
		cmocka_unit_test(reads_never_change_what_is_understood),
		cmocka_unit_test(time_never_steps_back),
		cmocka_unit_test(events_end_with_their_last_byte),
	};
	return cmocka_run_group_tests_name("collect/response", tests, open_api, close_api);
}
