/* A temporary file without a name, so nothing remains of it however the program ends.
 *
 *     int fd = unnamed_file_open(&err);
 *     if (write(fd, …) < 0)
 *         return unnamed_file_full(&err);
 */
#ifndef IPF_UNNAMED_FILE_H
#define IPF_UNNAMED_FILE_H

#include "error.h"

/* A descriptor for reading and writing. -1: IPF_SYSTEM, with the folder. */
int unnamed_file_open(struct ipf_error *err);
/* TMPDIR, by default /tmp. */
const char *unnamed_file_folder(void);
/* Sets the error of a failed write, by errno. -1: IPF_SYSTEM, with the folder, and that TMPDIR names it. */
int unnamed_file_full(struct ipf_error *err);

#endif
