#include "api/api.h"
#include "api_cases.h"
#include "protobuf/protobuf.h"

/* A descriptor making sense; tests change one member of it at a time. */
static const char small[] =
	"{\"ipf\":\"api\",\"version\":1,\"name\":\"mine\",\"method\":\"POST\",\"path\":\"/house.Talk/Say\","
	"\"grpc\":{\"request\":\"Question\",\"response\":{\"stream\":\"Piece\"},"
	"\"messages\":{\"Question\":{\"text\":\"string = 1\",\"most\":\"uint32 = 3\",\"how\":\"map<string, Value> = 4\",\"list\":\"repeated Value = 5\"},"
	"\"Value\":{\"s\":\"string = 1\",\"i\":\"int64 = 2\"},\"Piece\":{\"said\":\"string = 1\"}}},"
	"\"request\":{\"body\":{\"text\":\"$prompt\"}},"
	"\"response\":{\"framing\":\"grpc\",\"text\":[\"/said\"]}}";

static void told(const char *path, const char *value, const char *expected)
{
	api_told(small, path, value, expected);
}

static void members_are_checked(void **state)
{
	(void)state;
	told("name", "\"other\"", NULL);
	told("grpc", "gone", "grpc: expected an object, which framing \"grpc\" requires, got nothing");
	told("grpc.colour", "1", "grpc.colour: unknown member");
	told("grpc.request", "gone", "grpc.request: expected the name of one of the messages, got nothing");
	told("grpc.request", "\"Other\"", "grpc.request: expected the name of one of the messages, got \"Other\"");
	told("grpc.response", "{\"stream\":\"Other\"}",
	     "grpc.response: expected the name of one of the messages, got \"Other\"");
	told("grpc.response", "{\"both\":\"Piece\"}", "grpc.both: unknown member");
	told("grpc.messages", "gone", "grpc.messages: expected an object of message types");
	told("grpc.enums", "[]", "grpc.enums: expected an object, got []");
	told("response.framing", "\"ndjson\"", "response.end: expected an object with data, when or eof, got nothing");
	told("response.end", "{\"eof\":true}",
	     "response.end.eof: not allowed with framing \"grpc\", which ends with a status");
	told("response.end", "{\"when\":[\"/said\"]}", NULL);
	told("response_whole", "{\"framing\":\"json\",\"text\":[\"/said\"],\"end\":{\"when\":[\"/said\"]}}",
	     "response_whole.framing: expected \"grpc\", as elsewhere in the descriptor");
	told("response.text_mode", "\"prefix\"", "response.prefix_len: required by text_mode \"prefix\"");
	told("response.prefix_len", "[\"/n\"]", "response.prefix_len: requires text_mode \"prefix\"");
}

/* A template's names are those of the messages, through all operators. */
static void templates_are_checked(void **state)
{
	(void)state;
	told("request.body",
	     "{\"text\":\"$prompt\",\"how\":{\"anything\":{\"i\":\"$output_tokens\"}},\"list\":[{\"s\":\"x\"}]}", NULL);
	told("request.body", "{\"list\":{\"$values\":{\"a\":{\"i\":1},\"b\":{\"$if\":\"$id\",\"then\":{\"s\":\"$id\"}}}}}",
	     NULL);
	told("request.body", "{\"prompt\":\"$prompt\"}", "request.body: the message has no field \"prompt\"");
	told("request.body", "{\"how\":{\"anything\":{\"x\":1}}}", "request.body: the message has no field \"x\"");
	told("request.body", "{\"list\":[{\"x\":1}]}", "request.body: the message has no field \"x\"");
	told("request.body", "{\"list\":{\"$values\":{\"a\":{\"x\":1}}}}", "request.body: the message has no field \"x\"");
	told("request.body", "{\"list\":{\"$each\":\"messages\",\"as\":{\"x\":\"$content\"}}}",
	     "request.body: the message has no field \"x\"");
	told("request.body", "{\"how\":{\"a\":{\"$first\":[{\"x\":1}]}}}", "request.body: the message has no field \"x\"");
	told("request.body", "{\"how\":{\"a\":{\"$if\":\"$id\",\"then\":{\"x\":1}}}}",
	     "request.body: the message has no field \"x\"");
	told("request.exact_output", "{\"least\":1}", "request.exact_output: the message has no field \"least\"");
	told("request.stream", "{\"stream\":true}", "request.stream: the message has no field \"stream\"");
	told("request.body", "{\"list\":{\"$values\":[1]}}",
	     "request.$values: expected an object as the only member, got [1]");
	told("request.body", "{\"list\":{\"$values\":{},\"x\":1}}",
	     "request.$values: expected an object as the only member, got {}");
}

static void the_descriptor_tells_which_members_it_needs(void **state)
{
	struct ipf_error err = {0};
	struct api *api = NULL;
	json_t *json = parse(small);
	(void)state;
	assert_int_equal(api_from_json(&api, json, "mine.json", &err), 0);
	assert_int_equal(api_request_type(api, true), protobuf_message_type(api_protobuf(api), "Question"));
	assert_int_equal(api_response_type(api, true), protobuf_message_type(api_protobuf(api), "Piece"));
	assert_int_equal(api_response_type(api, false), -1);
	assert_string_equal(api_response_header(api, 0), "grpc-status");
	assert_string_equal(api_response_header(api, 1), "grpc-message");
	assert_string_equal(api_response_header(api, 2), "grpc-encoding");
	assert_null(api_response_header(api, 3));
	assert_string_equal(framing_names[api_response(api, true)->framing], "grpc");
	api_close(api);
	json_decref(json);
	assert_int_equal(api_open(&api, "openai-chat", &err), 0);
	assert_null(api_protobuf(api));
	assert_null(api_response_header(api, 0));
	api_close(api);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(members_are_checked),
		cmocka_unit_test(templates_are_checked),
		cmocka_unit_test(the_descriptor_tells_which_members_it_needs),
	};
	return cmocka_run_group_tests_name("lib/api_grpc", tests, NULL, NULL);
}
