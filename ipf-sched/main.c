/* ipf-sched: decides when requests are sent. A pure function of its stages, the seed and the trace. */
#include "absent.h"
#include "cli/options.h"
#include "plan.h"
#include "resources.h"
#include "stage.h"
#include "schedule_stat.h"
#include "stream/provenance.h"
#include "stream/stream.h"
#include "cli/units.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define MOST_SHARDS     4096
#define STATUS_ANSWERED 10 /* a search knows its answer: no schedule */

struct sched_options {
	struct common_options common;
	const char *trace, *shard, *plot;
	struct string_list results;
	bool list;
};

static const struct option_spec specs[] = {
	OPTION(OPTION_FILE, 't', "trace", "FILE", struct sched_options, trace,
           "the request trace: its length, its sessions and its recorded arrivals"),
	OPTION(OPTION_LIST, 'r', "results", "FILE", struct sched_options, results,
           "results of an earlier run of a search; may stand several times"),
	OPTION(OPTION_TEXT, 0, "shard", "K/N", struct sched_options, shard, "write only part K of N, for one of N clients"),
	OPTION_UNSHAPING(OPTION_FILE, 0, "plot", "FILE", struct sched_options, plot,
                     "with stat: draw the rate over time to FILE, .png or .svg (needs gnuplot)"),
	OPTION_UNSHAPING(OPTION_FLAG, 0, "list", NULL, struct sched_options, list,
                     "list the kinds of stages with their keys"),
	SEED_OPTION(struct sched_options, common),
	COMMON_OPTIONS(struct sched_options, common),
};

static const struct program program = {
	.name = "ipf-sched",
	.operands = "STAGE… | stat [FILE]",
	.summary = "decide when requests are sent",
	.details = "A STAGE is KIND:key=value,… and stages run one after another:\n"
			   "  ipf-sched poisson:rate=5,for=10s,warmup poisson:rate=20,for=60s\n"
			   "  ipf-sched closed:users=32,for=60s -t chat.trace.zst -o chat.sched\n"
			   "  ipf-sched replay:speed=2 -t azure.trace.zst | ipf-fire -t azure.trace.zst …\n"
			   "`ipf-sched stat` describes a schedule: rates, gaps, are they as claimed?\n",
	.specs = specs,
	.count = sizeof specs / sizeof *specs,
	.min_operands = 0,
	.max_operands = -1,
	.plain_operands = true,
};

/* To the file of -o, or standard output. */
static int write_text(const struct buffer *text, const char *path, struct ipf_error *err)
{
	FILE *to = path && strcmp(path, "-") != 0 ? fopen(path, "w") : stdout;
	const char *name = to == stdout ? "standard output" : path;
	bool bad;

	if (!to)
		return ipf_error_errno(err, errno, path, "cannot open for writing");
	bad = fwrite(text->data, 1, text->len, to) < text->len;
	bad |= fflush(to) != 0;
	if (bad)
		ipf_error_errno(err, errno, name, "cannot write");
	if (to != stdout && fclose(to) != 0)
		ipf_error_errno(err, errno, name, "cannot close");
	return err->kind == IPF_OK ? 0 : -1;
}

static int list_kinds(const struct sched_options *options)
{
	struct ipf_error err = {0};
	struct buffer text = {0};

	stages_describe(&text);
	if (text.failed)
		ipf_error_memory(&err);
	else
		write_text(&text, options->common.output, &err);
	buffer_release(&text);
	return ipf_error_report(&err, stderr, program.name);
}

/* What makes a schedule says nothing of one that is made. */
static int check_stat(const struct sched_options *options, const struct operands *operands, struct ipf_error *err)
{
	if (operands->count > 2)
		return ipf_error_set(err, IPF_USAGE, "stat: expected one schedule, got another one: %s", operands->items[2]);
	if (options->trace)
		return ipf_error_set(err, IPF_USAGE, "stat: expected no trace, got -t %s", options->trace);
	if (options->results.count)
		return ipf_error_set(err, IPF_USAGE, "stat: expected no results, got -r %s", options->results.items[0]);
	if (options->shard)
		return ipf_error_set(err, IPF_USAGE, "stat: it shows the whole of a schedule, got --shard %s", options->shard);
	if (options->common.seed_given)
		return ipf_error_set(err, IPF_USAGE, "stat: --seed: nothing is drawn by chance");
	return options->plot ? rate_plot_check(options->plot, err) : 0;
}

/* ipf-sched stat [FILE] */
static int show_stat(const struct sched_options *options, const struct operands *operands)
{
	struct ipf_error err = {0}, cut = {0};
	struct buffer text = {0};
	struct rate_plot plot;

	if (check_stat(options, operands, &err) == 0 &&
	    schedule_stat_describe(operands->count > 1 ? operands->items[1] : NULL, &plot, &text, &cut, &err) == 0 &&
	    write_text(&text, options->common.output, &err) == 0 && options->plot &&
	    rate_plot_draw(&plot, options->plot, &err) == 0)
		fprintf(stderr, "%s: gnuplot is not installed: %s is not drawn\n", program.name, options->plot);
	buffer_release(&text);
	return ipf_error_report(err.kind == IPF_OK ? &cut : &err, stderr, program.name);
}

static json_t *make_header(const struct plan *plan, const struct resources *resources,
                           const struct sched_options *options, int argc, char **argv)
{
	struct provenance from = {
		.tool = program.name,
		.argv = options_argv(&program, argc, argv, true, options->common.reproducible),
		.from = json_array(),
		.has_seed = true,
		.seed = options->common.seed,
		.reproducible = options->common.reproducible,
	};
	json_t *header;

	if (plan->requests)
		json_array_append(from.from, plan->requests->header);
	json_array_extend(from.from, resources->observed.headers);
	json_array_extend(from.from, resources->files);
	header = stream_header("schedule", &from);
	if (header && schedule_to_header(&plan->schedule, header) < 0) {
		json_decref(header);
		header = NULL;
	}
	return header;
}

/* The digests of what was read, and why some of the trace is missing. */
static json_t *make_trailer(const struct plan *plan, const struct resources *resources, const struct ipf_error *cut)
{
	json_t *extra = json_object(), *from = json_array();

	if (plan->requests)
		json_array_append(from, plan->requests->digest);
	json_array_extend(from, resources->observed.digests);
	if (json_array_size(from) > 0)
		json_object_set(extra, "from", from);
	json_decref(from);
	if (cut->kind != IPF_OK)
		json_object_set_new(extra, "incomplete", json_string(cut->text));
	return extra;
}

static int write_schedule(const struct plan *plan, const struct resources *resources,
                          const struct sched_options *options, int argc, char **argv, struct progress *progress,
                          const struct ipf_error *cut, struct ipf_error *err)
{
	struct stream_writer *writer = NULL;
	json_t *header = make_header(plan, resources, options, argc, argv);
	int status;

	if (!header)
		return ipf_error_memory(err);
	status = stream_writer_open(&writer, options->common.output, header, err);
	json_decref(header);
	if (status < 0)
		return -1;
	status = plan_write(plan, writer, progress, err);
	if (status < 0) {
		stream_writer_abandon(writer);
		return -1;
	}
	return stream_writer_close(writer, make_trailer(plan, resources, cut), err);
}

/* What -v says: a line a stage. */
static void tell(const struct plan *plan)
{
	char begin[32], length[32], rate[32];

	for (size_t i = 0; i < plan->schedule.count; i++) {
		const struct schedule_stage *s = &plan->schedule.stages[i];
		fprintf(stderr, "%s: stage %s: %lld arrivals", program.name, s->name, (long long)s->arrivals);
		if (s->end_ns == IPF_ABSENT)
			fprintf(stderr, ", until the last has ended");
		else
			fprintf(stderr, ", %s from %s on", format_duration(s->end_ns - s->begin_ns, length),
			        format_duration(s->begin_ns, begin));
		if (isfinite(s->rate))
			fprintf(stderr, ", planned %s/s", format_count(s->rate, rate));
		if (plan->requests && s->arrivals > plan->requests->count)
			fprintf(stderr, ", the trace %.2f times over", (double)s->arrivals / (double)plan->requests->count);
		fprintf(stderr, "\n");
	}
}

/* "2/8" */
static int parse_shard(const char *text, struct plan *plan, struct ipf_error *err)
{
	char index[24];
	const char *slash = strchr(text, '/');
	struct ipf_error what = {0};

	if (!slash || (size_t)(slash - text) >= sizeof index)
		return ipf_error_set(err, IPF_USAGE, "--shard: expected K/N such as 2/8, got \"%.200s\"", text);
	snprintf(index, sizeof index, "%.*s", (int)(slash - text), text);
	if (parse_count(index, &plan->shard, &what) < 0 || parse_count(slash + 1, &plan->shards, &what) < 0 ||
	    plan->shard < 1 || plan->shard > plan->shards || plan->shards > MOST_SHARDS)
		return ipf_error_set(err, IPF_USAGE, "--shard: expected K/N with K from 1 to N and N up to %d, got \"%.200s\"",
		                     MOST_SHARDS, text);
	return 0;
}

/* What was found in earlier results is decided upon here and nowhere else: the user should know. */
static void tell_notes(const struct buffer *notes, const struct sched_options *options)
{
	for (const char *line = notes->len && !options->common.quiet ? notes->data : ""; *line;
	     line += strcspn(line, "\n") + 1)
		fprintf(stderr, "%s: %.*s\n", program.name, (int)strcspn(line, "\n"), line);
}

static int read_stages(struct stages *stages, struct resources *resources, const struct sched_options *options,
                       const struct operands *operands, struct ipf_error *err)
{
	bool search = false;

	if (options->plot)
		return ipf_error_set(err, IPF_USAGE, "--plot: only stat draws: … | ipf-sched stat --plot %.100s",
		                     options->plot);

	for (int i = 0; i < operands->count; i++) {
		bool this_one = strncmp(operands->items[i], "search:", strlen("search:")) == 0;
		if (search && this_one)
			return ipf_error_set(err, IPF_USAGE, "stage %d (search): expected one search, got another one", i + 1);
		search |= this_one;
	}
	if (options->results.count && !search)
		return ipf_error_set(err, IPF_USAGE, "-r: only a search looks at results, and there is none among the stages");
	for (size_t i = 0; i < options->results.count; i++)
		if (observed_read(&resources->observed, options->results.items[i], err) < 0)
			return -1;
	if (stages_parse(stages, operands->items, operands->count, resources, err) < 0)
		return -1;
	tell_notes(&resources->notes, options);
	return 0;
}

static void resources_release(struct resources *resources)
{
	observed_release(&resources->observed);
	json_decref(resources->files);
	buffer_release(&resources->notes);
	buffer_release(&resources->answer);
}

/* 1: there is nothing left to schedule, a search has its answer. */
static int run(const struct sched_options *options, const struct operands *operands, int argc, char **argv,
               struct ipf_error *cut, struct ipf_error *err)
{
	struct stages stages = {0};
	struct resources resources = {0};
	struct requests requests = {0};
	struct plan plan = {.stages = &stages, .requests = options->trace ? &requests : NULL, .seed = options->common.seed};
	struct progress progress;
	int status = -1;

	progress_init(&progress, options->common.progress, options->common.quiet);
	if (options->shard && parse_shard(options->shard, &plan, err) < 0)
		goto out;
	if (read_stages(&stages, &resources, options, operands, err) < 0)
		goto out;
	if (resources.answer.len) {
		status = write_text(&resources.answer, NULL, err) < 0 ? -1 : 1;
		goto out;
	}
	if (options->trace && requests_read(&requests, options->trace, &progress, cut, err) < 0)
		goto out;
	plan.first_req = resources.first_req;
	if (plan_make(&plan, err) < 0)
		goto out;
	for (size_t i = 0; i < plan.schedule.count && !options->common.quiet; i++)
		if (plan.parts[i].note[0])
			fprintf(stderr, "%s: stage %s: %s\n", program.name, plan.schedule.stages[i].name, plan.parts[i].note);
	if (options->common.verbose && !options->common.quiet) {
		progress_end(&progress);
		tell(&plan);
	}
	status = write_schedule(&plan, &resources, options, argc, argv, &progress, cut, err);
out:
	progress_end(&progress);
	plan_release(&plan);
	requests_release(&requests);
	stages_release(&stages);
	resources_release(&resources);
	return status;
}

int main(int argc, char **argv)
{
	struct sched_options options = {.common = COMMON_DEFAULTS};
	struct ipf_error err = {0}, cut = {0};
	struct operands operands;
	int status;

	if (!program_start(&program, argc, argv, &options, &operands, &status))
		return status;
	if (options.list)
		return list_kinds(&options);
	if (operands.count > 0 && strcmp(operands.items[0], "stat") == 0)
		return show_stat(&options, &operands);
	if (operands.count == 0) {
		ipf_error_set(&err, IPF_USAGE, "expected at least one STAGE (--list shows the kinds)");
		return program_misuse(&program, &err);
	}
	status = run(&options, &operands, argc, argv, &cut, &err);
	if (status < 0)
		return ipf_error_report(&err, stderr, program.name);
	if (status == 1)
		return STATUS_ANSWERED;
	return ipf_error_report(&cut, stderr, program.name);
}
