/* How much would a sum change if it were measured again? The noise of a sum, from its parts in successive blocks of
 * time, although neighbours resemble each other.
 *
 *     double parts[48] = …;                       // of the total's deviation, in the order of time
 *     struct block_noise noise = block_noise_of(parts, 48);
 *     double half = student_critical(0.05, noise.degrees) * sqrt(noise.variance);
 *
 * Batch means: blocks that are long beside the correlation of their events are nearly independent. The variance of
 * their sum is then their number times that between them. Blocks are joined in pairs while the correlation of
 * neighbours is above its standard error and at least 2 * BLOCKS_FEWEST blocks are left. A remaining positive
 * correlation enters as that of an autoregressive process, (1 + r) / (1 - r), as in Tafazzoli, Steiger and Wilson,
 * "N-Skart: A nonsequential skewness- and autoregression-adjusted batch-means procedure for simulation analysis", IEEE
 * Transactions on Automatic Control 56(2), 2011. A negative correlation, as of work that one block leaves to the next,
 * does not count: few blocks have one by chance.
 *
 * Pure; the same bits on every machine.
 */
#ifndef IPF_BLOCK_NOISE_H
#define IPF_BLOCK_NOISE_H

#include <stddef.h>

enum {
	BLOCKS_FEWEST = 8,      /* that are not joined further */
	BLOCKS_MOST = 48,       /* that are of use; more are joined first */
	BLOCKS_PARTS = 10,      /* parts of a block at first, if there are enough */
	BLOCKS_PARTS_MOST = 512 /* parts into which to divide a run */
};

struct block_noise {
	double variance; /* the variance of the sum of the parts; NAN: fewer than 2 blocks */
	double degrees;  /* degrees of freedom of that estimate: the blocks used, less 1 */
	double
		independent; /* as many independent parts tell as much (autocorrelation.h), if the caller says; 0: not known */
};

/* The parts of one run; their common part is not noise: their mean is subtracted. Values must be finite. */
struct block_noise block_noise_of(const double *parts, size_t count);
/* The noise of the sum of two independent sums. One without degrees of freedom adds its variance only; NAN, not known,
 * stays NAN. Degrees of freedom as by F. E. Satterthwaite, Biometrics Bulletin 2(6), 1946. */
struct block_noise block_noise_add(struct block_noise a, struct block_noise b);

#endif
