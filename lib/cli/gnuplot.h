/* Plots by gnuplot, if it is installed: the caller writes a script to its standard input.
 *
 *     struct gnuplot picture;
 *     if (gnuplot_open(&picture, "rate.png", 1000, 400, &err) < 0) …
 *     fprintf(picture.script, "plot '-' …\n…e\n");
 *     if (gnuplot_close(&picture, "rate.png", &err) == 0) …   // gnuplot is not installed
 */
#ifndef IPF_GNUPLOT_H
#define IPF_GNUPLOT_H

#include "error.h"

struct gnuplot {
	FILE *script; /* the caller writes gnuplot commands here */
	int image;    /* a memory file that gnuplot draws into */
};

/* Checks that the name ends in .png or .svg. -1: IPF_USAGE. */
int gnuplot_check(const char *path, struct ipf_error *err);
/* Starts gnuplot with terminal and output set; the size is in pixels. */
int gnuplot_open(struct gnuplot *picture, const char *path, int width, int height, struct ipf_error *err);
/* Writes the picture to `path` and frees everything. 1: written; 0: gnuplot is not installed; -1: gnuplot failed, or
 * the file cannot be written. */
int gnuplot_close(struct gnuplot *picture, const char *path, struct ipf_error *err);

#endif
