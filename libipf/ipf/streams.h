/* libipf: the streams of ipf, line by line, and writing others; see ipf_functions(3).
 *
 * A stream is a header, body lines and a trailer, which are JSON objects; ipf-trace(5), ipf-schedule(5), ipf-records(5)
 * and ipf-results(5) describe their members. No member is ever renamed or given another meaning, so a program reads
 * them by their names and needs no struct that would grow:
 *
 *     if (ipf_reader_open(&reader, "run.results.zst", "results", &err) < 0) …
 *     while ((got = ipf_reader_next(reader, &line, &err)) == 1)
 *         if (ipf_line_kind(line) == IPF_LINE_ROW && ipf_line_integer(line, "ttft_ns", &ttft_ns, &err) == 1) …
 *     if (got < 0) …                                   // err.kind == IPF_CUT: all lines before were good
 *     ipf_reader_close(reader);
 *
 * A reader, its lines and a writer belong to one thread at a time.
 */
#ifndef LIBIPF_STREAMS_H
#define LIBIPF_STREAMS_H

#include <ipf/values.h>

#ifdef __cplusplus
extern "C" {
#endif

struct ipf_reader;
struct ipf_line;
struct ipf_writer;

/* ---- reading ---- */

/* Opens `path` ("-": standard input), compressed or not, and reads the header. `kind`: "trace", "schedule", "records"
 * or "results"; NULL: any of them. -1: IPF_SYSTEM; IPF_INPUT for another kind or no stream; IPF_CUT. */
IPF_PUBLIC int ipf_reader_open(struct ipf_reader **reader, const char *path, const char *kind, struct ipf_error *err);
/* 1: the next line, good until the next call; 0: the end, after a trailer that agrees with the lines; -1: IPF_INPUT
 * with file, line, member and value; IPF_CUT, without a trailer; IPF_SYSTEM. */
IPF_PUBLIC int ipf_reader_next(struct ipf_reader *reader, struct ipf_line **line, struct ipf_error *err);
/* The kind of the stream. */
IPF_PUBLIC const char *ipf_reader_kind(const struct ipf_reader *reader);
/* The header, as a line; the reader's. */
IPF_PUBLIC struct ipf_line *ipf_reader_header(struct ipf_reader *reader);
/* The object "end" of the trailer, as a line; the reader's. NULL before ipf_reader_next has returned 0. */
IPF_PUBLIC struct ipf_line *ipf_reader_trailer(struct ipf_reader *reader);
IPF_PUBLIC void ipf_reader_close(struct ipf_reader *reader); /* NULL is fine */

/* ---- lines ---- */

enum ipf_line_kind {
	IPF_LINE_HEADER,
	IPF_LINE_TRAILER,
	IPF_LINE_REQUEST,   /* a trace's */
	IPF_LINE_ARRIVAL,   /* a schedule's */
	IPF_LINE_RECORD,    /* in records: a request … */
	IPF_LINE_CLIENT,    /* … or the client itself, once a second */
	IPF_LINE_ROW,       /* in results: a request … */
	IPF_LINE_HISTOGRAM, /* … a histogram … */
	IPF_LINE_WINDOW,    /* … a part of the run's time … */
	IPF_LINE_SAMPLE     /* … or a sample of the client, a server or an accelerator; also of records */
};

IPF_PUBLIC enum ipf_line_kind ipf_line_kind(const struct ipf_line *line);
/* The number of the line in its file, from 1; 0: it is of no file. */
IPF_PUBLIC int64_t ipf_line_number(const struct ipf_line *line);
/* The JSON object, without a newline, ended by a NUL; *len may be NULL. */
IPF_PUBLIC const char *ipf_line_json(struct ipf_line *line, size_t *len);

/* A member by its path: its name, and after each dot that of a member in it, or the index in a list, from 0:
 * "ttft_ns", "error.kind", "reads.0.1". 1: found; 0: absent or null, and *value is IPF_ABSENT, NAN, 0 or NULL; -1:
 * IPF_INPUT, it has another type. A text is decoded; it is good until the next text is read from the line, and may be
 * NULL only if it is absent. *len may be NULL. */
IPF_PUBLIC int ipf_line_integer(struct ipf_line *line, const char *path, int64_t *value, struct ipf_error *err);
IPF_PUBLIC int ipf_line_double(struct ipf_line *line, const char *path, double *value, struct ipf_error *err);
IPF_PUBLIC int ipf_line_flag(struct ipf_line *line, const char *path, int *value, struct ipf_error *err);
IPF_PUBLIC int ipf_line_text(struct ipf_line *line, const char *path, const char **text, size_t *len,
                             struct ipf_error *err);
/* The elements of a list, the members of an object; 0 for anything else. */
IPF_PUBLIC size_t ipf_line_count(struct ipf_line *line, const char *path);

/* ---- writing ---- */

/* Opens a stream for writing: NULL or "-" is standard output; a name ending in .zst is compressed; an existing file is
 * replaced. `kind` as above; `tool` names the program writing it, such as "loadgen 2.1". `header`: more members of the
 * header as a JSON object, NULL: none; for records those ipf-records(5) requires. */
IPF_PUBLIC int ipf_writer_open(struct ipf_writer **writer, const char *path, const char *kind, const char *tool,
                               const char *header, struct ipf_error *err);
/* Writes a line: one JSON object, NUL-terminated, which is checked. The first failure ends the stream: every further
 * call fails. */
IPF_PUBLIC int ipf_writer_line(struct ipf_writer *writer, const char *json, struct ipf_error *err);
/* Makes all lines so far readable for others. */
IPF_PUBLIC int ipf_writer_flush(struct ipf_writer *writer, struct ipf_error *err);
/* Writes the trailer and closes the stream, which is then whole. Frees the writer also if it fails. */
IPF_PUBLIC int ipf_writer_close(struct ipf_writer *writer, struct ipf_error *err);
/* Closes without a trailer, after an error. NULL is fine. */
IPF_PUBLIC void ipf_writer_abandon(struct ipf_writer *writer);

/* A request of a trace. Begin with IPF_REQUEST_INIT; set an id, and one of the four prompts. */
struct ipf_request {
	size_t size;                  /* this struct's */
	const char *id;               /* unique in the trace */
	const char *prompt;           /* a text; or … */
	const char *messages;         /* … JSON: a list of chat messages; or … */
	const char *prompt_token_ids; /* … JSON: a list of integers; or `inputs` */
	const char *session;          /* NULL: none; so for the next three */
	const char *model;
	const char *tags;      /* JSON: an object or a list */
	const char *slo;       /* JSON: the request's own objectives */
	int64_t input_tokens;  /* IPF_ABSENT: not known; so for the next four */
	int64_t output_tokens; /* the length of the answer to ask for */
	int64_t at_ns;         /* the recorded arrival, from the beginning of the trace */
	int64_t turn;          /* place in the session, from 0 */
	int64_t wait_ns;       /* from the end of the previous turn to this request */
	const char *inputs;    /* JSON: a list of texts or of lists of integers, of one request; NULL: it has one prompt */
	const char *query;     /* a text the inputs are ranked for; NULL: none */
};
#define IPF_REQUEST_INIT                                                                                               \
	{                                                                                                                  \
		sizeof(struct ipf_request), NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, IPF_ABSENT, IPF_ABSENT,            \
			IPF_ABSENT, IPF_ABSENT, IPF_ABSENT, NULL, NULL                                                             \
	}

/* Writes a request to a trace. IPF_USAGE, and nothing is written, for a request ipf-trace(5) does not allow. */
IPF_PUBLIC int ipf_writer_request(struct ipf_writer *writer, const struct ipf_request *request, struct ipf_error *err);

#ifdef __cplusplus
}
#endif

#endif
