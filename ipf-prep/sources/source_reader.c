#include "sources/source_reader.h"

#include "absent.h"
#include "clock.h"
#include "input/csv_json.h"
#include "input/json_splitter.h"
#include "input/otlp_messages.h"
#include "cli/units.h"
#include "sources/record_fields.h"
#include "utf8.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LOOK        ((size_t)64 << 10) /* how much of a file shows whether it is JSON */
#define REPORTS_MAX 10                 /* bad records reported one by one */

/* The file in progress, and the memory reused for the next one. */
struct open_file {
	struct source_reader *reader;
	struct input *input;
	struct byte_window *window;
	struct jdoc *json, *row;
	struct csv *csv;
	struct csv_json *rows;
	int index;
};

/* Ends the reading at an error in the input, which is reported: 0; or -1 if it is an error of another kind. */
static int end_reading(struct source_reader *r, struct ipf_error *wrong, struct ipf_error *err)
{
	if (wrong->kind != IPF_INPUT && wrong->kind != IPF_CUT) {
		*err = *wrong;
		return -1;
	}
	r->ended_early = true;
	const char *slash = strrchr(wrong->file, '/'), *name = slash ? slash + 1 : wrong->file;
	if (wrong->line)
		snprintf(r->why, sizeof r->why, "%s:%lld: %s", name, (long long)wrong->line, wrong->text);
	else
		snprintf(r->why, sizeof r->why, "%s: %s", name, wrong->text);
	size_t good; /* it goes to the trailer, which has to be UTF-8 */
	if (!utf8_valid(r->why, strlen(r->why), &good))
		r->why[good] = '\0';
	ipf_error_report(wrong, stderr, "ipf-prep");
	return 0;
}

/* Bad records make the program end with 3: one is reported at least. */
static int64_t reports_most(const struct source_reader *r)
{
	return r->quiet ? 1 : REPORTS_MAX;
}

/* Reports and skips a bad record, or ends the reading. 0, or -1 for an error of another kind. */
static int skip_bad(struct source_reader *r, struct ipf_error *wrong, struct ipf_error *err)
{
	if (wrong->kind != IPF_INPUT)
		return end_reading(r, wrong, err);
	r->bad++;
	if (r->stop)
		return end_reading(r, wrong, err);
	if (r->bad <= reports_most(r))
		ipf_error_report(wrong, stderr, "ipf-prep");
	if (!r->quiet && r->bad == REPORTS_MAX + 1)
		fputs("ipf-prep: further bad records are skipped without a message\n", stderr);
	ipf_error_clear(wrong);
	return 0;
}

static bool wants_more(const struct source_reader *r)
{
	return !r->sink->full && !r->ended_early;
}

static void show_progress(const struct open_file *f)
{
	struct source_reader *r = f->reader;
	if (r->records % 64 != 0 || !r->progress.on || !progress_due(&r->progress, clock_now()))
		return;
	char count[32], size[32];
	if (!f->input) {
		progress_show(&r->progress, "%s records", format_count((double)r->records, count));
		return;
	}
	int64_t total = input_size(f->input);
	if (total > 0)
		progress_show(&r->progress, "%s: %s records, %.0f %%", input_name(f->input),
		              format_count((double)r->records, count), 100.0 * (double)input_bytes(f->input) / (double)total);
	else
		progress_show(&r->progress, "%s: %s records, %sB", input_name(f->input),
		              format_count((double)r->records, count), format_count((double)input_bytes(f->input), size));
}

/* Notes the unread members of a record. A format that is `done` with it early did not need the rest. */
static void note_unread(struct open_file *f, const struct source_record *record, bool done)
{
	struct record_notes *notes = &f->reader->notes;
	for (size_t i = 0; record->json && record->csv && i < record->csv->column_count; i++)
		if (record->csv->used[i])
			jdoc_get(record->json, JDOC_ROOT, record->csv->columns[i]); /* a table's format may use either form */
	if (done && record->json && record->csv)
		record_notes_row(notes, record->json);
	else if (done && record->json)
		record_notes_members(notes, "", record->json);
	else if (done && record->csv)
		record_notes_columns(notes, record->csv);
	record_notes_end_record(notes, done);
}

/* Hands a record to the format: 0, or -1 for an error that is not in the record. */
static int read_record(struct open_file *f, struct source_record *record, struct ipf_error *err)
{
	struct source_reader *r = f->reader;
	struct ipf_error wrong = {0};
	struct sink *sink = r->sink;
	draft_reset(&sink->draft);
	sink->draft.number = record->number;
	int64_t left_out = record_notes_begin_record(&r->notes, record->line);
	int status = r->format->read_record(r->state, record, sink, &wrong);
	note_unread(f, record, status == 0 && r->notes.left_out == left_out);
	if (sink->draft.failed)
		return record->file ? ipf_error_errno(err, ENOMEM, record->file, "no memory for the record at line %lld",
		                                      (long long)record->line)
		                    : ipf_error_memory(err);
	if (status < 0 && !record->file) {
		/* There is no input that could be wrong. */
		wrong.kind = wrong.kind == IPF_INPUT ? IPF_USAGE : wrong.kind;
		*err = wrong;
		return -1;
	}
	if (status < 0) {
		ipf_error_place(&wrong, record->file, record->line);
		if (wrong.kind != IPF_INPUT) {
			*err = wrong;
			return -1;
		}
		if (skip_bad(r, &wrong, err) < 0)
			return -1;
	}
	show_progress(f);
	return 0;
}

static struct source_record next_record(struct open_file *f, int64_t line)
{
	return (struct source_record){
		.number = ++f->reader->records, .file = input_name(f->input), .line = line, .file_index = f->index};
}

/* Is it a page of rows as dataset hubs serve them, {"features": …, "rows": [{"row": {…}}, …]}? */
static bool is_page(const struct jdoc *j)
{
	return jdoc_type_of(j, jdoc_get(j, JDOC_ROOT, "rows")) == JDOC_LIST &&
	       jdoc_get(j, JDOC_ROOT, "features") != JDOC_NONE;
}

static int read_page(struct open_file *f, struct source_record *record, struct ipf_error *err)
{
	const struct jdoc *page = f->json;
	bool first = true;
	for (struct jdoc_each e = jdoc_each(page, jdoc_get(page, JDOC_ROOT, "rows"));
	     jdoc_step(&e) && wants_more(f->reader);) {
		struct slice row = jdoc_raw(page, jdoc_get(page, e.value, "row"));
		struct ipf_error wrong = {0};
		record->number = first ? record->number : ++f->reader->records;
		first = false;
		if (jdoc_parse(f->row, row.data ? row.data : "", row.len, &wrong) < 0) {
			ipf_error_place(&wrong, record->file, record->line);
			if (skip_bad(f->reader, &wrong, err) < 0)
				return -1;
			continue;
		}
		record->json = f->row;
		if (read_record(f, record, err) < 0)
			return -1;
	}
	return 0;
}

static int read_json(struct open_file *f, struct ipf_error *err)
{
	struct json_splitter splitter;
	struct slice text;
	struct ipf_error wrong = {0};
	int got;
	json_splitter_begin(&splitter, f->window);
	while (wants_more(f->reader) && (got = json_splitter_next(&splitter, &text, &wrong)) != 0) {
		if (got < 0) {
			ipf_error_place(&wrong, input_name(f->input), splitter.line);
			return end_reading(f->reader, &wrong, err);
		}
		struct source_record record = next_record(f, splitter.line);
		if (jdoc_parse(f->json, text.data, text.len, &wrong) < 0) {
			ipf_error_place(&wrong, record.file, record.line);
			/* Invalid UTF-8 affects no other record; a wrong bracket or quote does. */
			if (wrong.kind != IPF_INPUT ||
			    (!json_splitter_by_lines(&splitter) && utf8_valid(text.data, text.len, NULL)))
				return end_reading(f->reader, &wrong, err);
			if (skip_bad(f->reader, &wrong, err) < 0)
				return -1;
			continue;
		}
		record.json = f->json;
		if (!json_splitter_by_lines(&splitter))
			put_on_one_line(text); /* a request takes parts of it verbatim */
		if ((is_page(f->json) ? read_page(f, &record, err) : read_record(f, &record, err)) < 0)
			return -1;
	}
	return 0;
}

/* A bad message is skipped if the next one can be found. A record's line is the number of its message. */
static int read_messages(struct open_file *f, struct ipf_error *err)
{
	struct otlp_messages messages = {.window = f->window};
	struct slice text;
	struct ipf_error wrong = {0};
	int got, status = 0;
	while (status == 0 && wants_more(f->reader) && (got = otlp_messages_next(&messages, &text, &wrong)) != 0) {
		if (messages.broken) {
			ipf_error_place(&wrong, input_name(f->input), messages.number);
			status = end_reading(f->reader, &wrong, err);
			break;
		}
		struct source_record record = next_record(f, messages.number);
		if (got < 0 || jdoc_parse(f->json, text.data, text.len, &wrong) < 0) {
			ipf_error_place(&wrong, record.file, record.line);
			status = skip_bad(f->reader, &wrong, err);
			continue;
		}
		put_on_one_line(text);
		record.json = f->json;
		status = read_record(f, &record, err);
	}
	otlp_messages_release(&messages);
	return status;
}

/* JSON, or messages of OTLP? JSON does not begin with their bytes. */
static bool is_messages(struct byte_window *window)
{
	struct ipf_error ignored = {0}; /* the next read reports it */
	while (window->end - window->begin < LOOK && byte_window_more(window, &ignored) > 0)
		;
	return otlp_begins((struct slice){byte_window_at(window), window->end - window->begin});
}

static int read_lines(struct open_file *f, struct ipf_error *err)
{
	struct slice text;
	struct ipf_error wrong = {0};
	int got;
	for (int64_t line = 1;
	     wants_more(f->reader) && (got = byte_window_line(f->window, &text.data, &text.len, &wrong)) != 0; line++) {
		if (got < 0) {
			ipf_error_place(&wrong, input_name(f->input), line);
			return end_reading(f->reader, &wrong, err);
		}
		if (line == 1 && text.len >= 3 && memcmp(text.data, "\xef\xbb\xbf", 3) == 0)
			text = (struct slice){text.data + 3, text.len - 3};
		if (text.len == 0)
			continue;
		struct source_record record = next_record(f, line);
		record.text = text;
		size_t good;
		if (!utf8_valid(text.data, text.len, &good)) {
			ipf_error_at(&wrong, IPF_INPUT, record.file, line, "not UTF-8: byte 0x%02x at byte %zu of the line",
			             (unsigned char)text.data[good], good + 1);
			if (skip_bad(f->reader, &wrong, err) < 0)
				return -1;
			continue;
		}
		if (read_record(f, &record, err) < 0)
			return -1;
	}
	return 0;
}

static int read_whole(struct open_file *f, struct ipf_error *err)
{
	struct ipf_error wrong = {0};
	int got;
	while ((got = byte_window_more(f->window, &wrong)) > 0)
		;
	if (got < 0) {
		ipf_error_place(&wrong, input_name(f->input), 0);
		return end_reading(f->reader, &wrong, err);
	}
	if (f->window->end == f->window->begin)
		return 0;
	struct source_record record = next_record(f, 0);
	record.text = (struct slice){byte_window_at(f->window), f->window->end - f->window->begin};
	return read_record(f, &record, err);
}

/* A record's line is the number of its packet. */
static int read_packets(struct open_file *f, struct ipf_error *err)
{
	struct packet_file *packets;
	struct packet packet;
	struct ipf_error wrong = {0};
	int got = packet_file_open(&packets, input_read, f->input, &wrong), status = 0;
	const bool live = input_size(f->input) == IPF_ABSENT;
	if (f->reader->undigested)
		input_skip_digest(f->input);
	for (int64_t line = 1; got >= 0 && status == 0 && wants_more(f->reader); line++) {
		if ((got = packet_file_next(packets, &packet, &wrong)) <= 0)
			break;
		struct source_record record = next_record(f, line);
		record.packet = &packet;
		record.packets = packets;
		record.live = live;
		status = read_record(f, &record, err);
	}
	if (packets && status == 0) { /* counters follow the last packet */
		struct source_record end = {.number = f->reader->records, .file = input_name(f->input), .packets = packets};
		status = read_record(f, &end, err);
	}
	packet_file_close(packets);
	if (status < 0)
		return -1;
	if (got < 0) {
		ipf_error_place(&wrong, input_name(f->input), 0);
		return end_reading(f->reader, &wrong, err);
	}
	return status;
}

static int read_rows(struct open_file *f, struct ipf_error *err)
{
	struct source_reader *r = f->reader;
	struct csv *csv = f->csv;
	struct ipf_error wrong = {0};
	csv_begin(csv, f->window);
	int got = csv_header(csv, &wrong);
	if (got == 0)
		return 0;
	if (got < 0 || (r->format->begin_file && r->format->begin_file(r->state, csv, &wrong) < 0)) {
		ipf_error_place(&wrong, input_name(f->input), csv->line);
		return end_reading(r, &wrong, err);
	}
	if (r->format->unit == UNIT_TABLE && csv_json_begin(f->rows, csv) < 0)
		return ipf_error_memory(err);
	while (wants_more(r) && (got = csv_next(csv, &wrong)) != 0) {
		if (got < 0 && (wrong.kind != IPF_INPUT || f->window->stuck)) {
			ipf_error_place(&wrong, input_name(f->input), csv->next_line);
			return end_reading(r, &wrong, err);
		}
		struct source_record record = next_record(f, csv->line);
		record.csv = csv;
		if (got < 0) {
			ipf_error_place(&wrong, record.file, record.line);
			if (skip_bad(r, &wrong, err) < 0)
				return -1;
			continue;
		}
		if (csv->count != csv->column_count)
			ipf_error_at(&wrong, IPF_INPUT, record.file, record.line, "expected %zu fields as in the header, got %zu",
			             csv->column_count, csv->count);
		else if (r->format->unit == UNIT_TABLE && csv_json_row(f->rows, csv, f->json, &wrong) < 0)
			ipf_error_place(&wrong, record.file, record.line);
		record.json = r->format->unit == UNIT_TABLE ? f->json : NULL;
		if ((wrong.kind ? skip_bad(r, &wrong, err) : read_record(f, &record, err)) < 0)
			return -1;
	}
	return 0;
}

/* CSV or JSON? JSON begins with a bracket. 1, 0 or -1. */
static int is_csv(struct byte_window *window, struct ipf_error *err)
{
	for (size_t at = 0;; at++) {
		int got = 1;
		if (window->begin + at >= window->end && (got = byte_window_more(window, err)) <= 0)
			return got;
		unsigned char c = (unsigned char)byte_window_at(window)[at];
		if (!c || !strchr(" \t\r\n\xef\xbb\xbf", c))
			return c && c != '{' && c != '[';
	}
}

static int read_records(struct open_file *f, struct ipf_error *err)
{
	switch (f->reader->format->unit) {
	case UNIT_JSON:
		return read_json(f, err);
	case UNIT_OTLP:
		return is_messages(f->window) ? read_messages(f, err) : read_json(f, err);
	case UNIT_CSV:
		return read_rows(f, err);
	case UNIT_LINE:
		return read_lines(f, err);
	case UNIT_FILE:
		return read_whole(f, err);
	case UNIT_PACKET:
		return read_packets(f, err);
	default:
		break;
	}
	struct ipf_error wrong = {0};
	int csv = is_csv(f->window, &wrong);
	if (csv < 0) {
		ipf_error_place(&wrong, input_name(f->input), 1);
		return end_reading(f->reader, &wrong, err);
	}
	if (csv > 0)
		return read_rows(f, err);
	if (f->reader->format->begin_file && f->reader->format->begin_file(f->reader->state, NULL, err) < 0)
		return -1;
	return read_json(f, err);
}

static int read_file(struct open_file *f, const char *path, struct ipf_error *err)
{
	struct source_reader *r = f->reader;
	struct ipf_error wrong = {0};
	struct input *last = f->input;
	f->input = r->first;
	r->first = NULL;
	if (!f->input && input_next(&f->input, last, path, &wrong) < 0) {
		f->input = NULL;
		return end_reading(r, &wrong, err);
	}
	record_notes_begin_file(&r->notes, input_name(f->input));
	byte_window_restart(f->window);
	f->window->read = input_read;
	f->window->data = f->input;
	int64_t before = r->records;
	int status = 0;
	if (r->format->unit != UNIT_CSV && r->format->unit != UNIT_TABLE && r->format->begin_file)
		status = r->format->begin_file(r->state, NULL, err);
	if (status == 0)
		status = read_records(f, err);
	if (status == 0 && r->records == before && !r->ended_early && !r->sink->full) {
		ipf_error_at(&wrong, IPF_INPUT, input_name(f->input), 0, "%s",
		             input_bytes(f->input) ? "there is no record in it" : "the file is empty");
		status = end_reading(r, &wrong, err);
	}
	if (status == 0) {
		json_t *entry = input_provenance(f->input, !r->sink->full, err);
		status = entry ? json_array_append_new(r->from, entry) : -1;
	}
	r->bytes += input_bytes(f->input);
	return status; /* it stays open, since the next file may be in the same archive */
}

/* A format reading nothing makes one record after another. */
static int make_records(struct open_file *f, struct ipf_error *err)
{
	while (wants_more(f->reader)) {
		struct source_record record = {.number = ++f->reader->records};
		if (read_record(f, &record, err) < 0)
			return -1;
	}
	return 0;
}

int source_reader_run(struct source_reader *r, char **files, int count, struct ipf_error *err)
{
	struct byte_window window = {0};
	struct jdoc json = {0};
	struct csv csv = {0};
	struct jdoc row = {0};
	struct csv_json rows = {0};
	struct open_file file = {.reader = r, .window = &window, .json = &json, .row = &row, .csv = &csv, .rows = &rows};
	int status = 0;
	r->from = json_array();
	if (!r->from)
		return ipf_error_memory(err);
	r->notes.ignored = r->format->ignored;
	r->sink->notes = &r->notes;
	jdoc_watch(&json);
	jdoc_watch(&row);
	if (r->format->unit == UNIT_NONE)
		status = make_records(&file, err);
	else if (count == 0)
		status = read_file(&file, "-", err);
	for (int i = 0; i < count && status == 0 && !r->ended_early && !r->sink->full; i++) {
		file.index = i;
		status = read_file(&file, files[i], err);
	}
	input_close(file.input);
	if (status == 0 && r->format->finish && !r->sink->full) {
		draft_reset(&r->sink->draft);
		struct ipf_error wrong = {0};
		r->sink->cut = r->ended_early ? r->why : NULL;
		status = r->format->finish(r->state, r->sink, &wrong);
		if (status < 0 && wrong.kind == IPF_CUT)
			status = r->ended_early ? 0 : end_reading(r, &wrong, err);
		else if (status < 0)
			*err = wrong;
		if (r->sink->draft.failed)
			status = ipf_error_errno(err, ENOMEM, NULL, "no memory for the records");
	}
	progress_end(&r->progress);
	if (r->bad > reports_most(r))
		fprintf(stderr, "ipf-prep: skipped %lld bad records of %lld\n", (long long)r->bad, (long long)r->records);
	if (status == 0 && r->notes.failed)
		status = ipf_error_memory(err);
	byte_window_release(&window);
	jdoc_release(&json);
	jdoc_release(&row);
	csv_json_release(&rows);
	csv_release(&csv);
	return status;
}

void source_reader_release(struct source_reader *r)
{
	input_close(r->first);
	record_notes_release(&r->notes);
	json_decref(r->from);
	r->from = NULL;
}
