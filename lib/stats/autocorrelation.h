/* How much does a correlated series of measurements tell about its mean? Neighbours in time resemble each other (the
 * same queue, the same batch), so n of them tell less than n independent ones would: as much as n_eff.
 *
 *     struct mean_estimate e = mean_estimate_of(values, count);
 *     double half = e.error * student_quantile(STUDENT_95, e.n_eff - 1);     // ± of the 95 % interval
 *
 * The autocorrelation time is Geyer's initial monotone sequence estimator (C. J. Geyer, "Practical Markov chain Monte
 * Carlo", Statistical Science 7(4), 1992, section 3.3): the sums of autocovariances at successive pairs of lags,
 * Γ(k) = γ(2k) + γ(2k+1), are added up as long as they are above zero, each at most as large as the one before. The
 * autocovariances divide by n, not by n minus the lag.
 *
 * Values are in the order of time, at equal or at least comparable distances. All functions are pure, and use only
 * operations that give the same bits on every machine.
 */
#ifndef IPF_AUTOCORRELATION_H
#define IPF_AUTOCORRELATION_H

#include <stdbool.h>
#include <stddef.h>

/* Series that are longer are replaced by the means of this many batches of neighbours for the autocorrelation, so the
 * work does not grow with the square of their length. The variance of the mean is the same. */
#define AUTOCORRELATION_BATCHES 2048

/* The sum of the products of two values that are `lag` apart, less the mean, divided by count. */
double autocovariance(const double *values, size_t count, double mean, size_t lag);
/* The sum of the autocovariances from `lag` on, in pairs as said above; `at_lag` is that at `lag`. */
double autocovariance_sum(const double *values, size_t count, double mean, size_t lag, double at_lag);

/* 1 + 2 times the sum of the autocorrelations: how many successive values tell as much as one independent value. At
 * least 0, which only alternating series approach; 1 for a constant series and for fewer than 4 values. O(count²) for a
 * series that never settles. */
double autocorrelation_time(const double *values, size_t count);

struct mean_estimate {
	double mean;  /* NAN: no values */
	double n_eff; /* effective sample size, 1 … count (0: no values): never above count, though the values alternate */
	double error; /* standard error of the mean, as of n_eff independent values; NAN: n_eff is 1 */
};

/* Is an interval of the mean to be trusted? With fewer than 20 independent values it is too narrow. Where values are
 * worth less than a third of their number, how much less is known badly, and it takes 50. */
bool mean_estimate_enough(double n_eff, double count);

/* Values must be finite. If memory for the batches runs out, n_eff is that of independent values (memory.h knows). */
struct mean_estimate mean_estimate_of(const double *values, size_t count);

#endif
