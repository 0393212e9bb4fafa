/* quac: QuAC, questions and answers about a text, and SQuAD in the same format.
 *
 * Origin: quac.ai; its fixtures in allenai/allennlp-models. One JSON object, or one article a line:
 *
 *     data         list of articles: {"paragraphs": […]}
 *     paragraphs   list of {"context": the text, "qas": […]}
 *     qas          list of {"question", "orig_answer": {"text"}, "answers": [{"text"}, …]}
 *
 * A paragraph is a conversation, and its questions in order are the turns. The first question follows the text. The
 * answer is orig_answer, else the first of answers. Other members (title, followup, …) are ignored.
 */
#include "sources/chat_fields.h"
#include "sources/sniff.h"
#include "sources/record_fields.h"

/* The record in progress. */
struct dialogues {
	const struct chat_settings *settings;
	const struct source_record *record;
	struct sink *sink;
	int64_t part;
};

static int read_question(struct draft *d, const struct jdoc *j, jdoc_id qa, struct slice context, struct ipf_error *err)
{
	struct slice question, answer = {0};
	if (need_object(j, qa, "qas", err) < 0 || need_text(d, j, qa, "question", &question, err) < 0)
		return -1;
	jdoc_id given = jdoc_get(j, qa, "orig_answer");
	if (jdoc_is_null(j, given))
		given = jdoc_at(j, jdoc_get(j, qa, "answers"), 0);
	if (given != JDOC_NONE && field_text(d, j, given, "text", &answer, err) < 0)
		return -1;
	struct draft_request *r = draft_request(d);
	if (!r)
		return 0;
	r->answer = answer;
	draft_message(d, ROLE_USER, d->count == 1 ? draft_join(d, context, "\n\n", question) : question);
	return 0;
}

static int read_paragraph(struct dialogues *s, jdoc_id paragraph, struct ipf_error *err)
{
	const struct jdoc *j = s->record->json;
	struct draft *d = &s->sink->draft;
	struct slice context;
	jdoc_id qas;
	draft_begin(d, s->record->number, s->part++);
	if (need_object(j, paragraph, "paragraphs", err) < 0 || need_text(d, j, paragraph, "context", &context, err) < 0 ||
	    need_list(j, paragraph, "qas", &qas, err) < 0)
		return -1;
	for (struct jdoc_each e = jdoc_each(j, qas); !(s->settings->lone && d->count == 1) && jdoc_step(&e);)
		if (read_question(d, j, e.value, context, err) < 0)
			return -1;
	return chat_hand_over(s->settings, s->sink, "no question", err);
}

static int read_article(struct dialogues *s, jdoc_id article, struct ipf_error *err)
{
	const struct jdoc *j = s->record->json;
	jdoc_id paragraphs;
	if (need_object(j, article, "data", err) < 0 || need_list(j, article, "paragraphs", &paragraphs, err) < 0)
		return -1;
	for (struct jdoc_each e = jdoc_each(j, paragraphs); jdoc_step(&e);)
		if (read_paragraph(s, e.value, err) < 0)
			return -1;
	return 0;
}

static int read_record(void *settings, const struct source_record *record, struct sink *sink, struct ipf_error *err)
{
	const struct jdoc *j = record->json;
	struct dialogues s = {.settings = settings, .record = record, .sink = sink};
	jdoc_id data;
	if (need_object(j, JDOC_ROOT, "record", err) < 0)
		return -1;
	if (jdoc_get(j, JDOC_ROOT, "paragraphs") != JDOC_NONE)
		return read_article(&s, JDOC_ROOT, err);
	if (need_list(j, JDOC_ROOT, "data", &data, err) < 0)
		return -1;
	for (struct jdoc_each e = jdoc_each(j, data); jdoc_step(&e);)
		if (read_article(&s, e.value, err) < 0)
			return -1;
	return 0;
}

static bool recognises(const struct sniff *sniff)
{
	return sniff_members(sniff, "paragraphs") ||
	       (sniff_text(sniff, "\"paragraphs\"") && sniff_text(sniff, "\"qas\"") && sniff_text(sniff, "\"data\""));
}

const struct source_format source_quac = {
	.name = "quac",
	.about = "QuAC and SQuAD: conversations of questions and answers about a text",
	.kind = SOURCE_DATASET,
	.unit = UNIT_JSON,
	.traits = HAS_TURNS,
	.state_size = sizeof(struct chat_settings),
	.open = chat_open,
	.read_record = read_record,
	.recognises = recognises,
};
