#include "own_file.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#define OTHERS_WRITE (S_IWGRP | S_IWOTH)

enum own_folder own_folder(const char *path)
{
	struct stat st;
	if (lstat(path, &st) < 0)
		return errno == ENOENT ? OWN_FOLDER_MISSING : OWN_FOLDER_SHARED;
	return S_ISDIR(st.st_mode) && st.st_uid == geteuid() && !(st.st_mode & OTHERS_WRITE) ? OWN_FOLDER_OURS
	                                                                                     : OWN_FOLDER_SHARED;
}

static bool is_ours(int fd, struct stat *st)
{
	return fstat(fd, st) == 0 && S_ISREG(st->st_mode) && st->st_uid == geteuid() && !(st->st_mode & OTHERS_WRITE);
}

int own_file_open(const char *path, struct stat *st)
{
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd >= 0 && !is_ours(fd, st)) {
		close(fd);
		return -1;
	}
	return fd;
}

int own_file_create(const char *path)
{
	struct stat st;
	int fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
	if (fd >= 0 && is_ours(fd, &st) && st.st_nlink == 1)
		return fd;
	if (fd >= 0)
		close(fd);
	else if (errno != ELOOP && errno != ENXIO && errno != EACCES)
		return -1;
	if (unlink(path) < 0 && errno != ENOENT)
		return -1;
	return open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
}
