/* --calibrate: what this program adds to the figures on this machine, measured against a server whose send times are
 * known; and up to which load it adds less than a millisecond.
 */
#ifndef IPF_CALIBRATE_H
#define IPF_CALIBRATE_H

#include "calibrate/calibration_server.h"
#include "run/settings.h"

/* The load that is tried: so many answers at once, each of that shape. */
struct load_shape {
	double streams;
	struct calibration_server_shape answer;
	bool load_said, events_said; /* load_shape_parse found them */
	int64_t for_ns;              /* how long each load is measured; longer where that would be too few requests */
};

/* "streams=1000,events=100,first=50ms,gap=10ms" or with rate=950 (requests a second) in place of streams, and for=2s;
 * what is not said is kept. */
int load_shape_parse(struct load_shape *shape, const char *text, struct ipf_error *err);
/* What was not said: of the busiest stage of a schedule and the mean output of its trace. NULL: neither. */
int load_shape_of(struct load_shape *shape, const char *schedule, const char *trace, struct ipf_error *err);
double load_shape_rate(const struct load_shape *shape);    /* requests a second */
int64_t load_shape_length(const struct load_shape *shape); /* of an answer, ns */

/* What a run against that server came to; distributions of sizes in ns. */
struct accuracy {
	int64_t requests, failed, events;
	struct histogram
		*ttft; /* by the records less that by the server, from the request's arrival there to its first send */
	struct histogram *itl;   /* likewise, of each gap */
	struct histogram *event; /* an event's time less that of its send */
	struct histogram *lag;   /* start less due */
	bool interrupted;
};

int accuracy_init(struct accuracy *a, struct ipf_error *err);
void accuracy_release(struct accuracy *a);
/* Adds the requests of a file of records that were due from `from_ns` to `until_ns`. */
int accuracy_read(struct accuracy *a, const char *records, int64_t from_ns, int64_t until_ns, struct ipf_error *err);
/* All of them within `ns` at p99, and none failed. */
bool accuracy_within(const struct accuracy *a, int64_t ns);

/* The whole: returns the exit status. */
int calibrate(const struct fire_options *options, const char *schedule);

#endif
