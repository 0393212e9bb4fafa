/* What options give out in shares: NAME=SHARE,NAME=SHARE,… that sum up to 1; the share of a lone one may be left out.
 */
#ifndef PREP_SHARES_H
#define PREP_SHARES_H

#include "error.h"

#include <stddef.h>

struct share {
	const char *name; /* in `text` */
	double upto;      /* the sum of its share and those before it; that of the last is beyond 1 */
};

struct shares {
	struct share *list;
	size_t count;
	char *text;
};

/* -1: memory, or IPF_USAGE: `OPTION: expected EXPECTED, got "TEXT"`, or what the shares sum up to. */
int shares_parse(struct shares *s, const char *option, const char *expected, const char *text, struct ipf_error *err);
void shares_release(struct shares *s);

/* The one that `u`, from 0 to below 1, falls to. There is one at least. */
size_t shares_pick(const struct shares *s, double u);

#endif
