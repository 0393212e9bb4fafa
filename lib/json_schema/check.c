/* The check of a value: the keywords of each subschema in their order, within limits. */
#include "json_schema/check.h"
#include "safe_text.h"

#include <stdio.h>

typedef bool check_function(struct check *, const struct keyword_case *);

static check_function *function_of(enum keyword k)
{
	if (k >= KEYWORD_TYPE && k <= KEYWORD_CONST)
		return check_any;
	if (k >= KEYWORD_MULTIPLE_OF && k <= KEYWORD_EXCLUSIVE_MINIMUM)
		return check_number;
	if (k >= KEYWORD_MAX_LENGTH && k <= KEYWORD_PATTERN)
		return check_text;
	if ((k >= KEYWORD_MAX_ITEMS && k <= KEYWORD_UNIQUE_ITEMS) || (k >= KEYWORD_PREFIX_ITEMS && k <= KEYWORD_CONTAINS) ||
	    k == KEYWORD_UNEVALUATED_ITEMS)
		return check_list;
	if ((k >= KEYWORD_MAX_PROPERTIES && k <= KEYWORD_DEPENDENT_REQUIRED) ||
	    (k >= KEYWORD_PROPERTIES && k <= KEYWORD_DEPENDENCIES) || k == KEYWORD_UNEVALUATED_PROPERTIES)
		return check_map;
	if (k == KEYWORD_REF || (k >= KEYWORD_ALL_OF && k <= KEYWORD_IF))
		return check_combined;
	return NULL; /* it names places, or another keyword asks for it */
}

static bool check_keywords(struct check *c, const struct subschema *sub, jdoc_id value, struct evaluated *seen)
{
	for (int i = 0; i < KEYWORDS; i++) {
		struct keyword_case k = {sub, (enum keyword)i, sub->keyword[i], value, seen};
		check_function *function = k.given == JDOC_NONE ? NULL : function_of(k.keyword);
		if (function && (!check_spend(c, 1) || !function(c, &k)))
			return false;
	}
	return true;
}

/* ---- the finding ---- */

/* `%s` is the schema's value. */
static const char *sentence(enum keyword k)
{
	static const char *const sentences[KEYWORDS] = {
		[KEYWORD_TYPE] = "expected the type %s",
		[KEYWORD_ENUM] = "not in enum",
		[KEYWORD_CONST] = "expected %s",
		[KEYWORD_MULTIPLE_OF] = "not a multiple of %s",
		[KEYWORD_MAXIMUM] = "above the maximum %s",
		[KEYWORD_EXCLUSIVE_MAXIMUM] = "not below %s",
		[KEYWORD_MINIMUM] = "below the minimum %s",
		[KEYWORD_EXCLUSIVE_MINIMUM] = "not above %s",
		[KEYWORD_MAX_LENGTH] = "longer than %s",
		[KEYWORD_MIN_LENGTH] = "shorter than %s",
		[KEYWORD_PATTERN] = "does not match %s",
		[KEYWORD_MAX_ITEMS] = "more than %s items",
		[KEYWORD_MIN_ITEMS] = "fewer than %s items",
		[KEYWORD_UNIQUE_ITEMS] = "items are not unique",
		[KEYWORD_MAX_PROPERTIES] = "more than %s members",
		[KEYWORD_MIN_PROPERTIES] = "fewer than %s members",
		[KEYWORD_REQUIRED] = "%s is missing",
		[KEYWORD_DEPENDENT_REQUIRED] = "%s is missing, which another member needs",
		[KEYWORD_DEPENDENCIES] = "%s is missing, which another member needs",
		[KEYWORD_ADDITIONAL_PROPERTIES] = "not among the properties",
		[KEYWORD_UNEVALUATED_PROPERTIES] = "not among the properties",
		[KEYWORD_PROPERTY_NAMES] = "its name is not allowed",
		[KEYWORD_ADDITIONAL_ITEMS] = "more items than the schema has",
		[KEYWORD_UNEVALUATED_ITEMS] = "more items than the schema has",
		[KEYWORD_CONTAINS] = "too few items by contains",
		[KEYWORD_MAX_CONTAINS] = "more than %s items by contains",
		[KEYWORD_ANY_OF] = "nothing of anyOf is met",
		[KEYWORD_ONE_OF] = "not exactly one of oneOf is met",
		[KEYWORD_NOT] = "not excludes it",
	};
	return k < KEYWORDS && sentences[k] ? sentences[k] : "not allowed";
}

static void describe(struct check *c, struct json_schema_finding *finding)
{
	struct buffer text = {0};
	struct slice given = jdoc_raw(&c->schema->doc, c->fault_given);
	const char *words = sentence(c->fault), *place = strstr(words, "%s");
	json_pointer(c->doc, c->fault_at, 80, &text);
	if (!text.len)
		buffer_byte(&text, '/');
	buffer_text(&text, ": ");
	buffer_slice(&text, (struct slice){words, place ? (size_t)(place - words) : strlen(words)});
	if (place) {
		size_t shown = given.len;
		if (shown > 40)
			for (shown = 40; shown && ((unsigned char)given.data[shown] & 0xc0) == 0x80;)
				shown--;
		buffer_slice(&text, (struct slice){given.data, shown});
		buffer_text(&text, shown < given.len ? "…" : "");
		buffer_text(&text, place + 2);
	}
	c->no_memory |= text.failed;
	safe_text(finding->reason, sizeof finding->reason, buffer_all(&text));
	buffer_release(&text);
}

void json_schema_check(struct json_schema *schema, const struct jdoc *value, struct json_schema_finding *finding)
{
	struct check c = {.schema = schema,
	                  .check_keywords = check_keywords,
	                  .doc = value,
	                  .steps = JSON_SCHEMA_STEPS_MAX,
	                  .fault = KEYWORDS,
	                  .fault_given = JDOC_NONE};
	struct evaluated none = {0};
	bool valid = check_schema(&c, JDOC_ROOT, JDOC_ROOT, &none);
	finding->reason[0] = '\0';
	c.no_memory |= c.room[0].failed || c.room[1].failed;
	if (c.no_memory || c.undecided)
		snprintf(finding->reason, sizeof finding->reason, "%s",
		         c.no_memory ? "out of memory" : "the check takes too long");
	else if (!valid)
		describe(&c, finding);
	finding->validity = c.no_memory   ? JSON_CHECK_NO_MEMORY
	                    : c.undecided ? JSON_UNDECIDED
	                    : valid       ? JSON_VALID
	                                  : JSON_INVALID;
	buffer_release(&c.room[0]);
	buffer_release(&c.room[1]);
}
