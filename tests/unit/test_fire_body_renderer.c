#include "unit.h"

#include "absent.h"
#include "body/body_renderer.h"
#include "requests/prompt.h"

/* A renderer for a template, and its answer to a request. */
struct case_ {
	const char *request; /* the descriptor's request half */
	struct body_renderer_options options;
	struct trace_request q;
	const char *context;
};

static struct slice text(const char *s)
{
	return slice_of(s);
}

static struct trace_request chat(const char *messages)
{
	struct trace_request q;
	trace_request_init(&q);
	q.id = text("\"r1\"");
	q.messages = text(messages);
	q.output_tokens = 16;
	return q;
}

static struct body_renderer *make(const char *request, const struct body_renderer_options *options,
                                  struct ipf_error *err)
{
	struct body_renderer *r;
	json_t *json = json_loads(request, 0, NULL);
	assert_non_null(json);
	body_renderer_new(&r, json, options, err);
	json_decref(json);
	return r;
}

static void assert_body(const struct case_ *c, const char *expected)
{
	struct ipf_error err = {0};
	struct buffer body = {0};
	struct body_renderer *r = make(c->request, &c->options, &err);
	if (!r || body_renderer_render(r, &c->q, slice_of(c->context), &body, &err) < 0)
		fail_msg("%s", err.text);
	assert_string_equal(body.data, expected);
	json_t *parsed = json_loads(body.data, 0, NULL);
	assert_non_null(parsed);
	json_decref(parsed);
	buffer_release(&body);
	body_renderer_free(r);
}

static const char chat_api[] =
	"{\"body\":{\"model\":\"$model\",\"messages\":\"$messages\",\"tools\":\"$tools\",\"max_tokens\":\"$output_tokens\"},"
	"\"stream\":{\"stream\":true,\"stream_options\":{\"include_usage\":true}},\"whole\":{\"stream\":false},"
	"\"exact_output\":{\"ignore_eos\":true,\"min_tokens\":\"$output_tokens\"}}";
static const char completions_api[] = "{\"body\":{\"prompt\":\"$prompt\",\"n\":1}}";

static void test_a_chat(void **state)
{
	struct case_ c = {.request = chat_api,
	                  .options = {.model = "m\"1", .streamed = true},
	                  .q = chat("[{\"role\":\"user\",\"content\":\"a \\u00e9 \\\"q\\\"\"}]")};
	(void)state;
	assert_body(
		&c,
		"{\"model\":\"m\\\"1\",\"messages\":[{\"role\":\"user\",\"content\":\"a \\u00e9 \\\"q\\\"\"}],\"max_tokens\":16,"
		"\"stream\":true,\"stream_options\":{\"include_usage\":true}}");
}

static void assert_refused(const struct case_ *c, const char *expected)
{
	struct ipf_error err = {0};
	struct body_renderer *r = make(c->request, &c->options, &err);
	assert_non_null(r);
	assert_int_equal(body_renderer_check(r, &c->q, &err), -1);
	assert_string_equal(err.text, expected);
	body_renderer_free(r);
}

static struct trace_request batch(const char *inputs, int64_t count)
{
	struct trace_request q = chat(NULL);
	q.messages = (struct slice){0};
	q.inputs = text(inputs);
	q.inputs_count = count;
	return q;
}

static void test_inputs_and_a_query(void **state)
{
	struct case_ c = {.request = "{\"body\":{\"input\":{\"$first\":[\"$inputs\",\"$prompt\"]}}}",
	                  .q = batch("[\"a\",\"b\"]", 2)};
	(void)state;
	assert_body(&c, "{\"input\":[\"a\",\"b\"]}");
	c.q = batch("[[1,2],[3]]", 2);
	assert_body(&c, "{\"input\":[[1,2],[3]]}");
	c.q.query = text("\"q\"");
	assert_refused(&c, "query: this API does not rank inputs for a query");
	c.q = chat(NULL);
	c.q.messages = (struct slice){0};
	c.q.prompt = text("\"a\"");
	assert_body(&c, "{\"input\":\"a\"}");
	c.request = "{\"body\":{\"texts\":{\"$first\":[\"$input_texts\",[\"$prompt_text\"]]}}}";
	assert_body(&c, "{\"texts\":[\"a\"]}");
	c.q = batch("[ \"a\", \"b\"]", 2);
	assert_body(&c, "{\"texts\":[ \"a\", \"b\"]}");
	c.q = batch("[[1,2],[3]]", 2);
	assert_refused(&c, "inputs: this API does not accept this kind of prompt");
	c.request = "{\"body\":{\"q\":{\"text\":\"$query\"},\"p\":{\"$each\":\"inputs\",\"as\":{\"text\":\"$input\"}}}}";
	c.q = batch("[\"a\",\"\\u00e9\"]", 2);
	assert_refused(&c, "query: missing: this API ranks inputs for a query");
	c.q.query = text("\"q\"");
	assert_body(&c, "{\"q\":{\"text\":\"q\"},\"p\":[{\"text\":\"a\"},{\"text\":\"\\u00e9\"}]}");
	c.request = chat_api;
	c.q.query = (struct slice){0};
	assert_refused(&c, "inputs: this API does not accept this kind of prompt");
}

static void test_a_limit_of_results(void **state)
{
	static const char request[] = "{\"body\":{\"d\":\"$inputs\",\"top_n\":3},\"outputs_limit\":\"top_n\"}";
	struct ipf_error err = {0};
	struct trace_request q = batch("[\"a\",\"b\",\"c\",\"d\"]", 4);
	(void)state;
	for (int given = 0; given < 2; given++) {
		json_t *params = json_pack("{s:i}", "top_n", 2);
		struct body_renderer_options options = {.params = given ? params : NULL};
		struct body_renderer *r = make(request, &options, &err);
		q.inputs_count = 4;
		assert_int_equal(body_renderer_asked_outputs(r, &q), given ? 2 : 3);
		q.inputs_count = 2;
		assert_int_equal(body_renderer_asked_outputs(r, &q), IPF_ABSENT);
		q.inputs_count = IPF_ABSENT;
		assert_int_equal(body_renderer_asked_outputs(r, &q), IPF_ABSENT);
		body_renderer_free(r);
		json_decref(params);
	}
}

static void test_absent_fields_are_left_out(void **state)
{
	struct case_ c = {.request = chat_api, .q = chat("[]")};
	(void)state;
	c.q.output_tokens = IPF_ABSENT;
	assert_body(&c, "{\"messages\":[],\"stream\":false}");
	c.q.tools = text("[{\"type\":\"function\"}]");
	c.q.model = text("\"lora-a\"");
	assert_body(&c, "{\"model\":\"lora-a\",\"messages\":[],\"tools\":[{\"type\":\"function\"}],\"stream\":false}");
}

static void test_the_command_line_s_model_wins(void **state)
{
	struct case_ c = {.request = "{\"body\":{\"model\":\"$model\"}}", .options = {.model = "mine"}, .q = chat("[]")};
	struct ipf_error err = {0};
	(void)state;
	c.q.model = text("\"recorded\"");
	assert_body(&c, "{\"model\":\"mine\"}");
	struct body_renderer *r = make(c.request, &c.options, &err);
	assert_true(slice_is(body_renderer_model(r, &c.q), "\"mine\""));
	body_renderer_free(r);
	c.options.model = NULL;
	assert_body(&c, "{\"model\":\"recorded\"}");
}

static void test_exact_output_and_parameters(void **state)
{
	struct case_ c = {.request = chat_api,
	                  .options = {.exact_output = true, .streamed = true, .params = json_object()},
	                  .q = chat("[]")};
	struct ipf_error err = {0};
	(void)state;
	assert_int_equal(body_renderer_add_param(c.options.params, "temperature=0.5", &err), 0);
	assert_int_equal(body_renderer_add_param(c.options.params, "max_tokens=null", &err), 0);
	assert_int_equal(body_renderer_add_param(c.options.params, "stop=[\"$model\", \"$$\", \"a=b\"]", &err), 0);
	assert_int_equal(body_renderer_add_param(c.options.params, "stream_options={}", &err), 0);
	/* a parameter takes the place of the API's own, whole; a list's names are no fields */
	assert_body(
		&c,
		"{\"messages\":[],\"max_tokens\":null,\"stream\":true,\"stream_options\":{},\"ignore_eos\":true,\"min_tokens\":16,"
		"\"temperature\":0.5,\"stop\":[\"$model\",\"$$\",\"a=b\"]}");
	json_decref(c.options.params);
}

static void test_the_answer_of_a_canary_ends_by_itself(void **state)
{
	struct case_ c = {.request = chat_api, .options = {.exact_output = true, .params = json_object()}, .q = chat("[]")};
	struct ipf_error err = {0};
	(void)state;
	assert_int_equal(body_renderer_add_param(c.options.params, "ignore_eos=true", &err), 0);
	assert_int_equal(body_renderer_add_param(c.options.params, "top_p=1", &err), 0);
	c.q.tags = text("{\"canary\":{\"kind\":\"copy\",\"answer\":\"A\"}}");
	c.q.body = text("{\"temperature\":0}");
	assert_body(&c, "{\"messages\":[],\"max_tokens\":16,\"stream\":false,\"top_p\":1,\"temperature\":0}");
	c.q.tags = text("[\"canary\"]");
	assert_body(&c, "{\"messages\":[],\"max_tokens\":16,\"stream\":false,\"ignore_eos\":true,\"min_tokens\":16,"
	                "\"top_p\":1,\"temperature\":0}");
	json_decref(c.options.params);
}

static const char replay_api[] = "{\"body\":{\"ids\":\"$prompt_token_ids\",\"params\":{\"max\":\"$output_tokens\"}},"
								 "\"recorded_answers\":{\"params\":{\"given\":\"$answer_token_ids\"}}}";

static struct trace_request ids(const char *answer, int64_t tokens)
{
	struct trace_request q;
	trace_request_init(&q);
	q.prompt_token_ids = text("[1,2]");
	q.answer_token_ids = answer ? text(answer) : (struct slice){0};
	q.answer_tokens = answer ? tokens : IPF_ABSENT;
	return q;
}

static void test_recorded_answers(void **state)
{
	struct case_ c = {.request = replay_api, .options = {.recorded_answers = true}, .q = ids("[7,8,9]", 3)};
	(void)state;
	assert_body(&c, "{\"ids\":[1,2],\"params\":{\"max\":3,\"given\":[7,8,9]}}");
	c.options.recorded_answers = false;
	assert_body(&c, "{\"ids\":[1,2],\"params\":{}}");
	c.options.recorded_answers = true;
	c.q = ids(NULL, 0);
	c.q.output_tokens = 64;
	c.q.tags = text("{\"canary\":{\"kind\":\"copy\",\"answer\":\"A\"}}");
	assert_body(&c, "{\"ids\":[1,2],\"params\":{\"max\":64}}");
}

static void test_recorded_answers_that_cannot_be(void **state)
{
	struct {
		const char *answer;
		int64_t tokens, asked;
		const char *why;
	} cases[] = {{NULL, 0, 3, "answer_token_ids: missing"},
	             {"[]", 0, IPF_ABSENT, "answer_token_ids: expected at least one"},
	             {"[7,8]", 2, 3, "output_tokens: expected 2, the length of answer_token_ids, got 3"}};
	const struct body_renderer_options options = {.recorded_answers = true};
	struct ipf_error err = {0};
	struct body_renderer *r = make(replay_api, &options, &err);
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct trace_request q = ids(cases[i].answer, cases[i].tokens);
		q.output_tokens = cases[i].asked;
		ipf_error_clear(&err);
		assert_int_equal(body_renderer_check(r, &q, &err), -1);
		assert_int_equal(err.kind, IPF_INPUT);
		assert_non_null(strstr(err.text, cases[i].why));
	}
	body_renderer_free(r);
	ipf_error_clear(&err);
	assert_null(make(chat_api, &options, &err));
	assert_int_equal(err.kind, IPF_USAGE);
	assert_string_equal(err.text, "--answers recorded: this API has no parameter for a given answer");
}

static void test_parameters_that_take_from_the_request(void **state)
{
	struct case_ c = {.request = completions_api, .options = {.params = json_object()}, .q = chat("[]")};
	struct ipf_error err = {0};
	(void)state;
	c.q.prompt = text("\"p\"");
	c.q.session = text("\"s\\u00e9\"");
	assert_int_equal(body_renderer_add_param(c.options.params, "chat=\"$session\"", &err), 0);
	assert_int_equal(body_renderer_add_param(
						 c.options.params,
						 "how={\"of\":{\"id\":\"$id\",\"n\":[\"$id\"]},\"$\":\"$x\",\"op\":{\"$raw\":\"$id\"}}", &err),
	                 0);
	assert_body(&c, "{\"prompt\":\"p\",\"n\":1,\"chat\":\"s\\u00e9\","
	                "\"how\":{\"of\":{\"id\":\"r1\",\"n\":[\"$id\"]},\"$\":\"$x\",\"op\":{\"$raw\":\"$id\"}}}");
	/* a request without a session is sent without the member */
	c.q.session = (struct slice){0};
	assert_body(&c, "{\"prompt\":\"p\",\"n\":1,"
	                "\"how\":{\"of\":{\"id\":\"r1\",\"n\":[\"$id\"]},\"$\":\"$x\",\"op\":{\"$raw\":\"$id\"}}}");
	json_decref(c.options.params);
}

static void test_parameters_that_are_none(void **state)
{
	static const char *const bad[] = {"temperature", "=1", "stop=end", "x=", "x={", "x=1 2", "", "x=\"a"};
	json_t *params = json_object();
	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct ipf_error err = {0};
		if (body_renderer_add_param(params, bad[i], &err) == 0)
			fail_msg("\"%s\" was taken", bad[i]);
		assert_int_equal(err.kind, IPF_USAGE);
		assert_non_null(strstr(err.text, "--param"));
	}
	assert_int_equal(json_object_size(params), 0);
	json_decref(params);
}

static void test_templates_nest_and_escape(void **state)
{
	struct case_ c = {
		.request =
			"{\"body\":{\"a\":{\"n\":\"$output_tokens\",\"gone\":\"$session\",\"$k\":\"$$x\"},\"l\":[\"$id\",\"$session\",1],\"e\":{\"s\":\"$session\"}},"
			"\"whole\":{\"a\":{\"deep\":\"$input_tokens\"}}}",
		.q = chat("[]")};
	(void)state;
	c.q.input_tokens = 7;
	assert_body(&c, "{\"a\":{\"n\":16,\"$k\":\"$x\",\"deep\":7},\"l\":[\"r1\",1],\"e\":{}}");
}

static void test_prompts_take_the_form_that_the_api_has(void **state)
{
	struct case_ c = {
		.request = completions_api,
		.q = chat(
			"[ {\"role\":\"system\",\"content\":\"be \\\"kind\\\"\"},{\"role\":\"user\",\"content\":"
			"[{\"type\":\"text\",\"text\":\"one\"},{\"type\":\"image_url\"},{\"type\":\"text\",\"text\":\"two\"}]},"
			"{\"role\":\"assistant\",\"content\":null},{\"role\":\"user\",\"content\":\"\"},{\"role\":\"user\",\"content\":\"end\"}]")};
	(void)state;
	assert_body(&c, "{\"prompt\":\"be \\\"kind\\\"\\n\\none\\n\\ntwo\\n\\nend\",\"n\":1}");
	c.q.messages = (struct slice){0};
	c.q.prompt = text("\"as it is\"");
	assert_body(&c, "{\"prompt\":\"as it is\",\"n\":1}");
	c.q.prompt = (struct slice){0};
	c.q.prompt_token_ids = text("[1,2,3]");
	assert_body(&c, "{\"prompt\":[1,2,3],\"n\":1}");
	c.request = "{\"body\":{\"input_ids\":\"$prompt_token_ids\",\"text\":\"$prompt\"}}";
	assert_body(&c, "{\"input_ids\":[1,2,3],\"text\":[1,2,3]}");
	c.request = "{\"body\":{\"messages\":\"$messages\"}}";
	c.q.prompt_token_ids = (struct slice){0};
	c.q.prompt = text("\"hi\"");
	assert_body(&c, "{\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}");
}

static void test_a_prompt_that_the_api_cannot_carry(void **state)
{
	struct ipf_error err = {0};
	struct body_renderer_options options = {0};
	struct buffer body = {0};
	struct body_renderer *r = make(chat_api, &options, &err);
	struct trace_request q;
	(void)state;
	trace_request_init(&q);
	q.prompt_token_ids = text("[1]");
	assert_int_equal(body_renderer_render(r, &q, (struct slice){0}, &body, &err), -1);
	assert_int_equal(err.kind, IPF_INPUT);
	assert_non_null(strstr(err.text, "prompt_token_ids"));
	buffer_release(&body);
	body_renderer_free(r);
}

static void test_sessions_grow(void **state)
{
	struct buffer context = {0};
	struct trace_request first = chat(
							 "[ {\"role\":\"system\",\"content\":\"s\"}, {\"role\":\"user\",\"content\":\"q1\"} ]"),
						 second, third = chat("[]");
	(void)state;
	first.answer = text("\"a1\"");
	trace_request_init(&second);
	second.prompt = text("\"q2\"");
	prompt_append_turn(&context, &first);
	prompt_append_turn(&context, &second); /* without a recorded answer */
	prompt_append_turn(&context, &third);  /* nothing at all */
	struct case_ c = {.request = "{\"body\":{\"messages\":\"$messages\"}}",
	                  .q = chat("[{\"role\":\"user\",\"content\":\"q3\"}]"),
	                  .context = context.data};
	assert_body(
		&c,
		"{\"messages\":[{\"role\":\"system\",\"content\":\"s\"}, {\"role\":\"user\",\"content\":\"q1\"} ,"
		"{\"role\":\"assistant\",\"content\":\"a1\"},{\"role\":\"user\",\"content\":\"q2\"},{\"role\":\"user\",\"content\":\"q3\"}]}");
	c.q.messages = text("[]");
	assert_body(&c, "{\"messages\":[{\"role\":\"system\",\"content\":\"s\"}, {\"role\":\"user\",\"content\":\"q1\"} ,"
	                "{\"role\":\"assistant\",\"content\":\"a1\"},{\"role\":\"user\",\"content\":\"q2\"}]}");
	c.request = completions_api;
	c.q.messages = (struct slice){0};
	c.q.prompt = text("\"q3\"");
	assert_body(&c, "{\"prompt\":\"s\\n\\nq1\\n\\na1\\n\\nq2\\n\\nq3\",\"n\":1}");
	buffer_release(&context);
}

static void test_templates_choose_the_first_present_value(void **state)
{
	struct case_ c = {
		.request =
			"{\"body\":{\"n\":{\"$first\":[\"$output_tokens\",16]},\"who\":{\"$first\":[\"$session\",\"$id\"]},"
			"\"gone\":{\"$first\":[\"$session\"]},\"talk\":{\"$if\":\"$session\",\"then\":{\"id\":\"$session\"}},"
			"\"system\":\"$system\",\"said\":\"$turns\"}}",
		.q = chat(
			"[{\"role\":\"system\",\"content\":\"s1\"},{\"role\":\"user\",\"content\":\"u\"},{\"role\":\"developer\",\"content\":\"s2\"}]")};
	(void)state;
	c.q.output_tokens = IPF_ABSENT;
	assert_body(&c,
	            "{\"n\":16,\"who\":\"r1\",\"system\":\"s1\\n\\ns2\",\"said\":[{\"role\":\"user\",\"content\":\"u\"}]}");
	c.q = chat("[{\"role\":\"user\",\"content\":\"u\"}]");
	c.q.session = text("\"s\"");
	assert_body(
		&c,
		"{\"n\":16,\"who\":\"s\",\"gone\":\"s\",\"talk\":{\"id\":\"s\"},\"said\":[{\"role\":\"user\",\"content\":\"u\"}]}");
}

static void test_messages_in_another_form(void **state)
{
	struct case_ c = {
		.request =
			"{\"body\":{\"turns\":{\"$each\":\"messages\",\"as\":{\"by\":\"$role\",\"parts\":[{\"text\":\"$content\"}],\"of\":\"$id\"},"
			"\"roles\":{\"assistant\":\"model\"}}}}",
		.q = chat(
			"[{\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"a\"},{\"type\":\"text\",\"text\":\"b\"}]},"
			"{\"content\":\"\\u00e9\"}]"),
		.context = "{\"role\":\"system\",\"content\":null}"};
	(void)state;
	assert_body(
		&c,
		"{\"turns\":[{\"by\":\"system\",\"parts\":[{\"text\":\"\"}],\"of\":\"r1\"},"
		"{\"by\":\"model\",\"parts\":[{\"text\":\"a\\n\\nb\"}],\"of\":\"r1\"},{\"by\":\"user\",\"parts\":[{\"text\":\"\\u00e9\"}],\"of\":\"r1\"}]}");
}

static void test_parameters_go_where_the_api_has_them(void **state)
{
	struct case_ c = {
		.request =
			"{\"params\":\"/how/$json\",\"body\":{\"q\":\"$prompt_text\",\"how\":{\"$json\":{\"n\":\"$output_tokens\"}},\"l\":[{}]}}",
		.options = {.params = json_object(), .measure_prompt = true},
		.q = chat("[{\"role\":\"user\",\"content\":\"\\u00e9\\n\"}]")};
	struct ipf_error err = {0};
	(void)state;
	assert_int_equal(body_renderer_add_param(c.options.params, "t=\"$id\"", &err), 0);
	assert_int_equal(body_renderer_add_param(c.options.params, "/top=1", &err), 0);
	assert_int_equal(body_renderer_add_param(c.options.params, "/l/0/in=2", &err), 0);
	assert_int_equal(body_renderer_add_param(c.options.params, "/new/map=3", &err), 0);
	assert_body(
		&c,
		"{\"q\":\"\\u00e9\\n\",\"how\":\"{\\\"n\\\":16,\\\"t\\\":\\\"r1\\\"}\",\"l\":[{\"in\":2}],\"top\":1,\"new\":{\"map\":3}}");
	struct body_renderer *r = make(c.request, &c.options, &err);
	struct buffer body = {0};
	assert_int_equal(body_renderer_render(r, &c.q, (struct slice){0}, &body, &err), 0);
	assert_int_equal(body_renderer_prompt_bytes(r), 3);
	buffer_release(&body);
	body_renderer_free(r);
	assert_int_equal(body_renderer_add_param(c.options.params, "/q/x=3", &err), 0);
	assert_null(make(c.request, &c.options, &err));
	assert_int_equal(err.kind, IPF_USAGE);
	json_decref(c.options.params);
}

static void test_the_trace_s_model_as_an_adapter(void **state)
{
	struct case_ c = {.request = "{\"body\":{\"p\":\"$prompt_text\",\"lora\":\"$adapter\"}}", .q = chat("[]")};
	(void)state;
	c.q.model = text("\"lora-a\"");
	assert_body(&c, "{\"p\":\"\",\"lora\":\"lora-a\"}");
	c.options.model = "base";
	assert_body(&c, "{\"p\":\"\"}");
}

static void test_templates_that_cannot_be(void **state)
{
	struct ipf_error err = {0};
	struct body_renderer_options options = {0};
	(void)state;
	assert_null(make("{\"body\":{\"x\":\"$nothing\"}}", &options, &err));
	assert_int_equal(err.kind, IPF_INPUT);
	assert_non_null(strstr(err.text, "$nothing"));
	ipf_error_clear(&err);
	options.exact_output = true;
	assert_null(make("{\"body\":{}}", &options, &err));
	assert_int_equal(err.kind, IPF_USAGE);
	assert_non_null(strstr(err.text, "--exact-output"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_chat),
		cmocka_unit_test(test_inputs_and_a_query),
		cmocka_unit_test(test_a_limit_of_results),
		cmocka_unit_test(test_absent_fields_are_left_out),
		cmocka_unit_test(test_the_command_line_s_model_wins),
		cmocka_unit_test(test_exact_output_and_parameters),
		cmocka_unit_test(test_the_answer_of_a_canary_ends_by_itself),
		cmocka_unit_test(test_recorded_answers),
		cmocka_unit_test(test_recorded_answers_that_cannot_be),
		cmocka_unit_test(test_parameters_that_take_from_the_request),
		cmocka_unit_test(test_parameters_that_are_none),
		cmocka_unit_test(test_templates_nest_and_escape),
		cmocka_unit_test(test_prompts_take_the_form_that_the_api_has),
		cmocka_unit_test(test_a_prompt_that_the_api_cannot_carry),
		cmocka_unit_test(test_sessions_grow),
		cmocka_unit_test(test_templates_choose_the_first_present_value),
		cmocka_unit_test(test_messages_in_another_form),
		cmocka_unit_test(test_parameters_go_where_the_api_has_them),
		cmocka_unit_test(test_the_trace_s_model_as_an_adapter),
		cmocka_unit_test(test_templates_that_cannot_be),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
