/* The beginning of a file as JSON, for files of no known format: whether it is meant as JSON, its valid part, and the
 * members of its first record. It works on a part of a file, whatever the size of the records.
 *
 *     struct json_outline outline;
 *     json_outline_read(&outline, head);
 *     if (outline.is_json) … quoted_names_text(&outline.members) …
 *     json_outline_release(&outline);
 *
 * Text may begin with a bracket too ("[INST] Hello", "{name}, write a poem", "[1] See there."). It is JSON if it is
 * valid to the end of the part, or if it has at least an object with a key before the place where it is not.
 */
#ifndef PREP_JSON_OUTLINE_H
#define PREP_JSON_OUTLINE_H

#include "sources/quoted_names.h"

#include <stdbool.h>
#include <stdint.h>

enum json_record { JSON_RECORD_NONE, JSON_RECORD_OBJECT, JSON_RECORD_LIST, JSON_RECORD_TEXT, JSON_RECORD_OTHER };

struct json_outline {
	bool is_json;
	int64_t broken_line;     /* where it is not valid, from 1; 0: nowhere */
	bool too_deep;           /* nested deeper than records are */
	enum json_record record; /* the first element of a list, else the value itself */
	bool in_list;            /* the records are elements of a list */
	struct quoted_names members;
	struct slice list; /* the first list of objects: its name in the file; absent: none */
};

void json_outline_read(struct json_outline *outline, struct slice head);
void json_outline_release(struct json_outline *outline);

#endif
