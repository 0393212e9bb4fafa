/* ipf-sched: decides when requests are sent. A pure function of its stages, the seed and the trace. */
#include "absent.h"
#include "clock.h"
#include "cli/options.h"
#include "cli/text_output.h"
#include "safe_text.h"
#include "schedule_builder.h"
#include "inputs/stage_inputs.h"
#include "kinds/stage_kind.h"
#include "stages.h"
#include "schedule_stat.h"
#include "stream/provenance.h"
#include "stream/schedule.h"
#include "stream/stream.h"
#include "cli/units.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { STATUS_ANSWERED = 10 }; /* exit status: the search has its answer, there is no schedule */

/* One of `count` clients sharing a load, from 1; 0 of 0: there is only one. */
struct shard {
	int64_t index, count;
};

struct sched_options {
	struct common_options common;
	const char *trace, *plot;
	struct string_list results;
	struct shard shard;
	bool list, force, new_prompts;
};

/* "2/8" */
static int parse_shard(const char *text, void *variable, struct ipf_error *err)
{
	struct shard *shard = variable;
	struct ipf_error ignored = {0};
	char index[24];
	const char *slash = strchr(text, '/');

	if (!slash || (size_t)(slash - text) >= sizeof index)
		return ipf_error_set(err, IPF_USAGE, "expected K/N such as 2/8, got \"%.200s\"", text);
	snprintf(index, sizeof index, "%.*s", (int)(slash - text), text);
	if (parse_count(index, &shard->index, &ignored) < 0 || parse_count(slash + 1, &shard->count, &ignored) < 0 ||
	    shard->index < 1 || shard->index > shard->count || shard->count > SCHEDULE_SHARDS_MOST)
		return ipf_error_set(err, IPF_USAGE, "expected K/N with K from 1 to N and N up to %d, got \"%.200s\"",
		                     SCHEDULE_SHARDS_MOST, text);
	return 0;
}

static const struct option_spec specs[] = {
	OPTION_HEADING("Input"),
	OPTION(OPTION_FILE, 't', "trace", "FILE", struct sched_options, trace,
           "schedule the requests of this trace: its length, sessions and recorded arrivals are used"),
	OPTION(OPTION_LIST, 'r', "results", "FILE", struct sched_options, results,
           "results of an earlier run of a search; may be given several times"),
	OPTION_HEADING("Schedule"),
	SEED_OPTION(struct sched_options, common),
	OPTION_PARSED_BY(0, "shard", "K/N", struct sched_options, shard, parse_shard,
                     "write only part K of N, for one of N clients sharing the load"),
	OPTION(OPTION_FLAG, 0, "new-prompts", NULL, struct sched_options, new_prompts,
           "begin the prompts of each stage differently, for prefix caches not to find those of earlier stages"),
	OPTION(OPTION_FLAG, 0, "force", NULL, struct sched_options, force,
           "write a sweep although its estimate is too uncertain, or although it is enormous"),
	OPTION_HEADING("Information"),
	OPTION_UNSHAPING(OPTION_FLAG, 0, "list", NULL, struct sched_options, list,
                     "list the kinds of stages and their keys"),
	OPTION_UNSHAPING(OPTION_OUTPUT, 0, "plot", "FILE", struct sched_options, plot,
                     "with stat, also plot the rate over time to FILE, a .png or .svg (needs gnuplot)"),
	COMMON_OPTIONS(struct sched_options, common),
};

static size_t kinds_count(void)
{
	size_t kinds = 0;

	while (stage_kinds[kinds])
		kinds++;
	return kinds;
}

/* For completion: the kinds, and the keys of each. */
static const char *offer_kind(size_t i)
{
	static char word[32];
	size_t kinds = kinds_count();

	if (i >= kinds)
		return i == kinds ? "stat" : NULL;
	snprintf(word, sizeof word, "%s:", stage_kinds[i]->name);
	return word;
}

static const char *offer_key(size_t kind, size_t i)
{
	static char word[32];

	if (kind >= kinds_count()) /* stat */
		return NULL;
	const struct stage_key *key = &stage_kinds[kind]->keys[0];
	for (size_t k = 0; k < i && key->name; k++)
		key++;
	if (!key->name)
		return NULL;
	snprintf(word, sizeof word, "%s%s", key->name, key->type == KEY_FLAG ? "" : "=");
	return word;
}

static const struct program program = {
	.name = "ipf-sched",
	.operands = "STAGE… | stat [SCHEDULE]",
	.summary = "decide when requests are sent",
	.details = "A STAGE is KIND:key=value,… and stages run one after another.\n"
			   "ipf-sched stat describes a schedule: its rates, its gaps, and whether they\n"
			   "follow the distributions that its stages claim.\n"
			   "A search exits with status 10 when it has its answer, and writes no schedule.\n"
			   "\n"
			   "  ipf-sched poisson:rate=5,for=10s,warmup poisson:rate=20,for=60s\n"
			   "  ipf-sched closed:users=32,for=60s -t chat.trace.zst -o chat.sched\n"
			   "  ipf-sched replay:speed=2 -t azure.trace.zst | ipf-fire -t azure.trace.zst …\n",
	.specs = specs,
	.count = sizeof specs / sizeof *specs,
	.min_operands = 0,
	.max_operands = -1,
	.plain_operands = true,
	.offers = offer_kind,
	.offers_keys = offer_key,
};

static int list_kinds(const struct sched_options *options)
{
	struct ipf_error err = {0};
	struct buffer text = {0};

	stages_describe(&text);
	if (text.failed)
		ipf_error_memory(&err);
	else
		text_output_write(options->common.output, &text, &err);
	buffer_release(&text);
	return ipf_error_report(&err, stderr, program.name);
}

/* Refuses options that only apply when a schedule is written. */
static int check_stat(const struct sched_options *options, const struct operands *operands, struct ipf_error *err)
{
	const char *extra = options->trace               ? "-t"
	                    : options->results.count     ? "-r"
	                    : options->shard.count       ? "--shard"
	                    : options->force             ? "--force"
	                    : options->new_prompts       ? "--new-prompts"
	                    : options->common.seed_given ? "--seed"
	                                                 : NULL;

	if (operands->count > 2)
		return ipf_error_set(err, IPF_USAGE, "stat: expected one schedule, got a second one: %s", operands->items[2]);
	if (extra)
		return ipf_error_set(err, IPF_USAGE, "stat: %s applies only to writing a schedule", extra);
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
	    text_output_write(options->common.output, &text, &err) == 0 && options->plot &&
	    rate_plot_draw(&plot, options->plot, &err) == 0)
		fprintf(stderr, "%s: gnuplot is not installed: %s was not drawn\n", program.name, shown(options->plot).text);
	buffer_release(&text);
	return ipf_error_report(err.kind == IPF_OK ? &cut : &err, stderr, program.name);
}

/* ---- writing a schedule ------------------------------------------------------------------------------------------ */

/* One call writing a schedule, or the answer of a search. */
struct sched_run {
	const struct sched_options *options;
	const struct operands *operands;
	json_t *argv; /* for the header; owned */
	struct stages stages;
	struct stage_inputs inputs;
	struct trace_index trace;
	struct schedule_builder builder;
	struct progress progress;
	struct ipf_error cut; /* the trace was cut */
};

static json_t *make_header(struct sched_run *run)
{
	struct provenance from = {
		.tool = program.name,
		.argv = json_incref(run->argv),
		.from = json_array(),
		.has_seed = true,
		.seed = run->options->common.seed,
		.reproducible = run->options->common.reproducible,
	};
	json_t *header;

	if (run->builder.trace)
		json_array_append(from.from, run->trace.header);
	json_array_extend(from.from, run->inputs.earlier.headers);
	json_array_extend(from.from, run->inputs.files);
	header = stream_header("schedule", &from);
	if (header && schedule_to_header(&run->builder.schedule, header) < 0) {
		json_decref(header);
		header = NULL;
	}
	return header;
}

/* The digests of the inputs, and why some of the trace is missing. */
static json_t *make_trailer(const struct sched_run *run)
{
	json_t *extra = json_object(), *from = json_array();

	if (run->builder.trace)
		json_array_append(from, run->trace.digest);
	json_array_extend(from, run->inputs.earlier.digests);
	if (json_array_size(from) > 0)
		json_object_set(extra, "from", from);
	json_decref(from);
	if (run->cut.kind != IPF_OK)
		json_object_set_new(extra, "incomplete", json_string(run->cut.text));
	return extra;
}

/* The stages with repeated prompts, if there are others. */
static void note_repeats_by_stage(const struct schedule_builder *b)
{
	enum { SHOWN = 8 };
	size_t listed = 0, more = 0;

	for (size_t i = 0; b->schedule.count > 1 && i < b->schedule.count; i++) {
		const struct stage_layout *layout = &b->layouts[i];
		if (layout->repeated > 0 && listed < SHOWN)
			fprintf(stderr, "%s%lld of %lld in stage %s", listed++ ? ", " : " (", (long long)layout->repeated,
			        (long long)layout->sent, shown(b->schedule.stages[i].name).text);
		else
			more += layout->repeated > 0;
	}
	if (more)
		fprintf(stderr, ", and in %zu more stages", more);
	if (listed)
		fputc(')', stderr);
}

/* How many prompts the runs of a search and this schedule would send, if none twice; all shards together. */
static int64_t prompts_enough(const struct sched_run *run)
{
	int64_t count = 0;

	for (size_t i = 0; i < run->inputs.earlier.count; i++)
		count += (int64_t)run->inputs.earlier.stages[i].count;
	for (size_t i = 0; i < run->builder.schedule.count; i++) {
		const struct schedule_stage *s = &run->builder.schedule.stages[i];
		count += s->cycle ? 0 : run->builder.shards ? s->all_arrivals : s->arrivals;
	}
	return count;
}

/* A server with a prefix cache answers a prompt it has seen faster than a user's. */
static void note_repeats(struct sched_run *run)
{
	const struct schedule_builder *b = &run->builder;
	int64_t sent = 0, repeated = 0;

	for (size_t i = 0; i < b->schedule.count; i++) {
		sent += b->layouts[i].sent;
		repeated += b->layouts[i].repeated;
	}
	if (run->options->common.quiet || (repeated == 0 && b->schedule.trace_repeated_prompts == 0))
		return;
	progress_end(&run->progress);
	fprintf(stderr, "%s: ", program.name);
	if (repeated > 0) {
		fprintf(stderr, "the schedule goes round the trace: %lld of %lld requests send one of its %lld prompts again",
		        (long long)repeated, (long long)sent, (long long)b->schedule.trace_requests);
		note_repeats_by_stage(b);
	}
	if (b->schedule.trace_repeated_prompts > 0)
		fprintf(stderr, "%s%lld of %lld prompts of the trace repeat an earlier one", repeated > 0 ? "; " : "",
		        (long long)b->schedule.trace_repeated_prompts, (long long)b->schedule.trace_requests);
	fprintf(stderr, ": a server's prefix cache makes these faster than prompts of users");
	if (repeated > 0)
		fprintf(stderr, "; %lld prompts are enough (ipf-prep -n), or --new-prompts for those of each stage to differ",
		        (long long)prompts_enough(run));
	fputc('\n', stderr);
}

#define LEAD_SHOWN_NS (60 * NS_PER_S)
#define GAP_SHOWN_NS  (3600 * NS_PER_S)

/* Announces times in which a run only waits. */
static void note_gaps(struct sched_run *run)
{
	const struct schedule_builder *b = &run->builder;
	char gap[32], at[32];

	for (size_t i = 0; i < b->schedule.count && !run->options->common.quiet; i++) {
		const struct stage_layout *layout = &b->layouts[i];
		const struct schedule_stage *s = &b->schedule.stages[i];
		bool replay = strcmp(s->kind, "replay") == 0;
		progress_end(&run->progress);
		if (layout->lead_ns != IPF_ABSENT && layout->lead_ns > LEAD_SHOWN_NS)
			fprintf(stderr, "%s: stage %s: the first request is due %s after the stage begins%s\n", program.name,
			        shown(s->name).text, format_duration(layout->lead_ns, gap),
			        replay ? "; from= or idle= skips this gap" : "");
		if (layout->gap_ns >= GAP_SHOWN_NS)
			fprintf(stderr, "%s: stage %s: no request is due for %s, from %s of the schedule on%s\n", program.name,
			        shown(s->name).text, format_duration(layout->gap_ns, gap), format_duration(layout->gap_at_ns, at),
			        replay ? "; idle= shortens such gaps" : "");
	}
}

static int write_schedule(struct sched_run *run, struct ipf_error *err)
{
	struct stream_writer *writer = NULL;
	json_t *header = make_header(run);
	int status;

	if (!header)
		return ipf_error_memory(err);
	status = schedule_check_header(header, err);
	if (status == 0)
		status = stream_writer_open(&writer, run->options->common.output, header, err);
	json_decref(header);
	if (status < 0)
		return -1;
	if (schedule_builder_write(&run->builder, writer, &run->progress, err) < 0) {
		stream_writer_abandon(writer);
		return -1;
	}
	note_repeats(run);
	note_gaps(run);
	return stream_writer_close(writer, make_trailer(run), err);
}

/* -v: a line for each stage. */
static void show_stages(const struct schedule_builder *builder)
{
	char begin[32], length[32], rate[32];

	for (size_t i = 0; i < builder->schedule.count; i++) {
		const struct schedule_stage *s = &builder->schedule.stages[i];
		fprintf(stderr, "%s: stage %s: %lld arrivals", program.name, shown(s->name).text, (long long)s->arrivals);
		if (s->end_ns == IPF_ABSENT)
			fprintf(stderr, ", until the last request has ended");
		else
			fprintf(stderr, " in %s, beginning at %s", format_duration(s->end_ns - s->begin_ns, length),
			        format_duration(s->begin_ns, begin));
		if (isfinite(s->rate))
			fprintf(stderr, ", planned %s/s", format_count(s->rate, rate));
		if (builder->trace && s->arrivals > builder->trace->count)
			fprintf(stderr, ", %.2f passes through the trace", (double)s->arrivals / (double)builder->trace->count);
		fprintf(stderr, "\n");
	}
}

/* How the arrivals of each stage were made, where that is not obvious from its spec. */
static void show_layout_notes(const struct schedule_builder *builder)
{
	for (size_t i = 0; i < builder->schedule.count; i++)
		if (builder->layouts[i].note[0])
			fprintf(stderr, "%s: stage %s: %s\n", program.name, shown(builder->schedule.stages[i].name).text,
			        builder->layouts[i].note);
}

/* The decisions by earlier results: no other place shows them. */
static void show_input_notes(const struct buffer *notes)
{
	for (const char *line = notes->len ? notes->data : ""; *line; line += strcspn(line, "\n") + 1) {
		fprintf(stderr, "%s: ", program.name);
		safe_text_write(stderr, (struct slice){line, strcspn(line, "\n")});
		fputc('\n', stderr);
	}
}

static int read_stages(struct sched_run *run, struct ipf_error *err)
{
	const struct sched_options *options = run->options;
	const struct operands *operands = run->operands;
	bool search = false;

	run->inputs.force = options->force;
	if (options->plot)
		return ipf_error_set(err, IPF_USAGE, "--plot requires stat: … | ipf-sched stat --plot %.100s", options->plot);
	for (int i = 0; i < operands->count; i++) {
		bool this_one = strncmp(operands->items[i], "search:", strlen("search:")) == 0;
		if (search && this_one)
			return ipf_error_set(err, IPF_USAGE, "stage %d (search): expected one search, got a second one", i + 1);
		search |= this_one;
	}
	if (options->results.count && !search)
		return ipf_error_set(err, IPF_USAGE, "-r requires a search among the stages");
	for (size_t i = 0; i < options->results.count; i++)
		if (earlier_runs_read(&run->inputs.earlier, options->results.items[i], err) < 0)
			return -1;
	if (stages_parse(&run->stages, operands->items, operands->count, &run->inputs, err) < 0)
		return -1;
	if (!options->common.quiet)
		show_input_notes(&run->inputs.notes);
	return 0;
}

/* 0: the schedule is written; 1: there is none, because a search has its answer; -1. */
static int make_schedule(struct sched_run *run, struct ipf_error *err)
{
	const struct sched_options *options = run->options;
	struct schedule_builder *builder = &run->builder;

	if (read_stages(run, err) < 0)
		return -1;
	if (run->inputs.answer.len)
		return text_output_write(NULL, &run->inputs.answer, err) < 0 ? -1 : 1;
	if (options->trace && trace_index_read(&run->trace, options->trace, &run->progress, &run->cut, err) < 0)
		return -1;
	*builder = (struct schedule_builder){
		.stages = &run->stages,
		.trace = options->trace ? &run->trace : NULL,
		.seed = options->common.seed,
		.first_req = run->inputs.first_req,
		.sent = &run->inputs.earlier.sent,
		.new_prompts = options->new_prompts,
		.shard = options->shard.index,
		.shards = options->shard.count,
	};
	if (schedule_builder_prepare(builder, err) < 0)
		return -1;
	if (options->trace && !options->common.reproducible && !(builder->schedule.trace_file = strdup(options->trace)))
		return ipf_error_memory(err);
	if (!options->common.quiet)
		show_layout_notes(builder);
	if (options->common.verbose && !options->common.quiet) {
		progress_end(&run->progress);
		show_stages(builder);
	}
	return write_schedule(run, err);
}

static void sched_run_release(struct sched_run *run)
{
	progress_end(&run->progress);
	schedule_builder_release(&run->builder);
	trace_index_release(&run->trace);
	stages_release(&run->stages);
	earlier_runs_release(&run->inputs.earlier);
	json_decref(run->inputs.files);
	buffer_release(&run->inputs.notes);
	buffer_release(&run->inputs.answer);
	json_decref(run->argv);
}

int main(int argc, char **argv)
{
	struct sched_options options = {.common = COMMON_DEFAULTS};
	struct ipf_error err = {0};
	struct operands operands;
	int status;

	if (!program_start(&program, argc, argv, &options, &operands, &status))
		return status;
	if (options.list)
		return list_kinds(&options);
	if (operands.count > 0 && strcmp(operands.items[0], "stat") == 0)
		return show_stat(&options, &operands);
	if (operands.count == 0) {
		ipf_error_set(&err, IPF_USAGE,
		              "expected at least one STAGE, such as poisson:rate=5,for=1m (--list shows the kinds)");
		return program_misuse(&program, &err);
	}
	struct sched_run run = {
		.options = &options,
		.operands = &operands,
		.argv = options_argv(&program, argc, argv, true, options.common.reproducible),
	};
	progress_init(&run.progress, options.common.progress,
	              options.common.quiet || progress_is_left(options.common.output, false, options.common.progress));
	status = make_schedule(&run, &err);
	status = status == 1 ? STATUS_ANSWERED : ipf_error_report(status < 0 ? &err : &run.cut, stderr, program.name);
	sched_run_release(&run);
	return status;
}
