/* Plots by gnuplot, if it is installed: the caller writes a script, gnuplot draws into memory.
 *
 *     struct gnuplot picture;
 *     if (gnuplot_open(&picture, "rate.png", 1000, 400, &err) < 0) …
 *     fprintf(picture.script, "plot '-' …\n…e\n");
 *     if (gnuplot_close(&picture, "rate.png", &err) == 0) …   // gnuplot is not installed
 *
 * gnuplot reads no settings of the user. It obeys whatever is in a script: a text from outside goes in by gnuplot_quote
 * only, and a terminal that is set without `enhanced` shows it as it is.
 */
#ifndef IPF_GNUPLOT_H
#define IPF_GNUPLOT_H

#include "buffer.h"
#include "error.h"

struct gnuplot {
	FILE *script; /* the caller writes gnuplot commands here */
	int fd;       /* the memory file behind it */
};

/* Checks the name ends in .png or .svg. -1: IPF_USAGE. */
int gnuplot_check(const char *path, struct ipf_error *err);
/* Begins a script with terminal and output set; the size is in pixels. */
int gnuplot_open(struct gnuplot *picture, const char *path, int width, int height, struct ipf_error *err);
/* Writes the picture to `path` and frees everything. 1: written; 0: gnuplot is not installed; -1: gnuplot failed, or
 * the file cannot be written. */
int gnuplot_close(struct gnuplot *picture, const char *path, struct ipf_error *err);

/* The file from which a script of gnuplot_run reads `data`. */
#define GNUPLOT_DATA "/proc/self/fd/3"

/* Runs a script setting its terminal and no output, and appends the drawing to `image`. 1: drawn; 0: gnuplot is not
 * installed; -1: it failed, with its message. */
int gnuplot_run(struct slice script, struct slice data, struct buffer *image, struct ipf_error *err);

/* Appends a text as a string constant of gnuplot: 'it''s'. Nothing in it is obeyed, neither by gnuplot (backquotes, @,
 * backslashes, line ends) nor by viewers of the picture: it is safe_text. An apostrophe at the beginning, or behind
 * another one, is U+2019: gnuplot takes three quotes in a row for two strings. */
void gnuplot_quote(struct buffer *script, struct slice text);

#endif
