/* The answer of an OTLP/HTTP receiver, as protocol buffers. Answers are untrusted bytes: a malformed one says nothing.
 *
 *     struct otlp_partial_success partial = otlp_partial_success(body);     // of a status 200
 *     if (partial.rejected || partial.message.len) …
 *     struct slice why = otlp_status_message(body);                         // of any other status
 *
 * Slices are parts of the body.
 */
#ifndef IPF_OTLP_RESPONSE_H
#define IPF_OTLP_RESPONSE_H

#include "buffer.h"

#include <stdint.h>

struct otlp_partial_success {
	int64_t rejected;     /* spans; 0 with a message: a warning */
	struct slice message; /* absent: none */
};

/* ExportTraceServiceResponse.partial_success (OTLP 1.9). */
struct otlp_partial_success otlp_partial_success(struct slice body);
/* google.rpc.Status.message; absent: none. */
struct slice otlp_status_message(struct slice body);

#endif
