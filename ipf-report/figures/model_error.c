#include "figures/model_error.h"

#include <math.h>

static const enum twin_error_of errors_of_bars[ERROR_BARS] = {
	[BAR_TTFT] = TWIN_ERROR_TTFT, [BAR_TTFT_DUE] = TWIN_ERROR_TTFT, [BAR_ITL] = TWIN_ERROR_TPOT,
	[BAR_TPOT] = TWIN_ERROR_TPOT, [BAR_E2E] = TWIN_ERROR_E2E,       [BAR_E2E_DUE] = TWIN_ERROR_E2E,
};

/* A latency is at least 0; an infinite one stays so. */
static void widen(double value, double error, double *low, double *high)
{
	if (!isfinite(value))
		return;
	*low = fmax(0, value - hypot(value - *low, error * value));
	*high = value + hypot(*high - value, error * value);
}

/* ---- means ---- */

static void widen_means(struct figures *f, const json_t *predicted, const int group_counts[GROUPINGS])
{
	for (enum bar bar = 0; bar < ERROR_BARS; bar++) {
		struct metric_summary *d = (struct metric_summary *)bar_summary(f, bar);
		const double error = predicted_error(predicted, errors_of_bars[bar], 50, f->in_flight_mean);
		if (isnan(error))
			d->low = d->high = NAN;
		else
			widen(d->mean, error, &d->low, &d->high);
	}
	for (enum grouping by = 0; by < GROUPINGS; by++)
		for (int i = 0; f->groups[by] && i < group_counts[by]; i++)
			widen_means(&f->groups[by][i], predicted, (const int[GROUPINGS]){0});
}

void model_error_of_means(struct run_figures *figures, const struct run_data *run)
{
	const json_t *predicted = run->parts[0].predicted;
	for (size_t i = 0; predicted && i < figures->count; i++)
		widen_means(&figures->stages[i], predicted, figures->group_counts);
	if (predicted)
		widen_means(&figures->total, predicted, figures->group_counts);
}

/* ---- error bars ---- */

static void widen_bar(struct error_bar *bar, const struct metric_summary *of, const double errors[2],
                      const struct percentiles *list)
{
	const double middle = errors[0], tail = errors[1];
	if (bar->low.n == 0) {
		bar->low = bar->high = *of;
		bar->low.limits = bar->high.limits = NULL;
		bar->low.std = bar->low.n_eff = bar->low.low = bar->low.high = NAN;
		bar->high.std = bar->high.n_eff = bar->high.low = bar->high.high = NAN;
	}
	widen(of->mean, middle, &bar->low.mean, &bar->high.mean);
	widen(of->min, middle, &bar->low.min, &bar->high.min);
	widen(of->max, tail, &bar->low.max, &bar->high.max);
	widen(of->median, middle, &bar->low.median, &bar->high.median);
	widen(of->p90, middle, &bar->low.p90, &bar->high.p90);
	widen(of->p99, tail, &bar->low.p99, &bar->high.p99);
	for (int i = 0; i < list->count; i++)
		widen(of->at[i], list->p[i] > 90 ? tail : middle, &bar->low.at[i], &bar->high.at[i]);
}

void model_error_of_bars(struct accuracy *accuracy, const struct figures *f, const struct run_data *run,
                         const struct percentiles *list)
{
	const json_t *predicted = run->parts[0].predicted;
	for (enum bar bar = 0; predicted && bar < ERROR_BARS; bar++) {
		const struct metric_summary *of = bar_summary(f, bar);
		const double errors[] = {predicted_error(predicted, errors_of_bars[bar], 50, f->in_flight_mean),
		                         predicted_error(predicted, errors_of_bars[bar], 99, f->in_flight_mean)};
		if (of->n <= 0)
			continue;
		if (isnan(errors[0]) || isnan(errors[1]))
			accuracy->bars[bar] = (struct error_bar){0};
		else
			widen_bar(&accuracy->bars[bar], of, errors, list);
	}
}
