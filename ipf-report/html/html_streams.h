/* The streams that figures were made of, and the commands that made them.
 *
 *     struct html_streams streams;
 *     html_streams_find(&streams, headers);        // of results, each with those of its inputs in "from"
 *     html_commands(out, &streams);
 */
#ifndef REPORT_HTML_STREAMS_H
#define REPORT_HTML_STREAMS_H

#include "buffer.h"

#include <jansson.h>

enum { HTML_STREAMS_MOST = 64 };

/* The headers of all streams, each once, what was made first before what was made of it. Borrowed. */
struct html_streams {
	json_t *list[HTML_STREAMS_MOST];
	int count;
};

/* `headers` is an array; more streams than HTML_STREAMS_MOST are left out. */
void html_streams_find(struct html_streams *s, json_t *headers);
/* The arguments of the programs, as the headers have them, quoted for a shell. */
void html_commands(struct buffer *out, const struct html_streams *s);

#endif
