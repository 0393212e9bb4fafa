#include "body/live_answer.h"

#include "requests/call_ids.h"
#include "stream/media_file.h"
#include "json/jout.h"

#include <jansson.h>
#include <stdlib.h>

/* How the calls of the answer and the recorded ones belong together. */
struct pairing {
	const struct live_answer *answer;
	struct call_ids ids;
	struct jdoc doc;    /* the request's own messages, with ids repaired */
	jdoc_id recorded;   /* the recorded answer, the first of them; JDOC_NONE: they begin with something else */
	jdoc_id list;       /* its calls */
	size_t count;       /* how many these are, at most TOOL_CALLS_MOST */
	size_t *call_of;    /* for each recorded call the answer's; SIZE_MAX: none */
	bool *used;         /* is the answer's call one of these? */
	struct buffer text; /* working memory */
};

static void move(struct buffer *from, struct buffer *to)
{
	buffer_release(to);
	*to = *from;
	*from = (struct buffer){0};
}

bool live_answer_take(struct live_answer *a, struct response *response, bool ids)
{
	if (ids) {
		move(&response->output_ids, &a->ids);
		return a->ids.len;
	}
	move(&response->text, &a->text);
	move(&response->reasoning, &a->reasoning);
	tool_calls_release(&a->calls);
	a->calls = response->calls;
	response->calls = (struct tool_calls){0};
	tool_calls_keep_one_choice(&a->calls);
	for (size_t i = 0; i < a->calls.count; i++) /* by which results name them */
		if (!a->calls.list[i].id.len)
			buffer_format(&a->calls.list[i].id, "call-%zu", i + 1);
	return a->text.len || a->calls.count;
}

bool live_answer_is_text(const struct live_answer *a)
{
	return a->text.len || a->ids.len;
}

size_t live_answer_bytes(const struct live_answer *a)
{
	size_t bytes = a->text.cap + a->reasoning.cap + a->ids.cap + a->calls.cap * sizeof *a->calls.list;
	for (size_t i = 0; i < a->calls.count; i++)
		bytes += a->calls.list[i].id.cap + a->calls.list[i].name.cap + a->calls.list[i].arguments.cap;
	return bytes;
}

void live_answer_release(struct live_answer *a)
{
	buffer_release(&a->text);
	buffer_release(&a->reasoning);
	buffer_release(&a->ids);
	tool_calls_release(&a->calls);
}

/* ---- which call is which ---- */

static jdoc_id first_answer(const struct jdoc *doc)
{
	jdoc_id first = jdoc_at(doc, JDOC_ROOT, 0);
	return jdoc_text_is(doc, jdoc_get(doc, first, "role"), "assistant") ? first : JDOC_NONE;
}

bool live_answer_recorded(const struct trace_request *q)
{
	struct jdoc doc = {0};
	struct ipf_error ignored = {0};
	bool found = q->messages.data && jdoc_parse(&doc, q->messages.data, q->messages.len, &ignored) == 0 &&
	             first_answer(&doc) != JDOC_NONE;
	jdoc_release(&doc);
	return found;
}

/* A member of a recorded call's function. Arguments may be an object there. */
static struct slice recorded_member(struct pairing *p, jdoc_id call, const char *member)
{
	jdoc_id node = jdoc_get(&p->doc, jdoc_get(&p->doc, call, "function"), member);
	buffer_clear(&p->text);
	if (jdoc_type_of(&p->doc, node) == JDOC_TEXT)
		jdoc_text(&p->doc, node, &p->text);
	else
		buffer_slice(&p->text, jdoc_raw(&p->doc, node));
	return buffer_all(&p->text);
}

/* Compares JSON, however it is written; other texts by their bytes. */
static bool same_arguments(struct slice a, struct slice b)
{
	json_t *x = json_loadb(a.data, a.len, 0, NULL), *y = json_loadb(b.data, b.len, 0, NULL);
	bool same = x && y ? json_equal(x, y) : slice_equal(a, b);
	json_decref(x);
	json_decref(y);
	return same;
}

/* Gives recorded calls without one the first fitting call. */
static void pair(struct pairing *p, bool with_arguments)
{
	const struct tool_calls *calls = &p->answer->calls;
	size_t r = 0;
	for (struct jdoc_each e = jdoc_each(&p->doc, p->list); r < p->count && jdoc_step(&e); r++)
		for (size_t i = 0; p->call_of[r] == SIZE_MAX && i < calls->count; i++)
			if (!p->used[i] && slice_equal(recorded_member(p, e.value, "name"), buffer_all(&calls->list[i].name)) &&
			    (!with_arguments ||
			     same_arguments(recorded_member(p, e.value, "arguments"), buffer_all(&calls->list[i].arguments)))) {
				p->call_of[r] = i;
				p->used[i] = true;
			}
}

/* false: out of memory, or the messages are no list. */
static bool pair_calls(struct pairing *p, const struct trace_request *q)
{
	struct ipf_error ignored = {0};
	if (!q->messages.data)
		return true;
	const struct slice own = call_ids_repair(&p->ids, q->messages, CALL_IDS_ANY);
	if (!own.data || jdoc_parse(&p->doc, own.data, own.len, &ignored) < 0)
		return false;
	p->recorded = first_answer(&p->doc);
	p->list = jdoc_get(&p->doc, p->recorded, "tool_calls");
	p->count = jdoc_count(&p->doc, p->list);
	if (p->count > TOOL_CALLS_MOST)
		p->count = TOOL_CALLS_MOST;
	p->call_of = malloc((p->count + 1) * sizeof *p->call_of);
	p->used = calloc(p->answer->calls.count + 1, sizeof *p->used);
	if (!p->call_of || !p->used)
		return false;
	for (size_t r = 0; r < p->count; r++)
		p->call_of[r] = SIZE_MAX;
	pair(p, true);
	pair(p, false);
	return true;
}

static void pairing_release(struct pairing *p)
{
	jdoc_release(&p->doc);
	call_ids_release(&p->ids);
	buffer_release(&p->text);
	free(p->call_of);
	free(p->used);
}

/* ---- writing ---- */

static void write_call(struct jout *w, const struct tool_call *call)
{
	jout_begin_map(w);
	jout_member_string(w, "id", buffer_all(&call->id));
	jout_member_string(w, "type", slice_of("function"));
	jout_key(w, "function");
	jout_begin_map(w);
	jout_member_string(w, "name", buffer_all(&call->name));
	jout_member_string(w, "arguments", call->arguments.len ? buffer_all(&call->arguments) : slice_of("{}"));
	jout_end_map(w);
	jout_end_map(w);
}

static size_t calls_kept(const struct pairing *p)
{
	size_t kept = 0;
	for (size_t i = 0; p->used && i < p->answer->calls.count; i++)
		kept += p->used[i];
	return kept;
}

static void write_answer(const struct pairing *p, bool reasoning, struct buffer *messages)
{
	const struct live_answer *a = p->answer;
	struct jout w = {.out = messages, .comma = messages->len > 0};
	const size_t from = messages->len;
	jout_begin_map(&w);
	jout_member_string(&w, "role", slice_of("assistant"));
	jout_key(&w, "content");
	if (a->text.len)
		jout_string(&w, buffer_all(&a->text));
	else
		jout_null(&w);
	if (reasoning && a->reasoning.len)
		jout_member_string(&w, "reasoning_content", buffer_all(&a->reasoning));
	if (calls_kept(p)) {
		jout_key(&w, "tool_calls");
		jout_begin_list(&w);
		for (size_t i = 0; i < a->calls.count; i++)
			if (p->used[i])
				write_call(&w, &a->calls.list[i]);
		jout_end_list(&w);
	}
	jout_end_map(&w);
	media_hide_marks(messages, from);
}

/* The recorded call with this id; SIZE_MAX: it is none of those of the recorded answer. */
static size_t recorded_call(struct pairing *p, jdoc_id id)
{
	size_t r = 0;
	buffer_clear(&p->text);
	if (jdoc_type_of(&p->doc, id) != JDOC_TEXT)
		return SIZE_MAX;
	jdoc_text(&p->doc, id, &p->text);
	for (struct jdoc_each e = jdoc_each(&p->doc, p->list); r < p->count && jdoc_step(&e); r++)
		if (jdoc_text_is(&p->doc, jdoc_get(&p->doc, e.value, "id"), p->text.data ? p->text.data : ""))
			return r;
	return SIZE_MAX;
}

/* A result, with the id its call has in this run. */
static void write_result(const struct pairing *p, jdoc_id message, const struct tool_call *call, struct jout *w)
{
	jout_begin_map(w);
	for (struct jdoc_each e = jdoc_each(&p->doc, message); jdoc_step(&e);) {
		bool id = jdoc_text_is(&p->doc, e.key, "tool_call_id");
		jout_value(w, jdoc_raw(&p->doc, e.key));
		buffer_byte(w->out, ':');
		w->comma = false;
		if (id)
			jout_string(w, buffer_all(&call->id));
		else
			jout_value(w, jdoc_raw(&p->doc, e.value));
	}
	jout_end_map(w);
}

/* The request's messages but the recorded answer; returns how many are left. */
static size_t write_own(struct pairing *p, struct buffer *own, int64_t *left_out)
{
	struct jout w = {.out = own};
	size_t count = 0;
	*left_out = 0;
	jout_begin_list(&w);
	for (struct jdoc_each e = jdoc_each(&p->doc, JDOC_ROOT); jdoc_step(&e);) {
		bool tool = jdoc_text_is(&p->doc, jdoc_get(&p->doc, e.value, "role"), "tool");
		size_t r = tool ? recorded_call(p, jdoc_get(&p->doc, e.value, "tool_call_id")) : SIZE_MAX;
		if (e.value == p->recorded)
			continue;
		if (r != SIZE_MAX && p->call_of[r] == SIZE_MAX) {
			++*left_out;
			continue;
		}
		count++;
		if (r == SIZE_MAX)
			jout_value(&w, jdoc_raw(&p->doc, e.value));
		else
			write_result(p, e.value, &p->answer->calls.list[p->call_of[r]], &w);
	}
	jout_end_list(&w);
	return count;
}

bool live_answer_continue(const struct live_answer *a, const struct trace_request *q, bool reasoning,
                          struct buffer *messages, struct buffer *own, struct live_answer_counts *counts)
{
	struct pairing p = {.answer = a, .recorded = JDOC_NONE, .list = JDOC_NONE};
	int64_t left_out = 0;
	buffer_clear(own);
	if (q->prompt_token_ids.data) {
		buffer_text(messages, a->ids.len && messages->len ? "," : "");
		buffer_slice(messages, buffer_all(&a->ids));
		return a->ids.len && !messages->failed;
	}
	bool good = pair_calls(&p, q);
	const size_t kept = calls_kept(&p), before = messages->len;
	good = good && (a->text.len || kept);
	if (good && q->messages.data)
		good = write_own(&p, own, &left_out) > 0;
	if (good) {
		write_answer(&p, reasoning, messages);
		counts->calls += (int64_t)kept;
		counts->calls_left_out += (int64_t)(a->calls.count - kept);
		counts->results_left_out += left_out;
	} else {
		buffer_clear(own);
		messages->len = before;
	}
	pairing_release(&p);
	return good && !messages->failed && !own->failed;
}
