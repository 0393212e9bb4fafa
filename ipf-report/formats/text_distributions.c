#include "formats/text_distributions.h"

#include <math.h>
#include <string.h>

enum { BARS = 44, FIRST_BAR = 24 };

/* A histogram of equal bins. */
struct shape {
	double low_ns, high_ns;
	double counts[BARS];
};

static void add(struct shape *s, double value_ns, double count)
{
	if (value_ns > s->high_ns)
		return;
	int at = (int)((value_ns - s->low_ns) / (s->high_ns - s->low_ns) * BARS);
	s->counts[at < BARS ? at : BARS - 1] += count;
}

/* The range of what is shown; false: it has no shape. */
static bool begin(struct shape *s, const struct metric_summary *d)
{
	*s = (struct shape){.low_ns = d->min * 1e6, .high_ns = d->p99 * 1e6};
	return d->n >= DISTRIBUTION_SAMPLES && isfinite(s->high_ns) && s->high_ns > s->low_ns;
}

static void show(struct layout *l, const char *label, const struct shape *s, bool ascii)
{
	char low[40], high[40];
	double most = 0;
	for (int i = 0; i < BARS; i++)
		most = fmax(most, s->counts[i]);
	layout_to(l, 2);
	layout_text(l, PLAIN, label);
	layout_right(l, FIRST_BAR - 1, PLAIN, show_narrow_number(s->low_ns / 1e6, 8, low));
	layout_to(l, FIRST_BAR);
	for (int i = 0; i < BARS; i++)
		layout_level(l, s->counts[i] > 0 ? s->counts[i] / most : NAN, ascii);
	layout_to(l, FIRST_BAR + BARS + 1);
	layout_text(l, PLAIN, show_narrow_number(s->high_ns / 1e6, 8, high));
	layout_end_line(l);
}

/* From due if there is one, as in the first table's lower line. False: out of memory, or there is no shape. */
static bool of_requests(struct shape *s, const struct report *report, enum metric m)
{
	const struct figures *total = &report->figures->total;
	bool due = total->due[m].n > 0;
	struct samples_query query = {.run = report->run,
	                              .options = report->options,
	                              .stage = -1,
	                              .metric = m,
	                              .origin = due ? FROM_DUE : FROM_START};
	struct samples samples = {0};
	int64_t infinite;
	bool good = begin(s, due ? &total->due[m] : &total->start[m]) && figures_samples(&query, &samples, &infinite) == 0;
	for (size_t i = 0; good && i < samples.count; i++)
		add(s, samples.values[i], 1);
	samples_release(&samples);
	return good;
}

static bool of_gaps(struct shape *s, const struct report *report)
{
	struct histogram *all = begin(s, &report->figures->total.itl) ? figures_gaps(report->run, -1) : NULL;
	struct histogram_bucket bucket;
	int next = 0;
	while (all && histogram_next(all, &next, &bucket))
		add(s, fmax((double)(bucket.low + bucket.high) / 2, s->low_ns), (double)bucket.count);
	histogram_free(all);
	return all != NULL;
}

void text_distributions(struct layout *l, const struct report *report)
{
	static const struct {
		const char *label;
		enum metric metric; /* METRIC_COUNT: gaps */
	} rows[] = {{"TTFT", METRIC_TTFT}, {"ITL", METRIC_COUNT}, {"TPOT", METRIC_TPOT}, {"E2E", METRIC_E2E}};
	bool any = false;
	struct shape s;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		if (!(rows[i].metric == METRIC_COUNT ? of_gaps(&s, report) : of_requests(&s, report, rows[i].metric)))
			continue;
		if (!any)
			layout_heading(l, "Shape, ms");
		if (!any) {
			layout_right(l, FIRST_BAR - 1, FAINT, "min");
			layout_to(l, FIRST_BAR + BARS + 1);
			layout_text(l, FAINT, "p99");
			layout_end_line(l);
		}
		any = true;
		show(l, rows[i].label, &s, report->ascii);
	}
}
