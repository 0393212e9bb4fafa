/* Requests understood, and answers written: every manner of writing one has to say the same, in its own way. */
#include "answer.h"

#include "unit.h"
#include "utf8.h"

static void parse(struct generate_request *ask, struct sequence *s, bool chat, const char *body)
{
	struct generate_request_options options = {.digest = true};
	struct ipf_error err = {0};
	*ask = (struct generate_request){.chat = false};
	*s = (struct sequence){.output_tokens = 1};
	if (generate_request_parse(ask, s, chat, slice_of(body), &options, &err) < 0)
		fail_msg("%s: %s", body, err.text);
}

static void prompts_are_counted(void **state)
{
	static const struct {
		bool chat;
		const char *body;
		int64_t tokens;
	} cases[] = {
		{false, "{\"prompt\":\"abcd\"}", 1},
		{false, "{\"prompt\":\"abcde\"}", 2},
		{false, "{\"prompt\":[5,6,7]}", 3},
		{false, "{\"prompt\":[\"abcde\"]}", 2},
		{false, "{\"prompt\":[9]}", 1},
		{false, "{\"prompt\":\"\\u00e9\\u00e9\\u00e9\"}", 2},
		{true,
	     "{\"messages\":[{\"role\":\"user\",\"content\":\"abcde\"},{\"role\":\"assistant\",\"content\":\"abc\"}]}", 3},
		{true,
	     "{\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"abc\"},{\"type\":\"text\",\"text\":\"de\"}]}]}",
	     2},
		{true, "{\"messages\":[{\"role\":\"user\",\"content\":null}],\"tools\":[{}]}", 1},
	};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct generate_request ask;
		struct sequence s;
		parse(&ask, &s, cases[i].chat, cases[i].body);
		assert_int_equal(s.prompt_tokens, cases[i].tokens);
		assert_int_equal(strlen(ask.prompt_sha256), 64);
		generate_request_release(&ask);
		sequence_release(&s);
	}
}

static void members_are_read(void **state)
{
	struct generate_request ask;
	struct sequence s;
	(void)state;
	parse(
		&ask, &s, true,
		"{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"hello\"}],\"max_tokens\":5,\"max_completion_tokens\":6,"
		"\"min_tokens\":6,\"ignore_eos\":true,\"stream\":true,\"stream_options\":{\"include_usage\":true},\"stop\":[\"x\"],\"sim\":\"cut;after=2\"}");
	assert_string_equal(ask.model.data, "m");
	assert_int_equal(ask.max_tokens, 6);
	assert_int_equal(ask.min_tokens, 6);
	assert_true(ask.ignore_eos && ask.stream && ask.include_usage && !ask.continuous_usage);
	assert_int_equal(modes_find(&ask.modes, MODE_CUT)->after, 2);
	/* echo -n hello | sha256sum */
	assert_string_equal(ask.prompt_sha256, "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824");
	generate_request_release(&ask);
	sequence_release(&s);
}

static void wrong_requests(void **state)
{
	static const struct {
		bool chat;
		const char *body, *param;
	} cases[] = {
		{true, "", ""},
		{true, "{", ""},
		{true, "[]", ""},
		{true, "{}", "messages"},
		{true, "{\"messages\":\"x\"}", "messages"},
		{true, "{\"messages\":[]}", "messages"},
		{true, "{\"messages\":[{\"content\":\"x\"}]}", "messages"},
		{true, "{\"messages\":[{\"role\":\"user\",\"content\":5}]}", "messages"},
		{true, "{\"messages\":[5]}", "messages"},
		{true, "{\"messages\":[{\"role\":\"user\",\"content\":\"a\"}],\"sim_calls\":[[\"a\"]]}", "sim_calls"},
		{true, "{\"messages\":[{\"role\":\"user\",\"content\":\"a\"}],\"sim_calls\":[[1,{}]]}", "sim_calls"},
		{true, "{\"messages\":[{\"role\":\"user\",\"content\":\"a\"}],\"sim_calls\":{}}", "sim_calls"},
		{false, "{}", "prompt"},
		{false, "{\"prompt\":\"\"}", "prompt"},
		{false, "{\"prompt\":[\"a\",\"b\"]}", "prompt"},
		{false, "{\"prompt\":[-1]}", "prompt"},
		{false, "{\"prompt\":\"x\",\"max_tokens\":0}", "max_tokens"},
		{false, "{\"prompt\":\"x\",\"max_tokens\":\"5\"}", "max_tokens"},
		{false, "{\"prompt\":\"x\",\"n\":2}", "n"},
		{false, "{\"prompt\":\"x\",\"max_tokens\":2,\"min_tokens\":3}", "min_tokens"},
		{false, "{\"prompt\":\"x\",\"stream\":1}", ""},
		{false, "{\"prompt\":\"x\",\"stream_options\":{}}", "stream_options"},
		{false, "{\"prompt\":\"x\",\"sim\":\"cot\"}", "sim"},
		{false, "{\"prompt\":\"x\"} {}", ""},
		{false, "{\"prompt\":\"\xff\"}", ""},
	};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct generate_request ask = {.chat = false};
		struct sequence s = {.output_tokens = 1};
		struct generate_request_options options = {.digest = true};
		struct ipf_error err = {0};
		if (generate_request_parse(&ask, &s, cases[i].chat, slice_of(cases[i].body), &options, &err) == 0)
			fail_msg("%s: expected an error", cases[i].body);
		assert_true(*err.text);
		assert_string_equal(ask.param, cases[i].param);
		generate_request_release(&ask);
		sequence_release(&s);
	}
}

/* ---- a client's view of an answer ---- */

struct seen {
	struct buffer body, text, reasoning, tool;
	int64_t content_events, events, output_tokens, comments;
	bool done, role, terminated;
	char finish[32];
};

static void seen_release(struct seen *seen)
{
	buffer_release(&seen->body);
	buffer_release(&seen->text);
	buffer_release(&seen->reasoning);
	buffer_release(&seen->tool);
}

static void dechunk(struct seen *seen, const struct buffer *raw, bool chunked)
{
	char *at = strstr(raw->data, "\r\n\r\n") + 4, *end = raw->data + raw->len;
	if (!chunked)
		buffer_append(&seen->body, at, (size_t)(end - at));
	while (chunked && at < end) {
		char *data;
		size_t len = strtoul(at, &data, 16);
		assert_true(data > at && data[0] == '\r' && data[1] == '\n');
		data += 2;
		buffer_append(&seen->body, data, len);
		assert_memory_equal(data + len, "\r\n", 2);
		at = data + len + 2;
		seen->terminated = len == 0;
	}
	assert_true(at == end || !chunked);
}

static void look_at(struct seen *seen, const char *text, size_t len)
{
	struct jdoc doc = {0};
	struct ipf_error err = {0};
	if (jdoc_parse(&doc, text, len, &err) < 0)
		fail_msg("%.*s: %s", (int)len, text, err.text);
	jdoc_id choice = jdoc_at(&doc, jdoc_get(&doc, JDOC_ROOT, "choices"), 0), delta = jdoc_get(&doc, choice, "delta");
	jdoc_id text_node = delta == JDOC_NONE ? jdoc_get(&doc, choice, "text") : jdoc_get(&doc, delta, "content");
	jdoc_id function = jdoc_get(&doc, jdoc_at(&doc, jdoc_get(&doc, delta, "tool_calls"), 0), "function");
	jdoc_id usage = jdoc_get(&doc, JDOC_ROOT, "usage"), finish = jdoc_get(&doc, choice, "finish_reason");
	size_t before = seen->text.len + seen->reasoning.len + seen->tool.len;
	seen->role = seen->role || jdoc_text_is(&doc, jdoc_get(&doc, delta, "role"), "assistant");
	jdoc_text(&doc, text_node, &seen->text);
	jdoc_text(&doc, jdoc_get(&doc, delta, "reasoning_content"), &seen->reasoning);
	jdoc_text(&doc, jdoc_get(&doc, function, "name"), &seen->tool);
	jdoc_text(&doc, jdoc_get(&doc, function, "arguments"), &seen->tool);
	seen->content_events += seen->text.len + seen->reasoning.len + seen->tool.len > before;
	jdoc_to_int(&doc, jdoc_get(&doc, usage, "completion_tokens"), &seen->output_tokens);
	if (!jdoc_is_null(&doc, finish)) {
		struct buffer word = {0};
		jdoc_text(&doc, finish, &word);
		snprintf(seen->finish, sizeof seen->finish, "%s", word.data);
		buffer_release(&word);
	}
	jdoc_release(&doc);
}

/* Server-sent events as the standard reads them, line by line. */
static void read_events(struct seen *seen)
{
	struct buffer data = {0};
	const char *at = seen->body.data, *end = at + seen->body.len;
	if (end - at >= 3 && memcmp(at, "\xef\xbb\xbf", 3) == 0)
		at += 3;
	while (at < end) {
		const char *stop = at;
		while (stop < end && *stop != '\r' && *stop != '\n')
			stop++;
		size_t len = (size_t)(stop - at);
		if (len >= 5 && memcmp(at, "data:", 5) == 0) {
			size_t skip = len > 5 && at[5] == ' ' ? 6 : 5;
			if (data.len)
				buffer_byte(&data, '\n');
			buffer_append(&data, at + skip, len - skip);
		}
		seen->comments += len > 0 && *at == ':';
		at = stop + (stop + 1 < end && stop[0] == '\r' && stop[1] == '\n' ? 2 : 1);
		if ((len == 0 || at >= end) && data.len) {
			seen->events++;
			if (slice_is(buffer_all(&data), "[DONE]"))
				seen->done = true;
			else
				look_at(seen, data.data, data.len);
			buffer_clear(&data);
		}
	}
	buffer_release(&data);
}

static enum answer_next answer(const char *body, bool chat, const char *mode, int64_t tokens, struct outbox *out)
{
	struct generate_request ask;
	struct sequence s;
	struct modes modes = {.count = 0};
	struct ipf_error err = {0};
	parse(&ask, &s, chat, body);
	if (*mode && modes_parse_header(&modes, slice_of(mode), &err) < 0)
		fail_msg("%s", err.text);
	struct answer a = {.ask = &ask,
	                   .modes = &modes,
	                   .out = out,
	                   .model = "m",
	                   .keep_alive = true,
	                   .seed = 1,
	                   .number = 7,
	                   .prompt_tokens = s.prompt_tokens,
	                   .output_tokens = tokens,
	                   .finish = "length"};
	assert_int_equal(answer_plan_calls(&a), 0);
	answer_init(&a);
	answer_head(&a);
	enum answer_next next = ANSWER_ON;
	for (int64_t k = 0; next == ANSWER_ON; k++) {
		assert_true(k < tokens);
		next = answer_token(&a, k);
	}
	answer_release(&a);
	generate_request_release(&ask);
	sequence_release(&s);
	return next;
}

#define CHAT                                                                                                           \
	"{\"messages\":[{\"role\":\"user\",\"content\":\"hello\"}],\"stream\":true,\"stream_options\":{\"include_usage\":true}}"
#define TEXT "{\"prompt\":\"hello\",\"stream\":true,\"stream_options\":{\"include_usage\":true}}"

/* Is it one of the modes listed? */
static bool says(const char *mode, const char *word)
{
	size_t len = strlen(word);
	for (const char *at = mode; at; at = strchr(at, ',')) {
		at += *at == ',';
		if (strncmp(at, word, len) == 0 && strchr(",;", at[len]))
			return true;
	}
	return false;
}

static void check_manner(const char *mode, bool chat, int64_t tokens)
{
	struct outbox out = {0};
	struct seen seen = {.output_tokens = -1};
	enum answer_next next = answer(chat ? CHAT : TEXT, chat, mode, tokens, &out);
	bool old = says(mode, "http10");
	assert_int_equal(next, old ? ANSWER_CUT : ANSWER_WHOLE);
	assert_int_equal(strncmp(out.bytes.data, old ? "HTTP/1.0 200 OK\r\n" : "HTTP/1.1 200 OK\r\n", 17), 0);
	dechunk(&seen, &out.bytes, !old);
	read_events(&seen);
	size_t all = seen.text.len + seen.reasoning.len + seen.tool.len;
	if (all != 4 * (size_t)tokens)
		fail_msg("%s: %lld tokens are %zu bytes", mode, (long long)tokens, all);
	assert_true(utf8_valid(seen.text.data ? seen.text.data : "", seen.text.len, NULL));
	assert_int_equal(seen.output_tokens, says(mode, "no-usage") ? -1 : tokens + (says(mode, "usage-off") ? 3 : 0));
	assert_int_equal(seen.done, !says(mode, "no-done"));
	assert_int_equal(seen.terminated, !old);
	assert_int_equal(seen.role, chat && !says(mode, "role-never"));
	bool call = chat && says(mode, "tools") && seen.tool.len;
	assert_string_equal(seen.finish, call ? "tool_calls" : "length");
	if (!says(mode, "multi") && !says(mode, "tools") && !says(mode, "reasoning"))
		assert_int_equal(seen.content_events, tokens);
	if (says(mode, "multi") && !says(mode, "tools") && !says(mode, "reasoning"))
		assert_int_equal(seen.content_events, (tokens + 3) / 4);
	assert_int_equal(seen.comments > 0, says(mode, "ping"));
	if (call && seen.tool.len > 4 && !strstr(mode, "calls=")) {
		struct jdoc doc = {0};
		struct ipf_error err = {0};
		assert_int_equal(jdoc_parse(&doc, seen.tool.data + 4, seen.tool.len - 4, &err), 0);
		jdoc_release(&doc);
	}
	seen_release(&seen);
	outbox_release(&out);
}

static const char *const manners[] = {
	"",
	"role-late",
	"role-late;after=3",
	"role-late;events=2",
	"role-never",
	"role-each",
	"multi",
	"coalesce",
	"split",
	"split;pieces=9",
	"split-utf8",
	"escapes",
	"crlf",
	"cr",
	"no-space",
	"fields",
	"multi-line",
	"ping",
	"ping;alone=1",
	"bom",
	"pad;bytes=300",
	"no-usage",
	"usage-each",
	"usage-null",
	"nulls",
	"usage-in-last",
	"usage-off",
	"no-done",
	"unterminated",
	"finish-in-last",
	"late-end",
	"reasoning",
	"reasoning;tokens=1",
	"tools",
	"tools;after=2",
	"tools;calls=3",
	"tools;calls=2;mixed=1;after=1",
	"http10",
	"close",
	"slow-headers",
	"stall",
	"idle-close",
	"keep-alive",
};
#define MANNERS (sizeof manners / sizeof *manners)

static void every_manner_says_the_same(void **state)
{
	(void)state;
	for (size_t i = 0; i < MANNERS; i++)
		for (int64_t tokens = 1; tokens < 12; tokens++) {
			check_manner(manners[i], true, tokens);
			check_manner(manners[i], false, tokens);
		}
}

static void property_manners_go_together(void **state)
{
	uint64_t seed = test_seed("property_manners_go_together");
	(void)state;
	for (int round = 0; round < 3000; round++) {
		char mode[200];
		const char *a = manners[1 + test_random(&seed) % (MANNERS - 1)],
				   *b = manners[1 + test_random(&seed) % (MANNERS - 1)];
		const char *c = manners[1 + test_random(&seed) % (MANNERS - 1)];
		snprintf(mode, sizeof mode, "%s,%s,%s", a, b, c);
		if (says(mode, "role-late") && (says(mode, "role-never") || says(mode, "role-each")))
			continue;
		if (says(mode, "role-never") && says(mode, "role-each"))
			continue;
		check_manner(mode, test_random(&seed) % 2, 1 + (int64_t)(test_random(&seed) % 40));
	}
}

static void whole_answers(void **state)
{
	static const char body[] = "{\"messages\":[{\"role\":\"user\",\"content\":\"hello\"}]}";
	struct outbox out = {0};
	struct jdoc doc = {0};
	struct ipf_error err = {0};
	(void)state;
	assert_int_equal(answer(body, true, "reasoning;tokens=2,tools;after=5", 9, &out), ANSWER_WHOLE);
	const char *json = strstr(out.bytes.data, "\r\n\r\n") + 4;
	assert_int_equal(strtoul(strstr(out.bytes.data, "Content-Length: ") + 16, NULL, 10), strlen(json));
	assert_int_equal(jdoc_parse(&doc, json, strlen(json), &err), 0);
	jdoc_id choice = jdoc_at(&doc, jdoc_get(&doc, JDOC_ROOT, "choices"), 0),
			message = jdoc_get(&doc, choice, "message");
	struct buffer text = {0};
	jdoc_text(&doc, jdoc_get(&doc, message, "content"), &text);
	assert_int_equal(text.len, 12);
	buffer_clear(&text);
	jdoc_text(&doc, jdoc_get(&doc, message, "reasoning_content"), &text);
	assert_int_equal(text.len, 8);
	buffer_clear(&text);
	jdoc_text(&doc,
	          jdoc_get(&doc, jdoc_get(&doc, jdoc_at(&doc, jdoc_get(&doc, message, "tool_calls"), 0), "function"),
	                   "arguments"),
	          &text);
	assert_string_equal(text.data, "{\"q\": \"aok\"}");
	assert_true(jdoc_text_is(&doc, jdoc_get(&doc, choice, "finish_reason"), "tool_calls"));
	buffer_release(&text);
	jdoc_release(&doc);
	outbox_release(&out);
}

struct trouble {
	const char *mode;
	enum answer_next next;
	int64_t content_events;
	bool done, terminated;
	const char *has;
};

/* Where each failure comes, and the bytes before it. Eight tokens. */
static void trouble_comes_where_it_should(void **state)
{
	static const struct trouble cases[] = {
		{"cut;after=3", ANSWER_CUT, 3, false, false, NULL},
		{"cut;after=0", ANSWER_CUT, 0, false, false, NULL},
		{"cut;after=3;terminator=1", ANSWER_CUT, 3, false, true, NULL},
		{"cut;finish=1", ANSWER_CUT, 8, false, false, "\"finish_reason\":\"length\""},
		{"cut;after=99", ANSWER_CUT, 8, false, false, NULL},
		{"cut;after=5,multi", ANSWER_CUT, 2, false, false, NULL},
		{"reset;after=4", ANSWER_RESET, 4, false, false, NULL},
		{"error-inband;after=2", ANSWER_WHOLE, 2, true, true, "{\"error\":{\"message\":"},
		{"error-inband;after=2;form=vllm", ANSWER_WHOLE, 2, true, true, "{\"object\":\"error\""},
		{"error-inband;after=0;form=event;done=0", ANSWER_WHOLE, 0, false, true, "event: error\n"},
		{"empty", ANSWER_WHOLE, 0, true, true, "\"completion_tokens\":0"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct outbox out = {0};
		struct seen seen = {.output_tokens = -1};
		enum answer_next next = answer(CHAT, true, cases[i].mode, 8, &out);
		dechunk(&seen, &out.bytes, true);
		read_events(&seen);
		if (next != cases[i].next || seen.content_events != cases[i].content_events || seen.done != cases[i].done ||
		    seen.terminated != cases[i].terminated || (cases[i].has && !strstr(seen.body.data, cases[i].has)))
			fail_msg("%s: next %d, %lld events, done %d, terminated %d", cases[i].mode, (int)next,
			         (long long)seen.content_events, seen.done, seen.terminated);
		seen_release(&seen);
		outbox_release(&out);
	}
}

static void same_prompt_same_text(void **state)
{
	struct outbox a = {0}, b = {0}, c = {0};
	(void)state;
	answer(CHAT, true, "", 20, &a);
	answer(CHAT, true, "", 20, &b);
	answer(TEXT, false, "", 20, &c);
	assert_true(slice_equal(buffer_all(&a.bytes), buffer_all(&b.bytes)));
	assert_false(slice_equal(buffer_all(&a.bytes), buffer_all(&c.bytes)));
	outbox_release(&a);
	outbox_release(&b);
	outbox_release(&c);
}

static void written_texts_are_cut_into_tokens(void **state)
{
	struct answer_script s = {0}, copy = {0};
	(void)state;
	assert_int_equal(answer_script_write(&s, slice_of("{\"a\": 19, \xc3\xa9z")), 0);
	assert_int_equal(s.count, 4);
	assert_string_equal(s.tokens[0].json, "{\\\"a\\\"");
	assert_int_equal(s.tokens[3].len, 1);
	answer_script_alter(&s, 2, slice_of(": 19"));
	assert_int_equal(s.altered_number, 2);
	assert_string_equal(s.altered.json, ": 21");
	answer_script_alter(&s, 1, slice_of("\": \xe2"));
	assert_string_equal(s.altered.json, "xxxx");
	assert_int_equal(answer_script_copy(&copy, &s), 0);
	answer_script_release(&s);
	assert_int_equal(copy.count, 4);
	assert_memory_equal(copy.tokens[1].bytes, ": 19", TOKEN_BYTES);
	assert_int_equal(answer_script_copy(&copy, &s), 0);
	assert_null(copy.tokens);
	assert_int_equal(answer_script_write(&s, slice_of("")), 0);
	assert_int_equal(s.count, 0);
	answer_script_release(&s);
}

static void every_word_is_four_bytes(void **state)
{
	(void)state;
	for (int words = TOKEN_TEXT_PLAIN; words <= TOKEN_TEXT_ESCAPES; words++)
		for (int64_t k = 0; k < 200; k++) {
			struct token_bytes word = token_text_at((enum token_text)words, 0, k);
			struct jdoc doc = {0};
			struct ipf_error err = {0};
			struct buffer json = {0}, text = {0};
			buffer_format(&json, "\"%s\"", word.json);
			assert_int_equal(jdoc_parse(&doc, json.data, json.len, &err), 0);
			jdoc_text(&doc, JDOC_ROOT, &text);
			assert_int_equal(text.len, TOKEN_BYTES);
			assert_memory_equal(text.data, word.bytes, TOKEN_BYTES);
			buffer_release(&json);
			buffer_release(&text);
			jdoc_release(&doc);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(written_texts_are_cut_into_tokens),
		cmocka_unit_test(prompts_are_counted),
		cmocka_unit_test(members_are_read),
		cmocka_unit_test(wrong_requests),
		cmocka_unit_test(every_manner_says_the_same),
		cmocka_unit_test(property_manners_go_together),
		cmocka_unit_test(whole_answers),
		cmocka_unit_test(trouble_comes_where_it_should),
		cmocka_unit_test(same_prompt_same_text),
		cmocka_unit_test(every_word_is_four_bytes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
