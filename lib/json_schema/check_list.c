/* Keywords of lists. */
#include "json_schema/check.h"
#include "json_schema/decimal.h"

#include <stdlib.h>

/* As many elements at the beginning have schemas of their own: prefixItems, or items as a list. */
static size_t prefix_of(const struct check *c, const struct subschema *sub)
{
	const struct jdoc *doc = &c->schema->doc;
	jdoc_id items = sub->keyword[KEYWORD_ITEMS], prefix = sub->keyword[KEYWORD_PREFIX_ITEMS];
	return prefix != JDOC_NONE                     ? jdoc_count(doc, prefix)
	       : jdoc_type_of(doc, items) == JDOC_LIST ? jdoc_count(doc, items)
	                                               : 0;
}

static bool check_prefix(struct check *c, const struct keyword_case *k)
{
	struct jdoc_each value = jdoc_each(c->doc, k->value), schema = jdoc_each(&c->schema->doc, k->given);
	struct evaluated none = {0};
	for (size_t i = 0; jdoc_step(&value) && jdoc_step(&schema); i++) {
		if (!check_schema(c, schema.value, value.value, &none))
			return false;
		evaluated_mark(k->seen, i);
	}
	return true;
}

/* The schema holds for all elements from `first` on. */
static bool check_rest(struct check *c, const struct keyword_case *k, size_t first)
{
	struct evaluated none = {0};
	struct jdoc_each value = jdoc_each(c->doc, k->value);
	bool unevaluated = k->keyword == KEYWORD_UNEVALUATED_ITEMS;
	for (size_t i = 0; jdoc_step(&value); i++) {
		if (i < first || (unevaluated && evaluated_has(k->seen, i)))
			continue;
		if (!check_schema(c, k->given, value.value, &none))
			return c->fault == KEYWORDS && k->keyword != KEYWORD_ITEMS && c->fault_at == value.value
			           ? check_fault(c, k->keyword, k->value, k->given)
			           : false;
	}
	evaluated_mark_all(k->seen);
	return true;
}

static uint64_t count_of(const struct check *c, jdoc_id given, uint64_t otherwise)
{
	if (given == JDOC_NONE)
		return otherwise;
	struct decimal d = decimal_of(jdoc_raw(&c->schema->doc, given));
	return decimal_count(&d);
}

static bool check_contains(struct check *c, const struct keyword_case *k)
{
	struct evaluated none = {0};
	jdoc_id most = k->sub->keyword[KEYWORD_MAX_CONTAINS], least = k->sub->keyword[KEYWORD_MIN_CONTAINS];
	uint64_t count = 0;
	struct jdoc_each value = jdoc_each(c->doc, k->value);
	for (size_t i = 0; jdoc_step(&value); i++)
		if (check_schema(c, k->given, value.value, &none)) {
			count++;
			evaluated_mark(k->seen, i);
		}
	if (count < count_of(c, least, 1))
		return check_fault(c, k->keyword, k->value, JDOC_NONE);
	return count <= count_of(c, most, UINT64_MAX) || check_fault(c, KEYWORD_MAX_CONTAINS, k->value, most);
}

struct hashed {
	uint64_t hash;
	jdoc_id at;
};

static int compare_hashes(const void *a, const void *b)
{
	const struct hashed *x = a, *y = b;
	return (x->hash > y->hash) - (x->hash < y->hash);
}

static bool any_equal(struct check *c, const struct hashed *items, size_t count)
{
	for (size_t i = 0; i < count; i++)
		for (size_t j = i + 1; j < count && items[j].hash == items[i].hash; j++)
			if (!check_spend(c, 1 + jdoc_raw(c->doc, items[i].at).len / 16) ||
			    json_values_equal((struct json_value){c->doc, items[i].at}, (struct json_value){c->doc, items[j].at},
			                      c->room))
				return true;
	return false;
}

static bool check_unique(struct check *c, const struct keyword_case *k)
{
	size_t count = jdoc_count(c->doc, k->value), i = 0;
	if (*jdoc_raw(&c->schema->doc, k->given).data != 't' || count < 2)
		return true;
	if (!check_spend(c, jdoc_raw(c->doc, k->value).len / 8))
		return false;
	struct hashed *items = malloc(count * sizeof *items);
	c->no_memory |= !items;
	if (!items)
		return false;
	for (struct jdoc_each e = jdoc_each(c->doc, k->value); jdoc_step(&e); i++)
		items[i] = (struct hashed){json_value_hash((struct json_value){c->doc, e.value}, &c->room[0]), e.value};
	qsort(items, count, sizeof *items, compare_hashes);
	bool repeated = any_equal(c, items, count);
	free(items);
	return !repeated || check_fault(c, k->keyword, k->value, k->given);
}

static bool check_size(struct check *c, const struct keyword_case *k)
{
	uint64_t size = jdoc_count(c->doc, k->value), limit = count_of(c, k->given, 0);
	bool holds = k->keyword == KEYWORD_MAX_ITEMS ? size <= limit : size >= limit;
	return holds || check_fault(c, k->keyword, k->value, k->given);
}

bool check_list(struct check *c, const struct keyword_case *k)
{
	if (jdoc_type_of(c->doc, k->value) != JDOC_LIST)
		return true;
	bool list = jdoc_type_of(&c->schema->doc, k->sub->keyword[KEYWORD_ITEMS]) == JDOC_LIST;
	switch (k->keyword) {
	case KEYWORD_MAX_ITEMS:
	case KEYWORD_MIN_ITEMS:
		return check_size(c, k);
	case KEYWORD_UNIQUE_ITEMS:
		return check_unique(c, k);
	case KEYWORD_PREFIX_ITEMS:
		return check_prefix(c, k);
	case KEYWORD_ITEMS:
		return list ? check_prefix(c, k) : check_rest(c, k, prefix_of(c, k->sub));
	case KEYWORD_ADDITIONAL_ITEMS:
		return !list || check_rest(c, k, prefix_of(c, k->sub));
	case KEYWORD_CONTAINS:
		return check_contains(c, k);
	default: /* KEYWORD_UNEVALUATED_ITEMS */
		return check_rest(c, k, 0);
	}
}
