/* Sentences of a report, with figures of the JSON report in braces, by their path:
 *
 *     tell(t, "hit rate", server, "{hit_rate%} of the prompt tokens that were looked up in the prefix cache");
 *     tell(t, "stalls", events, "{stalls#} stall{s:stalls} in {stalled_requests#} request{s:stalled_requests}");
 *     tell(t, "events", events, "{content#} with content[, {coalesced_share%} of them shared a read]");
 *
 * {path}    a number, three significant digits        {path!}   a text
 * {path#}   a count                                   {path@}   nanoseconds, as a duration
 * {path%}   a share, as percent                       {path$}   at least three significant digits, however small
 * {s:path}  "s" unless the number is 1
 *
 * A part in brackets is left out if one of its figures does not exist; a sentence with a figure outside of brackets
 * that does not exist is not told. Brackets are not nested.
 */
#ifndef REPORT_SENTENCE_H
#define REPORT_SENTENCE_H

#include "sections/sections.h"

/* The sentence; NULL: a figure does not exist, or out of memory. */
const char *sentence(struct document *d, json_t *from, const char *text);
/* A part of a longer sentence: the same, or "". */
const char *phrase(struct document *d, json_t *from, const char *text);
/* Adds it as a fact with this label (NULL, "": none) and returns the part, which belongs to no document if there is no
 * sentence. */
struct doc_part *tell(const struct telling *t, const char *label, json_t *from, const char *text);
/* "stop 12, length 3": the counts of an object; "": it has none. */
const char *counts_text(struct document *d, json_t *counts);

#endif
