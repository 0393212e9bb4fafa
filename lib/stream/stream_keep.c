#include "stream/stream_keep.h"

#include "stream/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define START_MOST 4096

static int refuse(const char *path, const char *what, const char *kind, struct ipf_error *err)
{
	return ipf_error_set(err, IPF_USAGE,
	                     "--output: \"%s\" %s %s of a run: choose another file, or --force to replace it", path, what,
	                     kind);
}

/* Does the file begin like one that another program compressed: gzip, xz, bzip2, lz4, zip? */
static bool is_foreign_compression(const char *start, size_t len)
{
	static const struct {
		const char *magic;
		size_t len;
	} known[] = {{"\x1f\x8b", 2},
	             {"\xfd"
	              "7zXZ",
	              5},
	             {"BZh", 3},
	             {"\x04\x22\x4d\x18", 4},
	             {"PK\x03\x04", 4},
	             {"7z\xbc\xaf", 4}};
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (len >= known[i].len && !memcmp(start, known[i].magic, known[i].len))
			return true;
	return false;
}

/* Is it the beginning of a header of this kind that was cut? The kind is the first member that our programs write. */
static bool is_cut_header(const char *start, size_t len, const char *kind)
{
	char header[64];
	int wanted = snprintf(header, sizeof header, "{\"ipf\":\"%s\"", kind);
	return len && !memcmp(start, header, len < (size_t)wanted ? len : (size_t)wanted);
}

/* Does a file, of which only the start is known, hold such a stream? `wrong`: why it could not be opened as one. */
static bool may_hold(const char *start, size_t len, const char *kind, const struct ipf_error *wrong)
{
	bool compressed = len >= 4 && !memcmp(start, "\x28\xb5\x2f\xfd", 4);
	if (strncmp(wrong->text, "version:", 8) == 0) /* a newer ipf wrote it */
		return true;
	if (compressed) /* cut or damaged before the end of its header */
		return wrong->kind == IPF_CUT || strstr(wrong->text, "damaged");
	return is_foreign_compression(start, len) || is_cut_header(start, len, kind);
}

static int check_start(int fd, const char *name, const char *path, const char *kind, struct ipf_error *err)
{
	char start[START_MOST];
	struct stream_reader *reader;
	struct ipf_error wrong = {0};
	ssize_t got = read(fd, start, sizeof start);
	if (got < 0)
		return refuse(path, "cannot be read, and may hold", kind, err);
	if (stream_reader_open(&reader, name, kind, &wrong) == 0) {
		stream_reader_close(reader);
		return refuse(path, "holds", kind, err);
	}
	if (may_hold(start, (size_t)got, kind, &wrong))
		return refuse(path, "may hold", kind, err);
	return wrong.kind == IPF_SYSTEM ? ipf_error_set(err, IPF_SYSTEM, "--output: %s: %s", path, wrong.text) : 0;
}

int stream_keep_check_fd(int fd, const char *path, const char *kind, struct ipf_error *err)
{
	char name[64];
	struct stat file;
	if (fstat(fd, &file) < 0 || !S_ISREG(file.st_mode) || file.st_size == 0)
		return 0;
	/* opened again by its descriptor: the same file, whatever its name is now */
	snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
	const char *same = access(name, F_OK) == 0 ? name : path;
	int reading = open(same, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (reading < 0)
		return refuse(path, "cannot be read, and may hold", kind, err);
	int result = check_start(reading, same, path, kind, err);
	close(reading);
	return result;
}

int stream_keep_check(const char *path, const char *kind, struct ipf_error *err)
{
	struct stat file;
	if (!path || strcmp(path, "-") == 0 || stat(path, &file) < 0 || !S_ISREG(file.st_mode) || file.st_size == 0)
		return 0;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return errno == ENOENT ? 0 : refuse(path, "cannot be read, and may hold", kind, err);
	int result = stream_keep_check_fd(fd, path, kind, err);
	close(fd);
	return result;
}
