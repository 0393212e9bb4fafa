/* -f mlperf: mlperf_log_summary.txt of MLPerf's LoadGen 6.0.17 (mlcommons/inference, loadgen/results.cc,
 * PerformanceSummary::LogSummary, and test_settings_internal.cc; the durations and counts of loadgen/mlperf.conf).
 * ipf-exports(5) has a description of it.
 *
 * Integer nanoseconds. A latency counts from when the query was scheduled. A percentile is the order statistic floor(n
 * p), without interpolation. All measured stages are one run. LoadGen knows no failing queries: they have no part in
 * the distributions, but exceed every latency asked for. */
#include "exports/row_values.h"
#include "figures/early_stopping.h"

#include "absent.h"
#include "safe_text.h"

#include <math.h>
#include <string.h>

#define MIN_DURATION_MS 600000
#define MIN_QUERIES     100
#define RULE            "================================================\n"

static const double listed[] = {50, 90, 95, 97, 99, 99.9};
enum { LISTED = sizeof listed / sizeof *listed };

enum scenario { SINGLE_STREAM, OFFLINE, SERVER };
static const char *const scenario_names[] = {"SingleStream", "Offline", "Server"};

/* A latency, sorted, and its limit. */
struct latency {
	const char *name;
	struct row_values values;
	double limit_ns; /* NAN: nothing is asked */
	double percentile;
};

enum { SAMPLE, TTFT, TPOT, LATENCIES };

struct summary {
	const struct load *load;
	enum scenario scenario;
	bool tokens; /* LoadGen's use_token_latencies */
	struct latency list[LATENCIES];
	double scheduled_s, issued_s, done_s; /* the last query's, from the first one; NAN */
	bool performance, duration, queries, early;
};

/* ---- definitions ---- */

/* How many queries take longer than asked, those failing among them. */
static int64_t over_latency(const struct summary *s, const struct latency *latency)
{
	int64_t over = s->load->failed;
	for (int64_t i = latency->values.n; i > 0 && latency->values.list.values[i - 1] > latency->limit_ns; i--)
		over++;
	return over;
}

static bool is_judged(const struct summary *s, int i)
{
	return s->tokens ? i != SAMPLE : i == SAMPLE;
}

/* The percentile of all queries, of which those failing are the slowest. */
static bool meets(const struct summary *s, const struct latency *latency)
{
	int64_t n = latency->values.n + s->load->failed, rank = (int64_t)((double)n * (latency->percentile / 100));
	return rank < latency->values.n && latency->values.list.values[rank] <= latency->limit_ns;
}

/* ---- the run, and whether it is valid ---- */

static enum scenario scenario_of(const struct load *load)
{
	if (load->one && load->one->closed && load->one->slots == 1)
		return SINGLE_STREAM;
	return load->one && strcmp(load->one->kind, "burst") == 0 ? OFFLINE : SERVER;
}

/* Between repeats, nothing ran. */
static double seconds_until(const struct load *load, int64_t begin_ns, int64_t ns)
{
	const struct run_data *run = load->run;
	return run->part_count > 1 && !run->shards ? load->duration_s : (double)(ns - begin_ns) / 1e9;
}

static void find_times(struct summary *s)
{
	int64_t begin_ns = IPF_ABSENT, due_ns = 0, start_ns = 0;
	s->scheduled_s = s->issued_s = s->done_s = NAN;
	for_load(s->load, row)
	{
		start_ns = load_start_ns(s->load, row);
		due_ns = start_ns - (int64_t)row_waited(row);
		if (begin_ns == IPF_ABSENT || due_ns < begin_ns)
			begin_ns = due_ns;
	}
	if (begin_ns == IPF_ABSENT)
		return;
	s->scheduled_s = seconds_until(s->load, begin_ns, due_ns);
	s->issued_s = seconds_until(s->load, begin_ns, start_ns);
	s->done_s = s->load->duration_s;
}

/* The latencies with their objectives of --slo: an objective of each request is one of LoadGen's usual percentile. */
static void find_latencies(struct summary *s)
{
	static const enum metric asked[LATENCIES] = {[SAMPLE] = METRIC_E2E, [TTFT] = METRIC_TTFT, [TPOT] = METRIC_TPOT};
	const struct slo *slo = s->load->run->slo;
	s->list[SAMPLE].name = "";
	s->list[TTFT].name = "TTFT ";
	s->list[TPOT].name = "TPOT ";
	row_values_of(&s->list[SAMPLE].values, s->load, LOAD_OK, row_e2e, 1);
	row_values_of(&s->list[TTFT].values, s->load, LOAD_OK, row_ttft, 1);
	row_values_of(&s->list[TPOT].values, s->load, LOAD_OK, row_tpot, 1);
	for (int i = 0; i < LATENCIES; i++) {
		s->list[i].limit_ns = NAN;
		s->list[i].percentile = s->scenario == SERVER ? 99 : 90;
		for (int k = 0; k < slo->count && s->scenario == SERVER; k++)
			if (slo->list[k].metric == asked[i]) {
				s->list[i].limit_ns = (double)slo->list[k].limit_ns;
				if (slo->list[k].percentile > 0 && slo->list[k].percentile < 100)
					s->list[i].percentile = slo->list[k].percentile;
			}
	}
	bool only_sample = !isnan(s->list[SAMPLE].limit_ns) && isnan(s->list[TTFT].limit_ns) &&
	                   isnan(s->list[TPOT].limit_ns);
	s->tokens = s->list[TTFT].values.n > 0 && !only_sample;
}

static bool enough_for(const struct summary *s, const struct latency *latency)
{
	return s->scenario == SERVER
	           ? s->load->sent >= early_stopping_needed(over_latency(s, latency), latency->percentile)
	           : s->scenario == OFFLINE || early_stopping_discard(s->load->sent, latency->percentile) > 0;
}

static void judge(struct summary *s)
{
	double length_s = s->scenario == SERVER          ? s->scheduled_s
	                  : s->scenario == SINGLE_STREAM ? s->issued_s
	                                                 : s->list[SAMPLE].values.max / 1e9;
	int asked = 0;
	s->performance = s->early = true;
	for (int i = 0; i < LATENCIES; i++) {
		const struct latency *latency = &s->list[i];
		if (!is_judged(s, i) || (s->scenario == SERVER && isnan(latency->limit_ns)))
			continue;
		asked++;
		s->performance &= s->scenario != SERVER || meets(s, latency);
		s->early &= enough_for(s, latency);
	}
	if (!asked)
		s->performance = s->early = false;
	s->duration = length_s >= MIN_DURATION_MS / 1e3;
	s->queries = s->load->sent >= (s->scenario == OFFLINE ? 1 : MIN_QUERIES);
}

/* ---- text ---- */

/* LoadGen counts one sample less, since the last one is the open end of the time. */
static double samples_less_one(const struct load *load)
{
	return load->ok > 0 ? (double)(load->ok - 1) : NAN;
}

/* Without a value, no line. */
static void put_rate(struct buffer *out, const char *label, double value)
{
	if (isfinite(value))
		buffer_format(out, "%s%.2f\n", label, value);
}

static void put_ns(struct buffer *out, const char *label, double value)
{
	if (isfinite(value))
		buffer_format(out, "%s%.0f\n", label, value);
}

/* `name` with "(ns)", filled up to `width`, and the name it has in the lines of percentiles. */
static void put_distribution(struct buffer *out, struct row_values *v, const char *name, int width,
                             const char *name_of_percentile)
{
	static const char *const ends[] = {"Min", "Max", "Mean"};
	const double values[] = {v->min, v->max, floor(v->mean)};
	char text[64], label[96];
	for (int i = 0; i < 3; i++) {
		snprintf(text, sizeof text, "%s %s (ns)", ends[i], name);
		snprintf(label, sizeof label, "%-*s: ", width, text);
		put_ns(out, label, values[i]);
	}
	for (int i = 0; i < LISTED; i++) {
		snprintf(label, sizeof label, "%.2f percentile %s (ns)   : ", listed[i], name_of_percentile);
		put_ns(out, label, row_values_percentile(v, listed[i]));
	}
}

static void put_title(struct buffer *out, const char *title)
{
	buffer_format(out, RULE "%s\n" RULE, title);
}

/* The figure by which the scenario is measured. */
static void put_main_figure(struct buffer *out, struct summary *s)
{
	const struct load *load = s->load;
	char label[64];
	if (s->scenario == SINGLE_STREAM) {
		snprintf(label, sizeof label, "%.1fth percentile latency (ns) : ", s->list[SAMPLE].percentile);
		put_ns(out, label, row_values_percentile(&s->list[SAMPLE].values, s->list[SAMPLE].percentile));
		snprintf(label, sizeof label, "%.1fth first token percentile latency (ns) : ", s->list[TTFT].percentile);
		if (s->tokens)
			put_ns(out, label, row_values_percentile(&s->list[TTFT].values, s->list[TTFT].percentile));
	} else if (s->scenario == OFFLINE) {
		double seconds = s->list[SAMPLE].values.max / 1e9;
		if (seconds > 0)
			buffer_format(out, "Samples per second: %g\n", (double)load->ok / seconds);
		if (seconds > 0 && s->tokens)
			buffer_format(out, "Tokens per second: %g\n", (double)load->output_tokens / seconds);
	} else {
		put_rate(out, "Completed samples per second    : ", samples_less_one(load) / s->done_s);
		if (s->tokens)
			put_rate(out, "Completed tokens per second: ", (double)load->output_tokens / s->done_s);
	}
}

static const char *yes(bool satisfied)
{
	return satisfied ? "Yes" : "NO";
}

static void put_result(struct buffer *out, struct summary *s)
{
	static const char *const longer[] = {
		"Decrease the expected latency so the loadgen pre-generates more queries.",
		"Increase expected QPS so the loadgen pre-generates a larger (coalesced) query.",
		"Increase the target QPS so the loadgen pre-generates more queries."};
	bool valid = s->performance && s->duration && s->queries && s->early, asked = false;
	buffer_format(out, "Result is : %s\n", valid ? "VALID" : "INVALID");
	if (s->scenario == SERVER)
		buffer_format(out, "  Performance constraints satisfied : %s\n", yes(s->performance));
	buffer_format(out, "  Min duration satisfied : %s\n  Min queries satisfied : %s\n  Early stopping satisfied: %s\n",
	              yes(s->duration), yes(s->queries), yes(s->early));
	if (valid)
		return;
	buffer_text(out, "Recommendations:\n");
	for (int i = 0; i < LATENCIES; i++) {
		if (!is_judged(s, i) || isnan(s->list[i].limit_ns))
			continue;
		asked = true;
		if (!meets(s, &s->list[i]))
			buffer_format(out, " * %s%sReduce target QPS to improve latency.\n", s->list[i].name,
			              i == SAMPLE ? "" : "constrain not met: ");
	}
	if (s->scenario == SERVER && !asked)
		buffer_text(out, " * Set a target latency: ipf-report --slo ttft=TIME,tpot=TIME\n");
	if (!s->duration)
		buffer_format(out, " * %s\n", longer[s->scenario]);
	if (!s->queries)
		buffer_text(out, " * The test exited early, before enough queries were issued.\n"
		                 "   See the detailed log for why this may have occurred.\n");
}

static void put_needed(struct buffer *out, const struct summary *s, const struct latency *latency)
{
	int64_t needed = early_stopping_needed(over_latency(s, latency), latency->percentile);
	if (isnan(latency->limit_ns))
		buffer_text(out, " * No target latency.\n");
	else if (s->load->sent >= needed)
		buffer_text(out, " * Run successful.\n");
	else
		buffer_format(out,
		              " * Run unsuccessful.\n * Processed %lld queries.\n * Would need to run at least %lld more "
		              "queries,\n with the run being successful if every additional\n query were under latency.\n",
		              (long long)s->load->sent, (long long)(needed - s->load->sent));
}

/* The t-th highest; nothing is said of one that is a failure. */
static void put_estimate(struct buffer *out, const struct summary *s, const struct latency *latency, double p)
{
	int64_t above = early_stopping_discard(s->load->sent, p) - s->load->failed;
	const struct row_values *v = &latency->values;
	if (above > 0 && above <= v->n)
		buffer_format(out, " * Early stopping %.1fth percentile estimate: %.0f\n", p, v->list.values[v->n - above]);
}

static void put_estimates(struct buffer *out, const struct summary *s, const struct latency *latency)
{
	int64_t n = s->load->sent, needed = early_stopping_needed(1, latency->percentile);
	int64_t needed_99 = early_stopping_needed(1, 99);
	if (n < needed) {
		buffer_format(out,
		              " * Only processed %lld queries.\n * Need to process at least %lld queries for early stopping.\n",
		              (long long)n, (long long)needed);
		return;
	}
	buffer_format(out, " * Processed at least %lld queries (%lld).\n * Would discard %lld highest latency queries.\n",
	              (long long)needed, (long long)n, (long long)early_stopping_discard(n, latency->percentile) - 1);
	put_estimate(out, s, latency, latency->percentile);
	if (n >= needed_99)
		put_estimate(out, s, latency, 99);
	else
		buffer_format(out,
		              " * Not enough queries processed for 99.0th percentile\n early stopping estimate (would need to "
		              "process at\n least %lld total queries).\n",
		              (long long)needed_99);
}

static void put_early_stopping(struct buffer *out, struct summary *s)
{
	for (int i = 0; i < LATENCIES && s->scenario != OFFLINE; i++) {
		if (!is_judged(s, i))
			continue;
		buffer_format(out, "%sEarly Stopping Result:\n", s->list[i].name);
		if (s->scenario == SERVER)
			put_needed(out, s, &s->list[i]);
		else
			put_estimates(out, s, &s->list[i]);
	}
}

static void put_additional(struct buffer *out, struct summary *s)
{
	const struct load *load = s->load;
	double mean_s = s->list[SAMPLE].values.mean / 1e9;
	if (s->scenario == SINGLE_STREAM) {
		put_rate(out, "QPS w/ loadgen overhead         : ", samples_less_one(load) / s->issued_s);
		put_rate(out, "QPS w/o loadgen overhead        : ", 1 / mean_s);
		buffer_byte(out, '\n');
	} else if (s->scenario == SERVER) {
		put_rate(out, "Scheduled samples per second : ", samples_less_one(load) / s->scheduled_s);
	}
	put_distribution(out, &s->list[SAMPLE].values, "latency", 32, "latency");
	if (!s->tokens)
		return;
	buffer_byte(out, '\n');
	if (s->scenario == OFFLINE)
		return;
	if (s->scenario == SINGLE_STREAM) {
		put_rate(out, "TPS w/ loadgen overhead         : ", (double)load->output_tokens / s->issued_s);
		put_rate(out, "TPS w/o loadgen overhead        : ", (double)load->output_tokens / mean_s / (double)load->ok);
	} else {
		put_rate(out, "Completed tokens per second                 : ", (double)load->output_tokens / s->done_s);
	}
	put_distribution(out, &s->list[TTFT].values, "First Token latency", 44, "first token latency");
	buffer_byte(out, '\n');
	put_distribution(out, &s->list[TPOT].values, "Time per Output Token", 46, "time to output token");
}

/* Known ones; LoadGen's others are about its own samples and seeds. */
static void put_parameters(struct buffer *out, struct summary *s)
{
	static const char *const names[LATENCIES] = {"target_latency", "ttft_latency", "tpot_latency"};
	const struct load *load = s->load;
	buffer_format(out, "samples_per_query : %lld\n", (long long)(s->scenario == OFFLINE ? load->sent : 1));
	if (!isnan(load_rate(load)))
		buffer_format(out, "target_qps : %g\n", load_rate(load));
	for (int i = 0; i < LATENCIES; i++)
		if (is_judged(s, i) && !isnan(s->list[i].limit_ns))
			buffer_format(out, "%s (ns): %.0f\n", names[i], s->list[i].limit_ns);
	buffer_format(out, "max_async_queries : %lld\n",
	              (long long)(load_slots(load) == IPF_ABSENT ? 0 : load_slots(load)));
	buffer_format(out, "min_duration (ms): %d\nmax_duration (ms): 0\n", MIN_DURATION_MS);
	buffer_format(out, "min_query_count : %d\nmax_query_count : 0\n", s->scenario == OFFLINE ? 1 : MIN_QUERIES);
}

static void put_count(struct buffer *out, int64_t count, const char *none, const char *one, const char *many)
{
	if (count == 0)
		buffer_format(out, "\nNo %s encountered during test.\n", none);
	else
		buffer_format(out, "\n%lld %s encountered. See detailed log.\n", (long long)count, count == 1 ? one : many);
}

/* The doubts of the verdict. */
static int64_t warnings(const struct report *report)
{
	json_t *check;
	size_t i;
	int64_t count = 0;
	json_array_foreach(json_object_get(report->verdict, "checks"), i, check)
	{
		const char *status = json_string_value(json_object_get(check, "status"));
		count += status && strcmp(status, verdict_status_name(VERDICT_OK)) != 0 &&
		         strcmp(status, verdict_status_name(VERDICT_NOT_APPLICABLE)) != 0;
	}
	return count;
}

static void render(const struct report *report, struct buffer *out)
{
	struct load load;
	load_init(&load, report, LOAD_ALL);
	struct summary s = {.load = &load, .scenario = scenario_of(&load)};
	const char *name = load_model(&load) ? load_model(&load) : load_target(&load);
	find_times(&s);
	find_latencies(&s);
	judge(&s);
	put_title(out, "MLPerf Results Summary");
	buffer_text(out, "SUT name : ");
	safe_text_append(out, slice_of(name ? name : "unknown"));
	buffer_format(out, "\nScenario : %s\nMode     : PerformanceOnly\n", scenario_names[s.scenario]);
	put_main_figure(out, &s);
	put_result(out, &s);
	put_early_stopping(out, &s);
	buffer_byte(out, '\n');
	put_title(out, "Additional Stats");
	put_additional(out, &s);
	buffer_byte(out, '\n');
	put_title(out, "Test Parameters Used");
	put_parameters(out, &s);
	put_count(out, warnings(report), "warnings", "warning", "warnings");
	put_count(out, load.failed, "errors", "ERROR", "ERRORS");
	for (int i = 0; i < LATENCIES; i++)
		row_values_release(&s.list[i].values);
}

const struct report_format format_mlperf = {.times = true, .render = render, .tool = &tool_rules[TOOL_MLPERF]};
