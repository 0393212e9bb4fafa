/* All known of one request when its row is written, for the parts of the program watching a run (series, live metrics,
 * spans). Everything is borrowed for the length of the call.
 *
 * A watcher costs nothing on paths running per event unless it is asked for, and never delays rows: work possibly
 * waiting for others belongs to another thread.
 */
#ifndef COLLECT_OBSERVATION_H
#define COLLECT_OBSERVATION_H

#include "measure/measure.h"

struct observation {
	const struct record *record;
	const struct response *response; /* its events have times, see api/response.h */
	const struct measure *measure;   /* inter-token latencies with their times; tokens of each event */
	const struct result *row;
	int64_t offset_ns; /* from the run's time of this row to the whole run's: 0 unless several clients shared it and
	                    * this one started later */
};

#endif
