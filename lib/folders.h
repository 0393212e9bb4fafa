/* Folders and their parents. */
#ifndef IPF_FOLDERS_H
#define IPF_FOLDERS_H

#include <sys/types.h>

/* Makes the folder and its parents, each with this mode, where they are not there yet. `path` is absolute, without a
 * slash at its end; it is as before in the end. -1: errno is why the first folder that lacks could not be made. */
int folders_make(char *path, mode_t mode);

#endif
