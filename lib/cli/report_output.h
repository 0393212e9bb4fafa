/* Where a report goes: standard output or a file, compressed if its name ends in .zst. A temporary file can keep a copy
 * of standard output.
 *
 *     struct report_output to = {.path = path};
 *     for each part: report_output_put(&to, &part, &err);       // also empties the buffer
 *     report_output_close(&to, &err);
 *
 * Nothing is created before the first write, so a report failing earlier leaves the file as it was.
 */
#ifndef IPF_REPORT_OUTPUT_H
#define IPF_REPORT_OUTPUT_H

#include "buffer.h"
#include "error.h"

#include <stdbool.h>
#include <zstd.h>

struct report_output {
	const char *path; /* NULL or "-": standard output */
	bool keep;        /* standard output: keep a copy in the file `kept`, which the caller closes */
	int kept;         /* 0: there is none */
	int fd;
	bool opened;
	ZSTD_CCtx *packer; /* NULL: not compressed */
	struct buffer packed;
	struct ipf_error err; /* the first failure; nothing is written after it */
};

/* Writes the bytes and empties `text`. -1: IPF_SYSTEM; IPF_CLOSED if the reader of a pipe has gone; the error is in
 * to->err, too. */
int report_output_put(struct report_output *to, struct buffer *text, struct ipf_error *err);
/* The same once `text` is long, for a format that renders in pieces: false if it need not go on, because nothing more
 * can be written. `to` NULL: keeps all text. */
bool report_output_spill(struct report_output *to, struct buffer *text);
/* Ends the output and releases it; creates the file if nothing was written. If *err is set already, the output is not
 * ended, so a compressed one is seen to be cut. -1, as above, also if an earlier write failed. */
int report_output_close(struct report_output *to, struct ipf_error *err);

/* The same for a text as a whole. */
int report_output_write(const char *path, const struct buffer *text, struct ipf_error *err);

#endif
