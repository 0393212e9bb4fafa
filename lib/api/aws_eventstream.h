/* Amazon's event streams (application/vnd.amazon.eventstream), in which SageMaker and Bedrock put a stream of something
 * else.
 *
 *     for (size_t at = 0; (got = aws_eventstream_next(body, &at, &m)) > 0;)
 *         … m.payload …
 *
 * A message is its length and that of its headers (32 bits each, the highest byte first), the CRC-32 of these eight
 * bytes, headers, payload, and the CRC-32 of all before.
 */
#ifndef IPF_AWS_EVENTSTREAM_H
#define IPF_AWS_EVENTSTREAM_H

#include "buffer.h"

#include <stdint.h>

struct aws_eventstream_message {
	struct slice type;   /* ":message-type": event, exception or error; absent */
	struct slice name;   /* ":event-type", ":exception-type" or ":error-code"; absent */
	struct slice detail; /* ":error-message"; absent */
	struct slice payload;
};

/* The message at *at, which moves on: 1, 0 where no whole one is left, -1 where the bytes are none (a length or a CRC
 * is wrong). */
int aws_eventstream_next(struct slice body, size_t *at, struct aws_eventstream_message *m);

/* CRC-32 as in IEEE 802.3. */
uint32_t aws_eventstream_crc(const char *bytes, size_t len);

#endif
