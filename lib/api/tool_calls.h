/* The tool calls of an answer, put together from the pieces in its events.
 *
 *     struct tool_calls calls = {0};
 *     for each event:
 *         tool_calls_add(&calls, &format->calls, &doc);
 *     calls.list[0].name …                      // once it has ended
 *     tool_calls_release(&calls);
 */
#ifndef IPF_TOOL_CALLS_H
#define IPF_TOOL_CALLS_H

#include "api/api_pointer.h"
#include "buffer.h"

#define TOOL_CALLS_MOST 1024 /* an answer's; further ones are left out */

/* Where a descriptor says they are: the choices of an answer, in each of them each call or piece of one, and within
 * that … */
struct api_call_places {
	struct api_pointers choices; /* none: the document is the only choice */
	struct api_pointers choice;  /* in a choice: its index; none: its place among the choices */
	struct api_pointers each;
	struct api_pointers single; /* a call, or piece of one, of which a choice has only one ("function_call") */
	struct api_pointers index;  /* to which call a piece belongs */
	struct api_pointers id, name, arguments;
};

struct tool_call {
	int64_t choice; /* which of the answer's choices makes it, from 0 */
	int64_t index;  /* IPF_ABSENT: it has none; TOOL_CALL_SINGLE */
	struct buffer id, name, arguments;
};

#define TOOL_CALL_SINGLE (INT64_MIN + 1) /* the only call of its choice, without an index */

struct tool_calls { /* zero-initialise */
	struct tool_call *list;
	size_t count, cap;
	bool failed; /* out of memory: some of them are missing */
};

void tool_calls_add(struct tool_calls *calls, const struct api_call_places *places, const struct jdoc *doc);
/* The number of calls with a name or arguments: an id alone is not a call. */
size_t tool_calls_count(const struct tool_calls *calls);
/* Removes the calls of all choices but the first one that has any: only one choice of an answer goes back to a server.
 */
void tool_calls_keep_one_choice(struct tool_calls *calls);
void tool_calls_clear(struct tool_calls *calls);
void tool_calls_release(struct tool_calls *calls);

#endif
