/* Requests of sessions waiting for another request: how much of their prompts the server still had, and whether they
 * went to a server that had answered their parents. A router keeping sessions on their server makes both high. */
#ifndef REPORT_LATER_TURNS_H
#define REPORT_LATER_TURNS_H

#include "results/run_data.h"

struct later_turns {
	double cached_share; /* cached share of their input tokens, by the server's usage; NAN */
	double same_server;  /* share of them; NAN: not known, or all requests went to one server */
};

/* For successful requests of measured stages, after merge_parts. -1: out of memory. */
int later_turns_read(struct later_turns *turns, const struct run_data *run, struct ipf_error *err);

#endif
