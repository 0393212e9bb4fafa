/* stories: CNN/DailyMail, news articles as text files: the article, then each highlight below a line "@highlight".
 *
 * Origin: github.com/abisee/cnn-dailymail.
 */
#include "utf8.h"
#include "sources/chat_fields.h"
#include "sources/sniff.h"

#include <string.h>

/* Without white space at its ends. */
static struct slice trimmed(struct slice s)
{
	while (s.len > 0 && strchr(" \t\r\n", *s.data))
		s = (struct slice){s.data + 1, s.len - 1};
	while (s.len > 0 && strchr(" \t\r\n", s.data[s.len - 1]))
		s.len--;
	return s;
}

static int read_story(void *state, const struct source_record *record, struct sink *sink, struct ipf_error *err)
{
	static const char mark[] = "@highlight";
	(void)state;
	struct draft *d = &sink->draft;
	struct slice left = record->text, article = {0}, highlights = {0};
	size_t good;
	if (!utf8_valid(left.data, left.len, &good))
		return ipf_error_set(err, IPF_INPUT, "not UTF-8: byte 0x%02x at byte %zu", (unsigned char)left.data[good],
		                     good + 1);
	for (bool first = true; left.data; first = false) {
		const char *at = memmem(left.data, left.len, mark, sizeof mark - 1);
		struct slice part = trimmed((struct slice){left.data, at ? (size_t)(at - left.data) : left.len});
		if (first)
			article = part;
		else
			highlights = highlights.len > 0 ? draft_join(d, highlights, "\n", part) : part;
		left = at ? (struct slice){at + sizeof mark - 1, left.len - (size_t)(at - left.data) - (sizeof mark - 1)}
		          : (struct slice){0};
	}
	return chat_pair(sink, (struct slice){0}, article, highlights, err);
}

static bool recognises_story(const struct sniff *sniff)
{
	return !sniff->json && sniff_text(sniff, "\n@highlight\n");
}

const struct source_format source_stories = {
	.name = "stories",
	.about = "CNN/DailyMail stories, one per file, with highlights below \"@highlight\"",
	.kind = SOURCE_DATASET,
	.unit = UNIT_FILE,
	.read_record = read_story,
	.recognises = recognises_story,
};
