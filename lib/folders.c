#include "folders.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

/* A file system may refuse to make a folder before it looks whether there is one. */
static bool is_there(const char *path)
{
	struct stat st;
	int why = errno;
	bool there = stat(path, &st) == 0 && S_ISDIR(st.st_mode);
	errno = why;
	return there;
}

int folders_make(char *path, mode_t mode)
{
	bool good = true;
	for (char *slash = path; good && slash;) {
		slash = strchr(slash + 1, '/');
		if (slash)
			*slash = '\0';
		good = mkdir(path, mode) == 0 || errno == EEXIST || is_there(path);
		if (slash)
			*slash = '/';
	}
	return good ? 0 : -1;
}
