/* The objectives that requests get: --slo [KEY=VALUE:]METRIC=TIME,… . They are for ipf-report to judge. */
#ifndef PREP_GOALS_H
#define PREP_GOALS_H

#include "error.h"
#include "jdoc.h"
#include "options.h"

struct goals {
	struct goal {
		char *key, *value;   /* "model", or a tag, and what it has to be; NULL: everybody's */
		struct buffer json;  /* {"ttft":"500ms"} */
	} *list;
	size_t count;
	struct jdoc tags;
};

/* IPF_USAGE. */
int goals_parse(struct goals *goals, const struct string_list *options, struct ipf_error *err);
/* Those of a request with this model (plain text) and these tags (JSON): the last that fit; absent where none do. */
struct slice goals_of(struct goals *goals, struct slice model, struct slice tags);
void goals_release(struct goals *goals);

#endif
