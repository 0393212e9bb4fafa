/* The load of a calibration: --shape, or the shape of a schedule and a trace. */
#ifndef IPF_LOAD_SHAPE_H
#define IPF_LOAD_SHAPE_H

#include "calibrate/calibration_server.h"

#include <stdbool.h>

/* A number of concurrent streams, all of the same shape. */
struct load_shape {
	double streams;
	struct calibration_server_shape stream;
	bool load_given, events_given; /* by load_shape_parse */
	int64_t for_ns;                /* how long each load is measured; longer if that would give too few requests */
};

/* Reads "streams=1000,events=100,first=50ms,gap=10ms", with rate=950 (requests per second) instead of streams, and
 * for=2s. What the text does not name is kept. -1: IPF_USAGE. */
int load_shape_parse(struct load_shape *shape, const char *text, struct ipf_error *err);
/* Sets what load_shape_parse did not: the streams from the busiest stage of the schedule, the events from the mean
 * output of the trace. Each may be NULL: then its part is kept. */
int load_shape_of(struct load_shape *shape, const char *schedule, const char *trace, struct ipf_error *err);
double load_shape_rate(const struct load_shape *shape);    /* requests per second */
int64_t load_shape_length(const struct load_shape *shape); /* of a stream, ns */

#endif
