#include "capture/tls_input.h"

#include "array.h"
#include "capture/tls_opener.h"

#include <stdlib.h>

int64_t tls_record_size(const void *bytes, size_t len)
{
	const uint8_t *b = bytes;
	if (len < TLS_HEADER_SIZE)
		return 0;
	const int64_t size = TLS_HEADER_SIZE + (b[3] << 8 | b[4]);
	return b[0] >= TLS_CHANGE_CIPHER && b[0] <= TLS_APPLICATION && b[1] == 3 && size <= TLS_RECORD_MOST ? size : -1;
}

static int64_t size_at(const struct tls_input *in, size_t at)
{
	return in->bytes.len ? tls_record_size(in->bytes.data + at, in->bytes.len - at) : 0;
}

enum tls_added tls_input_add(struct tls_input *in, const char *bytes, size_t len, int64_t t_ns)
{
	int64_t size;
	if (in->at) {
		buffer_consume(&in->bytes, in->at);
		in->scanned -= in->at;
		in->at = 0;
	}
	buffer_append(&in->bytes, bytes, len);
	if (in->bytes.failed)
		return TLS_NO_MEMORY;
	while ((size = size_at(in, in->scanned)) > 0 && (size_t)size <= in->bytes.len - in->scanned) {
		if (!array_room(in->times, in->times_cap, in->count + 1))
			return TLS_NO_MEMORY;
		in->times[in->count++] = t_ns;
		in->scanned += (size_t)size;
	}
	return size < 0 ? TLS_MALFORMED : TLS_ADDED;
}

size_t tls_input_missing(const struct tls_input *in)
{
	const size_t begun = in->bytes.len - in->scanned;
	const int64_t size = size_at(in, in->scanned);
	return (size > 0 ? (size_t)size : TLS_HEADER_SIZE) - begun;
}

size_t tls_input_waiting(const struct tls_input *in)
{
	return in->bytes.len - in->at;
}

bool tls_input_first(const struct tls_input *in, struct tls_record *record)
{
	if (in->first == in->count)
		return false;
	*record = (struct tls_record){(uint8_t *)in->bytes.data + in->at, (size_t)size_at(in, in->at),
	                              in->times[in->first]};
	return true;
}

void tls_input_drop(struct tls_input *in)
{
	in->at += (size_t)size_at(in, in->at);
	if (++in->first == in->count)
		in->first = in->count = 0;
	if (in->at < in->bytes.len)
		return;
	buffer_clear(&in->bytes);
	in->at = in->scanned = 0;
}

uint8_t *tls_input_room(struct tls_input *in, size_t len)
{
	return (uint8_t *)buffer_reserve(&in->bytes, len);
}

void tls_input_release(struct tls_input *in)
{
	buffer_release(&in->bytes);
	free(in->times);
	*in = (struct tls_input){0};
}
