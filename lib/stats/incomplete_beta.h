/* The regularised incomplete beta function I_x(a, b): the tail of Student's t, of F, and of the binomial distribution,
 * of which P[at least k of n] = I_p(k, n - k + 1). NIST Digital Library of Mathematical Functions, 8.17.
 *
 * The same bits on every machine. The relative error is below 1e-8 for results above 1e-300.
 */
#ifndef IPF_INCOMPLETE_BETA_H
#define IPF_INCOMPLETE_BETA_H

/* a, b > 0; `rest` is 1 - x, which may have digits that x has not. 0 for x <= 0, 1 for rest <= 0. */
double incomplete_beta(double x, double rest, double a, double b);

#endif
