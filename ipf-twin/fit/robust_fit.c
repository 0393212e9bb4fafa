#include "fit/robust_fit.h"

#include "array.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS      12
#define LEAST_PIVOT 1e-9 /* for a column that is almost a sum of others, in units of itself */

void robust_fit_add(struct robust_fit *fit, const double *x, double y)
{
	if (!array_room(fit->rows, fit->cap, fit->count + 1)) {
		fit->failed = true;
		return;
	}
	struct robust_row *row = &fit->rows[fit->count++];
	*row = (struct robust_row){.y = y, .weight = 1};
	memcpy(row->x, x, (size_t)fit->columns * sizeof *x);
}

double robust_fit_at(const struct robust_fit *fit, const double *x)
{
	double sum = 0;
	for (int i = 0; i < fit->columns; i++)
		sum += fit->value[i] * x[i];
	return sum;
}

void robust_fit_release(struct robust_fit *fit)
{
	free(fit->rows);
	*fit = (struct robust_fit){0};
}

/* ---- one weighted fit ---- */

struct normal {
	double a[ROBUST_COLUMNS][ROBUST_COLUMNS], b[ROBUST_COLUMNS];
	bool used[ROBUST_COLUMNS];
};

static void gather(const struct robust_fit *fit, bool weighted, struct normal *n)
{
	memset(n->a, 0, sizeof n->a);
	memset(n->b, 0, sizeof n->b);
	for (int64_t r = 0; r < fit->count; r++) {
		const struct robust_row *row = &fit->rows[r];
		double scale = weighted ? robust_fit_at(fit, row->x) : row->y;
		if (row->left_out || !(scale > 0))
			continue;
		double weight = row->weight / (scale * scale);
		for (int i = 0; i < fit->columns; i++) {
			n->b[i] += weight * row->x[i] * row->y;
			for (int j = 0; j < fit->columns; j++)
				n->a[i][j] += weight * row->x[i] * row->x[j];
		}
	}
}

/* The inverse of the used part of `a`, by elimination; a column without a pivot is no longer used. */
static void invert(struct normal *n, int columns, double inverse[ROBUST_COLUMNS][ROBUST_COLUMNS])
{
	double a[ROBUST_COLUMNS][ROBUST_COLUMNS];
	memcpy(a, n->a, sizeof a);
	memset(inverse, 0, sizeof a);
	for (int i = 0; i < columns; i++)
		inverse[i][i] = 1;
	for (int p = 0; p < columns; p++) {
		if (!n->used[p] || !(a[p][p] > LEAST_PIVOT * n->a[p][p])) {
			n->used[p] = false;
			continue;
		}
		double pivot = a[p][p];
		for (int j = 0; j < columns; j++) {
			a[p][j] /= pivot;
			inverse[p][j] /= pivot;
		}
		for (int i = 0; i < columns; i++) {
			double factor = i == p || !n->used[i] ? 0 : a[i][p];
			for (int j = 0; j < columns; j++) {
				a[i][j] -= factor * a[p][j];
				inverse[i][j] -= factor * inverse[p][j];
			}
		}
	}
}

/* Fits; a coefficient that is negative is taken out, the most negative one first. */
static void fit_once(struct robust_fit *fit, bool weighted, double inverse[ROBUST_COLUMNS][ROBUST_COLUMNS])
{
	struct normal n = {0};
	double value[ROBUST_COLUMNS];
	gather(fit, weighted, &n);
	for (int i = 0; i < fit->columns; i++)
		n.used[i] = n.a[i][i] > 0;
	for (int round = 0; round <= fit->columns; round++) {
		int worst = -1;
		invert(&n, fit->columns, inverse);
		for (int i = 0; i < fit->columns; i++) {
			value[i] = 0;
			for (int j = 0; n.used[i] && j < fit->columns; j++)
				value[i] += n.used[j] ? inverse[i][j] * n.b[j] : 0;
			if (value[i] < 0 && (worst < 0 || value[i] < value[worst]))
				worst = i;
		}
		if (worst < 0)
			break;
		n.used[worst] = false;
	}
	for (int i = 0; i < fit->columns; i++) {
		fit->value[i] = value[i] > 0 ? value[i] : 0;
		fit->deviation[i] = n.used[i] ? sqrt(fmax(inverse[i][i], 0)) : NAN;
	}
}

/* ---- outliers ---- */

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

/* Sets residuals and the scale; leaves out outliers. */
static bool judge(struct robust_fit *fit)
{
	double *sizes = malloc((size_t)fit->count * sizeof *sizes);
	if (!sizes)
		return false;
	for (int64_t r = 0; r < fit->count; r++) {
		struct robust_row *row = &fit->rows[r];
		double fitted = robust_fit_at(fit, row->x);
		row->residual = fitted > 0 ? row->y / fitted - 1 : INFINITY;
		sizes[r] = fabs(row->residual);
	}
	qsort(sizes, (size_t)fit->count, sizeof *sizes, compare);
	fit->scale = fmax(1.4826 * sizes[fit->count / 2], 1e-6);
	fit->used = 0;
	for (int64_t r = 0; r < fit->count; r++) {
		fit->rows[r].left_out = fabs(fit->rows[r].residual) > ROBUST_CUT * fit->scale;
		fit->used += !fit->rows[r].left_out;
	}
	free(sizes);
	return true;
}

bool robust_fit_solve(struct robust_fit *fit)
{
	double inverse[ROBUST_COLUMNS][ROBUST_COLUMNS];
	if (fit->failed || fit->count < fit->columns)
		return false;
	for (int64_t r = 0; r < fit->count; r++)
		fit->rows[r].left_out = false;
	for (int round = 0; round < ROUNDS; round++) {
		fit_once(fit, round > 0, inverse);
		if (!judge(fit)) {
			fit->failed = true;
			return false;
		}
	}
	double sum = 0;
	for (int64_t r = 0; r < fit->count; r++)
		sum += fit->rows[r].left_out ? 0 : fit->rows[r].residual * fit->rows[r].residual;
	double variance = fit->used > fit->columns ? sum / (double)(fit->used - fit->columns) : 0;
	for (int i = 0; i < fit->columns; i++)
		fit->deviation[i] *= sqrt(variance);
	return fit->used >= fit->columns;
}
