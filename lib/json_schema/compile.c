/* From the text of a schema to its table of subschemas. */
#include "json_schema/decimal.h"
#include "json_schema/keywords.h"

#include <stdlib.h>

#define SUBSCHEMAS_MAX 50000
#define NAMES_MAX      10000
#define PATTERNS_MAX   2000

const char *const keyword_names[KEYWORDS] = {
#define X(keyword_, name_, form_) name_,
	SCHEMA_KEYWORDS(X)
#undef X
};
static const uint8_t forms[KEYWORDS] = {
#define X(keyword_, name_, form_) form_,
	SCHEMA_KEYWORDS(X)
#undef X
};

static int add_schema(struct json_schema *s, jdoc_id at, uint32_t resource, struct ipf_error *err);

static int expected(const struct json_schema *s, jdoc_id at, const char *what, struct ipf_error *err)
{
	struct slice raw = jdoc_raw(&s->doc, at);
	return schema_refuse(s, at, err, "expected %s, got %.*s%s", what, (int)(raw.len < 60 ? raw.len : 60), raw.data,
	                     raw.len > 60 ? "…" : "");
}

/* ---- names and patterns ---- */

/* Makes room for one more element, whose place it returns, zeroed. The room grows by powers of two. */
static void *add_element(void **list, uint32_t *count, size_t size)
{
	if ((*count & (*count - 1)) == 0) {
		void *larger = realloc(*list, (*count ? 2 * (size_t)*count : 1) * size);
		if (!larger)
			return NULL;
		*list = larger;
	}
	void *element = (char *)*list + *count * size;
	memset(element, 0, size);
	++*count;
	return element;
}

static int add_name(struct schema_name **names, uint32_t *count, struct slice text, uint32_t resource, jdoc_id at)
{
	void *list = *names;
	struct schema_name *name = *count < NAMES_MAX ? add_element(&list, count, sizeof *name) : NULL;
	*names = list;
	if (!name)
		return -1;
	buffer_slice(&name->text, text);
	name->resource = resource;
	name->at = at;
	return name->text.failed ? -1 : 0;
}

static int add_pattern(struct json_schema *s, jdoc_id at, struct ipf_error *err)
{
	struct ipf_error why = {0};
	void *list = s->patterns;
	if (s->patterns_count == PATTERNS_MAX)
		return schema_refuse(s, at, err, "expected at most %d regular expressions in a schema", PATTERNS_MAX);
	struct schema_pattern *p = add_element(&list, &s->patterns_count, sizeof *p);
	s->patterns = list;
	if (!p)
		return ipf_error_memory(err);
	p->at = at;
	p->pattern = pattern_new(json_characters((struct json_value){&s->doc, at}, &s->room[0]), &why);
	if (p->pattern)
		return 0;
	return why.kind == IPF_SYSTEM ? ipf_error_memory(err) : schema_refuse(s, at, err, "%s", why.text);
}

static int compare_patterns(const void *a, const void *b)
{
	const struct schema_pattern *x = a, *y = b;
	return (x->at > y->at) - (x->at < y->at);
}

const struct pattern *schema_pattern_at(const struct json_schema *s, jdoc_id at)
{
	const struct schema_pattern key = {.at = at},
								*found = bsearch(&key, s->patterns, s->patterns_count, sizeof key, compare_patterns);
	return found ? found->pattern : NULL;
}

/* A schema with "$id" is a resource of its own, in which pointers and anchors begin anew; "#name" is an anchor in
 * draft 7. */
static int add_id(struct json_schema *s, const struct subschema *sub, uint32_t *resource, struct ipf_error *err)
{
	jdoc_id id = sub->keyword[KEYWORD_ID], anchor = sub->keyword[KEYWORD_ANCHOR];
	struct slice text = {0};
	struct buffer uri = {0};
	int status = 0;
	if (id != JDOC_NONE && !(s->ref_alone && sub->keyword[KEYWORD_REF] != JDOC_NONE)) {
		text = json_characters((struct json_value){&s->doc, id}, &s->room[0]);
		if (text.len && text.data[text.len - 1] == '#')
			text.len--;
		if (text.len && *text.data == '#') {
			status = add_name(&s->anchors, &s->anchors_count, (struct slice){text.data + 1, text.len - 1}, *resource,
			                  sub->at);
		} else if (text.len) {
			schema_resolve_uri(buffer_all(&s->resources[*resource].text), text, &uri);
			status = add_name(&s->resources, &s->resources_count, buffer_all(&uri), 0, sub->at);
			*resource = s->resources_count - 1;
		}
	}
	if (status == 0 && anchor != JDOC_NONE)
		status = add_name(&s->anchors, &s->anchors_count,
		                  json_characters((struct json_value){&s->doc, anchor}, &s->room[0]), *resource, sub->at);
	bool failed = status < 0 || uri.failed;
	buffer_release(&uri);
	return failed ? schema_refuse(s, sub->at, err, "too many names, or out of memory") : 0;
}

/* ---- forms ---- */

static bool is_text_list(const struct json_schema *s, jdoc_id at)
{
	if (jdoc_type_of(&s->doc, at) != JDOC_LIST)
		return false;
	for (struct jdoc_each e = jdoc_each(&s->doc, at); jdoc_step(&e);)
		if (jdoc_type_of(&s->doc, e.value) != JDOC_TEXT)
			return false;
	return true;
}

static bool is_type_name(const struct json_schema *s, jdoc_id at)
{
	static const char *const names[] = {"null", "boolean", "object", "array", "number", "integer", "string"};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (jdoc_text_is(&s->doc, at, names[i]))
			return true;
	return false;
}

static bool is_type(const struct json_schema *s, jdoc_id at)
{
	if (jdoc_type_of(&s->doc, at) != JDOC_LIST)
		return is_type_name(s, at);
	for (struct jdoc_each e = jdoc_each(&s->doc, at); jdoc_step(&e);)
		if (!is_type_name(s, e.value))
			return false;
	return true;
}

static int check_number(const struct json_schema *s, jdoc_id at, enum keyword_form form, struct ipf_error *err)
{
	struct decimal d = {0};
	if (jdoc_type_of(&s->doc, at) != JDOC_NUMBER)
		return expected(s, at, form == FORM_COUNT ? "an integer of 0 or more" : "a number", err);
	d = decimal_of(jdoc_raw(&s->doc, at));
	if (form == FORM_COUNT && (!decimal_is_integer(&d) || d.negative))
		return expected(s, at, "an integer of 0 or more", err);
	if (form == FORM_DIVISOR && (!d.count || d.negative || d.count > DECIMAL_DIVISOR_DIGITS))
		return expected(s, at, "a number above 0 of at most 18 digits", err);
	return 0;
}

/* Each value in a list or an object is a schema. */
static int add_schemas(struct json_schema *s, jdoc_id at, uint32_t resource, bool texts_too, struct ipf_error *err)
{
	for (struct jdoc_each e = jdoc_each(&s->doc, at); jdoc_step(&e);) {
		if (texts_too && is_text_list(s, e.value))
			continue;
		if (add_schema(s, e.value, resource, err) < 0)
			return -1;
	}
	return 0;
}

static int add_pattern_keys(struct json_schema *s, jdoc_id at, struct ipf_error *err)
{
	for (struct jdoc_each e = jdoc_each(&s->doc, at); jdoc_step(&e);)
		if (add_pattern(s, e.key, err) < 0)
			return -1;
	return 0;
}

/* Values of the forms with schemas in them. */
static int add_inner(struct json_schema *s, jdoc_id at, enum keyword_form form, uint32_t resource,
                     struct ipf_error *err)
{
	enum jdoc_type type = jdoc_type_of(&s->doc, at);
	if (form == FORM_SCHEMA || (form == FORM_ITEMS && type != JDOC_LIST))
		return add_schema(s, at, resource, err);
	if (form == FORM_SCHEMAS && (type != JDOC_LIST || !jdoc_count(&s->doc, at)))
		return expected(s, at, "a list of schemas", err);
	if ((form == FORM_SCHEMA_MAP || form == FORM_PATTERN_MAP || form == FORM_DEPENDENCIES) && type != JDOC_MAP)
		return expected(s, at, "an object of schemas", err);
	if (form == FORM_PATTERN_MAP && add_pattern_keys(s, at, err) < 0)
		return -1;
	return add_schemas(s, at, resource, form == FORM_DEPENDENCIES, err);
}

static int check_text_lists(struct json_schema *s, jdoc_id at, struct ipf_error *err)
{
	if (jdoc_type_of(&s->doc, at) != JDOC_MAP)
		return expected(s, at, "an object of lists of names", err);
	for (struct jdoc_each e = jdoc_each(&s->doc, at); jdoc_step(&e);)
		if (!is_text_list(s, e.value))
			return expected(s, e.value, "a list of names", err);
	return 0;
}

static int add_keyword(struct json_schema *s, jdoc_id at, enum keyword_form form, uint32_t resource,
                       struct ipf_error *err)
{
	enum jdoc_type type = jdoc_type_of(&s->doc, at);
	switch (form) {
	case FORM_ANY:
		return 0;
	case FORM_REFUSED:
		return schema_refuse(s, at, err, "this keyword is not supported");
	case FORM_SCHEMA:
	case FORM_SCHEMAS:
	case FORM_SCHEMA_MAP:
	case FORM_PATTERN_MAP:
	case FORM_ITEMS:
	case FORM_DEPENDENCIES:
		return add_inner(s, at, form, resource, err);
	case FORM_TEXT_LIST_MAP:
		return check_text_lists(s, at, err);
	case FORM_TEXT_LIST:
		return is_text_list(s, at) ? 0 : expected(s, at, "a list of names", err);
	case FORM_LIST:
		return type == JDOC_LIST ? 0 : expected(s, at, "a list", err);
	case FORM_TEXT:
		return type == JDOC_TEXT ? 0 : expected(s, at, "a string", err);
	case FORM_PATTERN:
		return type == JDOC_TEXT ? add_pattern(s, at, err) : expected(s, at, "a string", err);
	case FORM_TYPE:
		return is_type(s, at) ? 0 : expected(s, at, "the name of a type", err);
	case FORM_COUNT:
	case FORM_NUMBER:
	case FORM_DIVISOR:
		return check_number(s, at, form, err);
	case FORM_BOOL:
		return type == JDOC_BOOL ? 0 : expected(s, at, "true or false", err);
	}
	return 0;
}

/* ---- schemas ---- */

static enum keyword find_keyword(struct json_schema *s, jdoc_id key)
{
	struct slice name = json_characters((struct json_value){&s->doc, key}, &s->room[0]);
	int k = 0;
	while (k < KEYWORDS && !slice_is(name, keyword_names[k]))
		k++;
	return (enum keyword)k;
}

static struct subschema *add_sub(struct json_schema *s, jdoc_id at, uint32_t resource, struct ipf_error *err)
{
	if (s->subs_count == SUBSCHEMAS_MAX) {
		schema_refuse(s, at, err, "expected at most %d schemas in a schema", SUBSCHEMAS_MAX);
		return NULL;
	}
	void *list = s->subs;
	struct subschema *sub = add_element(&list, &s->subs_count, sizeof *sub);
	s->subs = list;
	if (!sub) {
		ipf_error_memory(err);
		return NULL;
	}
	*sub = (struct subschema){.at = at, .resource = resource, .ref = JDOC_NONE};
	for (int k = 0; k < KEYWORDS; k++)
		sub->keyword[k] = JDOC_NONE;
	s->sub_of[at] = s->subs_count - 1;
	return sub;
}

static int add_schema(struct json_schema *s, jdoc_id at, uint32_t resource, struct ipf_error *err)
{
	enum jdoc_type type = jdoc_type_of(&s->doc, at);
	if (type != JDOC_MAP && type != JDOC_BOOL)
		return expected(s, at, "a schema (an object, true or false)", err);
	if (type == JDOC_BOOL || s->sub_of[at] != SCHEMA_NONE)
		return 0;
	struct subschema *sub = add_sub(s, at, resource, err);
	if (!sub)
		return -1;
	uint32_t index = s->subs_count - 1;
	for (struct jdoc_each e = jdoc_each(&s->doc, at); jdoc_step(&e);) {
		enum keyword k = find_keyword(s, e.key);
		if (k < KEYWORDS && sub->keyword[k] == JDOC_NONE)
			sub->keyword[k] = e.value;
	}
	if (s->ref_alone && sub->keyword[KEYWORD_REF] != JDOC_NONE)
		for (int k = 0; k < KEYWORDS; k++)
			if (k != KEYWORD_REF && k != KEYWORD_DEFINITIONS && k != KEYWORD_DEFS)
				sub->keyword[k] = JDOC_NONE;
	const jdoc_id names[] = {sub->keyword[KEYWORD_ID], sub->keyword[KEYWORD_ANCHOR]};
	for (size_t i = 0; i < 2; i++)
		if (names[i] != JDOC_NONE && jdoc_type_of(&s->doc, names[i]) != JDOC_TEXT)
			return expected(s, names[i], "a string", err);
	if (add_id(s, sub, &resource, err) < 0)
		return -1;
	sub->resource = resource;
	s->tracks |= sub->keyword[KEYWORD_UNEVALUATED_ITEMS] != JDOC_NONE ||
	             sub->keyword[KEYWORD_UNEVALUATED_PROPERTIES] != JDOC_NONE;
	for (int k = 0; k < KEYWORDS; k++) {
		jdoc_id value = s->subs[index].keyword[k];
		if (value != JDOC_NONE && add_keyword(s, value, (enum keyword_form)forms[k], resource, err) < 0)
			return -1;
	}
	return 0;
}

/* A place to which a $ref refers is a schema, also where no keyword says so; it may have more of them. */
static int resolve_all(struct json_schema *s, struct ipf_error *err)
{
	for (uint32_t i = 0; i < s->subs_count; i++) {
		jdoc_id to;
		if (s->subs[i].keyword[KEYWORD_REF] == JDOC_NONE)
			continue;
		if (schema_resolve(s, &s->subs[i], &to, err) < 0 || add_schema(s, to, s->subs[i].resource, err) < 0)
			return -1;
		s->subs[i].ref = to;
	}
	return 0;
}

static bool contains(struct slice text, const char *part)
{
	return text.data && memmem(text.data, text.len, part, strlen(part)) != NULL;
}

/* Another "$schema" could give keywords another meaning. */
static int find_dialect(struct json_schema *s, struct ipf_error *err)
{
	static const char *const older[] = {"draft-04", "draft-05", "draft-06", "draft-07"};
	jdoc_id at = jdoc_get(&s->doc, JDOC_ROOT, "$schema");
	struct slice raw = jdoc_raw(&s->doc, at);
	if (raw.data && !contains(raw, "//json-schema.org/"))
		return expected(s, at, "a draft of json-schema.org", err);
	for (size_t i = 0; i < sizeof older / sizeof *older; i++)
		s->ref_alone |= contains(raw, older[i]);
	return 0;
}

static int compile(struct json_schema *s, struct slice text, struct ipf_error *err)
{
	if (text.len > JSON_SCHEMA_BYTES_MAX)
		return ipf_error_set(err, IPF_INPUT, "expected a schema of at most %d bytes, got %zu", JSON_SCHEMA_BYTES_MAX,
		                     text.len);
	buffer_slice(&s->text, text.data ? text : slice_of(""));
	if (s->text.failed)
		return ipf_error_memory(err);
	if (jdoc_parse(&s->doc, s->text.data, s->text.len, err) < 0)
		return -1;
	s->sub_of = malloc(s->doc.count * sizeof *s->sub_of);
	if (!s->sub_of)
		return ipf_error_memory(err);
	for (uint32_t i = 0; i < s->doc.count; i++)
		s->sub_of[i] = SCHEMA_NONE;
	if (add_name(&s->resources, &s->resources_count, slice_of(""), 0, JDOC_ROOT) < 0)
		return ipf_error_memory(err);
	if (find_dialect(s, err) < 0 || add_schema(s, JDOC_ROOT, 0, err) < 0 || resolve_all(s, err) < 0)
		return -1;
	if (s->patterns_count)
		qsort(s->patterns, s->patterns_count, sizeof *s->patterns, compare_patterns);
	return s->room[0].failed ? ipf_error_memory(err) : 0;
}

int json_schema_new(struct json_schema **schema, struct slice text, struct ipf_error *err)
{
	struct json_schema *s = calloc(1, sizeof *s);
	*schema = NULL;
	if (!s)
		return ipf_error_memory(err);
	if (compile(s, text, err) < 0) {
		json_schema_free(s);
		return -1;
	}
	*schema = s;
	return 0;
}

static void free_names(struct schema_name *names, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		buffer_release(&names[i].text);
	free(names);
}

void json_schema_free(struct json_schema *s)
{
	if (!s)
		return;
	for (uint32_t i = 0; i < s->patterns_count; i++)
		pattern_free(s->patterns[i].pattern);
	free(s->patterns);
	free_names(s->resources, s->resources_count);
	free_names(s->anchors, s->anchors_count);
	free(s->subs);
	free(s->sub_of);
	jdoc_release(&s->doc);
	buffer_release(&s->text);
	buffer_release(&s->room[0]);
	buffer_release(&s->room[1]);
	free(s);
}
