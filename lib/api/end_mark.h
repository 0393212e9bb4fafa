/* Whether an event ends the response, and the finish reason in it, by the descriptor's `end.when`, `finish` and
 * `finish_words`.
 *
 *     jdoc_id mark = end_mark_find(format, schema, &doc);            // JDOC_NONE: the response goes on
 *     jdoc_id why = end_mark_finish(format, schema, &doc, &word);    // word: NULL unless finish_words lists it
 *
 * Many servers send the member that will end the response in every event, with a value that means "not yet". A value
 * ends nothing if finish_words maps it to null; if it is null, false or 0; if it is an empty string; or if it is the
 * default of its protocol buffers type, which a server may leave out or send with explicit presence, among them the
 * enum's word for 0. A finish reason of finish_words is one whatever its value, and a pointer with `is` has its own end
 * value. A body that is one JSON value is complete as such: 0 and "" end it too.
 */
#ifndef IPF_END_MARK_H
#define IPF_END_MARK_H

#include "api/api_response.h"
#include "json/jdoc.h"
#include "protobuf/protobuf_schema.h"

/* The first node that is an end mark; JDOC_NONE. `schema` is NULL unless the events are gRPC messages. */
jdoc_id end_mark_find(const struct api_response *format, const struct protobuf_schema *schema, const struct jdoc *doc);
/* The first node that is a finish reason; JDOC_NONE. *word is its translation; NULL: the server's word stays, a text.
 */
jdoc_id end_mark_finish(const struct api_response *format, const struct protobuf_schema *schema, const struct jdoc *doc,
                        const struct api_finish_word **word);

#endif
