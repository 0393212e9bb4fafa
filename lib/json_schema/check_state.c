/* Shared by the keywords of all types: limits, faults, the evaluated members, and the way down to a schema within
 * one. */
#include "json_schema/check.h"

#include <stdlib.h>

#define WORD_BITS 64

/* ---- evaluated members ---- */

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

/* ---- schemas ---- */

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
		valid = c->check_keywords(c, &c->schema->subs[c->schema->sub_of[schema]], value, &own);
		end_evaluated(&own, valid, seen);
	}
	c->depth--;
	return valid;
}
