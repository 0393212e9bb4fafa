#include "run/thread_count.h"

#define MOST         16
#define RATE_EACH    1000.0
#define STREAMS_EACH 500

size_t thread_count_useful(const struct schedule *schedule, size_t cores)
{
	size_t most = cores / 2 < MOST ? cores / 2 : MOST, useful = 1;
	for (size_t i = 0; i < schedule->count; i++) {
		const struct schedule_stage *s = &schedule->stages[i];
		double by_rate = s->rate > 0 ? s->rate / RATE_EACH : 0; /* an unknown rate is NAN */
		double by_streams = s->closed && s->slots > 0 ? (double)s->slots / STREAMS_EACH : 0;
		double load = by_rate > by_streams ? by_rate : by_streams;
		size_t threads = load < MOST ? 1 + (size_t)load : MOST;
		if (threads > useful)
			useful = threads;
	}
	return useful < most ? useful : most ? most : 1;
}
