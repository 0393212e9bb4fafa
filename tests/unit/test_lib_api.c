#include "api/api.h"
#include "api_cases.h"

#include <unistd.h>

/* The smallest descriptor making sense; tests change one member of it at a time. */
static const char small[] =
	"{\"ipf\":\"api\",\"version\":1,\"name\":\"mine\",\"method\":\"POST\",\"path\":\"/generate\","
	"\"request\":{\"body\":{\"prompt\":\"$prompt\"}},"
	"\"response\":{\"framing\":\"ndjson\",\"text\":[\"/text\"],\"end\":{\"eof\":true}}}";

static void pointer_finds(const char *pointer, const char *document, const char *expected)
{
	struct ipf_error err = {0};
	struct api_pointer *p = NULL;
	struct jdoc doc = {0};
	json_t *value = parse(pointer);
	assert_int_equal(api_pointer_new(&p, value, &err), 0);
	assert_int_equal(jdoc_parse(&doc, document, strlen(document), &err), 0);
	jdoc_id node = api_pointer_first(p, &doc, JDOC_ROOT);
	if (!expected) {
		assert_int_equal(node, JDOC_NONE);
	} else {
		assert_int_not_equal(node, JDOC_NONE);
		struct slice raw = jdoc_raw(&doc, node);
		assert_int_equal(raw.len, strlen(expected));
		assert_memory_equal(raw.data, expected, raw.len);
	}
	jdoc_release(&doc);
	api_pointer_free(p);
	json_decref(value);
}

static void pointers_are_followed(void **state)
{
	(void)state;
	pointer_finds("\"\"", "{\"a\":1}", "{\"a\":1}");
	pointer_finds("\"/a\"", "{\"a\":1}", "1");
	pointer_finds("\"/a/b\"", "{\"a\":{\"b\":\"x\"}}", "\"x\"");
	pointer_finds("\"/a/1\"", "{\"a\":[5,6]}", "6");
	pointer_finds("\"/a/2\"", "{\"a\":[5,6]}", NULL);
	pointer_finds("\"/a/01\"", "{\"a\":[5,6]}", NULL);
	pointer_finds("\"/a/-\"", "{\"a\":[5,6]}", NULL);
	pointer_finds("\"/a/99999999999999999999\"", "{\"a\":[5,6]}", NULL);
	pointer_finds("\"/0\"", "{\"0\":7}", "7");
	pointer_finds("\"/a~1b/m~0n\"", "{\"a/b\":{\"m~n\":3}}", "3");
	pointer_finds("\"/\"", "{\"\":8}", "8");
	pointer_finds("\"/a\"", "[1]", NULL);
	pointer_finds("\"/a/b\"", "{\"a\":\"text\"}", NULL);
	pointer_finds("\"/a\"", "{\"a\":null}", NULL);
	pointer_finds("\"/a\"", "{\"a\":false}", "false");
}

static void a_star_is_every_element(void **state)
{
	(void)state;
	pointer_finds("\"/c/*/t\"", "{\"c\":[{\"t\":1},{\"t\":2}]}", "1");
	pointer_finds("\"/c/*/t\"", "{\"c\":[{\"t\":null},{\"u\":0},{\"t\":2}]}", "2");
	pointer_finds("\"/c/*/t/*\"", "{\"c\":[{\"t\":[]},{\"t\":[4]}]}", "4");
	pointer_finds("\"/c/*\"", "{\"c\":[]}", NULL);
	pointer_finds("\"/c/*\"", "{\"c\":{\"*\":5}}", "5");
	pointer_finds("\"/c/*[t=a]/v\"", "{\"c\":[{\"v\":1},{\"t\":\"b\",\"v\":2},{\"t\":\"a\",\"v\":3}]}", "3");
	pointer_finds("\"/c/*[t!=a]/v\"", "{\"c\":[{\"t\":\"a\",\"v\":1},{\"v\":2}]}", "2");
	pointer_finds("\"/c/*[t=true]/v\"", "{\"c\":[{\"t\":false,\"v\":1},7,{\"t\":true,\"v\":2}]}", "2");
	pointer_finds("\"/c/*[t=]/v\"", "{\"c\":[{\"t\":\"\",\"v\":1}]}", "1");
	pointer_finds("\"/*[t\"", "{\"*[t\":1}", "1");
	pointer_finds("\"/*[=a]\"", "{\"*[=a]\":1}", "1");
}

static void a_condition_narrows(void **state)
{
	(void)state;
	pointer_finds("{\"at\":\"/object\",\"is\":\"error\"}", "{\"object\":\"error\"}", "\"error\"");
	pointer_finds("{\"at\":\"/object\",\"is\":\"error\"}", "{\"object\":\"err\\u006fr\"}", "\"err\\u006fr\"");
	pointer_finds("{\"at\":\"/object\",\"is\":\"error\"}", "{\"object\":\"chunk\"}", NULL);
	pointer_finds("{\"at\":\"/s\",\"is\":true}", "{\"s\":true}", "true");
	pointer_finds("{\"at\":\"/s\",\"is\":true}", "{\"s\":false}", NULL);
	pointer_finds("{\"at\":\"/s\",\"is\":true}", "{\"s\":\"true\"}", NULL);
	pointer_finds("{\"at\":\"/s\",\"is\":7}", "{\"s\":7}", "7");
	pointer_finds("{\"at\":\"/s\",\"is\":7}", "{\"s\":8}", NULL);
	pointer_finds("{\"at\":\"/l/*/k\",\"is\":2}", "{\"l\":[{\"k\":1},{\"k\":2}]}", "2");
}

static void another_pointer_narrows(void **state)
{
	(void)state;
	static const char only[] = "{\"at\":\"/delta\",\"where\":{\"at\":\"/type\",\"is\":\"text\"}}";
	pointer_finds(only, "{\"type\":\"text\",\"delta\":\"a\"}", "\"a\"");
	pointer_finds(only, "{\"type\":\"other\",\"delta\":\"a\"}", NULL);
	pointer_finds(only, "{\"delta\":\"a\"}", NULL);
	pointer_finds("{\"at\":\"/n\",\"is\":1,\"where\":\"/there\"}", "{\"n\":1,\"there\":0}", "1");
	pointer_finds("{\"at\":\"/n\",\"is\":1,\"where\":\"/there\"}", "{\"n\":1}", NULL);
}

static bool count(const struct jdoc *doc, jdoc_id node, void *data)
{
	(void)doc, (void)node;
	++*(int *)data;
	return true;
}

static void a_star_goes_through_all_elements(void **state)
{
	(void)state;
	struct ipf_error err = {0};
	struct api_pointer *p = NULL;
	struct jdoc doc = {0};
	json_t *value = parse("\"/c/*/d/*/t\"");
	const char *text = "{\"c\":[{\"d\":[{\"t\":1},{\"t\":2}]},{\"d\":[]},{\"d\":[{\"t\":null}]}]}";
	int found = 0;
	assert_int_equal(api_pointer_new(&p, value, &err), 0);
	assert_false(api_pointer_conditional(p));
	assert_int_equal(jdoc_parse(&doc, text, strlen(text), &err), 0);
	api_pointer_each(p, &doc, JDOC_ROOT, count, &found);
	assert_int_equal(found, 3);
	jdoc_release(&doc);
	api_pointer_free(p);
	json_decref(value);
}

static void bad_pointers_are_refused(void **state)
{
	(void)state;
	static const char *const bad[] = {"\"a\"",
	                                  "\"a/b\"",
	                                  "\"/a~\"",
	                                  "\"/a~2\"",
	                                  "5",
	                                  "null",
	                                  "[]",
	                                  "{}",
	                                  "{\"at\":\"/a\"}",
	                                  "{\"is\":1}",
	                                  "{\"at\":\"/a\",\"is\":null}",
	                                  "{\"at\":\"/a\",\"is\":1.5}",
	                                  "{\"at\":\"a\",\"is\":1}",
	                                  "{\"at\":\"/a\",\"is\":1,\"or\":2}"};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct ipf_error err = {0};
		struct api_pointer *p = NULL;
		json_t *value = parse(bad[i]);
		assert_int_equal(api_pointer_new(&p, value, &err), -1);
		assert_null(p);
		assert_int_equal(err.kind, IPF_INPUT);
		json_decref(value);
	}
}

static void built_in_ones_open(void **state)
{
	(void)state;
	const char *name, *about;
	size_t seen = 0;
	for (; (name = api_builtin(seen, &about)); seen++) {
		struct ipf_error err = {0};
		struct api *api = NULL;
		if (api_open(&api, name, &err) < 0)
			fail_msg("%s: %s", name, err.text);
		assert_string_equal(api_name(api), name);
		assert_true(strlen(about) > 0);
		assert_string_equal(api_method(api), "POST");
		assert_true(api_response(api, true) || api_response(api, false));
		for (int streamed = 0; streamed < 2; streamed++)
			if (api_response(api, streamed))
				assert_int_equal(api_path(api, streamed)[0], '/');
		if (api_response(api, false))
			assert_int_equal(api_response(api, false)->framing, api_protobuf(api) ? FRAMING_GRPC : FRAMING_JSON);
		assert_null(json_object_get(api_json(api), "like"));
		api_close(api);
	}
	assert_true(seen >= 20);
	assert_null(api_builtin(seen + 1, NULL));
}

static void the_chat_descriptor_is_compiled(void **state)
{
	(void)state;
	struct ipf_error err = {0};
	struct api *api = NULL;
	assert_int_equal(api_open(&api, "openai-chat", &err), 0);
	const struct api_response *r = api_response(api, true);
	assert_int_equal(r->framing, FRAMING_SSE);
	assert_int_equal(r->text_mode, API_DELTA);
	assert_string_equal(r->end_data, "[DONE]");
	assert_false(r->end_at_eof);
	assert_int_equal(r->reasoning.count, 5);
	assert_int_equal(r->tools.count, 6);
	assert_true(api_pointer_conditional(r->error.list[1]));
	assert_string_equal(json_string_value(json_object_get(json_object_get(api_request(api), "body"), "messages")),
	                    "$messages");
	api_close(api);
}

static void an_unknown_name_is_explained(void **state)
{
	static const char *const near[][2] = {{"openai-chatt", "openai-chat"}, {"vlm", "vllm"}, {"Jetstreem", "jetstream"}};
	(void)state;
	struct ipf_error err = {0};
	struct api *api = NULL;
	for (size_t i = 0; i < sizeof near / sizeof *near; i++) {
		char expected[64];
		snprintf(expected, sizeof expected, "did you mean %s?", near[i][1]);
		assert_int_equal(api_open(&api, near[i][0], &err), -1);
		assert_int_equal(err.kind, IPF_USAGE);
		assert_non_null(strstr(err.text, near[i][0]));
		assert_non_null(strstr(err.text, expected));
		ipf_error_clear(&err);
	}
	assert_int_equal(api_open(&api, "zzzzzzzz", &err), -1);
	assert_int_equal(err.kind, IPF_USAGE);
	for (size_t i = 0; api_builtin(i, NULL); i++)
		assert_non_null(strstr(err.text, api_builtin(i, NULL)));
}

/* Each alias, in any spelling, names one descriptor, and is in the line about it; the records do not have them. */
static void aliases_open(void **state)
{
	static const char *const known[][2] = {{"vllm", "openai-chat"},
	                                       {"sglang-openai", "openai-chat"},
	                                       {"tgi-openai", "openai-chat"},
	                                       {"dynamo", "openai-chat"},
	                                       {"lmdeploy", "openai-chat"},
	                                       {"nvidia-nim", "nim"},
	                                       {"trtllm", "triton-generate"},
	                                       {"tensorrt_llm_triton", "triton-generate"},
	                                       {"jetstream", "jetstream-gke"},
	                                       {"llama.cpp", "llama-cpp"},
	                                       {"NAIVE_transformers", "naive-transformers"}};
	char *seen[256];
	size_t count = 0;
	const char *name, *about;
	(void)state;
	for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
		struct ipf_error err = {0};
		struct api *api = NULL;
		assert_int_equal(api_open(&api, known[i][0], &err), 0);
		assert_string_equal(api_name(api), known[i][1]);
		assert_null(json_object_get(api_json(api), "aliases"));
		api_close(api);
	}
	for (size_t i = 0; (name = api_builtin(i, &about)); i++) {
		char *list = strstr(about, "; also: "), *copy = list ? strdup(list + strlen("; also: ")) : NULL, *at = copy;
		for (char *alias; copy && (alias = strsep(&at, ","));) {
			struct ipf_error err = {0};
			struct api *api = NULL;
			alias += strspn(alias, " ");
			assert_int_equal(api_open(&api, alias, &err), 0);
			if (strcmp(api_name(api), name) != 0)
				fail_msg("%s is %s, too", alias, api_name(api));
			for (size_t k = 0; k < count; k++)
				assert_string_not_equal(seen[k], alias);
			assert_in_range(count, 0, 255);
			seen[count++] = strdup(alias);
			api_close(api);
		}
		free(copy);
	}
	assert_true(count >= 40);
	while (count)
		free(seen[--count]);
}

static void files_open(void **state)
{
	(void)state;
	char path[] = "/tmp/ipf-test-api-XXXXXX.json";
	int fd = mkstemps(path, 5);
	struct ipf_error err = {0};
	struct api *api = NULL;
	assert_true(fd >= 0);
	assert_int_equal(write(fd, small, strlen(small)), strlen(small));
	assert_int_equal(api_open(&api, path, &err), 0);
	assert_string_equal(api_name(api), "mine");
	assert_true(api_response(api, true)->end_at_eof);
	assert_null(api_response(api, false));
	api_close(api);

	assert_int_equal(write(fd, "}\n", 2), 2);
	close(fd);
	assert_int_equal(api_open(&api, path, &err), -1);
	assert_int_equal(err.kind, IPF_INPUT);
	assert_string_equal(err.file, path);
	assert_int_equal(err.line, 1);
	unlink(path);

	ipf_error_clear(&err);
	assert_int_equal(api_open(&api, path, &err), -1);
	assert_int_equal(err.kind, IPF_SYSTEM);
}

static void told(const char *path, const char *value, const char *expected)
{
	api_told(small, path, value, expected);
}

static void members_of_the_top_are_checked(void **state)
{
	(void)state;
	told("ipf", "\"trace\"", "ipf: expected \"api\", got \"trace\"");
	told("version", "2", "version: expected 1, the only version known to this program, got 2");
	told("version", "gone", "version: expected 1, the only version known to this program, got nothing");
	told("colour", "1", "colour: unknown member");
	told("name", "gone", "name: expected a string, got nothing");
	told("name", "\"\"", "name: expected a string, got \"\"");
	told("about", "\"any server\"", NULL);
	told("about", "5", "about: expected a string, got 5");
	told("method", "\"post\"", "method: expected a method such as \"POST\", got \"post\"");
	told("path", "{\"stream\":\"/a\"}", NULL);
	told("path", "{\"whole\":\"/a\"}", "path.stream: expected a path beginning with a slash, got nothing");
	told("path", "{\"stream\":\"/a\",\"other\":\"/b\"}", "path.other: unknown member");
	told("path", "\"/v2/models/$model/generate\"", NULL);
	told("path", "\"/v2/models/$id\"", "path: expected a path beginning with a slash, got \"/v2/models/$id\"");
	told("path", "\"generate\"", "path: expected a path beginning with a slash, got \"generate\"");
	told("ready", "[\"/health\"]", NULL);
	told("cache_reset", "{}", "cache_reset: expected an array of at most 8 requests, got {}");
	told("cache_reset", "[5]", "cache_reset: expected an array of objects, got 5");
	told("cache_reset", "[{\"method\":\"POST\"}]",
	     "cache_reset.path: expected a path beginning with a slash, got nothing");
	told("cache_reset", "[{\"path\":\"/a\"}]", "cache_reset.method: expected a string, got nothing");
	told("cache_reset", "[{\"method\":\"post\",\"path\":\"/a\"}]",
	     "cache_reset.method: expected a method such as \"POST\", got \"post\"");
	told("cache_reset", "[{\"method\":\"POST\",\"path\":\"/a\",\"when\":1}]", "cache_reset.when: unknown member");
	told("cache_reset", "[{\"method\":\"POST\",\"path\":\"/a/$each\"}]",
	     "cache_reset.path: expected a path without $each, got \"/a/$each\"");
	told("cache_reset", "[{\"method\":\"POST\",\"path\":\"/a\",\"each\":{\"path\":\"/b\",\"ids\":\"/*\"}}]",
	     "cache_reset.path: expected a path with $each, got \"/a\"");
	told("cache_reset", "[{\"method\":\"POST\",\"path\":\"/$each\",\"each\":{\"path\":\"/b\",\"ids\":5}}]",
	     "cache_reset.each.ids: expected a JSON Pointer, got 5");
	told("ready", "\"/health\"", "ready: expected an array of paths, got \"/health\"");
}

static void templates_of_tool_calls_are_checked(void **state)
{
	(void)state;
	told("request.body.n",
	     "{\"$each\":\"turns\",\"as\":{},\"call\":{\"i\":\"$call_id\",\"a\":\"$call_arguments\"},"
	     "\"results\":{\"c\":{\"$each\":\"results\",\"as\":{\"n\":\"$call_name\",\"c\":\"$content\"}}}}",
	     NULL);
	told("request.body.n", "{\"$each\":\"turns\",\"as\":{},\"result\":{},\"results\":{}}",
	     "request.results: cannot be combined with result");
	told("request.body.n", "{\"$each\":\"turns\",\"as\":{},\"call\":7}", "request.call: expected an object, got 7");
	told(
		"request.body.n", "{\"$each\":\"turns\",\"as\":{},\"result\":{\"a\":\"$call_arguments\"}}",
		"request.a: expected a known field, such as \"$messages\", or \"$$\" for a dollar sign, got \"$call_arguments\"");
	told("request.body.n", "{\"$each\":\"results\",\"as\":{}}",
	     "request.$each: \"results\" is only allowed inside the template \"results\"");
}

static void members_of_the_request_are_checked(void **state)
{
	(void)state;
	told("request.params", "\"/options\"", NULL);
	told("request.params", "\"options\"", "request.params: expected a JSON Pointer into the body, got \"options\"");
	told("request.headers", "{\"A\":\"$session\"}", NULL);
	told(
		"request.headers", "{\"A\":\"$prompt\"}",
		"request.A: expected \"$id\", \"$session\", \"$agent\", \"$parent_agent\", \"$model\" or \"$traceparent\" if the value begins with $");
	told("request.body.n", "{\"$first\":[\"$output_tokens\",16]}", NULL);
	told("request.body.n", "{\"$first\":16}", "request.$first: expected an array as the only member, got 16");
	told("request.body.n", "{\"$json\":{\"a\":\"$id\"}}", NULL);
	told("request.body.n", "{\"$if\":\"$system\",\"then\":[\"$system\"]}", NULL);
	told("request.body.n", "{\"$if\":\"$system\"}",
	     "request.$if: expected a field name, with \"then\" as the only other member, got {\"$if\":\"$system\"}");
	told("request.body.n",
	     "{\"$each\":\"turns\",\"as\":{\"who\":\"$role\",\"what\":\"$content\"},\"roles\":{\"user\":\"human\"}}", NULL);
	told("request.body.n", "{\"$each\":\"all\",\"as\":{}}",
	     "request.$each: expected \"messages\", \"turns\", \"parts\", \"tools\" or \"inputs\", got \"all\"");
	told("request.body.n",
	     "{\"$each\":\"tools\",\"as\":{\"name\":\"$tool_name\",\"input_schema\":\"$tool_parameters\"}}", NULL);
	told("request.body.n", "{\"$each\":\"inputs\",\"as\":{\"text\":\"$input\"}}", NULL);
	told("request.body.n", "{\"$first\":[\"$inputs\",[\"$prompt_text\"]]}", NULL);
	told("request.body.n", "[\"$query\",\"$input_texts\"]", NULL);
	told("request.body.n", "\"$input\"",
	     "request.n: expected a known field, such as \"$messages\", or \"$$\" for a dollar sign, got \"$input\"");
	told("request.outputs_limit", "3", "request.outputs_limit: expected a string, got 3");
	told("request.outputs_limit", "\"top_n\"", NULL);
	told("request.encoding", "\"multipart/form-data\"", NULL);
	told("request.encoding", "\"form\"", "request.encoding: expected \"multipart/form-data\", got \"form\"");
	told("request.body.n", "{\"$each\":\"tools\",\"as\":{\"name\":\"$role\"}}",
	     "request.name: expected a known field, such as \"$messages\", or \"$$\" for a dollar sign, got \"$role\"");
	told("request.body.n",
	     "{\"$each\":\"turns\",\"as\":{\"c\":{\"$each\":\"parts\",\"text\":{\"t\":\"$text\"},\"image\":\"$url\"}}}",
	     NULL);
	told(
		"request.body.n", "{\"$each\":\"turns\",\"as\":{\"c\":{\"$each\":\"parts\"}}}",
		"request.$each: expected \"text\", \"image\", \"audio\", \"video\" or \"call\" next to it, got {\"$each\":\"parts\"}");
	told("request.body.n", "{\"$each\":\"parts\",\"text\":\"$text\"}",
	     "request.$each: \"parts\" is only allowed inside the $each of messages or turns");
	told("request.body.n", "\"$role\"",
	     "request.n: expected a known field, such as \"$messages\", or \"$$\" for a dollar sign, got \"$role\"");
	told("request", "gone", "request: expected an object, got nothing");
	told("request.body", "gone", "request.body: expected an object, got nothing");
	told("request.body", "[]", "request.body: expected an object, got []");
	told("request.bodies", "{}", "request.bodies: unknown member");
	told("request.body.prompt", "\"$promt\"",
	     "request.prompt: expected a known field, such as \"$messages\", or \"$$\" for a dollar sign, got \"$promt\"");
	told("request.body.prompt", "\"$$5\"", NULL);
	told("request.body.prompt", "[{\"text\":\"$prompt\"},1,null]", NULL);
	told("request.headers", "{\"A\":1}", "request.A: expected a string, got 1");
	told("request.headers", "{\"A\":\"b\\r\\nC: d\"}",
	     "request.A: expected a valid header name, and a value without control characters");
	told("request.auth", "{\"header\":\"x-api-key\",\"env\":\"KEY\"}", NULL);
	told("request.auth", "{\"env\":\"KEY\"}", "request.auth.header: expected a string, got nothing");
	told("request.auth", "{\"header\":\"H\",\"key\":\"K\"}", "request.auth.key: unknown member");
}

static void answers_of_audio_are_checked(void **state)
{
	(void)state;
	told("response", "{\"framing\":\"bytes\",\"end\":{\"eof\":true}}", NULL);
	told("response", "{\"framing\":\"bytes\",\"end\":{\"eof\":true},\"pcm_rate\":16000}", NULL);
	told("response", "{\"framing\":\"bytes\",\"end\":{\"eof\":true},\"text\":[\"/a\"]}",
	     "response.framing: \"bytes\" has neither text nor data nor an envelope, and ends by eof");
	told("response", "{\"framing\":\"bytes\",\"end\":{\"when\":[\"/a\"]}}",
	     "response.framing: \"bytes\" has neither text nor data nor an envelope, and ends by eof");
	told("response", "{\"framing\":\"bytes\",\"end\":{\"eof\":true},\"pcm_rate\":0}",
	     "response.pcm_rate: expected samples a second, 1 to 1000000, got 0");
	told("response.pcm_rate", "24000", "response.pcm_rate: requires framing \"bytes\"");
}

static void members_of_the_response_are_checked(void **state)
{
	(void)state;
	told("response", "gone", "response: expected an object, got nothing");
	told("response", "7", "response: expected an object, got 7");
	told(
		"response.framing", "gone",
		"response.framing: expected \"sse\", \"ndjson\", \"json\", \"json-sequence\", \"grpc\" or \"bytes\", got nothing");
	told(
		"response.framing", "\"http\"",
		"response.framing: expected \"sse\", \"ndjson\", \"json\", \"json-sequence\", \"grpc\" or \"bytes\", got \"http\"");
	told("response.text_mode", "\"delta\"", NULL);
	told(
		"response.text_mode", "\"deltas\"",
		"response.text_mode: expected \"delta\", \"cumulative\", \"cumulative-with-prompt\" or \"prefix\", got \"deltas\"");
	told("response.text", "gone", "response.text: expected an array of JSON Pointers, got nothing");
	told("response.text", "\"/text\"", "response.text: expected an array of JSON Pointers, got \"/text\"");
	told("response.text", "[]", "response.text: expected an array of JSON Pointers, got []");
	told("response.text", "[\"/ok\",\"text\"]",
	     "response.text[1]: expected a JSON Pointer such as \"/choices/*/text\", got \"text\"");
	told("response.thoughts", "[\"/a\"]", "response.thoughts: unknown member");
	told("response.usage", "{\"prompt\":[\"/a\"]}", "response.usage.prompt: unknown member");
	told("response.usage", "{\"input_tokens\":[\"a\"]}",
	     "response.usage.input_tokens[0]: expected a JSON Pointer such as \"/choices/*/text\", got \"a\"");
	told("response.usage", "{\"input_tokens\":[\"/a\"]}", NULL);
	told("response.usage", "{\"spec_drafts\":[\"/a\",{\"sum\":[\"/b\",\"/c\"]}]}", NULL);
	told("response.usage", "{\"spec_drafts\":{\"sum\":[\"/b\",\"/c\"]}}", NULL);
	told("response.usage", "{\"spec_drafts\":[\"/a\",{\"sum\":[\"b\"]}]}",
	     "response.usage.spec_drafts.sum[0]: expected a JSON Pointer such as \"/choices/*/text\", got \"b\"");
	told("response.usage", "{\"spec_drafts\":[{\"sum\":[\"/b\"]},{\"sum\":[\"/c\"]}]}",
	     "response.usage.spec_drafts: expected one sum, without other members, got {\"sum\":[\"/c\"]}");
	told("response.usage", "{\"spec_drafts\":[{\"sum\":[{\"header\":\"x\"}]}]}",
	     "response.usage.spec_drafts.sum: a header is not allowed in it");
	told("response.text", "[{\"sum\":[\"/b\"]}]",
	     "response.text[0]: expected a JSON Pointer, or {\"at\": POINTER} with \"is\", \"where\" or both");
	told("response.end", "gone", "response.end: expected an object with data, when or eof, got nothing");
	told("response.end", "{}", "response.end: expected at least one of data, when and eof in it, got {}");
	told("response.end", "{\"eof\":false}", "response.end.eof: expected true, got false");
	told("response.end", "{\"data\":\"x\"}", "response.end.data: requires framing \"sse\"");
	told("response.end", "{\"when\":[{\"at\":\"/done\",\"is\":true}]}", NULL);
	told("response.error_event", "\"error\"", "response.error_event: requires framing \"sse\"");
	told("response.data", "[\"/v\"]", NULL);
	told("response.text_after", "\"Output:\"", NULL);
	told("response.end", "{\"when\":[\"/e\"],\"final\":true}", NULL);
	told("response.end", "{\"when\":[\"/e\"],\"final\":false}", "response.end.final: expected true, got false");
	told("response.end", "{\"eof\":true,\"final\":true}", "response.end.final: requires data or when");
	told("response.finish_words", "{\"eos\":\"stop\",\"none\":null}", NULL);
	told("response.finish_words", "{\"eos\":\"end\"}",
	     "response.finish_words.eos: expected stop, length, tool_calls, content_filter, error or null, got \"end\"");
	told("response.server", "{\"queue\":{\"at\":[\"/q\"],\"unit\":\"ms\"}}", NULL);
	told("response.server", "{\"queue\":{\"at\":[{\"header\":\"X-Queue\"}],\"unit\":\"s\"}}", NULL);
	told("response.server", "{\"queue\":{\"at\":[\"/q\"]}}",
	     "response.server.queue.unit: expected ns, us, ms or s, got nothing");
	told("response.server", "{\"queue\":{\"unit\":\"s\"}}",
	     "response.server.queue.at: expected an array of JSON Pointers, got nothing");
	told("response.server", "{\"wait\":{\"at\":[\"/q\"],\"unit\":\"s\"}}", "response.server.wait: unknown member");
	told("response.usage", "{\"input_tokens\":[\"/a\",{\"header\":\"x-tokens\"}]}", NULL);
	told("response.text", "[{\"header\":\"x-text\"},\"/a\"]", "response.header: only allowed in usage and server");
	told("response_whole", "{\"framing\":\"json\"}",
	     "response_whole.end: expected an object with data, when or eof, got nothing");
}

static void a_descriptor_is_like_another(void **state)
{
	(void)state;
	char path[] = "/tmp/ipf-test-api-XXXXXX.json";
	int fd = mkstemps(path, 5);
	struct ipf_error err = {0};
	struct api *api = NULL;
	static const char text[] =
		"{\"like\":\"openai-chat\",\"name\":\"mine\",\"path\":\"/x\",\"request\":{\"exact_output\":null,\"body\":{\"n\":1}}}";
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	assert_int_equal(api_open(&api, path, &err), 0);
	assert_string_equal(api_name(api), "mine");
	assert_string_equal(api_path(api, true), "/x");
	assert_null(json_object_get(api_request(api), "exact_output"));
	assert_string_equal(json_string_value(json_object_get(json_object_get(api_request(api), "body"), "messages")),
	                    "$messages");
	assert_string_equal(api_response(api, true)->end_data, "[DONE]");
	assert_null(json_object_get(api_json(api), "like"));
	api_close(api);
	assert_int_equal(ftruncate(fd, 0), 0);
	assert_int_equal(pwrite(fd, "{\"like\":\"nobody\"}", 17, 0), 17);
	close(fd);
	assert_int_equal(api_open(&api, path, &err), -1);
	assert_string_equal(err.text, "like: expected the name of a built-in descriptor, got \"nobody\"");
	unlink(path);
}

static void a_list_is_no_descriptor(void **state)
{
	(void)state;
	struct ipf_error err = {0};
	struct api *api = NULL;
	json_t *list = json_array();
	assert_int_equal(api_from_json(&api, list, "mine.json", &err), -1);
	assert_string_equal(err.text, "expected an API descriptor (a JSON object)");
	json_decref(list);
}

/* Members a newer program has added, at each level: refused in a file, ignored in the header of records. */
static void a_recorded_descriptor_may_be_newer(void **state)
{
	(void)state;
	static const char *const inside[] = {
		"", "request", "response", "response/usage", "response/calls", "response/end", "models"};
	struct ipf_error err = {0};
	struct api *api;
	assert_int_equal(api_open(&api, "openai-chat", &err), 0);
	for (size_t i = 0; i < sizeof inside / sizeof *inside; i++) {
		json_t *newer = json_deep_copy(api_json(api)), *map = newer;
		char path[64], *rest = path;
		snprintf(path, sizeof path, "%s", inside[i]);
		for (char *part; (part = strsep(&rest, "/")) && *part;)
			map = json_object_get(map, part);
		json_object_set_new(map, "of_tomorrow", json_pack("{s:s}", "at", "/x"));
		struct api *again = NULL;
		assert_int_equal(api_from_json(&again, newer, "file.json", &err), -1);
		assert_non_null(strstr(err.text, "of_tomorrow: unknown member"));
		err = (struct ipf_error){0};
		assert_int_equal(api_from_records(&again, newer, "run.records", &err), 0);
		assert_true(json_equal(api_json(again), newer)); /* the built-in one adds nothing to itself */
		api_close(again);
		json_decref(newer);
	}
	api_close(api);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_recorded_descriptor_may_be_newer),
		cmocka_unit_test(pointers_are_followed),
		cmocka_unit_test(a_star_is_every_element),
		cmocka_unit_test(a_condition_narrows),
		cmocka_unit_test(another_pointer_narrows),
		cmocka_unit_test(a_star_goes_through_all_elements),
		cmocka_unit_test(bad_pointers_are_refused),
		cmocka_unit_test(built_in_ones_open),
		cmocka_unit_test(the_chat_descriptor_is_compiled),
		cmocka_unit_test(an_unknown_name_is_explained),
		cmocka_unit_test(aliases_open),
		cmocka_unit_test(files_open),
		cmocka_unit_test(members_of_the_top_are_checked),
		cmocka_unit_test(members_of_the_request_are_checked),
		cmocka_unit_test(templates_of_tool_calls_are_checked),
		cmocka_unit_test(answers_of_audio_are_checked),
		cmocka_unit_test(members_of_the_response_are_checked),
		cmocka_unit_test(a_descriptor_is_like_another),
		cmocka_unit_test(a_list_is_no_descriptor),
	};
	return cmocka_run_group_tests_name("lib/api", tests, NULL, NULL);
}
