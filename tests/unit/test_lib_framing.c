#include "api/framing.h"
#include "stats/rng.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Shows events as `name|data@end;`, a pending one with `?`, a bare one with `!`. */
static void show_event(struct buffer *out, const struct framing_event *e)
{
	buffer_slice(out, e->name);
	buffer_byte(out, '|');
	for (size_t i = 0; i < e->data.len; i++)
		buffer_byte(out, e->data.data[i] == '\n' ? '/' : e->data.data[i]);
	buffer_format(out, "@%zu%s%s;", e->end, e->pending ? "?" : "", e->bare ? "!" : "");
}

static void frame(enum framing_kind kind, struct slice body, struct buffer *out)
{
	struct framing f = {0};
	struct framing_event e;
	buffer_clear(out);
	buffer_text(out, "");
	framing_begin(&f, kind, body);
	while (framing_next(&f, &e))
		show_event(out, &e);
	framing_release(&f);
}

static void gives(enum framing_kind kind, const char *body, const char *expected)
{
	struct buffer out = {0};
	frame(kind, slice_of(body), &out);
	if (strcmp(out.data, expected) != 0)
		fail_msg("of \"%s\": got \"%s\", expected \"%s\"", body, out.data, expected);
	buffer_release(&out);
}

static void sse_lines_end_in_three_ways(void **state)
{
	(void)state;
	gives(FRAMING_SSE, "data: a\n\ndata: b\n\n", "|a@9;|b@18;");
	gives(FRAMING_SSE, "data: a\r\n\r\ndata: b\r\n\r\n", "|a@11;|b@22;");
	gives(FRAMING_SSE, "data: a\r\rdata: b\r\r", "|a@9;|b@18;");
	gives(FRAMING_SSE, "data: a\r\n\ndata: b\n\r\n", "|a@10;|b@20;");
	gives(FRAMING_SSE, "data: a\n\rdata: b\r\r\n", "|a@9;|b@19;");
	gives(FRAMING_SSE, "\n\n\r\n\rdata: a\n\n\n\n", "|a@14;");
}

static void sse_fields(void **state)
{
	(void)state;
	gives(FRAMING_SSE, "data:a\n\n", "|a@8;");
	gives(FRAMING_SSE, "data:  a \n\n", "| a @11;");
	gives(FRAMING_SSE, "data\n\n", "|@6;");
	gives(FRAMING_SSE, "data:\n\n", "|@7;");
	gives(FRAMING_SSE, "data: a: b\n\n", "|a: b@12;");
	gives(FRAMING_SSE, ": ping\n\ndata: a\n\n", "|a@17;");
	gives(FRAMING_SSE, ":\ndata: a\n:x\n\n", "|a@14;");
	gives(FRAMING_SSE, "id: 1\nretry: 5\ndata: a\n\n", "|a@24;");
	gives(FRAMING_SSE, "event: x\ndata: a\n\ndata: b\n\n", "x|a@18;|b@27;");
	gives(FRAMING_SSE, "data: a\nevent: x\n\n", "x|a@18;");
	gives(FRAMING_SSE, "event: x\n\n", "x|@10;");
	gives(FRAMING_SSE, "dataset: a\ndata : a\n\n", "");
	gives(FRAMING_SSE, "data: a\ndata: b\n\n", "|a/b@17;");
	gives(FRAMING_SSE, "data: a\ndata\ndata: c\n\ndata: d\n\n", "|a//c@22;|d@31;");
}

static void sse_begins_and_ends(void **state)
{
	(void)state;
	gives(FRAMING_SSE, "", "");
	gives(FRAMING_SSE,
	      "\xEF\xBB\xBF"
	      "data: a\n\n",
	      "|a@12;");
	gives(FRAMING_SSE, "\xEF\xBB\xBF", "");
	gives(FRAMING_SSE, "data: a", "|a@7?;");
	gives(FRAMING_SSE, "data: a\n", "|a@8?;");
	gives(FRAMING_SSE, "data: a\r\n", "|a@9?;");
	gives(FRAMING_SSE, "data: a\n\ndata: b", "|a@9;|b@16?;");
	gives(FRAMING_SSE, "data: a\n\n: bye", "|a@9;");
}

static void servers_habits(void **state)
{
	(void)state;
	gives(FRAMING_SSE, "error: {\"code\":500}\n\n", "error|{\"code\":500}@21;");
	gives(FRAMING_SSE, "data: a\n\n{\"error\":\"x\"}\ndata: b\n\n", "|a@9;|{\"error\":\"x\"}@23!;|b@32;");
	gives(FRAMING_SSE, "{\"error\":\"x\"}", "|{\"error\":\"x\"}@13?!;");
}

static void an_object_outside_events_may_have_several_lines(void **state)
{
	(void)state;
	gives(FRAMING_SSE, "data: a\n\n{\n  \"e\": [\n    {}\n  ]\n}\n", "|a@9;|{/  \"e\": [/    {}/  ]/}@33!;");
	gives(FRAMING_SSE, "{\n\"e\":1\n}", "|{/\"e\":1/}@9!;");
	gives(FRAMING_SSE, "[{\r\n\"e\":1\r\n}\r\n]\r\ndata: a\n\n", "|{\r/\"e\":1\r/}@14!;|a@26;");
	gives(FRAMING_SSE, "data: a\n\n[\n  {\n\"e\": \"}\\\"{\"\n}\n]\n", "|a@9;|{/\"e\": \"}\\\"{\"/}@29!;");
	/* lines of other objects are lines as before */
	gives(FRAMING_SSE, "{\n\"e\":\ndata: a\n\n", "|{@2!;|a@16;");
	gives(FRAMING_SSE, "{\n\"a\n}\"\n{\"e\":1}\n", "|{@2!;|{\"e\":1}@16!;");
	gives(FRAMING_SSE, "{\n{\n{\n", "|{@2!;|{@4!;|{@6!;");
}

static void lines_after_data_may_lack_it(void **state)
{
	(void)state;
	gives(FRAMING_SSE, "data: {\n  \"e\": 1\n}\n\ndata: a\n\n", "|{/  \"e\": 1/}@20;|a@29;");
	gives(FRAMING_SSE, "event: x\ndata: {\r\n\"e\": 1\r\n}\r\n\r\n", "x|{\r/\"e\": 1\r/}@31;");
	gives(FRAMING_SSE, "data: {\"a\":1}\njunk\n\n", "|{\"a\":1}@20;");
	gives(FRAMING_SSE, "data: {\njunk\n\n", "|{@14;");
}

static void strange_lines_are_counted(void **state)
{
	(void)state;
	struct framing f = {0};
	struct framing_event e;
	framing_begin(&f, FRAMING_SSE, slice_of("<html>\n<body>\n</html>\n"));
	assert_false(framing_next(&f, &e));
	assert_int_equal(f.unknown, 3);
	framing_begin(&f, FRAMING_SSE, slice_of(": ping\n\nid: 5\nretry: 1\n\n"));
	assert_false(framing_next(&f, &e));
	assert_int_equal(f.unknown, 0);
	framing_release(&f);
}

static void ndjson(void **state)
{
	(void)state;
	gives(FRAMING_NDJSON, "{\"a\":1}\n{\"b\":2}\r\n\n  \n {\"c\":3}\n", "|{\"a\":1}@8;|{\"b\":2}@17;|{\"c\":3}@30;");
	gives(FRAMING_NDJSON, "{\"a\":1}\n{\"b\"", "|{\"a\":1}@8;|{\"b\"@12?;");
	gives(FRAMING_NDJSON, "", "");
	gives(FRAMING_NDJSON, "\n \n", "");
	gives(FRAMING_NDJSON, "{\"a\":1}\n{\n  \"b\": [\n  2]\n}\n{\"c\":3}\n",
	      "|{\"a\":1}@8;|{/  \"b\": [/  2]/}@26;|{\"c\":3}@34;");
	gives(FRAMING_NDJSON, "{\"a\": [\n{\"b\":2}\n", "|{\"a\": [@8;|{\"b\":2}@16;");
}

static void maps_run_together(void **state)
{
	(void)state;
	gives(FRAMING_JSON_SEQUENCE, "{\"a\":1}{\"b\":2} \n,{\"c\":{}}", "|{\"a\":1}@7;|{\"b\":2}@14;|{\"c\":{}}@25;");
	gives(FRAMING_JSON_SEQUENCE, "[{\"a\":[1,{}]},\n{\"b\":\"}{\\\"]\"}]\n",
	      "|{\"a\":[1,{}]}@13;|{\"b\":\"}{\\\"]\"}@28;");
	gives(FRAMING_JSON_SEQUENCE, "\xEF\xBB\xBF\x1e{}\n\x1e{ \n}", "|{}@6;|{ /}@12;");
	gives(FRAMING_JSON_SEQUENCE, "{\"a\":1}{\"b\":\"", "|{\"a\":1}@7;|{\"b\":\"@13?;");
	gives(FRAMING_JSON_SEQUENCE, "oops {}\n{}", "|oops {}/@8;|{}@10;");
	gives(FRAMING_JSON_SEQUENCE, "}", "|}@1?;");
	gives(FRAMING_JSON_SEQUENCE, "", "");
	gives(FRAMING_JSON_SEQUENCE, " \n[]", "");
}

static void whole(void **state)
{
	(void)state;
	gives(FRAMING_JSON, "{\"a\":\n1}\n", "|{\"a\":/1}@9?;");
	gives(FRAMING_JSON, "\xEF\xBB\xBF {} ", "|{}@7?;");
	gives(FRAMING_JSON, "  \n", "");
	gives(FRAMING_JSON, "", "");
}

/* ---- against a reference: the standard's words, byte by byte ---- */

struct reference {
	struct buffer line, data, name, out;
	bool named, has_data;
};

static void reference_line(struct reference *r, size_t end)
{
	const char *line = r->line.data;
	if (!r->line.len) {
		if (r->has_data || r->named)
			buffer_format(&r->out, "%s|%s@%zu;", r->named ? r->name.data : "", r->has_data ? r->data.data : "", end);
		r->has_data = r->named = false;
		buffer_clear(&r->data);
	} else if (line[0] != ':') {
		const char *colon = strchr(line, ':');
		size_t len = colon ? (size_t)(colon - line) : strlen(line);
		const char *value = colon ? colon + 1 + (colon[1] == ' ') : "";
		if (len == 4 && !strncmp(line, "data", 4)) {
			buffer_format(&r->data, "%s%s", r->has_data ? "/" : "", value);
			r->has_data = true;
		} else if (len == 5 && !strncmp(line, "event", 5)) {
			buffer_clear(&r->name);
			buffer_format(&r->name, "%s", value);
			r->named = true;
		}
	}
	buffer_clear(&r->line);
}

static void reference_frame(struct reference *r, const char *text, size_t len)
{
	buffer_clear(&r->out);
	buffer_text(&r->out, "");
	r->has_data = r->named = false;
	buffer_clear(&r->data);
	buffer_clear(&r->line);
	buffer_text(&r->line, "");
	for (size_t i = 0; i < len; i++) {
		if (text[i] == '\r' && i + 1 < len && text[i + 1] == '\n')
			continue;
		if (text[i] == '\n' || text[i] == '\r')
			reference_line(r, i + 1);
		else
			buffer_byte(&r->line, text[i]);
	}
}

static void it_agrees_with_the_reference(void **state)
{
	(void)state;
	static const char *const pieces[] = {"data", "data:", "data: ",   "event: e", ":", ": x",   "\n",  "\n\n",
	                                     "\r",   "\r\n",  "\r\n\r\n", " ",        "x", "id: 1", "a:b", "[DONE]"};
	struct reference r = {0};
	struct buffer body = {0}, out = {0};
	struct rng rng;
	const uint64_t seed = 11;
	rng_init(&rng, seed, "framing", 0);
	for (int round = 0; round < 20000; round++) {
		buffer_clear(&body);
		for (uint64_t n = rng_below(&rng, 24); n > 0; n--)
			buffer_text(&body, pieces[rng_below(&rng, sizeof pieces / sizeof *pieces)]);
		/* a blank line at the end, so nothing is pending, which the standard drops and we don't */
		buffer_text(&body, "\n\n");
		reference_frame(&r, body.data, body.len);
		frame(FRAMING_SSE, buffer_all(&body), &out);
		if (strcmp(out.data, r.out.data) != 0)
			fail_msg("seed %llu round %d: of \"%s\": got \"%s\", expected \"%s\"", (unsigned long long)seed, round,
			         body.data, out.data, r.out.data);
	}
	buffer_release(&r.line);
	buffer_release(&r.data);
	buffer_release(&r.name);
	buffer_release(&r.out);
	buffer_release(&body);
	buffer_release(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sse_lines_end_in_three_ways),
		cmocka_unit_test(sse_fields),
		cmocka_unit_test(sse_begins_and_ends),
		cmocka_unit_test(servers_habits),
		cmocka_unit_test(an_object_outside_events_may_have_several_lines),
		cmocka_unit_test(lines_after_data_may_lack_it),
		cmocka_unit_test(strange_lines_are_counted),
		cmocka_unit_test(ndjson),
		cmocka_unit_test(maps_run_together),
		cmocka_unit_test(whole),
		cmocka_unit_test(it_agrees_with_the_reference),
	};
	return cmocka_run_group_tests_name("lib/framing", tests, NULL, NULL);
}
