#include "rate_plot.h"

#include "cli/gnuplot.h"

#include <stdbool.h>

void rate_plot_init(struct rate_plot *plot, double begin_s, double end_s)
{
	*plot = (struct rate_plot){.begin_s = begin_s, .end_s = end_s > begin_s ? end_s : begin_s + 1};
}

void rate_plot_add(struct rate_plot *plot, double s)
{
	double bin = (s - plot->begin_s) / (plot->end_s - plot->begin_s) * RATE_PLOT_BINS;

	if (bin >= 0 && bin <= RATE_PLOT_BINS)
		plot->counts[bin < RATE_PLOT_BINS ? (int)bin : RATE_PLOT_BINS - 1]++;
}

int rate_plot_check(const char *path, struct ipf_error *err)
{
	return gnuplot_check(path, err);
}

int rate_plot_draw(const struct rate_plot *plot, const char *path, struct ipf_error *err)
{
	double width = (plot->end_s - plot->begin_s) / RATE_PLOT_BINS;
	struct gnuplot picture;
	bool some = false;

	if (gnuplot_open(&picture, path, 1000, 400, err) < 0)
		return -1;
	for (int i = 0; i < RATE_PLOT_BINS; i++)
		some |= plot->counts[i] > 0;
	fprintf(picture.script,
	        "set xlabel 'time (s)'\nset ylabel 'arrivals per second'\n"
	        "set yrange [0:%s]\nset xrange [%.9g:%.9g]\nset grid\nset key off\n"
	        "set style fill solid 0.25 noborder\n"
	        "plot '-' using 1:2 with fillsteps lc rgb '#1f77b4', '-' using 1:2 with steps lw 1.5 lc rgb '#1f77b4'\n",
	        some ? "*" : "1", plot->begin_s, plot->end_s);
	for (int round = 0; round < 2; round++) {
		for (int i = 0; i <= RATE_PLOT_BINS; i++)
			fprintf(picture.script, "%.9g %.9g\n", plot->begin_s + i * width,
			        plot->counts[i < RATE_PLOT_BINS ? i : RATE_PLOT_BINS - 1] / width);
		fputs("e\n", picture.script);
	}
	return gnuplot_close(&picture, path, err);
}
