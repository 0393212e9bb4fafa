/* How far the times in the records of a calibration run are from the times the server knows. */
#ifndef IPF_ACCURACY_H
#define IPF_ACCURACY_H

#include "error.h"

#include <stdbool.h>
#include <stdint.h>

/* Histograms of absolute errors in ns. */
struct accuracy {
	int64_t requests, failed, events;
	struct histogram *ttft;  /* TTFT: by the records, less the time the server took from receiving the request to
	                          * sending the first event */
	struct histogram *itl;   /* each gap between two events: by the records, less by the server */
	struct histogram *event; /* an event's time: by the records, less when the server sent it */
	struct histogram *lag;   /* start less due */
	bool interrupted;
};

int accuracy_init(struct accuracy *a, struct ipf_error *err); /* -1: out of memory */
void accuracy_release(struct accuracy *a);
/* Adds the requests of a record file due in [from_ns, until_ns). */
int accuracy_read(struct accuracy *a, const char *records, int64_t from_ns, int64_t until_ns, struct ipf_error *err);
/* Is the p99 of TTFT, ITL and lag at most `ns`, and has no request failed? */
bool accuracy_within(const struct accuracy *a, int64_t ns);

#endif
