#include "sources/detect_format.h"

#include "input/json_splitter.h"
#include "sources/csv_outline.h"
#include "sources/json_outline.h"
#include "sources/member_names.h"
#include "utf8.h"

#include <string.h>
#include <strings.h>

#define LOOK ((size_t)4 << 20) /* how much of a file is looked at, in bytes */

/* The beginning of a file, and its apparent kind. */
struct look {
	const char *name;
	struct slice head;
	bool whole; /* the head is the whole file */
	struct sniff sniff;
	struct json_outline outline;
	struct csv csv;
	struct jdoc record, row;
	struct byte_window window;
	struct slice left;
	bool is_json, is_table; /* by its content or the file's name */
};

static const struct source_format *ask_all(const struct sniff *sniff)
{
	const struct source_format *format;
	for (size_t i = 0; (format = source_at(i)); i++)
		if (source_recognises(format, sniff))
			return format;
	return NULL;
}

/* The first record of a JSON file, or the first row of a page of rows; NULL if it is not JSON, or cut. */
static const struct jdoc *first_record(struct byte_window *window, struct jdoc *j, struct jdoc *row)
{
	struct json_splitter splitter;
	struct slice text;
	struct ipf_error ignored = {0};
	json_splitter_begin(&splitter, window);
	if (json_splitter_next(&splitter, &text, &ignored) != 1 || jdoc_parse(j, text.data, text.len, &ignored) < 0)
		return NULL;
	jdoc_id rows = jdoc_get(j, JDOC_ROOT, "rows");
	struct slice inner = jdoc_raw(j, jdoc_get(j, jdoc_at(j, rows, 0), "row"));
	if (jdoc_get(j, JDOC_ROOT, "features") == JDOC_NONE || !inner.data)
		return j;
	return jdoc_parse(row, inner.data, inner.len, &ignored) == 0 ? row : NULL;
}

/* ---- names and first bytes ---- */

/* Has the file's name one of these endings, separated by spaces? Those of compression are ignored. */
static bool has_ending(const char *name, const char *endings)
{
	static const char *const compressed[] = {".gz", ".zst", ".xz", ".bz2"};
	size_t len = strlen(name);
	for (size_t i = 0; i < sizeof compressed / sizeof *compressed; i++) {
		size_t tail = strlen(compressed[i]);
		if (len > tail && strcasecmp(name + len - tail, compressed[i]) == 0) {
			len -= tail;
			break;
		}
	}
	while (*endings) {
		size_t tail = strcspn(endings, " ");
		if (len > tail && strncasecmp(name + len - tail, endings, tail) == 0)
			return true;
		endings += tail + (endings[tail] == ' ');
	}
	return false;
}

struct foreign_kind {
	const char *bytes, *kind;
	bool text; /* the file is text in UTF-8 */
};

static const struct foreign_kind foreign_kinds[] = {
	{"SQLite format 3", "an SQLite database, which no source reads", false},
	{"ARROW1", "an Arrow file, which no source reads", false},
	{"FEA1", "a Feather file, which no source reads", false},
	{"ORC", "an ORC file, which no source reads", false},
	{"Obj\x01", "an Avro file, which no source reads", false},
	{"\x89HDF", "an HDF5 file, which no source reads", false},
	{"\x89PNG", "an image, which no source reads", false},
	{"\xff\xd8\xff", "an image, which no source reads", false},
	{"GIF8", "an image, which no source reads", false},
	{"\177ELF", "a program, which no source reads", false},
	{"\x80\x02", "a Python pickle, which no source reads", false},
	{"\x80\x03", "a Python pickle, which no source reads", false},
	{"\x80\x04", "a Python pickle, which no source reads", false},
	{"\x80\x05", "a Python pickle, which no source reads", false},
	{"\x93NUMPY", "a NumPy array, which no source reads", false},
	{"PK\x03\x04", "a zip archive: its name has to end in .zip", false},
	{"7z\xbc\xaf\x27\x1c", "a 7z archive: its name has to end in .7z", false},
	{"\x04\x22\x4d\x18", "compressed with lz4, which no source reads", false},
	{"\xff\xfe", "text in UTF-16: convert it to UTF-8", false},
	{"\xfe\xff", "text in UTF-16: convert it to UTF-8", false},
	{"%PDF-", "a PDF document, which no source reads", true},
	{"<?xml", "an XML document, which no source reads", true},
	{"<!DOCTYPE html", "an HTML page, which no source reads", true},
	{"<html", "an HTML page, which no source reads", true}};

/* The kind of a file no source reads, by its first bytes; NULL if unknown. */
static const char *foreign_kind(struct slice head)
{
	size_t good = 0, blank = 0;
	bool nul = memchr(head.data, '\0', head.len) != NULL;
	bool binary = nul || (!utf8_valid(head.data, head.len, &good) && good + 4 <= head.len);
	while (blank < head.len && head.data[blank] && strchr(" \t\r\n", head.data[blank]))
		blank++;
	for (size_t i = 0; i < sizeof foreign_kinds / sizeof *foreign_kinds; i++) {
		const struct foreign_kind *k = &foreign_kinds[i];
		size_t len = strlen(k->bytes), at = k->text ? blank : 0;
		if (head.len - at >= len && (binary || k->text) && strncasecmp(head.data + at, k->bytes, len) == 0)
			return k->kind;
	}
	return nul ? "binary data, which no source reads" : NULL;
}

/* ---- looking ---- */

static bool is_text(const struct look *look)
{
	size_t good = 0; /* the beginning may end within a character */
	if (look->is_json || look->is_table || foreign_kind(look->head))
		return false;
	return utf8_valid(look->head.data, look->head.len, &good) || (!look->whole && good + 4 > look->head.len);
}

static void look_at(struct look *look)
{
	struct ipf_error ignored = {0};
	size_t blank = 0;
	struct slice head = look->head;
	look->left = head;
	look->window = (struct byte_window){.read = byte_window_read_slice, .data = &look->left};
	look->sniff.head = head;
	while (blank < head.len && head.data[blank] && strchr(" \t\r\n\xef\xbb\xbf", head.data[blank]))
		blank++;
	bool bracket = blank < head.len && (head.data[blank] == '{' || head.data[blank] == '[');
	json_outline_read(&look->outline, head);
	if (bracket) {
		look->sniff.json = first_record(&look->window, &look->record, &look->row);
	} else {
		csv_begin(&look->csv, &look->window);
		if (csv_header(&look->csv, &ignored) == 1)
			look->sniff.csv = &look->csv;
	}
	look->is_json = look->outline.is_json || has_ending(look->name, ".json .jsonl .ndjson");
	look->is_table = !look->is_json && look->sniff.csv && !foreign_kind(head) &&
	                 (has_ending(look->name, ".csv .tsv") || csv_outline_is_table(head, look->whole));
	look->sniff.text = is_text(look);
}

static void look_release(struct look *look)
{
	jdoc_release(&look->record);
	jdoc_release(&look->row);
	csv_release(&look->csv);
	json_outline_release(&look->outline);
	byte_window_release(&look->window);
}

/* ---- messages about a file of no known format ---- */

static int unknown_table(const struct look *look, struct ipf_error *err)
{
	struct quoted_names columns = {0};
	for (size_t i = 0; i < look->csv.column_count; i++)
		quoted_names_add(&columns, slice_of(look->csv.columns[i]));
	int status = ipf_error_at(
		err, IPF_INPUT, look->name, 0,
		"CSV of no known format: map its columns with --field prompt=NAME --field output=NAME …, or "
		"give the source text if each line is a prompt; the columns are %s",
		quoted_names_text(&columns));
	quoted_names_release(&columns);
	return status;
}

static int unknown_record(const struct look *look, struct ipf_error *err)
{
	struct json_outline *o = (struct json_outline *)&look->outline;
	if (o->record == JSON_RECORD_OBJECT && o->members.count == 0)
		return ipf_error_at(err, IPF_INPUT, look->name, 0, "JSON whose first record is an empty object: give a SOURCE");
	const char *members = quoted_names_text(&o->members);
	int shown = (int)(o->list.len < 40 ? o->list.len : 40);
	if (o->record == JSON_RECORD_OBJECT && o->list.data && !o->in_list && member_kind_of(o->list) == MEMBER_PROMPT)
		return ipf_error_at(
			err, IPF_INPUT, look->name, 0,
			"JSON of no known format: its list \"%.*s\" seems to be one conversation; a list of "
			"messages with role and content is read by jsonl --field messages=/%.*s; its members are %s",
			shown, o->list.data, shown, o->list.data, members);
	if (o->record == JSON_RECORD_OBJECT && o->list.data && !o->in_list)
		return ipf_error_at(
			err, IPF_INPUT, look->name, 0,
			"JSON of no known format: one object; if the records are its list \"%.*s\", pass only that, as in "
			"jq -c '.[\"%.*s\"][]' FILE | ipf-prep auto; its members are %s",
			shown, o->list.data, shown, o->list.data, members);
	if (o->record == JSON_RECORD_OBJECT)
		return ipf_error_at(err, IPF_INPUT, look->name, 0,
		                    "JSON of no known format: map its members with --field prompt=NAME --field output=NAME … "
		                    "(/OUTER/INNER for inner ones); the members are %s",
		                    members);
	static const char *const what[] = {[JSON_RECORD_LIST] = "are lists",
	                                   [JSON_RECORD_TEXT] = "are strings",
	                                   [JSON_RECORD_OTHER] = "are numbers or literals"};
	return ipf_error_at(err, IPF_INPUT, look->name, 0, "JSON of no known format: its records %s, not objects%s",
	                    what[o->record],
	                    o->record == JSON_RECORD_TEXT ? "; if they are prompts: jq -r '.[]' FILE | ipf-prep text" : "");
}

static int unknown_json(const struct look *look, struct ipf_error *err)
{
	const struct json_outline *o = &look->outline;
	if (!o->is_json)
		return ipf_error_at(err, IPF_INPUT, look->name, 1,
		                    "not JSON, although its name says so: give the source text if each line is a prompt");
	if (o->too_deep)
		return ipf_error_at(err, IPF_INPUT, look->name, o->broken_line, "JSON nested too deep");
	if (o->broken_line && !look->sniff.json)
		return ipf_error_at(err, IPF_INPUT, look->name, o->broken_line,
		                    "invalid JSON; give the source text if each line is a prompt");
	if (o->record == JSON_RECORD_NONE)
		return ipf_error_at(err, IPF_INPUT, look->name, 0, "%s",
		                    look->whole ? "JSON without a record, or cut before it"
		                                : "JSON whose first record is too long");
	return unknown_record(look, err);
}

static void say_unknown(const struct look *look, struct ipf_error *err)
{
	const char *kind = foreign_kind(look->head);
	size_t good = 0;
	if (look->head.len == 0)
		ipf_error_at(err, IPF_INPUT, look->name, 0, "the file is empty");
	else if (kind)
		ipf_error_at(err, IPF_INPUT, look->name, 0, "%s", kind);
	else if (!utf8_valid(look->head.data, look->head.len, &good) && good + 4 <= look->head.len)
		ipf_error_at(err, IPF_INPUT, look->name, 0, "not UTF-8: byte 0x%02x at byte %zu",
		             (unsigned char)look->head.data[good], good + 1);
	else if (look->is_json)
		unknown_json(look, err);
	else if (look->is_table)
		unknown_table(look, err);
	else
		ipf_error_at(err, IPF_INPUT, look->name, 0,
		             "cannot detect the format: give one of --list, or use jsonl or csv with --field");
}

const struct source_format *detect_format(struct input *input, bool fields, struct ipf_error *err)
{
	const char *bytes;
	int64_t len = input_peek(input, LOOK, &bytes, err);
	if (len < 0)
		return NULL;
	struct look look = {.name = input_name(input), .head = {bytes, (size_t)len}, .whole = (size_t)len < LOOK};
	const struct source_format *format = NULL;
	look_at(&look);
	if (len > 0 && !(fields && (look.is_json || look.sniff.csv)))
		format = ask_all(&look.sniff);
	else if (len > 0 && !foreign_kind(look.head))
		format = source_find(look.is_json ? "jsonl" : "csv", err);
	if (!format)
		say_unknown(&look, err);
	look_release(&look);
	return format;
}
