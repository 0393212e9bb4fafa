/* Finds the records of a JSON file without parsing them: the elements of an array of any size, the lines of JSON Lines,
 * a single object, or values (objects, arrays) one after the other.
 *
 *     struct json_splitter s;
 *     json_splitter_begin(&s, &window);
 *     while ((got = json_splitter_next(&s, &record, &err)) == 1)
 *         … record, on line s.line; valid until the next call …
 *
 * It only follows strings and brackets; the parser checks whether a record is valid JSON. In JSON Lines, every line is
 * a record, so a malformed one does not affect the next. In other files, the records after a malformed one cannot be
 * trusted (see json_splitter_by_lines).
 *
 * A file beginning with an object is JSON Lines if the object ends on its line and nothing else is on that line. Empty
 * objects at the beginning decide nothing.
 */
#ifndef PREP_JSON_SPLITTER_H
#define PREP_JSON_SPLITTER_H

#include "buffer.h"
#include "error.h"
#include "input/byte_window.h"

#include <stdbool.h>
#include <stdint.h>

enum json_splitter_state {
	JSON_SPLITTER_START,   /* nothing is known yet */
	JSON_SPLITTER_LINES,   /* JSON Lines */
	JSON_SPLITTER_VALUES,  /* between values */
	JSON_SPLITTER_OPENED,  /* in an array, before its first element */
	JSON_SPLITTER_ELEMENT, /* in an array, after an element */
	JSON_SPLITTER_COMMA,   /* in an array, after a comma */
	JSON_SPLITTER_BROKEN   /* after an error */
};

struct json_splitter {
	struct byte_window *window;
	enum json_splitter_state state;
	size_t given;     /* length of the last record: consumed by the next call */
	int64_t newlines; /* in the last record */
	int64_t line;     /* on which the last record begins, from 1; after an error: where reading ended */
	int64_t at_line;  /* on which the window begins */
};

void json_splitter_begin(struct json_splitter *s, struct byte_window *window);
/* 1 and the next record; 0 at the end; -1 if the input ends within a record or an array (IPF_CUT), if it is not JSON
 * (IPF_INPUT), or if it cannot be read. After an error, every further call fails. */
int json_splitter_next(struct json_splitter *s, struct slice *record, struct ipf_error *err);
/* Is the file JSON Lines? */
bool json_splitter_by_lines(const struct json_splitter *s);

#endif
