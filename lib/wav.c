#include "wav.h"

#include <string.h>

static const unsigned char *bytes_at(struct slice s, size_t at, size_t len)
{
	return at <= s.len && len <= s.len - at ? (const unsigned char *)s.data + at : NULL;
}

static int64_t number(const unsigned char *b)
{
	return (int64_t)b[3] << 24 | (int64_t)b[2] << 16 | (int64_t)b[1] << 8 | b[0];
}

bool wav_read(struct slice head, int64_t size, struct wav *wav)
{
	const unsigned char *at = bytes_at(head, 0, 12);
	*wav = (struct wav){0};
	if (!at || memcmp(at, "RIFF", 4) != 0 || memcmp(at + 8, "WAVE", 4) != 0)
		return false;
	for (size_t pos = 12; (at = bytes_at(head, pos, 8));) {
		int64_t len = number(at + 4), rest = size - (int64_t)pos - 8;
		const unsigned char *format = memcmp(at, "fmt ", 4) == 0 ? bytes_at(head, pos + 8, 16) : NULL;
		if (format)
			wav->bytes_per_s = number(format + 8);
		if (memcmp(at, "data", 4) == 0) {
			wav->begin = (int64_t)pos + 8;
			wav->bytes = len == 0 || len > rest ? rest : len;
			return wav->bytes_per_s > 0 && wav->bytes >= 0;
		}
		pos += 8 + (size_t)len + (len & 1);
	}
	return false;
}
