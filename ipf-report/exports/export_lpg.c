/* -f lpg: the file of the latency-profile-generator, AI-Hypercomputer/inference-benchmark at c29b163
 * (benchmark_serving.py, save_json_results). ipf-exports(5) has a table of it.
 *
 * Milliseconds. All measured stages are one run. A request ends with its response. */
#include "exports/row_values.h"
#include "json/jout.h"

#include "absent.h"

#include <math.h>
#include <string.h>

static double per_token(const struct row *row)
{
	double tokens = row_input(row) + row_output(row);
	return tokens > 0 ? row_e2e(row) / tokens : NAN;
}

/* As "avg_latency_ms" …; or, for `name` NULL, as "mean" … */
static void put_members(struct jout *w, const char *name, struct row_values *v)
{
	const struct {
		const char *key, *alone;
		double value;
	} members[] = {{"avg", "mean", v->mean},
	               {"median", "median", row_values_percentile(v, 50)},
	               {"sd", "sd", v->std},
	               {"min", "min", v->min},
	               {"max", "max", v->max},
	               {"p90", "p90", row_values_percentile(v, 90)},
	               {"p99", "p99", row_values_percentile(v, 99)}};
	char key[64];
	for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
		snprintf(key, sizeof key, "%s_%s", members[i].key, name ? name : "");
		jout_member_double(w, name ? key : members[i].alone, members[i].value);
	}
	row_values_release(v);
}

static const struct {
	const char *name, *summary; /* in "metrics", and in "summary_stats" */
	row_value value;
	double per;
} figures[] = {
	{"per_token_latency_ms", NULL, per_token, 1e6},  {"TTFT_ms", NULL, row_ttft, 1e6},
	{"latency_ms", "request_latency", row_e2e, 1e6}, {"normalized_time_per_output_token_ms", "tpot", row_tpot, 1e6},
	{"input_len", "input_length", row_input, 1},     {"output_len", "output_length", row_output, 1}};
enum { FIGURES = sizeof figures / sizeof *figures };

/* Requests sent per second, until the last one was sent. */
static double queries_per_second(const struct load *load)
{
	int64_t last = IPF_ABSENT;
	for_load(load, row)
	{
		int64_t start = load_start_ns(load, row);
		last = last == IPF_ABSENT || start > last ? start : last;
	}
	return last != IPF_ABSENT && last > load->begin_ns ? (double)load->sent / ((double)(last - load->begin_ns) / 1e9)
	                                                   : NAN;
}

static void put_errors(struct jout *w, const struct load *load)
{
	static const char *const names[] = {"ClientConnectorError",    "TimeoutError", "ContentTypeError", "ClientOSError",
	                                    "ServerDisconnectedError", "unknown_error"};
	int64_t counts[sizeof names / sizeof *names] = {0};
	for_load(load, row)
	{
		if (row->ok)
			continue;
		const char *kind = row->error < 0 ? "" : verdict_kinds[row->error];
		counts[strcmp(kind, "connect") == 0 || strcmp(kind, "tls") == 0 ? 0
		       : strcmp(kind, "timeout") == 0                           ? 1
		       : strcmp(kind, "malformed") == 0                         ? 2
		       : strcmp(kind, "reset") == 0 || strcmp(kind, "cut") == 0 ? 4
		                                                                : 5]++;
	}
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		jout_member_int(w, names[i], counts[i]);
}

static void put_metrics(struct jout *w, const struct load *load)
{
	double s = load->duration_s;
	struct row_values v;
	jout_key(w, "metrics");
	jout_begin_map(w);
	jout_member_int(w, "num_prompts_attempted", load->sent);
	jout_member_int(w, "num_prompts_succeeded", load->ok);
	jout_member_double(w, "request_rate", load_rate(load));
	jout_member_double(w, "queries_per_second", queries_per_second(load));
	jout_key(w, "server_metrics");
	jout_begin_map(w);
	jout_end_map(w);
	jout_member_double(w, "benchmark_time", s);
	jout_member_double(w, "throughput_rps", (double)load->sent / s);
	jout_member_double(w, "throughput", (double)load->output_tokens / s);
	jout_member_int(w, "total_output_token", load->output_tokens);
	jout_member_int(w, "total_input_tokens", load->input_tokens);
	jout_member_double(w, "input_tokens_per_sec", (double)load->input_tokens / s);
	jout_member_int(w, "total_tokens", load->input_tokens + load->output_tokens);
	jout_member_double(w, "tokens_per_sec", (double)(load->input_tokens + load->output_tokens) / s);
	for (int i = 0; i < FIGURES; i++) {
		row_values_of(&v, load, LOAD_OK, figures[i].value, figures[i].per);
		put_members(w, figures[i].name, &v);
	}
	row_values_of_gaps(&v, load, 1e6);
	put_members(w, "ITL_ms", &v);
	put_errors(w, load);
	jout_end_map(w);
}

static void put_summary(struct jout *w, const struct load *load)
{
	struct row_values v;
	jout_key(w, "summary_stats");
	jout_begin_map(w);
	jout_key(w, "stats");
	jout_begin_list(w);
	jout_begin_map(w);
	jout_member_double(w, "request_rate", load_rate(load));
	for (int i = 0; i < FIGURES; i++) {
		if (!figures[i].summary)
			continue;
		jout_key(w, figures[i].summary);
		jout_begin_map(w);
		row_values_of(&v, load, LOAD_OK, figures[i].value, figures[i].per);
		put_members(w, NULL, &v);
		jout_end_map(w);
	}
	jout_key(w, "throughput");
	jout_begin_map(w);
	jout_member_double(w, "mean", (double)load->output_tokens / load->duration_s);
	jout_end_map(w);
	jout_key(w, "model_server_metrics");
	jout_begin_list(w);
	jout_end_list(w);
	jout_end_map(w);
	jout_end_list(w);
	jout_end_map(w);
}

static const char *const own_dimensions[] = {"date", "backend", "model_id", "tokenizer_id", NULL};

static void render(const struct report *report, struct buffer *out)
{
	struct jout w = {.out = out};
	struct load load;
	load_init(&load, report, LOAD_ALL);
	struct load_date date = load_date(load.begin_unix_ns);
	jout_begin_map(&w);
	put_metrics(&w, &load);
	jout_key(&w, "dimensions");
	jout_begin_map(&w);
	if (*date.text)
		jout_member_string(&w, "date", slice_of(date.text));
	jout_member_string(&w, "backend", slice_of(load_api(&load)));
	jout_member_string(&w, "model_id", slice_of(load_model(&load)));
	jout_member_string(&w, "tokenizer_id", slice_of(load_tokenizer(&load)));
	load_put_meta(&w, &load, own_dimensions);
	jout_end_map(&w);
	jout_key(&w, "config");
	jout_begin_map(&w);
	jout_member_string(&w, "model", slice_of(load_model(&load)));
	jout_member_int(&w, "num_models", report->run->groups[BY_MODEL].count);
	jout_member_string(&w, "model_server", slice_of(load_api(&load)));
	if (load.begin_unix_ns != IPF_ABSENT) {
		jout_key(&w, "start_time");
		jout_begin_map(&w);
		jout_member_int(&w, "seconds", load.begin_unix_ns / 1000000000);
		jout_member_int(&w, "nanos", load.begin_unix_ns % 1000000000);
		jout_end_map(&w);
	}
	jout_end_map(&w);
	put_summary(&w, &load);
	jout_end_map(&w);
	buffer_byte(out, '\n');
}

const struct report_format format_lpg = {.times = true, .render = render, .tool = &tool_rules[TOOL_LPG]};
