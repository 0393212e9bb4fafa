/* A temporary file that has no name, so that nothing remains of it however the program ends.
 *
 *     int fd = unnamed_file_open(&err);
 *     ipf_error_errno(&err, errno, unnamed_file_folder(), "cannot write a temporary file");
 */
#ifndef IPF_UNNAMED_FILE_H
#define IPF_UNNAMED_FILE_H

#include "error.h"

/* A descriptor for reading and writing. -1: IPF_SYSTEM, with the folder. */
int unnamed_file_open(struct ipf_error *err);
/* TMPDIR, by default /tmp. */
const char *unnamed_file_folder(void);

#endif
