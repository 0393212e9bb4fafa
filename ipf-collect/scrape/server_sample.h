/* Makes a sample of a server from two scrapes of it: gauges as they are now, counters and histograms as increases since
 * the scrape before. See SERVER SAMPLES in ipf-results(5).
 *
 *     const char *server = server_recognize(&now);
 *     struct server_sample sample = {.server = server, .now = &now, .before = &before, .own = &own, .seen = seen};
 *     server_sample_write(&sample, &w);       // "gauges":{…},"counters":{…},"histograms":{…}
 *
 * A counter smaller than before began again at 0, because the server restarted: `resets` counts such series. A new
 * series has counted from 0.
 */
#ifndef COLLECT_SERVER_SAMPLE_H
#define COLLECT_SERVER_SAMPLE_H

#include "json/jout.h"
#include "scrape/snapshot.h"

struct server_sample {
	const char *server; /* whose names count; NULL: only the user's own */
	const struct snapshot *now;
	const struct snapshot *before; /* NULL: there is none, so only gauges are known */
	const struct own_metrics *own;
	bool *seen;     /* per common_metrics: set if the sample has it, or would have it with a scrape before; NULL: not
	                 * wanted */
	int64_t resets; /* set by server_sample_write: series of counters smaller than before */
};

/* The server whose names the most series have; NULL: none of the table. */
const char *server_recognize(const struct snapshot *snapshot);

/* Writes those of the three members with values, and "resets" if a counter fell. False: no memory. */
bool server_sample_write(struct server_sample *sample, struct jout *w);

#endif
