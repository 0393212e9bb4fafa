/* gsm8k: GSM8K, problems of grade-school mathematics.
 *
 * Origin: github.com/openai/grade-school-math. JSON Lines, or the same as CSV:
 *
 *     question  the prompt
 *     answer    the answer, whose last line is "#### NUMBER"
 *
 * A dataset of prompts and answers to copy for a new one.
 */
#include "sources/chat_fields.h"
#include "sources/sniff.h"

static int read_record(void *state, const struct source_record *record, struct sink *sink, struct ipf_error *err)
{
	static const struct chat_pair_keys keys = {.prompt = "question", .answer = "answer"};
	(void)state;
	return chat_pair_from(record, &keys, sink, err);
}

static bool recognises(const struct sniff *sniff)
{
	return (sniff_members(sniff, "question answer") || sniff_columns(sniff, "question answer")) &&
	       sniff_text(sniff, "####");
}

const struct source_format source_gsm8k = {
	.name = "gsm8k",
	.about = "GSM8K, grade-school mathematics: question and answer",
	.kind = SOURCE_DATASET,
	.unit = UNIT_TABLE,
	.read_record = read_record,
	.recognises = recognises,
};
