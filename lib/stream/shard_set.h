/* Which shards of a schedule (ipf-sched --shard K/N) are together, so a part is never taken for the whole.
 *
 *     struct shard_set set = {0};
 *     for each file: if (shard_set_add(&set, header, file, &err) < 0) …     // a shard twice, or of another schedule
 *     if (shard_set_missing(&set) > 0) … shard_set_describe_missing(&set, text)
 *     shard_set_release(&set);
 *
 * Shards belong together if their schedules have the same seed, stages, trace and input files, and the same N.
 */
#ifndef IPF_SHARD_SET_H
#define IPF_SHARD_SET_H

#include "buffer.h"
#include "error.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct shard_entry {
	int64_t index; /* from 1 */
	char *file;
	int64_t t0_ns; /* when its run began, since the epoch; IPF_ABSENT: not known */
};

/* Zero-initialise. */
struct shard_set {
	int64_t of;    /* N; 0: nothing was added, or no shards */
	json_t *whole; /* the common part of all shards of the schedule */
	char *file;    /* the first one that was added; NULL: nothing was added */
	struct shard_entry *list;
	size_t count;
	int64_t arrivals, all_arrivals; /* for the shards in the list, and for the schedule */
	bool unknown; /* the counts do not show whether a shard is missing: a stage repeats its arrivals */
};

/* Adds the shard of a schedule, the shard of a run (a header of records), or the shards that results were collected
 * from, given the stream's header. Files that are no shards may follow each other, but do not mix with shards.
 * IPF_INPUT names both files. */
int shard_set_add(struct shard_set *set, json_t *header, const char *file, struct ipf_error *err);
/* Adds a file as one of a whole schedule, whatever its header says. */
int shard_set_add_whole(struct shard_set *set, const char *file, struct ipf_error *err);

/* Are all N there? False for 0 of 0. */
bool shard_set_complete(const struct shard_set *set);
/* How many shards are missing; 0 if those that are not there had no requests. */
int64_t shard_set_missing(const struct shard_set *set);
/* Appends, for instance, "shard 2 of 2 is missing" or "shards 2, 4 and 5 of 5 are missing". */
void shard_set_describe_missing(const struct shard_set *set, struct buffer *out);
/* From the first start of a shard's run to the last one, which is that of shard `index`; 0 if they are not known. */
int64_t shard_set_spread_ns(const struct shard_set *set, int64_t *index);
/* Appends {"of": N, "present": […], "missing": […]}, for a header or report. "missing" is absent if shard_set_missing
 * is 0. New; NULL: out of memory. */
json_t *shard_set_json(const struct shard_set *set);
void shard_set_release(struct shard_set *set);

#endif
