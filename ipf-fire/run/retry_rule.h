/* --retry: which answers let a request be sent again, how often, and when. Pure: the senders carry it out (retries.h).
 *
 * A server saying how long to wait (retry_after.h) is obeyed: the request is sent again so long after the answer ended,
 * never earlier, and not at all if it exceeds `cap_ns`. Otherwise the wait doubles with each attempt, from first_ns to
 * cap_ns, and half of it is random, so requests refused together do not come back together. The seed, the request's
 * number and the attempt determine it.
 */
#ifndef IPF_RETRY_RULE_H
#define IPF_RETRY_RULE_H

#include "error.h"

#include <jansson.h>
#include <stdbool.h>

#define RETRIES_MOST        100 /* one request's */
#define RETRY_STATUSES_MOST 16

struct retry_rule {
	const char *text; /* as the user gave it; NULL: nothing is sent again */
	int64_t most;     /* the number of retries */
	int64_t first_ns, cap_ns;
	int statuses[RETRY_STATUSES_MOST];
	size_t status_count;
	bool connect; /* requests without a connection too */
	uint64_t seed;
};

/* "3", "5,on=429+503+connect,first=1s,cap=60s", which is borrowed. -1: IPF_USAGE. */
int retry_rule_parse(const char *text, void *rule, struct ipf_error *err);
/* Is an attempt ending like this a reason to send the request again? */
bool retry_rule_applies(const struct retry_rule *rule, bool connect_failed, int64_t status);
/* How long to wait after the attempt-th one, from 1, of request n. asked_ns: by the server, or IPF_ABSENT. IPF_ABSENT:
 * it is not sent again. */
int64_t retry_rule_wait(const struct retry_rule *rule, int64_t n, int64_t attempt, int64_t asked_ns);
/* For the header of records. New; NULL: out of memory. */
json_t *retry_rule_json(const struct retry_rule *rule);

#endif
