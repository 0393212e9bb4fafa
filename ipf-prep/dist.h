/* How numbers are drawn: 128, uniform:64-256, normal:550,150,min=10,max=1024, lognormal:550,150,…; `dataset` leaves them as
 * they are in the data. A histogram is a file's text, which the caller reads.
 *
 * The numbers are counts (of tokens, of turns), at least 1, or times (units as in 2s, 500ms), at least 0, drawn in nanoseconds.
 */
#ifndef PREP_DIST_H
#define PREP_DIST_H

#include "error.h"
#include "rng.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum dist_kind { DIST_DATASET, DIST_CONSTANT, DIST_UNIFORM, DIST_NORMAL, DIST_LOGNORMAL, DIST_HISTOGRAM };
enum dist_unit { DIST_COUNT, DIST_TIME };

struct dist_bucket {
	int64_t low, high; /* both included */
	double upto;       /* weights up to and with this one */
};

struct dist {
	enum dist_kind kind;
	enum dist_unit unit;
	double mean, std;   /* of the normal; of the result, of the log-normal */
	double mu, sigma;   /* log-normal: of the logarithm */
	int64_t min, max;   /* both included; constant: equal */
	struct dist_bucket *buckets;
	size_t bucket_count;
};

/* IPF_USAGE: `expected …, got "…"`. */
int dist_parse(struct dist *dist, const char *text, enum dist_unit unit, struct ipf_error *err);
/* Lines of `NUMBER WEIGHT` or `LOW-HIGH WEIGHT` (each number of the range equally likely), with blanks or a comma between; empty ones and
 * those that begin with # are passed over. `text` ends in NUL; `file` names it in errors (IPF_INPUT). */
int dist_histogram(struct dist *dist, const char *file, const char *text, enum dist_unit unit, struct ipf_error *err);
/* What falls outside of min and max is drawn again. */
int64_t dist_draw(const struct dist *dist, struct rng *rng);
void dist_release(struct dist *dist);

#endif
