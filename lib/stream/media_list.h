/* The list `media` of a request of the trace, which its record repeats: what images, audio and video its messages
 * contain, added up. */
#ifndef IPF_MEDIA_LIST_H
#define IPF_MEDIA_LIST_H

#include "json/jdoc.h"

#include <stdint.h>

/* IPF_ABSENT: none. */
struct media_sums {
	int64_t images, audio_clips, video_clips;
	int64_t audio_ns; /* of the clips whose length is known */
	int64_t bytes;    /* before base64; without what the server fetches by a URL */
};

/* `doc` is scratch. Of a list that is not what ipf-trace(5) says, as much as can be read. */
struct media_sums media_list_sum(struct jdoc *doc, struct slice list);

#endif
