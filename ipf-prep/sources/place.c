#include "sources/place.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Most places are looked for in vain: by these bits without comparing names. */
static uint64_t bit_of(const char *name, size_t len)
{
	return UINT64_C(1) << ((len * 7 + (len ? (unsigned char)*name : 0)) & 63);
}

uint64_t place_bits(const struct jdoc *j, jdoc_id map)
{
	uint64_t bits = 0;
	if (jdoc_type_of(j, map) != JDOC_MAP)
		return UINT64_MAX;
	/* Read without the functions of jdoc.h, which would mark the members as used. */
	for (jdoc_id at = map + 1; at < j->nodes[map].next; at = j->nodes[at + 1].next) {
		const struct jdoc_node *key = &j->nodes[at];
		if (key->escaped)
			return UINT64_MAX;
		bits |= bit_of(j->text + key->begin + 1, key->end - key->begin - 2);
	}
	return bits;
}

/* Unescapes the reference tokens of a pointer, which begins with a slash. */
static int parse_pointer(struct place *p, const char *pointer, struct ipf_error *err)
{
	char *to = p->steps;
	for (const char *at = pointer; *at; at++) {
		if (*at == '/') {
			if (p->count++)
				*to++ = '\0';
		} else if (*at == '~') {
			at++;
			if (*at != '0' && *at != '1')
				return ipf_error_set(err, IPF_USAGE, "\"~\" is written \"~0\" in a JSON Pointer, got \"%s\"", pointer);
			*to++ = *at == '0' ? '~' : '/';
		} else {
			*to++ = *at;
		}
	}
	return 0;
}

int place_parse(struct place *p, const char *text, struct ipf_error *err)
{
	bool outer = text[0] == '^' && text[1] == '/';
	text += outer;
	*p = (struct place){.shown = strdup(text), .steps = calloc(1, strlen(text) + 1), .outer = outer};
	if (!p->shown || !p->steps)
		return ipf_error_memory(err);
	if (*text == '/') {
		if (parse_pointer(p, text, err) < 0)
			return -1;
	} else if (*text) {
		strcpy(p->steps, text);
		p->count = 1;
	}
	p->first = p->count ? bit_of(p->steps, strlen(p->steps)) : 0;
	return 0;
}

void place_release(struct place *p)
{
	free(p->shown);
	free(p->steps);
	*p = (struct place){0};
}

/* The first element whose member has this text: `step` is member=value. */
static jdoc_id select_element(const struct jdoc *j, jdoc_id list, const char *step, size_t name)
{
	for (struct jdoc_each e = jdoc_each(j, list); jdoc_step(&e);)
		for (struct jdoc_each m = jdoc_each(j, jdoc_type_of(j, e.value) == JDOC_MAP ? e.value : JDOC_NONE);
		     jdoc_step(&m);) {
			struct slice raw = jdoc_raw(j, m.key);
			if (raw.len == name + 2 && memcmp(raw.data + 1, step, name) == 0 &&
			    jdoc_text_is(j, m.value, step + name + 1))
				return e.value;
		}
	return JDOC_NONE;
}

static jdoc_id follow(const struct jdoc *j, jdoc_id at, const char *step)
{
	size_t name = strcspn(step, "=");
	if (jdoc_type_of(j, at) != JDOC_LIST)
		return jdoc_get(j, at, step);
	if (step[name] == '=')
		return select_element(j, at, step, name);
	char *end;
	errno = 0;
	unsigned long index = strtoul(step, &end, 10);
	return *step < '0' || *step > '9' || *end || errno || index >= UINT32_MAX ? JDOC_NONE
	                                                                          : jdoc_at(j, at, (uint32_t)index);
}

jdoc_id place_find(const struct place *p, const struct jdoc *j, jdoc_id from)
{
	const char *step = p->steps;
	for (size_t i = 0; i < p->count && from != JDOC_NONE; i++, step += strlen(step) + 1)
		from = follow(j, from, step);
	return from;
}

static int each_from(struct place_walk *w, jdoc_id at, const char *step, size_t left)
{
	for (; left > 0 && at != JDOC_NONE && strcmp(step, "*") != 0; left--, step += strlen(step) + 1)
		at = follow(w->j, at, step);
	if (jdoc_is_null(w->j, at))
		return 0;
	w->exists = true;
	if (left == 0)
		return w->found(at, w->data);
	if (jdoc_type_of(w->j, at) != JDOC_LIST)
		return jdoc_expected(w->j, at, w->place->shown, "a list", w->err);
	int got = 0;
	for (struct jdoc_each e = jdoc_each(w->j, at); got == 0 && jdoc_step(&e);)
		got = each_from(w, e.value, step + 2, left - 1);
	return got;
}

int place_each(struct place_walk *walk, jdoc_id from)
{
	return each_from(walk, from, walk->place->steps, walk->place->count);
}
