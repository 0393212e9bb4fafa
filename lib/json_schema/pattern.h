/* Regular expressions of JSON Schema (ECMA 262), as PCRE2 understands them, with bounds for hostile ones. A match is
 * searched anywhere in the text. Other than there, \s is ASCII only, and long names of Unicode properties are errors.
 */
#ifndef JSON_SCHEMA_PATTERN_H
#define JSON_SCHEMA_PATTERN_H

#include "buffer.h"
#include "error.h"

struct pattern;

/* NULL: not a regular expression, or a too large one; err says why. */
struct pattern *pattern_new(struct slice text, struct ipf_error *err);
void pattern_free(struct pattern *pattern);
/* 1: it matches; 0; -1: not known, because the search would take too long. */
int pattern_matches(const struct pattern *pattern, struct slice text);

#endif
