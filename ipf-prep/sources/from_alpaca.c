/* Alpaca: {"instruction": "…", "input": "…", "output": "…"}, the prompt being the instruction and, where there is one,
 * the input on the line below. Its seed tasks hold several pairs of input and output to an instruction, in "instances":
 * a request each.
 */
#include "sources/detect_format.h"
#include "sources/source.h"

static int text_member(const struct jdoc *j, jdoc_id map, const char *key, const char *shown, jdoc_id *node,
                       struct ipf_error *err)
{
	*node = jdoc_get(j, map, key);
	if (jdoc_is_null(j, *node) || jdoc_type_of(j, *node) == JDOC_TEXT)
		return 0;
	return jdoc_expected(j, *node, shown, "a string", err);
}

/* One request of the pair in `map`; `instance` is its place in "instances". */
static int one_pair(const struct source_record *record, jdoc_id map, jdoc_id instruction, int64_t instance,
                    struct sink *sink, struct ipf_error *err)
{
	const struct jdoc *j = record->json;
	struct draft *d = &sink->draft;
	jdoc_id input, output;
	if (text_member(j, map, "input", "input", &input, err) < 0 ||
	    text_member(j, map, "output", "output", &output, err) < 0)
		return -1;
	if (output == JDOC_NONE)
		return ipf_error_set(err, IPF_INPUT, "output: missing");
	draft_reset(d);
	d->number = record->number;
	d->part = instance;
	struct draft_request *r = draft_request(d);
	if (!r)
		return 0;
	struct slice prompt = draft_text(d, j, instruction), more = draft_text(d, j, input);
	if (more.len > 0)
		prompt = prompt.len > 0 ? draft_join(d, prompt, "\n", more) : more;
	if (prompt.len == 0) {
		sink->unusable(sink, "empty instruction");
		return 0;
	}
	r->answer = draft_text(d, j, output);
	draft_message(d, ROLE_USER, prompt);
	return sink->take(sink, d, err);
}

static int one_record(void *state, const struct source_record *record, struct sink *sink, struct ipf_error *err)
{
	(void)state;
	const struct jdoc *j = record->json;
	jdoc_id instruction;
	if (jdoc_type_of(j, JDOC_ROOT) != JDOC_MAP)
		return jdoc_expected(j, JDOC_ROOT, "record", "an object", err);
	if (text_member(j, JDOC_ROOT, "instruction", "instruction", &instruction, err) < 0)
		return -1;
	if (instruction == JDOC_NONE)
		return ipf_error_set(err, IPF_INPUT, "instruction: missing");
	jdoc_id instances = jdoc_get(j, JDOC_ROOT, "instances");
	if (jdoc_is_null(j, instances))
		return one_pair(record, JDOC_ROOT, instruction, 0, sink, err);
	if (jdoc_type_of(j, instances) != JDOC_LIST)
		return jdoc_expected(j, instances, "instances", "a list", err);
	int64_t at = 0;
	for (struct jdoc_each e = jdoc_each(j, instances); jdoc_step(&e); at++) {
		if (jdoc_type_of(j, e.value) != JDOC_MAP)
			return jdoc_expected(j, e.value, "instances", "a list of objects", err);
		if (one_pair(record, e.value, instruction, at, sink, err) < 0)
			return -1;
	}
	return 0;
}

static bool knows(const struct sniff *sniff)
{
	return sniff_has(sniff, "instruction output") || sniff_has(sniff, "instruction instances");
}

const struct source_format source_alpaca = {
	.name = "alpaca",
	.about = "instruction, input and output; also the seed tasks with their instances",
	.kind = SOURCE_DATASET,
	.unit = UNIT_JSON,
	.knows = knows,
	.record = one_record,
};
