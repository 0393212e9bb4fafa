#include "media/media_facts.h"

#include "absent.h"
#include "clock.h"
#include "wav.h"

#include <string.h>

static const struct {
	const char *type;
	size_t at;
	const char *bytes;
	size_t len;
} kinds[] = {
	{"image/png", 0, "\x89PNG\r\n\x1a\n", 8},
	{"image/jpeg", 0, "\xff\xd8\xff", 3},
	{"image/gif", 0, "GIF8", 4},
	{"image/webp", 8, "WEBP", 4},
	{"audio/wav", 8, "WAVE", 4},
	{"video/x-msvideo", 8, "AVI ", 4},
	{"audio/flac", 0, "fLaC", 4},
	{"audio/ogg", 0, "OggS", 4},
	{"audio/mpeg", 0, "ID3", 3},
	{"audio/mpeg", 0, "\xff\xfb", 2},
	{"audio/mpeg", 0, "\xff\xf3", 2},
	{"video/mp4", 4, "ftyp", 4},
	{"video/webm", 0, "\x1a\x45\xdf\xa3", 4},
};

static const unsigned char *bytes_at(struct slice s, size_t at, size_t len)
{
	return at <= s.len && len <= s.len - at ? (const unsigned char *)s.data + at : NULL;
}

static int64_t big(const unsigned char *b, int len)
{
	int64_t n = 0;
	for (int i = 0; i < len; i++)
		n = n << 8 | b[i];
	return n;
}

static int64_t little(const unsigned char *b, int len)
{
	int64_t n = 0;
	for (int i = len; i-- > 0;)
		n = n << 8 | b[i];
	return n;
}

static void png_size(struct slice head, struct media_facts *f)
{
	const unsigned char *at = bytes_at(head, 16, 8);
	if (at) {
		f->width = big(at, 4);
		f->height = big(at + 4, 4);
	}
}

static void gif_size(struct slice head, struct media_facts *f)
{
	const unsigned char *at = bytes_at(head, 6, 4);
	if (at) {
		f->width = little(at, 2);
		f->height = little(at + 2, 2);
	}
}

/* The three forms of WebP (RFC 9649): lossy, lossless, extended. */
static void webp_size(struct slice head, struct media_facts *f)
{
	const unsigned char *at = bytes_at(head, 12, 18);
	if (!at)
		return;
	if (memcmp(at, "VP8 ", 4) == 0) {
		f->width = little(at + 14, 2) & 0x3fff;
		f->height = little(at + 16, 2) & 0x3fff;
	} else if (memcmp(at, "VP8L", 4) == 0) {
		int64_t bits = little(at + 9, 4);
		f->width = (bits & 0x3fff) + 1;
		f->height = (bits >> 14 & 0x3fff) + 1;
	} else if (memcmp(at, "VP8X", 4) == 0) {
		f->width = little(at + 12, 3) + 1;
		f->height = little(at + 15, 3) + 1;
	}
}

/* Its segments up to that of the frame (ITU T.81, B.2.2). */
static void jpeg_size(struct slice head, struct media_facts *f)
{
	const unsigned char *at;
	for (size_t pos = 2; (at = bytes_at(head, pos, 9)) && at[0] == 0xff;) {
		bool frame = at[1] >= 0xc0 && at[1] <= 0xcf && at[1] != 0xc4 && at[1] != 0xc8 && at[1] != 0xcc;
		if (frame) {
			f->height = big(at + 5, 2);
			f->width = big(at + 7, 2);
			return;
		}
		pos += at[1] == 0xff ? 1 : 2 + (size_t)big(at + 2, 2);
	}
}

static void wav_length(struct slice head, int64_t size, struct media_facts *f)
{
	struct wav wav;
	if (wav_read(head, size, &wav))
		f->duration_ns = wav.bytes / wav.bytes_per_s * NS_PER_S +
		                 wav.bytes % wav.bytes_per_s * NS_PER_S / wav.bytes_per_s;
}

struct media_facts media_facts(struct slice head, int64_t size)
{
	struct media_facts f = {.width = IPF_ABSENT, .height = IPF_ABSENT, .duration_ns = IPF_ABSENT};
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds && !f.type; i++) {
		const unsigned char *at = bytes_at(head, kinds[i].at, kinds[i].len);
		if (at && memcmp(at, kinds[i].bytes, kinds[i].len) == 0)
			f.type = kinds[i].type;
	}
	if (!f.type)
		return f;
	if (strcmp(f.type, "image/png") == 0)
		png_size(head, &f);
	else if (strcmp(f.type, "image/gif") == 0)
		gif_size(head, &f);
	else if (strcmp(f.type, "image/webp") == 0)
		webp_size(head, &f);
	else if (strcmp(f.type, "image/jpeg") == 0)
		jpeg_size(head, &f);
	else if (strcmp(f.type, "audio/wav") == 0)
		wav_length(head, size, &f);
	return f;
}
