/* gRPC's part of reading a response: messages become JSON, and the status comes from the trailers.
 *
 * A gRPC response is complete when its status is there and 0, in the trailers or, if there is no message, in the
 * headers. Without a status it was cut short, however well the transfer ended.
 */
#ifndef IPF_GRPC_RESPONSE_H
#define IPF_GRPC_RESPONSE_H

#include "api/framing.h"
#include "protobuf/protobuf.h"
#include "stream/record.h"

/* Decodes the event's message as JSON into `json` (cleared first). -1: out of memory, or IPF_INPUT with the fault of
 * the message. */
int grpc_response_message(const struct protobuf_schema *protobuf, int type, const struct framing_event *event,
                          struct buffer *json, struct ipf_error *err);

/* The status in the record's headers and trailers; IPF_ABSENT if there is none. Appends its name and message to `why`
 * unless it is 0. `scratch` is overwritten. */
int64_t grpc_response_status(struct jdoc *scratch, const struct record *record, struct buffer *why);

#endif
