/* Which members of an event the counts and timings of a descriptor begin with. Most events of a stream have none of
 * them ("usage", "timings", …), so one look at the event's own members saves following every pointer.
 *
 *     api_roots_note(&format->roots, &format->input_tokens);            // once, when the descriptor is compiled
 *     uint64_t present = api_roots_present(&format->roots, &doc);       // once an event
 *     if (format->input_tokens.roots & present) …                       // may match
 */
#ifndef IPF_API_ROOTS_H
#define IPF_API_ROOTS_H

#include "api/api_pointer.h"

/* The last bit is for all further names, and counts as present in every event. */
enum { API_ROOTS_MAX = 63 };

struct api_roots {
	struct slice names[API_ROOTS_MAX]; /* borrowed from the pointers; a NUL follows each */
	size_t count;
};

/* Sets pointers->roots, also for their sum. */
void api_roots_note(struct api_roots *roots, struct api_pointers *pointers);
/* The bits of the names the document has with a value other than null; all bits if it is not an object. */
uint64_t api_roots_present(const struct api_roots *roots, const struct jdoc *doc);

#endif
