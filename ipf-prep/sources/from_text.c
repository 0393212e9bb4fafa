/* text: plain text, a prompt a line. Empty lines are skipped. The length of the answers is not known. */
#include "sources/sniff.h"
#include "sources/source.h"

static int read_line(void *state, const struct source_record *record, struct sink *sink, struct ipf_error *err)
{
	(void)state;
	struct draft *d = &sink->draft;
	if (!draft_request(d))
		return 0;
	draft_message(d, ROLE_USER, record->text);
	return sink->take(sink, d, err);
}

static bool recognises(const struct sniff *sniff)
{
	return sniff->text;
}

const struct source_format source_text = {
	.name = "text",
	.about = "plain text: one prompt per line",
	.kind = SOURCE_DATASET,
	.unit = UNIT_LINE,
	.read_record = read_line,
	.recognises = recognises,
};
