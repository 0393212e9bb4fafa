/* Keywords of values without parts: types, constants, numbers, texts. */
#include "json_schema/check.h"
#include "json_schema/decimal.h"
#include "utf8.h"

static bool is_of_type(const struct check *c, jdoc_id value, jdoc_id name)
{
	static const char *const names[] = {[JDOC_NULL] = "null",   [JDOC_BOOL] = "boolean", [JDOC_NUMBER] = "number",
	                                    [JDOC_TEXT] = "string", [JDOC_LIST] = "array",   [JDOC_MAP] = "object"};
	enum jdoc_type type = jdoc_type_of(c->doc, value);
	if (jdoc_text_is(&c->schema->doc, name, names[type]))
		return true;
	if (type != JDOC_NUMBER || !jdoc_text_is(&c->schema->doc, name, "integer"))
		return false;
	struct decimal d = decimal_of(jdoc_raw(c->doc, value));
	return decimal_is_integer(&d);
}

static bool has_type(const struct check *c, const struct keyword_case *k)
{
	if (jdoc_type_of(&c->schema->doc, k->given) != JDOC_LIST)
		return is_of_type(c, k->value, k->given);
	for (struct jdoc_each e = jdoc_each(&c->schema->doc, k->given); jdoc_step(&e);)
		if (is_of_type(c, k->value, e.value))
			return true;
	return false;
}

/* The bytes of both values, and more where members have to be found in another order. */
static bool spend_comparison(struct check *c, jdoc_id value, jdoc_id given)
{
	size_t parts = jdoc_type_of(c->doc, value) < JDOC_LIST ? 1 : c->doc->nodes[value].next - value;
	size_t members = jdoc_count(&c->schema->doc, given);
	return check_spend(c, 1 + jdoc_raw(&c->schema->doc, given).len / 64 + (members > 1 ? parts * members / 8 : 0));
}

static bool equals(struct check *c, jdoc_id value, jdoc_id given)
{
	return spend_comparison(c, value, given) &&
	       json_values_equal((struct json_value){c->doc, value}, (struct json_value){&c->schema->doc, given}, c->room);
}

static bool is_one_of(struct check *c, const struct keyword_case *k)
{
	for (struct jdoc_each e = jdoc_each(&c->schema->doc, k->given); jdoc_step(&e);)
		if (equals(c, k->value, e.value))
			return true;
	return false;
}

bool check_any(struct check *c, const struct keyword_case *k)
{
	bool holds = k->keyword == KEYWORD_TYPE   ? has_type(c, k)
	             : k->keyword == KEYWORD_ENUM ? is_one_of(c, k)
	                                          : equals(c, k->value, k->given);
	return holds || check_fault(c, k->keyword, k->value, k->given);
}

bool check_number(struct check *c, const struct keyword_case *k)
{
	if (jdoc_type_of(c->doc, k->value) != JDOC_NUMBER)
		return true;
	struct slice literal = jdoc_raw(c->doc, k->value);
	struct decimal value = decimal_of(literal), limit = decimal_of(jdoc_raw(&c->schema->doc, k->given));
	int order = decimal_compare(&value, &limit);
	bool holds = k->keyword == KEYWORD_MULTIPLE_OF         ? decimal_is_multiple(&value, &limit)
	             : k->keyword == KEYWORD_MAXIMUM           ? order <= 0
	             : k->keyword == KEYWORD_EXCLUSIVE_MAXIMUM ? order < 0
	             : k->keyword == KEYWORD_MINIMUM           ? order >= 0
	                                                       : order > 0;
	return check_spend(c, 1 + literal.len / 64) && (holds || check_fault(c, k->keyword, k->value, k->given));
}

static uint64_t count_characters(struct slice text)
{
	uint64_t count = 0;
	for (size_t at = 0; at < text.len; count++) {
		size_t len = utf8_character(text.data + at, text.len - at);
		at += len ? len : 1;
	}
	return count;
}

bool check_text(struct check *c, const struct keyword_case *k)
{
	if (jdoc_type_of(c->doc, k->value) != JDOC_TEXT)
		return true;
	struct slice text = json_characters((struct json_value){c->doc, k->value}, &c->room[0]);
	if (!check_spend(c, 1 + text.len / 16))
		return false;
	if (k->keyword == KEYWORD_PATTERN) {
		int matches = pattern_matches(schema_pattern_at(c->schema, k->given), text);
		c->undecided |= matches < 0;
		return matches > 0 || check_fault(c, k->keyword, k->value, k->given);
	}
	struct decimal limit = decimal_of(jdoc_raw(&c->schema->doc, k->given));
	uint64_t most = decimal_count(&limit), length = count_characters(text);
	bool holds = k->keyword == KEYWORD_MAX_LENGTH ? length <= most : length >= most;
	return holds || check_fault(c, k->keyword, k->value, k->given);
}
