#include "stat/trace_plot.h"

#include "cli/gnuplot.h"
#include "token_count.h"

#include <math.h>

#define BINS   300 /* the time axis' */
#define POINTS 400 /* a cumulative distribution's */
#define GROUPS 60  /* sets of consecutive prompts */

#define BLUE   "'#1f77b4'"
#define ORANGE "'#ff7f0e'"
#define GREY   "'#999999'"

static void plot_rate(const struct samples *at, FILE *to)
{
	double begin = at->values[0], end = at->values[at->count - 1], width = (end - begin) / BINS;
	size_t next = 0;
	fprintf(to,
	        "set title 'Arrivals over time'\nset xlabel 'time (s)'\nset ylabel 'requests per second'\n"
	        "set yrange [0:*]\nset xrange [0:%.9g]\nset key off\n"
	        "$rate << E\n",
	        end - begin);
	for (int i = 0; i < BINS; i++) {
		size_t first = next;
		while (next < at->count && (i == BINS - 1 || at->values[next] - begin < (i + 1) * width))
			next++;
		fprintf(to, "%.9g %.9g\n", i * width, (double)(next - first) / width);
	}
	fprintf(to, "E\nplot $rate using 1:2 with fillsteps lc rgb " BLUE ", $rate using 1:2 with steps lw 1.2 lc rgb " BLUE
	            "\n");
}

/* Writes the data block NAME: the cumulative distribution at evenly spaced quantiles. */
static void write_cumulative(const struct samples *s, const char *name, FILE *to)
{
	fprintf(to, "$%s << E\n", name);
	for (int i = 0; i <= POINTS; i++) {
		size_t at = (size_t)((double)(s->count - 1) * i / POINTS);
		fprintf(to, "%.9g %.6g\n", s->values[at], (double)(at + 1) / (double)s->count);
	}
	fprintf(to, "E\n");
}

static void plot_gaps(const struct samples *at, FILE *to)
{
	struct samples gaps = {0};
	double mean = (at->values[at->count - 1] - at->values[0]) / (double)(at->count - 1);
	for (size_t i = 1; i < at->count; i++)
		samples_add(&gaps, at->values[i] - at->values[i - 1]);
	samples_sort(&gaps);
	write_cumulative(&gaps, "gaps", to);
	double most = gaps.values[(gaps.count - 1) * 99 / 100] * 1.1;
	fprintf(to,
	        "set title 'Gaps between arrivals'\nset xlabel 'gap (s)'\nset ylabel 'cumulative share'\n"
	        "set yrange [0:1]\nset xrange [0:%.9g]\n"
	        "set key bottom right\nplot $gaps using 1:2 with steps lw 1.5 lc rgb " BLUE " title 'recorded', "
	        "1-exp(-x/%.9g) with lines dt 2 lc rgb " GREY " title 'Poisson process of this rate'\n",
	        fmin(fmax(mean * 6, most), mean * 30), mean);
	samples_release(&gaps);
}

static void plot_lengths(const struct trace_plot *p, FILE *to)
{
	double most = fmax(p->input->count ? p->input->values[p->input->count - 1] : 1,
	                   p->output->count ? p->output->values[p->output->count - 1] : 1);
	const char *comma = "";
	if (p->input->count)
		write_cumulative(p->input, "input", to);
	if (p->output->count)
		write_cumulative(p->output, "output", to);
	fprintf(to,
	        "set title 'Lengths'\nset xlabel 'tokens'\nset ylabel 'cumulative share'\nset yrange [0:1]\n"
	        "set logscale x\nset xrange [1:%.9g]\n"
	        "set key top left\nplot ",
	        most * 1.1 + 1);
	if (p->input->count) {
		fprintf(to, "$input using (($1)<1?1:$1):2 with steps lw 1.5 lc rgb " BLUE " title 'input'");
		comma = ", ";
	}
	if (p->output->count)
		fprintf(to, "%s$output using (($1)<1?1:$1):2 with steps lw 1.5 lc rgb " ORANGE " title 'output'", comma);
	fprintf(to, "\nunset logscale x\n");
}

static void plot_hits(const struct prefix_reuse *r, FILE *to)
{
	int64_t tokens = 0, hits = 0;
	fprintf(to, "$hits << E\n");
	size_t groups = r->count < GROUPS ? r->count : GROUPS;
	for (size_t i = 0; i < groups; i++) {
		int64_t tokens_here, hits_here;
		size_t end = r->count * (i + 1) / groups;
		prefix_reuse_range(r, r->count * i / groups, end, &tokens_here, &hits_here);
		tokens = token_sum(tokens, tokens_here);
		hits = token_sum(hits, hits_here);
		fprintf(to, "%zu %.6g %.6g\n", end, tokens_here > 0 ? 100.0 * (double)hits_here / (double)tokens_here : 0,
		        tokens > 0 ? 100.0 * (double)hits / (double)tokens : 0);
	}
	fprintf(to,
	        "E\nset title 'Hits of an unlimited prefix cache'\nset xlabel 'requests, in order'\n"
	        "set ylabel '%% of input tokens'\nset yrange [0:100]\n"
	        "set xrange [0:%zu]\nset key top left\nplot $hits using 1:2 with fsteps lw 1.2 lc rgb " BLUE
	        " title 'of these requests', "
	        "$hits using 1:3 with lines lw 1.5 dt 2 lc rgb " ORANGE " title 'cumulative'\n",
	        r->count);
}

int trace_plot_draw(const struct trace_plot *p, const char *path, struct ipf_error *err)
{
	bool timed = p->at->count > 1 && p->at->values[p->at->count - 1] > p->at->values[0];
	bool sized = p->input->count + p->output->count > 0, shared = p->reuse->count > 0 && p->reuse->tokens > 0;
	struct gnuplot plot;
	if (gnuplot_open(&plot, path, 1200, timed ? 840 : 420, err) < 0)
		return -1;
	FILE *to = plot.script;
	fprintf(to, "set grid\nset key opaque\nset style fill solid 0.25 noborder\nset multiplot layout %d,2\n",
	        timed ? 2 : 1);
	if (timed) {
		plot_rate(p->at, to);
		plot_gaps(p->at, to);
	}
	if (sized)
		plot_lengths(p, to);
	if (shared)
		plot_hits(p->reuse, to);
	fputs("unset multiplot\n", to);
	return gnuplot_close(&plot, path, err);
}
