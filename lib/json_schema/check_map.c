/* Keywords of objects. */
#include "json_schema/check.h"
#include "json_schema/decimal.h"

/* The member of the value a text of the schema names. */
static jdoc_id member_of(struct check *c, jdoc_id value, jdoc_id name)
{
	if (!check_spend(c, 1 + jdoc_count(c->doc, value) / 4))
		return JDOC_NONE;
	return json_member((struct json_value){c->doc, value}, (struct json_value){&c->schema->doc, name}, c->room);
}

/* The names in a list are members. */
static bool has_names(struct check *c, const struct keyword_case *k, jdoc_id names)
{
	for (struct jdoc_each e = jdoc_each(&c->schema->doc, names); jdoc_step(&e);)
		if (member_of(c, k->value, e.value) == JDOC_NONE)
			return check_fault(c, k->keyword, k->value, e.value);
	return true;
}

/* dependentRequired, dependentSchemas, dependencies: a present member's requirements for the object. */
static bool check_dependent(struct check *c, const struct keyword_case *k)
{
	for (struct jdoc_each e = jdoc_each(&c->schema->doc, k->given); jdoc_step(&e);) {
		if (member_of(c, k->value, e.key) == JDOC_NONE)
			continue;
		bool holds = jdoc_type_of(&c->schema->doc, e.value) == JDOC_LIST ? has_names(c, k, e.value)
		                                                                 : check_schema(c, e.value, k->value, k->seen);
		if (!holds)
			return false;
	}
	return true;
}

/* The index of a member is its place's, which bits of `evaluated` are numbered by. */
static bool check_properties(struct check *c, const struct keyword_case *k)
{
	struct evaluated none = {0};
	struct jdoc_each e = jdoc_each(c->doc, k->value);
	for (size_t i = 0; jdoc_step(&e); i++) {
		if (!check_spend(c, 1 + jdoc_count(&c->schema->doc, k->given) / 4))
			return false;
		jdoc_id schema = json_member((struct json_value){&c->schema->doc, k->given}, (struct json_value){c->doc, e.key},
		                             c->room);
		if (schema == JDOC_NONE)
			continue;
		if (!check_schema(c, schema, e.value, &none))
			return false;
		evaluated_mark(k->seen, i);
	}
	return true;
}

/* Whether a key matches the pattern that is a key of the schema. */
static bool matches(struct check *c, jdoc_id pattern, jdoc_id key)
{
	struct slice text = json_characters((struct json_value){c->doc, key}, &c->room[0]);
	if (!check_spend(c, 1 + text.len / 16))
		return false;
	int got = pattern_matches(schema_pattern_at(c->schema, pattern), text);
	c->undecided |= got < 0;
	return got > 0;
}

static bool check_patterns(struct check *c, const struct keyword_case *k)
{
	struct evaluated none = {0};
	struct jdoc_each e = jdoc_each(c->doc, k->value);
	for (size_t i = 0; jdoc_step(&e); i++)
		for (struct jdoc_each p = jdoc_each(&c->schema->doc, k->given); jdoc_step(&p);) {
			if (!matches(c, p.key, e.key))
				continue;
			if (!check_schema(c, p.value, e.value, &none))
				return false;
			evaluated_mark(k->seen, i);
		}
	return true;
}

static bool is_property(struct check *c, const struct subschema *sub, jdoc_id key)
{
	const struct jdoc *doc = &c->schema->doc;
	jdoc_id properties = sub->keyword[KEYWORD_PROPERTIES], patterns = sub->keyword[KEYWORD_PATTERN_PROPERTIES];
	if (properties != JDOC_NONE && check_spend(c, 1 + jdoc_count(doc, properties) / 4) &&
	    json_member((struct json_value){doc, properties}, (struct json_value){c->doc, key}, c->room) != JDOC_NONE)
		return true;
	if (patterns != JDOC_NONE)
		for (struct jdoc_each p = jdoc_each(doc, patterns); jdoc_step(&p);)
			if (matches(c, p.key, key))
				return true;
	return false;
}

/* additionalProperties, unevaluatedProperties: the schema holds for all members that remain. */
static bool check_remaining(struct check *c, const struct keyword_case *k)
{
	struct evaluated none = {0};
	struct jdoc_each e = jdoc_each(c->doc, k->value);
	bool unevaluated = k->keyword == KEYWORD_UNEVALUATED_PROPERTIES;
	for (size_t i = 0; jdoc_step(&e); i++) {
		if (unevaluated ? evaluated_has(k->seen, i) : is_property(c, k->sub, e.key))
			continue;
		if (!check_schema(c, k->given, e.value, &none))
			return c->fault == KEYWORDS && c->fault_at == e.value ? check_fault(c, k->keyword, e.value, JDOC_NONE)
			                                                      : false;
		evaluated_mark(k->seen, i);
	}
	return true;
}

static bool check_names(struct check *c, const struct keyword_case *k)
{
	struct evaluated none = {0};
	for (struct jdoc_each e = jdoc_each(c->doc, k->value); jdoc_step(&e);)
		if (!check_schema(c, k->given, e.key, &none))
			return check_fault(c, k->keyword, e.value, JDOC_NONE);
	return true;
}

static bool check_size(struct check *c, const struct keyword_case *k)
{
	struct decimal d = decimal_of(jdoc_raw(&c->schema->doc, k->given));
	uint64_t size = jdoc_count(c->doc, k->value), limit = decimal_count(&d);
	bool holds = k->keyword == KEYWORD_MAX_PROPERTIES ? size <= limit : size >= limit;
	return holds || check_fault(c, k->keyword, k->value, k->given);
}

bool check_map(struct check *c, const struct keyword_case *k)
{
	if (jdoc_type_of(c->doc, k->value) != JDOC_MAP)
		return true;
	switch (k->keyword) {
	case KEYWORD_MAX_PROPERTIES:
	case KEYWORD_MIN_PROPERTIES:
		return check_size(c, k);
	case KEYWORD_REQUIRED:
		return has_names(c, k, k->given);
	case KEYWORD_PROPERTIES:
		return check_properties(c, k);
	case KEYWORD_PATTERN_PROPERTIES:
		return check_patterns(c, k);
	case KEYWORD_PROPERTY_NAMES:
		return check_names(c, k);
	case KEYWORD_ADDITIONAL_PROPERTIES:
	case KEYWORD_UNEVALUATED_PROPERTIES:
		return check_remaining(c, k);
	default: /* dependentRequired, dependentSchemas, dependencies */
		return check_dependent(c, k);
	}
}
