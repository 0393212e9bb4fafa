/* Permissions a run still needs with --sandbox (sandbox/sandbox.h), when its inputs are open and its targets are known.
 */
#ifndef FIRE_RUN_SANDBOX_H
#define FIRE_RUN_SANDBOX_H

#include "endpoint/endpoint.h"
#include "endpoint/network_path.h"
#include "run/settings.h"

struct run_sandbox_options {
	const struct fire_options *options;
	const struct endpoint *endpoint;
	const struct network_path *network_path;
	const char *schedule, *trace; /* their paths; NULL: not a file */
};

/* Before the first thread. Warns if this kernel cannot limit everything. -1: IPF_SYSTEM. */
int run_sandbox_enter(const struct run_sandbox_options *o, struct ipf_error *err);
/* When the output is open. -1: IPF_SYSTEM. */
int run_sandbox_close_files(struct ipf_error *err);

#endif
