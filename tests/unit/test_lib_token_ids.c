/* The ids of tokens that servers list in their answers, whether an event has its own or all so far. */
#include "unit.h"

#include "absent.h"
#include "api/response.h"

static const struct {
	const char *api, *body, *output, *prompt;
	int64_t events[3]; /* tokens of each content event */
} cases[] = {
	{"openai-completions",
     "data: {\"choices\":[{\"text\":\"a\",\"prompt_token_ids\":[5,6,7],\"token_ids\":[11]}]}\n\n"
     "data: {\"choices\":[{\"text\":\"\",\"token_ids\":[12]}]}\n\n"
     "data: {\"choices\":[{\"text\":\"bc\",\"prompt_token_ids\":null,\"token_ids\":[13,14]}]}\n\ndata: [DONE]\n\n",
     "11,12,13,14",
     "5,6,7",
     {1, 3}},
	{"openai-chat",
     "data: {\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}],\"prompt_token_ids\":[5]}\n\n"
     "data: {\"choices\":[{\"delta\":{\"content\":\"a\"},\"token_ids\":[11]}]}\n\ndata: [DONE]\n\n",
     "11",
     "5",
     {1}},
	/* SGLang: all so far, or, in other versions and with other options, those of the event */
	{"sglang",
     "data: {\"text\":\"a\",\"output_ids\":[11],\"meta_info\":{\"completion_tokens\":1}}\n\n"
     "data: {\"text\":\"ab\",\"output_ids\":[11,12],\"meta_info\":{\"completion_tokens\":2}}\n\n"
     "data: {\"text\":\"abcd\",\"output_ids\":[11,12,13,14],\"meta_info\":{\"completion_tokens\":4}}\n\ndata: [DONE]\n\n",
     "11,12,13,14",
     "",
     {1, 1, 2}},
	{"sglang",
     "data: {\"text\":\"a\",\"output_ids\":[11],\"meta_info\":{\"completion_tokens\":1}}\n\n"
     "data: {\"text\":\"ab\",\"output_ids\":[12],\"meta_info\":{\"completion_tokens\":2}}\n\n"
     "data: {\"text\":\"abcd\",\"output_ids\":[13,14],\"meta_info\":{\"completion_tokens\":4}}\n\ndata: [DONE]\n\n",
     "11,12,13,14",
     "",
     {1, 1, 2}},
	{"llama-cpp",
     "data: {\"content\":\"a\",\"tokens\":[11],\"stop\":false}\n\n"
     "data: {\"content\":\"\",\"tokens\":[],\"stop\":true,\"stop_type\":\"limit\"}\n\n",
     "11",
     "",
     {1}},
	{"tgi",
     "data: {\"token\":{\"id\":11,\"text\":\"a\"}}\n\n"
     "data: {\"token\":{\"id\":12,\"text\":\"b\"},\"generated_text\":\"ab\",\"details\":{\"finish_reason\":\"length\"}}\n\n",
     "11,12",
     "",
     {1, 1}},
};

static void parse(struct response *r, const char *name, const char *body, bool keep)
{
	struct api *api;
	struct ipf_error err = {0};
	struct record record;
	struct record_read read = {1000, (int64_t)strlen(body), 1000};
	const struct response_options options = {.keep_ids = keep};
	record_init(&record);
	record.status = 200;
	record.start_ns = 0;
	record.error = RECORD_OK;
	record.streamed = true;
	record.body = slice_of(body);
	record.reads = &read;
	record.reads_count = 1;
	assert_int_equal(api_open(&api, name, &err), 0);
	assert_int_equal(response_parse(r, &record, api, &options, &err), 0);
	api_close(api);
}

static void ids_are_found(void **state)
{
	(void)state;
	struct response r = {0};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		parse(&r, cases[i].api, cases[i].body, true);
		if (!slice_is(buffer_all(&r.output_ids), cases[i].output) ||
		    !slice_is(buffer_all(&r.prompt_ids), cases[i].prompt))
			fail_msg("case %zu: %.*s after %.*s", i, (int)r.output_ids.len, r.output_ids.data ? r.output_ids.data : "",
			         (int)r.prompt_ids.len, r.prompt_ids.data ? r.prompt_ids.data : "");
		for (size_t k = 0; k < r.events_count; k++)
			if (r.events[k].token_ids != cases[i].events[k])
				fail_msg("case %zu: event %zu has %lld", i, k, (long long)r.events[k].token_ids);
		parse(&r, cases[i].api, cases[i].body, false);
		assert_int_equal(r.output_ids.len + r.prompt_ids.len, 0);
	}
	response_release(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(ids_are_found)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
