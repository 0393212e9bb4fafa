/* -f guidellm: benchmarks.json of GuideLLM 0.8.1 (src/guidellm/benchmark/schemas/report.py, benchmark.py, base.py), the
 * file its reader loads; a benchmark for each measured stage. ipf-exports(5) has a description of it.
 *
 * Unix times in seconds; from the beginning of the run if --reproducible or if the results do not say when that was.
 * GuideLLM writes -1 for unknown values in "scheduler_metrics". */
#include "exports/guidellm_figures.h"
#include "exports/request_lists.h"
#include "json/jout.h"

#include "absent.h"
#include "version.h"

#include <math.h>
#include <string.h>

/* ---- settings ---- */

/* GuideLLM's name of the way in which requests were sent. */
static const char *strategy_of(const struct schedule_stage *stage)
{
	if (stage->closed)
		return stage->slots == IPF_ABSENT ? "throughput" : "concurrent";
	return strcmp(stage->kind, "burst") == 0                                             ? "throughput"
	       : strcmp(stage->kind, "constant") == 0 || strcmp(stage->kind, "poisson") == 0 ? stage->kind
	                                                                                     : "trace";
}

static void put_strategy(struct jout *w, const struct load *load)
{
	const char *name = load->one ? strategy_of(load->one) : "trace";
	jout_key(w, "strategy");
	jout_begin_map(w);
	jout_member_string(w, "type_", slice_of(name));
	if (strcmp(name, "concurrent") == 0)
		jout_member_int(w, "streams", load_slots(load));
	else
		jout_member_int(w, "max_concurrency", load_slots(load));
	if (strcmp(name, "constant") == 0 || strcmp(name, "poisson") == 0)
		jout_member_double(w, "rate", load_rate(load));
	jout_end_map(w);
}

static void put_list(struct jout *w, const struct report *report, const char *key, bool rates)
{
	jout_key(w, key);
	jout_begin_list(w);
	for (int32_t stage = load_first(report); stage != LOAD_END; stage = load_next(report, stage)) {
		struct load load;
		load_init(&load, report, stage);
		if (rates)
			jout_double(w, load_rate(&load));
		else
			jout_int(w, load_slots(&load));
	}
	jout_end_list(w);
}

/* The strategy of all stages with their rates or streams; "replay" if they have different ones. */
static void put_profile(struct jout *w, const struct report *report)
{
	const char *name = NULL;
	for (int32_t stage = load_first(report); stage != LOAD_END; stage = load_next(report, stage)) {
		const char *one = stage < 0 ? "trace" : strategy_of(&report->run->schedule.stages[stage]);
		name = !name || strcmp(name, one) == 0 ? one : "trace";
	}
	jout_key(w, "profile");
	jout_begin_map(w);
	jout_member_string(w, "kind", slice_of(strcmp(name, "trace") == 0 ? "replay" : name));
	if (strcmp(name, "concurrent") == 0)
		put_list(w, report, "streams", false);
	else if (strcmp(name, "constant") == 0 || strcmp(name, "poisson") == 0)
		put_list(w, report, "rate", true);
	jout_end_map(w);
}

static void put_backend(struct jout *w, const struct load *load)
{
	jout_key(w, "backend");
	jout_begin_map(w);
	jout_member_string(w, "kind", slice_of("openai_http")); /* the only one over HTTP */
	jout_member_string(w, "target", slice_of(load_target(load) ? load_target(load) : ""));
	jout_member_string(w, "model", slice_of(load_model(load)));
	jout_end_map(w);
}

static const char *dataset_of(const struct load *load)
{
	return load_dataset(load) ? load_dataset(load) : "unknown";
}

static void put_slo(struct jout *w, const struct load *load)
{
	jout_key(w, "slo");
	if (!guidellm_has_slo(load)) {
		jout_null(w);
		return;
	}
	jout_begin_map(w);
	jout_member_double(w, "ttft_ms", guidellm_limit(load, METRIC_TTFT));
	jout_member_double(w, "tpot_ms", guidellm_limit(load, METRIC_TPOT));
	jout_member_double(w, "e2el_ms", guidellm_limit(load, METRIC_E2E));
	jout_end_map(w);
}

/* In its reader's form: the run to repeat. */
static void put_scenario(struct jout *w, const struct load *load)
{
	jout_key(w, "config");
	jout_begin_map(w);
	jout_key(w, "metadata");
	jout_begin_map(w);
	jout_key(w, "labels");
	if (load_meta(load)) {
		jout_json(w, load_meta(load));
	} else {
		jout_begin_map(w);
		jout_end_map(w);
	}
	jout_end_map(w);
	jout_key(w, "spec");
	jout_begin_map(w);
	put_backend(w, load);
	put_profile(w, load->report);
	jout_key(w, "data");
	jout_begin_list(w);
	jout_begin_map(w);
	jout_member_string(w, "kind", slice_of("huggingface"));
	jout_member_string(w, "source", slice_of(dataset_of(load)));
	jout_end_map(w);
	jout_end_list(w);
	jout_end_map(w);
	jout_end_map(w);
}

static void put_config(struct jout *w, const struct load *load, int64_t index)
{
	const char *digest = json_string_value(json_array_get(load->run->parts[0].digests, 0));
	const char *run = digest ? digest : load->run->parts[0].name;
	char id[128];
	snprintf(id, sizeof id, "%.100s-%lld", run, (long long)index);
	jout_key(w, "config");
	jout_begin_map(w);
	jout_member_string(w, "id_", slice_of(id));
	jout_member_string(w, "run_id", slice_of(run));
	jout_member_int(w, "run_index", index);
	jout_member_string(w, "name", slice_of(load->one ? load->one->name : NULL));
	put_strategy(w, load);
	jout_key(w, "constraints");
	jout_begin_map(w);
	jout_end_map(w);
	put_slo(w, load);
	jout_key(w, "confidence"); /* without intervals */
	jout_null(w);
	put_profile(w, load->report);
	jout_key(w, "requests");
	jout_begin_map(w);
	jout_member_string(w, "source", slice_of(dataset_of(load)));
	jout_end_map(w);
	put_backend(w, load);
	jout_key(w, "environment");
	jout_begin_map(w);
	jout_end_map(w);
	jout_end_map(w);
}

/* ---- times ---- */

/* `ns` is from t0 of the first part. */
static double unix_s(const struct load *load, int64_t ns)
{
	int64_t t0_ns = load->begin_unix_ns == IPF_ABSENT ? 0 : load->begin_unix_ns - load->begin_ns;
	return (double)(t0_ns + ns) / 1e9;
}

static double begin_s(const struct load *load)
{
	return load->begin_ns == IPF_ABSENT ? -1 : unix_s(load, load->begin_ns);
}

static double end_s(const struct load *load)
{
	return load->begin_ns == IPF_ABSENT ? -1 : unix_s(load, load->end_ns);
}

static void put_state(struct jout *w, const struct load *load)
{
	int64_t cancelled = 0;
	for_load(load, row) cancelled += guidellm_status(row) == GUIDELLM_INCOMPLETE;
	jout_key(w, "scheduler_state");
	jout_begin_map(w);
	jout_member_double(w, "start_time", begin_s(load));
	jout_member_double(w, "end_time", end_s(load));
	jout_member_int(w, "created_requests", load->sent);
	jout_member_int(w, "processed_requests", load->sent);
	jout_member_int(w, "successful_requests", load->ok);
	jout_member_int(w, "errored_requests", load->failed - cancelled);
	jout_member_int(w, "cancelled_requests", cancelled);
	jout_end_map(w);
}

static double mean_of(const struct load *load, row_value value)
{
	struct row_values v;
	row_values_of(&v, load, LOAD_SENT, value, 1);
	double mean = v.n ? v.mean : -1;
	row_values_release(&v);
	return mean;
}

static void put_scheduler(struct jout *w, const struct load *load)
{
	static const char *const begins[] = {"start_time", "request_start_time", "measure_start_time"};
	static const char *const ends[] = {"measure_end_time", "request_end_time", "end_time"};
	static const char *const unknown[] = {
		"queued_time_avg",         "resolve_start_delay_avg", "resolve_targeted_start_delay_avg",
		"request_start_delay_avg", "resolve_end_delay_avg",   "resolve_time_avg",
		"finalized_delay_avg",     "processed_delay_avg"};
	jout_key(w, "scheduler_metrics");
	jout_begin_map(w);
	for (int i = 0; i < 3; i++)
		jout_member_double(w, begins[i], begin_s(load));
	for (int i = 0; i < 3; i++)
		jout_member_double(w, ends[i], end_s(load));
	guidellm_counts(w, "requests_made", load);
	for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++)
		jout_member_int(w, unknown[i], -1);
	jout_member_double(w, "request_targeted_start_delay_avg", mean_of(load, guidellm_dispatch_delay));
	jout_member_double(w, "request_time_avg", mean_of(load, guidellm_latency));
	jout_member_string(w, "strategy_type", slice_of(load->one ? strategy_of(load->one) : "trace"));
	jout_end_map(w);
}

/* ---- requests ---- */

static void put_time(struct jout *w, const char *key, const struct load *load, const struct row *row,
                     double after_start_ns)
{
	if (!isnan(after_start_ns))
		jout_member_double(w, key, unix_s(load, load_start_ns(load, row) + (int64_t)after_start_ns));
}

static void put_timings(struct jout *w, const struct load *load, const struct row *row)
{
	double end_ns = guidellm_latency(row) * 1e9;
	double due_ns = row->due_ns == IPF_ABSENT ? NAN : (double)(row->due_ns - row->start_ns);
	jout_key(w, "timings");
	jout_begin_map(w);
	if (guidellm_scheduled(load))
		put_time(w, "targeted_start", load, row, due_ns);
	put_time(w, "request_start", load, row, 0);
	put_time(w, "first_token_iteration", load, row, row_ttft(row));
	put_time(w, "first_output_token_iteration", load, row, row_metric(row, METRIC_TTFA));
	if (!isnan(row_ttft(row))) {
		put_time(w, "last_token_iteration", load, row, row_last(row));
		jout_member_int(w, "token_iterations", row_get(row, ROW_EVENTS));
	}
	put_time(w, "request_end", load, row, end_ns);
	put_time(w, "resolve_end", load, row, isnan(end_ns) ? 0 : end_ns); /* which its reader needs */
	jout_end_map(w);
}

static void put_id(struct jout *w, const struct result *result)
{
	char number[24];
	jout_key(w, "request_id");
	snprintf(number, sizeof number, "%lld", (long long)result->n);
	if (result->id.data)
		jout_value(w, result->id);
	else
		jout_string0(w, number);
}

static void put_info(struct jout *w, const struct load *load, const struct row *row, const struct result *result)
{
	static const char *const statuses[GUIDELLM_STATUSES] = {"completed", "cancelled", "errored"};
	jout_key(w, "info");
	jout_begin_map(w);
	put_id(w, result);
	jout_member_value(w, "conversation_id", result->session);
	jout_member_int(w, "turn_index", result->turn);
	jout_member_string(w, "status", slice_of(statuses[guidellm_status(row)]));
	put_timings(w, load, row);
	if (!row->ok)
		jout_member_value(w, "error", request_error_text(row, result));
	jout_end_map(w);
}

static void put_usage(struct jout *w, const char *key, int64_t tokens, int64_t cached)
{
	jout_key(w, key);
	jout_begin_map(w);
	jout_member_int(w, "text_tokens", tokens);
	jout_member_int(w, "cached_tokens", cached);
	jout_end_map(w);
}

static void put_request(struct jout *w, const struct load *load, const struct row *row, const struct result *result)
{
	double latency = guidellm_latency(row), iterations = isnan(row_ttft(row)) ? NAN : (double)row_get(row, ROW_EVENTS);
	jout_begin_map(w);
	jout_member_string(w, "type_", slice_of("generative_request_stats"));
	put_id(w, result);
	jout_member_value(w, "output", result->text);
	jout_member_value(w, "reasoning_output", result->reasoning);
	put_info(w, load, row, result);
	put_usage(w, "input_metrics", row_get(row, ROW_INPUT_TOKENS), row_get(row, ROW_CACHED_TOKENS));
	put_usage(w, "output_metrics", row_get(row, ROW_OUTPUT_TOKENS), IPF_ABSENT);
	put_time(w, "request_start_time", load, row, 0);
	put_time(w, "request_end_time", load, row, latency * 1e9);
	jout_member_double(w, "request_latency", latency);
	if (guidellm_scheduled(load)) {
		jout_member_double(w, "request_dispatch_delay", guidellm_dispatch_delay(row));
		jout_member_double(w, "request_scheduled_latency", guidellm_scheduled_latency(row));
	}
	jout_member_int(w, "prompt_tokens", row_get(row, ROW_INPUT_TOKENS));
	jout_member_int(w, "cached_tokens", row_get(row, ROW_CACHED_TOKENS));
	jout_member_int(w, "output_tokens", row_get(row, ROW_OUTPUT_TOKENS));
	if (!isnan(guidellm_total(row)))
		jout_member_int(w, "total_tokens", (int64_t)guidellm_total(row));
	jout_member_double(w, "time_to_first_token_ms", guidellm_ttft(row));
	jout_member_double(w, "time_to_first_output_token_ms", guidellm_ttfot(row));
	jout_member_double(w, "time_per_output_token_ms", guidellm_tpot(row));
	jout_member_double(w, "inter_token_latency_ms", guidellm_itl(row));
	jout_member_double(w, "tokens_per_second", guidellm_total(row) / latency);
	jout_member_double(w, "output_tokens_per_second", row_output(row) / latency);
	jout_member_double(w, "output_tokens_per_iteration", row_output(row) / iterations);
	if (row_get(row, ROW_EVENTS) > 1 && row_get(row, ROW_OUTPUT_TOKENS) > 1)
		jout_member_double(w, "iter_tokens_per_iteration", (row_output(row) - 1) / (iterations - 1));
	jout_end_map(w);
}

/* Lists of requests hand the buffer over in pieces. */
static void put_requests(struct jout *w, const struct load *load)
{
	static const char *const names[GUIDELLM_STATUSES] = {"successful", "incomplete", "errored"};
	struct result result;
	jout_key(w, "requests");
	jout_begin_map(w);
	for (int status = 0; status < GUIDELLM_STATUSES; status++) {
		jout_key(w, names[status]);
		jout_begin_list(w);
		for_load(load, row)
		{
			if ((int)guidellm_status(row) != status)
				continue;
			if (!run_data_line(load->run, row, &result))
				break;
			put_request(w, load, row, &result);
			if (!report_output_spill(load->report->output, w->out))
				break;
		}
		jout_end_list(w);
	}
	jout_key(w, "total");
	jout_null(w);
	jout_end_map(w);
}

/* ---- the document ---- */

static void put_benchmark(struct jout *w, const struct load *load, int64_t index)
{
	jout_begin_map(w);
	jout_member_string(w, "type_", slice_of("generative_benchmark"));
	put_config(w, load, index);
	put_state(w, load);
	put_scheduler(w, load);
	jout_key(w, "metrics");
	guidellm_figures(w, load);
	put_requests(w, load);
	jout_member_double(w, "start_time", begin_s(load));
	jout_member_double(w, "end_time", end_s(load));
	jout_member_double(w, "duration", end_s(load) - begin_s(load));
	jout_member_int(w, "warmup_duration", 0);
	jout_member_int(w, "cooldown_duration", 0);
	jout_end_map(w);
}

static void render(const struct report *report, struct buffer *out)
{
	struct jout w = {.out = out};
	struct load load;
	int64_t index = 0;
	load_init(&load, report, load_first(report));
	jout_begin_map(&w);
	jout_key(&w, "metadata");
	jout_begin_map(&w);
	jout_member_int(&w, "version", 2);
	jout_member_string(&w, "guidellm_version", slice_of("ipf " IPF_VERSION));
	jout_member_string(&w, "python_version", slice_of(""));
	jout_member_string(&w, "platform", slice_of(""));
	jout_end_map(&w);
	put_scenario(&w, &load);
	jout_key(&w, "benchmarks");
	jout_begin_list(&w);
	for (int32_t stage = load_first(report); stage != LOAD_END; stage = load_next(report, stage)) {
		load_init(&load, report, stage);
		put_benchmark(&w, &load, index++);
	}
	jout_end_list(&w);
	jout_end_map(&w);
	buffer_byte(out, '\n');
}

const struct report_format format_guidellm = {.times = true, .render = render, .tool = &tool_rules[TOOL_GUIDELLM]};
