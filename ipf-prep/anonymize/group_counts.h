/* How large the groups are into which values fall, in constant memory: how many values are the only one of their group,
 * and how many are in groups of fewer than k.
 *
 *     struct group_counts groups = {0};
 *     group_counts_add(&groups, hash);                      // for each value: the hash of its group
 *     struct small_groups small = group_counts_below(&groups, 10);
 *     … small.values of groups.values …
 *     group_counts_release(&groups);
 *
 * The sizes are exact for up to GROUPS_KEPT groups. Beyond, those of a sample of the groups are kept, which is the same
 * for the same groups in any order (as in stats/distinct_count.h), and the numbers are estimates.
 */
#ifndef PREP_GROUP_COUNTS_H
#define PREP_GROUP_COUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GROUPS_KEPT  ((size_t)1 << 16)
#define GROUPS_SLOTS (2 * GROUPS_KEPT) /* a table of 2 MiB */

struct group_count {
	uint64_t hash; /* 0: free */
	int64_t count;
};

/* Zero-initialise. */
struct group_counts {
	struct group_count *slots;
	size_t kept;
	unsigned depth; /* each group kept stands for 2^depth */
	int64_t values; /* all those added */
	bool failed;    /* out of memory */
};

struct small_groups {
	int64_t groups, values;
};

/* All bits of the hash have to be good. */
void group_counts_add(struct group_counts *g, uint64_t hash);
/* The groups of fewer than k values, and the values in them. */
struct small_groups group_counts_below(const struct group_counts *g, int64_t k);
int64_t group_counts_groups(const struct group_counts *g);
int64_t group_counts_smallest(const struct group_counts *g); /* among those kept; 0: there are none */
int64_t group_counts_largest(const struct group_counts *g);
bool group_counts_is_exact(const struct group_counts *g);
void group_counts_release(struct group_counts *g);

#endif
