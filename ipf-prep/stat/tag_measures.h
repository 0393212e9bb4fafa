/* The measures among the tags of a trace: numbers whose names end in a unit (_s, _ms, _tokens), such as times the
 * recorder measured. */
#ifndef PREP_TAG_MEASURES_H
#define PREP_TAG_MEASURES_H

#include "json/jdoc.h"
#include "stats/samples.h"

#define TAG_MEASURES_MAX 16 /* names; further ones are ignored */

struct tag_measures {
	char names[TAG_MEASURES_MAX][32];
	struct samples samples[TAG_MEASURES_MAX];
	int count;
};

/* Adds the measures of one request. `tags` is JSON, or absent; `scratch` is a document to parse them in. */
void tag_measures_add(struct tag_measures *t, struct slice tags, struct jdoc *scratch);
void tag_measures_release(struct tag_measures *t);

#endif
