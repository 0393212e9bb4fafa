#include "commands/show_run.h"

#include "commands/build_report.h"
#include "commands/read_inputs.h"
#include "commands/saved_report.h"
#include "commands/write_report.h"
#include "formats/report_format.h"
#include "memory.h"

#include <stdio.h>
#include <unistd.h>

int command_end(const struct ipf_error *err, const char *command)
{
	return ipf_error_report(err, stderr, err->kind == IPF_USAGE ? command : REPORT_PROGRAM);
}

static bool needs_lines(const struct report_options *options)
{
	const struct report_format *format = report_formats[options->format];
	return format->lines || format->tool || options->said.any;
}

/* Computes the figures and writes them. IPF_INVALID, with the report complete, if --strict rejects the run. */
static int render(const struct run_data *run, const struct report_options *options, struct report_output *to,
                  struct delivery *delivery, struct ipf_error *err)
{
	struct built_report built;
	int status = build_report(&built, run, options, to, err);
	if (status == 0)
		status = write_plots(&built.report, options, err);
	if (status == 0 && !options->only_plots)
		status = write_report(&built.report, options, err);
	if (status == 0)
		status = delivery_prepare(delivery, &built.report, err);
	if (status == 0 && options->strict)
		judge_strictly(&built.report, err);
	built_report_release(&built);
	return status;
}

/* The upload names files by options of the report. */
static void prepare_upload(struct report_options *options)
{
	struct upload_options *upload = &options->delivery.upload;
	upload->output = options->common.output;
	upload->plots = options->plots;
	upload->program = REPORT_PROGRAM;
	upload->verbose = options->common.verbose;
	upload->progress = options->common.progress && !options->common.quiet;
}

int show_run(struct report_options *options, const struct operands *operands, const char *command)
{
	struct ipf_error err = {0}, unread = {0}, bad = {0}, invalid = {0}, undelivered = {0};
	struct report_output to = {.path = options->common.output, .keep = options->delivery.upload.url};
	struct run_data run = {
		.only_stage = options->stage, .tag = options->by.tag, .columns = {.with_req = options->trace != NULL}};
	struct delivery delivery = {.options = &options->delivery};
	json_t *saved = NULL;
	int found = saved_report_read(operands, &saved, &unread);
	prepare_upload(options);
	if (found != 0) {
		if (report_options_check(options, &err) == 0 && found > 0)
			saved_report_show(saved, operands->items[0], options, &err);
		if (err.kind == IPF_OK)
			err = unread;
		json_decref(saved);
		return command_end(&err, command);
	}
	if (report_options_check(options, &err) == 0 && run_data_init(&run, &options->slo, &err) == 0 &&
	    (!needs_lines(options) || run_data_keep_lines(&run, &err) == 0) &&
	    read_inputs(&run, options, operands, &bad, &err) == 0 && render(&run, options, &to, &delivery, &invalid) < 0)
		err = invalid;
	if (err.kind == IPF_OK && memory_ran_out())
		ipf_error_memory(&err);
	if (!options->only_plots)
		report_output_close(&to, &err);
	if ((err.kind == IPF_OK || err.kind == IPF_CLOSED) && delivery_send(&delivery, &to, &undelivered) < 0)
		err = undelivered;
	delivery_release(&delivery);
	if (to.kept > 0)
		close(to.kept);
	if (err.kind == IPF_OK)
		err = bad.kind != IPF_OK ? bad : invalid;
	run_data_release(&run);
	return command_end(&err, command);
}
