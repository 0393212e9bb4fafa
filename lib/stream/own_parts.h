/* Headers and body members a request of the trace brings itself: "headers" and "body" of ipf-trace(5). A trace may come
 * from anyone: members that would change where a request goes, how it is framed or who sends it are refused.
 */
#ifndef IPF_OWN_PARTS_H
#define IPF_OWN_PARTS_H

#include "json/jdoc.h"

/* Does a header of this name, in upper or lower case, frame the message or say where it goes? */
bool own_header_is_of_transport(const char *name);
/* Is `node` a map of names and values a request may add to its headers? -1: err names the header. */
int own_headers_check(const struct jdoc *doc, jdoc_id node, struct ipf_error *err);
/* Is `node` a map that may be merged into the body of a request? -1: err names the member. */
int own_body_check(const struct jdoc *doc, jdoc_id node, struct ipf_error *err);

#endif
