/* How requests were spread over replicas: the targets of the run, or the values of a response header naming the
 * replica, such as x-pod-name.
 *
 * Memory is bounded: of more than TRANSPORT_GROUPS groups nothing is said. Finding: imbalance (ipf-results(5)).
 */
#ifndef COLLECT_REPLICA_BALANCE_H
#define COLLECT_REPLICA_BALANCE_H

#include "measure/observation.h"
#include "stats/histogram.h"
#include "transport/transport_limits.h"

#include <jansson.h>

/* The headers looked for; NULL at the end. */
extern const char *const replica_headers[];

/* Longer names are left out: they are no names of replicas. */
enum { REPLICA_NAME_MOST = 256 };

struct replica {
	char name[REPLICA_NAME_MOST];
	int64_t requests, ok, output_tokens;
	struct histogram *ttft; /* ns; of whole responses E2E */
};

struct replica_set {
	struct replica list[TRANSPORT_GROUPS];
	size_t count;
	int64_t others; /* requests for which there was no room */
};

/* Zero-initialise. */
struct replica_balance {
	struct replica_set targets, named;
	const char *header; /* the one of `named`; NULL: none was seen */
	const json_t *urls; /* the current stream's targets; NULL: there is only one */
	struct jdoc doc;
	struct buffer value;
	bool failed; /* out of memory */
};

/* Begins a stream of records; `urls`, an array of texts or NULL, must live until the next begin. */
void replica_balance_begin(struct replica_balance *b, const json_t *urls);
void replica_balance_add(struct replica_balance *b, const struct observation *o);
/* Appends the finding. False: out of memory. */
bool replica_balance_judge(const struct replica_balance *b, json_t *list);
void replica_balance_release(struct replica_balance *b);

#endif
