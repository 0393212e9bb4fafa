#include "folders.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

int folders_make(char *path, mode_t mode)
{
	int refused = 0;
	for (char *slash = strchr(path + 1, '/');; slash = strchr(slash + 1, '/')) {
		if (slash)
			*slash = '\0';
		struct stat st;
		int bad = mkdir(path, mode) < 0 && errno != EEXIST ? errno : 0;
		if ((bad == EACCES || bad == EROFS) && stat(path, &st) == 0 && S_ISDIR(st.st_mode))
			bad = 0; /* a server of files may refuse before it looks */
		if (slash)
			*slash = '/';
		bool fatal = bad && (!slash || (bad != EACCES && bad != EROFS));
		errno = bad == ENOENT && refused ? refused : bad;
		if (fatal || !slash)
			return bad ? -1 : 0;
		refused = bad ? bad : refused;
	}
}
