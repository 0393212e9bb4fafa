/* A check of a value by a compiled schema: its state, and the values shared by the keywords. Private to this room. */
#ifndef JSON_SCHEMA_CHECK_H
#define JSON_SCHEMA_CHECK_H

#include "json_schema/keywords.h"

/* Which members or elements of a value some keyword has evaluated, a bit for each, for the unevaluated keywords. */
struct evaluated {
	uint64_t *bits; /* NULL: nobody asks */
	size_t words;
};

struct check {
	struct json_schema *schema;
	/* All keywords of a subschema; check.c sets it, so the files of the keywords need nothing of it. */
	bool (*check_keywords)(struct check *c, const struct subschema *sub, jdoc_id value, struct evaluated *seen);
	const struct jdoc *doc; /* the value's */
	int64_t steps;          /* that are left */
	int depth;
	bool undecided, no_memory;
	/* the fault met last; those of alternatives are overwritten by that of the keyword around them */
	enum keyword fault;
	jdoc_id fault_at;    /* in the value */
	jdoc_id fault_given; /* in the schema: the keyword's value; JDOC_NONE */
	struct buffer room[2];
};

/* Whether the value is valid by the schema at a node. `seen` gets the evaluated members. */
bool check_schema(struct check *c, jdoc_id schema, jdoc_id value, struct evaluated *seen);
/* Counts steps. False: too many, and the check is undecided. */
bool check_spend(struct check *c, size_t steps);
/* Notes a fault; returns false. */
bool check_fault(struct check *c, enum keyword keyword, jdoc_id at, jdoc_id given);
void evaluated_mark(struct evaluated *seen, size_t index);
void evaluated_mark_all(struct evaluated *seen);
bool evaluated_has(const struct evaluated *seen, size_t index);
/* A keyword of one subschema, and the value checked. */
struct keyword_case {
	const struct subschema *sub;
	enum keyword keyword;
	jdoc_id given; /* the keyword's value */
	jdoc_id value;
	struct evaluated *seen;
};

/* By the types of values for which they are meant; for others they hold. */
bool check_any(struct check *c, const struct keyword_case *k);      /* type, enum, const */
bool check_number(struct check *c, const struct keyword_case *k);   /* minimum … */
bool check_text(struct check *c, const struct keyword_case *k);     /* minLength … */
bool check_list(struct check *c, const struct keyword_case *k);     /* items … */
bool check_map(struct check *c, const struct keyword_case *k);      /* properties … */
bool check_combined(struct check *c, const struct keyword_case *k); /* allOf … */

#endif
