/* -f sglang, sglang-detailed: the result file of SGLang's serving benchmark (--output-file, --output-details,
 * --cache-report) of SGLang 0.5.23, sglang/benchmark/serving.py; JSON Lines, one for each measured stage.
 * ipf-exports(5) has a table of it.
 */
#include "exports/request_lists.h"

#include "absent.h"

#include <math.h>
#include <string.h>

static const char *backend(const char *api)
{
	static const char *const names[][2] = {{"openai-chat", "sglang-oai-chat"},
	                                       {"openai-completions", "sglang-oai"},
	                                       {"vllm-generate", "vllm"},
	                                       {"triton-generate", "trt"}};
	for (size_t i = 0; api && i < sizeof names / sizeof *names; i++)
		if (strcmp(api, names[i][0]) == 0)
			return names[i][1];
	return api;
}

static double retokenized(const struct row *row)
{
	return row_get(row, ROW_OUTPUT_TOKENIZER) == IPF_ABSENT ? NAN : (double)row_get(row, ROW_OUTPUT_TOKENIZER);
}

static double cached(const struct row *row)
{
	return row_get(row, ROW_CACHED_TOKENS) == IPF_ABSENT ? NAN : (double)row_get(row, ROW_CACHED_TOKENS);
}

static void put_setting(struct jout *w, const struct load *load)
{
	jout_key(w, "tag");
	if (load->one)
		jout_string0(w, load->one->name);
	else
		jout_null(w);
	jout_member_string(w, "backend", slice_of(backend(load_api(load))));
	jout_member_string(w, "dataset_name", slice_of(load_dataset(load)));
	if (load->one && strcmp(load->one->kind, "replay") == 0)
		jout_member_string(w, "request_rate", slice_of("trace"));
	else
		jout_member_double(w, "request_rate", load_rate(load));
	jout_key(w, "max_concurrency");
	if (load_slots(load) != IPF_ABSENT)
		jout_int(w, load_slots(load));
	else
		jout_null(w);
}

static void put_totals(struct jout *w, const struct load *load)
{
	double s = load->duration_s;
	struct row_values v;
	jout_member_double(w, "duration", s);
	jout_member_int(w, "completed", load->ok);
	jout_member_int(w, "total_input_tokens", load->input_tokens);
	jout_member_int(w, "total_output_tokens", load->output_tokens);
	row_values_of(&v, load, LOAD_OK, retokenized, 1);
	if (v.n > 0 && v.n == load->ok)
		jout_member_double(w, "total_output_tokens_retokenized", v.sum);
	row_values_release(&v);
	jout_member_double(w, "request_throughput", (double)load->ok / s);
	jout_member_double(w, "input_throughput", (double)load->input_tokens / s);
	jout_member_double(w, "output_throughput", (double)load->output_tokens / s);
	jout_member_double(w, "total_throughput", (double)(load->input_tokens + load->output_tokens) / s);
}

static void put_metric(struct jout *w, const char *name, struct row_values *v)
{
	static const int percentiles[] = {90, 95, 99};
	char key[64];
	snprintf(key, sizeof key, "mean_%s_ms", name);
	jout_member_double(w, key, v->mean);
	snprintf(key, sizeof key, "median_%s_ms", name);
	jout_member_double(w, key, row_values_percentile(v, 50));
	snprintf(key, sizeof key, "std_%s_ms", name);
	jout_member_double(w, key, v->std);
	for (size_t i = 0; i < sizeof percentiles / sizeof *percentiles; i++) {
		snprintf(key, sizeof key, "p%d_%s_ms", percentiles[i], name);
		jout_member_double(w, key, row_values_percentile(v, percentiles[i]));
	}
	row_values_release(v);
}

static void put_latencies(struct jout *w, const struct load *load)
{
	struct row_values v;
	row_values_of(&v, load, LOAD_OK, row_e2e, 1e6);
	double sum_ms = v.sum;
	put_metric(w, "e2e_latency", &v);
	row_values_of(&v, load, LOAD_OK, row_ttft, 1e6);
	put_metric(w, "ttft", &v);
	row_values_of(&v, load, LOAD_OK, row_tpot, 1e6);
	put_metric(w, "tpot", &v);
	row_values_of_gaps(&v, load, 1e6);
	put_metric(w, "itl", &v);
	jout_member_double(w, "concurrency", sum_ms / 1000 / load->duration_s);
}

static void put_cache(struct jout *w, const struct load *load)
{
	static const char *const unknown[] = {"device_cached_tokens", "host_cached_tokens", "storage_cached_tokens",
	                                      "storage_backend"};
	struct row_values v;
	row_values_of(&v, load, LOAD_OK, cached, 1);
	if (v.n > 0 && load->input_tokens > 0) {
		jout_key(w, "cache_report");
		jout_begin_map(w);
		jout_member_int(w, "total_prompt_tokens", load->input_tokens);
		jout_member_int(w, "total_cached_tokens", (int64_t)v.sum);
		jout_member_double(w, "cache_hit_rate_pct", round(v.sum / (double)load->input_tokens * 10000) / 100);
		for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
			jout_key(w, unknown[i]);
			jout_null(w);
		}
		jout_end_map(w);
	}
	row_values_release(&v);
}

static void put_lists(struct jout *w, const struct load *load, const struct request_lists *lists)
{
	jout_key(w, "input_lens");
	request_list_inputs(w, load);
	jout_key(w, "output_lens");
	request_list_counts(w, load, row_output);
	jout_key(w, "ttfts");
	request_list_times(w, load, row_ttft);
	if (lists->events) {
		jout_key(w, "itls");
		request_list_gaps(w, load);
	}
	if (lists->texts) {
		jout_key(w, "generated_texts");
		request_list_texts(w, load);
	}
	jout_key(w, "errors");
	request_list_errors(w, load);
	jout_key(w, "cached_tokens");
	request_list_counts(w, load, cached);
}

static void put_load(struct jout *w, const struct load *load, bool detailed)
{
	struct request_lists lists = {.tokens_per_s_peak = NAN};
	if (detailed)
		lists = request_lists_of(load);
	put_setting(w, load);
	put_totals(w, load);
	put_latencies(w, load);
	jout_member_double(w, "max_output_tokens_per_s", lists.tokens_per_s_peak);
	jout_member_int(w, "max_concurrent_requests", load_peak_second(load, METRIC_STREAM));
	put_cache(w, load);
	if (detailed)
		put_lists(w, load, &lists);
}

static void render_plain(const struct report *report, struct buffer *out)
{
	load_documents(report, out, put_load, false);
}

static void render_detailed(const struct report *report, struct buffer *out)
{
	load_documents(report, out, put_load, true);
}

const struct report_format format_sglang = {.times = true, .render = render_plain, .tool = &tool_rules[TOOL_SGLANG]};
const struct report_format format_sglang_detailed = {
	.times = true, .render = render_detailed, .tool = &tool_rules[TOOL_SGLANG]};
