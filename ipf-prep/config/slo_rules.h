/* --slo [KEY=VALUE:]METRIC=TIME,…: the service-level objectives of requests in the trace. ipf-report judges requests by
 * them.
 *
 * Each occurrence of the option is a rule. A rule with a key applies to requests to a model (key "model") or with a tag
 * of this value; a rule without one applies to all. The last rule applying to a request gives its objectives.
 */
#ifndef PREP_SLO_RULES_H
#define PREP_SLO_RULES_H

#include "error.h"
#include "json/jdoc.h"

#include <stddef.h>

struct slo_rule {
	char *key, *value;        /* "model" or the name of a tag, and the value it must have; NULL: every request */
	struct buffer objectives; /* JSON: {"ttft":"500ms"} */
};

struct slo_rules {
	struct slo_rule *items;
	size_t count;
};

/* Parses a rule and appends it. -1: out of memory, or IPF_USAGE. Release the rules also after an error. */
int slo_rules_add(struct slo_rules *rules, const char *text, struct ipf_error *err);
/* The objectives (JSON) of a request to this model (plain text) with these tags (JSON); either may be absent. Absent if
 * no rule applies. Good until the rules are released. `scratch` is a document to parse the tags in. */
struct slice slo_rules_apply(const struct slo_rules *rules, struct slice model, struct slice tags,
                             struct jdoc *scratch);
void slo_rules_release(struct slo_rules *rules);

#endif
