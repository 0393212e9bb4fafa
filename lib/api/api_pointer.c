#include "api/api_pointer.h"

#include "array.h"

#include <stdlib.h>
#include <string.h>

#define NOT_AN_INDEX UINT32_MAX

struct pointer_segment {
	char *key;
	size_t key_len;
	uint32_t index; /* the key as a list index, or NOT_AN_INDEX */
	bool star;
	char *member; /* `*[member=value]`: match only elements with that value; points into the key; NULL */
	char *value;
	bool unequal; /* `*[member!=value]` */
};

enum pointer_condition { ANY, IS_TEXT, IS_INTEGER, IS_BOOL };

struct api_pointer {
	struct pointer_segment *segments;
	size_t count;
	enum pointer_condition condition;
	char *text;
	int64_t integer;           /* a bool's: 0 or 1 */
	struct api_pointer *where; /* has to match too; NULL */
};

/* ---- parsing ---- */

static uint32_t list_index(const char *key)
{
	uint64_t index = 0;
	if (!*key || (key[0] == '0' && key[1]))
		return NOT_AN_INDEX;
	for (; *key; key++) {
		if (*key < '0' || *key > '9' || index > UINT32_MAX / 16)
			return NOT_AN_INDEX;
		index = index * 10 + (uint64_t)(*key - '0');
	}
	return (uint32_t)index;
}

/* Decodes ~0 and ~1 in place; false for any other tilde. */
static bool unescape(char *key)
{
	char *to = key;
	for (const char *c = key; *c; c++) {
		if (*c == '~') {
			c++;
			if (*c != '0' && *c != '1')
				return false;
			*to++ = *c == '0' ? '~' : '/';
		} else {
			*to++ = *c;
		}
	}
	*to = '\0';
	return true;
}

/* Splits a key of the form `*[member=value]`. */
static void find_filter(struct pointer_segment *s)
{
	size_t len = strlen(s->key);
	char *equals = strchr(s->key, '=');
	if (len < 5 || strncmp(s->key, "*[", 2) != 0 || s->key[len - 1] != ']' || !equals || equals < s->key + 3)
		return;
	s->unequal = equals[-1] == '!';
	s->key[len - 1] = equals[-s->unequal] = '\0';
	s->member = s->key + 2;
	s->value = equals + 1;
	s->star = true;
}

static int add_segment(struct api_pointer *p, const char *text, size_t len, struct ipf_error *err)
{
	if (!array_one_more(p->segments, p->count))
		return ipf_error_memory(err);
	struct pointer_segment *s = &p->segments[p->count];
	*s = (struct pointer_segment){.key = strndup(text, len)};
	if (!s->key)
		return ipf_error_memory(err);
	p->count++;
	s->star = len == 1 && *text == '*';
	if (!unescape(s->key))
		return ipf_error_set(err, IPF_INPUT, "expected ~0 or ~1 after a tilde, got \"%s\"", s->key);
	s->index = list_index(s->key);
	find_filter(s);
	s->key_len = strlen(s->key);
	return 0;
}

static int parse(struct api_pointer *p, const char *text, struct ipf_error *err)
{
	if (*text && *text != '/')
		return ipf_error_set(err, IPF_INPUT, "expected a JSON Pointer such as \"/choices/*/text\", got \"%s\"", text);
	while (*text) {
		size_t len = strcspn(text + 1, "/");
		if (add_segment(p, text + 1, len, err) < 0)
			return -1;
		text += 1 + len;
	}
	return 0;
}

static int parse_condition(struct api_pointer *p, json_t *is, struct ipf_error *err)
{
	if (json_is_string(is)) {
		p->condition = IS_TEXT;
		p->text = strdup(json_string_value(is));
		if (!p->text)
			return ipf_error_memory(err);
	} else if (json_is_integer(is)) {
		p->condition = IS_INTEGER;
		p->integer = json_integer_value(is);
	} else if (json_is_boolean(is)) {
		p->condition = IS_BOOL;
		p->integer = json_is_true(is);
	} else {
		return ipf_error_set(err, IPF_INPUT, "\"is\": expected a string, an integer, true or false");
	}
	return 0;
}

static int parse_value(struct api_pointer *p, json_t *value, struct ipf_error *err)
{
	if (json_is_string(value))
		return parse(p, json_string_value(value), err);
	json_t *at = json_object_get(value, "at"), *is = json_object_get(value, "is"),
		   *where = json_object_get(value, "where");
	if (!json_is_string(at) || (!is && !where) || json_object_size(value) != (size_t)1 + (is ? 1 : 0) + (where ? 1 : 0))
		return ipf_error_set(err, IPF_INPUT,
		                     "expected a JSON Pointer, or {\"at\": POINTER} with \"is\", \"where\" or both");
	if (parse(p, json_string_value(at), err) < 0 || (where && api_pointer_new(&p->where, where, err) < 0))
		return -1;
	return is ? parse_condition(p, is, err) : 0;
}

int api_pointer_new(struct api_pointer **pointer, json_t *value, struct ipf_error *err)
{
	struct api_pointer *p = calloc(1, sizeof *p);
	*pointer = NULL;
	if (!p)
		return ipf_error_memory(err);
	if (parse_value(p, value, err) < 0) {
		api_pointer_free(p);
		return -1;
	}
	*pointer = p;
	return 0;
}

void api_pointer_free(struct api_pointer *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->count; i++)
		free(p->segments[i].key);
	free(p->segments);
	free(p->text);
	api_pointer_free(p->where);
	free(p);
}

bool api_pointer_conditional(const struct api_pointer *p)
{
	return p->condition != ANY;
}

const char *api_pointer_root(const struct api_pointer *p)
{
	return p->count ? p->segments[0].key : NULL;
}

const char *api_pointer_name(const struct api_pointer *p)
{
	return p->count ? p->segments[p->count - 1].key : NULL;
}

/* ---- matching ---- */

static bool condition_holds(const struct api_pointer *p, const struct jdoc *doc, jdoc_id node)
{
	int64_t integer;
	switch (p->condition) {
	case ANY:
		return true;
	case IS_TEXT:
		return jdoc_text_is(doc, node, p->text);
	case IS_INTEGER:
		return jdoc_to_int(doc, node, &integer) && integer == p->integer;
	case IS_BOOL:
		return jdoc_type_of(doc, node) == JDOC_BOOL && slice_is(jdoc_raw(doc, node), p->integer ? "true" : "false");
	}
	return false;
}

/* Compares strings by their text, anything else by its JSON. */
static bool element_matches(const struct pointer_segment *s, const struct jdoc *doc, jdoc_id element)
{
	if (!s->member)
		return true;
	jdoc_id node = jdoc_get(doc, element, s->member);
	bool equal = node != JDOC_NONE && (jdoc_text_is(doc, node, s->value) || slice_is(jdoc_raw(doc, node), s->value));
	return equal != s->unequal;
}

static bool follow(const struct api_pointer *p, size_t at, const struct jdoc *doc, jdoc_id node,
                   bool (*found)(const struct jdoc *doc, jdoc_id node, void *data), void *data)
{
	for (; at < p->count; at++) {
		const struct pointer_segment *s = &p->segments[at];
		enum jdoc_type type = jdoc_type_of(doc, node);
		if (type == JDOC_LIST && s->star) {
			for (struct jdoc_each e = jdoc_each(doc, node); jdoc_step(&e);)
				if (element_matches(s, doc, e.value) && !follow(p, at + 1, doc, e.value, found, data))
					return false;
			return true;
		}
		if (type == JDOC_LIST && s->index != NOT_AN_INDEX)
			node = jdoc_at(doc, node, s->index);
		else if (type == JDOC_MAP)
			node = jdoc_member(doc, node, (struct slice){s->key, s->key_len});
		else
			return true;
		if (node == JDOC_NONE)
			return true;
	}
	return !condition_holds(p, doc, node) || found(doc, node, data);
}

void api_pointer_each(const struct api_pointer *pointer, const struct jdoc *doc, jdoc_id root,
                      bool (*found)(const struct jdoc *doc, jdoc_id node, void *data), void *data)
{
	if (root != JDOC_NONE && (!pointer->where || api_pointer_first(pointer->where, doc, root) != JDOC_NONE))
		follow(pointer, 0, doc, root, found, data);
}

bool api_pointer_depends(const struct api_pointer *pointer, struct slice name)
{
	for (size_t i = 0; i < pointer->count; i++) {
		const struct pointer_segment *s = &pointer->segments[i];
		/* a list or a map is compared by its JSON, which may contain anything */
		if (s->member && (slice_is(name, s->member) || strchr("{[", *s->value)))
			return true;
	}
	return pointer->condition != ANY || (pointer->where && api_pointer_mentions(pointer->where, name));
}

bool api_pointer_mentions(const struct api_pointer *pointer, struct slice name)
{
	for (size_t i = 0; i < pointer->count; i++)
		if (slice_is(name, pointer->segments[i].key))
			return true;
	const struct api_pointer *where = pointer->where;
	for (size_t i = 0; i < pointer->count; i++) {
		const struct pointer_segment *s = &pointer->segments[i];
		if (s->member && (slice_is(name, s->member) || strchr("{[", *s->value)))
			return true;
	}
	return where && api_pointer_mentions(where, name);
}

static bool keep_first(const struct jdoc *doc, jdoc_id node, void *data)
{
	if (jdoc_is_null(doc, node))
		return true;
	*(jdoc_id *)data = node;
	return false;
}

jdoc_id api_pointer_first(const struct api_pointer *pointer, const struct jdoc *doc, jdoc_id root)
{
	jdoc_id first = JDOC_NONE;
	api_pointer_each(pointer, doc, root, keep_first, &first);
	return first;
}

jdoc_id api_pointers_first(const struct api_pointers *pointers, const struct jdoc *doc, jdoc_id root)
{
	jdoc_id node = JDOC_NONE;
	for (size_t i = 0; i < pointers->count && node == JDOC_NONE; i++)
		node = api_pointer_first(pointers->list[i], doc, root);
	return node;
}

void api_pointers_release(struct api_pointers *pointers)
{
	for (size_t i = 0; i < pointers->count; i++)
		api_pointer_free(pointers->list[i]);
	if (pointers->sum)
		api_pointers_release(pointers->sum);
	free(pointers->sum);
	free(pointers->list);
	free(pointers->header);
}
