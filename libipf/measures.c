#include <ipf/measures.h>

#include "absent.h"
#include "api/api.h"
#include "api/response.h"
#include "measure/measure.h"
#include "library.h"
#include "readers.h"
#include "tokenizers.h"
#include "stream/record.h"
#include "stream/schedule.h"

#include <stdlib.h>

struct ipf_measure {
	struct ipf_reader *records;
	struct ipf_line *record; /* the last row's; the reader's */
	struct record_reader *parser;
	struct api *api;
	struct schedule schedule;
	struct response_options response_options;
	struct measure_options options;
	struct response response;
	struct measure measure;
	struct buffer json;
	struct ipf_line row;
};

static int open_api(struct ipf_measure *m, const char *name, struct ipf_error *err)
{
	if (name)
		return api_open(&m->api, name, err);
	if (!m->records)
		return ipf_error_set(err, IPF_USAGE, "api: expected a descriptor's name or file for records of no file");
	struct stream_reader *stream = m->records->stream;
	json_t *descriptor = json_object_get(stream_reader_header(stream), "api");
	if (json_is_object(descriptor))
		return api_from_records(&m->api, descriptor, stream_reader_name(stream), err);
	return ipf_error_at(err, IPF_INPUT, stream_reader_name(stream), 1, "api: the header has no API descriptor");
}

static int take_options(struct ipf_measure_options *to, const struct ipf_measure_options *from, struct ipf_error *err)
{
	if (!from)
		return 0;
	if (from->size > sizeof *to || from->size < offsetof(struct ipf_measure_options, keep_text))
		return ipf_error_set(err, IPF_USAGE, "size: expected that of IPF_MEASURE_INIT, got %zu", from->size);
	memcpy(to, from, from->size);
	if (to->deadline_ns != IPF_ABSENT && to->deadline_ns <= 0)
		return ipf_error_set(err, IPF_USAGE, "deadline_ns: expected more than 0, got %lld", (long long)to->deadline_ns);
	return 0;
}

/* Rows say how many tokens came before stages began and ended. */
static int open_edges(struct ipf_measure *m, struct ipf_error *err)
{
	struct stream_reader *stream = m->records ? m->records->stream : NULL;
	json_t *header = stream ? schedule_find_header(stream_reader_header(stream)) : NULL;
	if (!header)
		return 0;
	if (schedule_from_header(&m->schedule, header, stream_reader_name(stream), err) < 0)
		return -1;
	m->options.edges = stage_edges_new(&m->schedule);
	return m->options.edges ? 0 : ipf_error_memory(err);
}

static int open_measure(struct ipf_measure *m, const struct ipf_measure_options *options, struct ipf_error *err)
{
	struct ipf_measure_options o = IPF_MEASURE_INIT;
	if (m->records && strcmp(m->records->kind, "records") != 0)
		return ipf_error_at(err, IPF_INPUT, stream_reader_name(m->records->stream), 1,
		                    "expected an ipf records stream, got \"%s\"", m->records->kind);
	if (take_options(&o, options, err) < 0 || open_api(m, o.api, err) < 0)
		return -1;
	m->options = (struct measure_options){.stall_ns = o.stall_ns,
	                                      .deadline_ns = o.deadline_ns,
	                                      .keep_events = o.keep_events,
	                                      .keep_text = o.keep_text,
	                                      .tokens = tokenizer_counter(o.tokenizer)};
	m->response_options = (struct response_options){
		.tokens = m->options.tokens, .keep_text = m->options.keep_text, .keep_others = m->options.keep_events};
	m->parser = record_reader_new();
	return m->parser ? open_edges(m, err) : ipf_error_memory(err);
}

int ipf_measure_open(struct ipf_measure **measure, struct ipf_reader *records,
                     const struct ipf_measure_options *options, struct ipf_error *err)
{
	library_begin();
	struct ipf_measure *m = *measure = calloc(1, sizeof *m);
	if (!m)
		return ipf_error_memory(err);
	m->records = records;
	if (open_measure(m, options, err) == 0)
		return 0;
	ipf_measure_close(m);
	*measure = NULL;
	return -1;
}

/* 1: a row; 2: a line that is no request. */
static int measure_line(struct ipf_measure *m, struct ipf_line *line, struct ipf_error *err)
{
	struct record record;
	struct slice client;
	struct result row;
	int got = record_reader_parse(m->parser, line->text, &record, &client, err);
	if (got != 1)
		return got == 3 ? 2 : got;
	if (response_parse(&m->response, &record, m->api, &m->response_options, err) < 0 ||
	    measure_row(&m->measure, &record, &m->response, &m->options, &row, err) < 0)
		return -1;
	result_write(&row, &m->json);
	if (m->json.failed)
		return ipf_error_memory(err);
	line_set(&m->row, IPF_LINE_ROW, buffer_all(&m->json), (struct line_place){NULL, 0});
	return 1;
}

int ipf_measure_line(struct ipf_measure *m, struct ipf_line *record, struct ipf_line **row, struct ipf_error *err)
{
	library_begin();
	*row = NULL;
	m->record = record;
	int got = measure_line(m, record, err);
	if (got < 0)
		ipf_error_place(err, record->place.file, record->place.number);
	if (got == 1)
		*row = &m->row;
	return got == 2 ? 0 : got;
}

int ipf_measure_next(struct ipf_measure *m, struct ipf_line **row, struct ipf_error *err)
{
	int got;
	*row = NULL;
	if (!m->records)
		return ipf_error_set(err, IPF_USAGE, "there is no reader of records: use ipf_measure_line");
	do {
		got = ipf_reader_next(m->records, &m->record, err);
		if (got != 1)
			return got;
		got = measure_line(m, m->record, err);
	} while (got == 2);
	if (got < 0) {
		const struct line_place place = reader_place(m->records);
		ipf_error_place(err, place.file, place.number);
		return -1;
	}
	*row = &m->row;
	return 1;
}

struct ipf_line *ipf_measure_record(struct ipf_measure *m)
{
	return m->record;
}

void ipf_measure_close(struct ipf_measure *m)
{
	if (!m)
		return;
	record_reader_close(m->parser);
	api_close(m->api);
	response_release(&m->response);
	stage_edges_free(m->options.edges);
	schedule_release(&m->schedule);
	measure_release(&m->measure);
	buffer_release(&m->json);
	line_release(&m->row);
	free(m);
}
