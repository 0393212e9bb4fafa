#include "requests/request_copies.h"

int request_copier_name(struct request_copier *c, struct trace_request *q, struct ipf_error *err)
{
	struct slice *const names[] = {&q->id, &q->session};
	size_t ends[2] = {0};

	if (!c->copy)
		return 0;
	buffer_clear(&c->names);
	for (size_t i = 0; i < 2; i++) {
		if (names[i]->data) {
			buffer_append(&c->names, names[i]->data, names[i]->len - 1);
			buffer_format(&c->names, "-copy%02lld\"", (long long)c->copy);
		}
		ends[i] = c->names.len;
	}
	if (c->names.failed)
		return ipf_error_memory(err);
	for (size_t i = 0, begin = 0; i < 2; begin = ends[i++])
		if (names[i]->data)
			*names[i] = (struct slice){c->names.data + begin, ends[i] - begin};
	return 0;
}

/* The first text of a non-empty message. */
static jdoc_id first_text(const struct jdoc *doc, jdoc_id message)
{
	jdoc_id content = jdoc_get(doc, message, "content");

	if (content == JDOC_NONE || jdoc_type_of(doc, content) != JDOC_LIST)
		return jdoc_text_empty(doc, content) ? JDOC_NONE : content;
	for (struct jdoc_each part = jdoc_each(doc, content); jdoc_step(&part);) {
		jdoc_id text = jdoc_get(doc, part.value, "text");
		if (!jdoc_text_empty(doc, text))
			return text;
	}
	return JDOC_NONE;
}

/* Where the first text of the messages begins, after its quote; NULL: there is none. -1: not JSON. */
static int find_text(struct request_copier *c, struct slice messages, const char **at, struct ipf_error *err)
{
	jdoc_id text = JDOC_NONE;

	if (jdoc_parse(&c->doc, messages.data, messages.len, err) < 0)
		return -1;
	for (struct jdoc_each e = jdoc_each(&c->doc, JDOC_ROOT); text == JDOC_NONE && jdoc_step(&e);)
		text = first_text(&c->doc, e.value);
	*at = text == JDOC_NONE ? NULL : jdoc_raw(&c->doc, text).data + 1;
	return 0;
}

bool request_copier_can(const struct trace_request *q)
{
	return !q->prompt_token_ids.data && (!q->inputs.data || trace_inputs_are_texts(q));
}

/* Each input is a prompt of its own. */
static int mark_inputs(struct request_copier *c, struct trace_request *q, struct ipf_error *err)
{
	const char *from = q->inputs.data, *end = from + q->inputs.len;

	if (jdoc_parse(&c->doc, q->inputs.data, q->inputs.len, err) < 0)
		return -1;
	buffer_clear(&c->prompt);
	for (struct jdoc_each e = jdoc_each(&c->doc, JDOC_ROOT); jdoc_step(&e);) {
		const char *at = jdoc_raw(&c->doc, e.value).data + 1;
		buffer_append(&c->prompt, from, (size_t)(at - from));
		buffer_format(&c->prompt, "%02lld ", (long long)c->copy);
		from = at;
	}
	buffer_append(&c->prompt, from, (size_t)(end - from));
	if (c->prompt.failed)
		return ipf_error_memory(err);
	q->inputs = buffer_all(&c->prompt);
	return 0;
}

int request_copier_mark(struct request_copier *c, struct trace_request *q, struct ipf_error *err)
{
	if (c->copy && q->inputs.data)
		return request_copier_can(q) ? mark_inputs(c, q, err) : 0;
	struct slice *whole = q->messages.data ? &q->messages : &q->prompt;
	const char *at = whole->data ? whole->data + 1 : NULL;

	if (!c->copy || !at)
		return 0;
	if (whole == &q->messages && find_text(c, *whole, &at, err) < 0)
		return -1;
	if (!at)
		return 0;
	buffer_clear(&c->prompt);
	buffer_append(&c->prompt, whole->data, (size_t)(at - whole->data));
	buffer_format(&c->prompt, "%02lld ", (long long)c->copy);
	buffer_append(&c->prompt, at, whole->len - (size_t)(at - whole->data));
	if (c->prompt.failed)
		return ipf_error_memory(err);
	*whole = buffer_all(&c->prompt);
	return 0;
}

void request_copier_release(struct request_copier *c)
{
	buffer_release(&c->names);
	buffer_release(&c->prompt);
	jdoc_release(&c->doc);
}
