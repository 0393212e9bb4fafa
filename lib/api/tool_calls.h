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

#define TOOL_CALLS_MOST 1024 /* of an answer; what comes beyond is left out */

/* Where a descriptor says that they are: each call, or piece of one, and within it … */
struct api_call_places {
	struct api_pointers each;
	struct api_pointers index; /* to which call a piece belongs */
	struct api_pointers id, name, arguments;
};

struct tool_call {
	int64_t index; /* IPF_ABSENT: it has none */
	struct buffer id, name, arguments;
};

struct tool_calls { /* zero-initialise */
	struct tool_call *list;
	size_t count, cap;
	bool failed; /* out of memory: some of them are missing */
};

void tool_calls_add(struct tool_calls *calls, const struct api_call_places *places, const struct jdoc *doc);
void tool_calls_clear(struct tool_calls *calls);
void tool_calls_release(struct tool_calls *calls);

#endif
