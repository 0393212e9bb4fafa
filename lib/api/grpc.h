/* What is gRPC's own in an answer: messages that become JSON, and the status in the trailers.
 *
 * An answer of gRPC is whole when its status is there and 0, in the trailers or, where there is nothing else, in the
 * headers. Without one it was cut, however well the transfer ended.
 */
#ifndef IPF_GRPC_H
#define IPF_GRPC_H

#include "api/framing.h"
#include "protobuf/protobuf.h"
#include "stream/record.h"

/* The event's message as JSON into `json` (cleared first). -1: IPF_INPUT, what is wrong with it; memory. */
int grpc_event(const struct protobuf_schema *protobuf, int type, const struct framing_event *event, struct buffer *json,
               struct ipf_error *err);

/* The status by the record's headers and trailers, IPF_ABSENT where there is none; `why` gets its name and message
 * where it is not 0. */
int64_t grpc_status(struct jdoc *scratch, const struct record *record, struct buffer *why);

#endif
