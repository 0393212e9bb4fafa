/* Text for people or other programs, to a file or to standard output.
 *
 *     struct text_output out;
 *     if (text_output_open(&out, options->output, err) < 0) return -1;
 *     fprintf(out.to, "%d requests\n", count);
 *     return text_output_close(&out, err);
 *
 * stdio forgets why a write failed as soon as another call succeeds, and may write on behind the gap. Here the first
 * failure counts: nothing is written after it, and closing reports it.
 */
#ifndef IPF_TEXT_OUTPUT_H
#define IPF_TEXT_OUTPUT_H

#include "buffer.h"
#include "error.h"

#include <stdio.h>

struct text_output {
	FILE *to;
	const char *name; /* the path, or "standard output" */
	int fd, failed;   /* errno of the first failure */
};

/* `path`: NULL and "-" are standard output, which stays open afterwards. 0 or -1. `out` must not move. */
int text_output_open(struct text_output *out, const char *path, struct ipf_error *err);
/* 0, or -1 where not everything was written. An error that is set already stays. */
int text_output_close(struct text_output *out, struct ipf_error *err);

/* The whole text at once. */
int text_output_write(const char *path, const struct buffer *text, struct ipf_error *err);

#endif
