#include "exports/guidellm_figures.h"

#include "exports/pulses.h"
#include "json/jout.h"

#include "absent.h"

#include <math.h>

/* ---- a request ---- */

enum guidellm_status guidellm_status(const struct row *row)
{
	return row->ok ? GUIDELLM_SUCCESSFUL : row->error == VERDICT_CANCELLED ? GUIDELLM_INCOMPLETE : GUIDELLM_ERRORED;
}

double guidellm_latency(const struct row *row)
{
	double whole = row->end_ns == IPF_ABSENT ? NAN : (double)(row->end_ns - row->start_ns);
	return (row->ok && !isnan(row_e2e(row)) ? row_e2e(row) : whole) / 1e9;
}

double guidellm_dispatch_delay(const struct row *row)
{
	return row->due_ns == IPF_ABSENT ? NAN : (double)(row->start_ns - row->due_ns) / 1e9;
}

double guidellm_scheduled_latency(const struct row *row)
{
	return guidellm_latency(row) + guidellm_dispatch_delay(row);
}

double guidellm_ttft(const struct row *row)
{
	return row_ttft(row) / 1e6;
}

double guidellm_ttfot(const struct row *row)
{
	return row_metric(row, METRIC_TTFA) / 1e6;
}

double guidellm_tpot(const struct row *row)
{
	return row_tpot(row) / 1e6;
}

double guidellm_itl(const struct row *row)
{
	return row_itl(row) / 1e6;
}

double guidellm_total(const struct row *row)
{
	double input = row_input(row), output = row_output(row);
	return isnan(input) ? output : isnan(output) ? input : input + output;
}

static double output_less_one(const struct row *row)
{
	return row_output(row) - 1;
}

static bool has_iterations(const struct row *row)
{
	return row_get(row, ROW_EVENTS) > 1 && !isnan(row_ttft(row)) && !isnan(row_last(row));
}

/* Tokens of each event after the first one, which has one token by its definition. */
static double later_tokens(const struct row *row)
{
	return has_iterations(row) && row_get(row, ROW_OUTPUT_TOKENS) > 1
	           ? output_less_one(row) / (double)(row_get(row, ROW_EVENTS) - 1)
	           : NAN;
}

static double later_events(const struct row *row)
{
	return (double)row_get(row, ROW_EVENTS) - 1;
}

bool guidellm_scheduled(const struct load *load)
{
	return load->one && !load->one->closed && !isnan(load->one->rate);
}

/* ---- objectives ---- */

double guidellm_limit(const struct load *load, enum metric metric)
{
	const struct slo *slo = load->run->slo;
	double limit_ms = NAN;
	for (int i = 0; i < slo->count; i++)
		if (slo->list[i].metric == metric)
			limit_ms = fmin(limit_ms, (double)slo->list[i].limit_ns / 1e6);
	return limit_ms;
}

bool guidellm_has_slo(const struct load *load)
{
	const struct slo *slo = load->run->slo;
	for (int i = 0; i < slo->count; i++)
		if (!isnan(slo->list[i].percentile) ||
		    (slo->list[i].metric != METRIC_TTFT && slo->list[i].metric != METRIC_TPOT &&
		     slo->list[i].metric != METRIC_E2E))
			return false;
	return slo->count > 0;
}

/* 1: it meets all; 0: not; NAN: it has no value for one of them. A failure meets none. */
static double conforms(const struct load *load, const struct row *row)
{
	static const enum metric metrics_asked[] = {METRIC_TTFT, METRIC_TPOT, METRIC_E2E};
	const double values[] = {guidellm_ttft(row), guidellm_itl(row), guidellm_latency(row) * 1e3};
	bool met = true;
	if (!row->ok)
		return guidellm_status(row) == GUIDELLM_ERRORED ? 0 : NAN;
	for (int i = 0; i < 3; i++) {
		double limit_ms = guidellm_limit(load, metrics_asked[i]);
		if (isnan(limit_ms))
			continue;
		if (isnan(values[i]))
			return NAN;
		met &= values[i] <= limit_ms;
	}
	return met;
}

/* ---- distributions ---- */

struct figure {
	const char *name;
	/* Adds the values of the requests whose status is in the set (1 << GUIDELLM_SUCCESSFUL, …); returns how many
	 * there are as GuideLLM counts. */
	double (*fill)(struct weighted_values *v, const struct load *load, unsigned statuses, const struct figure *figure);
	row_value value, weight;                                                       /* fill_values; weight NULL: 1 */
	void (*add)(struct pulses *p, const struct load *load, const struct row *row); /* fill_rates, fill_levels */
	bool whole; /* fill_rates: from the first start to the last end of the load */
};

static bool is_in(const struct row *row, unsigned statuses)
{
	return statuses >> guidellm_status(row) & 1;
}

static double fill_values(struct weighted_values *v, const struct load *load, unsigned statuses,
                          const struct figure *figure)
{
	for_load(load, row) if (is_in(row, statuses))
		weighted_values_add(v, figure->value(row), figure->weight ? figure->weight(row) : 1);
	return v->weight;
}

/* The first event of a response has one token, each other one its part of the rest; one event has all. */
static double fill_iterations(struct weighted_values *v, const struct load *load, unsigned statuses,
                              const struct figure *figure)
{
	(void)figure;
	for_load(load, row)
	{
		if (!is_in(row, statuses) || row_get(row, ROW_OUTPUT_TOKENS) == IPF_ABSENT)
			continue;
		weighted_values_add(v, has_iterations(row) ? row_get(row, ROW_OUTPUT_TOKENS) > 0 : row_output(row), 1);
		weighted_values_add(v, later_tokens(row), later_events(row));
	}
	return v->weight;
}

static double fill_rates(struct weighted_values *v, const struct load *load, unsigned statuses,
                         const struct figure *figure)
{
	struct pulses p = {0};
	double amount = 0, end_ns = (double)(load->end_ns - load->begin_ns);
	for_load(load, row) if (is_in(row, statuses)) figure->add(&p, load, row);
	if (figure->whole && load->begin_ns != IPF_ABSENT) {
		pulses_add(&p, (struct pulse_train){.count = 1});
		pulses_add(&p, (struct pulse_train){.first_ns = end_ns, .last_ns = end_ns, .count = 1});
	}
	for (size_t i = 0; i < p.count; i++)
		amount += p.list[i].first + p.list[i].others * (double)(p.list[i].count - 1);
	int64_t moments = pulses_rates(&p, v);
	pulses_release(&p);
	return v->count ? amount : (double)moments;
}

static double fill_levels(struct weighted_values *v, const struct load *load, unsigned statuses,
                          const struct figure *figure)
{
	struct pulses p = {0};
	for_load(load, row) if (is_in(row, statuses)) figure->add(&p, load, row);
	double count = (double)(p.count / 2);
	pulses_levels(&p, v);
	pulses_release(&p);
	return count;
}

struct distribution {
	struct weighted_summary summary;
	double count;
};

static void distribution_of(struct distribution *d, const struct load *load, unsigned statuses,
                            const struct figure *figure)
{
	struct weighted_values v = {0};
	d->count = figure->fill ? rint(figure->fill(&v, load, statuses, figure)) : 0;
	weighted_values_summarise(&v, &d->summary);
	weighted_values_release(&v);
}

static void put_distribution(struct jout *w, const char *key, const struct distribution *d)
{
	static const char *const names[WEIGHTED_PERCENTILES] = {"p001", "p01", "p05", "p10", "p25", "p50",
	                                                        "p75",  "p90", "p95", "p99", "p999"};
	const struct weighted_summary *s = &d->summary;
	jout_key(w, key);
	jout_begin_map(w);
	jout_member_double(w, "mean", s->mean);
	jout_member_double(w, "median", s->percentile[WEIGHTED_P50]);
	jout_member_double(w, "mode", s->mode);
	jout_member_double(w, "variance", s->variance);
	jout_member_double(w, "std_dev", sqrt(s->variance));
	jout_member_double(w, "min", s->min);
	jout_member_double(w, "max", s->max);
	jout_member_int(w, "count", (int64_t)d->count);
	jout_member_double(w, "total_sum", s->mean * d->count);
	jout_key(w, "percentiles");
	jout_begin_map(w);
	for (int i = 0; i < WEIGHTED_PERCENTILES; i++)
		jout_member_double(w, names[i], s->percentile[i]);
	jout_end_map(w);
	jout_end_map(w);
}

static void put_figure(struct jout *w, const struct load *load, const struct figure *figure)
{
	struct distribution successful, other;
	jout_key(w, figure->name);
	jout_begin_map(w);
	distribution_of(&successful, load, 1 << GUIDELLM_SUCCESSFUL, figure);
	put_distribution(w, "successful", &successful);
	distribution_of(&other, load, 1 << GUIDELLM_INCOMPLETE, figure);
	put_distribution(w, "incomplete", &other);
	distribution_of(&other, load, 1 << GUIDELLM_ERRORED, figure);
	put_distribution(w, "errored", &other);
	if (load->failed > 0)
		distribution_of(&other, load, (1 << GUIDELLM_STATUSES) - 1, figure);
	put_distribution(w, "total", load->failed > 0 ? &other : &successful);
	jout_end_map(w);
}

static void put_figures(struct jout *w, const struct load *load, const struct figure *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		put_figure(w, load, &list[i]);
}

/* ---- events over time, from the first start of the load ---- */

static double start_of(const struct load *load, const struct row *row)
{
	return (double)(load_start_ns(load, row) - load->begin_ns);
}

static double end_of(const struct load *load, const struct row *row)
{
	double latency_ns = guidellm_latency(row) * 1e9;
	return start_of(load, row) + (isnan(latency_ns) ? 0 : latency_ns);
}

static void add_one(struct pulses *p, double ns, double amount)
{
	pulses_add(p, (struct pulse_train){.first_ns = ns, .last_ns = ns, .count = 1, .first = amount});
}

static double or_0(double value)
{
	return isnan(value) ? 0 : value;
}

static void add_end(struct pulses *p, const struct load *load, const struct row *row)
{
	add_one(p, end_of(load, row), 1);
}

static void add_good_end(struct pulses *p, const struct load *load, const struct row *row)
{
	if (conforms(load, row) > 0)
		add_one(p, end_of(load, row), 1);
}

static void add_prompt(struct pulses *p, const struct load *load, const struct row *row)
{
	double first = isnan(row_ttft(row)) ? end_of(load, row) : start_of(load, row) + row_ttft(row);
	add_one(p, first, or_0(row_input(row)));
}

static void add_tokens(struct pulses *p, const struct load *load, const struct row *row)
{
	double start = start_of(load, row), last = start + row_last(row);
	if (!has_iterations(row)) {
		add_one(p, isnan(row_ttft(row)) || isnan(last) ? end_of(load, row) : last, or_0(row_output(row)));
		return;
	}
	struct pulse_train train = {
		.first_ns = start + row_ttft(row), .last_ns = last, .first = row_get(row, ROW_OUTPUT_TOKENS) > 0};
	train.others = or_0(later_tokens(row));
	train.count = train.others > 0 ? row_get(row, ROW_EVENTS) : 1;
	pulses_add(p, train);
}

static void add_both(struct pulses *p, const struct load *load, const struct row *row)
{
	add_prompt(p, load, row);
	add_tokens(p, load, row);
}

static void add_level(struct pulses *p, const struct load *load, const struct row *row, double amount)
{
	add_one(p, start_of(load, row), amount);
	add_one(p, end_of(load, row), -amount);
}

static void add_request(struct pulses *p, const struct load *load, const struct row *row)
{
	add_level(p, load, row, 1);
}

static void add_input_end(struct pulses *p, const struct load *load, const struct row *row)
{
	if (!isnan(guidellm_total(row)))
		add_one(p, end_of(load, row), or_0(row_input(row)));
}

static void add_output_end(struct pulses *p, const struct load *load, const struct row *row)
{
	if (!isnan(guidellm_total(row)))
		add_one(p, end_of(load, row), or_0(row_output(row)));
}

static void add_total_end(struct pulses *p, const struct load *load, const struct row *row)
{
	add_input_end(p, load, row);
	add_output_end(p, load, row);
}

static void add_input_level(struct pulses *p, const struct load *load, const struct row *row)
{
	if (!isnan(guidellm_total(row)))
		add_level(p, load, row, or_0(row_input(row)));
}

static void add_output_level(struct pulses *p, const struct load *load, const struct row *row)
{
	if (!isnan(guidellm_total(row)))
		add_level(p, load, row, or_0(row_output(row)));
}

static void add_total_level(struct pulses *p, const struct load *load, const struct row *row)
{
	add_input_level(p, load, row);
	add_output_level(p, load, row);
}

/* The figure of all tokens pools those of the input and those of the output: it is no sum. */
static double fill_input_and_output(struct weighted_values *v, const struct load *load, unsigned statuses,
                                    const struct figure *figure)
{
	for_load(load, row) if (is_in(row, statuses))
	{
		weighted_values_add(v, row_input(row), 1);
		weighted_values_add(v, row_output(row), 1);
	}
	(void)figure;
	return v->weight;
}

/* ---- the document ---- */

static const struct figure figures[] = {
	{"requests_per_second", .fill = fill_rates, .add = add_end, .whole = true},
	{"request_concurrency", .fill = fill_levels, .add = add_request},
	{"request_latency", .fill = fill_values, .value = guidellm_latency},
	{.name = "request_streaming_iterations_count"}, /* events without content among them: not known */
	{"prompt_token_count", .fill = fill_values, .value = row_input},
	{"output_token_count", .fill = fill_values, .value = row_output},
	{"total_token_count", .fill = fill_values, .value = guidellm_total},
	{"time_to_first_token_ms", .fill = fill_values, .value = guidellm_ttft},
	{"time_to_first_output_token_ms", .fill = fill_values, .value = guidellm_ttfot},
	{"time_per_output_token_ms", .fill = fill_values, .value = guidellm_tpot, .weight = row_output},
	{"inter_token_latency_ms", .fill = fill_values, .value = guidellm_itl, .weight = output_less_one},
	{.name = "time_to_last_round_trip_ms"}, /* for WebSockets */
	{.name = "avg_round_trip_time_ms"},
	{"prompt_tokens_per_second", .fill = fill_rates, .add = add_prompt, .whole = true},
	{"output_tokens_per_second", .fill = fill_rates, .add = add_tokens, .whole = true},
	{"tokens_per_second", .fill = fill_rates, .add = add_both, .whole = true},
	{"output_tokens_per_iteration", .fill = fill_iterations},
	{"iter_tokens_per_iteration", .fill = fill_values, .value = later_tokens, .weight = later_events}};

static const struct figure scheduled_figures[] = {
	{"request_dispatch_delay", .fill = fill_values, .value = guidellm_dispatch_delay},
	{"request_scheduled_latency", .fill = fill_values, .value = guidellm_scheduled_latency}};

static const struct figure text_figures[] = {{"input", .fill = fill_values, .value = row_input},
                                             {"input_per_second", .fill = fill_rates, .add = add_input_end},
                                             {"input_concurrency", .fill = fill_levels, .add = add_input_level},
                                             {"output", .fill = fill_values, .value = row_output},
                                             {"output_per_second", .fill = fill_rates, .add = add_output_end},
                                             {"output_concurrency", .fill = fill_levels, .add = add_output_level},
                                             {"total", .fill = fill_input_and_output},
                                             {"total_per_second", .fill = fill_rates, .add = add_total_end},
                                             {"total_concurrency", .fill = fill_levels, .add = add_total_level}};

static const struct figure good_figures[] = {
	{"request_goodput", .fill = fill_rates, .add = add_good_end, .whole = true}};

#define PUT(w_, load_, list_) put_figures(w_, load_, list_, sizeof(list_) / sizeof *(list_))

void guidellm_counts(struct jout *w, const char *key, const struct load *load)
{
	int64_t counts[GUIDELLM_STATUSES] = {0};
	for_load(load, row) counts[guidellm_status(row)]++;
	jout_key(w, key);
	jout_begin_map(w);
	jout_member_int(w, "successful", counts[GUIDELLM_SUCCESSFUL]);
	jout_member_int(w, "incomplete", counts[GUIDELLM_INCOMPLETE]);
	jout_member_int(w, "errored", counts[GUIDELLM_ERRORED]);
	jout_member_int(w, "total", load->sent);
	jout_end_map(w);
}

static void put_slo(struct jout *w, const struct load *load)
{
	int64_t determined = 0, good = 0;
	if (!guidellm_has_slo(load))
		return;
	for_load(load, row)
	{
		double one = conforms(load, row);
		determined += !isnan(one);
		good += one > 0;
	}
	if (determined == 0)
		return;
	jout_member_double(w, "slo_attainment", (double)good / (double)determined);
	jout_member_int(w, "slo_determined_requests", determined);
	PUT(w, load, good_figures);
}

/* Kinds of content uncounted by ipf. */
static void put_others(struct jout *w)
{
	static const char *const kinds[][5] = {{"image", "tokens", "images", "pixels", "bytes"},
	                                       {"video", "tokens", "frames", "seconds", "bytes"},
	                                       {"audio", "tokens", "samples", "seconds", "bytes"},
	                                       {"tool_call", "tokens", "mixed_tokens", "count", NULL}};
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		jout_key(w, kinds[i][0]);
		jout_begin_map(w);
		for (int k = 1; k < 5 && kinds[i][k]; k++) {
			jout_key(w, kinds[i][k]);
			jout_null(w);
		}
		jout_end_map(w);
	}
}

void guidellm_figures(struct jout *w, const struct load *load)
{
	jout_begin_map(w);
	guidellm_counts(w, "request_totals", load);
	PUT(w, load, figures);
	if (guidellm_scheduled(load))
		PUT(w, load, scheduled_figures);
	jout_key(w, "text");
	jout_begin_map(w);
	jout_key(w, "tokens");
	jout_begin_map(w);
	PUT(w, load, text_figures);
	jout_end_map(w);
	jout_key(w, "words");
	jout_null(w);
	jout_key(w, "characters");
	jout_null(w);
	jout_end_map(w);
	put_others(w);
	put_slo(w, load);
	jout_end_map(w);
}
