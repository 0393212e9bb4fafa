/* openorca: OpenOrca.
 *
 * Origin: the dataset Open-Orca/OpenOrca of the Hugging Face hub. JSON Lines, or the same as CSV:
 *
 *     system_prompt  system message (optional)
 *     question       the prompt
 *     response       the answer
 *
 * `id` is ignored.
 */
#include "sources/chat_fields.h"
#include "sources/sniff.h"

static int read_record(void *state, const struct source_record *record, struct sink *sink, struct ipf_error *err)
{
	static const struct chat_pair_keys keys = {.system = "system_prompt", .prompt = "question", .answer = "response"};
	(void)state;
	return chat_pair_from(record, &keys, sink, err);
}

static bool recognises(const struct sniff *sniff)
{
	return sniff_members(sniff, "system_prompt question response");
}

const struct source_format source_openorca = {
	.name = "openorca",
	.about = "OpenOrca: system prompt, question and response",
	.kind = SOURCE_DATASET,
	.unit = UNIT_TABLE,
	.read_record = read_record,
	.recognises = recognises,
};
