/* Bodies as forms, multipart/form-data (RFC 7578): the members of a JSON object are fields, as an API descriptor says
 * by "encoding".
 *
 *     form_write(&doc, json, &body, &err);      // {"model": "whisper-1", "file": {"media_type": …, "data": …}}
 *
 * A text is written as it is, other values as JSON; a list is several fields of the same name. An object with the texts
 * `media_type` and `data` is a file: its data are base64, and are decoded; or they are the mark of a medium
 * (stream/media_file.h), which stays, alone in its part, for the sender of the body.
 *
 * All forms have the same boundary, a number that no text has by chance, so the same request is the same bytes.
 */
#ifndef IPF_FORM_H
#define IPF_FORM_H

#include "json/jdoc.h"

#define FORM_ENCODING     "multipart/form-data" /* in descriptors */
#define FORM_BOUNDARY     "ipf-8d0c9f6e2b7a4153a6e0f1d47c38b95e"
#define FORM_CONTENT_TYPE FORM_ENCODING "; boundary=" FORM_BOUNDARY

/* Appends the form. `doc` is scratch. -1 (IPF_INPUT): data are not base64; a media type is none; a field contains the
 * boundary; out of memory. */
int form_write(struct jdoc *doc, struct slice json, struct buffer *body, struct ipf_error *err);

#endif
