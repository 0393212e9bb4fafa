#include "results/row_lines.h"

#include "unnamed_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct row_lines {
	FILE *file;
	char folder[200]; /* for messages */
	int64_t end;      /* where the next line goes */
	int64_t at;       /* where reading goes on without a seek; -1: after writing */
	char *line;       /* the one that was read last */
	size_t cap, len;
	struct jdoc doc;
	struct ipf_error err;
};

struct row_lines *row_lines_new(struct ipf_error *err)
{
	struct row_lines *lines = calloc(1, sizeof *lines);
	if (!lines) {
		ipf_error_memory(err);
		return NULL;
	}
	snprintf(lines->folder, sizeof lines->folder, "%s", unnamed_file_folder());
	int fd = unnamed_file_open(err);
	lines->file = fd >= 0 ? fdopen(fd, "w+") : NULL;
	if (!lines->file) {
		ipf_error_errno(err, errno, lines->folder, "cannot open a temporary file");
		if (fd >= 0)
			close(fd);
		free(lines);
		return NULL;
	}
	lines->at = -1;
	return lines;
}

void row_lines_free(struct row_lines *lines)
{
	if (!lines)
		return;
	fclose(lines->file);
	jdoc_release(&lines->doc);
	free(lines->line);
	free(lines);
}

int64_t row_lines_add(struct row_lines *lines, struct slice line)
{
	int64_t where = lines->end;
	if (fwrite(line.data, 1, line.len, lines->file) != line.len || putc('\n', lines->file) == EOF)
		ipf_error_errno(&lines->err, errno, lines->folder, "cannot write a temporary file");
	lines->end += (int64_t)line.len + 1;
	lines->at = -1;
	return where;
}

bool row_lines_read(struct row_lines *lines, int64_t where, struct result *result)
{
	if (lines->err.kind != IPF_OK)
		return false;
	/* rows are mostly read in the order of their lines: seeking would discard the buffer */
	if (lines->at != where && fseeko(lines->file, where, SEEK_SET) < 0) {
		ipf_error_errno(&lines->err, errno, lines->folder, "cannot read a temporary file");
		return false;
	}
	errno = 0;
	const ssize_t len = getline(&lines->line, &lines->cap, lines->file);
	if (len < 1 && errno == ENOMEM) {
		ipf_error_memory(&lines->err);
		return false;
	}
	if (len < 1 || lines->line[len - 1] != '\n') { /* a failed read ends a line early */
		ipf_error_errno(&lines->err, errno ? errno : EIO, lines->folder, "cannot read a temporary file");
		return false;
	}
	lines->at = where + len;
	lines->len = (size_t)len - 1;
	return result_parse(&lines->doc, row_lines_text(lines), result, &lines->err) == 0;
}

struct slice row_lines_text(const struct row_lines *lines)
{
	return (struct slice){lines->line, lines->len};
}

int64_t row_lines_next(const struct row_lines *lines)
{
	return lines->at;
}

int row_lines_check(const struct row_lines *lines, struct ipf_error *err)
{
	if (lines->err.kind == IPF_OK)
		return 0;
	if (err->kind == IPF_OK)
		*err = lines->err;
	return -1;
}
