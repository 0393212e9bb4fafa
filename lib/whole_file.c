#include "whole_file.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#define PIECE ((size_t)64 << 10)

int whole_file_read_fd(int fd, const char *path, struct whole_file file, struct buffer *text, struct ipf_error *err)
{
	size_t begin = text->len;
	for (;;) {
		char *to = buffer_reserve(text, PIECE);
		if (!to)
			return ipf_error_errno(err, ENOMEM, path, "cannot read");
		ssize_t got = read(fd, to, PIECE);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return ipf_error_errno(err, errno, path, "cannot read");
		text->len += (size_t)got;
		text->data[text->len] = '\0';
		if (got == 0)
			return 0;
		if (text->len - begin > file.most)
			return ipf_error_at(err, IPF_INPUT, path, 0, "expected %s, got a file of more than %zu MiB", file.expected,
			                    file.most >> 20);
	}
}

int whole_file_read(const char *path, struct whole_file file, struct buffer *text, struct ipf_error *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return ipf_error_errno(err, errno, path, "cannot open");
	int status = whole_file_read_fd(fd, path, file, text, err);
	close(fd);
	return status;
}
