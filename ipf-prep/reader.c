#include "reader.h"

#include "clock.h"
#include "input.h"
#include "split.h"
#include "units.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SAID_MAX 10

/* One file under way. */
struct file {
	struct reading *reading;
	struct input *input;
	struct feed *feed;
	struct jdoc *json;
	struct csv *csv;
};

static void complain(struct reading *r, struct ipf_error *wrong)
{
	r->bad++;
	if (!r->quiet && r->bad <= SAID_MAX)
		ipf_error_report(wrong, stderr, "ipf-prep");
	if (!r->quiet && r->bad == SAID_MAX + 1)
		fputs("ipf-prep: more records were skipped; their number follows at the end\n", stderr);
	ipf_error_clear(wrong);
}

/* Is this the input's fault? Then it is said, and reading ends here; otherwise it is the caller's matter. */
static int end_reading(struct reading *r, struct ipf_error *wrong, struct ipf_error *err)
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
	size_t good; /* it will stand in the trailer, and may quote bytes that cannot */
	if (!utf8_valid(r->why, strlen(r->why), &good))
		r->why[good] = '\0';
	ipf_error_report(wrong, stderr, "ipf-prep");
	return 0;
}

static void show_progress(const struct file *f)
{
	struct reading *r = f->reading;
	int64_t now;
	if (r->records % 64 != 0 || !r->progress.on || !progress_due(&r->progress, now = clock_now()))
		return;
	char count[32], size[32];
	int64_t total = input_size(f->input);
	if (total > 0)
		progress_show(&r->progress, "%s: %s records, %.0f %%", input_name(f->input), format_count((double)r->records, count),
		              100.0 * (double)input_bytes(f->input) / (double)total);
	else
		progress_show(&r->progress, "%s: %s records, %sB", input_name(f->input), format_count((double)r->records, count),
		              format_count((double)input_bytes(f->input), size));
}

/* Hands a record over: 0, or -1 for what is not the record's fault. */
static int hand_over(struct file *f, struct source_record *record, struct ipf_error *err)
{
	struct reading *r = f->reading;
	struct ipf_error wrong = {0};
	struct sink *sink = r->sink;
	draft_reset(&sink->draft);
	sink->draft.number = record->number;
	int status = r->format->record(r->state, record, sink, &wrong);
	if (sink->draft.failed)
		return ipf_error_errno(err, ENOMEM, record->file, "no memory for the record at line %lld", (long long)record->line);
	if (status < 0) {
		ipf_error_place(&wrong, record->file, record->line);
		if (wrong.kind != IPF_INPUT) {
			*err = wrong;
			return -1;
		}
		complain(r, &wrong);
	}
	show_progress(f);
	return 0;
}

static struct source_record next_record(struct file *f, int64_t line)
{
	return (struct source_record){.number = ++f->reading->records, .file = input_name(f->input), .line = line};
}

static int read_json(struct file *f, struct ipf_error *err)
{
	struct splitter splitter;
	struct slice text;
	struct ipf_error wrong = {0};
	int got;
	splitter_begin(&splitter, f->feed);
	while (!f->reading->sink->full && (got = splitter_next(&splitter, &text, &wrong)) != 0) {
		if (got < 0) {
			ipf_error_place(&wrong, input_name(f->input), splitter.line);
			return end_reading(f->reading, &wrong, err);
		}
		struct source_record record = next_record(f, splitter.line);
		if (jdoc_parse(f->json, text.data, text.len, &wrong) < 0) {
			ipf_error_place(&wrong, record.file, record.line);
			/* Bytes that are not UTF-8 put nothing else out of step; a wrong bracket or quote does. */
			if (wrong.kind != IPF_INPUT || (!splitter_by_lines(&splitter) && utf8_valid(text.data, text.len, NULL)))
				return end_reading(f->reading, &wrong, err);
			complain(f->reading, &wrong);
			continue;
		}
		record.json = f->json;
		if (hand_over(f, &record, err) < 0)
			return -1;
	}
	return 0;
}

static int read_lines(struct file *f, struct ipf_error *err)
{
	struct slice text;
	struct ipf_error wrong = {0};
	int got;
	for (int64_t line = 1; !f->reading->sink->full && (got = feed_line(f->feed, &text.data, &text.len, &wrong)) != 0; line++) {
		if (got < 0) {
			ipf_error_place(&wrong, input_name(f->input), line);
			return end_reading(f->reading, &wrong, err);
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
			complain(f->reading, &wrong);
			continue;
		}
		if (hand_over(f, &record, err) < 0)
			return -1;
	}
	return 0;
}

static int read_rows(struct file *f, struct ipf_error *err)
{
	struct reading *r = f->reading;
	struct csv *csv = f->csv;
	struct ipf_error wrong = {0};
	csv_begin(csv, f->feed);
	int got = csv_header(csv, &wrong);
	if (got == 0)
		return 0;
	if (got < 0 || (r->format->begin && r->format->begin(r->state, csv, &wrong) < 0)) {
		ipf_error_place(&wrong, input_name(f->input), csv->line);
		return end_reading(r, &wrong, err);
	}
	while (!r->sink->full && (got = csv_next(csv, &wrong)) != 0) {
		if (got < 0 && (wrong.kind != IPF_INPUT || f->feed->end - f->feed->begin > FEED_MAX)) {
			ipf_error_place(&wrong, input_name(f->input), csv->next_line);
			return end_reading(r, &wrong, err);
		}
		struct source_record record = next_record(f, csv->line);
		record.csv = csv;
		if (got < 0) {
			ipf_error_place(&wrong, record.file, record.line);
			complain(r, &wrong);
		} else if (csv->count != csv->column_count) {
			ipf_error_at(&wrong, IPF_INPUT, record.file, record.line, "expected %zu fields as in the header, got %zu",
			             csv->column_count, csv->count);
			complain(r, &wrong);
		} else if (hand_over(f, &record, err) < 0) {
			return -1;
		}
	}
	return 0;
}

static int read_file(struct file *f, const char *path, struct ipf_error *err)
{
	struct reading *r = f->reading;
	struct ipf_error wrong = {0};
	if (input_open(&f->input, path, &wrong) < 0)
		return end_reading(r, &wrong, err);
	feed_restart(f->feed);
	f->feed->read = input_read;
	f->feed->data = f->input;
	int64_t before = r->records;
	int status = 0;
	if (r->format->unit != UNIT_CSV && r->format->begin)
		status = r->format->begin(r->state, NULL, err);
	if (status == 0)
		status = r->format->unit == UNIT_JSON ? read_json(f, err) : r->format->unit == UNIT_CSV ? read_rows(f, err) : read_lines(f, err);
	if (status == 0 && r->records == before && !r->ended_early && !r->sink->full) {
		ipf_error_at(&wrong, IPF_INPUT, input_name(f->input), 0, "%s", input_bytes(f->input) ? "there is no record in it" : "the file is empty");
		status = end_reading(r, &wrong, err);
	}
	if (status == 0) {
		json_t *entry = input_provenance(f->input, !r->sink->full, err);
		status = entry ? json_array_append_new(r->from, entry) : -1;
	}
	r->bytes += input_bytes(f->input);
	input_close(f->input);
	f->input = NULL;
	return status;
}

int reading_run(struct reading *r, char **files, int count, struct ipf_error *err)
{
	struct feed feed = {0};
	struct jdoc json = {0};
	struct csv csv = {0};
	struct file file = {.reading = r, .feed = &feed, .json = &json, .csv = &csv};
	int status = 0;
	r->from = json_array();
	if (!r->from)
		return ipf_error_errno(err, ENOMEM, NULL, "cannot begin");
	if (count == 0)
		status = read_file(&file, "-", err);
	for (int i = 0; i < count && status == 0 && !r->ended_early && !r->sink->full; i++)
		status = read_file(&file, files[i], err);
	progress_end(&r->progress);
	if (!r->quiet && r->bad > SAID_MAX)
		fprintf(stderr, "ipf-prep: %lld records of %lld were skipped as bad\n", (long long)r->bad, (long long)r->records);
	feed_release(&feed);
	jdoc_release(&json);
	csv_release(&csv);
	return status;
}

void reading_release(struct reading *r)
{
	json_decref(r->from);
	r->from = NULL;
}
