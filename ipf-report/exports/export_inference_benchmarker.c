/* -f inference-benchmarker: the file of huggingface/inference-benchmarker at dfef39d (src/writers.rs, results.rs,
 * requests.rs); an entry of "results" for each measured stage. ipf-exports(5) has a table of it.
 *
 * Milliseconds, in whole microseconds. A request ends with its response. */
#include "exports/row_values.h"
#include "json/jout.h"

#include "absent.h"
#include "clock.h"

#include <math.h>
#include <string.h>

/* By its definition, a response of one event has a latency of 0. */
static double inter_token_latency(const struct row *row)
{
	return row_get(row, ROW_EVENTS) == 1 ? 0 : row_tpot(row);
}

static void member_null(struct jout *w, const char *key)
{
	jout_key(w, key);
	jout_null(w);
}

static double whole_us(double ns)
{
	return floor(ns / 1e3) / 1e3;
}

static void put_latency(struct jout *w, const char *key, const struct load *load, row_value value)
{
	static const int percentiles[] = {50, 60, 70, 80, 90, 95, 99};
	struct row_values v;
	char name[8];
	row_values_of(&v, load, LOAD_OK, value, 1);
	if (v.n > 0) {
		jout_key(w, key);
		jout_begin_map(w);
		for (size_t i = 0; i < sizeof percentiles / sizeof *percentiles; i++) {
			snprintf(name, sizeof name, "p%d", percentiles[i]);
			jout_member_double(w, name, whole_us(row_values_percentile(&v, percentiles[i])));
		}
		jout_member_double(w, "avg", whole_us(v.mean));
		jout_end_map(w);
	}
	row_values_release(&v);
}

static void put_result(struct jout *w, const struct load *load)
{
	double rate = load_rate(load), s = load->duration_s;
	char id[64] = "throughput";
	if (!isnan(rate))
		snprintf(id, sizeof id, "constant@%.2freq/s", rate);
	jout_begin_map(w);
	jout_member_string(w, "id", slice_of(id));
	jout_member_string(w, "executor_type", slice_of(isnan(rate) ? "ConstantVUs" : "ConstantArrivalRate"));
	jout_key(w, "config");
	jout_begin_map(w);
	jout_member_int(w, "max_vus", load_slots(load));
	if (load->one && load->one->end_ns != IPF_ABSENT)
		jout_member_int(w, "duration_secs", (load->one->end_ns - load->one->begin_ns) / 1000000000);
	if (isnan(rate))
		member_null(w, "rate");
	else
		jout_member_double(w, "rate", rate);
	jout_end_map(w);
	jout_member_int(w, "total_requests", load->sent);
	jout_member_int(w, "total_tokens", load->output_tokens);
	jout_member_double(w, "token_throughput_secs", (double)load->output_tokens / s);
	if (!isnan(s))
		jout_member_int(w, "duration_ms", (int64_t)(s * 1e3));
	put_latency(w, "time_to_first_token_ms", load, row_ttft);
	put_latency(w, "inter_token_latency_ms", load, inter_token_latency);
	jout_member_int(w, "failed_requests", load->failed);
	jout_member_int(w, "successful_requests", load->ok);
	jout_member_double(w, "request_rate", (double)load->ok / s);
	jout_member_int(w, "total_tokens_sent", load->input_tokens);
	put_latency(w, "e2e_latency_ms", load, row_stream);
	jout_end_map(w);
}

static void put_time(struct jout *w, const char *key, int64_t unix_ns)
{
	char text[32];
	if (unix_ns == IPF_ABSENT)
		return;
	clock_format(unix_ns, text);
	jout_member_string(w, key, slice_of(text));
}

static void put_config(struct jout *w, const struct load *all)
{
	const struct report *report = all->report;
	int closed = 0, open = 0;
	jout_key(w, "config");
	jout_begin_map(w);
	for (int32_t stage = load_first(report); stage >= 0; stage = load_next(report, stage)) {
		closed += report->run->schedule.stages[stage].closed;
		open += !report->run->schedule.stages[stage].closed;
	}
	jout_member_string(w, "benchmark_kind", slice_of(!open ? "Throughput" : closed ? "Sweep" : "Rate"));
	jout_key(w, "rates");
	jout_begin_list(w);
	for (int32_t stage = load_first(report); stage >= 0; stage = load_next(report, stage))
		if (report->run->schedule.stages[stage].rate > 0 && !report->run->schedule.stages[stage].closed)
			jout_double(w, report->run->schedule.stages[stage].rate);
	jout_end_list(w);
	member_null(w, "prompt_options");
	member_null(w, "decode_options");
	jout_member_string(w, "tokenizer", slice_of(load_tokenizer(all)));
	jout_member_string(w, "model_name", slice_of(load_model(all)));
	member_null(w, "profile");
	jout_key(w, "meta");
	if (load_meta(all))
		jout_json(w, load_meta(all));
	else
		jout_null(w);
	jout_member_string(w, "run_id", slice_of(json_string_value(json_object_get(report->run_info, "name"))));
	jout_end_map(w);
}

static void put_system(struct jout *w, json_t *host)
{
	static const char *const names[][2] = {{"os_name", "system"}, {"kernel", "release"}, {"hostname", "name"}};
	jout_key(w, "system");
	jout_begin_map(w);
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		jout_member_string(w, names[i][0], slice_of(json_string_value(json_object_get(host, names[i][1]))));
	jout_end_map(w);
}

static void render(const struct report *report, struct buffer *out)
{
	struct jout w = {.out = out};
	struct load all, load;
	load_init(&all, report, LOAD_ALL);
	jout_begin_map(&w);
	put_config(&w, &all);
	jout_key(&w, "results");
	jout_begin_list(&w);
	for (int32_t stage = load_first(report); stage != LOAD_END; stage = load_next(report, stage)) {
		load_init(&load, report, stage);
		put_result(&w, &load);
	}
	jout_end_list(&w);
	put_time(&w, "start_time", all.begin_unix_ns);
	put_time(&w, "end_time", all.end_unix_ns);
	put_system(&w, json_object_get(report->run_info, "host"));
	jout_end_map(&w);
	buffer_byte(out, '\n');
}

const struct report_format format_inference_benchmarker = {.times = true, .render = render};
