#include "figures/error_bars.h"

#include "absent.h"
#include "cli/units.h"
#include "figures/model_error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const struct bar_spec bar_specs[ERROR_BARS] = {
	[BAR_TTFT] = {"ttft_ms", "from_start", "TTFT"},
	[BAR_TTFT_DUE] = {"ttft_ms", "from_due", "TTFT"},
	[BAR_ITL] = {"itl_ms", NULL, "ITL"},
	[BAR_TPOT] = {"tpot_ms", NULL, "TPOT"},
	[BAR_E2E] = {"e2e_ms", "from_start", "E2E"},
	[BAR_E2E_DUE] = {"e2e_ms", "from_due", "E2E"},
};

const struct metric_summary *bar_summary(const struct figures *f, enum bar bar)
{
	switch (bar) {
	case BAR_TTFT:
		return &f->start[METRIC_TTFT];
	case BAR_TTFT_DUE:
		return &f->due[METRIC_TTFT];
	case BAR_ITL:
		return &f->itl;
	case BAR_TPOT:
		return &f->start[METRIC_TPOT];
	case BAR_E2E:
		return &f->start[METRIC_E2E];
	default:
		return &f->due[METRIC_E2E];
	}
}

/* ---- one request ---- */

static int64_t at_most(int64_t value, int64_t limit)
{
	return limit != IPF_ABSENT && value > limit ? limit : value;
}

struct row_errors row_errors_of(const struct run_data *run, const struct row *row)
{
	const struct client_delays *delays = &run->parts[row->part].delays;
	struct row_errors e = {.sending = row_get(row, ROW_SENDING_NS),
	                       .first = row_get(row, ROW_FIRST_EARLY_NS),
	                       .last = row_get(row, ROW_LAST_EARLY_NS),
	                       .lateness = row_get(row, METRIC_CLIENT_LAG)};
	int64_t waits = row_get(row, ROW_SEND_WAITS), setup = row_get(row, ROW_SETUP_NS), ttft = row_get(row, METRIC_TTFT),
			e2e = row_get(row, METRIC_E2E);
	e.known = e.sending != IPF_ABSENT && e.first != IPF_ABSENT && e.last != IPF_ABSENT && row->start_ns != IPF_ABSENT;
	if (!e.known)
		return e;
	e.lateness = e.lateness == IPF_ABSENT || e.lateness < 0 ? 0 : e.lateness;
	/* how late the client saw it may go on, each time: not more than it took in all */
	if (waits != IPF_ABSENT && waits < 16 && setup != IPF_ABSENT) {
		int64_t delay = client_delays_at(delays, row->start_ns);
		e.sending += delay == IPF_ABSENT ? setup : at_most(setup, waits * delay);
	}
	if (e.first > 0)
		e.first = at_most(e.first, client_delays_at(delays, row->start_ns + (ttft == IPF_ABSENT ? 0 : ttft)));
	if (e.last > 0)
		e.last = at_most(e.last, client_delays_at(delays, row->start_ns + (e2e == IPF_ABSENT ? 0 : e2e)));
	return e;
}

/* ---- distributions ---- */

/* The sources of the bars of a stage, or of all. */
struct bar_samples {
	const struct run_data *run;
	const struct figures *f;
	const struct percentiles *list;
	struct samples low[ERROR_BARS], high; /* the least of each latency, and the most of TPOT, in nanoseconds */
	bool unknown[ERROR_BARS];             /* unknown for a request with this latency */
	double gaps_early, gaps_late; /* the possible excess of the gaps of all requests together, and the possible lack;
	                               * ns */
};

static bool wanted(const struct run_data *run, int32_t stage, const struct row *row)
{
	return row->ok && (stage >= 0 ? row->stage == stage : run->schedule.stages[row->stage].measured);
}

/* The least and the most the latency of a request can be, in nanoseconds. False: it has none. */
static bool bar_of_row(const struct row *row, const struct row_errors *e, enum bar bar, double *low, double *high)
{
	bool ttft = bar == BAR_TTFT || bar == BAR_TTFT_DUE, due = bar == BAR_TTFT_DUE || bar == BAR_E2E_DUE;
	int64_t value = row_get(row, bar == BAR_TPOT ? METRIC_TPOT
	                             : ttft          ? METRIC_TTFT
	                                             : METRIC_E2E),
			lag = row_get(row, METRIC_LAG), tokens = row_get(row, ROW_OUTPUT_TOKENS);
	if (value == IPF_ABSENT || (due && lag == IPF_ABSENT))
		return false;
	if (bar == BAR_TPOT) {
		double gaps = tokens > 1 ? (double)tokens - 1 : 1;
		*low = fmax(0, (double)value - ((double)e->last + BAR_CLOCK_NS) / gaps);
		*high = (double)value + ((double)e->first + BAR_CLOCK_NS) / gaps;
		return true;
	}
	double stated = (double)value + (due ? (double)lag : 0),
		   early = (double)e->sending + (double)(ttft ? e->first : e->last) + (due ? (double)e->lateness : 0);
	*low = fmax(0, stated - early - BAR_CLOCK_NS);
	*high = stated + BAR_CLOCK_NS;
	return true;
}

/* The figures of a bar its latency has; infinite failures stay so. */
static struct metric_summary summarise(struct samples *s, int64_t infinite, const struct percentiles *list)
{
	struct metric_summary d = {.n = (int64_t)s->count + infinite,
	                           .mean = infinite ? NAN : samples_mean(s) * 1e-6,
	                           .std = NAN,
	                           .n_eff = NAN,
	                           .low = NAN,
	                           .high = NAN};
	samples_partition(s);
	for (int i = 0; i < list->count; i++)
		d.at[i] = percentile_with_infinite(s, infinite, list->p[i]) * 1e-6;
	d.median = percentile_with_infinite(s, infinite, 50) * 1e-6;
	d.p90 = percentile_with_infinite(s, infinite, 90) * 1e-6;
	d.p99 = percentile_with_infinite(s, infinite, 99) * 1e-6;
	d.min = percentile_with_infinite(s, infinite, 0) * 1e-6;
	d.max = percentile_with_infinite(s, infinite, 100) * 1e-6;
	return d;
}

/* All figures later by the same time. */
static struct metric_summary shifted(const struct metric_summary *of, double by_ms)
{
	struct metric_summary d = *of;
	double *all[] = {&d.mean, &d.min, &d.max, &d.median, &d.p90, &d.p99};
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		*all[i] = *all[i] + by_ms;
	for (int i = 0; i < PERCENTILES_MOST; i++)
		d.at[i] += by_ms;
	d.std = d.n_eff = d.low = d.high = NAN;
	d.limits = NULL;
	return d;
}

/* The possible excess and lack of all gaps of a request together: only by the uncertainty of its ends. */
static void add_gaps(struct bar_samples *b, const struct row *row, const struct row_errors *e, bool by_request)
{
	int64_t events = row_get(row, ROW_EVENTS);
	if (events == IPF_ABSENT || events < 2)
		return;
	double parts = by_request ? (double)events - 1 : 1;
	b->unknown[BAR_ITL] |= !e->known;
	b->gaps_early += (double)e->last / parts;
	b->gaps_late += (double)e->first / parts;
}

static void add_row(struct bar_samples *b, const struct row *row, bool by_request)
{
	const struct row_errors e = row_errors_of(b->run, row);
	double low, high;
	add_gaps(b, row, &e, by_request);
	for (enum bar bar = 0; bar < ERROR_BARS; bar++) {
		if (bar == BAR_ITL || !bar_of_row(row, &e, bar, &low, &high))
			continue;
		b->unknown[bar] |= !e.known;
		b->low[bar].values[b->low[bar].count++] = low;
		if (bar == BAR_TPOT)
			b->high.values[b->high.count++] = high;
	}
}

/* Reads the requests of a stage; -1: of all measured ones. */
static int read_rows(struct bar_samples *b, int32_t stage)
{
	bool by_request = strcmp(run_data_itl(b->run, 0), "request") == 0;
	int64_t count = b->run->row_count;
	const struct row *rows = stage >= 0 ? run_data_stage_rows(b->run, stage, &count) : b->run->rows;
	b->gaps_early = b->gaps_late = 0;
	samples_clear(&b->high);
	for (enum bar bar = 0; bar < ERROR_BARS; bar++) {
		b->unknown[bar] = false;
		samples_clear(&b->low[bar]);
		if (!samples_reserve(&b->low[bar], (size_t)count))
			return -1;
	}
	if (!samples_reserve(&b->high, (size_t)count))
		return -1;
	for (int64_t i = 0; i < count; i++)
		if (wanted(b->run, stage, &rows[i]))
			add_row(b, &rows[i], by_request);
	return 0;
}

/* Not known if it is not known of one of the requests. */
static void build_bar(struct bar_samples *b, enum bar bar, struct error_bar *to)
{
	const struct metric_summary *of = bar_summary(b->f, bar);
	int64_t infinite = of->n - (int64_t)b->low[bar].count;
	if (of->n <= 0 || b->unknown[bar] || infinite < 0 || b->low[bar].count == 0)
		return;
	to->low = summarise(&b->low[bar], infinite, b->list);
	to->high = bar == BAR_TPOT ? summarise(&b->high, infinite, b->list) : shifted(of, BAR_CLOCK_NS * 1e-6);
}

/* ---- gaps ---- */

/* The gaps of the stages, as `kind` says; NULL: not known of all, or out of memory, which is remembered. */
static struct histogram *pooled_bounds(const struct run_data *run, int32_t stage, enum gaps_kind kind)
{
	struct histogram *all = histogram_new();
	bool known = all != NULL;
	for (size_t s = 0; known && s < run->schedule.count; s++) {
		bool in = stage >= 0 ? (int32_t)s == stage : run->schedule.stages[s].measured;
		const struct histogram *gaps = in ? run_data_gaps(run, (int32_t)s, -1) : NULL,
							   *bounds = in ? run_data_gap_bounds(run, (int32_t)s, kind) : NULL;
		known = !gaps || bounds;
		if (bounds)
			histogram_merge(all, bounds);
	}
	if (known)
		return all;
	histogram_free(all);
	return NULL;
}

static int64_t longest_delay(const struct run_data *run)
{
	int64_t longest = IPF_ABSENT;
	for (int i = 0; i < run->part_count; i++) {
		int64_t one = client_delays_longest(&run->parts[i].delays);
		if (one == IPF_ABSENT)
			return IPF_ABSENT;
		longest = one > longest ? one : longest;
	}
	return longest;
}

/* Narrows a bound of a gap: it is not further from the gap than the longest delay. */
static double narrowed(double bound, double stated, double delay_ms, double sign)
{
	double most = isnan(delay_ms) ? INFINITY : delay_ms;
	double far = fmin(fabs(stated - bound), most) + BAR_CLOCK_NS * 1e-6 + stated * BAR_BUCKET;
	return sign < 0 ? fmax(0, stated - far) : stated + far;
}

static void narrow(struct metric_summary *d, const struct metric_summary *of, double delay_ms, double sign)
{
	double *all[] = {&d->min, &d->max, &d->median, &d->p90, &d->p99};
	const double stated[] = {of->min, of->max, of->median, of->p90, of->p99};
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		*all[i] = narrowed(*all[i], stated[i], delay_ms, sign);
	for (int i = 0; i < PERCENTILES_MOST; i++)
		d->at[i] = narrowed(d->at[i], of->at[i], delay_ms, sign);
	d->std = NAN;
}

static void build_gap_bar(const struct bar_samples *b, int32_t stage, struct error_bar *to)
{
	const struct metric_summary *of = &b->f->itl;
	if (of->n <= 0 || b->unknown[BAR_ITL])
		return;
	struct histogram *low = pooled_bounds(b->run, stage, GAPS_LOW), *high = pooled_bounds(b->run, stage, GAPS_HIGH);
	int64_t delay = longest_delay(b->run);
	double delay_ms = delay == IPF_ABSENT ? NAN : (double)delay * 1e-6;
	if (low && high && histogram_count(low) == of->n) {
		metric_summary_of_histogram(&to->low, low, 1e-6, b->list);
		metric_summary_of_histogram(&to->high, high, 1e-6, b->list);
		narrow(&to->low, of, delay_ms, -1);
		narrow(&to->high, of, delay_ms, 1);
		to->low.mean = fmax(0, of->mean - b->gaps_early * 1e-6 / (double)of->n - BAR_CLOCK_NS * 1e-6);
		to->high.mean = of->mean + b->gaps_late * 1e-6 / (double)of->n + BAR_CLOCK_NS * 1e-6;
	}
	histogram_free(low);
	histogram_free(high);
}

/* ---- all of them ---- */

struct metric_summary bar_widths(const struct error_bar *bar, const struct metric_summary *of)
{
	struct metric_summary w = {.n = bar->low.n, .std = NAN, .n_eff = NAN, .low = NAN, .high = NAN};
	w.mean = fmax(of->mean - bar->low.mean, bar->high.mean - of->mean);
	w.min = fmax(of->min - bar->low.min, bar->high.min - of->min);
	w.max = fmax(of->max - bar->low.max, bar->high.max - of->max);
	w.median = fmax(of->median - bar->low.median, bar->high.median - of->median);
	w.p90 = fmax(of->p90 - bar->low.p90, bar->high.p90 - of->p90);
	w.p99 = fmax(of->p99 - bar->low.p99, bar->high.p99 - of->p99);
	for (int i = 0; i < PERCENTILES_MOST; i++)
		w.at[i] = fmax(of->at[i] - bar->low.at[i], bar->high.at[i] - of->at[i]);
	return w;
}

static int build_accuracy(struct bar_samples *b, int32_t stage, struct accuracy *to)
{
	*to = (struct accuracy){0};
	const bool told = column_exists(&b->run->columns.list[ROW_SENDING_NS]);
	if (told && read_rows(b, stage) < 0)
		return -1;
	for (enum bar bar = 0; told && bar < ERROR_BARS; bar++) {
		if (bar == BAR_ITL)
			build_gap_bar(b, stage, &to->bars[bar]);
		else
			build_bar(b, bar, &to->bars[bar]);
	}
	model_error_of_bars(to, b->f, b->run, b->list);
	return 0;
}

static void note_missed(struct run_accuracy *a, const char *label, const char *version, const char *figure,
                        double width_ms)
{
	char width[40];
	size_t len = strlen(a->worst);
	a->missed++;
	if (a->missed > 3)
		return;
	snprintf(a->worst + len, sizeof a->worst - len, "%s%s%s%s", len ? ", " : "", label, version ? " " : "",
	         version ? version : "");
	len = strlen(a->worst);
	if (!figure)
		snprintf(a->worst + len, sizeof a->worst - len, " is not known to be exact at all");
	else
		snprintf(a->worst + len, sizeof a->worst - len, " %s ± %s", figure,
		         format_duration((int64_t)fmin(width_ms * 1e6, 1e18), width));
}

/* The mean and the percentiles of the total. */
static void judge_bar(struct run_accuracy *a, const struct run_figures *figures, const struct percentiles *list,
                      enum bar bar)
{
	static const char *const versions[] = {"from start", "from due"};
	const struct metric_summary *of = bar_summary(&figures->total, bar);
	const struct bar_spec *spec = &bar_specs[bar];
	const char *version = spec->version ? versions[strcmp(spec->version, "from_due") == 0] : NULL;
	struct metric_summary w = bar_widths(&a->total.bars[bar], of);
	char name[24];
	if (of->n == 0)
		return;
	if (w.n == 0) {
		note_missed(a, spec->label, version, NULL, 0);
		return;
	}
	if (w.mean > a->limit_ms)
		note_missed(a, spec->label, version, "mean", w.mean);
	for (int i = 0; i < list->count; i++)
		if (w.at[i] > a->limit_ms)
			note_missed(a, spec->label, version, percentile_name(list->p[i], name), w.at[i]);
}

static void judge(struct run_accuracy *a, const struct run_data *run, const struct run_figures *figures,
                  const struct percentiles *list)
{
	char limit[40];
	for (enum bar bar = 0; bar < ERROR_BARS; bar++)
		judge_bar(a, figures, list, bar);
	if (a->missed == 0)
		return;
	format_duration((int64_t)(a->limit_ms * 1e6), limit);
	size_t len = strlen(a->worst);
	if (a->missed > 3)
		snprintf(a->worst + len, sizeof a->worst - len, " and %d more", a->missed - 3);
	verdict_note(run->verdict, VERDICT_CLIENT, VERDICT_DOUBTFUL, "not exact to %s (--accuracy): %s", limit, a->worst);
}

int run_accuracy_build(struct run_accuracy *a, const struct run_data *run, const struct run_figures *figures,
                       const struct figure_options *options, int64_t limit_ns, struct ipf_error *err)
{
	struct bar_samples b = {.run = run, .list = &options->percentiles};
	*a = (struct run_accuracy){.limit_ms = limit_ns == IPF_ABSENT ? NAN : (double)limit_ns * 1e-6};
	a->stages = calloc(figures->count + 1, sizeof *a->stages);
	int bad = a->stages ? 0 : -1, measured = 0, only = 0;
	for (size_t i = 0; bad == 0 && i < figures->count; i++) {
		b.f = &figures->stages[i];
		bad = build_accuracy(&b, (int32_t)i, &a->stages[i]);
		measured += figures->stages[i].measured;
		only = figures->stages[i].measured ? (int)i : only;
	}
	b.f = &figures->total;
	if (bad == 0 && measured == 1) /* the total of one stage is the stage */
		a->total = a->stages[only];
	else if (bad == 0)
		bad = build_accuracy(&b, -1, &a->total);
	for (enum bar bar = 0; bar < ERROR_BARS; bar++)
		samples_release(&b.low[bar]);
	samples_release(&b.high);
	if (bad < 0)
		return ipf_error_memory(err);
	for (enum bar bar = 0; bar < ERROR_BARS; bar++)
		a->known |= a->total.bars[bar].low.n > 0;
	if (!isnan(a->limit_ms))
		judge(a, run, figures, &options->percentiles);
	return 0;
}

void run_accuracy_release(struct run_accuracy *a)
{
	free(a->stages);
	*a = (struct run_accuracy){0};
}
