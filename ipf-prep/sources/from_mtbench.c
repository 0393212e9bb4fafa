/* mtbench: MT-bench and datasets in its format (Vicuna bench, Spec-Bench, EAGLE's question files), and arena-hard.
 *
 * Origin: github.com/lm-sys/FastChat, hemingkx/Spec-Bench, SafeAILab/EAGLE (eagle/data), lmarena/arena-hard-auto. JSON
 * Lines:
 *
 *     turns      what the user says: a list of strings, or one string
 *     reference  list of answers, one a turn (only some records)
 *     prompt     instead of turns: the one prompt (arena-hard)
 *
 * The turns are a conversation that ends before the first empty one. There are no answers but the references. Other
 * members (question_id, uid, category, cluster) are ignored.
 */
#include "sources/chat_fields.h"
#include "sources/sniff.h"
#include "sources/record_fields.h"

static int read_turns(const struct chat_settings *settings, const struct jdoc *j, jdoc_id turns, struct sink *sink,
                      struct ipf_error *err)
{
	struct draft *d = &sink->draft;
	jdoc_id references = jdoc_get(j, JDOC_ROOT, "reference");
	for (struct jdoc_each e = jdoc_each(j, turns); jdoc_step(&e) && !(settings->lone && d->count == 1);) {
		if (jdoc_type_of(j, e.value) != JDOC_TEXT)
			return jdoc_expected(j, e.value, "turns", "a list of strings", err);
		if (jdoc_text_empty(j, e.value))
			break;
		struct draft_request *r = draft_request(d);
		if (!r)
			return 0;
		jdoc_id reference = jdoc_at(j, references, (uint32_t)d->count - 1);
		if (!jdoc_text_empty(j, reference))
			r->answer = draft_text(d, j, reference);
		draft_message(d, ROLE_USER, draft_text(d, j, e.value));
	}
	return chat_hand_over(settings, sink, "empty prompt", err);
}

static int read_record(void *settings, const struct source_record *record, struct sink *sink, struct ipf_error *err)
{
	const struct jdoc *j = record->json;
	jdoc_id turns = jdoc_get(j, JDOC_ROOT, "turns");
	struct slice prompt;
	if (need_object(j, JDOC_ROOT, "record", err) < 0)
		return -1;
	if (jdoc_type_of(j, turns) == JDOC_LIST)
		return read_turns(settings, j, turns, sink, err);
	if (need_text(&sink->draft, j, JDOC_ROOT, turns == JDOC_NONE ? "prompt" : "turns", &prompt, err) < 0)
		return -1;
	return chat_pair(sink, (struct slice){0}, prompt, (struct slice){0}, err);
}

static bool recognises(const struct sniff *sniff)
{
	return sniff_members(sniff, "question_id turns") || sniff_members(sniff, "category turns") ||
	       sniff_members(sniff, "uid category prompt");
}

const struct source_format source_mtbench = {
	.name = "mtbench",
	.about = "MT-bench, Vicuna bench, Spec-Bench, arena-hard: turns of the user",
	.kind = SOURCE_DATASET,
	.unit = UNIT_JSON,
	.traits = HAS_TURNS,
	.state_size = sizeof(struct chat_settings),
	.open = chat_open,
	.read_record = read_record,
	.recognises = recognises,
};
