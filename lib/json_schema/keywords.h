/* The keywords of JSON Schema, and a compiled schema: a table of the places that are schemas, with the keywords of
 * each. Private to this room. */
#ifndef JSON_SCHEMA_KEYWORDS_H
#define JSON_SCHEMA_KEYWORDS_H

#include "json_schema/json_schema.h"
#include "json_schema/json_value.h"
#include "json_schema/pattern.h"

/* The form the value of a keyword must have. */
enum keyword_form {
	FORM_ANY,
	FORM_REFUSED, /* it changes the valid values, and is not supported */
	FORM_SCHEMA,
	FORM_SCHEMAS,       /* a list with at least one */
	FORM_SCHEMA_MAP,    /* an object of schemas */
	FORM_PATTERN_MAP,   /* the same, whose keys are regular expressions */
	FORM_ITEMS,         /* a schema, or a list of schemas */
	FORM_DEPENDENCIES,  /* an object of schemas or of lists of texts */
	FORM_TEXT_LIST_MAP, /* an object of lists of texts */
	FORM_TEXT_LIST,
	FORM_LIST,
	FORM_TEXT,
	FORM_PATTERN,
	FORM_TYPE,
	FORM_COUNT,
	FORM_NUMBER,
	FORM_DIVISOR, /* above 0 */
	FORM_BOOL,
};

/* In the order in which they are checked: unevaluated ones see all that others have evaluated. */
#define SCHEMA_KEYWORDS(X)                                                                                             \
	X(REF, "$ref", FORM_TEXT)                                                                                          \
	X(TYPE, "type", FORM_TYPE)                                                                                         \
	X(ENUM, "enum", FORM_LIST)                                                                                         \
	X(CONST, "const", FORM_ANY)                                                                                        \
	X(MULTIPLE_OF, "multipleOf", FORM_DIVISOR)                                                                         \
	X(MAXIMUM, "maximum", FORM_NUMBER)                                                                                 \
	X(EXCLUSIVE_MAXIMUM, "exclusiveMaximum", FORM_NUMBER)                                                              \
	X(MINIMUM, "minimum", FORM_NUMBER)                                                                                 \
	X(EXCLUSIVE_MINIMUM, "exclusiveMinimum", FORM_NUMBER)                                                              \
	X(MAX_LENGTH, "maxLength", FORM_COUNT)                                                                             \
	X(MIN_LENGTH, "minLength", FORM_COUNT)                                                                             \
	X(PATTERN, "pattern", FORM_PATTERN)                                                                                \
	X(MAX_ITEMS, "maxItems", FORM_COUNT)                                                                               \
	X(MIN_ITEMS, "minItems", FORM_COUNT)                                                                               \
	X(UNIQUE_ITEMS, "uniqueItems", FORM_BOOL)                                                                          \
	X(MAX_PROPERTIES, "maxProperties", FORM_COUNT)                                                                     \
	X(MIN_PROPERTIES, "minProperties", FORM_COUNT)                                                                     \
	X(REQUIRED, "required", FORM_TEXT_LIST)                                                                            \
	X(DEPENDENT_REQUIRED, "dependentRequired", FORM_TEXT_LIST_MAP)                                                     \
	X(PREFIX_ITEMS, "prefixItems", FORM_SCHEMAS)                                                                       \
	X(ITEMS, "items", FORM_ITEMS)                                                                                      \
	X(ADDITIONAL_ITEMS, "additionalItems", FORM_SCHEMA)                                                                \
	X(CONTAINS, "contains", FORM_SCHEMA)                                                                               \
	X(MAX_CONTAINS, "maxContains", FORM_COUNT)                                                                         \
	X(MIN_CONTAINS, "minContains", FORM_COUNT)                                                                         \
	X(PROPERTIES, "properties", FORM_SCHEMA_MAP)                                                                       \
	X(PATTERN_PROPERTIES, "patternProperties", FORM_PATTERN_MAP)                                                       \
	X(ADDITIONAL_PROPERTIES, "additionalProperties", FORM_SCHEMA)                                                      \
	X(PROPERTY_NAMES, "propertyNames", FORM_SCHEMA)                                                                    \
	X(DEPENDENT_SCHEMAS, "dependentSchemas", FORM_SCHEMA_MAP)                                                          \
	X(DEPENDENCIES, "dependencies", FORM_DEPENDENCIES)                                                                 \
	X(ALL_OF, "allOf", FORM_SCHEMAS)                                                                                   \
	X(ANY_OF, "anyOf", FORM_SCHEMAS)                                                                                   \
	X(ONE_OF, "oneOf", FORM_SCHEMAS)                                                                                   \
	X(NOT, "not", FORM_SCHEMA)                                                                                         \
	X(IF, "if", FORM_SCHEMA)                                                                                           \
	X(THEN, "then", FORM_SCHEMA)                                                                                       \
	X(ELSE, "else", FORM_SCHEMA)                                                                                       \
	X(UNEVALUATED_ITEMS, "unevaluatedItems", FORM_SCHEMA)                                                              \
	X(UNEVALUATED_PROPERTIES, "unevaluatedProperties", FORM_SCHEMA)                                                    \
	X(DEFS, "$defs", FORM_SCHEMA_MAP)                                                                                  \
	X(DEFINITIONS, "definitions", FORM_SCHEMA_MAP)                                                                     \
	X(ID, "$id", FORM_TEXT)                                                                                            \
	X(ANCHOR, "$anchor", FORM_TEXT)                                                                                    \
	X(SCHEMA, "$schema", FORM_TEXT)                                                                                    \
	X(DYNAMIC_REF, "$dynamicRef", FORM_REFUSED)                                                                        \
	X(DYNAMIC_ANCHOR, "$dynamicAnchor", FORM_REFUSED)                                                                  \
	X(RECURSIVE_REF, "$recursiveRef", FORM_REFUSED)                                                                    \
	X(RECURSIVE_ANCHOR, "$recursiveAnchor", FORM_REFUSED)                                                              \
	X(DIVISIBLE_BY, "divisibleBy", FORM_REFUSED)                                                                       \
	X(DISALLOW, "disallow", FORM_REFUSED)                                                                              \
	X(EXTENDS, "extends", FORM_REFUSED)

enum keyword {
#define X(keyword_, name_, form_) KEYWORD_##keyword_,
	SCHEMA_KEYWORDS(X)
#undef X
		KEYWORDS
};

extern const char *const keyword_names[KEYWORDS];

#define SCHEMA_NONE UINT32_MAX

/* A place that is a schema. */
struct subschema {
	jdoc_id at;
	uint32_t resource;         /* index; the document, or the schema with "$id" around it */
	jdoc_id ref;               /* to which $ref refers; JDOC_NONE */
	jdoc_id keyword[KEYWORDS]; /* the values; JDOC_NONE */
};

/* A text naming a place: a URI, or an anchor within a resource. */
struct schema_name {
	struct buffer text;
	uint32_t resource;
	jdoc_id at;
};

struct schema_pattern {
	jdoc_id at; /* the text: a value, or a key */
	struct pattern *pattern;
};

struct json_schema {
	struct buffer text;
	struct jdoc doc;
	struct subschema *subs;
	uint32_t subs_count, subs_cap;
	uint32_t *sub_of; /* by node of the document; SCHEMA_NONE: no schema, or true or false */
	struct schema_name *resources, *anchors;
	uint32_t resources_count, anchors_count;
	struct schema_pattern *patterns; /* in the order of their nodes */
	uint32_t patterns_count;
	bool ref_alone; /* draft 7 and earlier: siblings of $ref do not count */
	bool tracks;    /* some keyword asks for evaluated members */
	struct buffer room[2];
};

/* Finds the node to which the $ref of `from` refers. -1: there is none. */
int schema_resolve(struct json_schema *schema, const struct subschema *from, jdoc_id *to, struct ipf_error *err);
/* Makes a URI of a reference and the URI of the resource around it. */
void schema_resolve_uri(struct slice base, struct slice reference, struct buffer *out);
/* Sets err to `/pointer/keyword: text`; returns -1. */
int schema_refuse(const struct json_schema *schema, jdoc_id at, struct ipf_error *err, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
/* The pattern whose text is this node, or NULL. */
const struct pattern *schema_pattern_at(const struct json_schema *schema, jdoc_id at);

#endif
