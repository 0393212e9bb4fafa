/* The four streams: any bytes are refused with a reason or read; the same lines are read from the compressed form, in
 * frames of any size, and from a writer's output of the lines read. The first byte chooses the kind, whether the
 * trailer is put right first, and the size of the frames. */
#define FUZZ_JSON_LINES
#include "fuzz_input.h"

#include "stream/record.h"
#include "stream/result.h"
#include "stream/schedule.h"
#include "stream/trace.h"

#include <zstd.h>

static const char *const kinds[] = {"trace", "schedule", "records", "results"};

static void add_line(struct buffer *lines, struct slice line)
{
	buffer_slice(lines, line);
	buffer_byte(lines, '\n');
}

static int read_trace(const char *path, struct buffer *lines, json_t **header, struct ipf_error *err)
{
	struct trace_reader *reader = NULL;
	struct trace_request request;
	struct buffer line = {0};
	int got = trace_reader_open(&reader, path, err);
	if (got == 0)
		*header = json_incref(stream_reader_header(trace_reader_stream(reader)));
	while (got >= 0 && (got = trace_reader_next(reader, &request, err)) == 1) {
		trace_request_write(&request, &line);
		add_line(lines, buffer_all(&line));
	}
	trace_reader_close(reader);
	buffer_release(&line);
	return got;
}

static int read_schedule(const char *path, struct buffer *lines, json_t **header, struct ipf_error *err)
{
	struct schedule_reader *reader = NULL;
	struct schedule_arrival arrival;
	int got = schedule_reader_open(&reader, path, err);
	if (got == 0)
		*header = json_incref(stream_reader_header(schedule_reader_stream(reader)));
	int64_t last_n = -1;
	while (got >= 0 && (got = schedule_reader_next(reader, &arrival, err)) == 1) {
		must(arrival.n > last_n && arrival.req >= 0 && arrival.copy >= 0 && arrival.copy <= SCHEDULE_COPIES &&
		     arrival.stage >= 0 && arrival.stage < (int64_t)schedule_reader_header(reader)->count);
		for (size_t i = 0; i < arrival.after_count; i++)
			must(arrival.after[i] < arrival.n);
		last_n = arrival.n;
		schedule_arrival_write(&arrival, lines);
		buffer_byte(lines, '\n');
	}
	schedule_reader_close(reader);
	return got;
}

static int read_records(const char *path, struct buffer *lines, json_t **header, struct ipf_error *err)
{
	struct record_reader *reader = NULL;
	struct record record;
	struct slice client;
	struct buffer line = {0};
	int got = record_reader_open(&reader, path, err);
	if (got == 0)
		*header = json_incref(stream_reader_header(record_reader_stream(reader)));
	while (got >= 0 && (got = record_reader_next(reader, &record, &client, err)) > 0) {
		if (got == 1)
			record_write(&record, &line);
		else
			buffer_clear(&line), buffer_format(&line, "{\"client\":%.*s}", (int)client.len, client.data);
		add_line(lines, buffer_all(&line));
	}
	record_reader_close(reader);
	buffer_release(&line);
	return got;
}

static int read_results(const char *path, struct buffer *lines, json_t **header, struct ipf_error *err)
{
	struct result_reader *reader = NULL;
	struct result row;
	struct slice other;
	struct buffer line = {0};
	int got = result_reader_open(&reader, path, err);
	if (got == 0)
		*header = json_incref(stream_reader_header(result_reader_stream(reader)));
	while (got >= 0 && (got = result_reader_next(reader, &row, &other, err)) > 0) {
		if (got == RESULT_ROW)
			result_write(&row, &line);
		add_line(lines, got == RESULT_ROW ? buffer_all(&line) : other);
	}
	result_reader_close(reader);
	buffer_release(&line);
	return got;
}

static int read_kind(int kind, const char *path, struct buffer *lines, json_t **header, struct ipf_error *err)
{
	static int (*const readers[])(const char *, struct buffer *, json_t **,
	                              struct ipf_error *) = {read_trace, read_schedule, read_records, read_results};
	int got = readers[kind](path, lines, header, err);
	must(got == (err->kind ? -1 : 0));
	if (got < 0)
		must_explain(err);
	return got;
}

/* A frame for each piece. */
static void compress(struct slice text, size_t piece, struct buffer *out)
{
	for (size_t at = 0; at == 0 || at < text.len; at += piece) {
		size_t len = text.len - at < piece ? text.len - at : piece, most = ZSTD_compressBound(len);
		char *to = buffer_reserve(out, most);
		must(to != NULL);
		size_t got = ZSTD_compress(to, most, text.data + at, len, 1);
		must(!ZSTD_isError(got));
		out->len += got;
	}
}

static void write_again(const char *path, struct slice lines, json_t *header)
{
	struct stream_writer *writer;
	struct ipf_error err = {0};
	struct buffer line = {0};
	must(stream_writer_open(&writer, path, header, &err) == 0);
	for (const char *at = lines.data, *end = at + lines.len; at < end;) {
		const char *stop = memchr(at, '\n', (size_t)(end - at));
		buffer_clear(&line);
		buffer_append(&line, at, (size_t)(stop - at));
		must(stream_writer_line(writer, &line, &err) == 0);
		at = stop + 1;
	}
	must(stream_writer_close(writer, NULL, &err) == 0);
	buffer_release(&line);
}

static void check(int kind, struct slice text, size_t piece)
{
	static struct memory_file file, packed, written;
	struct buffer lines = {0}, again = {0}, zstd = {0};
	json_t *header = NULL, *other = NULL;
	struct ipf_error err = {0}, second = {0};
	int got = read_kind(kind, memory_file_set(&file, text), &lines, &header, &err);
	compress(text, piece, &zstd);
	read_kind(kind, memory_file_set(&packed, buffer_all(&zstd)), &again, &other, &second);
	bool compressed_already = text.len && memcmp(text.data, "\x28\xb5\x2f\xfd", text.len < 4 ? text.len : 4) == 0;
	must(compressed_already || (second.kind == err.kind && slice_equal(buffer_all(&lines), buffer_all(&again))));
	if (got == 0) {
		json_decref(other);
		other = NULL;
		buffer_clear(&again);
		ipf_error_clear(&second);
		write_again(memory_file_set(&written, (struct slice){0}), buffer_all(&lines), header);
		must(read_kind(kind, written.path, &again, &other, &second) == 0 &&
		     slice_equal(buffer_all(&lines), buffer_all(&again)));
	}
	json_decref(header);
	json_decref(other);
	buffer_release(&lines);
	buffer_release(&again);
	buffer_release(&zstd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buffer sealed = {0};
	if (size == 0)
		return 0;
	int kind = data[0] & 3;
	struct slice text = {(const char *)data + 1, size - 1};
	if (data[0] & 4) {
		seal_stream(text, kinds[kind], &sealed);
		text = buffer_all(&sealed);
	}
	check(kind, text, (size_t)64 << (data[0] >> 4));
	buffer_release(&sealed);
	return 0;
}
