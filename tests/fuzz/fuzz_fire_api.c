/* An API descriptor, a request of a trace and a response, with a NUL between them: the descriptor is refused with a
 * reason, or read again as the same; the body it makes of the request is JSON or the message it describes; any response
 * gives the same content however it came in pieces. The first byte chooses the test. */
#define FUZZ_JSON_LINES
#include "fuzz_input.h"

#include "absent.h"
#include "api/api.h"
#include "api/form.h"
#include "api/response.h"
#include "body/body_renderer.h"
#include "protobuf/grpc_wire.h"
#include "protobuf/protobuf.h"
#include "redact.h"

static void render_body(const struct api *api, struct slice line, uint8_t how)
{
	const struct body_renderer_options options = {.streamed = how & 1,
	                                              .exact_output = how & 2,
	                                              .measure_prompt = how & 4,
	                                              .protobuf = api_protobuf(api),
	                                              .message = api_protobuf(api) ? api_request_type(api, how & 1) : 0};
	struct body_renderer *r = NULL;
	struct trace_request request;
	struct jdoc doc = {0}, made = {0};
	struct buffer body = {0}, json = {0};
	struct ipf_error err = {0};
	if (body_renderer_new(&r, api_request(api), &options, &err) < 0 ||
	    trace_request_parse(&doc, line, false, &request, &err) < 0 || body_renderer_check(r, &request, &err) < 0 ||
	    body_renderer_render(r, &request, (struct slice){0}, &body, &err) < 0) {
		must_explain(&err);
	} else if (json_object_get(api_request(api), "encoding")) {
		static const char end[] = "--" FORM_BOUNDARY "--\r\n";
		must(jdoc_parse(&made, body_renderer_json(r).data, body_renderer_json(r).len, &err) == 0);
		must(body.len >= sizeof end - 1 && memcmp(body.data + body.len - (sizeof end - 1), end, sizeof end - 1) == 0);
	} else if (!options.protobuf) {
		must(jdoc_parse(&made, body.data, body.len, &err) == 0);
	} else {
		struct slice message;
		size_t next;
		bool compressed;
		must(grpc_frame(buffer_all(&body), 0, &compressed, &message, &next) == 1 && next == body.len && !compressed);
		must(protobuf_decode(options.protobuf, options.message, message, &json, &err) == 0);
		must(jdoc_parse(&made, json.data, json.len, &err) == 0);
	}
	body_renderer_free(r);
	jdoc_release(&doc);
	jdoc_release(&made);
	buffer_release(&body);
	buffer_release(&json);
}

enum { READS = 4096 };

static void understand(struct response *response, const struct api *api, struct slice body, size_t piece, uint8_t how)
{
	static struct record_read reads[READS];
	const struct response_options options = {.keep_text = true, .keep_others = how & 8};
	struct record record;
	struct ipf_error err = {0};
	record_init(&record);
	record.n = record.stage = 0;
	record.start_ns = 3;
	record.end_ns = 9;
	record.status = how & 16 ? 503 : 200;
	record.streamed = how & 1;
	record.headers = how & 32 ? slice_of("{\"grpc-status\":\"0\",\"content-type\":\"application/grpc\"}")
	                          : (struct slice){0};
	record.body = body;
	record.reads = reads;
	for (size_t at = 0; at < body.len; at += piece)
		reads[record.reads_count++] = (struct record_read){7, (int64_t)(piece < body.len - at ? piece : body.len - at),
		                                                   7};
	must(response_parse(response, &record, api, &options, &err) == 0);
}

static void read_response(const struct api *api, struct slice body, uint8_t how)
{
	static struct response whole, pieces;
	if (body.len > READS || !api_response(api, how & 1))
		return;
	understand(&whole, api, body, body.len + 1, how);
	understand(&pieces, api, body, 1 + how % 5, how);
	must(slice_equal(buffer_all(&whole.text), buffer_all(&pieces.text)) &&
	     slice_equal(buffer_all(&whole.reasoning), buffer_all(&pieces.reasoning)) &&
	     slice_equal(buffer_all(&whole.finish), buffer_all(&pieces.finish)) &&
	     slice_equal(buffer_all(&whole.error_text), buffer_all(&pieces.error_text)) &&
	     whole.output_tokens == pieces.output_tokens && whole.audio_ns == pieces.audio_ns &&
	     (whole.framing.kind == FRAMING_BYTES || whole.events_count == pieces.events_count) &&
	     whole.malformed == pieces.malformed && whole.failed == pieces.failed);
}

static void redact_twice(const json_t *descriptor)
{
	json_t *once = json_deep_copy(descriptor);
	must(once && redact_api(once) == 0);
	json_t *twice = json_deep_copy(once);
	must(twice && redact_api(twice) == 0 && json_equal(once, twice));
	json_decref(once);
	json_decref(twice);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct slice rest = {(const char *)data + 1, size - 1};
	struct api *api = NULL, *again = NULL;
	struct ipf_error err = {0};
	if (size == 0)
		return 0;
	char *descriptor = take_text(&rest), *line = take_text(&rest), name[64];
	static struct memory_file file;
	/* A file is read by its name: with "like", which the records' header does not have any more. */
	snprintf(name, sizeof name, "%s", memory_file_set(&file, slice_of(descriptor)));
	if (api_open(&api, name, &err) < 0) {
		must_explain(&err);
	} else {
		must(api_from_json(&again, api_json(api), "again", &err) == 0 && json_equal(api_json(api), api_json(again)));
		redact_twice(api_json(api));
		if (api_path(api, data[0] & 1))
			render_body(api, slice_of(line), data[0]);
		read_response(api, rest, data[0]);
	}
	api_close(api);
	api_close(again);
	free(descriptor);
	free(line);
	return 0;
}
