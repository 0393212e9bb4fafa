#include "plot.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#define NOT_FOUND 127 /* what the shell says */

void plot_init(struct plot *plot, double begin_s, double end_s)
{
	*plot = (struct plot){.begin_s = begin_s, .end_s = end_s > begin_s ? end_s : begin_s + 1};
}

void plot_add(struct plot *plot, double s)
{
	double bin = (s - plot->begin_s) / (plot->end_s - plot->begin_s) * PLOT_BINS;

	if (bin >= 0 && bin <= PLOT_BINS)
		plot->counts[bin < PLOT_BINS ? (int)bin : PLOT_BINS - 1]++;
}

static const char *terminal_of(const char *path)
{
	size_t len = strlen(path);

	if (len > 4 && strcmp(path + len - 4, ".png") == 0)
		return "pngcairo size 1000,400 font 'sans,11'";
	return len > 4 && strcmp(path + len - 4, ".svg") == 0 ? "svg size 1000,400 font 'sans,12'" : NULL;
}

int plot_check(const char *path, struct ipf_error *err)
{
	return terminal_of(path) ? 0 : ipf_error_set(err, IPF_USAGE, "--plot: expected a name in .png or .svg, got \"%.200s\"", path);
}

static void write_script(const struct plot *plot, const char *path, FILE *to)
{
	double width = (plot->end_s - plot->begin_s) / PLOT_BINS;

	fprintf(to, "set terminal %s\nset output '", terminal_of(path));
	for (const char *c = path; *c; c++) /* a quote is written twice */
		fprintf(to, *c == '\'' ? "''" : "%c", *c);
	fprintf(to, "'\nset xlabel 'time (s)'\nset ylabel 'arrivals a second'\nset yrange [0:*]\nset xrange [%.9g:%.9g]\nset grid\nset key off\n"
	            "set style fill solid 0.25 noborder\n"
	            "plot '-' using 1:2 with fillsteps lc rgb '#1f77b4', '-' using 1:2 with steps lw 1.5 lc rgb '#1f77b4'\n",
	        plot->begin_s, plot->end_s);
	for (int round = 0; round < 2; round++) {
		for (int i = 0; i <= PLOT_BINS; i++)
			fprintf(to, "%.9g %.9g\n", plot->begin_s + i * width, plot->counts[i < PLOT_BINS ? i : PLOT_BINS - 1] / width);
		fputs("e\n", to);
	}
}

int plot_draw(const struct plot *plot, const char *path, struct ipf_error *err)
{
	FILE *to;
	int status;

	if (plot_check(path, err) < 0)
		return -1;
	to = popen("command -v gnuplot >/dev/null || exit 127; exec gnuplot", "w");
	if (!to)
		return ipf_error_errno(err, errno, NULL, "cannot start gnuplot");
	write_script(plot, path, to);
	status = pclose(to);
	if (status >= 0 && WIFEXITED(status) && WEXITSTATUS(status) == NOT_FOUND)
		return 0;
	return status == 0 ? 1 : ipf_error_at(err, IPF_SYSTEM, path, 0, "gnuplot could not draw it");
}
