/* `ipf-report gateway FRONT… -- BACK…` */
#include "commands/command.h"
#include "commands/option_rows.h"
#include "commands/read_inputs.h"
#include "commands/show_run.h"
#include "commands/split_sides.h"
#include "document/document_md.h"
#include "gateway/gateway_document.h"
#include "gateway/gateway_json.h"
#include "html/document_html.h"
#include "memory.h"

#include <string.h>

static const char *const format_names[] = {"text", "json", "md", "html", NULL};
enum { FORMAT_TEXT, FORMAT_JSON, FORMAT_MD };

static const struct option_spec specs[] = {
	OPTION_HEADING("Output"),
	OPTION_CHOICE_OF('f', "format", "FORMAT", struct report_options, gateway_format, format_names,
                     "output format: text, html, json or md (default: by the output's name, else text)"),
	OUTPUT_OPTION(struct report_options, common),
	OPTION_HEADING("Common options"),
	COMMAND_OPTIONS(struct report_options, common),
};

static int append(const char *bytes, size_t len, void *out)
{
	buffer_append(out, bytes, len);
	return 0;
}

static void render(json_t *json, const struct report_options *options, struct buffer *out)
{
	struct document d = {0};
	if (options->gateway_format == FORMAT_JSON) {
		out->failed |= json_dump_callback(json, append, out, JSON_INDENT(2) | JSON_REAL_PRECISION(15)) < 0;
		buffer_byte(out, '\n');
		return;
	}
	gateway_document(&d, json);
	const struct text_style style = report_style(options);
	if (options->gateway_format == FORMAT_TEXT)
		document_text(&d, &style, out);
	else if (options->gateway_format == FORMAT_MD)
		document_md(&d, out);
	else
		document_html(&d, out);
	out->failed |= d.failed;
	document_release(&d);
}

static int write_gateway(const struct gateway *g, const struct report_options *options, struct report_output *to,
                         struct ipf_error *err)
{
	struct buffer out = {0};
	json_t *json = gateway_json(g, err);
	int status = json ? 0 : -1;
	if (status == 0)
		render(json, options, &out);
	if (status == 0)
		status = memory_ran_out() || out.failed ? ipf_error_memory(err) : report_output_put(to, &out, err);
	buffer_release(&out);
	json_decref(json);
	return status;
}

static int read_side(struct run_data *run, const struct report_options *options, const struct operands *operands,
                     struct ipf_error *bad, struct ipf_error *err)
{
	*run = (struct run_data){.any_schedules = true};
	return run_data_init(run, &options->slo, err) < 0 || run_data_keep_lines(run, err) < 0
	           ? -1
	           : read_inputs(run, options, operands, bad, err);
}

static int run(struct report_options *options, const struct operands *operands)
{
	struct ipf_error err = {0}, bad = {0};
	struct report_output to = {.path = options->common.output};
	struct operands sides[GATEWAY_SIDES];
	struct run_data runs[GATEWAY_SIDES] = {0};
	struct gateway gateway = {0};
	int status = format_of_name(&options->gateway_format, format_names, options, &err);
	if (status == 0)
		status = split_sides(operands, "FRONT… -- BACK…", sides, &err);
	for (int s = 0; s < GATEWAY_SIDES && status == 0; s++)
		status = read_side(&runs[s], options, &sides[s], &bad, &err);
	if (status == 0)
		status = gateway_build(&gateway, (const struct run_data *[]){&runs[GATEWAY_FRONT], &runs[GATEWAY_BACK]}, &err);
	if (status == 0)
		status = write_gateway(&gateway, options, &to, &err);
	gateway_release(&gateway);
	for (int s = 0; s < GATEWAY_SIDES; s++)
		run_data_release(&runs[s]);
	if (err.kind == IPF_OK && memory_ran_out())
		ipf_error_memory(&err);
	report_output_close(&to, &err);
	return command_end(err.kind == IPF_OK ? &bad : &err, command_gateway.program.name);
}

const struct command command_gateway = {
	.program = {.name = REPORT_PROGRAM " gateway",
                .operands = "FRONT… -- BACK…",
                .summary = "show the time that a gateway adds to requests",
                .details = "  ipf-report gateway front.results.zst -- back.results.zst\n"
                           "  ipf-report gateway -o gateway.html front.results.zst -- back.results.zst\n",
                .manual = "man ipf-report-gateway; overview: man ipf",
                .specs = specs,
                .count = sizeof specs / sizeof *specs,
                .max_operands = -1,
                .variables = REPORT_PROGRAM},
	.run = run,
};
