#include "readers.h"

#include "library.h"

#include <stdlib.h>

struct line_place reader_place(const struct ipf_reader *r)
{
	return (struct line_place){stream_reader_name(r->stream), stream_reader_line(r->stream)};
}

/* The JSON of a header or trailer, as a line. */
static int hold(struct ipf_line *line, char **text, json_t *json, enum ipf_line_kind kind, struct line_place place)
{
	*text = json_dumps(json, JSON_COMPACT);
	if (!*text)
		return -1;
	line_set(line, kind, slice_of(*text), place);
	return 0;
}

static int open_reader(struct ipf_reader *r, const char *path, const char *kind, struct ipf_error *err)
{
	static const char *const kinds[] = {"trace", "schedule", "records", "results"};
	bool known = !kind;
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		known |= kind && strcmp(kinds[i], kind) == 0;
	if (!known)
		return ipf_error_set(err, IPF_USAGE, "kind: expected trace, schedule, records or results, got \"%s\"", kind);
	if (stream_reader_open(&r->stream, path, kind, err) < 0)
		return -1;
	r->kind = json_string_value(json_object_get(stream_reader_header(r->stream), "ipf"));
	return hold(&r->header, &r->header_json, stream_reader_header(r->stream), IPF_LINE_HEADER, reader_place(r)) < 0
	           ? ipf_error_memory(err)
	           : 0;
}

int ipf_reader_open(struct ipf_reader **reader, const char *path, const char *kind, struct ipf_error *err)
{
	library_begin();
	struct ipf_reader *r = *reader = calloc(1, sizeof *r);
	if (!r)
		return ipf_error_memory(err);
	if (open_reader(r, path, kind, err) == 0)
		return 0;
	ipf_reader_close(r);
	*reader = NULL;
	return -1;
}

static bool begins(struct slice line, const char *text)
{
	size_t len = strlen(text);
	return line.len >= len && memcmp(line.data, text, len) == 0;
}

/* Our writers put the member naming the kind first. */
static enum ipf_line_kind kind_of(const char *stream, struct slice line)
{
	if (strcmp(stream, "trace") == 0)
		return IPF_LINE_REQUEST;
	if (strcmp(stream, "schedule") == 0)
		return IPF_LINE_ARRIVAL;
	if (strcmp(stream, "records") == 0)
		return begins(line, "{\"client\":")   ? IPF_LINE_CLIENT
		       : begins(line, "{\"sample\":") ? IPF_LINE_SAMPLE
		                                      : IPF_LINE_RECORD;
	return begins(line, "{\"histogram\":") ? IPF_LINE_HISTOGRAM
	       : begins(line, "{\"window\":")  ? IPF_LINE_WINDOW
	       : begins(line, "{\"sample\":")  ? IPF_LINE_SAMPLE
	                                       : IPF_LINE_ROW;
}

int ipf_reader_next(struct ipf_reader *r, struct ipf_line **line, struct ipf_error *err)
{
	struct slice text;
	library_begin();
	*line = NULL;
	int got = stream_reader_next(r->stream, &text, err);
	if (got == 1) {
		line_set(&r->line, kind_of(r->kind, text), text, reader_place(r));
		*line = &r->line;
	} else if (got == 0 && !r->trailer_json &&
	           hold(&r->trailer, &r->trailer_json, stream_reader_trailer(r->stream), IPF_LINE_TRAILER,
	                reader_place(r)) < 0) {
		return ipf_error_memory(err);
	}
	return got;
}

const char *ipf_reader_kind(const struct ipf_reader *r)
{
	return r->kind;
}

struct ipf_line *ipf_reader_header(struct ipf_reader *r)
{
	return &r->header;
}

struct ipf_line *ipf_reader_trailer(struct ipf_reader *r)
{
	return r->trailer_json ? &r->trailer : NULL;
}

void ipf_reader_close(struct ipf_reader *r)
{
	if (!r)
		return;
	line_release(&r->line);
	line_release(&r->header);
	line_release(&r->trailer);
	free(r->header_json);
	free(r->trailer_json);
	stream_reader_close(r->stream);
	free(r);
}
