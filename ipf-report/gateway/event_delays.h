/* The content events of an answer on both sides of a gateway: how many there are, and how long each was on its way.
 *
 *     struct event_delays d = {0};
 *     event_delays_add(&d, &front, front_request, &back, back_request);     // for each pair
 *     d.same, d.merged, d.split …; histogram_percentile(d.delays, 99)
 *     event_delays_release(&d);
 *
 * An event behind is on its way until the event in front with its last token. It is the one with the same number if
 * both sides have equally many, else by the tokens of the events, if these are known. If not, groups of equal size are
 * tried: 8 events are 4 pairs, or each of 8 became 2; no event may then come before its group. Times of events are in
 * results of `ipf-collect --events`.
 */
#ifndef GATEWAY_EVENT_DELAYS_H
#define GATEWAY_EVENT_DELAYS_H

#include "gateway/gateway_requests.h"
#include "results/event_times.h"
#include "stats/histogram.h"

struct event_delays {
	int64_t requests;            /* with content events on both sides */
	int64_t same, merged, split; /* as many events in front, fewer, more */
	int64_t events_front, events_back;
	int64_t coalesced_front, coalesced_back; /* events sharing a read with another */
	int64_t timed;                           /* requests whose events have times on both sides and can be matched */
	int64_t unmatched;                       /* with times only */
	struct histogram *delays;                /* nanoseconds; NULL: none yet */
	/* private */
	struct event_times times[2], tokens[2];
};

/* Adds a successful answer and the one it was made of. `one_clock`: times of both sides compare. -1: out of memory. */
int event_delays_add(struct event_delays *d, const struct gateway_requests *const sides[2],
                     const struct gateway_request *const pair[2], bool one_clock, struct ipf_error *err);
void event_delays_release(struct event_delays *d);

#endif
