/* A choice among names at random, in given shares: NAME=SHARE,NAME=SHARE,… The shares are weights of any sum, or per
 * cent; names without any have equal ones.
 *
 *     struct share_list models = {0};
 *     share_list_parse(&models, "base=0.5,lora-a=0.5", "NAME=SHARE,…", &err);
 *     const char *model = models.items[share_list_pick(&models, rng_uniform(&rng))].name;
 *     share_list_release(&models);
 */
#ifndef PREP_SHARE_LIST_H
#define PREP_SHARE_LIST_H

#include "error.h"

#include <stddef.h>

struct share {
	const char *name;  /* points into `text` */
	double cumulative; /* the sum of its share and those before it, of 1; above 1 for the last */
};

struct share_list {
	struct share *items;
	size_t count;
	char *text;
};

/* Replaces the list. -1: out of memory, or IPF_USAGE: `expected EXPECTED, got "TEXT"`. Release the list also after an
 * error. */
int share_list_parse(struct share_list *list, const char *text, const char *expected, struct ipf_error *err);
void share_list_release(struct share_list *list);

/* The index of the name that `u` (at least 0, below 1) selects. The list must not be empty. */
size_t share_list_pick(const struct share_list *list, double u);

#endif
