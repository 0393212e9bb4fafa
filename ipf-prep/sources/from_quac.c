/* QuAC: {"data": [{"paragraphs": [{"context", "qas": [{"question", "orig_answer": {"text"}, "answers":
 * [{"text"}]}]}]}]}. A paragraph is a dialogue: the first question comes with the text it is about, and the questions
 * in order are its turns.
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

static int one_question(struct draft *d, const struct jdoc *j, jdoc_id qa, struct slice context, struct ipf_error *err)
{
	struct slice question, answer = {0};
	if (need_map(j, qa, "qas", err) < 0 || need_text(d, j, qa, "question", &question, err) < 0)
		return -1;
	jdoc_id given = jdoc_get(j, qa, "orig_answer");
	if (jdoc_is_null(j, given))
		given = jdoc_at(j, jdoc_get(j, qa, "answers"), 0);
	if (given != JDOC_NONE && record_fields_text(d, j, given, "text", &answer, err) < 0)
		return -1;
	struct draft_request *r = draft_request(d);
	if (!r)
		return 0;
	r->answer = answer;
	draft_message(d, ROLE_USER, d->count == 1 ? draft_join(d, context, "\n\n", question) : question);
	return 0;
}

static int one_paragraph(const struct state *state, const struct jdoc *j, jdoc_id paragraph, struct sink *sink,
                         struct ipf_error *err)
{
	struct draft *d = &sink->draft;
	struct slice context;
	jdoc_id qas;
	if (need_map(j, paragraph, "paragraphs", err) < 0 || need_text(d, j, paragraph, "context", &context, err) < 0 ||
	    need_list(j, paragraph, "qas", &qas, err) < 0)
		return -1;
	for (struct jdoc_each e = jdoc_each(j, qas); jdoc_step(&e) && !(state->lone && d->count == 1);)
		if (one_question(d, j, e.value, context, err) < 0)
			return -1;
	if (d->count == 0) {
		sink->unusable(sink, "no question");
		return 0;
	}
	d->chain = !state->lone;
	return sink->take(sink, d, err);
}

static int one_article(const struct state *state, const struct source_record *record, jdoc_id article, int64_t *part,
                       struct sink *sink, struct ipf_error *err)
{
	const struct jdoc *j = record->json;
	jdoc_id paragraphs;
	if (need_map(j, article, "data", err) < 0 || need_list(j, article, "paragraphs", &paragraphs, err) < 0)
		return -1;
	for (struct jdoc_each e = jdoc_each(j, paragraphs); jdoc_step(&e);) {
		draft_reset(&sink->draft);
		sink->draft.number = record->number;
		sink->draft.part = (*part)++;
		if (one_paragraph(state, j, e.value, sink, err) < 0)
			return -1;
	}
	return 0;
}

static int one_record(void *opened, const struct source_record *record, struct sink *sink, struct ipf_error *err)
{
	const struct jdoc *j = record->json;
	int64_t part = 0;
	jdoc_id data;
	if (need_map(j, JDOC_ROOT, "record", err) < 0)
		return -1;
	if (jdoc_get(j, JDOC_ROOT, "paragraphs") != JDOC_NONE)
		return one_article(opened, record, JDOC_ROOT, &part, sink, err);
	if (need_list(j, JDOC_ROOT, "data", &data, err) < 0)
		return -1;
	for (struct jdoc_each e = jdoc_each(j, data); jdoc_step(&e);)
		if (one_article(opened, record, e.value, &part, sink, err) < 0)
			return -1;
	return 0;
}

static bool knows(const struct sniff *sniff)
{
	return sniff_has(sniff, "paragraphs") ||
	       (sniff_text(sniff, "\"paragraphs\"") && sniff_text(sniff, "\"qas\"") && sniff_text(sniff, "\"data\""));
}

const struct source_format source_quac = {
	.name = "quac",
	.about = "questions and answers about a text, in dialogues (QuAC, also SQuAD's layout)",
	.kind = SOURCE_DATASET,
	.unit = UNIT_JSON,
	.traits = HAS_TURNS,
	.open = open_source,
	.knows = knows,
	.record = one_record,
	.close = free,
};
