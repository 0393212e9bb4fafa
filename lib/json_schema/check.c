/* The check of a value: the keywords of each subschema in their order, within limits. */
#include "json_schema/check.h"
#include "safe_text.h"

#include <stdio.h>
#include <stdlib.h>

#define WORD_BITS 64

/* ---- what was evaluated ---- */

void evaluated_mark(struct evaluated *seen, size_t index)
{
	if (seen->bits)
		seen->bits[index / WORD_BITS] |= UINT64_C(1) << index % WORD_BITS;
}

void evaluated_mark_all(struct evaluated *seen)
{
	if (seen->bits)
		memset(seen->bits, 0xff, seen->words * sizeof *seen->bits);
}

bool evaluated_has(const struct evaluated *seen, size_t index)
{
	return seen->bits[index / WORD_BITS] >> index % WORD_BITS & 1;
}

/* ---- steps ---- */

bool check_spend(struct check *c, size_t steps)
{
	c->steps = (int64_t)steps < c->steps ? c->steps - (int64_t)steps : 0;
	c->undecided |= c->steps == 0;
	return !c->undecided && !c->no_memory;
}

bool check_fault(struct check *c, enum keyword keyword, jdoc_id at, jdoc_id given)
{
	c->fault = keyword;
	c->fault_at = at;
	c->fault_given = given;
	return false;
}

/* Nothing yet, of as many members as the value has, if the schema asks for it. False: out of memory, or of steps. */
static bool begin_evaluated(struct check *c, jdoc_id value, struct evaluated *seen)
{
	*seen = (struct evaluated){0};
	if (!c->schema->tracks)
		return true;
	seen->words = jdoc_count(c->doc, value) / WORD_BITS + 1;
	if (!check_spend(c, seen->words))
		return false;
	seen->bits = calloc(seen->words, sizeof *seen->bits);
	c->no_memory |= !seen->bits;
	return seen->bits != NULL;
}

static void end_evaluated(struct evaluated *own, bool valid, struct evaluated *seen)
{
	for (size_t i = 0; valid && own->bits && seen->bits && i < own->words; i++)
		seen->bits[i] |= own->bits[i];
	free(own->bits);
}

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

bool check_schema(struct check *c, jdoc_id schema, jdoc_id value, struct evaluated *seen)
{
	const struct jdoc *doc = &c->schema->doc;
	struct evaluated own;
	if (jdoc_type_of(doc, schema) == JDOC_BOOL)
		return *jdoc_raw(doc, schema).data == 't' || check_fault(c, KEYWORDS, value, JDOC_NONE);
	if (++c->depth > JSON_SCHEMA_DEPTH_MAX)
		c->undecided = true;
	bool valid = check_spend(c, 1) && begin_evaluated(c, value, &own);
	if (valid) {
		valid = check_keywords(c, &c->schema->subs[c->schema->sub_of[schema]], value, &own);
		end_evaluated(&own, valid, seen);
	}
	c->depth--;
	return valid;
}

/* ---- the finding ---- */

/* `%s` is what the schema says. */
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
	struct check c = {
		.schema = schema, .doc = value, .steps = JSON_SCHEMA_STEPS_MAX, .fault = KEYWORDS, .fault_given = JDOC_NONE};
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
