/* A body within messages of another format, of which only the contents count: they are put together, and of each place
 * in them it is known where in the body the message ends that brought it, so that events keep their times. (So far:
 * eventstream.h.)
 */
#ifndef IPF_ENVELOPE_H
#define IPF_ENVELOPE_H

#include "buffer.h"
#include "error.h"

struct envelope_part {
	size_t inside, body; /* where it ends in the contents, and in the body */
};

/* Zero-initialise; used again for each body. */
struct envelope {
	struct buffer inside; /* the contents */
	struct buffer error;  /* what a message said that is an error; empty */
	bool torn;            /* the body ends within a message */
	bool broken;          /* from some place on it is none */

	/* private */
	struct envelope_part *parts;
	size_t count, cap, at;
};

/* -1: out of memory. */
int envelope_open(struct envelope *e, struct slice body, struct ipf_error *err);
/* The place in the body for an end in the contents; these are asked for in order. */
size_t envelope_end(struct envelope *e, size_t inside);
/* Begins to be asked again. */
void envelope_rewind(struct envelope *e);
void envelope_release(struct envelope *e);

#endif
