/* Pictures by gnuplot, where it is installed: a script on its standard input.
 *
 *     FILE *to = gnuplot_open("rate.png", 1000, 400, &err);
 *     fprintf(to, "plot '-' …\n…e\n");
 *     if (gnuplot_close(to, "rate.png", &err) == 0) …   // there is no gnuplot
 */
#ifndef IPF_GNUPLOT_H
#define IPF_GNUPLOT_H

#include "error.h"

/* Does the name end in .png or .svg? -1: IPF_USAGE. */
int gnuplot_check(const char *path, struct ipf_error *err);
/* The terminal and the output are set; size in pixels. NULL on error. */
FILE *gnuplot_open(const char *path, int width, int height, struct ipf_error *err);
/* 1; 0: gnuplot is not installed; -1: it failed. */
int gnuplot_close(FILE *to, const char *path, struct ipf_error *err);

#endif
