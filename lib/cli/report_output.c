#include "cli/report_output.h"

#include "unnamed_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LEVEL = 9, SPILL_BYTES = 1 << 20 };

static bool is_standard(const struct report_output *to)
{
	return !to->path || strcmp(to->path, "-") == 0;
}

static const char *name_of(const struct report_output *to)
{
	return is_standard(to) ? "standard output" : to->path;
}

static int write_to(struct report_output *to, int fd, const char *name, const char *bytes, size_t len)
{
	while (len > 0) {
		ssize_t wrote = write(fd, bytes, len);
		if (wrote < 0 && errno == EINTR)
			continue;
		if (wrote < 0)
			return ipf_error_errno(&to->err, errno, name, "cannot write");
		bytes += wrote;
		len -= (size_t)wrote;
	}
	return 0;
}

static int write_all(struct report_output *to, const char *bytes, size_t len)
{
	if (to->kept && write_to(to, to->kept, unnamed_file_folder(), bytes, len) < 0)
		return -1;
	return write_to(to, to->fd, name_of(to), bytes, len);
}

static int open_output(struct report_output *to)
{
	if (to->opened)
		return 0;
	to->fd = STDOUT_FILENO;
	to->opened = true;
	if (is_standard(to))
		return to->keep && (to->kept = unnamed_file_open(&to->err)) < 0 ? -1 : 0;
	to->fd = open(to->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (to->fd < 0)
		return ipf_error_errno(&to->err, errno, to->path, "cannot create");
	size_t len = strlen(to->path);
	if (len <= 4 || strcmp(to->path + len - 4, ".zst") != 0)
		return 0;
	to->packer = ZSTD_createCCtx();
	if (!to->packer || ZSTD_isError(ZSTD_CCtx_setParameter(to->packer, ZSTD_c_compressionLevel, LEVEL)))
		return ipf_error_memory(&to->err);
	return 0;
}

static int write_packed(struct report_output *to, struct slice text, ZSTD_EndDirective end)
{
	ZSTD_inBuffer in = {.src = text.data ? text.data : "", .size = text.len};
	size_t left;
	do {
		buffer_clear(&to->packed);
		char *room = buffer_reserve(&to->packed, ZSTD_CStreamOutSize());
		if (!room)
			return ipf_error_memory(&to->err);
		ZSTD_outBuffer out = {.dst = room, .size = ZSTD_CStreamOutSize()};
		left = ZSTD_compressStream2(to->packer, &out, &in, end);
		if (ZSTD_isError(left))
			return ipf_error_at(&to->err, IPF_SYSTEM, name_of(to), 0, "cannot compress: %s", ZSTD_getErrorName(left));
		if (write_all(to, room, out.pos) < 0)
			return -1;
	} while (in.pos < in.size || (end == ZSTD_e_end && left > 0));
	return 0;
}

/* -1: to->err is set. */
static int put(struct report_output *to, const struct buffer *text)
{
	if (to->err.kind != IPF_OK)
		return -1;
	if (text->failed)
		return ipf_error_memory(&to->err);
	if (open_output(to) < 0)
		return -1;
	return to->packer ? write_packed(to, buffer_all(text), ZSTD_e_continue) : write_all(to, text->data, text->len);
}

static int answer(const struct report_output *to, struct ipf_error *err)
{
	if (to->err.kind != IPF_OK && err->kind == IPF_OK)
		*err = to->err;
	return to->err.kind == IPF_OK ? 0 : -1;
}

int report_output_put(struct report_output *to, struct buffer *text, struct ipf_error *err)
{
	put(to, text);
	buffer_clear(text);
	return answer(to, err);
}

bool report_output_spill(struct report_output *to, struct buffer *text)
{
	if (!to || (text->len < SPILL_BYTES && !text->failed))
		return !text->failed;
	int bad = put(to, text);
	buffer_clear(text);
	return bad == 0;
}

int report_output_close(struct report_output *to, struct ipf_error *err)
{
	struct buffer nothing = {0};
	if (err->kind == IPF_OK && put(to, &nothing) == 0 && to->packer)
		write_packed(to, buffer_all(&nothing), ZSTD_e_end);
	if (to->opened && to->fd >= 0 && !is_standard(to) && close(to->fd) < 0 && to->err.kind == IPF_OK)
		ipf_error_errno(&to->err, errno, to->path, "cannot write");
	ZSTD_freeCCtx(to->packer);
	buffer_release(&to->packed);
	to->packer = NULL;
	to->opened = false;
	return answer(to, err);
}

int report_output_write(const char *path, const struct buffer *text, struct ipf_error *err)
{
	struct report_output to = {.path = path};
	put(&to, text);
	answer(&to, err);
	return report_output_close(&to, err);
}
