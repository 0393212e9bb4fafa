/* Quantiles of Student's t distribution, for confidence intervals.
 *
 * From the quantile of the normal distribution by the expansion of Cornish and Fisher (Abramowitz and Stegun, Handbook
 * of Mathematical Functions, 26.7.5), which needs only additions and multiplications: the same bits on every machine.
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

#endif
