/* The streams that figures were made of, and the commands that made them.
 *
 *     struct streams streams;
 *     streams_find(&streams, headers);        // of results, each with those of its inputs in "from"
 *     streams_commands(d, &streams);
 */
#ifndef REPORT_STREAM_COMMANDS_H
#define REPORT_STREAM_COMMANDS_H

#include "document/document.h"

enum { STREAMS_MOST = 64 };

/* The headers of all streams, each once, inputs before outputs. Borrowed. */
struct streams {
	json_t *list[STREAMS_MOST];
	int count;
};

/* `headers` is an array; more streams than STREAMS_MOST are left out. */
void streams_find(struct streams *s, json_t *headers);
/* A line for each: the program and its arguments as the header has them, quoted for a shell. */
void streams_commands(struct document *d, const struct streams *s);

#endif
