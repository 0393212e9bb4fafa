#include "stream/stream.h"

#include "json/jout.h"
#include "memory.h"
#include "redact.h"
#include "stream/digest.h"
#include "stream/stream_keep.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

enum {
	OUT_SIZE = 128 * 1024,
	LEVEL = 3,
	LINES_LEVEL = 1,       /* for records and results */
	RECORDS_HASH_LOG = 11, /* 8 KiB, which stay in the first cache beside the sending thread */
	LONG_WINDOW_LOG = 27   /* 128 MiB, the most that zstd -d accepts without an option */
};

struct stream_writer {
	int fd;
	char *name;
	struct buffer out; /* plain text for zstd or for the file */
	size_t digested;   /* bytes of `out` that the digest has: it takes many lines at once, which saves half the time for
	                      short ones */
	ZSTD_CStream *zstd;
	char *packed;
	size_t packed_size;
	struct digest *digest;
	int64_t lines;
	bool bare; /* neither header nor trailer */
	struct ipf_error failure;
};

/* ---- bytes ---- */

static int write_all(struct stream_writer *w, const char *data, size_t len, struct ipf_error *err)
{
	while (len) {
		ssize_t put = write(w->fd, data, len);
		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0)
			return ipf_error_errno(err, errno, w->name, "cannot write");
		data += put;
		len -= (size_t)put;
	}
	return 0;
}

static void digest_lines(struct stream_writer *w)
{
	if (w->out.len > w->digested && !w->bare)
		digest_update(w->digest, w->out.data + w->digested, w->out.len - w->digested);
	w->digested = w->out.len;
}

static void out_clear(struct stream_writer *w)
{
	buffer_clear(&w->out);
	w->digested = 0;
}

static int write_out(struct stream_writer *w, ZSTD_EndDirective how, struct ipf_error *err)
{
	digest_lines(w);
	if (!w->zstd) {
		if (write_all(w, w->out.data, w->out.len, err) < 0)
			return -1;
		out_clear(w);
		return 0;
	}
	ZSTD_inBuffer in = {w->out.data, w->out.len, 0};
	size_t left;
	do {
		ZSTD_outBuffer out = {w->packed, w->packed_size, 0};
		left = ZSTD_compressStream2(w->zstd, &out, &in, how);
		if (ZSTD_isError(left))
			return ipf_error_at(err, IPF_SYSTEM, w->name, 0, "cannot compress: %s", ZSTD_getErrorName(left));
		if (write_all(w, w->packed, out.pos, err) < 0)
			return -1;
	} while (how == ZSTD_e_continue ? in.pos < in.size : left > 0);
	out_clear(w);
	return 0;
}

/* A failure is permanent: a later line would leave a hole in the stream. */
static int failed(struct stream_writer *w, struct ipf_error *err)
{
	if (err && err->kind == IPF_OK)
		*err = w->failure;
	return -1;
}

/* Writes the header or the trailer, which the digest leaves out. */
static int put_json(struct stream_writer *w, json_t *value, struct ipf_error *err)
{
	struct jout out = {.out = &w->out};
	jout_json(&out, value);
	buffer_byte(&w->out, '\n');
	w->digested = w->out.len;
	return w->out.failed ? ipf_error_at(err, IPF_SYSTEM, w->name, 0, "out of memory") : 0;
}

static int put_header(struct stream_writer *w, json_t *header, struct ipf_error *err)
{
	json_t *clean = json_deep_copy(header);
	int result = clean && redact_stream_header(clean) == 0 ? put_json(w, clean, err) : ipf_error_memory(err);
	json_decref(clean);
	return result;
}

/* `kept`: the kind of stream that is not overwritten; NULL. It is looked for in the file opened, and not by its name,
 * which may be that of another file by then. */
static int open_file(const char *path, const char *kept, int *fd, struct ipf_error *err)
{
	*fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | (kept ? 0 : O_TRUNC), 0666);
	struct stat file;
	if (*fd < 0)
		return ipf_error_errno(err, errno, path, "cannot open for writing");
	if (!kept || fstat(*fd, &file) < 0 || !S_ISREG(file.st_mode))
		return 0;
	if (stream_keep_check_fd(*fd, path, kept, err) < 0)
		return -1;
	return ftruncate(*fd, 0) < 0 ? ipf_error_errno(err, errno, path, "cannot empty") : 0;
}

static int open_output(struct stream_writer *w, const char *path, const char *kept, struct ipf_error *err)
{
	bool standard = !path || strcmp(path, "-") == 0;
	w->name = strdup(standard ? "standard output" : path);
	w->digest = digest_new();
	if (!w->name || !w->digest)
		return ipf_error_memory(err);
	w->fd = STDOUT_FILENO;
	if (!standard && open_file(path, kept, &w->fd, err) < 0)
		return -1;
	size_t len = standard ? 0 : strlen(path);
	if (len < 4 || strcmp(path + len - 4, ".zst") != 0)
		return 0;
	w->packed_size = ZSTD_CStreamOutSize();
	w->packed = malloc(w->packed_size);
	w->zstd = ZSTD_createCStream();
	return w->packed && w->zstd ? 0 : ipf_error_memory(err);
}

/* Records and results consist of numbers, which nothing compresses well, and of text that is the same in every line. A
 * fast search finds long repeats as well as the more thorough one does, and misses only short ones. Results are smaller
 * by it (a sixth), and are read and written in two thirds of the time. Records are compressed while requests are sent,
 * perhaps on the same core, and most of their repeats are those of the event before: they are looked for near by
 * only. */
static void set_compression(struct stream_writer *w, json_t *header)
{
	const char *text = json_string_value(json_object_get(header, "ipf")), *kind = text ? text : "";
	bool records = strcmp(kind, "records") == 0, results = strcmp(kind, "results") == 0;
	if (!w->zstd)
		return;
	ZSTD_CCtx_setParameter(w->zstd, ZSTD_c_compressionLevel, records || results ? LINES_LEVEL : LEVEL);
	if (records)
		ZSTD_CCtx_setParameter(w->zstd, ZSTD_c_hashLog, RECORDS_HASH_LOG);
	ZSTD_CCtx_setParameter(w->zstd, ZSTD_c_checksumFlag, 1);
}

/* A line no reader accepts is not written. */
static int check_header(struct stream_writer *w, struct ipf_error *err)
{
	if (w->out.len <= STREAM_HEADER_MAX)
		return 0;
	size_t len = w->out.len;
	out_clear(w);
	return ipf_error_at(
		err, IPF_USAGE, w->name, 0,
		"the header would have %zu MiB, and readers accept %zu MiB: use fewer stages, files or parameters", len >> 20,
		STREAM_HEADER_MAX >> 20);
}

static int open_writer(struct stream_writer **writer, const char *path, json_t *header, const char *kept,
                       struct ipf_error *err)
{
	*writer = NULL;
	if (memory_ran_out())
		return ipf_error_memory(err);
	struct stream_writer *w = calloc(1, sizeof *w);
	if (!w)
		return ipf_error_memory(err);
	w->fd = -1;
	int status = open_output(w, path, kept, err);
	if (status == 0) {
		w->bare = !header;
		set_compression(w, header);
		status = w->bare ? 0 : put_header(w, header, err);
	}
	if (status < 0 || check_header(w, err) < 0 || (kept && stream_writer_flush(w, err) < 0)) {
		stream_writer_abandon(w);
		return -1;
	}
	*writer = w;
	return 0;
}

int stream_writer_open(struct stream_writer **writer, const char *path, json_t *header, struct ipf_error *err)
{
	return open_writer(writer, path, header, NULL, err);
}

int stream_writer_open_keeping(struct stream_writer **writer, const char *path, json_t *header, const char *kept,
                               struct ipf_error *err)
{
	return open_writer(writer, path, header, kept, err);
}

void stream_writer_long_distance(struct stream_writer *w)
{
	if (!w->zstd)
		return;
	ZSTD_CCtx_setParameter(w->zstd, ZSTD_c_enableLongDistanceMatching, 1);
	ZSTD_CCtx_setParameter(w->zstd, ZSTD_c_windowLog, LONG_WINDOW_LOG);
}

int stream_writer_line(struct stream_writer *w, const struct buffer *line, struct ipf_error *err)
{
	if (w->failure.kind != IPF_OK)
		return failed(w, err);
	if (line->failed) {
		ipf_error_at(&w->failure, IPF_SYSTEM, w->name, w->lines + 2, "out of memory for a line");
		return failed(w, err);
	}
	buffer_append(&w->out, line->data, line->len);
	return stream_writer_end_line(w, err);
}

struct buffer *stream_writer_begin_line(struct stream_writer *w)
{
	return &w->out;
}

/* Writes the waiting bytes if they are enough. `memory`: some of it is missing. */
static int write_enough(struct stream_writer *w, bool memory, struct ipf_error *err)
{
	if (memory)
		ipf_error_memory(&w->failure);
	if (w->failure.kind != IPF_OK || (w->out.len >= OUT_SIZE && write_out(w, ZSTD_e_continue, &w->failure) < 0))
		return failed(w, err);
	return 0;
}

int stream_writer_within_line(struct stream_writer *w, struct ipf_error *err)
{
	return w->failure.kind == IPF_OK ? write_enough(w, w->out.failed, err) : failed(w, err);
}

int stream_writer_end_line(struct stream_writer *w, struct ipf_error *err)
{
	if (w->failure.kind != IPF_OK)
		return failed(w, err);
	buffer_byte(&w->out, '\n');
	bool memory = w->out.failed || memory_ran_out();
	w->lines += !memory;
	return write_enough(w, memory, err);
}

int stream_writer_flush(struct stream_writer *w, struct ipf_error *err)
{
	if (w->failure.kind != IPF_OK || write_out(w, ZSTD_e_flush, &w->failure) < 0)
		return failed(w, err);
	return 0;
}

static int put_trailer(struct stream_writer *w, json_t *extra, struct ipf_error *err)
{
	char sha256[65];
	digest_lines(w);
	digest_hex(w->digest, sha256);
	json_t *end = json_pack("{s:I, s:s}", "lines", (json_int_t)w->lines, "sha256", sha256);
	if (extra && json_object_update(end, extra) < 0) {
		json_decref(end);
		end = NULL;
	}
	json_t *trailer = json_pack("{s:o}", "end", end);
	if (!trailer)
		return ipf_error_at(err, IPF_SYSTEM, w->name, 0, "out of memory");
	size_t before = w->out.len;
	int status = put_json(w, trailer, err);
	if (memory_ran_out()) { /* the trailer may lack something */
		w->out.len = w->digested = before;
		status = ipf_error_memory(err);
	}
	json_decref(trailer);
	return status;
}

int stream_writer_close(struct stream_writer *w, json_t *extra, struct ipf_error *err)
{
	if (w->failure.kind == IPF_OK && (w->bare || put_trailer(w, extra, &w->failure) == 0))
		write_out(w, ZSTD_e_end, &w->failure);
	int fd = w->fd;
	w->fd = -1;
	/* a file system may report only now that it is full */
	if (close(fd) < 0 && w->failure.kind == IPF_OK)
		ipf_error_errno(&w->failure, errno, w->name, "cannot close");
	int status = w->failure.kind == IPF_OK ? 0 : failed(w, err);
	json_decref(extra);
	stream_writer_abandon(w);
	return status;
}

void stream_writer_abandon(struct stream_writer *w)
{
	if (!w)
		return;
	if (w->fd >= 0) {
		/* keep the lines that are good, but never write a trailer */
		if (w->failure.kind == IPF_OK && (w->zstd ? w->packed != NULL : w->out.len > 0))
			write_out(w, ZSTD_e_end, &w->failure);
		if (w->fd > STDERR_FILENO)
			close(w->fd);
	}
	ZSTD_freeCStream(w->zstd);
	buffer_release(&w->out);
	digest_free(w->digest);
	free(w->packed);
	free(w->name);
	free(w);
}

int64_t stream_writer_lines(const struct stream_writer *w)
{
	return w->lines;
}
