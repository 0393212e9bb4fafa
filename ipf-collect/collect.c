#include "collect.h"

#include "absent.h"
#include "api/response.h"
#include "clock.h"
#include "cli/interrupt.h"
#include "cli/progress.h"
#include "cli/units.h"
#include "hub/hub_tokenizer.h"
#include "safe_text.h"
#include "stream/provenance.h"
#include "stream/schedule.h"
#include "stream/shard_set.h"
#include "measure/itl_histograms.h"
#include "verdict/verdict.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

struct record_input {
	struct record_reader *reader;
	struct api *api;
	struct schedule schedule; /* empty if the records do not contain it */
};

struct collect {
	struct record_input *inputs;
	size_t inputs_count;
	struct shard_set shards;
	struct buffer missing; /* which shards are not among the inputs; "" */
	bool live;             /* an input is being written while we read it */
	struct token_counter *tokens;
	struct response_options response_options;
	struct measure_options measure_options;
	struct response response;
	struct measure measure;
	struct itl_histograms *itl;
	struct verdict *verdict;
	struct stream_writer *writer;
	bool compressed;    /* the output is */
	int64_t flushed_ns; /* compressed: the end of the record after which it was last flushed */
	struct buffer line;
	struct progress progress;
	int64_t rows, failed, hung_up, tokens_unknown;
	int64_t first_ns, last_ns, output_tokens, ttft_count; /* for the progress line */
	double ttft_sum;
	struct failure {
		char kind[16]; /* as in the row, with its quotes */
		int64_t count;
	} failures[12];        /* in order of first occurrence; there are nine kinds */
	char incomplete[1024]; /* why some of the input is missing; "" */
};

/* ---- opening ---- */

int collect_open_api(struct record_reader *records, const char *requested, struct api **api, struct ipf_error *err)
{
	struct stream_reader *stream = record_reader_stream(records);
	json_t *descriptor = json_object_get(stream_reader_header(stream), "api");
	if (requested)
		return api_open(api, requested, err);
	if (json_is_object(descriptor))
		return api_from_json(api, descriptor, stream_reader_name(stream), err);
	return ipf_error_at(err, IPF_INPUT, stream_reader_name(stream), 1,
	                    "api: the header has no API descriptor; give one with --api");
}

static int read_schedule(struct record_input *input, struct ipf_error *err)
{
	struct stream_reader *stream = record_reader_stream(input->reader);
	json_t *header = schedule_find_header(stream_reader_header(stream));
	return header ? schedule_from_header(&input->schedule, header, stream_reader_name(stream), err) : 0;
}

/* The header has the run's start to the nanosecond, so records with equal headers are of the same run. */
static int check_same_run(const struct collect *c, struct ipf_error *err)
{
	struct stream_reader *last = record_reader_stream(c->inputs[c->inputs_count - 1].reader);
	json_t *header = stream_reader_header(last);
	for (size_t i = 0; json_object_get(header, "t0_unix_ns") && i + 1 < c->inputs_count; i++) {
		struct stream_reader *other = record_reader_stream(c->inputs[i].reader);
		if (json_equal(header, stream_reader_header(other)))
			return ipf_error_at(err, IPF_INPUT, stream_reader_name(last), 0,
			                    "the same run as in %s; its requests would count twice", stream_reader_name(other));
	}
	return 0;
}

static int add_shard(struct collect *c, const struct record_input *input, struct ipf_error *err)
{
	struct stream_reader *stream = record_reader_stream(input->reader);
	return shard_set_add(&c->shards, stream_reader_header(stream), stream_reader_name(stream), err);
}

static int open_inputs(struct collect *c, const struct collect_options *options, const struct operands *records,
                       struct ipf_error *err)
{
	size_t count = records->count ? (size_t)records->count : 1;
	c->inputs = calloc(count, sizeof *c->inputs);
	if (!c->inputs)
		return ipf_error_memory(err);
	while (c->inputs_count < count) {
		struct record_input *input = &c->inputs[c->inputs_count];
		int fd;
		if (record_reader_open(&input->reader, records->count ? records->items[c->inputs_count] : NULL, err) < 0)
			return -1;
		c->inputs_count++;
		stream_reader_ready(record_reader_stream(input->reader), &fd);
		c->live |= input_is_live(fd);
		if (check_same_run(c, err) < 0 || add_shard(c, input, err) < 0 ||
		    collect_open_api(input->reader, options->api, &input->api, err) < 0 || read_schedule(input, err) < 0)
			return -1;
	}
	return 0;
}

static json_t *stall_rule(const struct measure_options *options)
{
	if (options->stall_ns != IPF_ABSENT)
		return json_pack("{s:I}", "over_ns", (json_int_t)options->stall_ns);
	return json_pack("{s:i, s:I}", "over_medians", STALL_MEDIANS, "over_ns", (json_int_t)STALL_LEAST_NS);
}

/* The name of the run, if its parts agree on it; borrowed; NULL. */
static json_t *run_name(const struct collect *c)
{
	json_t *name = NULL;
	for (size_t i = 0; i < c->inputs_count; i++) {
		json_t *own = json_object_get(stream_reader_header(record_reader_stream(c->inputs[i].reader)), "name");
		if (i && !json_equal(own, name))
			return NULL;
		name = own;
	}
	return name;
}

/* The results' header: the headers of the inputs, and the conventions that the metrics follow. It has no date and no
 * host, so that the same records always give the same bytes. */
static json_t *make_header(const struct collect *c, const struct collect_options *options, json_t *argv)
{
	json_t *from = json_array();
	for (size_t i = 0; i < c->inputs_count; i++)
		json_array_append(from, stream_reader_header(record_reader_stream(c->inputs[i].reader)));
	struct provenance p = {.tool = "ipf-collect", .argv = argv, .from = from, .undated = true};
	json_t *header = stream_header("results", &p);
	json_t *schedule = schedule_find_header(stream_reader_header(record_reader_stream(c->inputs[0].reader)));
	int bad = !header;
	if (run_name(c))
		bad |= json_object_set(header, "name", run_name(c));
	bad |= json_object_set_new(header, "api", json_string(api_name(c->inputs[0].api)));
	if (c->tokens)
		bad |= json_object_set_new(header, "tokenizer", token_counter_describe(c->tokens));
	bad |= json_object_set_new(header, "itl", json_string(itl_mode_names[options->measure.itl]));
	bad |= json_object_set_new(header, "stall", stall_rule(&options->measure));
	if (options->measure.deadline_ns != IPF_ABSENT)
		bad |= json_object_set_new(header, "deadline_ns", json_integer((json_int_t)options->measure.deadline_ns));
	if (json_object_get(schedule, "stages"))
		bad |= json_object_set(header, "stages", json_object_get(schedule, "stages"));
	if (c->shards.of)
		bad |= json_object_set_new(header, "shards", shard_set_json(&c->shards));
	if (json_object_get(schedule, "trace"))
		bad |= json_object_set(header, "trace", json_object_get(schedule, "trace"));
	if (bad) {
		json_decref(header);
		return NULL;
	}
	return header;
}

static int open_output(struct collect *c, const struct collect_options *options, json_t *argv, struct ipf_error *err)
{
	const char *path = options->common.output;
	json_t *header = make_header(c, options, argv);
	if (!header)
		return ipf_error_memory(err);
	c->compressed = path && strlen(path) > 4 && !strcmp(path + strlen(path) - 4, ".zst");
	int status = stream_writer_open(&c->writer, path, header, err);
	json_decref(header);
	return status;
}

static void say(const char *line)
{
	fputs("ipf-collect: ", stderr);
	safe_text_write(stderr, slice_of(line));
	fputc('\n', stderr);
}

int open_token_counter(struct token_counter **tokens, const struct collect_options *options, struct ipf_error *err)
{
	return hub_token_counter_open(tokens, options->tokenizer, say, err);
}

int collect_open(struct collect **collect, const struct collect_options *options, const struct operands *records,
                 json_t *argv, struct ipf_error *err)
{
	struct collect *c = calloc(1, sizeof *c);
	*collect = c;
	if (!c || !(c->itl = itl_histograms_new()) || !(c->verdict = verdict_new())) {
		json_decref(argv);
		return ipf_error_memory(err);
	}
	if ((options->tokenizer && open_token_counter(&c->tokens, options, err) < 0) ||
	    open_inputs(c, options, records, err) < 0) {
		json_decref(argv);
		return -1;
	}
	c->response_options = (struct response_options){.tokens = c->tokens, .keep_text = options->measure.keep_text};
	c->measure_options = options->measure;
	c->measure_options.tokens = c->tokens;
	c->flushed_ns = INT64_MIN;
	progress_init(&c->progress, options->common.progress,
	              options->common.quiet || progress_is_left(options->common.output, true, options->common.progress));
	interrupt_watch(c->live ? 2 : 0);
	return open_output(c, options, argv, err);
}

/* ---- running ---- */

/* Several inputs count as parts of one run: shards by their headers, whose arrivals add up, or otherwise clients that
 * shared the schedule of each. */
static int begin_input(struct collect *c, const struct record_input *input, struct ipf_error *err)
{
	if (verdict_part(c->verdict, &input->schedule) < 0)
		return ipf_error_memory(err);
	if (c->inputs_count > 1 && !c->shards.of)
		verdict_shards(c->verdict);
	return 0;
}

/* Rows must not stay in our buffers while we wait for input. A compressed output is flushed by the records' own clock
 * instead: every flush shows in its bytes, which must not depend on how fast the input came. */
static int flush(struct collect *c, const struct record *record, struct ipf_error *err)
{
	if (!c->compressed)
		return record ? 0 : stream_writer_flush(c->writer, err);
	if (!record || record->end_ns == IPF_ABSENT ||
	    (c->flushed_ns != INT64_MIN && record->end_ns < c->flushed_ns + NS_PER_S))
		return 0;
	c->flushed_ns = record->end_ns;
	return stream_writer_flush(c->writer, err);
}

static void count_failure(struct collect *c, struct slice kind)
{
	const size_t size = sizeof c->failures / sizeof *c->failures;
	size_t i = 0;
	while (i < size - 1 && c->failures[i].count && !slice_is(kind, c->failures[i].kind))
		i++;
	if (!c->failures[i].count++)
		snprintf(c->failures[i].kind, sizeof c->failures[i].kind, "%.*s", (int)kind.len, kind.data);
	c->failed++;
}

/* What the progress line shows. */
static void count_row(struct collect *c, const struct record *record, const struct result *row)
{
	if (record->start_ns != IPF_ABSENT && (c->rows == 0 || record->start_ns < c->first_ns))
		c->first_ns = record->start_ns;
	if (record->end_ns != IPF_ABSENT && (c->rows == 0 || record->end_ns > c->last_ns))
		c->last_ns = record->end_ns;
	if (row->output_tokens != IPF_ABSENT && row->output_tokens < INT64_MAX / 2 - c->output_tokens)
		c->output_tokens += row->output_tokens;
	if (row->ok && row->ttft_ns != IPF_ABSENT) {
		c->ttft_sum += (double)row->ttft_ns;
		c->ttft_count++;
	}
	c->rows++;
}

static int collect_record(struct collect *c, const struct record_input *input, const struct record *record,
                          struct ipf_error *err)
{
	struct result row;
	if (response_parse(&c->response, record, input->api, &c->response_options, err) < 0 ||
	    measure_row(&c->measure, record, &c->response, &c->measure_options, &row, err) < 0)
		return -1;
	if (row.ok && itl_histograms_add(c->itl, &row, c->measure.samples, c->measure.samples_count, err) < 0)
		return -1;
	verdict_row(c->verdict, &row);
	count_row(c, record, &row);
	c->hung_up += result_hung_up(&row);
	if (!row.ok && !result_hung_up(&row))
		count_failure(c, row.error_kind);
	c->tokens_unknown += row.ok && c->measure.tokens_unknown;
	result_write(&row, &c->line);
	if (stream_writer_line(c->writer, &c->line, err) < 0)
		return -1;
	return flush(c, record, err);
}

/* {"sample":"client", followed by the members of the line unchanged. */
static int collect_client(struct collect *c, struct slice client, struct ipf_error *err)
{
	struct slice inside = {client.data + 1, client.len - 1};
	while (inside.len > 1 && (*inside.data == ' ' || *inside.data == '\t'))
		inside = (struct slice){inside.data + 1, inside.len - 1};
	buffer_clear(&c->line);
	buffer_text(&c->line, *inside.data == '}' ? "{\"sample\":\"client\"" : "{\"sample\":\"client\",");
	buffer_slice(&c->line, inside);
	return stream_writer_line(c->writer, &c->line, err);
}

/* "3" or "3 (http_status 2, timeout 1)" */
static void append_failures(const struct collect *c, struct buffer *out)
{
	buffer_format(out, "  %lld failed", (long long)c->failed);
	for (size_t i = 0; i < sizeof c->failures / sizeof *c->failures && c->failures[i].count; i++)
		buffer_format(out, "%s%.*s %lld", i ? ", " : " (", (int)strlen(c->failures[i].kind) - 2,
		              c->failures[i].kind + 1, (long long)c->failures[i].count);
	if (c->failed)
		buffer_byte(out, ')');
}

static void show(struct collect *c)
{
	struct buffer line = {0};
	char time[32], rate[32];
	int64_t span_ns = c->last_ns - c->first_ns;
	if (!progress_due(&c->progress, clock_now()))
		return;
	buffer_format(&line, "%lld requests", (long long)c->rows);
	append_failures(c, &line);
	if (c->output_tokens && span_ns > 0)
		buffer_format(&line, "  %s tokens/s", format_count((double)c->output_tokens * 1e9 / (double)span_ns, rate));
	if (c->ttft_count)
		buffer_format(&line, "  TTFT %s (mean)", format_duration((int64_t)(c->ttft_sum / (double)c->ttft_count), time));
	if (!line.failed)
		progress_show(&c->progress, "%s", line.data);
	buffer_release(&line);
}

static bool has_input(struct stream_reader *stream)
{
	int fd;
	if (stream_reader_ready(stream, &fd))
		return true;
	struct pollfd wait = {.fd = fd, .events = POLLIN};
	return poll(&wait, 1, -1) > 0 || errno != EINTR;
}

/* 1: a line was read, or a signal arrived; 0: the input ended; -1: bad input in `bad`, or an output error in `err`. */
static int step(struct collect *c, const struct record_input *input, struct ipf_error *bad, struct ipf_error *err)
{
	struct stream_reader *stream = record_reader_stream(input->reader);
	struct record record;
	struct slice client;
	int fd, got;
	if (interrupted())
		return ipf_error_at(bad, IPF_CUT, stream_reader_name(stream), 0, "interrupted after %lld good line%s",
		                    (long long)stream_reader_lines(stream), stream_reader_lines(stream) == 1 ? "" : "s");
	if (!stream_reader_ready(stream, &fd)) {
		if (flush(c, NULL, err) < 0)
			return -1;
		if (!has_input(stream))
			return 1;
	}
	got = record_reader_next(input->reader, &record, &client, bad);
	if (got == 1)
		got = collect_record(c, input, &record, err) < 0 ? -1 : 1;
	else if (got == 2)
		got = verdict_client(c->verdict, client, bad) < 0 || collect_client(c, client, err) < 0 ? -1 : 1;
	if (got < 0)
		ipf_error_place(bad, stream_reader_name(stream), stream_reader_line(stream));
	show(c);
	return got;
}

static void note_incomplete(struct collect *c, const char *why)
{
	size_t len = strlen(c->incomplete);
	snprintf(c->incomplete + len, sizeof c->incomplete - len, "%s%s", len ? "; " : "", why);
	verdict_incomplete(c->verdict, why);
}

static int note_missing_shards(struct collect *c, struct ipf_error *err)
{
	if (shard_set_missing(&c->shards) == 0)
		return 0;
	shard_set_describe_missing(&c->shards, &c->missing);
	if (c->missing.failed)
		return ipf_error_memory(err);
	verdict_note(c->verdict, VERDICT_LOAD, VERDICT_INVALID, "%s: these are the figures of a part of the run",
	             c->missing.data);
	return 0;
}

int collect_run(struct collect *c, struct ipf_error *err)
{
	if (note_missing_shards(c, err) < 0)
		return -1;
	for (size_t i = 0; i < c->inputs_count; i++) {
		struct ipf_error bad = {0}, broken = {0};
		if (begin_input(c, &c->inputs[i], err) < 0)
			return -1;
		while (step(c, &c->inputs[i], &bad, &broken) == 1)
			;
		if (broken.kind != IPF_OK) {
			*err = broken;
			return -1;
		}
		/* what the writer of the records knew to be missing */
		json_t *trailer = stream_reader_trailer(record_reader_stream(c->inputs[i].reader));
		const char *why = json_string_value(json_object_get(trailer, "incomplete"));
		if (bad.kind != IPF_OK)
			note_incomplete(c, bad.text);
		else if (why)
			note_incomplete(c, why);
		if (err->kind == IPF_OK)
			*err = bad;
	}
	return 0;
}

void collect_describe(const struct collect *c, bool verbose, struct buffer *out)
{
	if (verbose) {
		buffer_format(out, "%lld requests, %lld failed", (long long)c->rows, (long long)c->failed);
		for (size_t i = 0; i < sizeof c->failures / sizeof *c->failures && c->failures[i].count; i++)
			buffer_format(out, "%s %.*s %lld", i ? "," : ":", (int)strlen(c->failures[i].kind) - 2,
			              c->failures[i].kind + 1, (long long)c->failures[i].count);
		if (c->hung_up)
			buffer_format(out, "; %lld disconnected on purpose", (long long)c->hung_up);
		buffer_byte(out, '\n');
	}
	/* a single shard is what each client has; several are meant to be all */
	if (c->missing.len && (verbose || c->inputs_count > 1))
		buffer_format(out, "%s: the results are those of a part of the run\n", c->missing.data);
	if (c->tokens_unknown)
		buffer_format(
			out,
			"--itl token: %lld requests left out: the tokens of their events are not known, and there is no tokenizer (give one "
			"with -t)\n",
			(long long)c->tokens_unknown);
}

/* ---- closing ---- */

/* Line count and digest of an input, and the other members of its trailer. */
static json_t *describe_input(const struct record_input *input)
{
	struct stream_reader *stream = record_reader_stream(input->reader);
	json_t *about = provenance_stream(stream), *value;
	const char *key;
	json_object_foreach(stream_reader_trailer(stream), key, value)
	{
		if (!json_object_get(about, key) && strcmp(key, "from") != 0 && strcmp(key, "incomplete") != 0)
			json_object_set(about, key, value);
	}
	return about;
}

static json_t *make_trailer(struct collect *c)
{
	json_t *extra = json_object(), *from = json_array();
	for (size_t i = 0; i < c->inputs_count; i++)
		json_array_append_new(from, describe_input(&c->inputs[i]));
	json_object_set_new(extra, "from", from);
	if (*c->incomplete)
		json_object_set_new(extra, "incomplete", json_string(c->incomplete));
	json_object_set_new(extra, "verdict", verdict_json(c->verdict));
	return extra;
}

int collect_close(struct collect *c, struct ipf_error *err)
{
	int status = itl_histograms_write(c->itl, c->writer, &c->line, err);
	if (status == 0) {
		status = stream_writer_close(c->writer, make_trailer(c), err);
		c->writer = NULL;
	}
	collect_abandon(c);
	return status;
}

void collect_abandon(struct collect *c)
{
	if (!c)
		return;
	progress_end(&c->progress);
	for (size_t i = 0; i < c->inputs_count; i++) {
		record_reader_close(c->inputs[i].reader);
		api_close(c->inputs[i].api);
		schedule_release(&c->inputs[i].schedule);
	}
	free(c->inputs);
	shard_set_release(&c->shards);
	buffer_release(&c->missing);
	stream_writer_abandon(c->writer);
	token_counter_close(c->tokens);
	response_release(&c->response);
	measure_release(&c->measure);
	itl_histograms_free(c->itl);
	verdict_free(c->verdict);
	buffer_release(&c->line);
	free(c);
}
