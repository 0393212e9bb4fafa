#include "plots/plots.h"

#include "cli/gnuplot.h"
#include "memory.h"
#include "stream/provenance.h"

#include <stdio.h>
#include <string.h>

const struct plot_kind plot_kinds[] = {
	{.name = "timeline", .make = make_time_line_plot},
	{.name = "rate-throughput", .make = make_rate_throughput_plot},
	{.name = "rate-ttft", .make = make_rate_latency_plot, .metric = METRIC_TTFT},
	{.name = "rate-tpot", .make = make_rate_latency_plot, .metric = METRIC_TPOT},
	{.name = "rate-e2e", .make = make_rate_latency_plot, .metric = METRIC_E2E},
	{.name = "cdf-ttft", .make = make_cdf_plot, .metric = METRIC_TTFT},
	{.name = "cdf-itl", .make = make_gap_cdf_plot},
	{.name = "cdf-e2e", .make = make_cdf_plot, .metric = METRIC_E2E},
	{.name = "cdf-lag", .make = make_cdf_plot, .metric = METRIC_LAG},
	{.name = "pareto", .make = make_pareto_plot},
	{.name = "pareto-gpu", .make = make_pareto_plot},
	{.name = "heat-ttft", .make = make_heat_plot, .metric = METRIC_TTFT},
	{.name = "heat-itl", .make = make_heat_plot, .metric = METRIC_ITL_MEAN},
	{.name = "heat-e2e", .make = make_heat_plot, .metric = METRIC_E2E},
	{.name = "ttft-input", .make = make_input_plot},
	{.name = "itl-position", .make = make_position_plot},
	{.name = "lanes", .make = make_lane_plot},
	{.name = "arrivals", .make = make_arrivals_plot},
	{.name = "arrival-gaps", .make = make_gaps_plot},
	{0},
};

/* "sim at 127.0.0.1:8000": the model and the address of its server; false: neither is known. */
static bool name_server(const struct run_data *run, char text[160])
{
	json_t *records = provenance_find(run->parts[0].header, "records");
	const char *model = json_string_value(json_object_get(records, "model")),
			   *target = json_string_value(json_object_get(records, "target"));
	const char *scheme = target ? strstr(target, "://") : NULL, *host = scheme ? scheme + 3 : target;
	char whole[320];
	snprintf(whole, sizeof whole, "%.120s%s%.*s", model ? model : "", model && host ? " at " : "",
	         host ? (int)strcspn(host, "/") : 0, host ? host : "");
	plot_shorten(text, 160, whole, 62);
	return *text;
}

/* Puts the server before the drawn curves. */
static void add_server(struct plot *p, const struct run_data *run)
{
	struct buffer script = p->script;
	char text[160];
	if (!name_server(run, text))
		return;
	p->script = (struct buffer){0};
	plot_part(p, "set label 3 ");
	plot_quoted(p, text);
	plot_command(p, " at screen 0.985, screen %.5f right tc rgb '#%06x'", PLOT_FOOT / 2.0 / p->height,
	             (unsigned)plot_colours[PLOT_SERIES + PLOT_SERIES_MOST - 1].light);
	buffer_slice(&p->script, buffer_all(&script));
	p->script.failed |= script.failed;
	buffer_release(&script);
}

int plot_make(const struct plot_kind *kind, const struct plot_input *input, struct plot *p, struct ipf_error *err)
{
	*p = (struct plot){.name = kind->name, .width = PLOT_WIDTH, .height = PLOT_HEIGHT, .area = plot_usual_area};
	int made = kind->make(kind, input, p);
	if (made > 0)
		add_server(p, input->run);
	return made < 0 || plot_failed(p) || memory_ran_out() ? ipf_error_memory(err) : made;
}

/* The data's file is a variable, so the commands are the same in a folder and in memory. */
static void write_script(const struct plot *p, enum plot_format format, bool folder, struct buffer *script)
{
	plot_style_begin(p, format, script);
	if (folder)
		buffer_format(script, "set output '%s.%s'\ndata = '%s.tsv'\n", p->name, plot_format_names[format], p->name);
	else
		buffer_text(script, "data = '" GNUPLOT_DATA "'\n");
	buffer_text(script, "set label 1 ");
	plot_quote(script, buffer_all(&p->title));
	buffer_format(script, " at screen 0.5, screen %.5f center\n", 1 - PLOT_TITLE_AT / (double)p->height);
	buffer_slice(script, buffer_all(&p->script));
}

void plot_script(const struct plot *p, enum plot_format format, struct buffer *script)
{
	const char *extension = plot_format_names[format];
	buffer_format(script, "# In this folder, gnuplot %s.gp draws %s.%s from %s.tsv.\n", p->name, p->name, extension,
	              p->name);
	write_script(p, format, true, script);
}

/* Commands for gnuplot. */
static int draw(const struct plot *p, enum plot_format format, struct buffer *image, struct ipf_error *err)
{
	struct buffer script = {0};
	write_script(p, format, false, &script);
	int drawn = script.failed ? ipf_error_memory(err)
	                          : gnuplot_run(buffer_all(&script), buffer_all(&p->data), image, err);
	buffer_release(&script);
	if (drawn < 0)
		ipf_error_place(err, p->name, 0);
	return drawn;
}

int plot_svg(const struct plot *p, enum svg_use use, struct buffer *svg, struct ipf_error *err)
{
	struct buffer image = {0};
	int drawn = draw(p, PLOT_SVG, &image, err);
	if (drawn > 0)
		svg_finish(buffer_all(&image), p, use, svg);
	buffer_release(&image);
	return svg->failed ? ipf_error_memory(err) : drawn;
}

int plot_draw(const struct plot *p, enum plot_format format, struct buffer *image, struct ipf_error *err)
{
	return format == PLOT_SVG ? plot_svg(p, SVG_ALONE, image, err) : draw(p, format, image, err);
}
