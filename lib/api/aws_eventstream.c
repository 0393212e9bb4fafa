#include "api/aws_eventstream.h"

#include <string.h>

#define PRELUDE 12
#define CRC     4

uint32_t aws_eventstream_crc(const char *bytes, size_t len)
{
	/* by half byte */
	static const uint32_t table[16] = {
		0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4, 0x4db26158, 0x5005713c,
		0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c, 0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c,
	};
	uint32_t crc = UINT32_MAX;
	for (size_t i = 0; i < len; i++) {
		crc ^= (unsigned char)bytes[i];
		crc = crc >> 4 ^ table[crc & 15];
		crc = crc >> 4 ^ table[crc & 15];
	}
	return ~crc;
}

static uint32_t big_endian(const char *bytes, size_t count)
{
	uint32_t value = 0;
	for (size_t i = 0; i < count; i++)
		value = value << 8 | (unsigned char)bytes[i];
	return value;
}

/* Skips the header value at *at; *text is set if it is a string. False: not a valid value. */
static bool read_value(struct slice headers, size_t *at, unsigned type, struct slice *text)
{
	static const unsigned char sizes[] = {0, 0, 1, 2, 4, 8, 0, 0, 8, 16};
	size_t len = 0;
	*text = (struct slice){0};
	if (type >= sizeof sizes)
		return false;
	if (type == 6 || type == 7) {
		if (headers.len - *at < 2)
			return false;
		len = big_endian(headers.data + *at, 2);
		*at += 2;
	} else {
		len = sizes[type];
	}
	if (len > headers.len - *at)
		return false;
	if (type == 7)
		*text = (struct slice){headers.data + *at, len};
	*at += len;
	return true;
}

static bool read_headers(struct slice headers, struct aws_eventstream_message *m)
{
	for (size_t at = 0; at < headers.len;) {
		size_t len = (unsigned char)headers.data[at++];
		struct slice name = {headers.data + at, len}, text;
		if (len + 1 > headers.len - at)
			return false;
		at += len + 1;
		if (!read_value(headers, &at, (unsigned char)headers.data[at - 1], &text))
			return false;
		if (slice_is(name, ":message-type"))
			m->type = text;
		else if (slice_is(name, ":event-type") || slice_is(name, ":exception-type") || slice_is(name, ":error-code"))
			m->name = text;
		else if (slice_is(name, ":error-message"))
			m->detail = text;
	}
	return true;
}

int aws_eventstream_next(struct slice body, size_t *at, struct aws_eventstream_message *m)
{
	*m = (struct aws_eventstream_message){0};
	if (body.len - *at < PRELUDE)
		return 0;
	const char *begin = body.data + *at;
	size_t total = big_endian(begin, 4), headers = big_endian(begin + 4, 4);
	if (aws_eventstream_crc(begin, 8) != big_endian(begin + 8, 4) || total < PRELUDE + CRC ||
	    headers > total - PRELUDE - CRC)
		return -1;
	if (total > body.len - *at)
		return 0;
	if (aws_eventstream_crc(begin, total - CRC) != big_endian(begin + total - CRC, CRC) ||
	    !read_headers((struct slice){begin + PRELUDE, headers}, m))
		return -1;
	m->payload = (struct slice){begin + PRELUDE + headers, total - PRELUDE - headers - CRC};
	*at += total;
	return 1;
}
