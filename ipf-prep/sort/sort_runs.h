/* Sorted runs of records in temporary files, and their merge. For record_sorter.c.
 *
 *     struct sort_runs *runs = NULL;
 *     sort_runs_new(&runs, &err);
 *     sort_runs_begin(runs, &err);                  // a run
 *     sort_runs_add(runs, record, &err);            // for each of its records, in their order
 *     sort_runs_end(runs, &err);
 *     sort_runs_read(runs, &err);                   // all runs
 *     while (sort_runs_next(runs, &record, &err) > 0) …
 *     sort_runs_free(runs);
 *
 * Files have no name (unnamed_file.h), so nothing remains of them. A run is a sequence of blocks, each compressed by
 * zstd. There is a file for each level: when a level has RUNS_MOST runs, they are merged into one run of the next level
 * and their file is emptied. Memory is a block for each run read, and so at most a few MB.
 */
#ifndef PREP_SORT_RUNS_H
#define PREP_SORT_RUNS_H

#include "error.h"
#include "sort/sorted_record.h"

struct sort_runs;

int sort_runs_new(struct sort_runs **runs, struct ipf_error *err);
int sort_runs_begin(struct sort_runs *runs, struct ipf_error *err);
int sort_runs_add(struct sort_runs *runs, const struct sorted_record *record, struct ipf_error *err);
int sort_runs_end(struct sort_runs *runs, struct ipf_error *err);
/* Begins with the first record of all runs, also if reading has begun before. */
int sort_runs_read(struct sort_runs *runs, struct ipf_error *err);
/* 1, 0 at the end, -1. The record is valid until the next call. Among records with the same key, the one of the run
 * written first comes first. */
int sort_runs_next(struct sort_runs *runs, const struct sorted_record **record, struct ipf_error *err);
void sort_runs_free(struct sort_runs *runs); /* NULL is fine */

#endif
