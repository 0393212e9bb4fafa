/* Messages of Amazon's event streams (application/vnd.amazon.eventstream), in which SageMaker and Bedrock wrap a
 * stream.
 *
 *     for (size_t at = 0; (got = aws_eventstream_next(body, &at, &m)) > 0;)
 *         … m.payload …
 *
 * A message consists of its length and the length of its headers (32 bits each, big-endian), the CRC-32 of these eight
 * bytes, the headers, the payload, and the CRC-32 of all before.
 */
#ifndef IPF_AWS_EVENTSTREAM_H
#define IPF_AWS_EVENTSTREAM_H

#include "buffer.h"

#include <stdint.h>

/* Slices of the body; those that are absent have no data. */
struct aws_eventstream_message {
	struct slice type;   /* ":message-type": event, exception or error */
	struct slice name;   /* ":event-type", ":exception-type" or ":error-code" */
	struct slice detail; /* ":error-message" */
	struct slice payload;
};

/* Reads the message at *at and advances *at. 1: a message; 0: no complete message is left; -1: a length or a CRC is
 * wrong, so this is not an event stream, or it is damaged. */
int aws_eventstream_next(struct slice body, size_t *at, struct aws_eventstream_message *m);

/* CRC-32 as in IEEE 802.3. */
uint32_t aws_eventstream_crc(const char *bytes, size_t len);

#endif
