#include "api/unread_text.h"

#include <string.h>

static bool ends_with(struct slice s, const char *end)
{
	size_t len = strlen(end);
	return s.len >= len && memcmp(s.data + s.len - len, end, len) == 0;
}

/* A string with its quotes. */
static bool frames_a_part(struct slice type)
{
	static const char *const ends[] = {".added\"",       ".done\"",       ".created\"",     ".queued\"",
	                                   ".in_progress\"", ".completed\"",  "_start\"",       "_stop\"",
	                                   ".failed\"",      ".incomplete\"", ".interpreting\""};
	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
		if (ends_with(type, ends[i]))
			return true;
	return false;
}

static bool names_generated_text(struct slice key)
{
	static const char *const names[] = {
		"\"text\"",           "\"content\"",        "\"delta\"",        "\"thinking\"",          "\"thought\"",
		"\"reasoning\"",      "\"reasoning_text\"", "\"summary_text\"", "\"reasoning_content\"", "\"partial_json\"",
		"\"generated_text\"", "\"completion\"",     "\"output_text\"",  "\"arguments\"",         "\"answer\"",
		"\"text_output\"",    "\"response\"",
	};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (slice_is(key, names[i]))
			return true;
	return false;
}

size_t unread_text(const struct jdoc *doc)
{
	const jdoc_id type = jdoc_get(doc, JDOC_ROOT, "type");
	if (jdoc_type_of(doc, type) == JDOC_TEXT && frames_a_part(jdoc_raw(doc, type)))
		return 0;
	for (jdoc_id node = 0; node < doc->count; node++) {
		struct slice raw = jdoc_raw(doc, node);
		if (node > 0 && jdoc_type_of(doc, node) == JDOC_TEXT && raw.len > 2 &&
		    names_generated_text(jdoc_raw(doc, node - 1)) && jdoc_key_of(doc, node) == node - 1)
			return raw.len - 2;
	}
	return 0;
}
