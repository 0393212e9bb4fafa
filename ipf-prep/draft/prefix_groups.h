/* Shared prefixes: groups of synthetic texts, each equally likely within its group, and the groups in given shares.
 *
 *     struct prefix_groups prefixes = {0};
 *     prefix_groups_parse(&prefixes, "2x512=0.7,8x1024=0.2,none=0.1", &err);
 *     size_t group = share_list_pick(&prefixes.shares, rng_uniform(&rng));
 *     prefix_groups_release(&prefixes);
 */
#ifndef PREP_PREFIX_GROUPS_H
#define PREP_PREFIX_GROUPS_H

#include "draft/share_list.h"

#include <stdint.h>

/* Prefixes of one length. */
struct prefix_group {
	int64_t first, count; /* all prefixes together: the index of its first, and how many it has */
	int64_t tokens;       /* in each; 0: requests of this group have no prefix */
};

struct prefix_groups {
	struct share_list shares;    /* the groups'; empty: no prefixes */
	struct prefix_group *groups; /* one for each share */
	int64_t count;               /* prefixes of all groups */
};

/* Parses COUNTxTOKENS[=SHARE],… where one group may be "none"; replaces the struct's old list. -1: out of memory, or
 * IPF_USAGE. Release it also after an error. */
int prefix_groups_parse(struct prefix_groups *prefixes, const char *text, struct ipf_error *err);
void prefix_groups_release(struct prefix_groups *prefixes);

#endif
