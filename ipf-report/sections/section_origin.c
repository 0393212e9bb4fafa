/* The commands that made a run, and the headers of its streams. */
#include "sections/sections.h"
#include "sections/stream_commands.h"

#include "document/shown_numbers.h"
#include "output/shell_word.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MOST = 16, HEADER_MOST = 256 * 1024 };

/* ---- streams ---- */

static void find(struct streams *s, json_t *header, int depth)
{
	json_t *entry;
	size_t i;
	if (!json_is_object(header) || depth > DEPTH_MOST)
		return;
	json_array_foreach(json_object_get(header, "from"), i, entry) find(s, entry, depth + 1);
	for (int k = 0; k < s->count; k++)
		if (json_equal(s->list[k], header))
			return;
	if (s->count < STREAMS_MOST)
		s->list[s->count++] = header;
}

void streams_find(struct streams *s, json_t *headers)
{
	json_t *header;
	size_t i;
	s->count = 0;
	json_array_foreach(headers, i, header) find(s, header, 0);
}

/* Was the command that made it listed before, as when two parts of a trace were made by one? */
static bool is_repeated(const struct streams *s, int at)
{
	bool found = false;
	for (int i = 0; i < at && !found; i++)
		found = json_equal(json_at(s->list[i], "tool"), json_at(s->list[at], "tool")) &&
		        json_equal(json_at(s->list[i], "argv"), json_at(s->list[at], "argv"));
	return found;
}

void streams_commands(struct document *d, const struct streams *s)
{
	json_t *argument;
	size_t k;
	for (int i = 0; i < s->count; i++) {
		const char *tool = text_at(s->list[i], "tool");
		struct buffer line = {0};
		if (!tool || !json_is_array(json_at(s->list[i], "argv")) || is_repeated(s, i))
			continue;
		buffer_append(&line, tool, strcspn(tool, " "));
		json_array_foreach(json_at(s->list[i], "argv"), k, argument)
		{
			buffer_byte(&line, ' ');
			shell_word(&line, json_is_string(argument) ? json_string_value(argument) : "");
		}
		doc_part(d, PART_COMMAND, NULL, line.data ? line.data : "");
		d->failed |= line.failed;
		buffer_release(&line);
	}
}

void section_commands(const struct telling *t)
{
	struct streams streams;
	streams_find(&streams, json_at(t->report, "run/headers"));
	doc_part(
		t->d, PART_TEXT, NULL,
		"The arguments as the streams of the run recorded them, in the order in which the programs ran. The output of "
		"a program is not recorded: add `-o`, or a pipe.");
	streams_commands(t->d, &streams);
}

/* ---- provenance ---- */

static void tell_text(const struct telling *t, const char *label, json_t *header, const char *path)
{
	if (text_at(header, path))
		doc_fact(t->d, label, "%s", text_at(header, path));
}

static void tell_stream(const struct telling *t, json_t *header)
{
	json_t *seed = json_at(header, "seed");
	double bytes = figure_at(header, "bytes");
	char a[40];
	tell_text(t, "made by", header, "tool");
	tell_text(t, "created", header, "created");
	if (json_is_integer(seed))
		doc_fact(t->d, "seed", "%lld", (long long)json_integer_value(seed));
	tell_text(t, "seed", header, "seed");
	if (text_at(header, "file"))
		doc_fact(t->d, "file", "%s%s%s%s", text_at(header, "file"), isnan(bytes) ? "" : ", ",
		         isnan(bytes) ? "" : show_whole(bytes, a), isnan(bytes) ? "" : " bytes");
	tell_text(t, "SHA-256", header, "sha256");
	tell_text(t, "source", header, "source");
	tell_text(t, "tokenizer", header, "tokenizer/name");
	tell_text(t, "target", header, "target");
}

/* The header without those of the streams it was made from, which are shown themselves. */
static void tell_header(const struct telling *t, json_t *header)
{
	json_t *own = json_copy(header);
	json_object_del(own, "from");
	char *text = own ? json_dumps(own, JSON_INDENT(2) | JSON_REAL_PRECISION(15)) : NULL;
	if (!text)
		t->d->failed = true;
	else if (strlen(text) <= HEADER_MOST)
		doc_part(t->d, PART_CODE, "Header", text)->media = IN_PAGE;
	else
		doc_note(t->d, "Its header is too long for this page; the JSON report has it.")->media = IN_PAGE;
	free(text);
	json_decref(own);
}

void section_provenance(const struct telling *t)
{
	struct streams streams;
	streams_find(&streams, json_at(t->report, "run/headers"));
	tell_text(t, "digest", t->report, "run/digest");
	for (int i = 0; i < streams.count; i++) {
		const char *kind = text_at(streams.list[i], "ipf");
		kind = kind && *kind ? kind : "data";
		doc_part(t->d, PART_HEADING, NULL, doc_say(t->d, "%c%s", toupper((unsigned char)*kind), kind + 1));
		tell_stream(t, streams.list[i]);
		tell_header(t, streams.list[i]);
	}
	if (streams.count == STREAMS_MOST)
		doc_note(t->d, "The first %d streams; the JSON report has all headers.", STREAMS_MOST);
}
