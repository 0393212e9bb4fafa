/* alpaca: Alpaca and datasets in its format, and its seed tasks.
 *
 * Origin: github.com/tatsu-lab/stanford_alpaca. A JSON array or JSON Lines:
 *
 *     instruction  the first line of the prompt
 *     input        the rest of it (optional)
 *     output       the answer
 *     system       the system message (optional), and
 *     history      list of earlier exchanges [prompt, answer] (LLaMA-Factory; optional)
 *     instances    of a seed task: list of {"input", "output"}; each makes a request
 *
 * Other members are ignored.
 */
#include "sources/sniff.h"
#include "sources/record_fields.h"

/* What comes before the prompt: a system message, and earlier exchanges. */
static int read_context(struct draft *d, const struct jdoc *j, struct ipf_error *err)
{
	struct slice system;
	if (field_system(d, j, JDOC_ROOT, &system, err) < 0)
		return -1;
	if (system.len > 0)
		draft_message(d, ROLE_SYSTEM, system);
	jdoc_id history = jdoc_get(j, JDOC_ROOT, "history");
	if (!jdoc_is_null(j, history) && jdoc_type_of(j, history) != JDOC_LIST)
		return jdoc_expected(j, history, "history", "a list of [prompt, answer]", err);
	for (struct jdoc_each e = jdoc_each(j, history); jdoc_step(&e);) {
		jdoc_id prompt = jdoc_at(j, e.value, 0), answer = jdoc_at(j, e.value, 1);
		if (jdoc_type_of(j, prompt) != JDOC_TEXT || jdoc_type_of(j, answer) != JDOC_TEXT)
			return jdoc_expected(j, e.value, "history", "a list of [prompt, answer]", err);
		draft_message(d, ROLE_USER, draft_text(d, j, prompt));
		draft_message(d, ROLE_ASSISTANT, draft_text(d, j, answer));
	}
	return 0;
}

/* A request of the pair in `map`. */
static int read_pair(const struct jdoc *j, jdoc_id map, struct slice instruction, struct sink *sink,
                     struct ipf_error *err)
{
	struct draft *d = &sink->draft;
	struct slice input, output;
	if (field_text(d, j, map, "input", &input, err) < 0 || field_text(d, j, map, "output", &output, err) < 0)
		return -1;
	if (jdoc_get(j, map, "output") == JDOC_NONE)
		return ipf_error_set(err, IPF_INPUT, "output: missing");
	struct draft_request *r = draft_request(d);
	if (!r)
		return 0;
	struct slice prompt = draft_append(d, instruction, "\n", input);
	if (prompt.len == 0) {
		sink->unusable(sink, "empty instruction");
		return 0;
	}
	r->answer = output;
	if (read_context(d, j, err) < 0)
		return -1;
	draft_message(d, ROLE_USER, prompt);
	return sink->take(sink, d, err);
}

static int read_instances(const struct source_record *record, jdoc_id instances, struct sink *sink,
                          struct ipf_error *err)
{
	const struct jdoc *j = record->json;
	int64_t part = 0;
	for (struct jdoc_each e = jdoc_each(j, instances); jdoc_step(&e); part++) {
		struct slice instruction;
		if (jdoc_type_of(j, e.value) != JDOC_MAP)
			return jdoc_expected(j, e.value, "instances", "a list of objects", err);
		draft_begin(&sink->draft, record->number, part);
		if (field_text(&sink->draft, j, JDOC_ROOT, "instruction", &instruction, err) < 0 ||
		    read_pair(j, e.value, instruction, sink, err) < 0)
			return -1;
	}
	return 0;
}

static int read_record(void *state, const struct source_record *record, struct sink *sink, struct ipf_error *err)
{
	(void)state;
	const struct jdoc *j = record->json;
	struct slice instruction;
	if (need_object(j, JDOC_ROOT, "record", err) < 0 ||
	    field_text(&sink->draft, j, JDOC_ROOT, "instruction", &instruction, err) < 0)
		return -1;
	if (jdoc_get(j, JDOC_ROOT, "instruction") == JDOC_NONE)
		return ipf_error_set(err, IPF_INPUT, "instruction: missing");
	jdoc_id instances = jdoc_get(j, JDOC_ROOT, "instances");
	if (jdoc_is_null(j, instances))
		return read_pair(j, JDOC_ROOT, instruction, sink, err);
	if (jdoc_type_of(j, instances) != JDOC_LIST)
		return jdoc_expected(j, instances, "instances", "a list", err);
	return read_instances(record, instances, sink, err);
}

static bool recognises(const struct sniff *sniff)
{
	return sniff_members(sniff, "instruction output") || sniff_members(sniff, "instruction instances");
}

const struct source_format source_alpaca = {
	.name = "alpaca",
	.about = "Alpaca: instruction, input and output; also its seed tasks with their instances",
	.kind = SOURCE_DATASET,
	.unit = UNIT_JSON,
	.read_record = read_record,
	.recognises = recognises,
};
