#include "call_plan.h"

#include "array.h"
#include "token_text.h"
#include "json/jout.h"
#include "stats/rng.h"

#include <stdlib.h>
#include <string.h>

static struct planned_call *append(struct call_plan *p)
{
	if (!array_one_more(p->list, p->count))
		return NULL;
	p->list[p->count] = (struct planned_call){.tokens = 1};
	return &p->list[p->count++];
}

static void release_call(struct planned_call *call)
{
	buffer_release(&call->name);
	buffer_release(&call->arguments);
}

void call_plan_release(struct call_plan *p)
{
	while (p->count)
		release_call(&p->list[--p->count]);
	free(p->list);
	*p = (struct call_plan){0};
}

/* ---- which ---- */

bool call_plan_is_list(const struct jdoc *doc, jdoc_id node)
{
	if (jdoc_type_of(doc, node) != JDOC_LIST)
		return false;
	for (struct jdoc_each e = jdoc_each(doc, node); jdoc_step(&e);)
		if (jdoc_type_of(doc, e.value) != JDOC_LIST || jdoc_count(doc, e.value) != 2 ||
		    jdoc_type_of(doc, jdoc_at(doc, e.value, 0)) != JDOC_TEXT ||
		    jdoc_type_of(doc, jdoc_at(doc, e.value, 1)) != JDOC_MAP)
			return false;
	return true;
}

static int64_t tokens_of(const struct buffer *arguments)
{
	return 1 + (int64_t)(arguments->len + TOKEN_BYTES - 1) / TOKEN_BYTES;
}

static int add_given(struct call_plan *p, struct slice given)
{
	struct jdoc doc = {0};
	struct ipf_error ignored = {0};
	bool good = jdoc_parse(&doc, given.data, given.len, &ignored) == 0;
	for (struct jdoc_each e = jdoc_each(&doc, JDOC_ROOT); good && jdoc_step(&e);) {
		struct planned_call *call = append(p);
		struct slice name = jdoc_raw(&doc, jdoc_at(&doc, e.value, 0));
		good = call != NULL;
		if (!good)
			break;
		buffer_append(&call->name, name.data + 1, name.len - 2);
		buffer_slice(&call->arguments, jdoc_raw(&doc, jdoc_at(&doc, e.value, 1)));
		call->tokens = tokens_of(&call->arguments);
	}
	jdoc_release(&doc);
	return good ? 0 : -1;
}

/* The tokens are divided among them, the last one has the rest. */
static int add_made(struct call_plan *p, const struct call_wishes *w)
{
	int64_t count = w->mode->calls < w->tokens ? w->mode->calls : w->tokens;
	const char *name = w->names.len ? w->names.data : "find", *end = w->names.data + w->names.len;
	for (int64_t i = 0; i < count; i++) {
		struct planned_call *call = append(p);
		if (!call)
			return -1;
		buffer_text(&call->name, name);
		call->tokens = w->tokens / count + (i == count - 1 ? w->tokens % count : 0);
		call->start = w->start + (uint64_t)i;
		name = w->names.len ? name + strlen(name) + 1 : name;
		if (w->names.len && name == end)
			name = w->names.data;
	}
	return 0;
}

/* Calls nothing in the request knows of. */
static int add_extra(struct call_plan *p, int64_t count)
{
	for (int64_t i = 0; i < count; i++) {
		struct planned_call *call = append(p);
		if (!call)
			return -1;
		buffer_text(&call->name, "extra");
		buffer_format(&call->arguments, "{\"q\":%lld}", (long long)i);
		call->tokens = tokens_of(&call->arguments);
	}
	return 0;
}

static void swap(struct planned_call *a, struct planned_call *b)
{
	struct planned_call other = *a;
	*a = *b;
	*b = other;
}

static void reorder(struct call_plan *p, const struct call_wishes *w)
{
	struct rng rng;
	if (w->mode->order == ORDER_REVERSED)
		for (size_t i = 0; i < p->count / 2; i++)
			swap(&p->list[i], &p->list[p->count - 1 - i]);
	if (w->mode->order != ORDER_RANDOM)
		return;
	rng_init(&rng, w->seed, "calls", w->fingerprint);
	for (size_t i = p->count; i > 1; i--)
		swap(&p->list[i - 1], &p->list[rng_below(&rng, i)]);
}

int call_plan_make(struct call_plan *p, const struct call_wishes *w)
{
	bool failed = false;
	if ((w->given.data ? add_given(p, w->given) : add_made(p, w)) < 0)
		return -1;
	for (int64_t i = 0; w->given.data && i < w->mode->missing && p->count; i++)
		release_call(&p->list[--p->count]);
	if (w->given.data && add_extra(p, w->mode->extra) < 0)
		return -1;
	reorder(p, w);
	p->mixed = w->mode->mixed;
	for (size_t i = 0; i < p->count; i++) {
		p->tokens += p->list[i].tokens;
		failed |= p->list[i].name.failed || p->list[i].arguments.failed;
	}
	return failed ? -1 : 0;
}

/* ---- their tokens ---- */

static void mixed_at(const struct call_plan *p, int64_t token, size_t *call, int64_t *piece)
{
	for (*piece = 0;; ++*piece)
		for (*call = 0; *call < p->count; ++*call)
			if (p->list[*call].tokens > *piece && token-- == 0)
				return;
}

void call_plan_at(const struct call_plan *p, int64_t token, size_t *call, int64_t *piece)
{
	if (p->mixed && token < p->tokens) {
		mixed_at(p, token, call, piece);
		return;
	}
	for (*call = 0; *call + 1 < p->count && token >= p->list[*call].tokens; ++*call)
		token -= p->list[*call].tokens;
	*piece = token;
}

/* Pieces are of TOKEN_BYTES bytes, and a character belongs to the piece in which it begins. */
static size_t place_of(const struct buffer *text, int64_t piece)
{
	size_t at = (size_t)piece * TOKEN_BYTES;
	while (at < text->len && ((unsigned char)text->data[at] & 0xc0) == 0x80)
		at++;
	return at < text->len ? at : text->len;
}

void call_plan_piece(const struct call_plan *p, size_t call, int64_t piece, struct buffer *to)
{
	const struct planned_call *c = &p->list[call];
	struct jout w = {.out = to};
	if (piece == 0)
		return;
	if (!c->arguments.len) {
		buffer_text(to, json_text_at(JSON_TEXT_OBJECT, c->start, piece - 1, c->tokens - 1).json);
		return;
	}
	size_t from = place_of(&c->arguments, piece - 1);
	jout_escaped(&w, (struct slice){c->arguments.data + from, place_of(&c->arguments, piece) - from});
}
