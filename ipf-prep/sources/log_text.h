/* The parts of Python programs' logs: a time before each message, and values as Python prints them.
 *
 *     python_to_json(slice_of("obj=Request(id='a', n=[1, 2], live=None), out={'text': 'b'}"), &json);
 *     // {"obj":{"id":"a","n":[1,2],"live":null},"out":{"text":"b"}}
 */
#ifndef PREP_LOG_TEXT_H
#define PREP_LOG_TEXT_H

#include "draft/draft.h"

/* The time in the part of a line before the message: a full date and time, or month, day and time, of the year 2000;
 * IPF_ABSENT. */
int64_t log_time(struct slice before, struct draft *d);

/* Decodes the string literal at the beginning of the text, and removes it there. False, and the text stays, if there is
 * none, or if it is not closed. */
bool python_string(struct slice *text, struct buffer *out);

/* Appends a JSON object of these arguments, as Python prints them between the brackets of a call: 0; -1 if they are
 * something else, or cut off (then something may have been appended). A call within them is an object of its named
 * arguments. A string or list of which the middle was left out ('a' ... 'b'), an object (<…>) and any name but True
 * and False are null. */
int python_to_json(struct slice arguments, struct buffer *out);

#endif
