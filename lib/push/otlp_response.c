#include "push/otlp_response.h"

#include "protobuf/protobuf_wire.h"

enum { RESPONSE_PARTIAL_SUCCESS = 1 };
enum { PARTIAL_REJECTED = 1, PARTIAL_MESSAGE = 2 };
enum { STATUS_MESSAGE = 2 };

/* The last field with this number and type, as protocol buffers define it. False: none, or the message is malformed. */
static bool find(struct slice message, uint32_t number, enum wire_type type, struct wire_field *found)
{
	struct wire_field field;
	size_t at = 0;
	bool any = false;
	int got;
	if (!message.data)
		return false;
	while ((got = wire_next(message, &at, &field)) == 1)
		if (field.number == number && field.type == type) {
			*found = field;
			any = true;
		}
	return any && got == 0;
}

struct otlp_partial_success otlp_partial_success(struct slice body)
{
	struct otlp_partial_success partial = {0};
	struct wire_field outer, field;
	if (!find(body, RESPONSE_PARTIAL_SUCCESS, WIRE_LEN, &outer))
		return partial;
	if (find(outer.data, PARTIAL_REJECTED, WIRE_VARINT, &field) && (int64_t)field.value > 0)
		partial.rejected = (int64_t)field.value;
	if (find(outer.data, PARTIAL_MESSAGE, WIRE_LEN, &field))
		partial.message = field.data;
	return partial;
}

struct slice otlp_status_message(struct slice body)
{
	struct wire_field field;
	return find(body, STATUS_MESSAGE, WIRE_LEN, &field) ? field.data : (struct slice){0};
}
