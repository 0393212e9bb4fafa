/* Whether an object reports an error, by the members that servers of all APIs use, and the error message in whatever a
 * server sent, as one line of plain text of at most 300 characters.
 *
 *     jdoc_id error = error_message_member(doc, JDOC_ROOT);
 *     if (error != JDOC_NONE)
 *         error_message_of(doc, error, &text);      // "context length exceeded"
 */
#ifndef IPF_ERROR_MESSAGE_H
#define IPF_ERROR_MESSAGE_H

#include "json/jdoc.h"

/* Appends the text on one line: each run of white space and control characters becomes a space, and the text is cut
 * after `limit` characters. */
void error_message_plain(struct slice text, size_t limit, struct buffer *out);

/* Whether bytes are text, by the first of them: most are characters of UTF-8 that are no controls. */
bool error_message_is_text(struct slice bytes);

/* Appends the message a JSON node holds: a string itself, else the first of an object's message, error, detail, …, else
 * the node's JSON. */
void error_message_of(const struct jdoc *doc, jdoc_id node, struct buffer *out);

/* Whether a value reports an error: anything but null, false, 0, "", {}, [] and an object whose code is 0 and that has
 * no message. Servers write these in every event. */
bool error_message_reported(const struct jdoc *doc, jdoc_id value);

/* The node with the message, if the object reports an error whatever the API: error, error_message, errorMessage, err,
 * error_type, base_resp (MiniMax), "object": "error" and their relatives. JDOC_NONE: it reports none. */
jdoc_id error_message_member(const struct jdoc *doc, jdoc_id object);

/* Whether the object may report an error: a code (not 0, not 2xx) beside a message, "success": false, or a detail
 * alone. Other events can look the same, such as the place in a queue, so the caller needs further evidence. */
bool error_message_likely(const struct jdoc *doc, jdoc_id object);

/* Appends the message in the body of an error response: JSON, server-sent events, lines of JSON, an HTML page (its
 * title counts) or other text. For other bytes it gives only the number. `doc` is overwritten. */
void error_message_of_body(struct jdoc *doc, struct slice body, struct buffer *out);

#endif
