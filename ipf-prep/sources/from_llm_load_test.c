/* llm-load-test: the datasets of llm-load-test.
 *
 * Origin: github.com/openshift-psap/llm-load-test, datasets. JSON Lines, the first line of which is metadata; then:
 *
 *     question           the prompt
 *     system_prompt      system message (optional)
 *     tok_input_length   length of the prompt, in tokens
 *     tok_output_length  length of the answer, in tokens
 *
 * An older form is one object, {"dataset": [{"input": {"text"}, "expected_output"}, …], "metadata"}.
 */
#include "sources/chat_fields.h"
#include "sources/sniff.h"
#include "sources/record_fields.h"

/* The older form: `list` is its "dataset". */
static int read_object(const struct source_record *record, jdoc_id list, struct sink *sink, struct ipf_error *err)
{
	const struct jdoc *j = record->json;
	struct draft *d = &sink->draft;
	int64_t part = 0;
	for (struct jdoc_each e = jdoc_each(j, list); jdoc_step(&e); part++) {
		struct slice text, answer;
		draft_begin(d, record->number, part);
		if (need_text(d, j, jdoc_get(j, e.value, "input"), "text", &text, err) < 0 ||
		    field_text(d, j, e.value, "expected_output", &answer, err) < 0 ||
		    chat_pair(sink, (struct slice){0}, text, answer, err) < 0)
			return -1;
	}
	return 0;
}

static int read_line(const struct jdoc *j, struct sink *sink, struct ipf_error *err)
{
	struct draft *d = &sink->draft;
	struct slice question, system;
	if (need_text(d, j, JDOC_ROOT, "question", &question, err) < 0 ||
	    field_text(d, j, JDOC_ROOT, "system_prompt", &system, err) < 0)
		return -1;
	struct draft_request *r = draft_request(d);
	if (!r)
		return 0;
	if (field_tokens(j, JDOC_ROOT, "tok_input_length", &r->input_tokens, err) < 0 ||
	    field_tokens(j, JDOC_ROOT, "tok_output_length", &r->output_tokens, err) < 0)
		return -1;
	if (question.len == 0 || r->output_tokens == 0) {
		sink->unusable(sink, question.len == 0 ? "empty prompt" : "no output token");
		return 0;
	}
	if (system.len > 0)
		draft_message(d, ROLE_SYSTEM, system);
	draft_message(d, ROLE_USER, question);
	return sink->take(sink, d, err);
}

static int read_record(void *state, const struct source_record *record, struct sink *sink, struct ipf_error *err)
{
	(void)state;
	const struct jdoc *j = record->json;
	if (need_object(j, JDOC_ROOT, "record", err) < 0)
		return -1;
	jdoc_id list = jdoc_get(j, JDOC_ROOT, "dataset");
	if (jdoc_type_of(j, list) == JDOC_LIST)
		return read_object(record, list, sink, err);
	if (jdoc_get(j, JDOC_ROOT, "question") == JDOC_NONE && jdoc_get(j, JDOC_ROOT, "name") != JDOC_NONE) {
		sink->no_request(sink, "metadata");
		return 0;
	}
	return read_line(j, sink, err);
}

static bool recognises(const struct sniff *sniff)
{
	return sniff_text(sniff, "\"tok_input_length\"") || sniff_members(sniff, "dataset metadata");
}

const struct source_format source_llm_load_test = {
	.name = "llm-load-test",
	.about = "llm-load-test datasets: questions, and lengths in tokens, after a line of metadata",
	.kind = SOURCE_DATASET,
	.unit = UNIT_JSON,
	.read_record = read_record,
	.recognises = recognises,
};
