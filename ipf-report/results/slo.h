/* Objectives: what a request, or a percentile of them, has to meet.
 *
 *     ttft=500ms,tpot=50ms        a request is good when it met both (goodput)
 *     p99:e2e=10s                 the 99th percentile has to
 *
 * A latency that counts from the start is held against the objective from the due time where there is one: that is what
 * a user waits. An objective on a figure that an answer cannot have (the TPOT of one token) is met.
 */
#ifndef REPORT_SLO_H
#define REPORT_SLO_H

#include "error.h"
#include "json/jdoc.h"
#include "stream/metric.h"

enum { OBJECTIVES_MOST = 16 };

struct objective {
	enum metric metric;
	int64_t limit_ns;
	double percentile; /* NAN: of each request */
	char text[48];     /* as it was given */
};

struct slo {
	struct objective list[OBJECTIVES_MOST];
	int count;
	bool per_request; /* any of them is */
};

/* Adds the objectives of `text`; IPF_USAGE. */
int slo_parse(struct slo *slo, const char *text, struct ipf_error *err);

enum slo_answer {
	SLO_NONE,
	SLO_GOOD,
	SLO_MISSED,
	SLO_LEFT_OUT
}; /* left out: ipf-fire hung up on purpose, so that nobody knows */

/* How the request did against `slo` and its own objectives (result->slo: {"ttft_ms": 500} or {"ttft": "500ms"}; they
 * stand in for those on the same metric). *met has a bit for each objective of the list that it met or that did not
 * apply. -1: its own make no sense. */
int slo_judge(const struct slo *slo, const struct result *result, struct jdoc *doc, uint32_t *met,
              struct ipf_error *err);

#endif
