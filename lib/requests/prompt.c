#include "requests/prompt.h"

#include <string.h>

static void comma(struct buffer *list)
{
	if (list->len && list->data[list->len - 1] != '[')
		buffer_byte(list, ',');
}

/* The elements of a JSON list. */
static void append_elements(struct buffer *list, struct slice json)
{
	struct slice inside = {json.data + 1, json.len - 2};
	while (inside.len && strchr(" \t\r\n", *inside.data)) {
		inside.data++;
		inside.len--;
	}
	if (!inside.len)
		return;
	comma(list);
	buffer_slice(list, inside);
}

void prompt_append_own(struct buffer *list, const struct trace_request *q)
{
	if (q->messages.data || q->prompt_token_ids.data) {
		append_elements(list, q->messages.data ? q->messages : q->prompt_token_ids);
	} else if (q->prompt.data) {
		comma(list);
		buffer_text(list, "{\"role\":\"user\",\"content\":");
		buffer_slice(list, q->prompt);
		buffer_byte(list, '}');
	}
}

void prompt_append_answer(struct buffer *context, struct slice answer)
{
	if (*answer.data == '[') {
		append_elements(context, answer);
		return;
	}
	comma(context);
	buffer_text(context, "{\"role\":\"assistant\",\"content\":");
	buffer_slice(context, answer);
	buffer_byte(context, '}');
}

void prompt_append_turn(struct buffer *context, const struct trace_request *q)
{
	struct slice answer = trace_answer(q);
	prompt_append_own(context, q);
	if (answer.data)
		prompt_append_answer(context, answer);
}

static struct slice with_ids(struct prompt *p, struct slice list)
{
	struct slice repaired = call_ids_repair(&p->ids, list, p->call_ids);
	p->messages.failed |= !repaired.data;
	return repaired.data ? repaired : list;
}

struct slice prompt_messages(struct prompt *p, const struct trace_request *q, struct slice context)
{
	if (!context.len && q->messages.data)
		return with_ids(p, q->messages);
	if (!q->messages.data && !q->prompt.data)
		return (struct slice){0};
	buffer_clear(&p->messages);
	buffer_byte(&p->messages, '[');
	buffer_slice(&p->messages, context);
	prompt_append_own(&p->messages, q);
	buffer_byte(&p->messages, ']');
	return p->messages.failed ? buffer_all(&p->messages) : with_ids(p, buffer_all(&p->messages));
}

/* ---- one at a time ---- */

static bool is_system(const struct jdoc *doc, jdoc_id message)
{
	jdoc_id role = jdoc_get(doc, message, "role");
	return jdoc_text_is(doc, role, "system") || jdoc_text_is(doc, role, "developer");
}

int prompt_each(struct prompt *p, const struct trace_request *q, struct slice context, enum prompt_part part,
                struct prompt_each *each, struct ipf_error *err)
{
	struct slice list = prompt_messages(p, q, context);
	if (!list.data)
		list = slice_of("[]");
	if (p->messages.failed)
		return ipf_error_memory(err);
	if (jdoc_parse(&p->doc, list.data, list.len, err) < 0)
		return -1;
	*each = (struct prompt_each){.each = jdoc_each(&p->doc, JDOC_ROOT), .part = part};
	return 0;
}

bool prompt_step(struct prompt_each *e)
{
	while (jdoc_step(&e->each))
		if (e->part == PROMPT_ALL || is_system(e->each.j, e->each.value) == (e->part == PROMPT_SYSTEM))
			return true;
	return false;
}

/* ---- as text ---- */

/* The characters of a JSON text between its quotes, unchanged. */
static void append_inside(const struct jdoc *doc, jdoc_id text, struct buffer *out, bool *first)
{
	struct slice raw = jdoc_raw(doc, text);
	if (jdoc_text_empty(doc, text))
		return;
	if (!*first)
		buffer_text(out, "\\n\\n");
	*first = false;
	buffer_append(out, raw.data + 1, raw.len - 2);
}

static void append_content(const struct jdoc *doc, jdoc_id message, struct buffer *out, bool *first)
{
	jdoc_id content = jdoc_get(doc, message, "content");
	append_inside(doc, content, out, first);
	if (content == JDOC_NONE || jdoc_type_of(doc, content) != JDOC_LIST)
		return;
	for (struct jdoc_each p = jdoc_each(doc, content); jdoc_step(&p);)
		append_inside(doc, jdoc_get(doc, p.value, "text"), out, first);
}

void prompt_content(const struct jdoc *doc, jdoc_id message, struct buffer *out)
{
	bool first = true;
	buffer_byte(out, '"');
	append_content(doc, message, out, &first);
	buffer_byte(out, '"');
}

static int join(struct prompt *p, const struct trace_request *q, struct slice context, enum prompt_part part,
                struct buffer *out, struct ipf_error *err)
{
	struct prompt_each e;
	bool first = true;
	if (prompt_each(p, q, context, part, &e, err) < 0)
		return -1;
	buffer_byte(out, '"');
	while (prompt_step(&e))
		append_content(&p->doc, e.each.value, out, &first);
	buffer_byte(out, '"');
	return 0;
}

void prompt_token_ids(const struct trace_request *q, struct slice context, struct buffer *out)
{
	if (!context.len) {
		buffer_slice(out, q->prompt_token_ids);
		return;
	}
	buffer_byte(out, '[');
	buffer_slice(out, context);
	prompt_append_own(out, q);
	buffer_byte(out, ']');
}

int prompt_text(struct prompt *p, const struct trace_request *q, struct slice context, struct buffer *out,
                struct ipf_error *err)
{
	if (!q->prompt.data || context.len)
		return join(p, q, context, PROMPT_ALL, out, err);
	buffer_slice(out, q->prompt);
	return 0;
}

int prompt_system(struct prompt *p, const struct trace_request *q, struct slice context, struct buffer *out,
                  struct ipf_error *err)
{
	return join(p, q, context, PROMPT_SYSTEM, out, err);
}

int prompt_turns(struct prompt *p, const struct trace_request *q, struct slice context, struct buffer *out,
                 struct ipf_error *err)
{
	struct prompt_each e;
	if (prompt_each(p, q, context, PROMPT_TURNS, &e, err) < 0)
		return -1;
	buffer_byte(out, '[');
	while (prompt_step(&e)) {
		comma(out);
		buffer_slice(out, jdoc_raw(&p->doc, e.each.value));
	}
	buffer_byte(out, ']');
	return 0;
}

int prompt_has_system(struct prompt *p, const struct trace_request *q, struct slice context, struct ipf_error *err)
{
	struct prompt_each e;
	if (!q->messages.data && !context.len)
		return 0;
	return prompt_each(p, q, context, PROMPT_SYSTEM, &e, err) < 0 ? -1 : prompt_step(&e);
}

void prompt_release(struct prompt *p)
{
	buffer_release(&p->messages);
	call_ids_release(&p->ids);
	jdoc_release(&p->doc);
}
