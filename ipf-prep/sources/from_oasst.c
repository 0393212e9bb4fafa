/* oasst: the message trees of Open Assistant.
 *
 * Origin: github.com/LAION-AI/Open-Assistant, model/model_eval/manual/data, and the OASST datasets. JSON Lines, each
 * line a tree {"message_tree_id", "prompt": MESSAGE}, or its root MESSAGE:
 *
 *     text     the message
 *     role     prompter or assistant
 *     replies  list of MESSAGE
 *
 * Each path from the root to a leaf is a conversation. If only first turns are wanted, a tree is one request, with its
 * first reply. Other members (lang, rank, …) are ignored.
 */
#include "sources/chat_fields.h"
#include "sources/sniff.h"
#include "sources/record_fields.h"

#define DEPTH_MAX 128

struct tree_walk {
	const struct chat_settings *settings;
	const struct source_record *record;
	struct sink *sink;
	jdoc_id path[DEPTH_MAX]; /* messages from the root to here */
	size_t depth;
	int64_t part;
};

/* Hands over the path from the root to here as a conversation. */
static int take_path(struct tree_walk *w, struct ipf_error *err)
{
	const struct jdoc *j = w->record->json;
	struct draft *d = &w->sink->draft;
	draft_begin(d, w->record->number, w->part++);
	for (size_t i = 0; i < w->depth; i++) {
		struct slice text;
		if (need_text(d, j, w->path[i], "text", &text, err) < 0)
			return -1;
		bool user = jdoc_text_is(j, jdoc_get(j, w->path[i], "role"), "prompter");
		if (text.len == 0 || (!user && d->count == 0) || (w->settings->lone && user && d->count == 1))
			break;
		if (!user) {
			struct draft_request *last = &d->requests[d->count - 1];
			last->answer = draft_append(d, last->answer, "\n\n", text);
			continue;
		}
		if ((d->count == 0 || d->requests[d->count - 1].answer.len > 0) && !draft_request(d))
			return 0;
		draft_message(d, ROLE_USER, text);
	}
	/* Drop a last question without an answer. */
	while (d->count > 0 && d->requests[d->count - 1].answer.len == 0)
		d->message_count = d->requests[--d->count].first;
	return chat_hand_over(w->settings, w->sink, "no answer", err);
}

/* Takes the paths through this message: 1 if one ends in an answer, 0 if not, -1 on error. */
static int walk(struct tree_walk *w, jdoc_id message, struct ipf_error *err)
{
	const struct jdoc *j = w->record->json;
	jdoc_id replies = jdoc_get(j, message, "replies");
	if (need_object(j, message, "message", err) < 0)
		return -1;
	if (w->depth == DEPTH_MAX)
		return ipf_error_set(err, IPF_INPUT, "replies: nested more than %d deep", DEPTH_MAX);
	w->path[w->depth++] = message;
	int taken = 0;
	for (struct jdoc_each e = jdoc_each(j, replies); jdoc_step(&e) && !(taken && w->settings->lone);) {
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

static int read_record(void *settings, const struct source_record *record, struct sink *sink, struct ipf_error *err)
{
	const struct jdoc *j = record->json;
	struct tree_walk w = {.settings = settings, .record = record, .sink = sink};
	jdoc_id prompt = jdoc_get(j, JDOC_ROOT, "prompt");
	if (need_object(j, JDOC_ROOT, "record", err) < 0)
		return -1;
	int taken = walk(&w, jdoc_type_of(j, prompt) == JDOC_MAP ? prompt : JDOC_ROOT, err);
	if (taken == 0)
		sink->unusable(sink, "no answer");
	return taken < 0 ? -1 : 0;
}

static bool recognises(const struct sniff *sniff)
{
	return sniff_members(sniff, "message_tree_id prompt") || sniff_members(sniff, "message_id text role");
}

const struct source_format source_oasst = {
	.name = "oasst",
	.about = "Open Assistant message trees: each path from root to leaf is a conversation",
	.kind = SOURCE_DATASET,
	.unit = UNIT_JSON,
	.ignored = "model_name /replies/*/model_name",
	.traits = HAS_TURNS,
	.state_size = sizeof(struct chat_settings),
	.open = chat_open,
	.read_record = read_record,
	.recognises = recognises,
};
