/* The kept part of one scrape: the values of the series with a meaning, without their labels. A sample is made from two
 * of them (server_sample.h).
 *
 *     snapshot_add(now, &metrics, &series);               // for each line of the answer
 *     if (snapshot_failed(now, &err) < 0) …
 *
 * A series is known by a hash of its name and labels, so its increase since the scrape before is found, also when only
 * some of the series of a metric begin again at 0. The series of a gauge whose greatest value counts (server_metrics.h)
 * are one entry per engine: their hash leaves out the process.
 */
#ifndef COLLECT_SNAPSHOT_H
#define COLLECT_SNAPSHOT_H

#include "scrape/exposition.h"
#include "metrics/server_metrics.h"

#define SNAPSHOT_SERIES_MAX 50000 /* one target's, kept */
#define METRIC_NAMES_MAX    500   /* one target's names kept by --metric */

/* The metrics the user keeps under their own names, as they are found. */
struct own_metric {
	char *name; /* a counter without _total */
	enum metric_kind kind;
};

struct own_metrics {
	const char *const *patterns; /* globs, borrowed */
	size_t patterns_count;
	struct own_metric *list;
	size_t count;
};

void own_metrics_release(struct own_metrics *own);
/* Whether a series of this name can be one of them, a part of a histogram included. */
bool own_metrics_keep(const struct own_metrics *own, struct slice name);

/* The metric an entry belongs to: a row of server_metrics, or behind them one of the user's. */
struct snapshot_entry {
	uint64_t series; /* hash of name and labels */
	unsigned metric;
	enum metric_part part; /* PART_ALL: the value, or a bucket of a histogram */
	double value;
	double bound; /* a bucket's, in the unit of the common name; PART_NAMES: the number of names; PART_LABEL: the number
	               * in it */
	bool is_bucket;
};

struct snapshot {
	struct snapshot_entry *entries;
	size_t count, cap;
	uint32_t *index; /* entries by series: open addressing, 0 is free */
	size_t index_cap;
	bool too_many, no_memory;
	int64_t duplicates; /* the first one counts */
};

/* Whether series of this name can mean something, by the table. */
bool snapshot_keeps(struct slice name);
void snapshot_clear(struct snapshot *snapshot);
void snapshot_release(struct snapshot *snapshot);
void snapshot_add(struct snapshot *snapshot, struct own_metrics *own, const struct exposition_series *series);
/* -1: more series than SNAPSHOT_SERIES_MAX, or no memory. */
int snapshot_failed(const struct snapshot *snapshot, struct ipf_error *err);
/* The entry of the same series in another snapshot; NULL: it was not there. */
const struct snapshot_entry *snapshot_find(const struct snapshot *snapshot, const struct snapshot_entry *entry);

#endif
