/* The load of a calibration: --shape, or the shape of a schedule and a trace. */
#ifndef IPF_LOAD_SHAPE_H
#define IPF_LOAD_SHAPE_H

#include "clock.h"
#include "error.h"

#include <stdbool.h>
#include <stdint.h>

/* A response as the calibration server sends it. */
struct stream_shape {
	int64_t first_ns, gap_ns; /* from the request to the first chunk; from each chunk to the next, above 0 */
	int64_t events;           /* chunks of a stream, the last one with the end marker; at least 1 */
};

/* A number of concurrent streams, all of the same shape. */
struct load_shape {
	double streams;
	struct stream_shape stream;
	bool given, load_given, events_given; /* by load_shape_parse */
	int64_t for_ns;                       /* how long each load is measured; longer if it would give too few requests */
};

/* Figures --shape does not name. */
#define LOAD_SHAPE_DEFAULTS                                                                                            \
	{                                                                                                                  \
		.streams = 100, .stream = {.first_ns = 50 * NS_PER_MS, .gap_ns = 10 * NS_PER_MS, .events = 100},               \
		.for_ns = 2 * NS_PER_S                                                                                         \
	}

/* Reads "streams=1000,events=100,first=50ms,gap=10ms", with rate=950 (requests per second) instead of streams, and
 * for=2s. Figures the text does not name have their defaults. -1: IPF_USAGE. */
int load_shape_parse(const char *text, struct load_shape *shape, struct ipf_error *err);
/* Sets the figures left by load_shape_parse: the streams from the busiest stage of the schedule, the events from the
 * mean output of the trace. Each may be NULL: then its part is kept. */
int load_shape_of(struct load_shape *shape, const char *schedule, const char *trace, struct ipf_error *err);
double load_shape_rate(const struct load_shape *shape);    /* requests per second */
int64_t load_shape_length(const struct load_shape *shape); /* a stream's, ns */

#endif
