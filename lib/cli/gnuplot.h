/* Pictures by gnuplot, where it is installed: a script on its standard input.
 *
 *     struct gnuplot picture;
 *     if (gnuplot_open(&picture, "rate.png", 1000, 400, &err) < 0) …
 *     fprintf(picture.script, "plot '-' …\n…e\n");
 *     if (gnuplot_close(&picture, "rate.png", &err) == 0) …   // there is no gnuplot
 */
#ifndef IPF_GNUPLOT_H
#define IPF_GNUPLOT_H

#include "error.h"

struct gnuplot {
	FILE *script; /* to be written to */
	int image;    /* a file in memory */
};

/* Does the name end in .png or .svg? -1: IPF_USAGE. */
int gnuplot_check(const char *path, struct ipf_error *err);
/* The terminal and the output are set; size in pixels. */
int gnuplot_open(struct gnuplot *picture, const char *path, int width, int height, struct ipf_error *err);
/* Writes the picture to `path`. 1; 0: gnuplot is not installed; -1: it failed, or the file cannot be written. */
int gnuplot_close(struct gnuplot *picture, const char *path, struct ipf_error *err);

#endif
