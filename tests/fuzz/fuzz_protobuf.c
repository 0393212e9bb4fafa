/* Messages of gRPC: any bytes are read by a description without reading outside of them, and the result is JSON. If it
 * holds nothing unknown to the description, it makes a message that is read as the same JSON. Frames and the dump take
 * any bytes as well. */
#include "protobuf/protobuf.h"

#include "protobuf/grpc_wire.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char description[] =
	"{\"messages\":{"
	"\"All\":{\"d\":\"double = 1\",\"f\":\"float = 2\",\"i64\":\"int64 = 3\",\"u64\":\"uint64 = 4\",\"i32\":\"int32 = 5\",\"u32\":\"uint32 = 6\","
	"\"s64\":\"sint64 = 7\",\"s32\":\"sint32 = 8\",\"x64\":\"fixed64 = 9\",\"x32\":\"fixed32 = 10\",\"sx64\":\"sfixed64 = 11\","
	"\"sx32\":\"sfixed32 = 12\",\"b\":\"bool = 13\",\"s\":\"string = 14\",\"y\":\"bytes = 15\",\"e\":\"End = 16\",\"m\":\"All = 17\","
	"\"n\":\"repeated int32 = 18\",\"map\":\"map<string, float> = 19\",\"by\":\"map<int32, All> = 20\",\"list\":\"repeated All = 21\","
	"\"outputs\":\"repeated Tensor = 22\",\"tensors\":\"tensors(outputs) = 23\"},"
	"\"Tensor\":{\"name\":\"string = 1\",\"datatype\":\"string = 2\"}},"
	"\"enums\":{\"End\":{\"GOES_ON\":0,\"STOP\":1}}}";

static void check(const struct protobuf_schema *p, struct slice message, struct jdoc *doc)
{
	struct buffer json = {0}, wire = {0}, again = {0}, text = {0};
	struct ipf_error err = {0};
	int type = protobuf_message_type(p, "All");
	protobuf_dump(message, 0, &text);
	if (protobuf_decode(p, type, message, &json, &err) == 0) {
		if (jdoc_parse(doc, json.data, json.len, &err) < 0)
			abort();
		/* numbers that are infinite are null, and empty lists are nothing at all, when they are sent; unknown fields
		 * cannot be */
		if (protobuf_encode(p, type, doc, buffer_all(&json), &wire, &err) == 0 &&
		    (protobuf_decode(p, type, buffer_all(&wire), &again, &err) < 0 ||
		     (!memmem(json.data, json.len, "null", 4) && !memmem(json.data, json.len, ":[]", 3) &&
		      !slice_equal(buffer_all(&json), buffer_all(&again)))))
			abort();
	}
	buffer_release(&json);
	buffer_release(&wire);
	buffer_release(&again);
	buffer_release(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct protobuf_schema *p;
	struct slice all = {(const char *)data, size}, message;
	struct buffer text = {0};
	struct jdoc doc = {0};
	bool compressed;
	if (!p) {
		struct ipf_error err = {0};
		json_t *json = json_loads(description, 0, NULL);
		if (protobuf_schema_new(&p, json, "fuzz", &err) < 0)
			abort();
		json_decref(json);
	}
	check(p, all, &doc);
	for (size_t at = 0, next; grpc_frame(all, at, &compressed, &message, &next) == 1; at = next) {
		if (next <= at || next > size)
			abort();
		check(p, message, &doc);
	}
	grpc_message_decode(all, &text);
	if (text.len > size)
		abort();
	buffer_release(&text);
	jdoc_release(&doc);
	return 0;
}
