/* The tables of the text report: figures down, mean, percentiles and maximum across. */
#include "text.h"

#include <math.h>
#include <string.h>

enum { LABEL = 26, COLUMN = 10, COLUMNS = 5 }; /* each cell keeps a place for its mark */

/* ---- tables of distributions ---- */

enum { MEAN = -1, MAX = -2 }; /* columns that are no percentile */

struct table {
	struct layout *l;
	const struct percentiles *list;
	int columns[PERCENTILES_MOST + 2]; /* MEAN, MAX, or an index into the list */
	int count;
	int first, shown; /* where the columns do not fit beside each other, they are shown in several parts */
	bool tokens;      /* whole numbers from ten on */
	bool weak;        /* some percentile was marked */
};

/* mean, the percentiles (p50, p90 and p99 unless others were asked for), max */
static void table_init(struct table *t, struct layout *l, const struct percentiles *list, bool tokens)
{
	*t = (struct table){.l = l, .list = list, .tokens = tokens};
	t->columns[t->count++] = MEAN;
	for (int i = 0; i < list->count; i++)
		if (list->chosen || list->p[i] == 50 || list->p[i] == 90 || list->p[i] == 99)
			t->columns[t->count++] = i;
	t->columns[t->count++] = MAX;
}

/* The title and the names of the next columns; false when all have been shown. */
static bool table_part(struct table *t, const char *title)
{
	char name[24];
	t->first += t->shown;
	t->shown = t->count - t->first < COLUMNS ? t->count - t->first : COLUMNS;
	if (t->shown == 0)
		return false;
	layout_heading(t->l, t->first == 0 ? title : "");
	for (int i = 0; i < t->shown; i++) {
		int column = t->columns[t->first + i];
		layout_right(t->l, LABEL + (i + 1) * COLUMN, FAINT,
		             column == MEAN  ? "mean"
		             : column == MAX ? "max"
		                             : percentile_name(t->list->p[column], name));
	}
	layout_end_line(t->l);
	return true;
}

static const char *show(const struct table *t, double value, char text[40])
{
	if (t->tokens && value >= 10)
		value = round(value);
	return t->tokens && value == floor(value) ? show_count((int64_t)value, text) : show_number(value, text);
}

/* A figure that ends before `column`, and whether it has to be marked. */
static bool cell(struct layout *l, int column, const char *text, bool weak)
{
	layout_right(l, column, PLAIN, text);
	if (weak)
		layout_text(l, FAINT, "~");
	return weak;
}

/* Nothing where there are no samples. */
static void table_row(struct table *t, const char *label, const char *version, const struct metric_summary *d)
{
	char text[40];
	if (d->n == 0)
		return;
	layout_to(t->l, 2);
	layout_text(t->l, PLAIN, label);
	layout_to(t->l, 9);
	layout_text(t->l, PLAIN, version);
	for (int i = 0; i < t->shown; i++) {
		int column = t->columns[t->first + i];
		double value = column == MEAN ? d->mean : column == MAX ? d->max : d->at[column];
		bool weak = column >= 0 && !percentile_is_firm(d->n, t->list->p[column]);
		t->weak |= cell(t->l, LABEL + (i + 1) * COLUMN, show(t, value, text), weak);
	}
	layout_end_line(t->l);
}

/* ---- latency ---- */

static void row_both(struct table *t, const char *label, const struct block *b, enum metric m)
{
	table_row(t, label, "from start", &b->start[m]);
	table_row(t, "", "from due", &b->due[m]);
}

static void latency_rows(struct table *t, const struct block *b, const char *itl)
{
	char per[32];
	snprintf(per, sizeof per, "per %.20s", itl);
	row_both(t, "TTFT", b, METRIC_TTFT);
	row_both(t, "TTFA", b, METRIC_TTFA);
	table_row(t, "ITL", per, &b->itl);
	table_row(t, "TPOT", "", &b->start[METRIC_TPOT]);
	table_row(t, "NTPOT", "", &b->start[METRIC_NTPOT]);
	row_both(t, "E2E", b, METRIC_E2E);
	table_row(t, "lag", "", &b->start[METRIC_LAG]);
	table_row(t, "slot wait", "", &b->start[METRIC_SLOT_WAIT]);
}

static void weak_note(struct layout *l, bool weak)
{
	if (!weak)
		return;
	layout_to(l, 2);
	layout_text(l, FAINT, "~ too few samples for this percentile: p90 needs 44, p99 459, p99.9 4,603");
	layout_end_line(l);
}

/* Was any percentile marked? */
static bool total_latency(struct layout *l, const struct report *report)
{
	const struct block *b = &report->blocks->total;
	struct table t;
	table_init(&t, l, &report->options->percentiles, false);
	if (b->ok == 0 && b->started == 0)
		return false;
	while (table_part(&t, "Latency, ms"))
		latency_rows(&t, b, run_data_itl(report->run, 0));
	weak_note(l, t.weak);
	return t.weak;
}

static int index_of(const struct percentiles *list, double p)
{
	for (int i = 0; i < list->count; i++)
		if (list->p[i] == p)
			return i;
	return -1;
}

static bool stage_row(struct layout *l, const struct block *b, const char *name, bool whole,
                      const struct percentiles *list)
{
	static const double shown[] = {50, 99};
	bool open = b->due[METRIC_TTFT].n > 0, weak = false;
	const struct metric_summary *dists[] = {open ? &b->due[METRIC_TTFT] : &b->start[METRIC_TTFT],
	                                        &b->start[METRIC_TPOT], open ? &b->due[METRIC_E2E] : &b->start[METRIC_E2E]};
	char text[40];
	text_label(l, 22, PLAIN, name, whole);
	for (int i = 0; i < 3; i++)
		for (int k = 0; k < 2; k++) {
			const struct metric_summary *d = dists[i];
			bool mark = d->n > 0 && !percentile_is_firm(d->n, shown[k]);
			weak |= cell(l, 34 + i * 18 + k * 9, show_number(d->n ? d->at[index_of(list, shown[k])] : NAN, text), mark);
		}
	layout_end_line(l);
	return weak;
}

/* One line for each measured stage (and model or target): what most people compare. */
static void stages_latency(struct layout *l, const struct report *report, bool explained)
{
	const struct blocks *blocks = report->blocks;
	const struct percentiles *list = &report->options->percentiles;
	bool weak = false, closed = false;
	char name[200];
	int shown = 0;
	for (size_t i = 0; i < blocks->count; i++)
		shown += blocks->stages[i].measured && blocks->stages[i].ok > 0;
	for (enum grouping by = 0; by < GROUPINGS; by++)
		shown += blocks->total.groups[by] ? report->run->groups[by].count : 0;
	if (shown < 2 || index_of(list, 50) < 0 || index_of(list, 99) < 0)
		return;
	layout_heading(l, "By stage, ms");
	layout_right(l, 43, FAINT, "TTFT from due");
	layout_right(l, 61, FAINT, "TPOT");
	layout_right(l, 79, FAINT, "E2E from due");
	layout_end_line(l);
	for (int i = 0; i < 3; i++) {
		layout_right(l, 34 + i * 18, FAINT, "p50");
		layout_right(l, 43 + i * 18, FAINT, "p99");
	}
	layout_end_line(l);
	for (size_t i = 0; i < blocks->count; i++)
		if (blocks->stages[i].measured && blocks->stages[i].ok > 0) {
			weak |= stage_row(l, &blocks->stages[i], blocks->stages[i].name, false, list);
			closed |= blocks->stages[i].due[METRIC_TTFT].n == 0;
		}
	for (enum grouping by = 0; by < GROUPINGS; by++)
		for (int i = 0; blocks->total.groups[by] && i < report->run->groups[by].count; i++)
			if (blocks->total.groups[by][i].ok > 0)
				weak |= stage_row(l, &blocks->total.groups[by][i], text_member(report->run, by, i, name), true, list);
	if (closed) {
		layout_to(l, 2);
		layout_text(l, FAINT, "closed loop has no due time: from start there");
		layout_end_line(l);
	}
	weak_note(l, weak && !explained);
}

void text_latency(struct layout *l, const struct report *report)
{
	bool marked = total_latency(l, report);
	stages_latency(l, report, marked);
}

/* ---- tokens ---- */

/* Rounded to what is shown, so that no "-0.0" is. */
static double percent(double share)
{
	return round(1000 * share) / 10 + 0.0;
}

static void note_sources(struct layout *l, const struct block *b)
{
	char text[160] = "", number[40], item[80];
	for (int i = 0; i < SOURCES; i++)
		if (b->by_source[i] > 0) {
			snprintf(item, sizeof item, "%s (%s answer%s)", sources[i], show_count(b->by_source[i], number),
			         plural(b->by_source[i]));
			join(text, sizeof text, ", ", item, "");
		}
	if (text[0])
		layout_entry(l, "counted by", text);
}

static void add_residual(char *text, size_t size, const char *what, const struct residual *r)
{
	char item[80];
	if (r->n == 0 || isnan(r->share))
		return;
	snprintf(item, sizeof item, "%s %+.1f %%", what, percent(r->share));
	join(text, size, ", ", item, "");
}

static void note_residuals(struct layout *l, const struct block *b)
{
	char text[240] = "", number[40];
	add_residual(text, sizeof text, "usage against tokenizer", &b->residuals[OUTPUT_USAGE_TOKENIZER]);
	add_residual(text, sizeof text, "usage against events", &b->residuals[OUTPUT_USAGE_EVENTS]);
	add_residual(text, sizeof text, "tokenizer against events", &b->residuals[OUTPUT_TOKENIZER_EVENTS]);
	add_residual(text, sizeof text, "got against asked", &b->residuals[OUTPUT_ASKED]);
	if (text[0])
		layout_entry(l, "output", text);
	text[0] = 0;
	add_residual(text, sizeof text, "usage against tokenizer", &b->residuals[INPUT_USAGE_TOKENIZER]);
	add_residual(text, sizeof text, "got against asked", &b->residuals[INPUT_ASKED]);
	if (!isnan(b->cached_share))
		join(text, sizeof text, ", ", show_percent(b->cached_share, number), "from the server's cache");
	if (text[0])
		layout_entry(l, "input", text);
}

static void note_events(struct layout *l, const struct block *b)
{
	char text[240], events[40], share[40], stalls[40], stalled[40];
	if (b->events == 0)
		return;
	snprintf(text, sizeof text, "%s with content, %s of them shared a read", show_count(b->events, events),
	         show_percent((double)b->coalesced / (double)b->events, share));
	if (b->stalls > 0)
		snprintf(text + strlen(text), sizeof text - strlen(text), ", %s stall%s in %s request%s",
		         show_count(b->stalls, stalls), plural(b->stalls), show_count(b->stalled, stalled), plural(b->stalled));
	layout_entry(l, "events", text);
	if (b->deadlines == 0)
		return;
	snprintf(text, sizeof text, "%s of %s tokens came by their deadline",
	         show_percent((double)b->deadlines_met / (double)b->deadlines, share), show_count(b->deadlines, events));
	layout_entry(l, "fluidity", text);
}

static void note_finishes(struct layout *l, const struct block *b, const struct words *finishes)
{
	char text[512] = "", number[40], item[120];
	for (int i = 0; i < finishes->count; i++)
		if (b->by_finish[i] > 0) {
			snprintf(item, sizeof item, "%.60s %s", finishes->list[i], show_count(b->by_finish[i], number));
			join(text, sizeof text, ", ", item, "");
		}
	if (text[0])
		layout_entry(l, "finish", text);
}

void text_tokens(struct layout *l, const struct report *report)
{
	const struct block *b = &report->blocks->total;
	struct table t;
	table_init(&t, l, &report->options->percentiles, true);
	if (b->ok == 0)
		return;
	while (table_part(&t, "Tokens")) {
		table_row(&t, "input", "", &b->input);
		table_row(&t, "output", "", &b->output);
		table_row(&t, "asked for", "", &b->asked_output);
		table_row(&t, "reasoning", "", &b->reasoning);
	}
	note_sources(l, b);
	note_residuals(l, b);
	note_events(l, b);
	note_finishes(l, b, &report->run->finishes);
}
