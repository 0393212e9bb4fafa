/* HumanEval: {"task_id", "prompt", "canonical_solution", …}. */
#include "sources/detect_format.h"
#include "sources/record_fields.h"

static int one_record(void *state, const struct source_record *record, struct sink *sink, struct ipf_error *err)
{
	(void)state;
	const struct jdoc *j = record->json;
	struct draft *d = &sink->draft;
	struct slice prompt, solution;
	if (need_map(j, JDOC_ROOT, "record", err) < 0 || need_text(d, j, JDOC_ROOT, "prompt", &prompt, err) < 0 ||
	    need_text(d, j, JDOC_ROOT, "canonical_solution", &solution, err) < 0)
		return -1;
	return record_fields_pair(sink, (struct slice){0}, prompt, solution, err);
}

static bool knows(const struct sniff *sniff)
{
	return sniff_has(sniff, "task_id prompt canonical_solution");
}

const struct source_format source_humaneval = {
	.name = "humaneval",
	.about = "programs to complete, with their solutions",
	.kind = SOURCE_DATASET,
	.unit = UNIT_TABLE,
	.knows = knows,
	.record = one_record,
};
