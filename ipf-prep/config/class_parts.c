#include "config/class_parts.h"

#include "json/jout.h"
#include "safe_text.h"
#include "stream/own_parts.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

const struct class_part *class_parts_find(const struct class_parts *parts, struct slice name)
{
	for (size_t i = 0; i < parts->count; i++)
		if (slice_is(name, parts->items[i].name))
			return &parts->items[i];
	return NULL;
}

/* The part of the class the text begins with; *rest is the text after its colon. NULL: err says why. */
static struct class_part *part_of(struct class_parts *parts, const char *text, const char **rest, struct ipf_error *err)
{
	const char *colon = strchr(text, ':');
	struct slice name = {text, colon ? (size_t)(colon - text) : 0};
	if (!name.len || !safe_text_is_safe(name)) {
		ipf_error_set(err, IPF_USAGE, "expected CLASS:…, got \"%s\"", shown(text).text);
		return NULL;
	}
	*rest = colon + 1;
	const struct class_part *found = class_parts_find(parts, name);
	if (found)
		return &parts->items[found - parts->items];
	if (parts->count == CLASS_PARTS_MOST) {
		ipf_error_set(err, IPF_USAGE, "at most %d classes", CLASS_PARTS_MOST);
		return NULL;
	}
	struct class_part *part = &parts->items[parts->count];
	if (!(part->name = slice_dup(name))) {
		ipf_error_memory(err);
		return NULL;
	}
	parts->count++;
	return part;
}

/* Adds a member to a map, which is then checked as a trace's. */
static int add_member(struct buffer *map, struct slice key, struct slice value,
                      int (*check)(const struct jdoc *doc, jdoc_id node, struct ipf_error *err), struct ipf_error *err)
{
	struct jdoc doc = {0};
	struct ipf_error why = {0};
	struct buffer name = {0};
	struct jout w = {.out = &name};
	jout_string(&w, key);
	if (map->len)
		map->len--; /* its brace */
	buffer_byte(map, map->len ? ',' : '{');
	buffer_slice(map, buffer_all(&name));
	buffer_byte(map, ':');
	buffer_slice(map, value);
	buffer_byte(map, '}');
	int result = map->failed || name.failed ? ipf_error_memory(err) : 0;
	if (result == 0 && (jdoc_parse(&doc, map->data, map->len, &why) < 0 || check(&doc, JDOC_ROOT, &why) < 0))
		result = ipf_error_set(err, IPF_USAGE, "%s", why.text);
	buffer_release(&name);
	jdoc_release(&doc);
	return result;
}

int class_parts_add_header(struct class_parts *parts, const char *text, struct ipf_error *err)
{
	const char *header, *colon;
	struct class_part *part = part_of(parts, text, &header, err);
	struct buffer value = {0};
	struct jout w = {.out = &value};
	if (!part)
		return -1;
	if (!(colon = strchr(header, ':')))
		return ipf_error_set(err, IPF_USAGE, "expected CLASS:NAME: VALUE, got \"%s\"", shown(text).text);
	jout_string(&w, slice_of(colon + 1 + strspn(colon + 1, " \t")));
	int result = add_member(&part->headers, (struct slice){header, (size_t)(colon - header)}, buffer_all(&value),
	                        own_headers_check, err);
	buffer_release(&value);
	return result;
}

int class_parts_add_body(struct class_parts *parts, const char *text, struct ipf_error *err)
{
	const char *member, *equals;
	struct class_part *part = part_of(parts, text, &member, err);
	if (!part)
		return -1;
	if (!(equals = strchr(member, '=')))
		return ipf_error_set(err, IPF_USAGE, "expected CLASS:KEY=JSON, got \"%s\"", shown(text).text);
	json_t *value = json_loads(equals + 1, JSON_DECODE_ANY, NULL);
	char *compact = value ? json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT) : NULL;
	int result = compact ? add_member(&part->body, (struct slice){member, (size_t)(equals - member)}, slice_of(compact),
	                                  own_body_check, err)
	             : value
	                 ? ipf_error_memory(err)
	                 : ipf_error_set(err, IPF_USAGE, "expected JSON after \"=\" (strings in double quotes), got \"%s\"",
	                                 shown(text).text);
	free(compact);
	json_decref(value);
	return result;
}

int class_parts_check(const struct class_parts *parts, const struct share_list *classes, struct ipf_error *err)
{
	for (size_t i = 0; classes->count && i < parts->count; i++) {
		size_t k = 0;
		while (k < classes->count && strcmp(classes->items[k].name, parts->items[i].name) != 0)
			k++;
		if (k == classes->count)
			return ipf_error_set(err, IPF_USAGE, "--class-header, --class-body: class \"%s\" is not among --classes",
			                     shown(parts->items[i].name).text);
	}
	return 0;
}

void class_parts_release(struct class_parts *parts)
{
	for (size_t i = 0; i < parts->count; i++) {
		free(parts->items[i].name);
		buffer_release(&parts->items[i].headers);
		buffer_release(&parts->items[i].body);
	}
	parts->count = 0;
}
