/* Logarithm, exponential, power and gamma function that return the same bits on every machine, so the C library's
 * rounding never shows in a schedule.
 *
 * They use only IEEE additions and multiplications, which round the same way everywhere, and ldexp, which is exact. The
 * build forbids the compiler to fuse a multiplication with an addition.
 */
#ifndef IPF_EXACT_MATH_H
#define IPF_EXACT_MATH_H

/* The relative error is below 1e-15. 0 gives -INFINITY, a negative x NAN. */
double exact_log(double x);
/* At most 0.52 units in the last place off; one unit for results below the normal numbers. */
double exact_exp(double x);
/* x to the power of y, as e^(y ln x); 0 for x <= 0. */
double exact_power(double x, double y);
/* The gamma function for 1 <= x <= 100; the relative error is below 1e-13. */
double exact_gamma(double x);

#endif
