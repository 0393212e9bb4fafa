/* Finds the records of a JSON file without parsing them: the elements of an array of any size, JSON Lines, one object,
 * or objects (and arrays) that follow each other.
 *
 *     struct json_splitter s;
 *     json_splitter_begin(&s, &feed);
 *     while ((got = json_splitter_next(&s, &record, &err)) == 1) …    // record.data is good until the next call;
 * s.line says where
 *
 * It only follows strings and brackets; whether a record is proper JSON is for its parser to say. In JSON Lines a
 * record is a line, whatever is in it, so that a broken one is no harm to the next. Elsewhere a record that does not
 * parse means that the following ones cannot be trusted (json_splitter_by_lines tells).
 *
 * An object that begins a file makes it JSON Lines when it ends on its line and nothing follows it there. Empty ones
 * say nothing.
 */
#ifndef PREP_SPLIT_H
#define PREP_SPLIT_H

#include "buffer.h"
#include "error.h"
#include "input/byte_window.h"

#include <stdbool.h>
#include <stdint.h>

enum json_splitter_state {
	JSON_SPLITTER_START,
	JSON_SPLITTER_LINES,
	JSON_SPLITTER_VALUES,
	JSON_SPLITTER_OPENED,
	JSON_SPLITTER_ELEMENT,
	JSON_SPLITTER_COMMA,
	JSON_SPLITTER_BROKEN
};

struct json_splitter {
	struct byte_window *feed;
	enum json_splitter_state state;
	size_t given;     /* bytes of the record that was given out last: consumed by the next call */
	int64_t newlines; /* in it */
	int64_t line;    /* 1-based, where the record that was given out last begins; after an error: where reading ended */
	int64_t at_line; /* where the window begins */
};

void json_splitter_begin(struct json_splitter *s, struct byte_window *feed);
/* 1 and the next record; 0 at the end; -1: IPF_CUT where the input ends within a record or an array, IPF_INPUT where it
 * is no JSON, or what the feed says. After an error every further call is an error. */
int json_splitter_next(struct json_splitter *s, struct slice *record, struct ipf_error *err);
bool json_splitter_by_lines(const struct json_splitter *s);

#endif
