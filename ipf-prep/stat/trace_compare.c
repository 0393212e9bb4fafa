#include "stat/trace_compare.h"

#include "cli/units.h"
#include "model/model_json.h"
#include "model/traffic_model.h"
#include "stream/trace.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WINDOWS_LEAST 50  /* for an index of dispersion worth comparing */
#define BEYOND_LEAST  10  /* values beyond a quantile, on either side */
#define UNKNOWN       2   /* times the limit: a quantile of the reference known no better */
#define COUNT_LEAST   100 /* pairs for a correlation, prompts for a hit rate */

/* ---- reading ---- */

static int read_trace(const char *path, struct traffic_figures *f, struct ipf_error *cut, struct ipf_error *err)
{
	struct traffic_watch watch = {0};
	struct trace_reader *reader = NULL;
	struct trace_request request;
	int got = trace_reader_open(&reader, path, err);
	while (got == 0 && (got = trace_reader_next(reader, &request, err)) == 1) {
		struct stream_reader *stream = trace_reader_stream(reader);
		got = traffic_watch_add(&watch, &request, err);
		if (got < 0)
			ipf_error_place(err, stream_reader_name(stream), stream_reader_line(stream));
	}
	if (got < 0 && err->kind == IPF_CUT) {
		*cut = *err;
		ipf_error_clear(err);
		got = 0;
	}
	trace_reader_close(reader);
	if (got == 0)
		got = traffic_watch_end(&watch, NULL, NULL, f, err);
	traffic_watch_release(&watch);
	return got;
}

/* A model is a file; standard input is a trace. */
static int is_model(const char *path, struct ipf_error *err)
{
	struct stream_reader *reader = NULL;
	struct slice text = {0};
	if (strcmp(path, "-") == 0)
		return 0;
	int status = stream_reader_open_input(&reader, path, err);
	if (status == 0)
		status = stream_reader_peek(reader, 256, &text, err);
	bool is = status == 0 && traffic_model_is(text);
	stream_reader_close(reader);
	return status < 0 ? -1 : is;
}

int traffic_of(const char *path, struct traffic_figures *f, struct ipf_error *cut, struct ipf_error *err)
{
	struct traffic_model *model = NULL;
	int found = is_model(path, err);
	if (found <= 0)
		return found < 0 ? -1 : read_trace(path, f, cut, err);
	if (traffic_model_read(&model, path, err) < 0)
		return -1;
	*f = model->figures;
	free(model);
	return 0;
}

/* ---- rows ---- */

static struct comparison_row *add_row(struct comparison *c, enum comparison_unit unit, double this, double against)
{
	static const double limits[] = {[COMPARE_RATIO] = 0.05, [COMPARE_NUMBER] = 0.05, [COMPARE_SHARE] = 0.03};
	struct comparison_row *r = &c->rows[c->count < COMPARISON_ROWS ? c->count++ : COMPARISON_ROWS - 1];
	*r = (struct comparison_row){.this = this, .against = against, .unit = unit, .limit = limits[unit]};
	r->difference = this - against;
	if (unit == COMPARE_RATIO)
		r->difference = this == against ? 0 : against != 0 ? (this - against) / fabs(against) : INFINITY;
	return r;
}

static void compare_dispersion(struct comparison *c)
{
	int64_t requests = c->this.requests < c->against.requests ? c->this.requests : c->against.requests;
	for (int i = 0; i < DISPERSION_SCALES; i++) {
		struct comparison_row *r = add_row(c, COMPARE_RATIO, c->this.dispersion[i], c->against.dispersion[i]);
		int64_t windows = c->this.windows[i] < c->against.windows[i] ? c->this.windows[i] : c->against.windows[i];
		snprintf(r->name, sizeof r->name, "dispersion %ds", dispersion_seconds[i]);
		r->limit = 0.2;
		if (isnan(r->this) && isnan(r->against) && windows == 0)
			snprintf(r->absent, sizeof r->absent, "no arrivals, or less than two windows of them");
		else if (requests < COUNT_LEAST)
			snprintf(r->absent, sizeof r->absent, "%lld requests, at least %d are needed", (long long)requests,
			         COUNT_LEAST);
		else if (windows < WINDOWS_LEAST || isnan(r->difference))
			snprintf(r->absent, sizeof r->absent, "%lld windows, at least %d are needed", (long long)windows,
			         WINDOWS_LEAST);
	}
}

/* The precision of a quantile of so many values, as a share: half of the distance between those a standard error of its
 * rank below and above. */
static double uncertainty(const struct quantile_table *t, double p, int64_t count)
{
	double error = sqrt(p * (1 - p) / (double)count), value = quantile_table_at(t, p);
	double low = quantile_table_at(t, fmax(0, p - error)), high = quantile_table_at(t, fmin(1, p + error));
	return value > 0 ? (high - low) / 2 / value : 0;
}

static void compare_quantile(struct comparison *c, enum traffic_numbers k, int percent)
{
	const struct quantile_table *a = &c->this.numbers[k], *b = &c->against.numbers[k];
	const int64_t count = a->count < b->count ? a->count : b->count;
	const double p = percent / 100.0;
	struct comparison_row *r = add_row(c, COMPARE_RATIO, a->count ? quantile_table_at(a, p) : NAN,
	                                   b->count ? quantile_table_at(b, p) : NAN);
	int64_t needed = (int64_t)ceil(BEYOND_LEAST / fmin(p, 1 - p) - 1e-9);
	/* The requests of a session resemble each other. */
	int64_t starts = c->this.starts < c->against.starts ? c->this.starts : c->against.starts;
	int64_t independent = k <= TRAFFIC_OUTPUT && starts < count ? starts : count;
	double known = count ? uncertainty(b, p, independent) : 0;
	bool whole = k <= TRAFFIC_TURNS; /* whole numbers differ by at least one */
	snprintf(r->name, sizeof r->name, "%s p%d", traffic_number_names[k], percent);
	if (whole && fabs(r->this - r->against) <= 1)
		r->difference = 0;
	if (count < needed)
		snprintf(r->absent, sizeof r->absent, "%lld values, at least %lld are needed", (long long)count,
		         (long long)needed);
	else if (known > UNKNOWN * r->limit && !(whole && known * r->against <= 1))
		snprintf(r->absent, sizeof r->absent, "%lld %s give it only within %.0f %%", (long long)independent,
		         independent < count ? "sessions" : "values", 100 * known);
}

static void compare_numbers(struct comparison *c, enum traffic_numbers k)
{
	static const int percents[] = {10, 25, 50, 75, 90, 95, 99};
	if (c->this.numbers[k].count == 0 && c->against.numbers[k].count == 0) {
		struct comparison_row *r = add_row(c, COMPARE_RATIO, NAN, NAN);
		snprintf(r->name, sizeof r->name, "%s", traffic_number_names[k]);
		snprintf(r->absent, sizeof r->absent, "neither has any");
		return;
	}
	for (size_t i = 0; i < sizeof percents / sizeof *percents; i++)
		compare_quantile(c, k, percents[i]);
}

/* The hit rate of a cache of this size, between the sizes known. */
static double hit_rate_at(const struct traffic_figures *f, double tokens)
{
	const struct prompt_cache *c = f->caches;
	if (f->cache_count == 0 || tokens < (double)c[0].tokens)
		return 0;
	for (int i = 1; i < f->cache_count; i++)
		if (tokens < (double)c[i].tokens) {
			double share = log(tokens / (double)c[i - 1].tokens) / log((double)c[i].tokens / (double)c[i - 1].tokens);
			return c[i - 1].hit_rate + share * (c[i].hit_rate - c[i - 1].hit_rate);
		}
	return f->hit_rate;
}

static void compare_hits(struct comparison *c)
{
	/* distances of tokens in different blocks of the reference */
	static const double parts[] = {1, 1.0 / 4, 1.0 / 16, 1.0 / 64};
	bool known = !isnan(c->this.hit_rate) && !isnan(c->against.hit_rate);
	int64_t requests = c->this.requests < c->against.requests ? c->this.requests : c->against.requests;
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
		double size = exp2(round(log2(fmax(1, (double)c->against.distinct_tokens * parts[i]))));
		struct comparison_row *r = i ? add_row(c, COMPARE_SHARE, hit_rate_at(&c->this, size),
		                                       hit_rate_at(&c->against, size))
		                             : add_row(c, COMPARE_SHARE, c->this.hit_rate, c->against.hit_rate);
		char tokens[32];
		snprintf(r->name, sizeof r->name, i ? "hit_rate of %s tokens" : "hit_rate", format_count(size, tokens));
		if (!known)
			snprintf(r->absent, sizeof r->absent, "%s prompts in blocks or texts",
			         isnan(c->this.hit_rate) && isnan(c->against.hit_rate) ? "neither has" : "only one has");
		else if (requests < COUNT_LEAST)
			snprintf(r->absent, sizeof r->absent, "%lld requests, at least %d are needed", (long long)requests,
			         COUNT_LEAST);
		if (!known)
			return;
	}
}

static void compare_correlation(struct comparison *c)
{
	struct comparison_row *r = add_row(c, COMPARE_NUMBER, c->this.rank_correlation, c->against.rank_correlation);
	int64_t a = c->this.numbers[TRAFFIC_INPUT].count, b = c->against.numbers[TRAFFIC_INPUT].count, n = a < b ? a : b;
	snprintf(r->name, sizeof r->name, "rank_correlation");
	if (n < COUNT_LEAST)
		snprintf(r->absent, sizeof r->absent, "%lld requests, at least %d are needed", (long long)n, COUNT_LEAST);
	else if (isnan(r->difference))
		snprintf(r->absent, sizeof r->absent, "all lengths are equal");
}

/* Only of traffic that records them. */
static void compare_hang_ups(struct comparison *c)
{
	const struct traffic_figures *a = &c->this, *b = &c->against;
	const int64_t here = a->numbers[TRAFFIC_HANG_UP].count, there = b->numbers[TRAFFIC_HANG_UP].count;
	if (here == 0 && there == 0)
		return;
	struct comparison_row *r = add_row(c, COMPARE_SHARE, (double)here / (double)a->requests,
	                                   (double)there / (double)b->requests);
	snprintf(r->name, sizeof r->name, "hang_ups");
	compare_numbers(c, TRAFFIC_HANG_UP);
}

void comparison_make(struct comparison *c)
{
	compare_dispersion(c);
	compare_numbers(c, TRAFFIC_INPUT);
	compare_numbers(c, TRAFFIC_OUTPUT);
	compare_correlation(c);
	compare_numbers(c, TRAFFIC_TURNS);
	compare_numbers(c, TRAFFIC_WAIT);
	compare_numbers(c, TRAFFIC_GAP);
	compare_hang_ups(c);
	compare_hits(c);
	for (int i = 0; i < c->count; i++) {
		struct comparison_row *r = &c->rows[i];
		r->near = !r->absent[0] && fabs(r->difference) <= r->limit;
		c->near += r->near;
		c->absent += r->absent[0] != '\0';
	}
}

/* ---- output ---- */

static void set_number(json_t *map, const char *key, double value)
{
	if (isfinite(value))
		json_object_set_new(map, key, model_number(value));
}

json_t *comparison_json(const struct comparison *c)
{
	static const char *const units[] = {
		[COMPARE_RATIO] = "ratio", [COMPARE_NUMBER] = "difference", [COMPARE_SHARE] = "difference"};
	json_t *rows = json_array();
	for (int i = 0; i < c->count; i++) {
		const struct comparison_row *r = &c->rows[i];
		json_t *row = json_pack("{s:s}", "name", r->name);
		set_number(row, "this", r->this);
		set_number(row, "against", r->against);
		if (r->absent[0]) {
			json_object_set_new(row, "not_comparable", json_string(r->absent));
		} else {
			set_number(row, units[r->unit], r->difference);
			set_number(row, "limit", r->limit);
			json_object_set_new(row, "near", json_boolean(r->near));
		}
		json_array_append_new(rows, row);
	}
	return json_pack("{s:s, s:i, s:I, s:I, s:i, s:i, s:o}", "ipf", "trace-comparison", "version", 1, "requests",
	                 (json_int_t)c->this.requests, "against_requests", (json_int_t)c->against.requests, "near", c->near,
	                 "comparable", c->count - c->absent, "figures", rows);
}

static void show_row(const struct comparison_row *r, FILE *to)
{
	if (r->absent[0]) {
		fprintf(to, "%-26s not comparable: %s\n", r->name, r->absent);
		return;
	}
	char difference[32];
	if (r->unit == COMPARE_NUMBER)
		snprintf(difference, sizeof difference, "%+.3f", r->difference);
	else
		snprintf(difference, sizeof difference, r->unit == COMPARE_RATIO ? "%+.1f %%" : "%+.1f points",
		         100 * r->difference);
	if (r->unit == COMPARE_SHARE)
		fprintf(to, "%-26s %9.1f %% %9.1f %% %14s%s\n", r->name, 100 * r->this, 100 * r->against, difference,
		        r->near ? "" : "  not near");
	else
		fprintf(to, "%-26s %11.6g %11.6g %14s%s\n", r->name, r->this, r->against, difference,
		        r->near ? "" : "  not near");
}

void comparison_show(const struct comparison *c, FILE *to)
{
	fprintf(to, "%-26s %11lld %11lld\n", "requests", (long long)c->this.requests, (long long)c->against.requests);
	for (int i = 0; i < c->count; i++)
		show_row(&c->rows[i], to);
	fprintf(to, "%d of %d figures are near; %d are not comparable\n", c->near, c->count - c->absent, c->absent);
}
