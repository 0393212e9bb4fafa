/* MT-bench and its family (Vicuna bench, Spec-Bench, EAGLE's question files): {"question_id", "category", "turns":
 * ["…", …], "reference": ["…", …]}, and arena-hard's {"uid", "category", "cluster", "prompt"}. What the user says is
 * given; answers are not, but for the references of some.
 */
#include "sources/detect_format.h"
#include "sources/record_fields.h"

#include <stdlib.h>

struct state {
	bool lone;
};

static int open_source(void **opened, const struct source_settings *settings, struct ipf_error *err)
{
	if (source_state(opened, sizeof(struct state), err) < 0)
		return -1;
	((struct state *)*opened)->lone = settings->lone;
	return 0;
}

static int take_turns(const struct state *state, const struct jdoc *j, jdoc_id turns, struct sink *sink,
                      struct ipf_error *err)
{
	struct draft *d = &sink->draft;
	jdoc_id references = jdoc_get(j, JDOC_ROOT, "reference");
	for (struct jdoc_each e = jdoc_each(j, turns); jdoc_step(&e) && !(state->lone && d->count == 1);) {
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
	if (d->count == 0) {
		sink->unusable(sink, "empty prompt");
		return 0;
	}
	d->chain = !state->lone;
	return sink->take(sink, d, err);
}

static int one_record(void *opened, const struct source_record *record, struct sink *sink, struct ipf_error *err)
{
	const struct jdoc *j = record->json;
	jdoc_id turns = jdoc_get(j, JDOC_ROOT, "turns");
	struct slice prompt;
	if (need_map(j, JDOC_ROOT, "record", err) < 0)
		return -1;
	if (jdoc_type_of(j, turns) == JDOC_LIST)
		return take_turns(opened, j, turns, sink, err);
	if (need_text(&sink->draft, j, JDOC_ROOT, turns == JDOC_NONE ? "prompt" : "turns", &prompt, err) < 0)
		return -1;
	return record_fields_pair(sink, (struct slice){0}, prompt, (struct slice){0}, err);
}

static bool knows(const struct sniff *sniff)
{
	return sniff_has(sniff, "question_id turns") || sniff_has(sniff, "category turns") ||
	       sniff_has(sniff, "uid category prompt");
}

const struct source_format source_mtbench = {
	.name = "mtbench",
	.about = "MT-bench, Vicuna bench, Spec-Bench, arena-hard: the user's turns",
	.kind = SOURCE_DATASET,
	.unit = UNIT_JSON,
	.traits = HAS_TURNS,
	.open = open_source,
	.knows = knows,
	.record = one_record,
	.close = free,
};
