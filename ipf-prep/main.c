/* ipf-prep: makes a request trace of datasets and production traces. */
#include "absent.h"
#include "sources/detect_format.h"
#include "input/archive_members.h"
#include "input/input_paths.h"
#include "shape/prep.h"
#include "sources/reader.h"
#include "input/remote.h"
#include "shape/selection.h"
#include "stat/trace_stat.h"
#include "tokenize.h"
#include "stream/provenance.h"
#include "stream/trace.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static int list_sources(void)
{
	const struct source_format *format;
	int widest = 0;
	for (size_t i = 0; (format = source_at(i)); i++)
		if ((int)strlen(format->name) > widest)
			widest = (int)strlen(format->name);
	for (size_t i = 0; (format = source_at(i)); i++)
		printf("%-*s %-8s %s\n", widest, format->name, format->kind == SOURCE_TRACE ? "trace" : "dataset",
		       format->about);
	if (fflush(stdout) == 0)
		return 0;
	struct ipf_error err = {0};
	ipf_error_errno(&err, errno, "standard output", "cannot write");
	return ipf_error_report(&err, stderr, "ipf-prep");
}

/* Wrong operands, and files that are not there: said before the output is touched. */
static int check_operands(const struct operands *operands, struct ipf_error *err)
{
	if (operands->count == 0)
		return ipf_error_set(err, IPF_USAGE, "expected a SOURCE; --list shows them");
	if (strcmp(operands->items[0], "auto") != 0 && !source_find(operands->items[0], err))
		return -1; /* before its files are looked for: they may not be there either */
	for (int i = 1; i < operands->count; i++) {
		if (strcmp(operands->items[i], "-") != 0 && !is_remote(operands->items[i]) &&
		    access(operands->items[i], R_OK) < 0 && member_split(operands->items[i]) == 0)
			return ipf_error_errno(err, errno, operands->items[i], "cannot open");
	}
	if (operands->count == 1 && isatty(STDIN_FILENO))
		return ipf_error_set(err, IPF_USAGE, "expected a file to read, or input on standard input");
	return 0;
}

static json_t *make_header(const struct prep_plan *plan, int argc, char **argv)
{
	const struct prep_options *o = plan->options;
	struct provenance p = {
		.tool = "ipf-prep",
		.argv = options_argv(&prep_program, argc, argv, true, o->common.reproducible),
		.has_seed = true,
		.seed = o->common.seed,
		.reproducible = o->common.reproducible,
	};
	json_t *header = stream_header("trace", &p);
	if (!header)
		return NULL;
	json_object_set_new(header, "tokenizer", token_counter_describe(plan->tokens));
	json_object_set_new(header, "source", json_string(plan->format->name));
	if (plan->template.how)
		json_object_set_new(
			header, "template",
			json_pack(
				"{s:s, s:I, s:o}", "from", plan->template.how, "tokens", (json_int_t)plan->template.chat, "message",
				plan->template.message == IPF_ABSENT ? json_null() : json_integer((json_int_t)plan->template.message)));
	if (o->dequantise)
		json_object_set_new(
			header, "dequantised",
			json_string("each arrival is drawn between its stamp and the next, at most the median step later"));
	if (plan->prompt == AS_NOTHING)
		json_object_set_new(header, "prompts", json_string("none"));
	else if (plan->traits & MAKES_TEXT)
		json_object_set_new(header, "filled", json_pack("{s:s}", "how", plan->format->filled));
	return header;
}

/* The trailer: what was read, what of it is missing, and what nobody has said. */
static json_t *make_trailer(const struct prep_plan *plan, const struct reading *reading,
                            const struct selection_counts *tally)
{
	json_t *end = json_pack("{s:O}", "from", reading->from);
	if (end && plan->files)
		json_array_extend(reading->from, plan->files);
	if (end && tally->assumed)
		json_object_set_new(
			end, "assumed",
			json_pack("{s:i, s:I}", "output_tokens", OUTPUT_TOKENS_ASSUMED, "requests", (json_int_t)tally->assumed));
	const struct residual *r = &tally->residual;
	if (end && r->requests)
		json_object_set_new(end, "residual",
		                    json_pack("{s:I, s:f, s:f, s:I, s:I}", "requests", (json_int_t)r->requests, "exact",
		                              residual_exact(r), "mean", (double)r->sum / (double)r->requests, "p99",
		                              (json_int_t)residual_p99(r), "max", (json_int_t)r->max));
	if (end && tally->reason_count) {
		json_t *left_out = json_object();
		for (int i = 0; i < tally->reason_count; i++)
			json_object_set_new(left_out, tally->reasons[i].why, json_integer((json_int_t)tally->reasons[i].count));
		json_object_set_new(end, "left_out", left_out);
	}
	if (end && reading->bad)
		json_object_set_new(end, "bad", json_integer((json_int_t)reading->bad));
	if (end && reading->ended_early)
		json_object_set_new(end, "incomplete", json_sprintf("reading ended at %s", reading->why));
	else if (end && reading->bad)
		json_object_set_new(
			end, "incomplete",
			json_sprintf("%lld bad record%s left out", (long long)reading->bad, reading->bad == 1 ? "" : "s"));
	return end;
}

/* Reads, selects, writes; the trace is sealed also where the input ends badly. */
static int convert(const struct prep_plan *plan, struct stream_writer *writer, const struct input_paths *paths,
                   struct reading *reading, struct selection_counts *tally, struct ipf_error *err)
{
	struct renderer renderer = {0};
	struct selection *selection = NULL;
	int status = renderer_init(&renderer, plan, writer, tally, err);
	if (status == 0)
		status = selection_new(&selection, plan, &renderer, tally, &reading->progress, err);
	if (status == 0) {
		reading->sink = selection_sink(selection);
		status = reading_run(reading, paths->items, (int)paths->count, err);
	}
	if (status == 0)
		status = selection_finish(selection, err);
	if (status == 0)
		status = token_counter_check(plan->tokens, err);
	if (status == 0)
		status = stream_writer_close(writer, make_trailer(plan, reading, tally), err);
	else
		stream_writer_abandon(writer);
	selection_free(selection);
	renderer_release(&renderer);
	return status;
}

/* The format by its name, or by the beginning of the first file, which then stays open. */
static const struct source_format *find_format(const char *name, const struct input_paths *paths, struct input **first,
                                               struct ipf_error *err)
{
	if (strcmp(name, "auto") != 0)
		return source_find(name, err);
	const char *path = paths->count ? paths->items[0] : "-";
	return input_open(first, path, err) == 0 ? source_guess(*first, err) : NULL;
}

static int run(const struct prep_plan *plan, int argc, char **argv, const struct input_paths *paths,
               struct input *first, struct ipf_error *err)
{
	const struct prep_options *o = plan->options;
	struct selection_counts tally = {0};
	struct reading reading = {.format = plan->format,
	                          .state = plan->state,
	                          .quiet = o->common.quiet,
	                          .first = first,
	                          .stop = o->on_error && strcmp(o->on_error, "stop") == 0};
	struct stream_writer *writer;
	json_t *header = make_header(plan, argc, argv);
	if (!header) {
		reading_release(&reading);
		return ipf_error_errno(err, ENOMEM, NULL, "cannot begin");
	}
	int status = stream_writer_open(&writer, o->common.output, header, err);
	json_decref(header);
	if (status < 0) {
		reading_release(&reading);
		return -1;
	}
	if ((plan->traits & MAKES_TEXT) && (plan->traits & (HAS_BLOCKS | HAS_SESSIONS)) && plan->prompt != AS_NOTHING)
		stream_writer_long_distance(writer);
	progress_init(&reading.progress, o->common.progress, o->common.quiet);
	status = convert(plan, writer, paths, &reading, &tally, err);
	if (status == 0 && !o->common.quiet)
		residual_print(&tally.residual, stderr);
	if (status == 0 && o->common.verbose)
		selection_counts_print(&tally, reading.records, reading.bad, stderr);
	if (status == 0 && tally.requests == 0 && reading.records > reading.bad)
		status = ipf_error_set(err, IPF_INPUT, "no request is left of %lld records (-v says why)",
		                       (long long)reading.records);
	/* What was wrong has been said. */
	bool incomplete = reading.ended_early || reading.bad;
	reading_release(&reading);
	return status < 0 ? -1 : incomplete ? 3 : 0;
}

int main(int argc, char **argv)
{
	struct prep_options options = PREP_DEFAULTS;
	struct operands operands;
	struct prep_plan plan = {0};
	struct input_paths paths = {0};
	struct input *first = NULL;
	const struct source_format *format = NULL;
	struct ipf_error err = {0};
	int status;
	if (argc > 1 && strcmp(argv[1], "stat") == 0)
		return trace_stat_main(argc - 1, argv + 1);
	if (argc > 1 && strcmp(argv[1], "tokenize") == 0)
		return tokenize_main(argc - 1, argv + 1);
	if (!program_start(&prep_program, argc, argv, &options, &operands, &status))
		return status;
	if (options.list)
		return list_sources();
	status = check_operands(&operands, &err);
	if (status == 0)
		status = plan_preset(&options, &err);
	progress_init(&paths.progress, options.common.progress, options.common.quiet);
	paths.quiet = options.common.quiet;
	if (status == 0)
		status = input_paths_expand(&paths, operands.items + 1, (size_t)operands.count - 1, &err);
	if (status == 0 && !(format = find_format(operands.items[0], &paths, &first, &err)))
		status = -1;
	if (status == 0)
		status = plan_make(&plan, &options, format, (int)paths.count, &err);
	if (status == 0)
		status = run(&plan, argc, argv, &paths, first, &err); /* closes it */
	else
		input_close(first);
	plan_release(&plan);
	input_paths_release(&paths);
	remote_release();
	if (err.kind == IPF_USAGE)
		return program_misuse(&prep_program, &err);
	return status < 0 ? ipf_error_report(&err, stderr, "ipf-prep") : status;
}
