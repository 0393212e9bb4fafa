/* Files and local ports, found out before the run: may there be as many connections as the schedule is sure to need? */
#ifndef IPF_CAPACITY_H
#define IPF_CAPACITY_H

#include "endpoint/connection_policy.h"
#include "endpoint/network_path.h"
#include "stream/schedule.h"

struct capacity_options {
	const struct schedule *schedule;
	size_t before;    /* its first stages that are not of the file */
	const char *path; /* the file; NULL or "-": standard input */
	const char *trace;
	struct connection_policy connections;
	const struct network_path *route;
	size_t places; /* URLs */
	bool quiet;    /* no warnings */
};

/* Raises the limit of open files as far as it goes. An error where the schedule is sure to need more connections than
 * there can be, or a warning where it may. */
int capacity_check(const struct capacity_options *o, struct ipf_error *err);

/* The fewest connections that so many requests at once can go on. */
int64_t capacity_connections(const struct connection_policy *c, size_t places, int64_t requests);

#endif
