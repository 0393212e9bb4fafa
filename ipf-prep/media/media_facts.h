/* A medium's facts by its first bytes: its type, and the size of images and the length of recordings, if known. */
#ifndef PREP_MEDIA_FACTS_H
#define PREP_MEDIA_FACTS_H

#include "buffer.h"

#include <stdint.h>

enum medium_kind { MEDIUM_IMAGE, MEDIUM_AUDIO, MEDIUM_VIDEO, MEDIUM_KINDS };

struct media_facts {
	const char *type;      /* image/png; NULL: not known */
	int64_t width, height; /* an image's; IPF_ABSENT */
	int64_t duration_ns;   /* a recording's; IPF_ABSENT */
};

/* `size` is the whole medium's, of which `head` may be the beginning. PNG, JPEG, GIF, WebP; WAV, MP3, FLAC, Ogg; MP4,
 * WebM, AVI. */
struct media_facts media_facts(struct slice head, int64_t size);

#endif
