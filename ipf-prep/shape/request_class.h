/* The class of a request: its tag "class", from the data or by --classes, and the parts of requests of this class. */
#ifndef PREP_REQUEST_CLASS_H
#define PREP_REQUEST_CLASS_H

#include "config/class_parts.h"
#include "stream/trace.h"

/* The tags with "class": "NAME", appended to `out`, which is cleared first: a map gets this member instead of one of
 * this name, a list gets NAME as an element. `tags`: JSON, or absent. Absent: out of memory, or no JSON. */
struct slice request_class_tags(struct slice tags, const char *name, struct jdoc *doc, struct buffer *out);
/* The class by the tags of the data, put into `name`; absent: they have none. */
struct slice request_class_of(struct slice tags, struct jdoc *doc, struct buffer *name);
/* Sets headers and body of a request of this class, which may be absent. Members of the class replace those the body
 * has; the two are joined in `out`, which is cleared first. */
void request_class_apply(const struct class_parts *parts, struct slice class, struct jdoc *doc, struct buffer *out,
                         struct trace_request *q);

#endif
