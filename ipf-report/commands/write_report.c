#include "commands/write_report.h"

#include "other_tools/tool_view.h"
#include "formats/certificate.h"
#include "formats/json_plots.h"
#include "json_report/json_report.h"
#include "memory.h"
#include "plots/plot_files.h"
#include "safe_text.h"

#include <stdio.h>

static void say_absent(const struct plot_kind *kind, const char *why, void *to)
{
	fprintf(to, "%s: no plot %s: %s\n", REPORT_PROGRAM, kind->name, why);
}

static struct plot_input plot_input_of(const struct report *report)
{
	return (struct plot_input){report->run, report->figures, report->servers, &report->analyses->saturation,
	                           report->options};
}

int write_plots(const struct report *report, const struct report_options *options, struct ipf_error *err)
{
	const struct plot_input input = plot_input_of(report);
	struct plot_files done = {.absent = options->common.verbose ? say_absent : NULL, .to = stderr};
	if (!options->plots)
		return 0;
	if (plot_files_write(&input, options->plots,
	                     options->plot_format < 0 ? PLOT_SVG : (enum plot_format)options->plot_format, &done, err) < 0)
		return -1;
	if (done.gnuplot_missing)
		fprintf(stderr,
		        "%s: gnuplot is not installed: the plots in %s are not drawn; their data and scripts are there\n",
		        REPORT_PROGRAM, shown(options->plots).text);
	else if (done.written == 0 && !options->common.quiet)
		fprintf(stderr, "%s: no plots: the run has no data for any (-v says why)\n", REPORT_PROGRAM);
	return 0;
}

int draw_page_plots(json_t *list, json_t *outliers, struct html_plots *plots, struct ipf_error *err)
{
	int bad = html_plots_draw(plots, list, outliers, err);
	if (bad == 0 && plots->gnuplot_missing)
		fprintf(stderr, "%s: gnuplot is not installed: the report has no plots\n", REPORT_PROGRAM);
	return bad;
}

static int prepare_plots(const struct report_format *format, struct report *report, struct html_plots *plots,
                         struct ipf_error *err)
{
	const struct plot_input input = plot_input_of(report);
	if (!format->plots)
		return 0;
	report->plot_data = json_plots(&input, err);
	if (!report->plot_data || !format->drawn)
		return report->plot_data ? 0 : -1;
	json_t *outliers = json_outliers(report);
	int bad = draw_page_plots(report->plot_data, outliers, plots, err);
	json_decref(outliers);
	return bad;
}

/* A format of another tool shows the run as that tool would have seen it. */
static int render_format(const struct report_format *format, const struct report *report, struct buffer *out,
                         struct ipf_error *err)
{
	struct tool_view view;
	struct report seen = *report;
	if (!format->tool) {
		format->render(report, out);
		return 0;
	}
	if (tool_view_build(&view, report->run, format->tool, err) < 0)
		return -1;
	seen.run = &view.run;
	format->render(&seen, out);
	tool_view_release(&view);
	return 0;
}

static const struct report_format *format_of(const struct report_options *options)
{
	const struct report_format *format = report_formats[options->format];
	if (!options->certificate)
		return format;
	return format == &format_json ? &format_certificate_json : &format_certificate_text;
}

/* The output must not pass for a measurement without a word. */
static void say_predicted(const struct report *report, const struct report_options *options)
{
	const json_t *predicted = report->run->parts[0].predicted;
	if (predicted && !report_formats[options->format]->predicted && !options->common.quiet)
		fprintf(stderr, "%s: %s predicted the run: no server was measured, which %s does not say\n", REPORT_PROGRAM,
		        predicted_by(predicted).text, report_format_names[options->format]);
}

int write_report(struct report *report, const struct report_options *options, struct ipf_error *err)
{
	const struct report_format *format = format_of(options);
	struct buffer out = {0};
	struct html_plots plots = {0};
	int bad = prepare_plots(format, report, &plots, err);
	report->plots = &plots;
	if (bad == 0)
		bad = render_format(format, report, &out, err);
	if (bad == 0 && report->run->lines)
		bad = row_lines_check(report->run->lines, err);
	if (bad == 0)
		bad = memory_ran_out() ? ipf_error_memory(err) : report_output_put(report->output, &out, err);
	if (bad == 0)
		say_predicted(report, options);
	html_plots_release(&plots);
	json_decref(report->plot_data);
	report->plot_data = NULL;
	buffer_release(&out);
	return bad;
}
