/* text: plain text, a prompt a line. Empty lines are skipped. The length of the answers is not known. */
#include "utf8.h"
#include "sources/sniff.h"
#include "sources/source.h"

#include <string.h>

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
	size_t good = 0; /* what was looked at may end within a character */
	if (sniff->json || sniff->head.data[strspn(sniff->head.data, " \t\r\n")] == '{' ||
	    memchr(sniff->head.data, '\0', sniff->head.len))
		return false;
	return utf8_valid(sniff->head.data, sniff->head.len, &good) || good + 4 > sniff->head.len;
}

const struct source_format source_text = {
	.name = "text",
	.about = "plain text: one prompt per line",
	.kind = SOURCE_DATASET,
	.unit = UNIT_LINE,
	.read_record = read_line,
	.recognises = recognises,
};
