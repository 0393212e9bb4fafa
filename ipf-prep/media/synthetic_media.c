#include "media/synthetic_media.h"

#include "clock.h"

#include <png.h>
#include <stdlib.h>
#include <string.h>

#define PIXEL         3   /* bytes: red, green, blue */
#define PICTURE_FRAME 300 /* bytes of a PNG besides pixels, about */
#define PLAIN_A_BYTE  170 /* bytes of one colour to a compressed one, about */
#define SAMPLE        2   /* bytes */
#define SYLLABLES_A_S 5
#define LOUDNESS      12000
#define PITCH_LOW     90 /* Hz */
#define PITCH_RANGE   200

/* ---- little-endian numbers and chunks of RIFF, which WAV and AVI are made of ---- */

static void put_u32(struct buffer *out, uint32_t number)
{
	for (int i = 0; i < 4; i++)
		buffer_byte(out, (char)(number >> 8 * i & 255));
}

static void put_u16(struct buffer *out, uint32_t number)
{
	buffer_byte(out, (char)(number & 255));
	buffer_byte(out, (char)(number >> 8 & 255));
}

/* Begins a chunk, also one with others (`list` is its name among them); end_chunk sets its length. */
static size_t begin_chunk(struct buffer *out, const char *id, const char *list)
{
	buffer_text(out, id);
	put_u32(out, 0);
	size_t begin = out->len;
	buffer_text(out, list);
	return begin;
}

static void end_chunk(struct buffer *out, size_t begin)
{
	size_t len = out->len - begin;
	if (out->failed)
		return;
	for (int i = 0; i < 4; i++)
		out->data[begin - 4 + (size_t)i] = (char)(len >> 8 * i & 255);
	if (len & 1)
		buffer_byte(out, 0);
}

/* ---- images ---- */

static void put_png(png_structp png, png_bytep bytes, png_size_t len)
{
	buffer_append(png_get_io_ptr(png), bytes, len);
}

static void flush_png(png_structp png)
{
	(void)png;
}

/* Noise, then one colour. */
static void fill_row(struct rng *rng, unsigned char *row, size_t len, size_t noise, const unsigned char *colour)
{
	for (size_t i = 0; i < noise; i += 8) {
		uint64_t bits = rng_next(rng);
		for (size_t k = i; k < noise && k < i + 8; k++, bits >>= 8)
			row[k] = (unsigned char)bits;
	}
	for (size_t i = noise; i < len; i++)
		row[i] = colour[i % PIXEL];
}

static void write_rows(png_structp png, struct rng *rng, const struct picture_options *p, unsigned char *row)
{
	size_t len = (size_t)p->width * PIXEL;
	int64_t noise = (p->bytes - PICTURE_FRAME) - (p->width * p->height * PIXEL - p->bytes) / PLAIN_A_BYTE;
	uint64_t drawn = rng_next(rng);
	unsigned char colour[8];
	memcpy(colour, &drawn, sizeof colour);
	for (int64_t y = 0; y < p->height; y++) {
		size_t now = noise <= 0 ? 0 : (uint64_t)noise < len ? (size_t)noise : len;
		fill_row(rng, row, len, now, colour);
		png_write_row(png, row);
		noise -= (int64_t)now;
	}
}

/* Returns false when memory runs out, from wherever libpng finds it. */
static bool write_png(png_structp png, png_infop info, struct rng *rng, const struct picture_options *p,
                      unsigned char *row)
{
	if (setjmp(png_jmpbuf(png)))
		return false;
	png_set_compression_level(png, 1);
	png_set_filter(png, 0, PNG_NO_FILTERS);
	png_set_IHDR(png, info, (png_uint_32)p->width, (png_uint_32)p->height, 8, PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE,
	             PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
	png_write_info(png, info);
	write_rows(png, rng, p, row);
	png_write_end(png, NULL);
	return true;
}

void synthetic_image(struct rng *rng, const struct picture_options *p, struct buffer *out)
{
	png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
	png_infop info = png ? png_create_info_struct(png) : NULL;
	unsigned char *row = malloc((size_t)p->width * PIXEL);
	if (info)
		png_set_write_fn(png, out, put_png, flush_png);
	if (!info || !row || !write_png(png, info, rng, p, row))
		out->failed = true;
	png_destroy_write_struct(&png, &info);
	free(row);
}

/* ---- recordings ---- */

/* A triangle wave of pitch `step`, as 16.16 fixed-point phase, which fades within each syllable. */
static void put_samples(struct rng *rng, int64_t count, int64_t rate, struct buffer *out)
{
	int64_t syllable = rate / SYLLABLES_A_S, left = 0;
	uint32_t phase = 0, step = 0;
	for (int64_t i = 0; i < count && !out->failed; i++, left--) {
		if (left == 0) {
			uint64_t pitch = PITCH_LOW + rng_below(rng, PITCH_RANGE);
			step = (uint32_t)(pitch * UINT64_C(4294967296) / (uint64_t)rate);
			left = syllable;
		}
		phase += step;
		int64_t wave = (int64_t)(phase >> 16), height = (wave < 32768 ? wave : 65535 - wave) - 16384;
		int64_t hiss = (int64_t)rng_below(rng, 2048) - 1024;
		put_u16(out, (uint32_t)((height * LOUDNESS / 16384 * left / syllable + hiss) & 65535));
	}
}

void synthetic_audio(struct rng *rng, int64_t length_ns, int64_t rate, struct buffer *out)
{
	int64_t count = (length_ns / NS_PER_S) * rate + length_ns % NS_PER_S * rate / NS_PER_S;
	size_t riff = begin_chunk(out, "RIFF", "WAVE"), format = begin_chunk(out, "fmt ", "");
	put_u16(out, 1); /* PCM */
	put_u16(out, 1); /* channels */
	put_u32(out, (uint32_t)rate);
	put_u32(out, (uint32_t)(rate * SAMPLE));
	put_u16(out, SAMPLE);
	put_u16(out, 8 * SAMPLE);
	end_chunk(out, format);
	size_t data = begin_chunk(out, "data", "");
	put_samples(rng, count > 0 ? count : 1, rate, out);
	end_chunk(out, data);
	end_chunk(out, riff);
}

/* ---- films ---- */

static void put_main_header(const struct video_options *v, struct buffer *out)
{
	const struct picture_options *p = &v->picture;
	size_t header = begin_chunk(out, "avih", "");
	put_u32(out, (uint32_t)(1000000 / v->fps)); /* microseconds a frame */
	put_u32(out, 0);
	put_u32(out, 0);
	put_u32(out, 0x10); /* it has an index */
	put_u32(out, (uint32_t)p->count);
	put_u32(out, 0);
	put_u32(out, 1); /* streams */
	put_u32(out, 0);
	put_u32(out, (uint32_t)p->width);
	put_u32(out, (uint32_t)p->height);
	for (int i = 0; i < 4; i++)
		put_u32(out, 0);
	end_chunk(out, header);
}

static void put_stream_header(const struct video_options *v, struct buffer *out)
{
	const struct picture_options *p = &v->picture;
	size_t list = begin_chunk(out, "LIST", "strl"), header = begin_chunk(out, "strh", "vidsMPNG");
	for (int i = 0; i < 3; i++)
		put_u32(out, 0);
	put_u32(out, 1); /* frames a second, as rate / scale */
	put_u32(out, (uint32_t)v->fps);
	put_u32(out, 0);
	put_u32(out, (uint32_t)p->count);
	put_u32(out, 0);
	put_u32(out, UINT32_MAX);
	put_u32(out, 0);
	put_u16(out, 0);
	put_u16(out, 0);
	put_u16(out, (uint32_t)p->width);
	put_u16(out, (uint32_t)p->height);
	end_chunk(out, header);
	size_t format = begin_chunk(out, "strf", "");
	put_u32(out, 40);
	put_u32(out, (uint32_t)p->width);
	put_u32(out, (uint32_t)p->height);
	put_u16(out, 1);
	put_u16(out, 8 * PIXEL);
	buffer_text(out, "MPNG");
	put_u32(out, (uint32_t)(p->width * p->height * PIXEL));
	for (int i = 0; i < 4; i++)
		put_u32(out, 0);
	end_chunk(out, format);
	end_chunk(out, list);
}

static void put_index(const struct buffer *frames, struct buffer *out)
{
	size_t index = begin_chunk(out, "idx1", "");
	buffer_append(out, frames->data, frames->len);
	end_chunk(out, index);
}

void synthetic_video(struct rng *rng, const struct video_options *v, struct buffer *out)
{
	struct picture_options frame = v->picture;
	struct buffer entries = {0};
	size_t riff = begin_chunk(out, "RIFF", "AVI "), headers = begin_chunk(out, "LIST", "hdrl");
	put_main_header(v, out);
	put_stream_header(v, out);
	end_chunk(out, headers);
	size_t movie = begin_chunk(out, "LIST", "movi");
	for (int64_t i = 0; i < v->picture.count && !out->failed; i++) {
		frame.bytes = v->picture.bytes / v->picture.count;
		size_t chunk = begin_chunk(out, "00dc", ""), at = chunk - 8 - movie;
		synthetic_image(rng, &frame, out);
		size_t len = out->len - chunk;
		end_chunk(out, chunk);
		buffer_text(&entries, "00dc");
		put_u32(&entries, 0x10); /* a key frame */
		put_u32(&entries, (uint32_t)at);
		put_u32(&entries, (uint32_t)len);
	}
	end_chunk(out, movie);
	put_index(&entries, out);
	end_chunk(out, riff);
	out->failed |= entries.failed;
	buffer_release(&entries);
}
