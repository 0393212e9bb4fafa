/* The objectives that requests get: --slo [KEY=VALUE:]METRIC=TIME,… . They are for ipf-report to judge. */
#ifndef PREP_GOALS_H
#define PREP_GOALS_H

#include "error.h"
#include "json/jdoc.h"
#include "cli/options.h"

struct slo_option {
	struct goal {
		char *key, *value;  /* "model", or a tag, and what it has to be; NULL: everybody's */
		struct buffer json; /* {"ttft":"500ms"} */
	} * list;
	size_t count;
	struct jdoc tags;
};

/* IPF_USAGE. */
int slo_option_parse(struct slo_option *goals, const struct string_list *options, struct ipf_error *err);
/* Those of a request with this model (plain text) and these tags (JSON): the last that fit; absent where none do. */
struct slice slo_option_of(struct slo_option *goals, struct slice model, struct slice tags);
void slo_option_release(struct slo_option *goals);

#endif
