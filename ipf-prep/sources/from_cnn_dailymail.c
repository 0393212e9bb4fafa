/* CNN/DailyMail: {"article", "highlights", "id"}, as JSON or CSV; the article is the prompt, its highlights are the
 * answer. Also the stories it was made of, a file each: the article, and then highlights, each below a line
 * "@highlight".
 */
#include "json/utf8.h"
#include "sources/detect_format.h"
#include "sources/record_fields.h"

#include <string.h>

static int one_record(void *state, const struct source_record *record, struct sink *sink, struct ipf_error *err)
{
	(void)state;
	const struct jdoc *j = record->json;
	struct draft *d = &sink->draft;
	struct slice article, highlights;
	if (need_map(j, JDOC_ROOT, "record", err) < 0 || need_text(d, j, JDOC_ROOT, "article", &article, err) < 0 ||
	    need_text(d, j, JDOC_ROOT, "highlights", &highlights, err) < 0)
		return -1;
	return record_fields_pair(sink, (struct slice){0}, article, highlights, err);
}

static bool knows(const struct sniff *sniff)
{
	return sniff_has(sniff, "article highlights") || sniff_columns(sniff, "article highlights");
}

const struct source_format source_cnn_dailymail = {
	.name = "cnn-dailymail",
	.about = "news articles and their highlights, as JSON or CSV",
	.kind = SOURCE_DATASET,
	.unit = UNIT_TABLE,
	.knows = knows,
	.record = one_record,
};

/* ---- stories ---- */

static struct slice trimmed(struct slice s)
{
	while (s.len > 0 && strchr(" \t\r\n", *s.data))
		s = (struct slice){s.data + 1, s.len - 1};
	while (s.len > 0 && strchr(" \t\r\n", s.data[s.len - 1]))
		s.len--;
	return s;
}

static int one_story(void *state, const struct source_record *record, struct sink *sink, struct ipf_error *err)
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
	return record_fields_pair(sink, (struct slice){0}, article, highlights, err);
}

static bool knows_story(const struct sniff *sniff)
{
	return !sniff->json && sniff_text(sniff, "\n@highlight\n");
}

const struct source_format source_stories = {
	.name = "stories",
	.about = "CNN/DailyMail's stories, a file each, with their highlights below \"@highlight\"",
	.kind = SOURCE_DATASET,
	.unit = UNIT_FILE,
	.knows = knows_story,
	.record = one_story,
};
