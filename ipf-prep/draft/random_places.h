/* Random places among requests: one in each of the equal parts of a trace, so that they are spread over all of it.
 *
 *     struct random_places places;
 *     random_places_init(&places, seed, "canary place", 0.01, IPF_ABSENT);   // one for every hundred requests
 *     for (int64_t i = 0; …; i++)
 *         while (random_places_take(&places, i)) …                           // a place before request i
 *
 * The places depend only on the seed, the name and the rate.
 */
#ifndef PREP_RANDOM_PLACES_H
#define PREP_RANDOM_PLACES_H

#include "error.h"

#include <stdbool.h>
#include <stdint.h>

/* An option's SHARE|N: "1%" and "0.01" are shares, "50" is a number. */
struct share_or_count {
	double share;  /* above 0; 0: it is a number */
	int64_t count; /* above 0; 0: it is a share. Both are 0 if the option is not given. */
};
int share_or_count_parse(struct share_or_count *option, const char *text, struct ipf_error *err);

struct random_places {
	uint64_t seed;
	const char *name; /* a literal */
	double rate;
	int64_t most;  /* places; IPF_ABSENT: any number */
	int64_t taken; /* places */
	double next;   /* the request before which the next place is, with a fraction */
};

/* `rate` is the mean number of places per request; 0: there are none. */
void random_places_init(struct random_places *p, uint64_t seed, const char *name, double rate, int64_t most);
/* Is the next place before request `index` or an earlier one? Then it is taken. */
bool random_places_take(struct random_places *p, int64_t index);

#endif
