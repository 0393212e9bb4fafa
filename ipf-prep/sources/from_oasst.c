/* Open Assistant's message trees: {"message_tree_id", "prompt": MESSAGE} or a MESSAGE itself, {"text", "role":
 * "prompter" | "assistant", "replies": [MESSAGE, …]}. Each path from the root to a leaf is a conversation. Where only
 * the first turn is wanted, a tree is one request, with its first reply.
 */
#include "sources/detect_format.h"
#include "sources/record_fields.h"

#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 128

struct state {
	bool lone;
};

struct walk {
	const struct state *state;
	const struct source_record *record;
	struct sink *sink;
	jdoc_id path[DEPTH_MAX];
	size_t depth;
	int64_t part;
};

static int open_source(void **opened, const struct source_settings *settings, struct ipf_error *err)
{
	if (source_state(opened, sizeof(struct state), err) < 0)
		return -1;
	((struct state *)*opened)->lone = settings->lone;
	return 0;
}

/* The path from the root to here is a conversation. */
static int take_path(struct walk *w, struct ipf_error *err)
{
	const struct jdoc *j = w->record->json;
	struct draft *d = &w->sink->draft;
	draft_reset(d);
	d->number = w->record->number;
	d->part = w->part++;
	for (size_t i = 0; i < w->depth; i++) {
		struct slice text;
		if (need_text(d, j, w->path[i], "text", &text, err) < 0)
			return -1;
		bool user = jdoc_text_is(j, jdoc_get(j, w->path[i], "role"), "prompter");
		if (text.len == 0 || (!user && d->count == 0) || (w->state->lone && user && d->count == 1))
			break;
		if (!user) {
			struct draft_request *last = &d->requests[d->count - 1];
			last->answer = last->answer.len > 0 ? draft_join(d, last->answer, "\n\n", text) : text;
			continue;
		}
		if ((d->count == 0 || d->requests[d->count - 1].answer.len > 0) && !draft_request(d))
			return 0;
		draft_message(d, ROLE_USER, text);
	}
	/* an empty answer to the last question */
	while (d->count > 0 && d->requests[d->count - 1].answer.len == 0)
		d->message_count = d->requests[--d->count].first;
	if (d->count == 0) {
		w->sink->unusable(w->sink, "no answer");
		return 0;
	}
	d->chain = !w->state->lone;
	return w->sink->take(w->sink, d, err);
}

/* Takes the paths through this message: 1 where there is one that ends in an answer, 0, -1. */
static int walk(struct walk *w, jdoc_id message, struct ipf_error *err)
{
	const struct jdoc *j = w->record->json;
	jdoc_id replies = jdoc_get(j, message, "replies");
	if (need_map(j, message, "message", err) < 0)
		return -1;
	if (w->depth == DEPTH_MAX)
		return ipf_error_set(err, IPF_INPUT, "replies: nested more than %d deep", DEPTH_MAX);
	w->path[w->depth++] = message;
	int taken = 0;
	for (struct jdoc_each e = jdoc_each(j, replies); jdoc_step(&e) && !(taken && w->state->lone);) {
		int got = walk(w, e.value, err);
		if (got < 0)
			return -1;
		taken |= got;
	}
	if (!taken && !jdoc_text_is(j, jdoc_get(j, message, "role"), "prompter")) {
		if (take_path(w, err) < 0)
			return -1;
		taken = 1;
	}
	w->depth--;
	return taken;
}

static int one_record(void *opened, const struct source_record *record, struct sink *sink, struct ipf_error *err)
{
	const struct jdoc *j = record->json;
	struct walk w = {.state = opened, .record = record, .sink = sink};
	jdoc_id prompt = jdoc_get(j, JDOC_ROOT, "prompt");
	if (need_map(j, JDOC_ROOT, "record", err) < 0)
		return -1;
	int taken = walk(&w, jdoc_type_of(j, prompt) == JDOC_MAP ? prompt : JDOC_ROOT, err);
	if (taken == 0)
		sink->unusable(sink, "no answer");
	return taken < 0 ? -1 : 0;
}

static bool knows(const struct sniff *sniff)
{
	return sniff_has(sniff, "message_tree_id prompt") || sniff_has(sniff, "message_id text role");
}

const struct source_format source_oasst = {
	.name = "oasst",
	.about = "Open Assistant's trees of messages: each path is a conversation",
	.kind = SOURCE_DATASET,
	.unit = UNIT_JSON,
	.traits = HAS_TURNS,
	.open = open_source,
	.knows = knows,
	.record = one_record,
	.close = free,
};
