/* ipf-collect: what the records mean. A pure function of them, live in a pipe and again later from the file. */
#include "absent.h"
#include "collect.h"
#include "explain.h"

#include <string.h>

static const struct option_spec specs[] = {
	OPTION(
		OPTION_FILE, 't', "tokenizer", "NAME", struct collect_options, tokenizer,
		"count output tokens from the text, with a model's tokenizer.json; \"approx\" takes 4 bytes for one (default: only the server's usage "
		"counts)"),
	OPTION(
		OPTION_TEXT, 0, "itl", "MODE", struct collect_options, itl,
		"what an inter-token sample is: gap (default), token (a gap shared out over the tokens of the event that ends it) or request "
		"(the mean gap of a request)"),
	OPTION(OPTION_DURATION, 0, "stall", "TIME", struct collect_options, stall_ns,
           "a gap longer than this is a stall (default: 10 medians of the request's gaps, and 100ms)"),
	OPTION(
		OPTION_DURATION, 0, "deadline", "TIME", struct collect_options, deadline_ns,
		"measure the fluidity: the share of tokens that come no later than TIME after the one before, time saved being carried over"),
	OPTION(OPTION_FLAG, 0, "events", NULL, struct collect_options, events,
           "keep the time and the tokens of each content event"),
	OPTION(OPTION_FLAG, 0, "text", NULL, struct collect_options, text, "keep the answers and their reasoning"),
	OPTION(OPTION_FLAG, 0, "explain", NULL, struct collect_options, explain,
           "write in plain words what is understood of each answer, and what is not, in place of results"),
	OPTION(OPTION_FILE, 0, "api", "NAME", struct collect_options, api,
           "understand the answers by this descriptor, a built-in one or a FILE (default: the one in the records)"),
	COMMON_OPTIONS(struct collect_options, common),
};

static const struct program program = {
	.name = "ipf-collect",
	.operands = "[RECORDS…]",
	.summary = "understand what ipf-fire recorded, by the definitions of ipf-results(5)",
	.details = "  ipf-fire -u URL -t chat.trace.zst chat.sched | ipf-collect -o chat.results.zst\n"
			   "  ipf-collect -t approx --events chat.records.zst | jq .ttft_ns\n",
	.specs = specs,
	.count = sizeof specs / sizeof *specs,
	.min_operands = 0,
	.max_operands = -1,
	.libraries = NULL,
};

static int check(const struct collect_options *options, struct ipf_error *err)
{
	if (strcmp(options->itl, "gap") != 0 && strcmp(options->itl, "token") != 0 && strcmp(options->itl, "request") != 0)
		return ipf_error_set(err, IPF_USAGE, "--itl: expected gap, token or request, got \"%s\"", options->itl);
	if (options->deadline_ns == 0)
		return ipf_error_set(err, IPF_USAGE, "--deadline: expected a time above 0, got 0");
	return 0;
}

/* The lines of `text` on standard error, each with our name. */
static void say(const struct buffer *text)
{
	for (const char *line = text->data, *end; line && (end = strchr(line, '\n')); line = end + 1)
		fprintf(stderr, "%s: %.*s\n", program.name, (int)(end - line), line);
}

int main(int argc, char **argv)
{
	struct collect_options options = {
		.common = COMMON_DEFAULTS, .itl = "gap", .stall_ns = IPF_ABSENT, .deadline_ns = IPF_ABSENT};
	struct operands operands;
	struct collect *collect = NULL;
	struct buffer notes = {0};
	struct ipf_error err = {0}, failure = {0};
	int status;
	if (!program_start(&program, argc, argv, &options, &operands, &status))
		return status;
	if (check(&options, &err) < 0)
		return program_misuse(&program, &err);
	if (options.explain)
		return ipf_error_report((explain_run(&options, &operands, &err), &err), stderr, program.name);
	if (collect_open(&collect, &options, &operands,
	                 options_argv(&program, argc, argv, false, options.common.reproducible), &err) < 0 ||
	    collect_run(collect, &err) < 0) {
		collect_abandon(collect);
		return ipf_error_report(&err, stderr, program.name);
	}
	collect_describe(collect, options.common.verbose > 0, &notes);
	if (collect_close(collect, &failure) < 0)
		status = ipf_error_report(&failure, stderr, program.name);
	else
		status = ipf_error_report(&err, stderr, program.name);
	if (!options.common.quiet)
		say(&notes);
	buffer_release(&notes);
	return status;
}
