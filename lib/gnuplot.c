#include "gnuplot.h"

#include <errno.h>
#include <string.h>
#include <sys/wait.h>

#define NOT_FOUND 127 /* what the shell says */

static const char *terminal_of(const char *path)
{
	size_t len = strlen(path);
	if (len > 4 && strcmp(path + len - 4, ".png") == 0)
		return "pngcairo font 'sans,11'";
	return len > 4 && strcmp(path + len - 4, ".svg") == 0 ? "svg font 'sans,12' background '#ffffff'" : NULL;
}

int gnuplot_check(const char *path, struct ipf_error *err)
{
	return terminal_of(path) ? 0 : ipf_error_set(err, IPF_USAGE, "--plot: expected a name in .png or .svg, got \"%.200s\"", path);
}

FILE *gnuplot_open(const char *path, int width, int height, struct ipf_error *err)
{
	if (gnuplot_check(path, err) < 0)
		return NULL;
	FILE *to = popen("command -v gnuplot >/dev/null || { while read -r _; do :; done; exit 127; }; exec gnuplot", "w");
	if (!to) {
		ipf_error_errno(err, errno, NULL, "cannot start gnuplot");
		return NULL;
	}
	fprintf(to, "set terminal %s size %d,%d\nset output '", terminal_of(path), width, height);
	for (const char *c = path; *c; c++) /* a quote is written twice */
		fprintf(to, *c == '\'' ? "''" : "%c", *c);
	fputs("'\n", to);
	return to;
}

int gnuplot_close(FILE *to, const char *path, struct ipf_error *err)
{
	int status = pclose(to);
	if (status >= 0 && WIFEXITED(status) && WEXITSTATUS(status) == NOT_FOUND)
		return 0;
	return status == 0 ? 1 : ipf_error_at(err, IPF_SYSTEM, path, 0, "gnuplot could not draw it");
}
