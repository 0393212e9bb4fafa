/* The longest wait of received bytes before the client saw them, second by second of a run: from its samples, whose
 * longest delay of a read (delay_ns) and longest lag of its event loop (loop_lag_ns) are exact. A sample without the
 * former, as with --stamps user, counts with twice the latter.
 *
 *     struct client_delays delays = {0};
 *     client_delays_read(&delays, &doc, JDOC_ROOT);     // each client sample, in any order
 *     client_delays_prepare(&delays);                   // before any is looked up
 *     client_delays_at(&delays, t_ns)                   // the longest around that time
 *     client_delays_release(&delays);
 *
 * Bounded by the number of samples. Out of memory: `failed`.
 */
#ifndef IPF_CLIENT_DELAYS_H
#define IPF_CLIENT_DELAYS_H

#include "json/jdoc.h"

#include <stdbool.h>

/* No thread is relied on to wake up faster than this. */
#define CLIENT_DELAY_LEAST_NS INT64_C(100000)

/* The longest delay of a second, which ends before (second + 1) s. */
struct client_delay {
	int64_t second, longest_ns;
};

/* Zero-initialise. */
struct client_delays {
	struct client_delay *list; /* by second, once prepared */
	size_t count, cap;
	int64_t last_ns;    /* the time of the last sample */
	int64_t longest_ns; /* the longest one; 0: there is none */
	bool failed;
};

/* A client sample; missing members are not taken. */
void client_delays_read(struct client_delays *d, const struct jdoc *doc, jdoc_id node);
void client_delays_prepare(struct client_delays *d);
/* The longest delay in the second of this time and the one after it; of the whole run, if nothing is known of them.
 * IPF_ABSENT: nothing is known. */
int64_t client_delays_at(const struct client_delays *d, int64_t t_ns);
/* That of the whole run, or IPF_ABSENT. */
int64_t client_delays_longest(const struct client_delays *d);
void client_delays_release(struct client_delays *d);

#endif
