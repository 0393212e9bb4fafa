/* Recognises events that differ from an earlier one of the same response in their text only, as nearly all events of a
 * stream do: the results for the earlier one hold for them as well, without parsing them.
 *
 *     event_repeat_learn(&e, format, &doc, data, node, reasoning);      // after an event was parsed
 *     if (event_repeat_find(&e, next, &piece)) …                        // the next one is the same but for this text
 *
 * This is sound because an event is learned only if nothing but its text is looked for under the name the text has: no
 * other pointer of the descriptor, and no condition of one, depends on it. The text itself must be without escapes, so
 * an equal rest means an equal tree. Members of the event itself that nothing looks at may differ, too, once one that
 * did has been seen: times, sequence numbers, random letters of a fixed length.
 */
#ifndef IPF_EVENT_REPEAT_H
#define IPF_EVENT_REPEAT_H

#include "api/api_response.h"
#include "json/jdoc.h"

#define EVENT_REPEAT_OTHERS 3  /* members that may differ besides the text */
#define EVENT_REPEAT_NAME   32 /* bytes of their names, with a NUL */

/* A part of an event that may differ: a text, without its quotes, or the digits of a number. */
struct event_repeat_gap {
	uint32_t begin, end;
	bool digits;
	bool text; /* the event's text, and not another member */
};

/* Zero-initialise: nothing was learned. */
struct event_repeat {
	struct slice like;   /* the event, borrowed; an absent slice: none */
	struct slice before; /* the one learned before it, to find the differences; borrowed */
	struct event_repeat_gap gaps[1 + EVENT_REPEAT_OTHERS]; /* gaps in `like`, in their order */
	size_t gaps_count;
	bool reasoning; /* the text is reasoning */

	/* Facts about all events of a format. */
	const struct api_response *format;
	char text_name[EVENT_REPEAT_NAME]; /* under which a text was found, and … */
	bool only_text;                    /* … that nothing else is looked for there */
	char others[EVENT_REPEAT_OTHERS][EVENT_REPEAT_NAME];
	size_t others_count;
};

/* At the begin of a response, and where one like it would mean something else. */
void event_repeat_forget(struct event_repeat *e);
/* The next event is another one. */
void event_repeat_set_aside(struct event_repeat *e);
/* Learns the event whose `data` were parsed into `doc`, and whose only text is in `node`, if that is possible. `data`
 * and `format` must remain valid until it is forgotten. */
void event_repeat_learn(struct event_repeat *e, const struct api_response *format, const struct jdoc *doc,
                        struct slice data, jdoc_id node);
/* Whether `data` are the learned event with a text that is perhaps another, and not empty: *piece. */
bool event_repeat_find(const struct event_repeat *e, struct slice data, struct slice *piece);

#endif
