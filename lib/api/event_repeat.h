/* Recognises events that differ from an earlier one of the same response in their text only, as nearly all events of a
 * stream do: what was found out about the earlier one holds for them as well, without parsing them.
 *
 *     event_repeat_learn(&e, format, &doc, data, node, reasoning);      // after an event was parsed
 *     if (event_repeat_find(&e, next, &piece)) …                        // the next one is the same but for this text
 *
 * This is sound because an event is learned only if nothing but its text is looked for under the name that the text
 * has: no other pointer of the descriptor, and no condition of one, depends on it. The text itself must be without
 * escapes, so that an equal rest means an equal tree.
 */
#ifndef IPF_EVENT_REPEAT_H
#define IPF_EVENT_REPEAT_H

#include "api/api_response.h"
#include "json/jdoc.h"

/* Zero-initialise: nothing was learned. */
struct event_repeat {
	struct slice like;        /* the event, borrowed; an absent slice: none */
	size_t text_at, text_end; /* where its text is, without the quotes */
	bool reasoning;           /* the text is reasoning */
};

void event_repeat_forget(struct event_repeat *e);
/* Learns the event whose `data` were parsed into `doc`, and whose only text is in `node`, if that is possible. `data`
 * must remain valid until it is forgotten. */
void event_repeat_learn(struct event_repeat *e, const struct api_response *format, const struct jdoc *doc,
                        struct slice data, jdoc_id node);
/* Whether `data` are the learned event with a text that is perhaps another, and not empty: *piece. */
bool event_repeat_find(const struct event_repeat *e, struct slice data, struct slice *piece);

#endif
