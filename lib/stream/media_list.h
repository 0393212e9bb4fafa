/* The list `media` of a request of the trace, which its record repeats: the images, audio and video of its messages,
 * added up. */
#ifndef IPF_MEDIA_LIST_H
#define IPF_MEDIA_LIST_H

#include "json/jdoc.h"

#include <stdint.h>

/* IPF_ABSENT: none. */
struct media_sums {
	int64_t images, audio_clips, video_clips;
	int64_t audio_ns; /* for the clips whose length is known */
	int64_t bytes;    /* before base64; without media the server fetches by a URL */
};

/* `doc` is scratch. Reads as much as possible of a list breaking the rules of ipf-trace(5). */
struct media_sums media_list_sum(struct jdoc *doc, struct slice list);

#endif
