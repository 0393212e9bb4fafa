/* The measures among a trace's tags: numbers whose names end in a unit (_s, _ms, _tokens), such as what a recorder noted of the answer. */
#ifndef PREP_TAGGED_H
#define PREP_TAGGED_H

#include "jdoc.h"
#include "stats.h"

#define TAGGED_MAX 16 /* names; further ones are passed over */

struct tagged {
	char names[TAGGED_MAX][32];
	struct samples samples[TAGGED_MAX];
	int count;
};

/* Takes them of one request's tags (JSON; absent is fine). */
void tagged_add(struct tagged *t, struct slice tags, struct jdoc *j);
void tagged_release(struct tagged *t);

#endif
