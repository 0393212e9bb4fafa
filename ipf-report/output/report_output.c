#include "output/report_output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

enum { LEVEL = 9 };

static int write_all(int fd, const char *name, const char *bytes, size_t len, struct ipf_error *err)
{
	while (len > 0) {
		ssize_t wrote = write(fd, bytes, len);
		if (wrote < 0 && errno == EINTR)
			continue;
		if (wrote < 0)
			return ipf_error_errno(err, errno, name, "cannot write");
		bytes += wrote;
		len -= (size_t)wrote;
	}
	return 0;
}

static int write_packed(int fd, const char *name, const struct buffer *text, struct ipf_error *err)
{
	size_t room = ZSTD_compressBound(text->len);
	char *packed = malloc(room);
	if (!packed)
		return ipf_error_memory(err);
	size_t len = ZSTD_compress(packed, room, text->data ? text->data : "", text->len, LEVEL);
	int bad = ZSTD_isError(len) ? ipf_error_at(err, IPF_SYSTEM, name, 0, "cannot compress: %s", ZSTD_getErrorName(len))
	                            : write_all(fd, name, packed, len, err);
	free(packed);
	return bad;
}

int report_output_write(const char *path, const struct buffer *text, struct ipf_error *err)
{
	if (text->failed)
		return ipf_error_memory(err);
	if (!path || strcmp(path, "-") == 0)
		return write_all(STDOUT_FILENO, "standard output", text->data ? text->data : "", text->len, err);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (fd < 0)
		return ipf_error_errno(err, errno, path, "cannot create");
	size_t len = strlen(path);
	bool packed = len > 4 && strcmp(path + len - 4, ".zst") == 0;
	int bad = packed ? write_packed(fd, path, text, err)
	                 : write_all(fd, path, text->data ? text->data : "", text->len, err);
	if (close(fd) < 0 && bad == 0)
		bad = ipf_error_errno(err, errno, path, "cannot write");
	return bad;
}
