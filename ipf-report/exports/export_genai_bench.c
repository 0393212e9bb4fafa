/* -f genai-bench: the file of a run of genai-bench 0.0.5 (genai_bench/metrics/metrics.py, request_metrics_collector.py,
 * aggregated_metrics_collector.py; the same at 7fd04d8). ipf-exports(5) has a table of it.
 *
 * Seconds. A request ends with its response. */
#include "exports/row_values.h"
#include "json/jout.h"

#include "absent.h"

#include <math.h>
#include <string.h>

static double ttft(const struct row *row)
{
	return row_ttft(row) / 1e9;
}

static double e2e_latency(const struct row *row)
{
	return row_stream(row) / 1e9;
}

static double output_latency(const struct row *row)
{
	return e2e_latency(row) - ttft(row);
}

/* Too short a time says nothing about speed, by its definition. */
static double tpot(const struct row *row)
{
	return row_get(row, ROW_OUTPUT_TOKENS) > 1 && output_latency(row) >= 0.001
	           ? output_latency(row) / (double)(row_get(row, ROW_OUTPUT_TOKENS) - 1)
	           : NAN;
}

static double output_inference_speed(const struct row *row)
{
	return 1 / tpot(row);
}

static double output_throughput(const struct row *row)
{
	return row_get(row, ROW_OUTPUT_TOKENS) > 1 && output_latency(row) > 0
	           ? (double)(row_get(row, ROW_OUTPUT_TOKENS) - 1) / output_latency(row)
	           : NAN;
}

static double input_throughput(const struct row *row)
{
	return ttft(row) > 0 ? row_input(row) / ttft(row) : NAN;
}

static double total_tokens(const struct row *row)
{
	return row_input(row) + row_output(row);
}

static double reasoning(const struct row *row)
{
	return row_get(row, ROW_REASONING_TOKENS) == IPF_ABSENT ? 0 : (double)row_get(row, ROW_REASONING_TOKENS);
}

static const struct {
	const char *name;
	row_value value;
	bool count;
} figures[] = {{"ttft", ttft, false},
               {"tpot", tpot, false},
               {"e2e_latency", e2e_latency, false},
               {"output_latency", output_latency, false},
               {"output_inference_speed", output_inference_speed, false},
               {"num_input_tokens", row_input, true},
               {"num_output_tokens", row_output, true},
               {"num_reasoning_tokens", reasoning, true},
               {"total_tokens", total_tokens, true},
               {"input_throughput", input_throughput, false},
               {"output_throughput", output_throughput, false}};
enum { FIGURES = sizeof figures / sizeof *figures, CODES_MOST = 64 };

static void put_statistics(struct jout *w, const struct load *load, const char *name, row_value value)
{
	static const int percentiles[] = {25, 50, 75, 90, 95, 99};
	struct row_values v;
	char key[8];
	row_values_of(&v, load, LOAD_OK, value, 1);
	jout_key(w, name);
	jout_begin_map(w);
	jout_member_double(w, "min", v.min);
	jout_member_double(w, "max", v.max);
	jout_member_double(w, "mean", v.mean);
	jout_member_double(w, "stddev", v.std);
	if (v.n > 0)
		jout_member_double(w, "sum", v.sum);
	for (size_t i = 0; i < sizeof percentiles / sizeof *percentiles; i++) {
		snprintf(key, sizeof key, "p%d", percentiles[i]);
		jout_member_double(w, key, row_values_percentile(&v, percentiles[i]));
	}
	jout_end_map(w);
	row_values_release(&v);
}

/* As its client: the HTTP status; 408 for a timeout, 503 without a connection, otherwise 500. */
static int64_t error_code(const struct result *result)
{
	if (result->status != IPF_ABSENT && result->status >= 300)
		return result->status;
	return slice_is(result->error_kind, "\"timeout\"")                                              ? 408
	       : slice_is(result->error_kind, "\"connect\"") || slice_is(result->error_kind, "\"tls\"") ? 503
	                                                                                                : 500;
}

struct code_counts {
	int64_t code[CODES_MOST], count[CODES_MOST];
	int used;
};

static void count_code(struct code_counts *codes, int64_t code)
{
	int i = 0;
	while (i < codes->used && codes->code[i] != code)
		i++;
	if (i == CODES_MOST)
		return;
	if (i == codes->used)
		codes->code[codes->used++] = code;
	codes->count[i]++;
}

static void put_codes(struct jout *w, const struct load *load)
{
	struct code_counts codes = {.used = 0};
	struct result result;
	char key[24];
	for_load(load, row) if (!row->ok && run_data_line(load->run, row, &result)) count_code(&codes, error_code(&result));
	jout_key(w, "error_codes_frequency");
	jout_begin_map(w);
	for (int i = 0; i < codes.used; i++) {
		snprintf(key, sizeof key, "%lld", (long long)codes.code[i]);
		jout_member_int(w, key, codes.count[i]);
	}
	jout_end_map(w);
}

static void put_aggregate(struct jout *w, const struct load *load)
{
	double s = load->duration_s;
	int64_t slots = load_slots(load);
	jout_key(w, "aggregated_metrics");
	jout_begin_map(w);
	jout_member_string(w, "scenario", slice_of(load_dataset(load) ? load_dataset(load) : "dataset"));
	jout_member_int(w, "num_concurrency", slots == IPF_ABSENT ? load_peak(load, METRIC_STREAM) : slots);
	jout_member_int(w, "batch_size", 1);
	jout_member_string(w, "iteration_type", slice_of("num_concurrency"));
	jout_member_double(w, "run_duration", s);
	jout_member_double(w, "mean_output_throughput_tokens_per_s", (double)load->output_tokens / s);
	jout_member_double(w, "mean_input_throughput_tokens_per_s", (double)load->input_tokens / s);
	jout_member_double(w, "mean_total_tokens_throughput_tokens_per_s",
	                   (double)(load->input_tokens + load->output_tokens) / s);
	jout_member_double(w, "requests_per_second", (double)load->ok / s);
	put_codes(w, load);
	jout_member_double(w, "error_rate", load->sent ? (double)load->failed / (double)load->sent : NAN);
	jout_member_int(w, "num_error_requests", load->failed);
	jout_member_int(w, "num_completed_requests", load->ok);
	jout_member_int(w, "num_requests", load->sent);
	jout_key(w, "stats");
	jout_begin_map(w);
	for (int i = 0; i < FIGURES; i++)
		put_statistics(w, load, figures[i].name, figures[i].value);
	jout_end_map(w);
	jout_end_map(w);
}

static void put_request(struct jout *w, const struct row *row, const struct result *result)
{
	jout_begin_map(w);
	for (int i = 0; i < FIGURES; i++) {
		double value = row->ok ? figures[i].value(row) : NAN;
		jout_key(w, figures[i].name);
		if (isnan(value))
			jout_null(w);
		else if (figures[i].count)
			jout_int(w, (int64_t)value);
		else
			jout_double(w, value);
	}
	jout_key(w, "audio_throughput");
	jout_null(w);
	jout_key(w, "error_code");
	if (row->ok)
		jout_null(w);
	else
		jout_int(w, error_code(result));
	jout_key(w, "error_message");
	if (row->ok)
		jout_null(w);
	else
		jout_value(w, result->error_text.data ? result->error_text : result->error_kind);
	jout_end_map(w);
}

static void render(const struct report *report, struct buffer *out)
{
	struct jout w = {.out = out};
	struct result result;
	struct load load;
	load_init(&load, report, LOAD_ALL);
	jout_begin_map(&w);
	put_aggregate(&w, &load);
	jout_key(&w, "individual_request_metrics");
	jout_begin_list(&w);
	for_load(&load, row)
	{
		if (!run_data_line(report->run, row, &result))
			break;
		put_request(&w, row, &result);
	}
	jout_end_list(&w);
	jout_member_string(&w, "_time_unit", slice_of("s"));
	jout_end_map(&w);
	buffer_byte(out, '\n');
}

const struct report_format format_genai_bench = {.times = true, .render = render, .lines = true};
