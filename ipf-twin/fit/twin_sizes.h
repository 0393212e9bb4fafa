/* The size of a limit that no step and no request shows by itself: sizes are tried, and the one is taken whose replay
 * is nearest to the runs.
 *
 *     struct twin_size size = {TWIN_KV_BLOCKS, least, most, distance_without_it, .size = NAN};
 *     if (twin_size_find(&twin, &replay, &size, &err) == 0 && !isnan(size.size)) …
 */
#ifndef TWIN_TWIN_SIZES_H
#define TWIN_TWIN_SIZES_H

#include "fit/twin_replay.h"

#include "twin/twin.h"

struct twin_size {
	enum twin_parameter_id id;
	double least, most; /* none is less, and none of those tried first is more; 0 < least < most */
	double without;     /* the distance if there is no such limit (twin_replay.h) */
	double size;        /* out; NAN: no size is clearly nearer */
	double distance;
};

/* A size is nearer if its distance is so much less than that without a limit, and less than 0.8 of it. */
#define TWIN_SIZE_GAIN 0.004

/* If several sizes are as near, takes the greatest. The twin is as before afterwards. -1: out of memory. */
int twin_size_find(struct twin *twin, struct twin_replay *replay, struct twin_size *size, struct ipf_error *err);

#endif
