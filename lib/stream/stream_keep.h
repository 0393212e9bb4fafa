/* Protects files that cannot be made again: the records of a run are not overwritten without being asked to.
 *
 *     if (stream_keep_check(path, "records", &err) < 0) …         // before anything is done
 *     stream_writer_open_keeping(&writer, path, header, "records", &err);   // again, on the file that is opened
 */
#ifndef IPF_STREAM_KEEP_H
#define IPF_STREAM_KEEP_H

#include "error.h"

/* -1 (IPF_USAGE) if the file holds a stream of this kind, whole or cut, plain or compressed. A file in a compression
 * that only other programs write may hold one, too. 0: it does not exist, is empty, something else, or no regular file
 * (NULL and "-": standard output). */
int stream_keep_check(const char *path, const char *kind, struct ipf_error *err);

/* The same for an open file, of which `path` is the name for the message. Its offset does not move. */
int stream_keep_check_fd(int fd, const char *path, const char *kind, struct ipf_error *err);

#endif
