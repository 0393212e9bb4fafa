/* JSON Schema: whether a value of JSON conforms to a schema. Draft 2020-12, and the keywords of drafts 4 to 2019-09
 * that are the same or have other names.
 *
 *     struct json_schema *schema;
 *     if (json_schema_new(&schema, slice_of("{\"type\":\"object\",\"required\":[\"name\"]}"), &err) < 0) …
 *     struct json_schema_finding finding;
 *     json_schema_check(schema, &doc, &finding);      // finding.validity; finding.reason: "/: name is missing"
 *     json_schema_free(schema);
 *
 * A schema is compiled once and can be used by one thread at a time.
 *
 * Schemas refer to themselves only: a $ref to another document is an error, nothing is fetched. $dynamicRef and
 * $recursiveRef are errors as well. "format" and the content keywords are annotations, as the standard has it, and so
 * are keywords that it does not know. Without "$schema", the forms of older drafts (items as a list, dependencies) are
 * understood too; siblings of $ref are ignored only if "$schema" names draft 7 or an earlier one.
 *
 * Texts from outside cannot make a check endless: its steps and depth are limited, and so are those of a regular
 * expression. A check that reaches a limit is undecided. */
#ifndef JSON_SCHEMA_JSON_SCHEMA_H
#define JSON_SCHEMA_JSON_SCHEMA_H

#include "json/jdoc.h"

#define JSON_SCHEMA_BYTES_MAX  (1 << 20)
#define JSON_SCHEMA_STEPS_MAX  4000000
#define JSON_SCHEMA_DEPTH_MAX  1200
#define JSON_SCHEMA_REASON_MAX 160 /* bytes */

enum json_validity { JSON_VALID, JSON_INVALID, JSON_UNDECIDED, JSON_CHECK_NO_MEMORY };

struct json_schema_finding {
	enum json_validity validity;
	/* Unless it is valid: the JSON pointer of the value, and why it is not, in one line that is safe for a terminal
	 * (safe_text.h). It is one of several faults. */
	char reason[JSON_SCHEMA_REASON_MAX + 1];
};

struct json_schema;

/* -1: not JSON, not a schema, or one with an unsupported keyword; err names the JSON pointer, the keyword and its
 * value. */
int json_schema_new(struct json_schema **schema, struct slice text, struct ipf_error *err);
void json_schema_free(struct json_schema *schema);
/* Checks the root of a document. */
void json_schema_check(struct json_schema *schema, const struct jdoc *value, struct json_schema_finding *finding);

#endif
