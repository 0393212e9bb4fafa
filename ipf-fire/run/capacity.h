/* Open files and local ports, checked before the run: can there be as many connections as the schedule needs for
 * certain?
 */
#ifndef IPF_CAPACITY_H
#define IPF_CAPACITY_H

#include "endpoint/connection_policy.h"
#include "endpoint/network_path.h"
#include "stream/schedule.h"

struct capacity_options {
	const struct schedule *schedule;
	size_t before;    /* its first stages missing from the file */
	const char *path; /* the file; NULL or "-": standard input */
	const char *trace;
	struct connection_policy connections;
	const struct network_path *network_path;
	size_t targets; /* URLs */
	bool quiet;     /* no warnings */
};

/* Raises the limit of open files to its maximum. Fails with IPF_SYSTEM if the schedule is certain to need more
 * connections than there can be; warns on standard error if it may. */
int capacity_check(const struct capacity_options *o, struct ipf_error *err);

#endif
