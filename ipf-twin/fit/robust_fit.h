/* Least squares for steps: y = Σ coefficient × x, with non-negative coefficients, errors in proportion to y, and rows
 * that do not belong (pauses, steps more than they seem) left out.
 *
 *     struct robust_fit fit = {.columns = 3};
 *     for each row: robust_fit_add(&fit, (double[]){1, sequences, tokens}, length_ns);
 *     if (robust_fit_solve(&fit)) … fit.value[i], fit.deviation[i]
 *     robust_fit_release(&fit);
 *
 * Weighted least squares, iterated: a row's weight is 1 / (its fitted value)², and rows farther than ROBUST_CUT scales
 * from the fit are left out, the scale being the median of the absolute relative residuals times 1.4826. (Rousseeuw and
 * Leroy, Robust Regression and Outlier Detection, 1987, chapter 5: reweighted least squares.) The first fit is to the
 * medians of rows that are alike. A coefficient that would be negative is 0.
 */
#ifndef TWIN_ROBUST_FIT_H
#define TWIN_ROBUST_FIT_H

#include <stdbool.h>
#include <stdint.h>

enum { ROBUST_COLUMNS = 6 };
#define ROBUST_CUT 4.5

struct robust_row {
	double x[ROBUST_COLUMNS], y;
	double weight;   /* how much it counts beside the others; 1 as it was added */
	double residual; /* relative, after the last fit: y / fitted - 1 */
	bool left_out;
};

/* Zero-initialise but for the number of columns. */
struct robust_fit {
	int columns;
	struct robust_row *rows;
	int64_t count, cap;
	bool failed; /* memory ran out */
	/* After robust_fit_solve. */
	double value[ROBUST_COLUMNS];
	double deviation[ROBUST_COLUMNS]; /* standard deviation of the value; NAN: it cannot be told from the others */
	double scale;                     /* the relative residuals' */
	int64_t used;                     /* rows that were not left out */
};

void robust_fit_add(struct robust_fit *fit, const double *x, double y); /* y > 0 */
/* false: fewer rows than columns, or memory ran out. */
bool robust_fit_solve(struct robust_fit *fit);
double robust_fit_at(const struct robust_fit *fit, const double *x);
void robust_fit_release(struct robust_fit *fit);

#endif
