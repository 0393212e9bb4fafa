#include "fit/twin_sizes.h"

#include <math.h>

#define BETTER 0.8   /* as a share of the distance without a limit, at most */
#define STEP   1.35  /* from one size tried first to the next, at most */
#define FINE   1.003 /* and at last */

/* The distance with a limit of this size; -1: out of memory. */
static double distance_at(struct twin *twin, struct twin_replay *c, enum twin_parameter_id id, double size,
                          struct ipf_error *err)
{
	twin_set(twin, id, size, size, size);
	return twin_replay_run(c, twin, err) < 0 ? -1 : twin_replay_distance(c);
}

/* Between the neighbours of a size found to be the nearest. */
static int refine(struct twin *twin, struct twin_replay *c, struct twin_size *s, double step, struct ipf_error *err)
{
	for (step = sqrt(step); step > FINE; step = sqrt(step)) {
		const double middle = s->size;
		for (int side = 1; side >= -1; side -= 2) {
			double at = fmax(round(middle * pow(step, side)), s->least), by = distance_at(twin, c, s->id, at, err);
			if (by < 0)
				return -1;
			if (by < s->distance) {
				s->distance = by;
				s->size = at;
			}
		}
	}
	return 0;
}

static int try_all(struct twin *twin, struct twin_replay *c, struct twin_size *s, struct ipf_error *err)
{
	const int count = (int)ceil(log(s->most / s->least) / log(STEP));
	const double step = pow(s->most / s->least, 1.0 / count);
	for (int i = count; i >= 0; i--) {
		double at = round(s->least * pow(step, i)), by = distance_at(twin, c, s->id, at, err);
		if (by < 0)
			return -1;
		if (by < s->distance - TWIN_SIZE_GAIN / 2) {
			s->size = at;
			s->distance = by;
		}
	}
	return isnan(s->size) ? 0 : refine(twin, c, s, step, err);
}

int twin_size_find(struct twin *twin, struct twin_replay *replay, struct twin_size *s, struct ipf_error *err)
{
	const struct twin_parameter before = twin->p[s->id];
	s->size = NAN;
	s->distance = s->without;
	const int result = try_all(twin, replay, s, err);
	twin->p[s->id] = before;
	if (s->distance > s->without * BETTER || s->distance > s->without - TWIN_SIZE_GAIN)
		s->size = NAN;
	return result;
}
