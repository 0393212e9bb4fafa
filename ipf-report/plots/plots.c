#include "plots/plots.h"

#include "cli/gnuplot.h"
#include "memory.h"

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

int plot_make(const struct plot_kind *kind, const struct plot_input *input, struct plot *p, struct ipf_error *err)
{
	*p = (struct plot){.name = kind->name, .width = PLOT_WIDTH, .height = PLOT_HEIGHT};
	int made = kind->make(kind, input, p);
	return made < 0 || plot_failed(p) || memory_ran_out() ? ipf_error_memory(err) : made;
}

/* The data's file is a variable, so that the commands are the same in a folder and in memory. */
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

/* What gnuplot draws. */
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
