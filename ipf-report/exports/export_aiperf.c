/* -f aiperf, aiperf-jsonl, aiperf-csv: profile_export_aiperf.json, profile_export.jsonl and profile_export_aiperf.csv
 * of AIPerf 0.13.0 (export_models.py, schema 1.4; record_models.py; metrics_csv_exporter.py). ipf-exports(5) has a
 * table.
 *
 * All measured stages are one run. The duration ends with the last content of a success. */
#include "exports/request_lists.h"
#include "exports/tagged_metrics.h"

#include "absent.h"
#include "clock.h"

#include <math.h>
#include <string.h>

static double seconds(double ns)
{
	return ns / 1e9;
}

static double e2e_output_throughput(const struct row *row)
{
	return row_e2e(row) > 0 ? row_output(row) / seconds(row_e2e(row)) : NAN;
}

static double output_throughput_per_user(const struct row *row)
{
	return row_itl(row) > 0 ? 1 / seconds(row_itl(row)) : NAN;
}

static double prefill_throughput_per_user(const struct row *row)
{
	return row_ttft(row) > 0 ? row_input(row) / seconds(row_ttft(row)) : NAN;
}

static double reasoning(const struct row *row)
{
	return row_get(row, ROW_REASONING_TOKENS) == IPF_ABSENT ? NAN : (double)row_get(row, ROW_REASONING_TOKENS);
}

static double output_without_reasoning(const struct row *row)
{
	return row_output(row) -
	       (row_get(row, ROW_REASONING_TOKENS) == IPF_ABSENT ? 0 : (double)row_get(row, ROW_REASONING_TOKENS));
}

static double cached(const struct row *row)
{
	return row_get(row, ROW_CACHED_TOKENS) == IPF_ABSENT ? NAN : (double)row_get(row, ROW_CACHED_TOKENS);
}

static double ttfa(const struct row *row)
{
	return row_metric(row, METRIC_TTFA);
}

static double ttst(const struct row *row)
{
	return row_metric(row, METRIC_TTST);
}

static double sum_of(const struct load *load, enum load_part which, row_value value)
{
	struct row_values v;
	row_values_of(&v, load, which, value, 1);
	double sum = v.n ? v.sum : NAN;
	row_values_release(&v);
	return sum;
}

/* By tag, as the CSV sorts them. */
static void add_metrics(struct tagged_metrics *m)
{
	const char *per_user = "tokens/sec/user", *tokens = "tokens";
	tagged_add(m, "e2e_output_token_throughput", "E2E Output Token Throughput", per_user, LOAD_OK,
	           e2e_output_throughput);
	tagged_add(m, "error_isl", "Error Input Sequence Length", tokens, LOAD_FAILED, row_input);
	tagged_add(m, "input_sequence_length", "Input Sequence Length", tokens, LOAD_OK, row_input);
	tagged_add_gaps(m, "inter_chunk_latency", "Inter Chunk Latency");
	tagged_add_ms(m, "inter_token_latency", "Inter Token Latency", row_itl);
	tagged_add(m, "output_sequence_length", "Output Sequence Length", tokens, LOAD_OK, row_output);
	tagged_add(m, "output_token_count", "Output Token Count", tokens, LOAD_OK, output_without_reasoning);
	tagged_add(m, "output_token_throughput_per_user", "Output Token Throughput Per User", per_user, LOAD_OK,
	           output_throughput_per_user);
	tagged_add(m, "prefill_throughput_per_user", "Prefill Throughput Per User", per_user, LOAD_OK,
	           prefill_throughput_per_user);
	tagged_add(m, "reasoning_token_count", "Reasoning Token Count", tokens, LOAD_OK, reasoning);
	tagged_add_ms(m, "request_latency", "Request Latency", row_e2e);
	tagged_add_ms(m, "time_to_first_output_token", "Time to First Output Token", ttfa);
	tagged_add_ms(m, "time_to_first_token", "Time to First Token", row_ttft);
	tagged_add_ms(m, "time_to_second_token", "Time to Second Token", ttst);
	tagged_add(m, "usage_prompt_cache_read_tokens", "Usage Prompt Cache Read Tokens", tokens, LOAD_OK, cached);
}

static void add_totals(struct tagged_metrics *m)
{
	const struct load *load = m->load;
	double s = load->duration_s, good = load_good_with_values(load);
	const char *tokens = "tokens", *requests = "requests", *tokens_per_s = "tokens/sec", *per_s = "requests/sec";
	tagged_add_one(m, "benchmark_duration", "Benchmark Duration", "sec", s);
	tagged_add_one(m, "error_request_count", "Error Request Count", requests,
	               load->failed ? (double)load->failed : NAN);
	tagged_add_one(m, "good_request_count", "Good Request Count", requests, good);
	tagged_add_one(m, "goodput", "Goodput", per_s, good / s);
	tagged_add_one(m, "output_token_throughput", "Output Token Throughput", tokens_per_s,
	               (double)load->output_tokens / s);
	tagged_add_one(m, "request_count", "Request Count", requests, load->ok ? (double)load->ok : NAN);
	tagged_add_one(m, "request_error_rate", "Request Error Rate", "%",
	               load->sent ? 100 * (double)load->failed / (double)load->sent : NAN);
	tagged_add_one(m, "request_throughput", "Request Throughput", per_s, (double)load->ok / s);
	tagged_add_one(m, "total_error_isl", "Total Error Input Sequence Length", tokens,
	               sum_of(load, LOAD_FAILED, row_input));
	tagged_add_one(m, "total_isl", "Total Input Sequence Length", tokens, sum_of(load, LOAD_OK, row_input));
	tagged_add_one(m, "total_osl", "Total Output Sequence Length", tokens, sum_of(load, LOAD_OK, row_output));
	tagged_add_one(m, "total_output_tokens", "Total Output Tokens", tokens,
	               sum_of(load, LOAD_OK, output_without_reasoning));
	tagged_add_one(m, "total_reasoning_tokens", "Total Reasoning Tokens", tokens, sum_of(load, LOAD_OK, reasoning));
	tagged_add_one(m, "total_token_throughput", "Total Token Throughput", tokens_per_s,
	               (double)(load->input_tokens + load->output_tokens) / s);
}

/* AIPerf's times have no zone. */
static void put_time(struct jout *w, const char *key, int64_t unix_ns)
{
	char text[32];
	if (unix_ns == IPF_ABSENT)
		return;
	clock_format(unix_ns, text);
	jout_member_string(w, key, (struct slice){text, strlen(text) - 1});
}

static void put_errors(struct jout *w, const struct failure_tally *t)
{
	jout_key(w, "error_summary");
	jout_begin_list(w);
	for (int i = 0; i < t->count; i++) {
		jout_begin_map(w);
		jout_key(w, "error_details");
		jout_begin_map(w);
		jout_member_int(w, "code", t->list[i].status);
		jout_member_string(w, "type", slice_of(t->list[i].kind));
		jout_member_string(w, "message", slice_of(t->list[i].text[0] ? t->list[i].text : t->list[i].kind));
		jout_end_map(w);
		jout_member_int(w, "count", t->list[i].count);
		jout_end_map(w);
	}
	jout_end_list(w);
}

static void render_json(const struct report *report, struct buffer *out)
{
	struct jout w = {.out = out};
	struct load load;
	load_init(&load, report, LOAD_ALL);
	struct tagged_metrics m = {.load = &load};
	add_metrics(&m);
	add_totals(&m);
	jout_begin_map(&w);
	jout_member_string(&w, "schema_version", slice_of("1.4"));
	tagged_metrics_json(&m, &w, true);
	json_t *seed = json_object_get(report->run_info, "seed");
	jout_key(&w, "run_info");
	jout_begin_map(&w);
	if (json_is_integer(seed))
		jout_member_int(&w, "random_seed", json_integer_value(seed));
	jout_member_string(&w, "run_label", slice_of(json_string_value(json_object_get(report->run_info, "name"))));
	jout_end_map(&w);
	put_errors(&w, &report->run->failures);
	put_time(&w, "start_time", load.begin_unix_ns);
	put_time(&w, "end_time", load.end_unix_ns);
	jout_end_map(&w);
	buffer_byte(out, '\n');
	tagged_metrics_release(&m);
}

static void render_csv(const struct report *report, struct buffer *out)
{
	static const char *const statistics[] = {"avg", "min", "max", "sum", "p1",  "p5",  "p10", "p25",
	                                         "p50", "p75", "p90", "p95", "p99", "std", NULL};
	static const struct tagged_csv form = {.statistics = statistics, .bare_unit = "requests"};
	struct load load;
	load_init(&load, report, LOAD_ALL);
	struct tagged_metrics m = {.load = &load};
	add_metrics(&m);
	tagged_metrics_csv(&m, &form, out);
	tagged_metrics_release(&m);
	add_totals(&m);
	buffer_text(out, "\r\n");
	tagged_metrics_csv(&m, &form, out);
	tagged_metrics_release(&m);
}

/* ---- JSON Lines ---- */

static void put_value(struct jout *w, const char *tag, const char *unit, double value)
{
	if (isnan(value))
		return;
	jout_key(w, tag);
	jout_begin_map(w);
	jout_member_double(w, "value", value);
	jout_member_string(w, "unit", slice_of(unit));
	jout_end_map(w);
}

static void put_gaps(struct jout *w, const struct request_chunks *chunks)
{
	if (chunks->count < 2)
		return;
	jout_key(w, "inter_chunk_latency");
	jout_begin_map(w);
	jout_key(w, "value");
	jout_begin_list(w);
	for (size_t i = 1; i < chunks->count; i++)
		jout_double(w, (chunks->ns[i] - chunks->ns[i - 1]) / 1e6);
	jout_end_list(w);
	jout_member_string(w, "unit", slice_of("ms"));
	jout_end_map(w);
}

static void put_metrics(struct jout *w, const struct row *row, const struct request_chunks *chunks)
{
	jout_key(w, "metrics");
	jout_begin_map(w);
	if (row->ok) {
		put_value(w, "request_latency", "ms", row_e2e(row) / 1e6);
		put_value(w, "time_to_first_token", "ms", row_ttft(row) / 1e6);
		put_value(w, "time_to_second_token", "ms", ttst(row) / 1e6);
		put_value(w, "time_to_first_output_token", "ms", ttfa(row) / 1e6);
		put_value(w, "inter_token_latency", "ms", row_itl(row) / 1e6);
		put_gaps(w, chunks);
		put_value(w, "input_sequence_length", "tokens", row_input(row));
		put_value(w, "output_sequence_length", "tokens", row_output(row));
		put_value(w, "output_token_count", "tokens", output_without_reasoning(row));
		put_value(w, "reasoning_token_count", "tokens", reasoning(row));
		put_value(w, "usage_prompt_cache_read_tokens", "tokens", cached(row));
		put_value(w, "output_token_throughput_per_user", "tokens/sec/user", output_throughput_per_user(row));
		put_value(w, "e2e_output_token_throughput", "tokens/sec/user", e2e_output_throughput(row));
		put_value(w, "prefill_throughput_per_user", "tokens/sec/user", prefill_throughput_per_user(row));
	} else {
		put_value(w, "error_isl", "tokens", row_input(row));
	}
	jout_end_map(w);
}

static void put_metadata(struct jout *w, const struct load *load, const struct row *row, const struct result *result)
{
	int64_t t0 = load->run->parts[row->part].t0_ns;
	bool dated = t0 != IPF_ABSENT && !load->report->reproducible;
	int64_t base = dated ? t0 : load->run->parts[row->part].shift_ns;
	jout_key(w, "metadata");
	jout_begin_map(w);
	jout_member_int(w, "session_num", row->n);
	jout_member_value(w, "x_request_id", result->id);
	jout_member_value(w, "x_correlation_id", result->session);
	jout_member_value(w, "conversation_id", result->session);
	jout_member_int(w, "turn_index", result->turn);
	if (row->due_ns != IPF_ABSENT)
		jout_member_int(w, "credit_issued_ns", base + row->due_ns);
	jout_member_int(w, "request_start_ns", base + row->start_ns);
	jout_member_int(w, "request_end_ns", base + (row->end_ns == IPF_ABSENT ? row->start_ns : row->end_ns));
	jout_member_string(w, "worker_id", slice_of(load->run->parts[row->part].name));
	jout_member_string(w, "record_processor_id", slice_of("ipf-collect"));
	jout_member_string(w, "benchmark_phase", slice_of("profiling"));
	jout_key(w, "was_cancelled");
	jout_bool(w, row->error == VERDICT_CANCELLED);
	jout_end_map(w);
}

static void put_error(struct jout *w, const struct row *row, const struct result *result)
{
	jout_key(w, "error");
	if (row->ok) {
		jout_null(w);
		return;
	}
	jout_begin_map(w);
	jout_member_int(w, "code", result->status);
	jout_member_value(w, "type", request_error_kind(row, result));
	jout_member_value(w, "message", request_error_text(row, result));
	jout_end_map(w);
}

static void render_jsonl(const struct report *report, struct buffer *out)
{
	struct request_chunks chunks = {0};
	struct result result;
	struct load load;
	load_init(&load, report, LOAD_ALL);
	for_load(&load, row)
	{
		struct jout w = {.out = out};
		if (!run_data_line(report->run, row, &result))
			break;
		request_chunks_read(&chunks, row, &result);
		jout_begin_map(&w);
		put_metadata(&w, &load, row, &result);
		put_metrics(&w, row, &chunks);
		put_error(&w, row, &result);
		jout_end_map(&w);
		buffer_byte(out, '\n');
	}
	request_chunks_release(&chunks);
}

const struct report_format format_aiperf = {.times = true, .render = render_json, .tool = &tool_rules[TOOL_AIPERF]};
const struct report_format format_aiperf_csv = {.times = true, .render = render_csv, .tool = &tool_rules[TOOL_AIPERF]};
const struct report_format format_aiperf_jsonl = {
	.times = true, .render = render_jsonl, .tool = &tool_rules[TOOL_AIPERF]};
