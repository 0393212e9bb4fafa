/* The measures among a trace's tags: numbers whose names end in a unit (_s, _ms, _tokens), such as what a recorder
 * noted of the answer. */
#ifndef PREP_TAGGED_H
#define PREP_TAGGED_H

#include "json/jdoc.h"
#include "stats/samples.h"

#define TAG_MEASURES_MAX 16 /* names; further ones are passed over */

struct tag_measures {
	char names[TAG_MEASURES_MAX][32];
	struct samples samples[TAG_MEASURES_MAX];
	int count;
};

/* Takes them of one request's tags (JSON; absent is fine). */
void tag_measures_add(struct tag_measures *t, struct slice tags, struct jdoc *j);
void tag_measures_release(struct tag_measures *t);

#endif
