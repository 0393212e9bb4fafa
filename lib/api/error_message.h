/* A server's error message in plain words, out of whatever it sent: one line, at most 300 characters. */
#ifndef IPF_ERROR_MESSAGE_H
#define IPF_ERROR_MESSAGE_H

#include "json/jdoc.h"

/* Appends the text with runs of white space and control characters made one space, cut after `limit` characters. */
void error_message_plain(struct slice text, size_t limit, struct buffer *out);

/* Appends the message in a node: a text itself, else the first of message, error, detail, … that a map has, else the
 * node's JSON. */
void error_message_of(const struct jdoc *doc, jdoc_id node, struct buffer *out);

/* The same for the body of an error answer, which may be JSON, a page (its title) or anything; `doc` is scratch. */
void error_message_of_body(struct jdoc *doc, struct slice body, struct buffer *out);

#endif
