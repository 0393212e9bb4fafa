/* --images, --audio and --video: the synthetic media each request carries.
 *
 *     2x1024x768,bytes=300kB,pool=100     images a request, width x height
 *     10s                                 a recording, its length a distribution of times
 *     5sx640x360,fps=2                    a film
 */
#ifndef PREP_MEDIA_OPTIONS_H
#define PREP_MEDIA_OPTIONS_H

#include "clock.h"
#include "draft/distribution.h"

#define IMAGES_MAX        1000 /* a request's */
#define MEDIUM_LENGTH_MAX (INT64_C(4) * 3600 * NS_PER_S)

/* Images, or the frames of a film. */
struct picture_options {
	int64_t count; /* images of a request; 0: none */
	int64_t width, height;
	int64_t bytes; /* an image's, or of a film; about */
	int64_t pool;  /* different ones; 0: each is different */
};

struct audio_options {
	bool given;
	struct distribution length; /* ns */
	int64_t rate;               /* samples a second */
	int64_t pool;
};

struct video_options {
	int64_t length_ns; /* 0: none */
	int64_t fps;
	struct picture_options picture; /* its count is the frames' */
};

struct media_options {
	struct picture_options images;
	struct audio_options audio;
	struct video_options video;
};

/* -1: IPF_USAGE. */
int parse_images(const char *text, struct picture_options *images, struct ipf_error *err);
int parse_audio(const char *text, struct audio_options *audio, struct ipf_error *err);
int parse_video(const char *text, struct video_options *video, struct ipf_error *err);
static inline bool media_options_given(const struct media_options *o)
{
	return o->images.count || o->audio.given || o->video.length_ns;
}

#endif
