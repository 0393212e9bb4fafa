/* A line of a stream as the library hands it out: its members are found when they are asked for.
 *
 *     struct ipf_line line = {0};
 *     line_set(&line, IPF_LINE_ROW, text, (struct line_place){file, number});
 *     line_release(&line);
 */
#ifndef IPF_LINES_H
#define IPF_LINES_H

#include "json/jdoc.h"

#include <ipf/streams.h>

/* For messages: a file and a line of it. */
struct line_place {
	const char *file; /* NULL: none; borrowed */
	int64_t number;
};

/* Zero-initialise. */
struct ipf_line {
	enum ipf_line_kind kind;
	struct slice text; /* borrowed, unless it is that of `own` */
	struct line_place place;
	struct jdoc doc;
	bool parsed;
	struct buffer own;     /* the line with a NUL at its end, if it was asked for */
	struct buffer decoded; /* the last text that was read */
};

/* Another text, which is borrowed until the next one. */
void line_set(struct ipf_line *line, enum ipf_line_kind kind, struct slice text, struct line_place place);
/* The node of a path: "" is the line itself. JDOC_NONE: it is absent. -1: the line is no JSON. */
int line_find(struct ipf_line *line, const char *path, jdoc_id *node, struct ipf_error *err);
void line_release(struct ipf_line *line);

#endif
