/* Puts any number of records in the order of their keys: beyond its share of memory_limit.h, a sorter sorts its records
 * and writes them into a temporary file (sort_runs.h). The order is the same either way.
 *
 *     struct record_sorter sorter = {0};
 *     record_sorter_add(&sorter, key, record, &err);             // for each record; sort_key.h makes keys
 *     record_sorter_sort(&sorter, &err);
 *     while ((got = record_sorter_next(&sorter, &record, &err)) > 0)
 *         … sorted_record_key(record), sorted_record_bytes(record) …
 *     record_sorter_release(&sorter);
 *
 * Records with the same key come in the order in which they were added. Without keys, a sorter is a queue.
 *
 * Errors are those of the temporary files, with their folder (IPF_SYSTEM), and memory running out.
 */
#ifndef PREP_RECORD_SORTER_H
#define PREP_RECORD_SORTER_H

#include "error.h"
#include "sort/sorted_record.h"

/* Zero-initialise. */
struct record_sorter {
	struct buffer bytes; /* the records in memory */
	struct sort_entry *entries;
	size_t count, cap;
	size_t next;            /* the entry to be read next */
	struct sort_runs *runs; /* all others; NULL: there are none */
	uint64_t records;       /* added */
};

/* Adds a copy. Not after record_sorter_sort, unless the sorter is cleared. */
int record_sorter_add(struct record_sorter *s, struct slice key, struct slice record, struct ipf_error *err);
/* Ends adding: record_sorter_next gives the first record. Call it again to begin again. */
int record_sorter_sort(struct record_sorter *s, struct ipf_error *err);
/* 1, 0 at the end, -1. The record is valid until the next call; its bytes begin at a multiple of 8. */
int record_sorter_next(struct record_sorter *s, const struct sorted_record **record, struct ipf_error *err);
/* Empties the sorter and keeps its memory. */
void record_sorter_clear(struct record_sorter *s);
void record_sorter_release(struct record_sorter *s);

#endif
