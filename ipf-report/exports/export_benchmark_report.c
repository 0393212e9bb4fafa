/* -f benchmark-report, benchmark-report-0.2: llm-d's BenchmarkReport 0.2.1 and 0.2 of llm-d/llm-d-benchmark at 8bc9f1dd
 * (benchmark_report/br_v0_2_1_json_schema.json, br_v0_2_json_schema.json). It is YAML, of which JSON is a part.
 * ipf-exports(5) has a table of it.
 *
 * Seconds. All measured stages are one load. */
#include "exports/row_values.h"
#include "json/jout.h"

#include "absent.h"
#include "clock.h"
#include "version.h"

#include <math.h>
#include <string.h>

static double ntpot(const struct row *row)
{
	return row_get(row, ROW_OUTPUT_TOKENS) > 0 ? row_e2e(row) / (double)row_get(row, ROW_OUTPUT_TOKENS) : NAN;
}

static void put(struct jout *w, const char *key, const char *units, struct row_values *v)
{
	static const struct {
		const char *name;
		double p;
	} percentiles[] = {{"p0p1", 0.1}, {"p1", 1},   {"p5", 5},   {"p10", 10}, {"p25", 25},    {"p50", 50},
	                   {"p75", 75},   {"p90", 90}, {"p95", 95}, {"p99", 99}, {"p99p9", 99.9}};
	if (v->n > 0) {
		jout_key(w, key);
		jout_begin_map(w);
		jout_member_string(w, "units", slice_of(units));
		jout_member_double(w, "mean", v->mean);
		jout_member_double(w, "stddev", v->std);
		jout_member_double(w, "min", v->min);
		for (size_t i = 0; i < sizeof percentiles / sizeof *percentiles; i++)
			jout_member_double(w, percentiles[i].name, row_values_percentile(v, percentiles[i].p));
		jout_member_double(w, "max", v->max);
		jout_end_map(w);
	}
	row_values_release(v);
}

static void put_values(struct jout *w, const struct load *load, const char *key, const char *units, row_value value,
                       double per)
{
	struct row_values v;
	row_values_of(&v, load, LOAD_OK, value, per);
	put(w, key, units, &v);
}

static void put_rate(struct jout *w, const char *key, const char *units, double value)
{
	if (isnan(value))
		return;
	jout_key(w, key);
	jout_begin_map(w);
	jout_member_string(w, "units", slice_of(units));
	jout_member_double(w, "mean", value);
	jout_end_map(w);
}

/* The user's notes, as "KEY=VALUE". */
static void put_keywords(struct jout *w, const struct load *load)
{
	const char *key;
	json_t *value;
	struct buffer text = {0};
	if (!load_meta(load))
		return;
	jout_key(w, "keywords");
	jout_begin_list(w);
	json_object_foreach(load_meta(load), key, value)
	{
		buffer_clear(&text);
		buffer_format(&text, "%s=%s", key, json_string_value(value));
		jout_string(w, buffer_all(&text));
	}
	jout_end_list(w);
	buffer_release(&text);
}

/* A time, and how long the run took, as ISO 8601 has them. */
static void put_run(struct jout *w, const struct load *load)
{
	const struct report *report = load->report;
	const char *digest = json_string_value(json_array_get(report->run->parts[0].digests, 0));
	char text[48];
	jout_key(w, "run");
	jout_begin_map(w);
	jout_member_string(w, "uid", slice_of(digest ? digest : report->run->parts[0].name));
	jout_member_string(w, "eid", slice_of(json_string_value(json_object_get(report->run_info, "name"))));
	put_keywords(w, load);
	if (load->begin_unix_ns != IPF_ABSENT) {
		jout_key(w, "time");
		jout_begin_map(w);
		clock_format(load->begin_unix_ns, text);
		jout_member_string(w, "start", slice_of(text));
		clock_format(load->end_unix_ns, text);
		jout_member_string(w, "end", slice_of(text));
		snprintf(text, sizeof text, "PT%.6fS", (double)(load->end_ns - load->begin_ns) / 1e9);
		jout_member_string(w, "duration", slice_of(text));
		jout_end_map(w);
	}
	jout_end_map(w);
}

static void put_length(struct jout *w, const char *key, const struct load *load, row_value tokens)
{
	struct row_values v;
	row_values_of(&v, load, LOAD_OK, tokens, 1);
	jout_key(w, key);
	jout_begin_map(w);
	jout_member_string(w, "distribution", slice_of(v.n && v.min >= v.max ? "fixed" : "other"));
	jout_key(w, "value");
	jout_double(w, v.n ? v.mean : 0);
	jout_member_double(w, "std_dev", v.std);
	jout_member_double(w, "min", v.min);
	jout_member_double(w, "max", v.max);
	jout_end_map(w);
	row_values_release(&v);
}

static void put_scenario(struct jout *w, const struct load *load)
{
	const char *dataset = load_dataset(load);
	jout_key(w, "scenario");
	jout_begin_map(w);
	jout_key(w, "load");
	jout_begin_map(w);
	jout_key(w, "metadata");
	jout_begin_map(w);
	jout_member_string(w, "schema_version", slice_of("0.0.1"));
	jout_end_map(w);
	jout_key(w, "standardized");
	jout_begin_map(w);
	jout_member_string(w, "tool", slice_of("ipf"));
	jout_member_string(w, "tool_version", slice_of(IPF_VERSION));
	jout_member_string(w, "source",
	                   slice_of(!dataset                            ? "unknown"
	                            : strcmp(dataset, "synthetic") == 0 ? "random"
	                                                                : "sampled"));
	put_length(w, "input_seq_len", load, row_input);
	put_length(w, "output_seq_len", load, row_output);
	jout_member_double(w, "rate_qps", load_rate(load));
	jout_member_int(w, "concurrency", load_slots(load));
	jout_end_map(w);
	jout_key(w, "native");
	jout_begin_map(w);
	jout_key(w, "config");
	jout_begin_map(w);
	jout_member_string(w, "schedule", slice_of(json_string_value(json_object_get(load->report->run_info, "schedule"))));
	jout_member_string(w, "target", slice_of(load_target(load)));
	jout_member_string(w, "api", slice_of(load_api(load)));
	jout_member_string(w, "model", slice_of(load_model(load)));
	jout_end_map(w);
	jout_end_map(w);
	jout_end_map(w);
	jout_end_map(w);
}

static void put_aggregate(struct jout *w, const struct load *load)
{
	struct row_values v;
	double s = load->duration_s;
	jout_key(w, "requests");
	jout_begin_map(w);
	jout_member_int(w, "total", load->sent);
	jout_member_int(w, "failures", load->failed);
	put_values(w, load, "input_length", "count", row_input, 1);
	put_values(w, load, "output_length", "count", row_output, 1);
	jout_end_map(w);
	jout_key(w, "latency");
	jout_begin_map(w);
	put_values(w, load, "time_to_first_token", "s", row_ttft, 1e9);
	put_values(w, load, "normalized_time_per_output_token", "s/token", ntpot, 1e9);
	put_values(w, load, "time_per_output_token", "s/token", row_tpot, 1e9);
	row_values_of_gaps(&v, load, 1e9);
	put(w, "inter_token_latency", "s/token", &v);
	put_values(w, load, "request_latency", "s", row_e2e, 1e9);
	jout_end_map(w);
	jout_key(w, "throughput");
	jout_begin_map(w);
	put_rate(w, "input_token_rate", "tokens/s", (double)load->input_tokens / s);
	put_rate(w, "output_token_rate", "tokens/s", (double)load->output_tokens / s);
	put_rate(w, "total_token_rate", "tokens/s", (double)(load->input_tokens + load->output_tokens) / s);
	put_rate(w, "request_rate", "queries/s", (double)load->ok / s);
	jout_end_map(w);
}

static void render(const struct report *report, struct buffer *out, const char *version)
{
	struct jout w = {.out = out};
	struct load load;
	load_init(&load, report, LOAD_ALL);
	jout_begin_map(&w);
	jout_member_string(&w, "version", slice_of(version));
	put_run(&w, &load);
	put_scenario(&w, &load);
	jout_key(&w, "results");
	jout_begin_map(&w);
	jout_key(&w, "request_performance");
	jout_begin_map(&w);
	jout_key(&w, "aggregate");
	jout_begin_map(&w);
	put_aggregate(&w, &load);
	jout_end_map(&w);
	jout_end_map(&w);
	jout_end_map(&w);
	jout_end_map(&w);
	buffer_byte(out, '\n');
}

static void render_now(const struct report *report, struct buffer *out)
{
	render(report, out, "0.2.1");
}

static void render_before(const struct report *report, struct buffer *out)
{
	render(report, out, "0.2");
}

const struct report_format format_benchmark_report = {.times = true, .render = render_now};
const struct report_format format_benchmark_report_0_2 = {.times = true, .render = render_before};
