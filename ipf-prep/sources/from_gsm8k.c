/* GSM8K: {"question", "answer"}. */
#include "sources/detect_format.h"
#include "sources/record_fields.h"

static int one_record(void *state, const struct source_record *record, struct sink *sink, struct ipf_error *err)
{
	(void)state;
	const struct jdoc *j = record->json;
	struct draft *d = &sink->draft;
	struct slice question, answer;
	if (need_map(j, JDOC_ROOT, "record", err) < 0 || need_text(d, j, JDOC_ROOT, "question", &question, err) < 0 ||
	    need_text(d, j, JDOC_ROOT, "answer", &answer, err) < 0)
		return -1;
	return record_fields_pair(sink, (struct slice){0}, question, answer, err);
}

static bool knows(const struct sniff *sniff)
{
	return (sniff_has(sniff, "question answer") || sniff_columns(sniff, "question answer")) &&
	       sniff_text(sniff, "####");
}

const struct source_format source_gsm8k = {
	.name = "gsm8k",
	.about = "grade-school mathematics: question and answer",
	.kind = SOURCE_DATASET,
	.unit = UNIT_TABLE,
	.knows = knows,
	.record = one_record,
};
