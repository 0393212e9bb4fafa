/* $ref, $id and $anchor: which place is meant; and how a place is named in an error. */
#include "json_schema/keywords.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int schema_refuse(const struct json_schema *s, jdoc_id at, struct ipf_error *err, const char *format, ...)
{
	struct buffer pointer = {0};
	char text[240];
	va_list list;
	va_start(list, format);
	vsnprintf(text, sizeof text, format, list);
	va_end(list);
	json_pointer(&s->doc, at, 120, &pointer);
	if (pointer.failed)
		ipf_error_memory(err);
	else
		ipf_error_set(err, IPF_INPUT, "%s: %s", pointer.len ? pointer.data : "the schema", text);
	buffer_release(&pointer);
	return -1;
}

/* The length of "scheme://authority"; 0: the URI is not absolute. */
static size_t root_of(struct slice uri)
{
	const char *colon = uri.len ? memchr(uri.data, ':', uri.len) : NULL;
	const char *end = uri.data + uri.len;
	if (!colon || memchr(uri.data, '/', (size_t)(colon - uri.data)))
		return 0;
	if (end - colon < 3 || colon[1] != '/' || colon[2] != '/')
		return (size_t)(colon + 1 - uri.data);
	const char *slash = memchr(colon + 3, '/', (size_t)(end - colon - 3));
	return (size_t)((slash ? slash : end) - uri.data);
}

void schema_resolve_uri(struct slice base, struct slice reference, struct buffer *out)
{
	size_t root = root_of(base), kept = base.len;
	while (reference.len > 2 && memcmp(reference.data, "./", 2) == 0)
		reference = (struct slice){reference.data + 2, reference.len - 2};
	if (!reference.len) {
		buffer_slice(out, base);
		return;
	}
	if (root_of(reference))
		kept = 0;
	else if (*reference.data == '/')
		kept = root;
	else
		while (kept > root && base.data[kept - 1] != '/')
			kept--;
	buffer_slice(out, (struct slice){base.data, kept});
	if (kept && kept == root && *reference.data != '/' && out->data && out->data[out->len - 1] != ':')
		buffer_byte(out, '/');
	buffer_slice(out, reference);
}

static int hex(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : -1;
}

static void percent_decode(struct slice text, struct buffer *out)
{
	for (size_t i = 0; i < text.len; i++) {
		int high = text.data[i] == '%' && i + 2 < text.len ? hex(text.data[i + 1]) : -1;
		int low = high >= 0 ? hex(text.data[i + 2]) : -1;
		if (low >= 0) {
			buffer_byte(out, (char)(high * 16 + low));
			i += 2;
		} else {
			buffer_byte(out, text.data[i]);
		}
	}
}

static uint32_t find(const struct schema_name *names, uint32_t count, uint32_t resource, struct slice text)
{
	for (uint32_t i = 0; i < count; i++)
		if (names[i].resource == resource && slice_equal(buffer_all(&names[i].text), text))
			return i;
	return SCHEMA_NONE;
}

static uint32_t find_resource(const struct json_schema *s, struct slice uri)
{
	for (uint32_t i = 0; i < s->resources_count; i++)
		if (s->resources[i].text.len == uri.len &&
		    (!uri.len || memcmp(s->resources[i].text.data, uri.data, uri.len) == 0))
			return i;
	return SCHEMA_NONE;
}

static jdoc_id find_fragment(const struct json_schema *s, uint32_t resource, struct slice fragment)
{
	if (!fragment.len || *fragment.data == '/')
		return json_pointed(&s->doc, s->resources[resource].at, fragment);
	uint32_t anchor = find(s->anchors, s->anchors_count, resource, fragment);
	return anchor == SCHEMA_NONE ? JDOC_NONE : s->anchors[anchor].at;
}

int schema_resolve(struct json_schema *s, const struct subschema *from, jdoc_id *to, struct ipf_error *err)
{
	jdoc_id at = from->keyword[KEYWORD_REF];
	struct buffer ref = {0}, uri = {0}, fragment = {0};
	jdoc_text(&s->doc, at, &ref);
	const char *hash = ref.len ? memchr(ref.data, '#', ref.len) : NULL;
	size_t base = hash ? (size_t)(hash - ref.data) : ref.len;
	schema_resolve_uri(buffer_all(&s->resources[from->resource].text), (struct slice){ref.data, base}, &uri);
	if (hash)
		percent_decode((struct slice){hash + 1, ref.len - base - 1}, &fragment);
	uint32_t resource = base ? find_resource(s, buffer_all(&uri)) : from->resource;
	*to = resource == SCHEMA_NONE ? JDOC_NONE : find_fragment(s, resource, buffer_all(&fragment));
	int status = 0;
	if (ref.failed || uri.failed || fragment.failed)
		status = ipf_error_memory(err);
	else if (resource == SCHEMA_NONE)
		status = schema_refuse(s, at, err, "expected a place in this schema (nothing is fetched), got \"%.*s\"",
		                       (int)(ref.len < 100 ? ref.len : 100), ref.data);
	else if (*to == JDOC_NONE)
		status = schema_refuse(s, at, err, "\"%.*s\" is not in the schema", (int)(ref.len < 100 ? ref.len : 100),
		                       ref.data ? ref.data : "");
	buffer_release(&ref);
	buffer_release(&uri);
	buffer_release(&fragment);
	return status;
}
