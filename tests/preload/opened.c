/* Preloaded: appends the path of each file that the program opens to the file OPENED_LIST, a line each. */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static void list(const char *path)
{
	char line[4200];
	const char *to = getenv("OPENED_LIST");
	int fd = to ? (int)syscall(SYS_openat, AT_FDCWD, to, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600) : -1;
	if (fd < 0)
		return;
	int len = snprintf(line, sizeof line, "%s\n", path);
	if (len > 0 && write(fd, line, (size_t)len) < 0)
		abort();
	syscall(SYS_close, fd);
}

static int open_listed(int folder, const char *path, int flags, va_list more)
{
	mode_t mode = flags & (O_CREAT | O_TMPFILE) ? (mode_t)va_arg(more, int) : 0;
	list(path);
	return (int)syscall(SYS_openat, folder, path, flags, mode);
}

#define OPENS(name_)                                                                                                   \
	int name_(const char *path, int flags, ...)                                                                        \
	{                                                                                                                  \
		va_list more;                                                                                                  \
		va_start(more, flags);                                                                                         \
		int fd = open_listed(AT_FDCWD, path, flags, more);                                                             \
		va_end(more);                                                                                                  \
		return fd;                                                                                                     \
	}
OPENS(open)
OPENS(open64)

#define FOPENS(name_)                                                                                                  \
	FILE *name_(const char *path, const char *mode)                                                                    \
	{                                                                                                                  \
		FILE *(*original)(const char *, const char *) = NULL;                                                          \
		void *symbol = dlsym(RTLD_NEXT, #name_);                                                                       \
		memcpy(&original, &symbol, sizeof original);                                                                   \
		list(path);                                                                                                    \
		return original(path, mode);                                                                                   \
	}
FOPENS(fopen)
FOPENS(fopen64)
