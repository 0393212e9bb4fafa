/* How numbers are drawn: 128, uniform:64-256, normal:550,150,min=10,max=1024, lognormal:550,150,…; `dataset` leaves
 * them as they are in the data. A histogram is a file's text, which the caller reads.
 *
 * The numbers are counts (of tokens, of turns), at least 1, or times (units as in 2s, 500ms), at least 0, drawn in
 * nanoseconds.
 */
#ifndef PREP_DIST_H
#define PREP_DIST_H

#include "error.h"
#include "stats/rng.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum distribution_kind {
	DISTRIBUTION_DATASET,
	DISTRIBUTION_CONSTANT,
	DISTRIBUTION_UNIFORM,
	DISTRIBUTION_NORMAL,
	DISTRIBUTION_LOGNORMAL,
	DISTRIBUTION_HISTOGRAM
};
enum distribution_unit { DISTRIBUTION_COUNT, DISTRIBUTION_TIME };

struct distribution_bucket {
	int64_t low, high; /* both included */
	double upto;       /* weights up to and with this one */
};

struct distribution {
	enum distribution_kind kind;
	enum distribution_unit unit;
	double mean, std; /* of the normal; of the result, of the log-normal */
	double mu, sigma; /* log-normal: of the logarithm */
	int64_t min, max; /* both included; constant: equal */
	struct distribution_bucket *buckets;
	size_t bucket_count;
};

/* IPF_USAGE: `expected …, got "…"`. */
int distribution_parse(struct distribution *dist, const char *text, enum distribution_unit unit, struct ipf_error *err);
/* Lines of `NUMBER WEIGHT` or `LOW-HIGH WEIGHT` (each number of the range equally likely), with blanks or a comma
 * between; empty ones and those that begin with # are passed over. `text` ends in NUL; `file` names it in errors
 * (IPF_INPUT). */
int distribution_histogram(struct distribution *dist, const char *file, const char *text, enum distribution_unit unit,
                           struct ipf_error *err);
/* What falls outside of min and max is drawn again. */
int64_t distribution_draw(const struct distribution *dist, struct rng *rng);
void distribution_release(struct distribution *dist);

#endif
