/* -f text: what a person reads, on 80 columns. The verdict comes first; nothing that does not exist is shown as a number. */
#include "layout.h"
#include "report.h"

#include <math.h>
#include <string.h>

enum { LABEL = 26, COLUMN = 10, COLUMNS = 5 }; /* of the tables of distributions; each cell keeps a place for its mark */

static void heading(struct layout *l, const char *text)
{
	layout_end_line(l);
	layout_text(l, STRONG, text);
}

static void line(struct layout *l, const char *label, const char *text)
{
	layout_to(l, 2);
	layout_text(l, PLAIN, label);
	layout_to(l, 14);
	layout_wrapped(l, 14, PLAIN, text);
}

/* ---- verdict and run ---- */

static enum style status_style(enum verdict_status status)
{
	return status == VERDICT_OK ? GOOD : status == VERDICT_DOUBTFUL ? WARN : BAD;
}

static void show_verdict(struct layout *l, const struct report *report)
{
	static const char *const titles[VERDICT_QUESTIONS] = {"load delivered", "client headroom", "server answers", "enough samples"};
	const struct verdict_finding *finding = report->finding;
	for (int i = 0; i < report->run->part_count; i++)
		if (report->run->parts[i].incomplete[0]) {
			layout_text(l, BAD, "Incomplete");
			layout_to(l, 12);
			layout_wrapped(l, 12, PLAIN, report->run->parts[i].incomplete);
		}
	if (l->out->len > 0)
		layout_end_line(l);
	layout_text(l, STRONG, "Verdict");
	layout_to(l, 19);
	layout_text(l, status_style(finding->status), verdict_status_name(finding->status));
	layout_end_line(l);
	for (size_t i = 0; i < VERDICT_QUESTIONS; i++) {
		layout_to(l, 2);
		layout_text(l, PLAIN, titles[i]);
		layout_to(l, 19);
		layout_text(l, status_style(finding->checks[i].status), verdict_status_name(finding->checks[i].status));
		layout_to(l, 29);
		layout_wrapped(l, 29, PLAIN, finding->checks[i].detail);
	}
}

static const char *plural(int64_t n)
{
	return n == 1 ? "" : "s";
}

static const char *about_text(json_t *about, const char *key)
{
	return json_string_value(json_object_get(about, key));
}

static void append(char *text, size_t size, const char *before, const char *what, const char *after)
{
	size_t len = strlen(text);
	if (what)
		snprintf(text + len, size - len, "%s%s%s%s", len ? before : "", what, after[0] ? " " : "", after);
}

static void show_about(struct layout *l, const struct report *report)
{
	json_t *about = report->about;
	static const char *const keys[] = {"target", "model", "tokenizer", "trace", "schedule"};
	char text[512] = "", number[40];
	heading(l, "Run");
	layout_end_line(l);
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
		text[0] = 0;
		append(text, sizeof text, "", about_text(about, keys[i]), "");
		if (i == 0)
			append(text, sizeof text, ", ", about_text(about, "api"), "");
		json_t *object = json_object_get(about, keys[i]);
		append(text, sizeof text, "", about_text(object, "name"), "");
		if (about_text(object, "rule")) {
			snprintf(number, sizeof number, "(%.30s)", about_text(object, "rule"));
			append(text, sizeof text, " ", number, "");
		}
		if (json_is_integer(json_object_get(object, "requests"))) {
			append(text, sizeof text, "", show_count(json_integer_value(json_object_get(object, "requests")), number), "requests");
			/* enough of it to tell one trace from another; the whole stands in the JSON */
			snprintf(number, sizeof number, "SHA-256 %.16s", about_text(object, "sha256") ? about_text(object, "sha256") : "unknown");
			append(text, sizeof text, ", ", number, "");
		}
		if (text[0])
			line(l, keys[i], text);
	}
	text[0] = 0;
	append(text, sizeof text, "", about_text(about, "started"), "");
	json_t *duration = json_object_get(about, "duration_s");
	if (duration)
		append(text, sizeof text, ", ", show_number(json_number_value(duration), number), "s");
	json_t *seed = json_object_get(about, "seed");
	if (json_is_integer(seed)) {
		snprintf(number, sizeof number, "seed %lld", (long long)json_integer_value(seed));
		append(text, sizeof text, ", ", number, "");
	}
	append(text, sizeof text, ", ", report->run->part_count > 1 ? (report->run->shards ? "pooled from shards" : "pooled from repeats") : NULL, "");
	if (text[0])
		line(l, json_object_get(about, "started") ? "started" : "lasted", text);
}

/* ---- stages ---- */

static void stage_row(struct layout *l, const struct block *b, const char *name)
{
	char text[40], label[160];
	enum style style = b->measured ? PLAIN : FAINT;
	snprintf(label, sizeof label, b->measured ? "%.150s" : "(%.150s)", name);
	layout_to(l, 2);
	layout_clipped(l, 21, style, label);
	layout_right(l, 32, style, show_number(b->offered, text));
	layout_right(l, 41, style, show_number(b->achieved, text));
	layout_right(l, 50, style, show_number(b->in_flight_mean, text));
	layout_right(l, 56, style, show_count(isnan(b->in_flight_max) ? IPF_ABSENT : (int64_t)b->in_flight_max, text));
	layout_right(l, 64, style, show_count(b->ok, text));
	layout_right(l, 71, b->failed && b->measured ? BAD : style, show_count(b->failed, text));
	layout_right(l, WIDTH, style, show_number(b->output_per_s, text));
	layout_end_line(l);
}

static void show_stages(struct layout *l, const struct report *report)
{
	const struct blocks *blocks = report->blocks;
	bool unmeasured = false;
	heading(l, "Stages");
	layout_right(l, 41, FAINT, "requests per s");
	layout_right(l, 56, FAINT, "in flight");
	layout_right(l, 71, FAINT, "requests");
	layout_right(l, WIDTH, FAINT, "output");
	layout_end_line(l);
	static const struct {
		int column;
		const char *text;
	} heads[] = {{32, "offered"}, {41, "achieved"}, {50, "mean"}, {56, "max"}, {64, "ok"}, {71, "failed"}, {WIDTH, "tokens/s"}};
	for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
		layout_right(l, heads[i].column, FAINT, heads[i].text);
	layout_end_line(l);
	for (size_t i = 0; i < blocks->count; i++) {
		stage_row(l, &blocks->stages[i], blocks->stages[i].name);
		unmeasured |= !blocks->stages[i].measured;
	}
	for (int i = 0; blocks->total.models && i < report->run->models.count; i++)
		if (blocks->total.models[i].ok + blocks->total.models[i].failed > 0)
			stage_row(l, &blocks->total.models[i], report->run->models.list[i]);
	if (blocks->count != 1 || unmeasured)
		stage_row(l, &blocks->total, "total");
	if (unmeasured) {
		layout_to(l, 2);
		layout_text(l, FAINT, "(in brackets: not measured, and not in the total)");
		layout_end_line(l);
	}
}

/* ---- tables of distributions ---- */

struct table {
	struct layout *l;
	bool counts;                    /* tokens: whole numbers from ten on */
	const struct percentiles *list; /* the shown ones */
	int first, columns;             /* of mean, percentiles, max: those of this part of the table */
	bool weak;                      /* some percentile was marked */
};

/* mean, the percentiles, max */
static double figure(const struct table *t, const struct dist *d, int column)
{
	if (d->n == 0)
		return NAN;
	return column == 0 ? d->mean : column > t->list->count ? d->max : d->at[column - 1];
}

static void table_head(struct table *t)
{
	char name[24];
	for (int i = 0; i < t->columns; i++) {
		int column = t->first + i;
		layout_right(t->l, LABEL + (i + 1) * COLUMN, FAINT,
		             column == 0 ? "mean" : column > t->list->count ? "max" : percentile_name(t->list->p[column - 1], name));
	}
	layout_end_line(t->l);
}

static void table_row(struct table *t, const char *label, const char *version, const struct dist *d)
{
	if (d->n == 0 && !version)
		return;
	char text[40];
	layout_to(t->l, 2);
	layout_text(t->l, PLAIN, label);
	if (version) {
		layout_to(t->l, 9);
		layout_text(t->l, PLAIN, version);
	}
	for (int i = 0; i < t->columns; i++) {
		int column = t->first + i;
		bool percentile = column > 0 && column <= t->list->count;
		bool weak = d->n > 0 && percentile && !percentile_is_firm(d->n, t->list->p[column - 1]);
		double value = figure(t, d, column);
		if (t->counts && value >= 10)
			value = round(value);
		layout_right(t->l, LABEL + (i + 1) * COLUMN, PLAIN, t->counts && value == floor(value) ? show_count((int64_t)value, text) : show_number(value, text));
		if (weak) {
			layout_text(t->l, FAINT, "~");
			t->weak = true;
		}
	}
	layout_end_line(t->l);
}

/* The percentiles of the text: those that were asked for, else p50, p90, p99. Their values stand in the distributions in the
 * order of the whole list, so that the table is given a list of its own and the distributions are looked up by it. */
static void pick(const struct percentiles *from, struct percentiles *to, int index[PERCENTILES_MOST])
{
	*to = (struct percentiles){0};
	for (int i = 0; i < from->count; i++)
		if (from->chosen || from->p[i] == 50 || from->p[i] == 90 || from->p[i] == 99) {
			index[to->count] = i;
			to->p[to->count++] = from->p[i];
		}
}

static struct dist picked(const struct dist *d, const struct percentiles *list, const int index[PERCENTILES_MOST])
{
	struct dist few = *d;
	for (int i = 0; i < list->count; i++)
		few.at[i] = d->at[index[i]];
	return few;
}

static void latency_rows(struct table *t, const struct block *b, const int index[PERCENTILES_MOST])
{
	static const struct {
		const char *label;
		enum metric metric;
	} both[] = {{"TTFT", METRIC_TTFT}, {"TTFA", METRIC_TTFA}}, one[] = {{"TPOT", METRIC_TPOT}, {"NTPOT", METRIC_NTPOT}};
	bool open = b->due[METRIC_TTFT].n > 0;
	struct dist d;
	for (size_t i = 0; i < 2; i++) {
		d = picked(&b->start[both[i].metric], t->list, index);
		table_row(t, both[i].label, d.n ? "from start" : NULL, &d);
		d = picked(&b->due[both[i].metric], t->list, index);
		if (open)
			table_row(t, "", d.n ? "from due" : NULL, &d);
	}
	d = picked(&b->itl, t->list, index);
	table_row(t, "ITL", NULL, &d);
	for (size_t i = 0; i < 2; i++) {
		d = picked(&b->start[one[i].metric], t->list, index);
		table_row(t, one[i].label, NULL, &d);
	}
	d = picked(&b->start[METRIC_E2E], t->list, index);
	table_row(t, "E2E", d.n ? "from start" : NULL, &d);
	d = picked(&b->due[METRIC_E2E], t->list, index);
	if (open)
		table_row(t, "", d.n ? "from due" : NULL, &d);
	d = picked(&b->start[METRIC_LAG], t->list, index);
	table_row(t, "lag", NULL, &d);
	d = picked(&b->start[METRIC_SLOT_WAIT], t->list, index);
	table_row(t, "slot wait", NULL, &d);
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
static bool show_latency(struct layout *l, const struct report *report)
{
	const struct block *b = &report->blocks->total;
	struct percentiles list;
	int index[PERCENTILES_MOST];
	pick(&report->options->percentiles, &list, index);
	struct table t = {.l = l, .list = &list};
	if (b->ok == 0 && b->started == 0)
		return false;
	for (t.first = 0; t.first < list.count + 2; t.first += COLUMNS) {
		t.columns = list.count + 2 - t.first < COLUMNS ? list.count + 2 - t.first : COLUMNS;
		heading(l, t.first == 0 ? "Latency, ms" : "");
		table_head(&t);
		latency_rows(&t, b, index);
	}
	weak_note(l, t.weak);
	return t.weak;
}

/* ---- stages' latencies ---- */

static bool cell(struct layout *l, int column, const struct dist *d, int at, double p)
{
	char text[40];
	layout_right(l, column, PLAIN, show_number(d->n && at >= 0 ? d->at[at] : NAN, text));
	if (d->n == 0 || at < 0 || percentile_is_firm(d->n, p))
		return false;
	layout_text(l, FAINT, "~");
	return true;
}

static int index_of(const struct percentiles *list, double p)
{
	for (int i = 0; i < list->count; i++)
		if (list->p[i] == p)
			return i;
	return -1;
}

static bool stage_latency_row(struct layout *l, const struct block *b, const char *name, const struct percentiles *list)
{
	int p50 = index_of(list, 50), p99 = index_of(list, 99);
	bool open = b->due[METRIC_TTFT].n > 0, weak = false;
	const struct dist *dists[] = {open ? &b->due[METRIC_TTFT] : &b->start[METRIC_TTFT], &b->start[METRIC_TPOT],
	                              open ? &b->due[METRIC_E2E] : &b->start[METRIC_E2E]};
	layout_to(l, 2);
	layout_clipped(l, 22, PLAIN, name);
	for (int i = 0; i < 3; i++) {
		weak |= cell(l, 34 + i * 18, dists[i], p50, 50);
		weak |= cell(l, 43 + i * 18, dists[i], p99, 99);
	}
	layout_end_line(l);
	return weak;
}

/* One line for each measured stage (and model): what most people compare. */
static void show_stage_latency(struct layout *l, const struct report *report, bool explained)
{
	const struct blocks *blocks = report->blocks;
	const struct percentiles *list = &report->options->percentiles;
	bool weak = false, closed = false;
	int shown = 0, models = blocks->total.models ? report->run->models.count : 0;
	for (size_t i = 0; i < blocks->count; i++)
		shown += blocks->stages[i].measured && blocks->stages[i].ok > 0;
	if ((shown < 2 && models < 2) || index_of(list, 50) < 0 || index_of(list, 99) < 0)
		return;
	heading(l, "By stage, ms");
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
			weak |= stage_latency_row(l, &blocks->stages[i], blocks->stages[i].name, list);
			closed |= blocks->stages[i].due[METRIC_TTFT].n == 0;
		}
	for (int i = 0; i < models; i++)
		if (blocks->total.models[i].ok > 0)
			weak |= stage_latency_row(l, &blocks->total.models[i], report->run->models.list[i], list);
	if (closed) {
		layout_to(l, 2);
		layout_text(l, FAINT, "closed loop has no due time: from start there");
		layout_end_line(l);
	}
	weak_note(l, weak && !explained);
}

/* ---- tokens, errors, goodput ---- */

static void token_row(struct table *t, const char *label, const struct dist *d, const int index[PERCENTILES_MOST])
{
	struct dist few = picked(d, t->list, index);
	table_row(t, label, NULL, &few);
}

/* Rounded to what is shown, so that no "-0.0" is. */
static double percent(double share)
{
	return round(1000 * share) / 10 + 0.0;
}

static void token_notes(struct layout *l, const struct report *report)
{
	const struct block *b = &report->blocks->total;
	char text[512] = "", number[40], item[120];
	for (int i = 0; i < SOURCES; i++)
		if (b->by_source[i] > 0) {
			snprintf(item, sizeof item, "%s (%s answer%s)", sources[i], show_count(b->by_source[i], number), plural(b->by_source[i]));
			append(text, sizeof text, ", ", item, "");
		}
	if (text[0])
		line(l, "counted by", text);
	static const struct {
		int residual;
		const char *text;
	} notes[] = {{0, "usage against tokenizer"}, {1, "usage against events"}, {2, "tokenizer against events"}, {5, "got against asked"}};
	text[0] = 0;
	for (size_t i = 0; i < sizeof notes / sizeof *notes; i++) {
		const struct residual *r = &b->residuals[notes[i].residual];
		if (r->n == 0 || isnan(r->share))
			continue;
		snprintf(item, sizeof item, "%s %+.1f %%", notes[i].text, percent(r->share));
		append(text, sizeof text, ", ", item, "");
	}
	if (text[0])
		line(l, "output", text);
	text[0] = 0;
	if (b->residuals[3].n > 0) {
		snprintf(item, sizeof item, "usage against tokenizer %+.1f %%", percent(b->residuals[3].share));
		append(text, sizeof text, ", ", item, "");
	}
	if (b->residuals[4].n > 0) {
		snprintf(item, sizeof item, "got against asked %+.1f %%", percent(b->residuals[4].share));
		append(text, sizeof text, ", ", item, "");
	}
	if (!isnan(b->cached_share)) {
		snprintf(item, sizeof item, "%s from the server's cache", show_percent(b->cached_share, number));
		append(text, sizeof text, ", ", item, "");
	}
	if (text[0])
		line(l, "input", text);
	if (b->events > 0) {
		char shared[40];
		text[0] = 0;
		snprintf(item, sizeof item, "%s with content, %s of them shared a read", show_count(b->events, number),
		         show_percent((double)b->coalesced / (double)b->events, shared));
		append(text, sizeof text, "", item, "");
		if (b->stalls > 0) {
			snprintf(item, sizeof item, "%s stall%s in %s request%s", show_count(b->stalls, number), plural(b->stalls),
			         show_count(b->stalled, shared), plural(b->stalled));
			append(text, sizeof text, ", ", item, "");
		}
		line(l, "events", text);
	}
	text[0] = 0;
	for (int i = 0; i < report->run->finishes.count; i++)
		if (b->by_finish[i] > 0) {
			snprintf(item, sizeof item, "%.60s %s", report->run->finishes.list[i], show_count(b->by_finish[i], number));
			append(text, sizeof text, ", ", item, "");
		}
	if (text[0])
		line(l, "finish", text);
}

static void show_tokens(struct layout *l, const struct report *report)
{
	const struct block *b = &report->blocks->total;
	struct percentiles list;
	int index[PERCENTILES_MOST];
	pick(&report->options->percentiles, &list, index);
	struct table t = {.l = l, .list = &list, .counts = true};
	if (b->ok == 0)
		return;
	for (t.first = 0; t.first < list.count + 2; t.first += COLUMNS) {
		t.columns = list.count + 2 - t.first < COLUMNS ? list.count + 2 - t.first : COLUMNS;
		heading(l, t.first == 0 ? "Tokens" : "");
		table_head(&t);
		token_row(&t, "input", &b->input, index);
		token_row(&t, "output", &b->output, index);
		token_row(&t, "asked for", &b->asked_output, index);
		token_row(&t, "reasoning", &b->reasoning, index);
	}
	token_notes(l, report);
}

static void show_errors(struct layout *l, const struct report *report)
{
	const struct block *b = &report->blocks->total;
	int64_t requests = b->ok + b->failed;
	char text[512] = "", a[40], c[40], item[120];
	if (requests == 0)
		return;
	heading(l, "Errors");
	layout_to(l, 14);
	if (b->failed == 0) {
		layout_format(l, PLAIN, "none in %s request%s", show_count(requests, a), plural(requests));
		layout_end_line(l);
		return;
	}
	layout_format(l, PLAIN, "%s of ", show_count(b->failed, a));
	layout_format(l, PLAIN, "%s request%s, ", show_count(requests, a), plural(requests));
	layout_text(l, PLAIN, show_percent((double)b->failed / (double)requests, c));
	layout_end_line(l);
	for (int i = 0; i < ERROR_KINDS; i++)
		if (b->errors[i] > 0) {
			snprintf(item, sizeof item, "%s %s", error_kinds[i], show_count(b->errors[i], a));
			append(text, sizeof text, ", ", item, "");
		}
	layout_to(l, 14);
	layout_wrapped(l, 14, PLAIN, text);
	if (b->stale > 0) {
		layout_to(l, 14);
		snprintf(text, sizeof text, "%s of the resets: kept connections that the server had closed already", show_count(b->stale, a));
		layout_wrapped(l, 14, PLAIN, text);
	}
}

static void show_goodput(struct layout *l, const struct report *report)
{
	const struct block *b = &report->blocks->total;
	const struct slo *slo = report->run->slo;
	char a[40], c[40];
	if (b->judged == 0 && slo->count == 0)
		return;
	heading(l, "Goodput");
	if (b->judged > 0) {
		layout_to(l, 14);
		layout_format(l, PLAIN, "%s requests/s, ", show_number(b->goodput, a));
		layout_format(l, PLAIN, "%s of the requests met all objectives", show_percent((double)b->good / (double)b->judged, a));
		layout_end_line(l);
	}
	for (int i = 0; i < slo->count; i++) {
		const struct objective *objective = &slo->list[i];
		layout_to(l, 14);
		layout_text(l, PLAIN, objective->text);
		layout_to(l, 34);
		if (isnan(isnan(objective->percentile) ? b->objectives[i].share : b->objectives[i].value_ms)) {
			layout_text(l, PLAIN, "nothing to hold against it");
		} else if (isnan(objective->percentile)) {
			layout_format(l, PLAIN, "%s of the requests", show_percent(b->objectives[i].share, c));
		} else {
			layout_text(l, b->objectives[i].met ? GOOD : BAD, b->objectives[i].met ? "met" : "missed");
			layout_format(l, PLAIN, ": %s ms", show_number(b->objectives[i].value_ms, c));
		}
		layout_end_line(l);
	}
}

void report_text(const struct report *report, struct buffer *out)
{
	struct layout l = {.out = out, .colour = report->colour};
	show_verdict(&l, report);
	show_about(&l, report);
	show_stages(&l, report);
	bool marked = show_latency(&l, report);
	show_stage_latency(&l, report, marked);
	show_tokens(&l, report);
	show_errors(&l, report);
	show_goodput(&l, report);
}
