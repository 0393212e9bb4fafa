/* Quantiles and tails of Student's t distribution, for confidence intervals and tests.
 *
 *     double half = student_critical(0.05, runs - 1) * error;          // ± of a 95 % interval
 *     double p = student_two_sided(difference / error, runs - 1);      // is the difference zero?
 *
 * student_quantile is from the quantile of the normal distribution by the expansion of Cornish and Fisher
 * (Abramowitz and Stegun, Handbook of Mathematical Functions, 26.7.5), which needs only additions and multiplications.
 * All functions give the same bits on every machine.
 */
#ifndef IPF_STUDENT_H
#define IPF_STUDENT_H

/* Quantiles of the normal distribution: `z` below. */
#define STUDENT_95   1.959963984540054 /* 97.5 %: two-sided intervals at 95 % */
#define STUDENT_99   2.5758293035489   /* 99.5 %: two-sided at 99 % */
#define STUDENT_99_9 3.090232306167813 /* 99.9 %: one-sided at 99.9 % */

/* The quantile of t for as many degrees of freedom, which need not be an integer, where that of the normal distribution
 * is z. Below 3 degrees of freedom INFINITY: nothing useful is known then. The relative error is below 0.2 % for
 * STUDENT_95, below 1 % for STUDENT_99, and for STUDENT_99_9 below 0.5 % from 5 degrees on. */
double student_quantile(double z, double degrees);

/* The probability that |T| is at least |t|: the p value of a two-sided test. From 1 degree of freedom on, which need
 * not be an integer; more than a million are as a million. The relative error is below 1e-8 for results above 1e-300.
 * By the continued fraction of the incomplete beta function (NIST Digital Library of Mathematical Functions, 8.17.22).
 */
double student_two_sided(double t, double degrees);
/* The t that |T| exceeds with this probability, 0 < probability < 1: 12.706 for 0.05 and one degree of freedom. */
double student_critical(double probability, double degrees);
/* The probability the ratio of two estimates of one variance is at least this: the tail of the F distribution, of which
 * that of t² with one degree above is a case. */
double variance_ratio_tail(double ratio, double degrees_above, double degrees_below);

#endif
