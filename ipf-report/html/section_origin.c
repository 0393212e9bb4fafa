/* Where the figures come from: the run, the commands that made it, the headers of its streams. */
#include "html/sections.h"

#include "formats/text_layout.h"
#include "html/html_streams.h"
#include "html/html_text.h"
#include "html/json_path.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Bytes of a header that is shown. */
enum { HEADER_MOST = 256 * 1024 };

/* ---- the run ---- */

static void trace_fact(const struct page *page, json_t *run)
{
	char text[160], a[40];
	const char *sha = text_at(run, "trace/sha256");
	if (isnan(figure_at(run, "trace/requests")))
		return;
	snprintf(text, sizeof text, "%s requests, SHA-256 %.64s", show_count((int64_t)figure_at(run, "trace/requests"), a),
	         sha ? sha : "unknown");
	fact(page, "trace", text);
}

static void meta_facts(const struct page *page, json_t *run)
{
	const char *key;
	json_t *value;
	json_object_foreach(json_at(run, "meta"), key, value) fact(page, key, json_string_value(value));
}

static void tokenizer_fact(const struct page *page, json_t *run)
{
	const char *name = text_at(run, "tokenizer/name"), *rule = text_at(run, "tokenizer/rule");
	char text[400];
	if (!name)
		return;
	snprintf(text, sizeof text, rule ? "%.300s (%.60s)" : "%.300s", name, rule);
	fact(page, "tokenizer", text);
}

/* Whose file it is and whose definitions its figures have, if they are not ours. */
static void imported_facts(const struct page *page, json_t *run)
{
	const char *tool = text_at(run, "imported/tool"), *version = text_at(run, "imported/version"),
			   *has = text_at(run, "imported/has");
	char text[240];
	json_t *note;
	size_t i;
	if (!tool)
		return;
	snprintf(text, sizeof text, "%.20s of %.80s%s%.60s", has ? has : "", tool,
	         version ? " " : ", which does not say its version", version ? version : "");
	fact(page, "imported", text);
	json_array_foreach(json_at(run, "imported/notes"), i, note)
		fact(page, i ? "" : "its definitions", json_string_value(note));
}

/* Those that ipf-collect --definition applied. */
static void definition_facts(const struct page *page, json_t *run)
{
	const char *tool = text_at(run, "definition/tool"), *version = text_at(run, "definition/version"), *figure;
	char text[400];
	json_t *rule;
	if (!tool)
		return;
	snprintf(text, sizeof text, "those of %.80s %.60s, not those at the end of this page", tool,
	         version ? version : "");
	fact(page, "definitions", text);
	json_object_foreach(json_at(run, "definition/rules"), figure, rule)
	{
		snprintf(text, sizeof text, "%.40s: %.300s", figure, json_is_string(rule) ? json_string_value(rule) : "");
		fact(page, "", text);
	}
}

void section_run(const struct page *page)
{
	json_t *run = json_at(page->json, "run"), *version;
	const struct run_data *data = page->report->run;
	struct buffer versions = {0};
	const char *tool;
	char text[80], a[40];
	facts_begin(page);
	imported_facts(page, run);
	definition_facts(page, run);
	fact(page, "name", text_at(run, "name"));
	fact(page, "target", text_at(run, "target"));
	fact(page, "API", text_at(run, "api"));
	fact(page, "model", text_at(run, "model"));
	tokenizer_fact(page, run);
	trace_fact(page, run);
	fact(page, "schedule", text_at(run, "schedule"));
	fact(page, "started", text_at(run, "started"));
	snprintf(text, sizeof text, "%s s%s", show_number(figure_at(run, "duration_s"), a),
	         data->part_count == 1 ? ""
	         : data->shards        ? ", pooled from shards"
	                               : ", pooled from repeats");
	fact(page, "duration", isnan(figure_at(run, "duration_s")) ? NULL : text);
	if (!isnan(figure_at(run, "seed"))) {
		snprintf(text, sizeof text, "%lld", (long long)json_integer_value(json_at(run, "seed")));
		fact(page, "seed", text);
	}
	fact(page, "client", text_at(run, "host/name"));
	meta_facts(page, run);
	json_object_foreach(json_at(run, "versions"), tool, version)
		buffer_format(&versions, "%s%.40s %.40s", versions.len ? ", " : "", tool, json_string_value(version));
	fact(page, "versions", versions.data);
	page->out->failed |= versions.failed;
	buffer_release(&versions);
	facts_end(page);
}

/* ---- streams ---- */

void section_commands(const struct page *page)
{
	struct html_streams streams;
	html_streams_find(&streams, json_at(page->json, "run/headers"));
	buffer_text(page->out,
	            "<p>The arguments as the streams of the run recorded them, in the order in which the programs ran. "
	            "Where a program wrote its stream is not recorded: add <code>-o</code>, or a pipe.</p>\n");
	html_commands(page->out, &streams);
}

static void file_facts(const struct page *page, json_t *header)
{
	char text[400], a[40];
	const char *name = text_at(header, "file"), *sha = text_at(header, "sha256");
	snprintf(text, sizeof text, "%.200s%s%s%s", name ? name : "", isnan(figure_at(header, "bytes")) ? "" : ", ",
	         isnan(figure_at(header, "bytes")) ? "" : show_count((int64_t)figure_at(header, "bytes"), a),
	         isnan(figure_at(header, "bytes")) ? "" : " bytes");
	fact(page, "file", name ? text : NULL);
	fact(page, "SHA-256", sha);
}

static void stream_facts(const struct page *page, json_t *header)
{
	char text[80];
	facts_begin(page);
	fact(page, "made by", text_at(header, "tool"));
	fact(page, "created", text_at(header, "created"));
	if (json_is_integer(json_at(header, "seed"))) {
		snprintf(text, sizeof text, "%lld", (long long)json_integer_value(json_at(header, "seed")));
		fact(page, "seed", text);
	} else {
		fact(page, "seed", text_at(header, "seed"));
	}
	file_facts(page, header);
	fact(page, "source", text_at(header, "source"));
	fact(page, "tokenizer", text_at(header, "tokenizer/name"));
	fact(page, "target", text_at(header, "target"));
	facts_end(page);
}

/* The header without those of the streams that it was made from, which are shown themselves. */
static void show_header(const struct page *page, json_t *header)
{
	json_t *own = json_copy(header);
	char *text;
	json_object_del(own, "from");
	text = own ? json_dumps(own, JSON_INDENT(2) | JSON_REAL_PRECISION(15)) : NULL;
	if (!text)
		page->out->failed = true;
	else if (strlen(text) <= HEADER_MOST) {
		buffer_text(page->out, "<details><summary>Header</summary><pre tabindex=\"0\">");
		html_lines(page->out, slice_of(text));
		buffer_text(page->out, "</pre></details>\n");
	} else {
		buffer_text(page->out, "<p class=\"note\">Its header is too long for this page; the JSON report has it.</p>\n");
	}
	free(text);
	json_decref(own);
}

void section_provenance(const struct page *page)
{
	struct html_streams streams;
	char text[80];
	const char *digest = text_at(page->json, "run/digest");
	html_streams_find(&streams, json_at(page->json, "run/headers"));
	if (digest) {
		facts_begin(page);
		fact(page, "digest of the run", digest);
		facts_end(page);
	}
	for (int i = 0; i < streams.count; i++) {
		const char *kind = text_at(streams.list[i], "ipf");
		snprintf(text, sizeof text, "%.60s", kind ? kind : "data");
		text[0] = (char)(text[0] >= 'a' && text[0] <= 'z' ? text[0] - 'a' + 'A' : text[0]);
		buffer_text(page->out, "<h3>");
		html_text(page->out, text);
		buffer_text(page->out, "</h3>\n");
		stream_facts(page, streams.list[i]);
		show_header(page, streams.list[i]);
	}
	if (streams.count == HTML_STREAMS_MOST)
		buffer_format(page->out, "<p class=\"note\">The first %d streams; the JSON report has all headers.</p>\n",
		              HTML_STREAMS_MOST);
}
