#include "workload/trace_findings.h"

int trace_findings_build(struct trace_findings *f, const char *path, const struct run_data *run,
                         const struct cache_options *options, struct ipf_error *err)
{
	f->given = path != NULL;
	if (!path)
		return 0;
	if (workload_read(&f->workload, path, run, err) < 0 ||
	    cache_truth_find(&f->cache, &f->workload, run, options, err) < 0 ||
	    fidelity_find(&f->fidelity, &f->workload, &f->cache, run, err) < 0 ||
	    reference_find(&f->reference, &f->workload, run, options->percentiles, err) < 0)
		return -1;
	cache_truth_judge(&f->cache, run);
	return 0;
}

void trace_findings_release(struct trace_findings *f)
{
	cache_truth_release(&f->cache);
	workload_release(&f->workload);
}
