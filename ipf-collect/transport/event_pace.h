/* How the events of responses arrive: held back to the end, in bursts, in reads of a proxy's buffer, after gaps of a
 * timer of TCP.
 *
 * Memory is constant. Findings: buffering, read-sizes, delayed-ack, retransmission, bursts (ipf-results(5)).
 */
#ifndef COLLECT_EVENT_PACE_H
#define COLLECT_EVENT_PACE_H

#include "measure/observation.h"

#include <jansson.h>

enum { PACE_GAP_MS = 256, PACE_CLUSTERS = 2 };

/* Zero-initialise. */
struct event_pace {
	int64_t responses;       /* streamed and successful, with events */
	int64_t able_held, held; /* reads that could show a delay; delayed ones */
	double held_ttft_ns, held_e2e_ns;
	int64_t able_burst, bursts;
	double burst_events, burst_reads, burst_gap_ns; /* sums over these responses; of the mean gap */
	int64_t gaps;                                   /* between successive reads with content events */
	int64_t by_ms[PACE_GAP_MS + 1];                 /* gaps of so many milliseconds, or more */
	struct {
		int64_t responses, gaps, events; /* with a gap in the window; these gaps, events of the reads ending them */
	} clusters[PACE_CLUSTERS];
	int64_t large_reads, sized_reads; /* reads of at least the least buffer; of exactly a buffer */
	int64_t sizes[8];                 /* by power of two */
};

void event_pace_add(struct event_pace *p, const struct observation *o);
/* Appends the finding. False: out of memory. */
bool event_pace_judge(const struct event_pace *p, json_t *list);

#endif
