/* -f inference-perf, inference-perf-requests: summary_lifecycle_metrics.json (and, for one stage, its
 * stage_N_lifecycle_metrics.json) and per_request_lifecycle_metrics.json of kubernetes-sigs/inference-perf at 7de5ef2
 * (inference_perf/reportgen/base.py, summarize_requests). ipf-exports(5) has a table of it.
 *
 * Seconds. All measured stages are one run. A request ends with its response. */
#include "exports/request_lists.h"

#include "absent.h"

#include <math.h>
#include <string.h>

static double ntpot(const struct row *row)
{
	return row_get(row, ROW_OUTPUT_TOKENS) > 0 ? row_e2e(row) / (double)row_get(row, ROW_OUTPUT_TOKENS) : NAN;
}

static double itl(const struct row *row)
{
	return row_metric(row, METRIC_ITL_MEAN);
}

static double lag(const struct row *row)
{
	return row_metric(row, METRIC_LAG);
}

/* A failure has one as well, which has no latency otherwise. */
static double whole(const struct row *row)
{
	return row->end_ns == IPF_ABSENT ? NAN : (double)(row->end_ns - row->start_ns);
}

static double tokenized(const struct row *row)
{
	return row_get(row, ROW_OUTPUT_TOKENIZER) == IPF_ABSENT ? NAN : (double)row_get(row, ROW_OUTPUT_TOKENIZER);
}

static void put_members(struct jout *w, struct row_values *v)
{
	static const double list[] = {0.1, 1, 5, 10, 25, 50, 75, 90, 95, 99, 99.9};
	char name[24];
	jout_member_double(w, "mean", v->mean);
	jout_member_double(w, "min", v->min);
	jout_member_double(w, "max", v->max);
	for (size_t i = 0; i < sizeof list / sizeof *list; i++)
		jout_member_double(w, list[i] == 50 ? "median" : percentile_name(list[i], name),
		                   row_values_percentile(v, list[i]));
}

/* null without values */
static void put(struct jout *w, const char *key, struct row_values *v)
{
	jout_key(w, key);
	if (v->n == 0) {
		jout_null(w);
	} else {
		jout_begin_map(w);
		put_members(w, v);
		jout_end_map(w);
	}
	row_values_release(v);
}

static void put_values(struct jout *w, const char *key, const struct load *load, enum load_part which, row_value value,
                       double per)
{
	struct row_values v;
	row_values_of(&v, load, which, value, per);
	put(w, key, &v);
}

static void put_load(struct jout *w, const struct load *load)
{
	int64_t last = IPF_ABSENT;
	jout_key(w, "load_summary");
	jout_begin_map(w);
	jout_member_int(w, "count", load->sent);
	put_values(w, "schedule_delay", load, LOAD_SENT, lag, 1e9);
	for_load(load, row)
	{
		int64_t start = load_start_ns(load, row);
		last = last == IPF_ABSENT || start > last ? start : last;
	}
	if (!isnan(load_rate(load)) && last != IPF_ABSENT) {
		double s = (double)(last - load->begin_ns) / 1e9;
		jout_member_double(w, "send_duration", s);
		jout_member_double(w, "requested_rate", load_rate(load));
		jout_member_double(w, "achieved_rate", s > 0 ? (double)load->sent / s : NAN);
		jout_member_int(w, "concurrency", load_slots(load));
	}
	jout_end_map(w);
}

static void put_prompt_tokens(struct jout *w, const struct load *load, enum load_part which)
{
	struct row_values v;
	double cached = 0;
	for_load(load, row) if ((which == LOAD_OK) == row->ok && row_get(row, ROW_CACHED_TOKENS) != IPF_ABSENT)
		cached += (double)row_get(row, ROW_CACHED_TOKENS);
	row_values_of(&v, load, which, row_input, 1);
	jout_key(w, "prompt_tokens");
	jout_begin_map(w);
	jout_member_double(w, "total", v.sum);
	jout_member_double(w, "cached", cached);
	jout_member_double(w, "uncached", fmax(v.sum - cached, 0));
	put_members(w, &v);
	jout_end_map(w);
	row_values_release(&v);
}

/* The figure inference-perf compares with an objective; NULL: it has no such constraint. */
static const struct constraint {
	enum metric metric;
	const char *name;
	row_value value;
} constraints[] = {{METRIC_TTFT, "ttft", row_ttft},
                   {METRIC_TPOT, "tpot", row_tpot},
                   {METRIC_ITL_MEAN, "itl", itl},
                   {METRIC_NTPOT, "ntpot", ntpot},
                   {METRIC_E2E, "request_latency", row_e2e}};
enum { CONSTRAINTS = sizeof constraints / sizeof *constraints };

static const struct constraint *constraint_of(const struct objective *objective)
{
	for (int i = 0; i < CONSTRAINTS; i++)
		if (isnan(objective->percentile) && constraints[i].metric == objective->metric)
			return &constraints[i];
	return NULL;
}

/* Only successes count, by inference-perf's rule: failures do not lower the percentage. */
static void put_goodput(struct jout *w, const struct load *load)
{
	const struct slo *slo = load->run->slo;
	int64_t good = 0, met[OBJECTIVES_MOST] = {0};
	double tokens = 0, s = load->duration_s;
	char name[64];
	for (int i = 0; i < slo->count; i++)
		if (!constraint_of(&slo->list[i]))
			return;
	if (slo->count == 0 || load->ok == 0)
		return;
	for_load(load, row)
	{
		bool all = row->ok;
		for (int i = 0; row->ok && i < slo->count; i++) {
			bool within = constraint_of(&slo->list[i])->value(row) <= (double)slo->list[i].limit_ns;
			met[i] += within;
			all &= within;
		}
		good += all;
		tokens += all ? fmax(row_input(row), 0) + fmax(row_output(row), 0) : 0;
	}
	jout_key(w, "goodput_metrics");
	jout_begin_map(w);
	jout_member_double(w, "goodput_percentage", 100 * (double)good / (double)load->ok);
	jout_member_double(w, "request_goodput", (double)good / s);
	jout_member_double(w, "token_goodput", tokens / s);
	jout_member_int(w, "good_requests", good);
	jout_member_int(w, "total_requests", load->ok);
	for (int i = 0; i < slo->count; i++) {
		snprintf(name, sizeof name, "%s_attainment_percentage", constraint_of(&slo->list[i])->name);
		jout_member_double(w, name, 100 * (double)met[i] / (double)load->ok);
	}
	jout_end_map(w);
}

static void put_successes(struct jout *w, const struct load *load)
{
	struct row_values v;
	double s = load->duration_s;
	jout_key(w, "successes");
	jout_begin_map(w);
	jout_member_int(w, "count", load->ok);
	jout_key(w, "latency");
	jout_begin_map(w);
	put_values(w, "request_latency", load, LOAD_OK, row_e2e, 1e9);
	put_values(w, "normalized_time_per_output_token", load, LOAD_OK, ntpot, 1e9);
	put_values(w, "time_per_output_token", load, LOAD_OK, row_tpot, 1e9);
	put_values(w, "time_to_first_token", load, LOAD_OK, row_ttft, 1e9);
	row_values_of_gaps(&v, load, 1e9);
	put(w, "inter_token_latency", &v);
	jout_end_map(w);
	jout_key(w, "throughput");
	jout_begin_map(w);
	jout_member_double(w, "input_tokens_per_sec", (double)load->input_tokens / s);
	jout_member_double(w, "output_tokens_per_sec", (double)load->output_tokens / s);
	jout_member_double(w, "total_tokens_per_sec", (double)(load->input_tokens + load->output_tokens) / s);
	jout_member_double(w, "requests_per_sec", (double)load->ok / s);
	jout_end_map(w);
	put_prompt_tokens(w, load, LOAD_OK);
	put_values(w, "output_len", load, LOAD_OK, tokenized, 1);
	row_values_of(&v, load, LOAD_OK, row_output, 1);
	jout_key(w, "output_tokens");
	jout_begin_map(w);
	jout_member_double(w, "total", v.sum);
	put_members(w, &v);
	jout_end_map(w);
	row_values_release(&v);
	put_goodput(w, load);
	jout_end_map(w);
}

/* "429 - Rate Limit", "Timeout": by the status, else by the kind. */
static const char *label_of(const struct failure *f, char text[64])
{
	static const struct {
		int64_t status;
		const char *label;
	} labels[] = {{429, "Rate Limit"},
	              {500, "Internal Server Error"},
	              {502, "Bad Gateway"},
	              {503, "Service Unavailable"},
	              {504, "Gateway Timeout"}};
	const char *label = "other";
	if (strcmp(f->kind, "http-status") != 0 || f->status == IPF_ABSENT)
		return strcmp(f->kind, "timeout") == 0   ? "Timeout"
		       : strcmp(f->kind, "connect") == 0 ? "Connection Error"
		                                         : f->kind;
	for (size_t i = 0; i < sizeof labels / sizeof *labels; i++)
		if (labels[i].status == f->status)
			label = labels[i].label;
	snprintf(text, 64, "%lld - %s", (long long)f->status, label);
	return text;
}

/* A key of any text. */
static void put_key(struct jout *w, const char *key)
{
	jout_string0(w, key);
	buffer_byte(w->out, ':');
	w->comma = false;
}

/* Those of a label together, in the place of the first. */
static void put_labels(struct jout *w, const struct failure_tally *t)
{
	char one[64], other[64];
	jout_key(w, "by_label");
	jout_begin_map(w);
	for (int i = 0; i < t->count; i++) {
		int64_t count = 0;
		bool seen = false;
		const char *label = label_of(&t->list[i], one);
		for (int k = 0; k < t->count; k++)
			if (strcmp(label, label_of(&t->list[k], other)) == 0) {
				seen |= k < i;
				count += t->list[k].count;
			}
		if (seen)
			continue;
		put_key(w, label);
		jout_begin_map(w);
		jout_member_int(w, "count", count);
		jout_key(w, "messages");
		jout_begin_list(w);
		for (int k = i; k < t->count; k++)
			if (t->list[k].text[0] && strcmp(label, label_of(&t->list[k], other)) == 0) {
				jout_begin_map(w);
				jout_member_string(w, "message", slice_of(t->list[k].text));
				jout_end_map(w);
			}
		jout_end_list(w);
		jout_end_map(w);
	}
	jout_end_map(w);
}

static void render(const struct report *report, struct buffer *out)
{
	struct jout w = {.out = out};
	struct load load;
	load_init(&load, report, LOAD_ALL);
	jout_begin_map(&w);
	jout_member_double(&w, "benchmark_time_seconds", load.duration_s);
	put_load(&w, &load);
	put_successes(&w, &load);
	jout_key(&w, "failures");
	jout_begin_map(&w);
	jout_member_int(&w, "count", load.failed);
	put_values(&w, "request_latency", &load, LOAD_FAILED, whole, 1e9);
	put_prompt_tokens(&w, &load, LOAD_FAILED);
	put_labels(&w, &report->run->failures);
	jout_end_map(&w);
	jout_end_map(&w);
	buffer_byte(out, '\n');
}

/* ---- one request after another ---- */

static void put_times(struct jout *w, const char *key, const struct load *load, const struct row *row,
                      const struct request_chunks *times)
{
	jout_key(w, key);
	jout_begin_list(w);
	for (size_t i = 0; i < times->count; i++)
		jout_double(w, (times->ns[i] + (double)load->run->parts[row->part].shift_ns) / 1e9);
	jout_end_list(w);
}

static void put_request(struct jout *w, const struct load *load, const struct row *row, const struct result *result,
                        struct request_chunks *times)
{
	bool has_times = request_chunks_read(times, row, result);
	jout_begin_map(w);
	jout_member_double(w, "start_time", (double)load_start_ns(load, row) / 1e9);
	jout_member_double(w, "end_time", (double)load_end_ns(load, row) / 1e9);
	jout_member_value(w, "response", result->text);
	jout_key(w, "info");
	jout_begin_map(w);
	jout_key(w, "request_metrics");
	jout_begin_map(w);
	jout_key(w, "text");
	jout_begin_map(w);
	jout_member_int(w, "input_tokens", row_get(row, ROW_INPUT_TOKENS));
	jout_end_map(w);
	jout_end_map(w);
	if (row->ok) {
		jout_key(w, "response_metrics");
		jout_begin_map(w);
		jout_member_int(w, "output_tokens", row_get(row, ROW_OUTPUT_TOKENS));
		if (has_times)
			put_times(w, "chunk_times", load, row, times);
		jout_end_map(w);
	}
	jout_end_map(w);
	jout_key(w, "error");
	if (row->ok) {
		jout_null(w);
	} else {
		jout_begin_map(w);
		jout_member_value(w, "error_type", request_error_kind(row, result));
		jout_member_value(w, "error_msg", request_error_text(row, result));
		jout_end_map(w);
	}
	jout_end_map(w);
}

static void render_requests(const struct report *report, struct buffer *out)
{
	struct jout w = {.out = out};
	struct request_chunks times = {0};
	struct result result;
	struct load load;
	load_init(&load, report, LOAD_ALL);
	jout_begin_list(&w);
	for_load(&load, row)
	{
		if (!run_data_line(report->run, row, &result))
			break;
		put_request(&w, &load, row, &result, &times);
	}
	jout_end_list(&w);
	buffer_byte(out, '\n');
	request_chunks_release(&times);
}

const struct report_format format_inference_perf = {
	.times = true, .render = render, .tool = &tool_rules[TOOL_INFERENCE_PERF]};
const struct report_format format_inference_perf_requests = {
	.times = true, .render = render_requests, .tool = &tool_rules[TOOL_INFERENCE_PERF]};
