#include "api/grpc.h"

#include "absent.h"
#include "api/error_message.h"
#include "protobuf/grpc_wire.h"

int grpc_event(const struct protobuf_schema *protobuf, int type, const struct framing_event *event, struct buffer *json,
               struct ipf_error *err)
{
	buffer_clear(json);
	if (event->bare)
		return ipf_error_set(err, IPF_INPUT, "expected a message of gRPC, got the first byte %d",
		                     (unsigned char)*event->data.data);
	if (event->compressed)
		return ipf_error_set(err, IPF_INPUT, "a compressed message, though only uncompressed ones were asked for");
	return protobuf_decode(protobuf, type, event->data, json, err);
}

#define DETAIL_CHARACTERS 300

int64_t grpc_status(struct jdoc *scratch, const struct record *record, struct buffer *why)
{
	struct ipf_error ignored = {0};
	struct buffer text = {0}, plain = {0};
	struct jdoc number = {0};
	int64_t code = IPF_ABSENT;
	if (!record->headers.data || jdoc_parse(scratch, record->headers.data, record->headers.len, &ignored) < 0)
		return IPF_ABSENT;
	jdoc_text(scratch, jdoc_get(scratch, JDOC_ROOT, "grpc-status"), &text);
	if (text.len && (jdoc_parse(&number, text.data, text.len, &ignored) < 0 || !jdoc_to_int(&number, JDOC_ROOT, &code)))
		code = 2; /* as the protocol has it: UNKNOWN */
	if (code != IPF_ABSENT && code != 0) {
		buffer_clear(&text);
		jdoc_text(scratch, jdoc_get(scratch, JDOC_ROOT, "grpc-message"), &text);
		grpc_message_decode(buffer_all(&text), &plain);
		if (grpc_status_name(code))
			buffer_text(why, grpc_status_name(code));
		else
			buffer_format(why, "status %lld", (long long)code);
		buffer_text(why, plain.len ? ": " : "");
		error_message_plain(buffer_all(&plain), DETAIL_CHARACTERS, why);
	}
	why->failed |= text.failed || plain.failed;
	buffer_release(&text);
	buffer_release(&plain);
	jdoc_release(&number);
	return code;
}
