/* Amazon's event streams: any bytes are taken apart without reading outside of them. To try more than the checksums,
 * the first byte may have them put right in a copy before. The contents are as long as its parts say, and each ends
 * within the body. */
#include "api/envelope.h"
#include "api/aws_eventstream.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void put(char *to, uint32_t value)
{
	for (int i = 0; i < 4; i++)
		to[i] = (char)(unsigned char)(value >> (24 - 8 * i));
}

/* Makes the checksums of the messages those they should be, as far as the lengths make sense. */
static void put_right(char *bytes, size_t len)
{
	for (size_t at = 0; len - at >= 16;) {
		const unsigned char *b = (const unsigned char *)bytes + at;
		size_t total = (size_t)b[0] << 24 | (size_t)b[1] << 16 | (size_t)b[2] << 8 | b[3];
		put(bytes + at + 8, aws_eventstream_crc(bytes + at, 8));
		if (total < 16 || total > len - at)
			return;
		put(bytes + at + total - 4, aws_eventstream_crc(bytes + at, total - 4));
		at += total;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct envelope e = {0};
	struct ipf_error err = {0};
	if (size == 0)
		return 0;
	size_t len = size - 1;
	char *bytes = malloc(len + 1);
	memcpy(bytes, data + 1, len);
	if (data[0] & 1)
		put_right(bytes, len);
	for (int again = 0; again < 2; again++) {
		if (envelope_open(&e, (struct slice){bytes, len}, &err) < 0 || e.payload.len > len || (e.truncated && e.broken))
			abort();
		size_t last = 0;
		for (size_t at = 1; at <= e.payload.len; at++) {
			size_t end = envelope_end(&e, at);
			if (end < last || end > len || end < at)
				abort();
			last = end;
		}
	}
	envelope_release(&e);
	free(bytes);
	return 0;
}
