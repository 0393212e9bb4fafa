/* humaneval: HumanEval, Python functions to complete.
 *
 * Origin: github.com/openai/human-eval. JSON Lines, or the same as CSV:
 *
 *     prompt              the head of the function
 *     canonical_solution  the rest, which is the answer
 *
 * Other members (task_id, entry_point, test) are ignored.
 */
#include "sources/chat_fields.h"
#include "sources/sniff.h"

static int read_record(void *state, const struct source_record *record, struct sink *sink, struct ipf_error *err)
{
	static const struct chat_pair_keys keys = {.prompt = "prompt", .answer = "canonical_solution"};
	(void)state;
	return chat_pair_from(record, &keys, sink, err);
}

static bool recognises(const struct sniff *sniff)
{
	return sniff_members(sniff, "task_id prompt canonical_solution");
}

const struct source_format source_humaneval = {
	.name = "humaneval",
	.about = "HumanEval: programs to complete, with their solutions",
	.kind = SOURCE_DATASET,
	.unit = UNIT_TABLE,
	.read_record = read_record,
	.recognises = recognises,
};
