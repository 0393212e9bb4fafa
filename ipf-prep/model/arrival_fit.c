#include "model/arrival_model.h"

#include "clock.h"
#include "stats/samples.h"

#include <math.h>

#define WHOLE_NS INT64_C(1318359375) /* 2^-16 days */
#define FINEST   (ARRIVAL_LEVELS - 1)
/* Arrivals at each different time from which on the clock counts as coarse. */
#define COARSE 1.5
/* Even arrivals: how many show it, the most the variance of gaps is of their squared mean, and from how many others in
 * the same cell on counts say something of gaps. */
#define EVEN_LEAST  100
#define EVEN_MOST   0.8
#define EVEN_OTHERS 4

/* ---- counts in cells ---- */

static void count_window(struct arrival_fit *f, int64_t cell)
{
	int64_t window = cell >> (FINEST - f->level);
	while (window >= ARRIVAL_WINDOWS) {
		for (int i = 0; i < ARRIVAL_WINDOWS / 2; i++)
			f->counts[i] = f->counts[2 * i] + f->counts[2 * i + 1];
		for (int i = ARRIVAL_WINDOWS / 2; i < ARRIVAL_WINDOWS; i++)
			f->counts[i] = 0;
		f->level--;
		window = cell >> (FINEST - f->level);
	}
	f->counts[window]++;
	f->windows = window + 1;
}

/* Adds a complete cell to the cell of the level above, which may then be complete, too. */
static void close_cell(struct arrival_fit *f, int level)
{
	const struct arrival_cell cell = f->cells[level];
	const double n = (double)cell.count, difference = (double)(2 * cell.left - cell.count);
	f->sums[level].count += n;
	f->sums[level].pairs += n * (n - 1);
	f->sums[level].squares += difference * difference;
	if (level == 0)
		return;
	struct arrival_cell *above = &f->cells[level - 1];
	if (above->index != cell.index >> 1) {
		if (above->count)
			close_cell(f, level - 1);
		*above = (struct arrival_cell){.index = cell.index >> 1};
	}
	above->count += cell.count;
	above->left += cell.index & 1 ? 0 : cell.count;
}

static void count_arrival(struct arrival_fit *f, int64_t ns)
{
	const int64_t parts = 1 << (FINEST - ARRIVAL_WHOLE);
	int64_t cell = ns / WHOLE_NS * parts + ns % WHOLE_NS * parts / WHOLE_NS;
	if (f->tick_ns) /* ticks are a little early or late */
		cell = (ns + f->tick_ns / 2) / f->tick_ns * parts;
	struct arrival_cell *finest = &f->cells[FINEST];
	cell = cell > f->last_cell ? cell : f->last_cell;
	f->last_cell = cell;
	count_window(f, cell);
	if (finest->index != cell) {
		if (finest->count)
			close_cell(f, FINEST);
		*finest = (struct arrival_cell){.index = cell};
	}
	finest->count++;
}

/* ---- coarse clocks ---- */

/* Looks at the first arrivals: how many are at the same times, and how far are these apart? */
static void end_probing(struct arrival_fit *f)
{
	double steps[ARRIVAL_PROBE];
	size_t count = 0;
	for (int i = 1; i < f->probed; i++)
		if (f->probe[i] > f->probe[i - 1])
			steps[count++] = (double)(f->probe[i] - f->probe[i - 1]);
	f->probing_ended = true;
	if (count >= 8 && f->probed >= COARSE * (double)(count + 1)) {
		struct samples sorted = {.values = steps, .count = count, .cap = ARRIVAL_PROBE};
		samples_sort(&sorted);
		f->tick_ns = (int64_t)steps[count / 2];
	}
	for (int i = 0; i < f->probed; i++)
		count_arrival(f, f->probe[i]);
}

/* ---- the interface ---- */

int arrival_fit_add(struct arrival_fit *f, int64_t at_ns, struct ipf_error *err)
{
	if (f->count == 0) {
		f->first_ns = f->last_ns = at_ns;
		f->level = ARRIVAL_WHOLE;
	} else if (at_ns < f->last_ns) {
		return ipf_error_set(err, IPF_INPUT, "at_ns: expected arrivals in order, got %lld after %lld", (long long)at_ns,
		                     (long long)f->last_ns);
	}
	const double gap = (double)(at_ns - f->last_ns) / NS_PER_S;
	f->gap_sum += gap;
	f->gap_squares += gap * gap;
	f->last_ns = at_ns;
	f->count++;
	if (f->probing_ended) {
		count_arrival(f, at_ns - f->first_ns);
		return 0;
	}
	f->probe[f->probed++] = at_ns - f->first_ns;
	if (f->probed == ARRIVAL_PROBE)
		end_probing(f);
	return 0;
}

/* The correlation by which the expected squared differences of halves are the counted ones. */
static double correlation(const struct arrival_sums *s)
{
	if (s->pairs <= 0)
		return 0;
	double c = (s->squares - s->count) / s->pairs, least = -s->count / s->pairs;
	return c > 1 ? 1 : c < least ? least : c;
}

/* The variation of the gaps, if arrivals are even and the counts of wider cells vary by no more than such gaps say:
 * by their variance over their squared mean, as of a renewal process. 0: they are not. */
static double even_gaps(const struct arrival_fit *f, int levels)
{
	const double gaps = (double)f->count - 1, mean = f->gap_sum / gaps;
	const double variance = f->gap_squares / gaps - mean * mean, index = variance / (mean * mean);
	if (f->count < EVEN_LEAST || f->tick_ns || !(mean > 0) || !(index > 1e-4 && index < EVEN_MOST))
		return 0;
	for (int i = f->level; i < levels; i++) {
		const struct arrival_sums *s = &f->sums[i];
		if (s->pairs > EVEN_OTHERS * s->count && s->squares > s->count * (1.5 * index + 0.1))
			return 0;
	}
	return sqrt(index);
}

void arrival_fit_end(struct arrival_fit *f, struct arrival_model *m)
{
	*m = (struct arrival_model){.starts = f->count};
	if (f->count == 0)
		return;
	if (!f->probing_ended)
		end_probing(f);
	/* Cells still open are incomplete, and do not count, except for the finest ones. */
	double gaps = f->count > 1 ? (double)(f->count - 1) : 1;
	m->span_s = (double)(f->last_ns - f->first_ns) / NS_PER_S * ((double)f->count / gaps);
	if (f->tick_ns)
		m->span_s = (double)f->tick_ns / NS_PER_S * (double)((f->last_cell >> (FINEST - ARRIVAL_WHOLE)) + 1);
	m->tick_s = (double)f->tick_ns / NS_PER_S;
	m->level = f->level;
	m->windows = (int)f->windows;
	for (int i = 0; i < m->windows; i++)
		m->counts[i] = f->counts[i];
	const int levels = f->tick_ns ? ARRIVAL_WHOLE : ARRIVAL_LEVELS - 1;
	for (int i = f->level; i < levels; i++)
		m->splits[i] = correlation(&f->sums[i]);
	m->gap_cv = even_gaps(f, levels);
}
