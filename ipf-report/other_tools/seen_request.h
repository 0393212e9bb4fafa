/* One request with its outcome: its events of any kind with their times, from its line in the results (ipf-collect
 * --events), or only the values of a row without them.
 *
 *     struct seen_request seen = {0};
 *     seen_request_read(&seen, row, &result);             // result NULL: the lines are not kept
 *     struct seen_chunks chunks = {0};
 *     seen_request_chunks(&chunks, &seen, rules);         // those that count for a tool
 *     chunks.times.first …
 *     seen_request_release(&seen);
 *     seen_chunks_release(&chunks);
 *
 * Running out of memory loses events and is remembered by memory.h.
 */
#ifndef REPORT_SEEN_REQUEST_H
#define REPORT_SEEN_REQUEST_H

#include "other_tools/tool_rules.h"
#include "results/event_times.h"
#include "results/run_data.h"

struct seen_event {
	double ns;      /* from the start of the request */
	int64_t tokens; /* IPF_ABSENT: not known */
	uint8_t kind;   /* enum event_kind */
};

/* Zero-initialise; may be used again for the next request. */
struct seen_request {
	struct seen_event *events; /* in the order of their times */
	size_t count, cap;
	bool complete;               /* events of any kind are there */
	struct tool_times times;     /* by ipf's own definition */
	struct tool_counts counts;   /* … with the content events in `chunks` */
	struct tool_outcome outcome; /* `closed` is false if unknown */

	/* private */
	struct event_times content_ns, content_tokens, other_ns;
};

void seen_request_read(struct seen_request *seen, const struct row *row, const struct result *result);
void seen_request_release(struct seen_request *seen);

/* The chunks counting for a tool. Zero-initialise; may be used again. */
struct seen_chunks {
	struct seen_event *list; /* empty if only a row is known */
	size_t count, cap;
	struct tool_times times;
	struct tool_counts counts;
	struct tool_outcome outcome;
};

void seen_request_chunks(struct seen_chunks *chunks, const struct seen_request *seen, const struct tool_rules *rules);
/* Adds the gaps between them; of TOOL_ITL_TOKENS also 0 for each further token of a chunk. false: the tokens of a chunk
 * are not known, and it counted as one. */
bool seen_chunks_gaps(const struct seen_chunks *chunks, const struct tool_rules *rules, struct histogram *gaps);
void seen_chunks_release(struct seen_chunks *chunks);

#endif
