#include "shape/request_class.h"

#include "json/jout.h"

struct slice request_class_tags(struct slice tags, const char *name, struct jdoc *doc, struct buffer *out)
{
	struct ipf_error ignored = {0};
	struct jout w = {.out = out};
	buffer_clear(out);
	if (tags.data && jdoc_parse(doc, tags.data, tags.len, &ignored) < 0)
		return (struct slice){0};
	bool list = tags.data && jdoc_type_of(doc, JDOC_ROOT) == JDOC_LIST;
	buffer_text(out, list ? "[" : "{\"class\":");
	jout_string(&w, slice_of(name));
	if (tags.data)
		for (struct jdoc_each e = jdoc_each(doc, JDOC_ROOT); jdoc_step(&e);) {
			if (!list && jdoc_text_is(doc, e.key, "class"))
				continue;
			buffer_byte(out, ',');
			if (!list) {
				buffer_slice(out, jdoc_raw(doc, e.key));
				buffer_byte(out, ':');
			}
			buffer_slice(out, jdoc_raw(doc, e.value));
		}
	buffer_byte(out, list ? ']' : '}');
	return out->failed ? (struct slice){0} : buffer_all(out);
}

struct slice request_class_of(struct slice tags, struct jdoc *doc, struct buffer *name)
{
	struct ipf_error ignored = {0};
	if (!tags.data || jdoc_parse(doc, tags.data, tags.len, &ignored) < 0)
		return (struct slice){0};
	jdoc_id class = jdoc_get(doc, JDOC_ROOT, "class");
	if (jdoc_type_of(doc, class) != JDOC_TEXT)
		return (struct slice){0};
	buffer_clear(name);
	jdoc_text(doc, class, name);
	return buffer_all(name);
}

/* The members of the class, then those of the body it does not replace. */
static struct slice joined_body(struct slice class, struct slice own, struct jdoc *doc, struct buffer *out)
{
	struct ipf_error ignored = {0};
	struct jdoc of_class = {0};
	buffer_clear(out);
	buffer_append(out, class.data, class.len - 1);
	if (jdoc_parse(doc, own.data, own.len, &ignored) == 0 &&
	    jdoc_parse(&of_class, class.data, class.len, &ignored) == 0)
		for (struct jdoc_each e = jdoc_each(doc, JDOC_ROOT); jdoc_step(&e);) {
			struct slice key = jdoc_raw(doc, e.key);
			bool replaced = false;
			for (struct jdoc_each c = jdoc_each(&of_class, JDOC_ROOT); jdoc_step(&c);)
				replaced |= slice_equal(jdoc_raw(&of_class, c.key), key);
			if (replaced)
				continue;
			buffer_byte(out, ',');
			buffer_slice(out, key);
			buffer_byte(out, ':');
			buffer_slice(out, jdoc_raw(doc, e.value));
		}
	buffer_byte(out, '}');
	jdoc_release(&of_class);
	return buffer_all(out);
}

void request_class_apply(const struct class_parts *parts, struct slice class, struct jdoc *doc, struct buffer *out,
                         struct trace_request *q)
{
	const struct class_part *part = class.data ? class_parts_find(parts, class) : NULL;
	if (part && part->headers.len)
		q->headers = buffer_all(&part->headers);
	if (part && part->body.len)
		q->body = q->body.data ? joined_body(buffer_all(&part->body), q->body, doc, out) : buffer_all(&part->body);
}
