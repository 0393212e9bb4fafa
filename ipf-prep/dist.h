/* How numbers are drawn: 128, uniform:64-256, normal:550,150,min=10,max=1024, lognormal:550,150,…; `dataset` leaves them as
 * they are in the data.
 */
#ifndef PREP_DIST_H
#define PREP_DIST_H

#include "error.h"
#include "rng.h"

#include <stdbool.h>
#include <stdint.h>

enum dist_kind { DIST_DATASET, DIST_CONSTANT, DIST_UNIFORM, DIST_NORMAL, DIST_LOGNORMAL };

struct dist {
	enum dist_kind kind;
	double mean, std;   /* of the normal; of the result, of the log-normal */
	double mu, sigma;   /* log-normal: of the logarithm */
	int64_t min, max;   /* both included; constant: equal */
};

/* IPF_USAGE: `expected …, got "…"`. */
int dist_parse(struct dist *dist, const char *text, struct ipf_error *err);
/* At least 1. What falls outside of min and max is drawn again. */
int64_t dist_draw(const struct dist *dist, struct rng *rng);

#endif
