/* How an event of a streamed answer goes onto the connection: as server-sent events in HTTP chunks, with the manners
 * the modes ask for. Part of answer.c, apart from it for its size. */
#ifndef SIM_FRAME_H
#define SIM_FRAME_H

#include "answer.h"

/* One event with this data (JSON, or [DONE]); `content`: it has text in it, so its time matters. `last`: none
 * follows. */
void frame_event(struct answer *a, struct slice data, bool content, bool last);
/* One under a name. */
void frame_named_event(struct answer *a, const char *name, struct slice data, bool content);
/* Bytes as they stand, where the stream is none of events. */
void frame_bytes(struct answer *a, struct slice bytes, bool content);
/* A piece of one, for an answer cut in the middle of it. */
void frame_partial(struct answer *a, struct slice data, size_t bytes);
/* The end of the body. */
void frame_end(struct answer *a);

#endif
