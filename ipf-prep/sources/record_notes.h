/* Facts about each input file a user should know unasked: records left out, and members or unused columns although
 * their names look like a prompt, context, tools, a time, a length, a model or a sampling parameter.
 *
 *     struct record_notes notes = {.ignored = format->ignored};
 *     record_notes_begin_file(&notes, "squad.jsonl");
 *     record_notes_begin_record(&notes, line);
 *     … the format reads a watched document (jdoc_watch), may call record_notes_left_out(&notes, why) …
 *     record_notes_members(&notes, "", &json);
 *     record_notes_end_record(&notes, true);
 *     record_notes_print(&notes, stderr);
 *     json_object_set_new(trailer, "unread", record_notes_unread(&notes));
 *     record_notes_release(&notes);
 *
 * Functions accept NULL for the notes and then do nothing. Memory is bounded: a file has at most 64 notes.
 */
#ifndef PREP_RECORD_NOTES_H
#define PREP_RECORD_NOTES_H

#include "input/csv.h"
#include "json/jdoc.h"

#include <jansson.h>
#include <stdio.h>

struct record_note;

struct record_notes {
	const char *ignored; /* members the format leaves out on purpose, separated by spaces; NULL: none */
	/* For hints: the places of the prompt as --field takes them, which may be "", and the options for the other fields
	 * in use; NULL: the format has no --field. */
	const char *prompt_at, *other_fields;
	struct record_note *list;
	size_t count, cap, first; /* `first`: of the file at hand */
	char *file;               /* its name */
	int64_t line, record;     /* the record at hand; counted from 1 over all files */
	int64_t records;          /* the current file's */
	int64_t left_out;         /* in all */
	bool failed;              /* memory ran out */
};

void record_notes_begin_file(struct record_notes *n, const char *name);
/* Returns how many records were left out before. */
int64_t record_notes_begin_record(struct record_notes *n, int64_t line);
/* Another record in the same one. */
void record_notes_element(struct record_notes *n);
/* Leaves out the record at hand; `why` is a literal. After the last record, the line is not known. */
void record_notes_left_out(struct record_notes *n, const char *why);
/* Skips the record at hand, which is none of a request. */
void record_notes_skip(struct record_notes *n);
/* Notes the members of a document nothing used. `path` is the JSON Pointer of the document in the record: "", or the
 * place of a string holding JSON. */
void record_notes_members(struct record_notes *n, const char *path, const struct jdoc *j);
/* The same for a row of CSV: an object of strings. */
void record_notes_row(struct record_notes *n, const struct jdoc *row);
/* Notes the columns csv_column() did not look up, with a value in this row. */
void record_notes_columns(struct record_notes *n, const struct csv *csv);
/* Forgets the members of an unused record: its reader stopped before it had read all. */
void record_notes_end_record(struct record_notes *n, bool used);

/* Whether anything was left out or not used. */
bool record_notes_any(const struct record_notes *n);
void record_notes_print(const struct record_notes *n, FILE *to);
/* New lists for the trailer, see ipf-trace(5); NULL: there are none, or no memory. */
json_t *record_notes_left_out_json(const struct record_notes *n);
json_t *record_notes_unread_json(const struct record_notes *n);
void record_notes_release(struct record_notes *n);

#endif
