/* All a report says with the trace of the run (--trace).
 *
 *     struct trace_findings found = {0};
 *     trace_findings_build(&found, path, &run, &options, &err);      // before the verdict is judged
 *     if (found.given) … found.cache …
 *     trace_findings_release(&found);
 */
#ifndef REPORT_TRACE_FINDINGS_H
#define REPORT_TRACE_FINDINGS_H

#include "workload/fidelity.h"
#include "workload/reference.h"

struct trace_findings {
	bool given;
	struct workload workload;
	struct cache_truth cache;
	struct fidelity fidelity;
	struct reference reference;
};

/* `path`: NULL: no trace was given, and nothing is found. -1: as workload_read, or out of memory. */
int trace_findings_build(struct trace_findings *found, const char *path, const struct run_data *run,
                         const struct cache_options *options, struct ipf_error *err);
void trace_findings_release(struct trace_findings *found);

#endif
