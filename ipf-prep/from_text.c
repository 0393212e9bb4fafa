/* Plain text: each line that is not empty is a prompt. How long the answers are to be, the data don't say. */
#include "source.h"

static int one_line(void *state, const struct source_record *record, struct sink *sink, struct ipf_error *err)
{
	(void)state;
	struct draft *d = &sink->draft;
	if (!draft_request(d))
		return 0;
	draft_message(d, ROLE_USER, record->text);
	return sink->take(sink, d, err);
}

const struct source_format source_text = {
	.name = "text",
	.about = "a prompt a line",
	.kind = SOURCE_DATASET,
	.unit = UNIT_LINE,
	.record = one_line,
};
