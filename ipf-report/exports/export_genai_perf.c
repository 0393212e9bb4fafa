/* -f genai-perf, genai-perf-csv: profile_export_genai_perf.json and .csv of genai-perf, the predecessor of AIPerf, in
 * triton-inference-server/perf_analyzer at 263c5f6e (json_exporter.py, csv_exporter.py, statistics.py,
 * llm_profile_data_parser.py). ipf-exports(5) has a table of it.
 *
 * All measured stages are one run. The duration ends with the last content of a success. */
#include "exports/tagged_metrics.h"

#include <math.h>

static double throughput_per_user(const struct row *row)
{
	return row_itl(row) > 0 ? 1e9 / row_itl(row) : NAN;
}

static double ttst(const struct row *row)
{
	return row_metric(row, METRIC_TTST);
}

/* In the order of the CSV. */
static void add_metrics(struct tagged_metrics *m)
{
	tagged_add_ms(m, "time_to_first_token", "Time To First Token", row_ttft);
	tagged_add_ms(m, "time_to_second_token", "Time To Second Token", ttst);
	tagged_add_ms(m, "request_latency", "Request Latency", row_e2e);
	tagged_add_ms(m, "inter_token_latency", "Inter Token Latency", row_itl);
	tagged_add(m, "output_token_throughput_per_user", "Output Token Throughput Per User", "tokens/sec/user", LOAD_OK,
	           throughput_per_user);
	tagged_add(m, "output_sequence_length", "Output Sequence Length", "tokens", LOAD_OK, row_output);
	tagged_add(m, "input_sequence_length", "Input Sequence Length", "tokens", LOAD_OK, row_input);
}

static void add_totals(struct tagged_metrics *m, const char *per_s)
{
	double s = m->load->duration_s, good = load_good_with_values(m->load);
	tagged_add_one(m, "output_token_throughput", "Output Token Throughput", "tokens/sec",
	               (double)m->load->output_tokens / s);
	tagged_add_one(m, "request_throughput", "Request Throughput", per_s, (double)m->load->ok / s);
	if (!isnan(good)) /* without objectives, no empty line */
		tagged_add_one(m, "request_goodput", "Request Goodput", per_s, good / s);
	tagged_add_one(m, "request_count", "Request Count", "count", (double)m->load->ok);
}

static void render_json(const struct report *report, struct buffer *out)
{
	struct jout w = {.out = out};
	struct load load;
	load_init(&load, report, LOAD_ALL);
	struct tagged_metrics m = {.load = &load};
	add_metrics(&m);
	add_totals(&m, "requests/sec");
	jout_begin_map(&w);
	tagged_metrics_json(&m, &w, false);
	jout_end_map(&w);
	buffer_byte(out, '\n');
	tagged_metrics_release(&m);
}

static void render_csv(const struct report *report, struct buffer *out)
{
	static const char *const statistics[] = {"avg", "min", "max", "p99", "p95", "p90", "p75",
	                                         "p50", "p25", "p10", "p5",  "p1",  NULL};
	static const struct tagged_csv form = {.statistics = statistics, .empty = true, .thousands = true};
	struct load load;
	load_init(&load, report, LOAD_ALL);
	struct tagged_metrics m = {.load = &load};
	add_metrics(&m);
	tagged_metrics_csv(&m, &form, out);
	tagged_metrics_release(&m);
	add_totals(&m, "per sec");
	buffer_text(out, "\r\n");
	tagged_metrics_csv(&m, &form, out);
	tagged_metrics_release(&m);
}

const struct report_format format_genai_perf = {
	.times = true, .render = render_json, .tool = &tool_rules[TOOL_GENAI_PERF]};
const struct report_format format_genai_perf_csv = {
	.times = true, .render = render_csv, .tool = &tool_rules[TOOL_GENAI_PERF]};
