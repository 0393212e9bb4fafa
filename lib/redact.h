/* Secrets on a command line, in a URL or in a header. Only listed parts are written: the values of headers and of body
 * parameters if their name is known to be harmless, and of a URL scheme, host, port and path. The rest is replaced by
 * "[redacted]". See SECRETS in ipf(7).
 *
 *     redact_header("X-Jwt: abc", &out);               // X-Jwt: [redacted]
 *     redact_param("api_key=\"abc\"", &out);           // api_key=[redacted]
 *     redact_value("http://me:pw@h:80/x?k=1", &out);   // http://h:80/x?[redacted]
 *     redact_stream_header(header);                    // all of these, in a stream's header
 *
 * The stream library applies redact_stream_header to every header it writes or reads, and lib/error.h redact_message to
 * every message, so no program has to remember it. Redacting twice changes nothing.
 */
#ifndef IPF_REDACT_H
#define IPF_REDACT_H

#include "buffer.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#define REDACTED "[redacted]"

/* Is the value of a header with this name, in upper or lower case, known to be harmless? */
bool redact_header_is_public(const char *name, size_t len);
/* Does a header with this name exist to carry a credential? Its value is not even written when the user names it. */
bool redact_header_is_credential(const char *name, size_t len);
/* May it carry one, by a word in its name such as "key" or "token"? For headers that a user asks to keep. */
bool redact_header_may_be_credential(const char *name, size_t len);
/* Is the value a credential by its own words, in whatever header: "Bearer …" or "Basic …"? */
bool redact_value_is_credential(struct slice value);
/* Is the value of a body parameter with this name known to be harmless? If `key` begins with a slash, it is a JSON
 * Pointer, all of whose parts must be. */
bool redact_param_is_public(const char *key);

/* Appends "Name: value". A value that is $id, $session, $model or $traceparent is a placeholder and stays. A text
 * without a colon is redacted as a whole. */
void redact_header(const char *line, struct buffer *out);
/* Appends "KEY=JSON". A text without "=" is redacted as a whole. */
void redact_param(const char *text, struct buffer *out);
/* Appends any other value: of every URL in it only scheme, host, port and path remain. */
void redact_value(const char *text, struct buffer *out);

/* The same for a URL that may lack its scheme: the text before an "@" is redacted. */
void redact_url(const char *text, struct buffer *out);

/* The same for a message, in place: URLs end at white space or a quote, and "user:password@" is redacted without a
 * scheme, too. `cap`: size of the array; a text that becomes longer is cut. */
void redact_message(char *text, size_t cap);

/* A new copy of an object of parameters, in which those that are not public are redacted. NULL: out of memory. */
json_t *redact_params(json_t *params);

/* Redacts an API descriptor's request part, in place: constant headers, paths and texts of bodies. -1: out of
 * memory. */
int redact_api(json_t *api);

/* Redacts the header of a stream in place, and those of the earlier streams in it: argv, params, target, targets, proxy
 * and API descriptor. -1: out of memory. */
int redact_stream_header(json_t *header);

#endif
