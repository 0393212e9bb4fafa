/* The plots of stat --against. */
#include "cli/gnuplot.h"
#include "stat/trace_compare.h"

#include <math.h>

#define BLUE   "'#1f77b4'"
#define ORANGE "'#ff7f0e'"

static const char *const sides[] = {"this", "against"};

/* The lines of both sides, as far as they have data; `using` selects columns of the blocks NAME_this, NAME_against. */
static void draw_sides(const char *name, const bool has[2], const char *style, FILE *to)
{
	static const char *const colours[] = {BLUE, ORANGE};
	const char *comma = "plot ";
	for (int i = 0; i < 2; i++)
		if (has[i]) {
			fprintf(to, "%s$%s_%s using 1:2 with %s lw 1.5 dt %d lc rgb %s title '%s'", comma, name, sides[i], style,
			        i + 1, colours[i], sides[i]);
			comma = ", ";
		}
	fputc('\n', to);
}

static void plot_dispersion(const struct comparison *c, FILE *to)
{
	bool has[2] = {false, false};
	for (int k = 0; k < 2; k++) {
		const struct traffic_figures *f = k ? &c->against : &c->this;
		fprintf(to, "$dispersion_%s << E\n", sides[k]);
		for (int i = 0; i < DISPERSION_SCALES; i++)
			if (f->dispersion[i] > 0) {
				fprintf(to, "%d %.6g\n", dispersion_seconds[i], f->dispersion[i]);
				has[k] = true;
			}
		fputs("E\n", to);
	}
	if (!has[0] && !has[1])
		return;
	fputs("set title 'Burstiness of arrivals'\nset xlabel 'window (s)'\nset ylabel 'index of dispersion'\n"
	      "set logscale xy\nset key top left\n",
	      to);
	draw_sides("dispersion", has, "linespoints", to);
	fputs("unset logscale\n", to);
}

static void plot_numbers(const struct comparison *c, enum traffic_numbers k, const char *labels, FILE *to)
{
	bool has[2] = {c->this.numbers[k].count > 0, c->against.numbers[k].count > 0};
	const double least = k == TRAFFIC_WAIT || k == TRAFFIC_GAP ? 0.001 : 1;
	if (!has[0] && !has[1])
		return;
	for (int side = 0; side < 2; side++) {
		const struct quantile_table *t = &(side ? &c->against : &c->this)->numbers[k];
		fprintf(to, "$%s_%s << E\n", traffic_number_names[k], sides[side]);
		for (int i = 0; has[side] && i < QUANTILE_KNOTS; i++)
			fprintf(to, "%.6g %.6g\n", fmax(t->at[i], least), quantile_rank(i));
		fputs("E\n", to);
	}
	fprintf(to, "%sset ylabel 'cumulative share'\nset yrange [0:1]\nset logscale x\nset key top left\n", labels);
	draw_sides(traffic_number_names[k], has, "lines", to);
	fputs("unset logscale x\nset yrange [*:*]\n", to);
}

static void plot_hits(const struct comparison *c, FILE *to)
{
	bool has[2] = {c->this.cache_count > 0, c->against.cache_count > 0};
	if (!has[0] && !has[1])
		return;
	for (int k = 0; k < 2; k++) {
		const struct traffic_figures *f = k ? &c->against : &c->this;
		fprintf(to, "$hits_%s << E\n", sides[k]);
		for (int i = 0; i < f->cache_count; i++)
			fprintf(to, "%lld %.6g\n", (long long)f->caches[i].tokens, 100 * f->caches[i].hit_rate);
		fputs("E\n", to);
	}
	fputs("set title 'Hits of prefix caches'\nset xlabel 'size of the cache (tokens)'\n"
	      "set ylabel '% of input tokens'\nset yrange [0:100]\nset logscale x\nset key top left\n",
	      to);
	draw_sides("hits", has, "lines", to);
	fputs("unset logscale x\nset yrange [*:*]\n", to);
}

static bool has_numbers(const struct comparison *c, enum traffic_numbers k)
{
	return c->this.numbers[k].count > 0 || c->against.numbers[k].count > 0;
}

int comparison_draw(const struct comparison *c, const char *path, struct ipf_error *err)
{
	struct gnuplot plot;
	/* arrivals, prompts and answers, as present: two in a row */
	bool timed = has_numbers(c, TRAFFIC_WAIT) || has_numbers(c, TRAFFIC_GAP);
	bool cached = c->this.cache_count > 0 || c->against.cache_count > 0;
	int rows = (3 + has_numbers(c, TRAFFIC_TURNS) + timed + cached + 1) / 2;
	if (gnuplot_open(&plot, path, 1200, 420 * rows, err) < 0)
		return -1;
	fprintf(plot.script, "set grid\nset key opaque\nset multiplot layout %d,2\n", rows);
	plot_dispersion(c, plot.script);
	plot_numbers(c, TRAFFIC_INPUT, "set title 'Prompts'\nset xlabel 'tokens'\n", plot.script);
	plot_numbers(c, TRAFFIC_OUTPUT, "set title 'Answers'\nset xlabel 'tokens'\n", plot.script);
	plot_numbers(c, TRAFFIC_TURNS, "set title 'Turns of sessions'\nset xlabel 'turns'\n", plot.script);
	enum traffic_numbers times = has_numbers(c, TRAFFIC_WAIT) ? TRAFFIC_WAIT : TRAFFIC_GAP;
	plot_numbers(c, times, "set title 'Time between turns'\nset xlabel 'seconds'\n", plot.script);
	plot_hits(c, plot.script);
	fputs("unset multiplot\n", plot.script);
	return gnuplot_close(&plot, path, err);
}
