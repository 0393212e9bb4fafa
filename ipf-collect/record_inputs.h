/* The records a run of the program reads: one stream, or several parts of one run (the clients sharing its schedule).
 *
 *     struct record_inputs inputs = {0};
 *     if (record_inputs_open(&inputs, options->api, records, &err) < 0) …
 *     record_reader_next(inputs.list[0].reader, …)
 *     record_inputs_release(&inputs);                    // also after a failure
 */
#ifndef COLLECT_RECORD_INPUTS_H
#define COLLECT_RECORD_INPUTS_H

#include "api/api.h"
#include "cli/options.h"
#include "seen_numbers.h"
#include "stream/record.h"
#include "stream/schedule.h"
#include "stream/shard_set.h"
#include "stream/predicted.h"

struct record_input {
	struct record_reader *reader;
	struct api *api;     /* the first, or the only one */
	struct api **others; /* for records with "api": 1, 2, … */
	size_t others_count;
	struct schedule schedule;      /* empty if the records do not contain it */
	int64_t offset_ns;             /* how much later than the earliest input this one began; 0: not known */
	json_t *continues;             /* its header's "continues": the rest of a run; borrowed; NULL */
	struct seen_numbers restarted; /* the n of its requests a later input has */
};

struct record_inputs {
	struct record_input *list;
	size_t count;
	struct shard_set shards; /* a divided schedule's; empty if it was not */
	int64_t t0_unix_ns;      /* when the earliest began, since the epoch; IPF_ABSENT: not known of each */
	json_t *predicted;       /* the twin's prediction (twin/predicted.h); borrowed; NULL: the run was measured */
	json_t *observed;        /* captures have the run's packets (stream/observed.h); borrowed; NULL: a client ran it */
	bool live;               /* an input is being written while we read it */
	bool continued; /* the inputs follow each other: each but the first continues the run (ipf-fire --continue) */
};

/* Opens the descriptor to parse the records with: the `requested` one, or the one in their header if it is NULL. */
int record_input_open_api(struct record_reader *records, const char *requested, struct api **api,
                          struct ipf_error *err);

/* Opens all `records` (none: standard input) and reads their headers. `api`: --api, or NULL. -1: IPF_INPUT also for a
 * shard or a run given twice, and for runs measured beside predicted ones. */
int record_inputs_open(struct record_inputs *inputs, const char *api, const struct operands *records,
                       struct ipf_error *err);
/* The API of a record: that of its index in the header's "apis". */
const struct api *record_input_api(const struct record_input *input, const struct record *record);
void record_inputs_release(struct record_inputs *inputs);

#endif
