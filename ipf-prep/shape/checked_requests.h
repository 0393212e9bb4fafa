/* Requests whose answers are checked: --canaries mixes requests with known answers into the trace, and --repeats marks
 * requests whose answers under load are compared with their answers alone. It is between the sources of requests and
 * the trace.
 *
 *     struct checked_requests checked;
 *     checked_requests_init(&checked, config, &counts, to);
 *     … hands the requests to &checked.sink …
 *     if (checked_requests_finish(&checked, &err) < 0) …
 *     checked_requests_release(&checked);
 *
 * A canary follows the form, model and headers of its neighbour, never stands between the turns of a session, and
 * arrives at a random time between its neighbours. A number of canaries or repeats requires the number of requests:
 * then all requests are held, beyond the memory limit in temporary files (sort/record_sorter.h).
 */
#ifndef PREP_CHECKED_REQUESTS_H
#define PREP_CHECKED_REQUESTS_H

#include "draft/canary_maker.h"
#include "draft/random_places.h"
#include "shape/trace_renderer.h"
#include "sort/record_sorter.h"

enum { RECENT_LENGTHS = 64 };

/* The request beside a canary. Its slices are JSON in `bytes`. */
struct canary_neighbour {
	struct slice id, model, headers, session;
	bool messages, prompt; /* the form of its prompt */
	int64_t at_ns;         /* the arrival of the session's first request */
	struct buffer bytes;
};

struct checked_requests {
	struct request_sink sink; /* must be first */
	const struct prep_config *config;
	struct checked_counts *counts;
	struct request_sink *to;

	bool hold;
	struct record_sorter held;
	struct jdoc document;

	struct random_places canaries, repeats;
	int64_t index, eligible; /* numbers of requests before, and of those that may be repeats */
	struct canary_neighbour before;
	int64_t recent[RECENT_LENGTHS]; /* input tokens of the last requests */
	struct canary_maker maker;
	struct buffer id, prompt, tags, body; /* JSON of the request at hand */
};

void checked_requests_init(struct checked_requests *c, const struct prep_config *config, struct checked_counts *counts,
                           struct request_sink *to);
int checked_requests_finish(struct checked_requests *c, struct ipf_error *err);
void checked_requests_release(struct checked_requests *c);

#endif
