/* Objectives (SLO): limits of the latencies of a request, or of a percentile over all requests. All programs read them
 * here.
 *
 *     ttft=500ms          each request; what meets all of these is good
 *     p99:ttft=500ms      the 99th percentile must be within the limit
 *
 *     struct objective list[OBJECTIVES_MOST];
 *     int count = 0;
 *     objectives_parse("ttft=500ms,p99:e2e=10s", &objectives_any, list, &count, &err);
 */
#ifndef IPF_OBJECTIVE_H
#define IPF_OBJECTIVE_H

#include "error.h"
#include "stream/metric.h"

#include <stdbool.h>
#include <stdint.h>

enum { OBJECTIVES_MOST = 16 };
/* Percent of the requests that must meet an objective on each request, for a load to meet it. */
#define OBJECTIVE_EACH 99.0

struct objective {
	enum metric metric;
	int64_t limit_ns;
	double percentile; /* NAN: the limit applies to each request */
	char text[48];     /* "p99:ttft=500ms", with number and limit as they were given */
};

/* Which objectives an option takes. */
struct objective_rules {
	uint32_t metrics; /* bit m allows enum metric m; 0: all the server does not report */
	enum { OBJECTIVE_OF_BOTH, OBJECTIVE_OF_PERCENTILE, OBJECTIVE_OF_REQUEST } of;
};
extern const struct objective_rules objectives_any;

/* Parses the objectives of `text`, separated by commas, into list[*count] and after, OBJECTIVES_MOST in all.
 * Percentiles are above 0 and below 100, limits durations as in units.h. -1: IPF_USAGE; the list has those before the
 * wrong one. */
int objectives_parse(const char *text, const struct objective_rules *rules, struct objective *list, int *count,
                     struct ipf_error *err);

/* Does an objective begin here, up to its equals sign? It tells whether a list of them goes on behind a comma. */
bool objective_begins(const char *text);

#endif
