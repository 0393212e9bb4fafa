/* OpenOrca: {"id", "system_prompt", "question", "response"}. */
#include "sources/detect_format.h"
#include "sources/record_fields.h"

static int one_record(void *state, const struct source_record *record, struct sink *sink, struct ipf_error *err)
{
	(void)state;
	const struct jdoc *j = record->json;
	struct draft *d = &sink->draft;
	struct slice system, question, response;
	if (need_map(j, JDOC_ROOT, "record", err) < 0 ||
	    record_fields_text(d, j, JDOC_ROOT, "system_prompt", &system, err) < 0 ||
	    need_text(d, j, JDOC_ROOT, "question", &question, err) < 0 ||
	    need_text(d, j, JDOC_ROOT, "response", &response, err) < 0)
		return -1;
	return record_fields_pair(sink, system, question, response, err);
}

static bool knows(const struct sniff *sniff)
{
	return sniff_has(sniff, "system_prompt question response");
}

const struct source_format source_openorca = {
	.name = "openorca",
	.about = "system prompt, question and response",
	.kind = SOURCE_DATASET,
	.unit = UNIT_TABLE,
	.knows = knows,
	.record = one_record,
};
