#include "media/media_options.h"

#include "cli/key_values.h"
#include "cli/units.h"
#include "clock.h"

#include <stdlib.h>
#include <string.h>

#define SIDE_MAX            16384
#define POOL_MAX            100000
#define RATE_MAX            192000
#define FRAMES_MAX          10000
#define PIXEL_BYTES         3
#define PIXELS_A_BYTE       4   /* default ratio, about that of a photograph in JPEG */
#define FRAME_PIXELS_A_BYTE 40  /* a film's: most of a frame is like the one before */
#define PICTURE_BYTES_MIN   300 /* bytes besides pixels */

static const struct key_value picture_keys[] = {
	{"bytes", KEY_VALUE_SIZE, offsetof(struct picture_options, bytes), NULL},
	{"pool", KEY_VALUE_COUNT, offsetof(struct picture_options, pool), NULL},
};
static const struct key_value audio_keys[] = {
	{"rate", KEY_VALUE_COUNT, offsetof(struct audio_options, rate), NULL},
	{"pool", KEY_VALUE_COUNT, offsetof(struct audio_options, pool), NULL},
};
static const struct key_value video_keys[] = {
	{"fps", KEY_VALUE_COUNT, offsetof(struct video_options, fps), NULL},
	{"bytes", KEY_VALUE_SIZE, offsetof(struct video_options, picture.bytes), NULL},
	{"pool", KEY_VALUE_COUNT, offsetof(struct video_options, picture.pool), NULL},
};
enum { PICTURE_KEYS = 2, AUDIO_KEYS = 2, VIDEO_KEYS = 3 };

/* A whole number from 1 to `most`, up to `end` or the end of the text. */
static bool read_number(const char **at, char end, int64_t most, int64_t *number)
{
	char *after;
	if (**at < '1' || **at > '9')
		return false;
	*number = strtoll(*at, &after, 10);
	if (*number > most || *after != end)
		return false;
	*at = after + (end != '\0');
	return true;
}

/* WIDTHxHEIGHT, to the end of the text. */
static bool read_size(const char *at, struct picture_options *p)
{
	return read_number(&at, 'x', SIDE_MAX, &p->width) && read_number(&at, '\0', SIDE_MAX, &p->height);
}

/* Splits at the first comma; the caller frees both. */
static int split(const char *text, char **first, const char **rest, struct ipf_error *err)
{
	const char *comma = strchr(text, ',');
	*rest = comma ? comma + 1 : "";
	*first = comma ? strndup(text, (size_t)(comma - text)) : strdup(text);
	return *first ? 0 : ipf_error_memory(err);
}

static int check_pool(int64_t pool, struct ipf_error *err)
{
	if (pool >= 0 && pool <= POOL_MAX)
		return 0;
	return ipf_error_set(err, IPF_USAGE, "pool: expected at most %d, got %lld", POOL_MAX, (long long)pool);
}

/* Sets the default number of bytes, or checks the given one. */
static int check_bytes(struct picture_options *p, int64_t pictures, int64_t pixels_a_byte, struct ipf_error *err)
{
	int64_t pixels = p->width * p->height * pictures, least = PICTURE_BYTES_MIN * pictures;
	if (!p->bytes)
		p->bytes = least + pixels / pixels_a_byte;
	if (p->bytes < least || p->bytes - least > PIXEL_BYTES * pixels)
		return ipf_error_set(err, IPF_USAGE, "bytes: expected %lld to %lld, as %lld x %lld pixels need, got %lld",
		                     (long long)least, (long long)(least + PIXEL_BYTES * pixels), (long long)p->width,
		                     (long long)p->height, (long long)p->bytes);
	return check_pool(p->pool, err);
}

int parse_images(const char *text, struct picture_options *images, struct ipf_error *err)
{
	char *size;
	const char *rest;
	if (split(text, &size, &rest, err) < 0)
		return -1;
	*images = (struct picture_options){0};
	const char *at = size;
	bool good = read_number(&at, 'x', IMAGES_MAX, &images->count) && read_size(at, images);
	free(size);
	if (!good)
		return ipf_error_set(err, IPF_USAGE,
		                     "expected COUNTxWIDTHxHEIGHT such as 1x1024x1024 (up to %dx%dx%d), got \"%s\"", IMAGES_MAX,
		                     SIDE_MAX, SIDE_MAX, text);
	if (key_values_parse(rest, picture_keys, PICTURE_KEYS, images, err) < 0)
		return -1;
	return check_bytes(images, 1, PIXELS_A_BYTE, err);
}

/* Where the keys begin: behind the distribution, which may contain commas and keys of its own. */
static const char *keys_of(const char *text)
{
	const char *first = NULL;
	for (size_t i = 0; i < AUDIO_KEYS; i++) {
		const char *at = strstr(text, audio_keys[i].name);
		if (at && at > text && at[-1] == ',' && at[strlen(audio_keys[i].name)] == '=' && (!first || at < first))
			first = at;
	}
	return first;
}

int parse_audio(const char *text, struct audio_options *audio, struct ipf_error *err)
{
	const char *keys = keys_of(text);
	char *length = keys ? strndup(text, (size_t)(keys - 1 - text)) : strdup(text);
	if (!length)
		return ipf_error_memory(err);
	distribution_release(&audio->length);
	*audio = (struct audio_options){.given = true, .rate = 16000};
	int result = distribution_parse(&audio->length, length, DISTRIBUTION_TIME, err);
	free(length);
	if (result < 0 || key_values_parse(keys ? keys : "", audio_keys, AUDIO_KEYS, audio, err) < 0)
		return -1;
	if (audio->length.kind == DISTRIBUTION_DATASET || audio->length.min > MEDIUM_LENGTH_MAX)
		return ipf_error_set(err, IPF_USAGE,
		                     "expected a length such as 10s or uniform:5s-30s, at most 4 hours, got \"%s\"", text);
	if (audio->rate < 1000 || audio->rate > RATE_MAX)
		return ipf_error_set(err, IPF_USAGE, "rate: expected 1000 to %d samples a second, got %lld", RATE_MAX,
		                     (long long)audio->rate);
	return check_pool(audio->pool, err);
}

int parse_video(const char *text, struct video_options *video, struct ipf_error *err)
{
	char *size;
	const char *rest;
	if (split(text, &size, &rest, err) < 0)
		return -1;
	*video = (struct video_options){.fps = 2};
	char *x = strchr(size, 'x');
	struct ipf_error why = {0};
	bool good = x && read_size(x + 1, &video->picture);
	if (good) {
		*x = '\0';
		good = parse_duration(size, &video->length_ns, &why) == 0 && video->length_ns > 0 &&
		       video->length_ns <= MEDIUM_LENGTH_MAX;
	}
	free(size);
	if (!good)
		return ipf_error_set(err, IPF_USAGE, "expected TIMExWIDTHxHEIGHT such as 5sx640x360, got \"%s\"", text);
	if (key_values_parse(rest, video_keys, VIDEO_KEYS, video, err) < 0)
		return -1;
	if (video->fps < 1 || video->fps > 240)
		return ipf_error_set(err, IPF_USAGE, "fps: expected 1 to 240, got %lld", (long long)video->fps);
	int64_t frames = (video->length_ns * video->fps + NS_PER_S - 1) / NS_PER_S;
	if (frames > FRAMES_MAX)
		return ipf_error_set(err, IPF_USAGE, "expected at most %d frames, got %lld", FRAMES_MAX, (long long)frames);
	video->picture.count = frames;
	return check_bytes(&video->picture, frames, FRAME_PIXELS_A_BYTE, err);
}
