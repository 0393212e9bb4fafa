/* The error message in whatever a server sent, as one line of plain text of at most 300 characters.
 */
#ifndef IPF_ERROR_MESSAGE_H
#define IPF_ERROR_MESSAGE_H

#include "json/jdoc.h"

/* Appends the text on one line: each run of white space and control characters becomes a space, and the text is cut
 * after `limit` characters. */
void error_message_plain(struct slice text, size_t limit, struct buffer *out);

/* Appends the message that a JSON node holds: a string itself, else the first of an object's message, error, detail, …,
 * else the node's JSON. */
void error_message_of(const struct jdoc *doc, jdoc_id node, struct buffer *out);

/* The same for the body of an error response, which may be JSON, an HTML page (its title counts) or anything else.
 * `doc` is overwritten. */
void error_message_of_body(struct jdoc *doc, struct slice body, struct buffer *out);

#endif
