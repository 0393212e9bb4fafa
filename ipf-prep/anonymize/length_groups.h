/* Lengths such that no request is alone (--k): of the requests of one model in one hour, at least k have the same
 * lengths of prompt and answer, or lengths are put together into bins until they have.
 *
 *     struct length_groups g = {.k = 10};
 *     length_groups_add(&g, &request);                 // every request; false: out of memory
 *     length_groups_settle(&g);                        // false: out of memory
 *     if (length_groups_find(&g, &request, &lengths)) … // else it has to be left out
 *     length_groups_release(&g);
 *
 * Lengths of k requests stay as they are. The others meet in bins of doubling width, from an eighth of an octave on,
 * until k of them are together; they all get the mean lengths of these, so the sum of all tokens stays. The remaining
 * ones get the lengths of the nearest group of their model and hour. Where a model has fewer than k requests in an
 * hour, there is no such group.
 *
 * Memory grows with the number of different lengths in an hour: 72 bytes for each.
 */
#ifndef PREP_LENGTH_GROUPS_H
#define PREP_LENGTH_GROUPS_H

#include "anonymize/anonymous_request.h"

struct lengths {
	int64_t input, output;
};

/* The requests of one model, hour, and pair of lengths. */
struct length_cell {
	uint64_t model;
	int64_t hour;
	struct lengths lengths, settled; /* settled.input -1: there is no group for them */
	int64_t count;
	bool is_settled;
};

struct length_groups {
	int64_t k;
	struct length_cell *cells;
	size_t count, cap;
	uint32_t *slots; /* hash table: index of a cell, plus 1 */
	size_t slot_count;
};

/* The hour of the trace in which a request arrives; 0 without an arrival. */
int64_t length_groups_hour(const struct anonymous_request *request);

bool length_groups_add(struct length_groups *g, const struct anonymous_request *request);
bool length_groups_settle(struct length_groups *g);
/* The lengths a request gets. False: it has to be left out. */
bool length_groups_find(const struct length_groups *g, const struct anonymous_request *request,
                        struct lengths *lengths);
void length_groups_release(struct length_groups *g);

#endif
