/* -f vllm, vllm-detailed: the result file of `vllm bench serve` (--save-result, --append-result, --save-detailed) of
 * vLLM 0.33.0, vllm/benchmarks/serve.py; one line of JSON for each measured stage. ipf-exports(5) has a table of it. */
#include "exports/request_lists.h"

#include "absent.h"

#include <math.h>
#include <string.h>

/* vLLM's name of a backend. */
static const char *backend(const char *api)
{
	static const char *const names[][2] = {{"openai-completions", "openai"}, {"vllm-generate", "vllm"}};
	for (size_t i = 0; api && i < sizeof names / sizeof *names; i++)
		if (strcmp(api, names[i][0]) == 0)
			return names[i][1];
	return api;
}

static void member_text(struct jout *w, const char *key, const char *text)
{
	jout_key(w, key);
	if (text)
		jout_string0(w, text);
	else
		jout_null(w);
}

/* A note of this name would be a second member. */
static const char *const own_members[] = {"date",
                                          "endpoint_type",
                                          "backend",
                                          "label",
                                          "model_id",
                                          "tokenizer_id",
                                          "num_prompts",
                                          "request_rate",
                                          "burstiness",
                                          "max_concurrency",
                                          "duration",
                                          "completed",
                                          "failed",
                                          "total_input_tokens",
                                          "total_output_tokens",
                                          "request_throughput",
                                          "request_goodput",
                                          "output_throughput",
                                          "total_token_throughput",
                                          "input_lens",
                                          "output_lens",
                                          "ttfts",
                                          "itls",
                                          "latencies",
                                          "start_times",
                                          "queue_times",
                                          "generated_texts",
                                          "errors",
                                          "max_output_tokens_per_s",
                                          "max_concurrent_requests",
                                          "rtfx",
                                          "*_ms",
                                          NULL};

static void put_setting(struct jout *w, const struct load *load)
{
	struct load_date date = load_date(load->end_unix_ns);
	if (*date.text)
		member_text(w, "date", date.text);
	if (load_api(load)) {
		member_text(w, "endpoint_type", backend(load_api(load)));
		member_text(w, "backend", backend(load_api(load)));
	}
	member_text(w, "label", load->one ? load->one->name : NULL);
	member_text(w, "model_id", load_model(load));
	if (load_tokenizer(load))
		member_text(w, "tokenizer_id", load_tokenizer(load));
	jout_member_int(w, "num_prompts", load->sent);
	load_put_meta(w, load, own_members);
	jout_key(w, "request_rate");
	double rate = load_rate(load);
	if (isnan(rate))
		jout_string0(w, "inf");
	else
		jout_double(w, rate);
	/* 1 is a Poisson process; it has no meaning at an infinite rate */
	if (isnan(rate) || strcmp(load->one->kind, "poisson") == 0)
		jout_member_double(w, "burstiness", 1);
	jout_key(w, "max_concurrency");
	if (load_slots(load) != IPF_ABSENT)
		jout_int(w, load_slots(load));
	else
		jout_null(w);
}

/* Requests meeting all objectives; NAN: there are none, or others than vLLM knows. From the start, since vLLM does not
 * know when a request was due; a request of one token has a TPOT of 0. */
static double good_requests(const struct load *load)
{
	const struct slo *slo = load->run->slo;
	int64_t good = 0;
	for (int i = 0; i < slo->count; i++)
		if (!isnan(slo->list[i].percentile) ||
		    (slo->list[i].metric != METRIC_TTFT && slo->list[i].metric != METRIC_TPOT &&
		     slo->list[i].metric != METRIC_E2E))
			return NAN;
	for_load(load, row)
	{
		bool met = row->ok;
		for (int i = 0; i < slo->count; i++) {
			enum metric m = slo->list[i].metric;
			met &= !(row_asked(row, m) > (double)slo->list[i].limit_ns);
		}
		good += met;
	}
	return slo->count ? (double)good : NAN;
}

/* A request that needed no slot waited for nothing. */
static double queue_time(const struct row *row)
{
	double ns = row_metric(row, METRIC_SLOT_WAIT);
	return isnan(ns) ? 0 : ns;
}

static void put_totals(struct jout *w, const struct load *load)
{
	double s = load->duration_s, good = good_requests(load);
	jout_member_double(w, "duration", s);
	jout_member_int(w, "completed", load->ok);
	jout_member_int(w, "failed", load->failed);
	jout_member_int(w, "total_input_tokens", load->input_tokens);
	jout_member_int(w, "total_output_tokens", load->output_tokens);
	jout_member_double(w, "request_throughput", (double)load->ok / s);
	jout_key(w, "request_goodput");
	jout_double(w, good / s);
	jout_member_double(w, "output_throughput", (double)load->output_tokens / s);
	jout_member_double(w, "total_token_throughput", (double)(load->input_tokens + load->output_tokens) / s);
}

/* In vLLM's order. Latencies and queueing times are in the file with and without --save-detailed. */
static void put_lists(struct jout *w, const struct load *load, const struct request_lists *lists)
{
	if (lists) {
		jout_key(w, "input_lens");
		request_list_inputs(w, load);
		jout_key(w, "output_lens");
		request_list_counts(w, load, row_output);
		jout_key(w, "ttfts");
		request_list_times(w, load, row_ttft);
	}
	if (lists && lists->events) {
		jout_key(w, "itls");
		request_list_gaps(w, load);
	}
	jout_key(w, "latencies");
	request_list_times(w, load, row_e2e);
	if (lists) {
		jout_key(w, "start_times");
		jout_begin_list(w);
		for_load(load, row) jout_double(w, (double)load_start_ns(load, row) / 1e9);
		jout_end_list(w);
	}
	jout_key(w, "queue_times");
	request_list_times(w, load, queue_time);
	if (lists && lists->texts) {
		jout_key(w, "generated_texts");
		request_list_texts(w, load);
	}
	if (lists) {
		jout_key(w, "errors");
		request_list_errors(w, load);
		jout_member_double(w, "max_output_tokens_per_s", lists->tokens_per_s_peak);
	}
	jout_member_int(w, "max_concurrent_requests", load_peak_second(load, METRIC_E2E));
	jout_member_double(w, "rtfx", 0); /* for audio only */
}

static void put_metric(struct jout *w, const struct load *load, const char *name, struct row_values *v)
{
	static const double usual[] = {99};
	const struct percentiles *chosen = &load->report->options->percentiles;
	const double *list = chosen->chosen ? chosen->p : usual;
	char key[64];
	snprintf(key, sizeof key, "mean_%s_ms", name);
	jout_member_double(w, key, v->mean);
	snprintf(key, sizeof key, "median_%s_ms", name);
	jout_member_double(w, key, row_values_percentile(v, 50));
	snprintf(key, sizeof key, "std_%s_ms", name);
	jout_member_double(w, key, v->std);
	for (int i = 0; i < (chosen->chosen ? chosen->count : 1); i++) {
		snprintf(key, sizeof key, "p%.10g_%s_ms", list[i], name);
		jout_member_double(w, key, row_values_percentile(v, list[i]));
	}
	row_values_release(v);
}

static void put_load(struct jout *w, const struct load *load, bool detailed)
{
	struct request_lists lists;
	struct row_values v;
	if (detailed)
		lists = request_lists_of(load);
	put_setting(w, load);
	put_totals(w, load);
	put_lists(w, load, detailed ? &lists : NULL);
	row_values_of(&v, load, LOAD_OK, row_ttft, 1e6);
	put_metric(w, load, "ttft", &v);
	row_values_of(&v, load, LOAD_OK, row_tpot, 1e6);
	put_metric(w, load, "tpot", &v);
	row_values_of_gaps(&v, load, 1e6);
	put_metric(w, load, "itl", &v);
	row_values_of(&v, load, LOAD_OK, row_e2e, 1e6);
	put_metric(w, load, "e2el", &v);
	if (load_slots(load) != IPF_ABSENT) {
		row_values_of(&v, load, LOAD_OK, queue_time, 1e6);
		put_metric(w, load, "client_queue_time", &v);
	}
}

static void render_plain(const struct report *report, struct buffer *out)
{
	load_documents(report, out, put_load, false);
}

static void render_detailed(const struct report *report, struct buffer *out)
{
	load_documents(report, out, put_load, true);
}

const struct report_format format_vllm = {.times = true, .render = render_plain, .tool = &tool_rules[TOOL_VLLM]};
const struct report_format format_vllm_detailed = {
	.times = true, .render = render_detailed, .tool = &tool_rules[TOOL_VLLM]};
