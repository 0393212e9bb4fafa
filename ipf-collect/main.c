/* ipf-collect: turns the records of ipf-fire into results, live in a pipe or later from a file. */
#include "absent.h"
#include "cli/terminal.h"
#include "cli/units.h"
#include "clock.h"
#include "check_records.h"
#include "collect.h"
#include "collect_sandbox.h"
#include "explain.h"
#include "gpu/accelerators.h"
#include "header_field.h"
#include "http/tls_files.h"
#include "safe_text.h"
#include "series/series.h"

#include <string.h>

static int parse_until_stable(const char *value, void *variable, struct ipf_error *err)
{
	return until_stable_parse(value, variable, err);
}

static const struct option_spec specs[] = {
	OPTION_HEADING("Reading responses"),
	OPTION_OFFERING(
		OPTION_FILE, 0, "api", "NAME", struct collect_options, api, NULL, api_offer,
		"parse responses by this API descriptor, a built-in one or a FILE (default: the one in the records)"),
	OPTION(
		OPTION_FILE, 't', "tokenizer", "NAME", struct collect_options, tokenizer,
		"count output tokens from the text with a model's tokenizer: its name on the Hugging Face hub (gpt2, OWNER/NAME) or "
		"a tokenizer.json; \"approx\" counts a token for every 4 bytes "
		"(default: use the server's usage, or else count events)"),
	OPTION(OPTION_FILE, 0, "check-output", "RULE", struct collect_options, output_check.rule,
           "check the text of each answer: json, a FILE with a JSON Schema, or format, the response_format of its "
           "request in --trace"),
	OPTION(OPTION_FILE, 0, "trace", "FILE", struct collect_options, output_check.trace,
           "the trace of the run, for --check-output format"),
	OPTION_HEADING("Metrics"),
	OPTION_CHOICE_OF(
		0, "itl", "MODE", struct collect_options, measure.itl, itl_mode_names,
		"inter-token latency sample: gap (default), token (a gap divided among the tokens of the event ending it) or "
		"request (the mean gap of a request)"),
	OPTION_CHOICE_OF(0, "definition", "TOOL", struct collect_options, definition, tool_names,
                     "results by the definitions of another tool: " TOOL_NAMES " (default: those of ipf-results(5))"),
	OPTION(OPTION_DURATION, 0, "stall", "TIME", struct collect_options, measure.stall_ns,
           "count a gap longer than TIME as a stall (default: 10 times the request's median gap, and at least 100ms)"),
	OPTION(OPTION_DURATION, 0, "deadline", "TIME", struct collect_options, measure.deadline_ns,
           "measure fluidity: the share of tokens within TIME of the previous token's deadline"),
	OPTION(OPTION_TEXT, 0, "replica-header", "NAME", struct collect_options, measure.replica_header,
           "take the replica from this response header, recorded by ipf-fire --record-header"),
	OPTION_HEADING("While the run lasts"),
	OPTION(OPTION_LIST, 0, "gpu", "SOURCE", struct collect_options, gpu,
           "sample accelerators: auto, nvml, nvidia-smi, amd-smi, or an exporter: dcgm:URL or amd:URL (repeatable)"),
	OPTION(OPTION_LIST, 0, "scrape", "[NAME=]URL", struct collect_options, scrape.targets,
           "scrape a server's metrics while the run lasts, from URL or its /metrics (repeatable)"),
	OPTION(OPTION_LIST, 0, "metric", "PATTERN", struct collect_options, scrape.metrics,
           "keep the metrics whose names match PATTERN, in addition to the known ones (repeatable)"),
	OPTION(OPTION_DURATION, 0, "scrape-timeout", "TIME", struct collect_options, scrape.timeout_ns,
           "time limit of a scrape (default: 5s)"),
	OPTION_UNSHAPING(OPTION_TEXT, 0, "scrape-bearer", "FILE|!COMMAND", struct collect_options, scrape.bearer,
                     "send the bearer token in FILE, or the one printed by COMMAND, with each scrape"),
	OPTION(OPTION_FILE, 0, "cacert", "FILE", struct collect_options, scrape.cacert,
           "trust the certificates in FILE (PEM)"),
	OPTION(OPTION_FLAG, 0, "insecure", NULL, struct collect_options, scrape.insecure,
           "do not verify servers' certificates"),
	OPTION_PARSED_BY(0, "until-stable", "LIMIT", struct collect_options, until_stable, parse_until_stable,
                     "end the run when throughput and latency are within LIMIT over three windows of 10s: 5%, or "
                     "5%,windows=3,window=10s"),
	OPTION_HEADING("After the run"),
	OPTION(OPTION_TEXT, 0, "prometheus", "URL", struct collect_options, scrape.prometheus,
           "ask the Prometheus at URL for the known metrics of servers during the run"),
	OPTION(OPTION_LIST, 0, "query", "NAME=PROMQL", struct collect_options, scrape.queries,
           "ask it for PROMQL instead, whose value becomes the gauge NAME (repeatable)"),
	OPTION(OPTION_TEXT, 0, "job", "NAME", struct collect_options, scrape.job,
           "ask it only for metrics with this label job"),
	OPTION(OPTION_TEXT, 0, "namespace", "NAME", struct collect_options, scrape.namespace,
           "ask it only for metrics with this label namespace"),
	OPTION(OPTION_DURATION, 0, "prometheus-timeout", "TIME", struct collect_options, scrape.prometheus_timeout_ns,
           "time limit of a question to it (default: 30s)"),
	OPTION_UNSHAPING(OPTION_TEXT, 0, "prometheus-bearer", "FILE|!COMMAND", struct collect_options,
                     scrape.prometheus_bearer, "send the bearer token in FILE, or the one printed by COMMAND, to it"),
	OPTION_HEADING("Results"),
	OPTION(OPTION_DURATION, 0, "every", "TIME", struct collect_options, every_ns,
           "sum the run up in windows of TIME, and sample devices each TIME, from 100ms to 1h (default: 1s)"),
	OPTION(OPTION_FILE, 0, "samples", "RESULTS", struct collect_options, samples,
           "take the samples of servers and accelerators over from earlier results of the same run"),
	OPTION(OPTION_FLAG, 0, "events", NULL, struct collect_options, measure.keep_events,
           "include the time and the tokens of each content event"),
	OPTION(OPTION_FLAG, 0, "text", NULL, struct collect_options, measure.keep_text,
           "include the text of the responses and their reasoning"),
	OPTION(OPTION_FLAG, 0, "explain", NULL, struct collect_options, explain,
           "print how each response is parsed, and its missing parts, instead of results"),
	OPTION(OPTION_TEXT, 0, "where", "CONDITION", struct collect_options, where,
           "with --explain: only failed requests, or ok, failed=KIND, id=ID"),
	OPTION(OPTION_FLAG, 0, "check", NULL, struct collect_options, check,
           "print every violation of ipf-records(5) instead of results: for records of other load generators"),
	OPTION_HEADING("Publishing"),
	OPTION_UNSHAPING(
		OPTION_TEXT, 0, "listen", "ADDRESS", struct collect_options, publish.listen,
		"serve the run's figures so far to Prometheus at http://ADDRESS/metrics: HOST:PORT, [IPv6]:PORT or "
		":PORT, which is this machine only; port 0 chooses one"),
	OPTION_UNSHAPING(OPTION_DURATION, 0, "linger", "TIME", struct collect_options, publish.linger_ns,
                     "keep --listen open after the results are complete until they were scraped, at most for TIME "
                     "(default: 0)"),
	OPTION_UNSHAPING(
		OPTION_LIST, 0, "push", "[KIND=]URL", struct collect_options, publish.push.figures.targets,
		"send the run's figures so far to a Pushgateway (KIND pushgateway) or by Prometheus remote write "
		"(remote-write), at each --every and at the end; repeatable (default KIND: by the path of the URL)"),
	OPTION_UNSHAPING(OPTION_TEXT, 0, "push-key-env", "NAME", struct collect_options, publish.push.figures.key.env,
                     "environment variable with the key for --push: a token, or user:password"),
	OPTION_UNSHAPING(OPTION_FILE, 0, "push-key-file", "FILE", struct collect_options, publish.push.figures.key.file,
                     "file with the key for --push, instead of a variable"),
	OPTION_UNSHAPING(OPTION_TEXT, 0, "otlp", "URL", struct collect_options, publish.push.otlp,
                     "send a span for each request to an OpenTelemetry collector by OTLP/HTTP, such as "
                     "http://localhost:4318"),
	OPTION_UNSHAPING(OPTION_TEXT, 0, "otlp-key-env", "NAME", struct collect_options, publish.push.otlp_key.env,
                     "environment variable with the key for --otlp: a token, or user:password"),
	OPTION_UNSHAPING(OPTION_FILE, 0, "otlp-key-file", "FILE", struct collect_options, publish.push.otlp_key.file,
                     "file with the key for --otlp, instead of a variable"),
	COMMON_OPTIONS(struct collect_options, common),
	OPTION_UNSHAPING(OPTION_FLAG, 0, "sandbox", NULL, struct collect_options, sandbox,
                     "once everything is open, keep only the needed files, ports and system calls"),
};

static const struct program program = {
	.name = "ipf-collect",
	.operands = "[RECORDS…]",
	.summary = "turn the records of ipf-fire into results, as ipf-results(5) defines them",
	.details = "  ipf-fire -u URL -t chat.trace.zst chat.sched | ipf-collect -o chat.results.zst\n"
			   "  ipf-collect -t approx --events chat.records.zst | jq 'select(.n).ttft_ns'\n",
	.specs = specs,
	.count = sizeof specs / sizeof *specs,
	.min_operands = 0,
	.max_operands = -1,
	.libraries = publish_libraries,
};

/* Prints each line of `text` on standard error, after the program's name. */
static void print_notes(const struct buffer *text)
{
	for (const char *line = text->data, *end; line && (end = strchr(line, '\n')); line = end + 1) {
		fprintf(stderr, "%s: ", program.name);
		safe_text_write(stderr, (struct slice){line, (size_t)(end - line)});
		fputc('\n', stderr);
	}
}

/* Options for one source of samples. */
static int check_sources(const struct scrape_options *o, struct ipf_error *err)
{
	if (o->metrics.count && !o->targets.count && !o->prometheus)
		return ipf_error_set(err, IPF_USAGE, "--metric needs --scrape or --prometheus");
	if (o->metrics.count && !o->targets.count && o->queries.count)
		return ipf_error_set(err, IPF_USAGE, "--metric is not for --query, whose NAME keeps the value");
	if (o->bearer && !o->targets.count)
		return ipf_error_set(err, IPF_USAGE, "--scrape-bearer needs --scrape");
	return 0;
}

static int check_prometheus(const struct scrape_options *o, struct ipf_error *err)
{
	char time[32];
	if (!o->prometheus && (o->queries.count || o->job || o->namespace || o->prometheus_bearer))
		return ipf_error_set(err, IPF_USAGE, "--query, --job, --namespace and --prometheus-bearer need --prometheus");
	if (o->queries.count && (o->job || o->namespace))
		return ipf_error_set(err, IPF_USAGE, "--job and --namespace are not for --query: put them into the expression");
	if (o->prometheus && o->targets.count && !o->queries.count)
		return ipf_error_set(
			err, IPF_USAGE,
			"--scrape and --prometheus without --query would count servers twice: leave one of them out");
	if (o->prometheus_timeout_ns < NS_PER_MS)
		return ipf_error_set(err, IPF_USAGE, "--prometheus-timeout: expected at least 1ms, got %s",
		                     format_duration(o->prometheus_timeout_ns, time));
	return 0;
}

static int check_definition(const struct collect_options *options, struct ipf_error *err)
{
	if (options->definition < 0)
		return 0;
	if (tool_rules[options->definition].from_due)
		return ipf_error_set(err, IPF_USAGE,
		                     "--definition %s: its latencies count from when a request was due, which rows do not; "
		                     "ipf-report --as %s shows them",
		                     tool_names[options->definition], tool_names[options->definition]);
	if (options->measure.itl != ITL_GAP)
		return ipf_error_set(err, IPF_USAGE, "--itl is not for --definition, which defines the samples");
	return 0;
}

static int check(const struct collect_options *options, struct ipf_error *err)
{
	char every[32];
	if (options->measure.deadline_ns == 0)
		return ipf_error_set(err, IPF_USAGE, "--deadline: expected a time above 0, got 0");
	const char *replica = options->measure.replica_header;
	if (replica && !header_name_is_valid(replica, strlen(replica)))
		return ipf_error_set(err, IPF_USAGE, "--replica-header: expected the name of a header, got \"%.60s\"", replica);
	if (options->every_ns < SERIES_EVERY_LEAST_NS || options->every_ns > SERIES_EVERY_MOST_NS)
		return ipf_error_set(err, IPF_USAGE, "--every: expected a time from 100ms to 1h, got %s",
		                     format_duration(options->every_ns, every));
	if (options->scrape.timeout_ns < NS_PER_MS)
		return ipf_error_set(err, IPF_USAGE, "--scrape-timeout: expected at least 1ms, got %s",
		                     format_duration(options->scrape.timeout_ns, every));
	if (options->samples && (options->gpu.count || options->scrape.targets.count || options->scrape.prometheus))
		return ipf_error_set(err, IPF_USAGE, "--samples takes the samples of an earlier collection: not with %s",
		                     options->gpu.count              ? "--gpu"
		                     : options->scrape.targets.count ? "--scrape"
		                                                     : "--prometheus");
	if (check_definition(options, err) < 0 || check_sources(&options->scrape, err) < 0 ||
	    check_prometheus(&options->scrape, err) < 0)
		return -1;
	if (output_check_usage(&options->output_check, err) < 0)
		return -1;
	if (options->output_check.rule && (options->explain || options->check))
		return ipf_error_set(err, IPF_USAGE, "--check-output cannot be combined with --%s",
		                     options->explain ? "explain" : "check");
	return accelerators_check(&options->gpu, err) < 0 ? -1 : collect_sandbox_check(options, err);
}

int main(int argc, char **argv)
{
	struct collect_options options = {.common = COMMON_DEFAULTS,
	                                  .every_ns = NS_PER_S,
	                                  .scrape = {.timeout_ns = 5 * NS_PER_S, .prometheus_timeout_ns = 30 * NS_PER_S},
	                                  .definition = -1,
	                                  .measure = {.stall_ns = IPF_ABSENT, .deadline_ns = IPF_ABSENT}};
	struct operands operands;
	struct collect *collect = NULL;
	struct buffer notes = {0};
	struct ipf_error err = {0}, failure = {0};
	int status;
	if (!program_start(&program, argc, argv, &options, &operands, &status))
		return status;
	if (check(&options, &err) < 0)
		return program_misuse(&program, &err);
	if (options.until_stable.text && operands.count > 1) {
		ipf_error_set(&err, IPF_USAGE, "--until-stable: expected the records of one client, got %d inputs",
		              operands.count);
		return program_misuse(&program, &err);
	}
	options.publish.push.every_ns = options.every_ns;
	if (publish_check(&options.publish, &err) < 0 || tls_files_check(options.scrape.cacert, NULL, NULL, &err) < 0)
		return err.kind == IPF_USAGE ? program_misuse(&program, &err) : ipf_error_report(&err, stderr, program.name);
	if (options.explain && options.check) {
		ipf_error_set(&err, IPF_USAGE, "--check cannot be combined with --explain");
		return program_misuse(&program, &err);
	}
	if (options.where && !options.explain) {
		ipf_error_set(&err, IPF_USAGE, "--where selects responses for --explain: add --explain");
		return program_misuse(&program, &err);
	}
	if (options.where && explain_where_check(options.where, &err) < 0)
		return program_misuse(&program, &err);
	if (options.check)
		return ipf_error_report((check_run(&options, &operands, &err), &err), stderr, program.name);
	if (options.explain)
		return ipf_error_report((explain_run(&options, &operands, &err), &err), stderr, program.name);
	if (collect_open(&collect, &options, &operands,
	                 options_argv(&program, argc, argv, false, options.common.reproducible), &err) < 0 ||
	    collect_run(collect, &err) < 0) {
		collect_abandon(collect);
		return ipf_error_report(&err, stderr, program.name);
	}
	int ended = collect_end(collect, err.kind == IPF_OK, options.common.verbose > 0, &notes, &failure);
	if (!options.common.quiet && ended == 0)
		print_notes(&notes);
	terminal_give();
	buffer_release(&notes);
	if (ended < 0)
		collect_abandon(collect);
	if (ended < 0 || collect_close(collect, &failure) < 0)
		return ipf_error_report(&failure, stderr, program.name);
	return ipf_error_report(&err, stderr, program.name);
}
