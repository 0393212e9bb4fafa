/* Keywords that combine schemas for the same value. */
#include "json_schema/check.h"

/* How many schemas of a list hold, at most `enough`. An alternative that does not hold has evaluated nothing. */
static size_t count_valid(struct check *c, const struct keyword_case *k, size_t enough)
{
	size_t count = 0;
	struct jdoc_each e = jdoc_each(&c->schema->doc, k->given);
	while (count < enough && jdoc_step(&e))
		count += check_schema(c, e.value, k->value, k->seen);
	return count;
}

/* It tells of nothing it has evaluated. */
static bool check_not(struct check *c, const struct keyword_case *k)
{
	struct evaluated none = {0};
	return !check_schema(c, k->given, k->value, &none) || check_fault(c, k->keyword, k->value, JDOC_NONE);
}

static bool check_if(struct check *c, const struct keyword_case *k)
{
	bool holds = check_schema(c, k->given, k->value, k->seen);
	jdoc_id next = k->sub->keyword[holds ? KEYWORD_THEN : KEYWORD_ELSE];
	return next == JDOC_NONE || check_schema(c, next, k->value, k->seen);
}

static bool check_all(struct check *c, const struct keyword_case *k)
{
	for (struct jdoc_each e = jdoc_each(&c->schema->doc, k->given); jdoc_step(&e);)
		if (!check_schema(c, e.value, k->value, k->seen))
			return false;
	return true;
}

bool check_combined(struct check *c, const struct keyword_case *k)
{
	size_t valid;
	switch (k->keyword) {
	case KEYWORD_REF:
		return check_schema(c, k->sub->ref, k->value, k->seen);
	case KEYWORD_ALL_OF:
		return check_all(c, k);
	case KEYWORD_ANY_OF:
		/* all of them, if their evaluated members are asked for */
		valid = count_valid(c, k, c->schema->tracks ? SIZE_MAX : 1);
		return valid > 0 || check_fault(c, k->keyword, k->value, JDOC_NONE);
	case KEYWORD_ONE_OF:
		valid = count_valid(c, k, 2);
		return valid == 1 || check_fault(c, k->keyword, k->value, JDOC_NONE);
	case KEYWORD_NOT:
		return check_not(c, k);
	default: /* if */
		return check_if(c, k);
	}
}
