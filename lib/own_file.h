/* Files that only we can have written: for caches, whose contents are believed.
 *
 * A link, a FIFO or another user's file in the place of a cached file, or a folder into which others may write, would
 * let others choose the bytes read, or the file written. None of these functions follows a link or waits.
 */
#ifndef IPF_OWN_FILE_H
#define IPF_OWN_FILE_H

#include <stdbool.h>
#include <sys/stat.h>

enum own_folder {
	OWN_FOLDER_OURS,
	OWN_FOLDER_MISSING,
	OWN_FOLDER_SHARED, /* no folder, another user's, or others may write to it */
};
enum own_folder own_folder(const char *path);

/* Opens for reading; *st is by fstat(2). -1: not there, not a regular file of ours, or others may write to it.
 */
int own_file_open(const char *path, struct stat *st);
/* Opens for reading and writing, and makes it if it is not there. Anything but a regular file of ours with one name is
 * removed and made anew. -1 with errno. */
int own_file_create(const char *path);

#endif
