/* Kolmogorov's distribution, for tests of how well values follow a distribution. */
#ifndef IPF_KOLMOGOROV_H
#define IPF_KOLMOGOROV_H

/* The probability that n values, drawn from a distribution, have at least this distance from it. */
double kolmogorov_p(double distance, double n);

#endif
