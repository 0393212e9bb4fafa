#include "collect.h"

#include "absent.h"
#include "answers/answer_check.h"
#include "api/response.h"
#include "client_clocks.h"
#include "collect_sandbox.h"
#include "clock.h"
#include "cli/interrupt.h"
#include "cli/progress.h"
#include "cli/terminal.h"
#include "earlier_samples.h"
#include "hub/hub_tokenizer.h"
#include "live_run.h"
#include "measure/early_turns.h"
#include "measure/history_tokens.h"
#include "measure/itl_histograms.h"
#include "measure/observation.h"
#include "measure/row_windows.h"
#include "record_inputs.h"
#include "results_header.h"
#include "measure/run_counts.h"
#include "safe_text.h"
#include "scrape/prometheus.h"
#include "transport/transport.h"
#include "series/steady.h"
#include "stream/observed.h"
#include "verdict/declared_cache.h"
#include "verdict/verdict.h"
#include "view/run_view.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

/* From here on the oldest windows are written before the end of the run. */
#define SERIES_MEMORY ((size_t)64 << 20)
/* How long the view may be without a new picture while no record comes. */
#define VIEW_WAIT_MS 500

struct collect {
	struct record_inputs inputs;
	struct buffer missing; /* which shards are not among the inputs; "" */
	struct token_counter *tokens;
	struct response_options response_options;
	struct measure_options measure_options;
	struct response response;
	struct measure measure;
	struct stage_edges *edges;         /* the input read's */
	struct output_check *output_check; /* NULL: texts are not checked */
	struct answer_check *answers;
	struct history_tokens *history; /* NULL: no input has live histories; like the next */
	struct early_turns *early;
	struct itl_histograms *itl;
	struct series *series;
	struct steady *steady;
	struct verdict *verdict;
	struct transport *transport;
	struct client_clocks clocks;
	struct until_stable *until_stable; /* NULL: the run goes on to its end */
	struct stream_writer *writer;
	bool compressed;    /* the output is */
	int64_t flushed_ns; /* compressed: the end of the record after which it was last flushed */
	struct buffer line;
	struct progress progress;
	struct run_view *view; /* NULL: the progress line, if anything */
	struct run_counts counts;
	json_t *findings;                /* the transport's, once the inputs have ended */
	struct live_run *live;           /* NULL: nothing goes on beside the records */
	struct prometheus *prometheus;   /* NULL: not asked; like the next */
	struct earlier_samples *earlier; /* NULL: none are taken over */
	struct publish *publish;         /* NULL: nothing is published */
	bool quiet;
	char incomplete[1024]; /* why some of the input is missing; "" */
};

/* ---- opening ---- */

static int open_output(struct collect *c, const struct collect_options *options, json_t *argv, struct ipf_error *err)
{
	const char *path = options->common.output;
	json_t *header = results_header(&c->inputs, options, c->tokens, argv);
	if (!header ||
	    (c->output_check && json_object_set_new(header, "output_check", output_check_json(c->output_check)) < 0)) {
		json_decref(header);
		return ipf_error_memory(err);
	}
	c->compressed = path && strlen(path) > 4 && !strcmp(path + strlen(path) - 4, ".zst");
	int status = stream_writer_open(&c->writer, path, header, err);
	json_decref(header);
	return status;
}

/* A live run on a terminal has a view instead of the progress line. */
static int open_view(struct collect *c, struct ipf_error *err)
{
	const struct record_input *first = &c->inputs.list[0];
	json_t *name = json_object_get(stream_reader_header(record_reader_stream(first->reader)), "name");
	if (!c->progress.on || !c->inputs.live || !terminal_can_redraw())
		return 0;
	c->view = run_view_new(json_string_value(name), &first->schedule);
	return c->view ? 0 : ipf_error_memory(err);
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

/* Before the inputs are opened, which waits for them: an address taken is reported before the run begins. */
static int open_publish(struct collect *c, const struct publish_options *options, struct ipf_error *err)
{
	struct buffer line = {0};
	if (!publish_wanted(options))
		return 0;
	if (publish_open(&c->publish, options, err) < 0)
		return -1;
	publish_describe(c->publish, &line);
	if (line.len)
		say(line.data);
	buffer_release(&line);
	return 0;
}

/* A predicted run has no server and no time. */
static int check_watched(const struct collect *c, const struct collect_options *options, struct ipf_error *err)
{
	const char *option = options->scrape.targets.count ? "--scrape"
	                     : options->gpu.count          ? "--gpu"
	                     : options->scrape.prometheus  ? "--prometheus"
	                     : options->samples            ? "--samples"
	                     : options->publish.push.otlp  ? "--otlp"
	                                                   : NULL;
	if (!c->inputs.predicted || !option)
		return 0;
	return ipf_error_set(err, IPF_USAGE,
	                     "%s: a twin predicted the run of %s: there is no server whose figures belong to it", option,
	                     stream_reader_name(record_reader_stream(c->inputs.list[0].reader)));
}

/* The range it is asked for counts from the run's start. */
static int open_prometheus(struct collect *c, const struct collect_options *options, struct ipf_error *err)
{
	if (!options->scrape.prometheus)
		return 0;
	if (c->inputs.t0_unix_ns == IPF_ABSENT)
		return ipf_error_at(err, IPF_INPUT, stream_reader_name(record_reader_stream(c->inputs.list[0].reader)), 1,
		                    "t0_unix_ns: missing, but --prometheus needs it");
	return prometheus_open(&c->prometheus, &options->scrape, options->every_ns, err);
}

/* All but the output. */
static int open_parts(struct collect *c, const struct collect_options *options, const struct operands *records,
                      struct ipf_error *err)
{
	if (!(c->itl = itl_histograms_new()) || !(c->series = series_new(options->every_ns, SERIES_MEMORY)) ||
	    !(c->steady = steady_new()) || !(c->verdict = verdict_new()) || !(c->transport = transport_new()) ||
	    !(c->answers = answer_check_new()))
		return ipf_error_memory(err);
	c->quiet = options->common.quiet;
	if ((options->tokenizer && open_token_counter(&c->tokens, options, err) < 0) ||
	    collect_sandbox_enter(options, records, err) < 0 ||
	    output_check_open(&c->output_check, &options->output_check, err) < 0 ||
	    open_publish(c, &options->publish, err) < 0 || live_run_start(&c->live, options, err) < 0 ||
	    record_inputs_open(&c->inputs, options->api, records, err) < 0 || check_watched(c, options, err) < 0 ||
	    live_run_begin(c->live, &c->inputs, err) < 0 ||
	    earlier_samples_open(&c->earlier, options->samples, &c->inputs, err) < 0 ||
	    open_prometheus(c, options, err) < 0)
		return -1;
	if (options->until_stable.text &&
	    !(c->until_stable = until_stable_new(&options->until_stable, &c->inputs.list[0].schedule)))
		return ipf_error_memory(err);
	c->response_options = (struct response_options){.tokens = c->tokens,
	                                                .keep_text = options->measure.keep_text || c->output_check,
	                                                .keep_others = options->measure.keep_events ||
	                                                               options->definition >= 0,
	                                                .virtual_time = c->inputs.predicted != NULL};
	c->measure_options = options->measure;
	c->measure_options.tokens = c->tokens;
	c->measure_options.definition = options->definition >= 0 ? &tool_rules[options->definition] : NULL;
	c->flushed_ns = INT64_MIN;
	progress_init(&c->progress, options->common.progress,
	              options->common.quiet || progress_is_left(options->common.output, true, options->common.progress));
	return open_view(c, err);
}

int collect_open(struct collect **collect, const struct collect_options *options, const struct operands *records,
                 json_t *argv, struct ipf_error *err)
{
	struct collect *c = calloc(1, sizeof *c);
	*collect = c;
	if (!c || open_parts(c, options, records, err) < 0) {
		json_decref(argv);
		return c ? -1 : ipf_error_memory(err);
	}
	interrupt_watch(c->inputs.live ? 2 : 0);
	return open_output(c, options, argv, err) < 0 ? -1 : collect_sandbox_close_files(options, err);
}

/* ---- running ---- */

static int begin_history(struct collect *c)
{
	verdict_live_histories(c->verdict);
	c->response_options.keep_ids = true;
	if (!c->history)
		c->history = history_tokens_new();
	if (!c->early)
		c->early = early_turns_new();
	return c->history && c->early ? 0 : -1;
}

/* Several inputs count as parts of one run: shards by their headers, whose arrivals add up, or otherwise clients
 * sharing the schedule of each. */
static int begin_input(struct collect *c, const struct record_input *input, struct ipf_error *err)
{
	if (verdict_part(c->verdict, &input->schedule) < 0)
		return ipf_error_memory(err);
	if (output_check_begin(c->output_check, input->schedule.trace_sha256, err) < 0)
		return -1;
	answer_check_begin(c->answers, &input->schedule);
	stage_edges_free(c->edges);
	if (!(c->edges = c->measure_options.edges = stage_edges_new(&input->schedule)))
		return ipf_error_memory(err);
	struct stream_reader *stream = record_reader_stream(input->reader);
	if (record_history_is_live(stream_reader_header(stream)) && begin_history(c) < 0)
		return ipf_error_memory(err);
	declared_cache_begin(c->verdict, stream_reader_header(stream));
	c->measure_options.retries |= json_is_object(json_object_get(stream_reader_header(stream), "retry"));
	if (c->inputs.predicted)
		verdict_predicted(c->verdict);
	if (c->inputs.observed)
		verdict_observed(c->verdict, NULL);
	bool shared = c->inputs.count > 1 && !c->inputs.shards.of;
	if (shared)
		verdict_shards(c->verdict);
	const struct publish_input published = {&input->schedule, input->api, shared, c->inputs.live};
	transport_begin(c->transport, stream_reader_header(stream), &input->schedule);
	if (publish_begin_input(c->publish, stream_reader_header(stream), &published, err) < 0)
		return ipf_error_place(err, stream_reader_name(stream), 1), -1;
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

/* All watchers of the run, a line each. */
static int watch(struct collect *c, const struct observation *o, struct ipf_error *err)
{
	if (o->row->ok && result_check(o->row) == RESULT_CHECKS && itl_histograms_add(c->itl, o->row, o->measure, err) < 0)
		return -1;
	verdict_row(c->verdict, o->row);
	run_counts_add(&c->counts, o);
	run_view_row(c->view, o);
	transport_add(c->transport, o);
	if (o->record->start_ns != IPF_ABSENT && o->record->end_ns != IPF_ABSENT)
		prometheus_request(c->prometheus, o->record->start_ns + o->offset_ns, o->record->end_ns + o->offset_ns);
	until_stable_row(c->until_stable, o->row);
	publish_row(c->publish, o);
	if (row_windows_add(c->series, o, err) < 0)
		return -1;
	return live_run_row(c->live, o, err);
}

static int write_windows(struct collect *c, bool (*take)(struct series *, struct buffer *), struct ipf_error *err)
{
	while (take(c->series, &c->line))
		if (steady_read(c->steady, buffer_all(&c->line), err) < 0 || stream_writer_line(c->writer, &c->line, err) < 0)
			return -1;
	return 0;
}

static int collect_record(struct collect *c, const struct record_input *input, const struct record *record,
                          struct ipf_error *err)
{
	struct result row;
	if (seen_numbers_has(&input->restarted, record->n))
		return 0;
	struct response_options options = c->response_options;
	answer_check_reads(c->answers, record, &options);
	if (response_parse(&c->response, record, record_input_api(input, record), &options, err) < 0 ||
	    measure_row(&c->measure, record, &c->response, &c->measure_options, &row, err) < 0 ||
	    output_check_row(c->output_check, &c->response, &row, err) < 0)
		return -1;
	if (answer_check_row(c->answers, record, &c->response, &row) < 0)
		return ipf_error_memory(err);
	if (c->history && history_tokens_row(c->history, input, record, &c->response, &row) < 0)
		return ipf_error_memory(err);
	struct result watched = row;
	if (result_check(&row) != RESULT_CHECKS)
		result_forget_latencies(&watched);
	const struct observation observation = {record, &c->response, &c->measure, &watched, input->offset_ns};
	if (watch(c, &observation, err) < 0)
		return -1;
	result_write(&row, &c->line);
	if (stream_writer_line(c->writer, &c->line, err) < 0 || write_windows(c, series_spill, err) < 0)
		return -1;
	return flush(c, record, err);
}

/* Records waiting for one collected now. */
static int collect_early(struct collect *c, const struct record_input *input, struct ipf_error *err)
{
	struct record record;
	int got;
	while ((got = early_turns_next(c->early, &record, err)) == 1) {
		if (collect_record(c, input, &record, err) < 0)
			return -1;
		early_turns_used(c->early, record.n);
	}
	return got;
}

/* A record of a turn waits for that of the turn it continues. */
static int collect_in_order(struct collect *c, const struct record_input *input, const struct record *record,
                            struct ipf_error *err)
{
	int held = c->early ? early_turns_hold(c->early, record, record_reader_line(input->reader)) : 0;
	if (held < 0)
		return ipf_error_memory(err);
	if (held == 0 && collect_record(c, input, record, err) < 0)
		return -1;
	if (c->early && held == 0)
		early_turns_used(c->early, record->n);
	return c->early ? collect_early(c, input, err) : 0;
}

/* {"sample":"client", followed by the members of the line unchanged. */
static int collect_client(struct collect *c, struct slice client, struct ipf_error *err)
{
	transport_client(c->transport, client);
	until_stable_client(c->until_stable, client);
	struct slice inside = {client.data + 1, client.len - 1};
	while (inside.len > 1 && (*inside.data == ' ' || *inside.data == '\t'))
		inside = (struct slice){inside.data + 1, inside.len - 1};
	publish_client(c->publish, client);
	buffer_clear(&c->line);
	buffer_text(&c->line, *inside.data == '}' ? "{\"sample\":\"client\"" : "{\"sample\":\"client\",");
	buffer_slice(&c->line, inside);
	run_view_client(c->view, client);
	return stream_writer_line(c->writer, &c->line, err);
}

/* Server samples are passed on unchanged. */
static int collect_sample(struct collect *c, struct slice sample, struct ipf_error *err)
{
	run_view_sample(c->view, sample);
	buffer_clear(&c->line);
	buffer_slice(&c->line, sample);
	return stream_writer_line(c->writer, &c->line, err);
}

/* Reports errors of publishing, once for each target. */
static void show_publish(struct collect *c)
{
	struct buffer line = {0};
	while (publish_tick(c->publish, c->verdict, &line)) {
		if (!line.failed && !c->quiet) {
			progress_end(&c->progress);
			say(line.data);
		}
		buffer_clear(&line);
	}
	buffer_release(&line);
}

static void show(struct collect *c)
{
	struct buffer line = {0};
	if (c->view)
		publish_tick(c->publish, c->verdict, NULL); /* its messages wait for the end of the screen */
	else
		show_publish(c);
	run_view_show(c->view, &c->counts, c->verdict);
	if (c->view || !progress_due(&c->progress, clock_now()))
		return;
	run_counts_progress(&c->counts, &line);
	if (!line.failed)
		progress_show(&c->progress, "%s", line.data);
	buffer_release(&line);
}

static bool is_stable(const struct collect *c)
{
	const struct stable_finding *f = until_stable_finding(c->until_stable);
	return f && f->stable;
}

/* Waits for input. False: there is something else to do first; with a view, time goes on without input. */
static bool has_input(const struct collect *c, struct stream_reader *stream)
{
	int fd;
	if (stream_reader_ready(stream, &fd))
		return true;
	struct pollfd wait[] = {{.fd = fd, .events = POLLIN}, {.fd = live_run_fd(c->live), .events = POLLIN}};
	int ready = poll(wait, 2, c->view ? VIEW_WAIT_MS : -1);
	return ready > 0 ? wait[0].revents != 0 : ready < 0 && errno != EINTR;
}

/* 1: a line was read, or a signal arrived; 0: the input ended, or the run is stable; -1: bad input in `bad`, or an
 * output error in `err`. */
static int step(struct collect *c, const struct record_input *input, struct ipf_error *bad, struct ipf_error *err)
{
	struct stream_reader *stream = record_reader_stream(input->reader);
	struct record record;
	struct slice other;
	int fd, got;
	if (interrupted())
		return ipf_error_at(bad, IPF_CUT, stream_reader_name(stream), 0, "interrupted after %lld good line%s",
		                    (long long)stream_reader_lines(stream), stream_reader_lines(stream) == 1 ? "" : "s");
	if (live_run_write(c->live, c->writer, c->view, err) < 0)
		return -1;
	if (!stream_reader_ready(stream, &fd)) {
		if (flush(c, NULL, err) < 0)
			return -1;
		if (!has_input(c, stream)) {
			show(c);
			return 1;
		}
	}
	got = record_reader_next(input->reader, &record, &other, bad);
	if (got == 1)
		got = collect_in_order(c, input, &record, err) < 0 ? -1 : 1;
	else if (got == 2)
		got = verdict_client(c->verdict, other, bad) < 0 ||
		              client_clocks_line(&c->clocks, (size_t)(input - c->inputs.list), other, bad) < 0 ||
		              collect_client(c, other, err) < 0
		          ? -1
		          : 1;
	else if (got == 3)
		got = collect_sample(c, other, err) < 0 ? -1 : 1;
	if (got < 0)
		ipf_error_place(bad, stream_reader_name(stream), stream_reader_line(stream));
	show(c);
	return got == 1 && is_stable(c) ? 0 : got;
}

/* For a shard, adds its number and host: if several machines differ, this is the one to look at. */
static void note_incomplete(struct collect *c, const struct record_input *input, const char *why)
{
	json_t *header = stream_reader_header(record_reader_stream(input->reader)),
		   *shard = json_object_get(header, "shard");
	const char *host = json_string_value(json_object_get(json_object_get(header, "host"), "name"));
	char text[512];
	size_t len = strlen(c->incomplete);
	if (shard)
		snprintf(text, sizeof text, "shard %lld of %lld%s%.64s: %.300s",
		         (long long)json_integer_value(json_object_get(shard, "index")),
		         (long long)json_integer_value(json_object_get(shard, "of")), host ? ", on " : "", shown(host).text,
		         why);
	else
		snprintf(text, sizeof text, "%.500s", why);
	snprintf(c->incomplete + len, sizeof c->incomplete - len, "%s%s", len ? "; " : "", text);
	verdict_incomplete(c->verdict, text);
}

static int note_missing_shards(struct collect *c, struct ipf_error *err)
{
	if (shard_set_missing(&c->inputs.shards) == 0)
		return 0;
	shard_set_describe_missing(&c->inputs.shards, &c->missing);
	if (c->missing.failed)
		return ipf_error_memory(err);
	verdict_note(c->verdict, VERDICT_LOAD, VERDICT_INVALID, "%s: these are the figures of a part of the run",
	             c->missing.data);
	return 0;
}

/* The result of --until-stable, for the verdict. */
static void note_stability(struct collect *c)
{
	const struct stable_finding *f = until_stable_finding(c->until_stable);
	struct buffer text = {0};
	if (!f)
		return;
	until_stable_describe(c->until_stable, &text);
	if (f->stable)
		verdict_stopped(c->verdict, f->stage);
	if (!text.failed)
		verdict_note(c->verdict, VERDICT_SAMPLES, f->stable ? VERDICT_OK : VERDICT_DOUBTFUL, "%s", text.data);
	buffer_release(&text);
}

/* Their faults concern the user, but change no rows. */
static int take_earlier(struct collect *c, struct ipf_error *err)
{
	struct ipf_error bad = {0}, broken = {0};
	if (earlier_samples_copy(c->earlier, c->writer, &c->line, &bad, &broken) < 0) {
		*err = broken;
		return -1;
	}
	if (err->kind == IPF_OK)
		*err = bad;
	return 0;
}

static int ask_prometheus(struct collect *c, struct ipf_error *err)
{
	struct ipf_error broken = {0};
	if (prometheus_write(c->prometheus, c->inputs.t0_unix_ns, c->writer, &broken) == 0)
		return 0;
	*err = broken;
	return -1;
}

int collect_run(struct collect *c, struct ipf_error *err)
{
	if (c->inputs.predicted && c->inputs.count > 1)
		verdict_predicted_apart(c->verdict);
	if (c->inputs.list[0].continues)
		note_incomplete(c, &c->inputs.list[0], "the rest of a run, without the records of its beginning");
	if (note_missing_shards(c, err) < 0 || client_clocks_begin(&c->clocks, &c->inputs, err) < 0)
		return -1;
	for (size_t i = 0; i < c->inputs.count; i++) {
		struct ipf_error bad = {0}, broken = {0};
		if (begin_input(c, &c->inputs.list[i], err) < 0)
			return -1;
		while (step(c, &c->inputs.list[i], &bad, &broken) == 1)
			;
		if (c->early && broken.kind == IPF_OK) {
			early_turns_end(c->early);
			collect_early(c, &c->inputs.list[i], &broken);
		}
		if (broken.kind != IPF_OK) {
			*err = broken;
			return -1;
		}
		/* gaps known to the writer of the records */
		json_t *trailer = stream_reader_trailer(record_reader_stream(c->inputs.list[i].reader));
		const char *why = json_string_value(json_object_get(trailer, "incomplete"));
		declared_cache_resets(c->verdict, trailer, &c->inputs.list[i].schedule);
		const bool goes_on = c->inputs.continued && i + 1 < c->inputs.count;
		if (goes_on && (bad.kind == IPF_OK || bad.kind == IPF_CUT))
			bad = (struct ipf_error){0};
		else if (bad.kind != IPF_OK)
			note_incomplete(c, &c->inputs.list[i], bad.text);
		else if (why)
			note_incomplete(c, &c->inputs.list[i], why);
		if (err->kind == IPF_OK)
			*err = bad;
	}
	live_run_stop(c->live);
	note_stability(c);
	return take_earlier(c, err) < 0 ? -1 : ask_prometheus(c, err);
}

static void describe(struct collect *c, bool whole, bool verbose, struct buffer *out)
{
	if (verbose)
		run_counts_describe(&c->counts, out);
	if (whole && c->counts.failed) {
		failure_tally_sum_up(&c->counts.why, c->counts.rows, "failed", out);
		buffer_byte(out, '\n');
	}
	if (c->until_stable) {
		until_stable_describe(c->until_stable, out);
		buffer_byte(out, '\n');
	}
	/* a single shard is one client's part; several should be all of them */
	if (c->missing.len && (verbose || c->inputs.count > 1))
		buffer_format(out, "%s: the results are those of a part of the run\n", c->missing.data);
	if (c->counts.tokens_unknown)
		buffer_format(
			out,
			"--itl token: %lld requests left out: the tokens of their events are not known, and there is no tokenizer (give one "
			"with -t)\n",
			(long long)c->counts.tokens_unknown);
	live_run_describe(c->live, verbose, out);
	prometheus_describe(c->prometheus, out);
}

/* ---- closing ---- */

/* Whether a steady state was found: for the verdict, no more than a note. */
static void note_steady(struct collect *c)
{
	struct buffer text = {0};
	steady_summary(c->steady, &c->inputs.list[0].schedule, &text);
	if (text.len && !text.failed)
		verdict_note(c->verdict, VERDICT_SAMPLES, VERDICT_OK, "%s", text.data);
	buffer_release(&text);
}

/* Sends the final figures out; the rows do not wait for it. Returns the trailer's "publish". */
static json_t *finish_publish(struct collect *c, struct ipf_error *err)
{
	if (!c->publish || flush(c, NULL, err) < 0)
		return NULL;
	publish_finish(c->publish, verdict_judge(c->verdict));
	show_publish(c);
	return publish_json(c->publish);
}

/* The clients' clocks: new, NULL if there is one client. */
static json_t *judge_clocks(struct collect *c)
{
	json_t *clocks = client_clocks_end(&c->clocks, &c->inputs);
	int client;
	struct clock_offset worst = clock_offsets_worst(clocks, &client);
	verdict_clocks(c->verdict, worst.low_ns, worst.high_ns, series_every_ns(c->series));
	return clocks;
}

int collect_end(struct collect *c, bool whole, bool verbose, struct buffer *notes, struct ipf_error *err)
{
	int status = live_run_write(c->live, c->writer, c->view, err);
	c->findings = c->inputs.predicted ? json_array() : transport_findings(c->transport); /* it had no network */
	if (status == 0 && (!c->findings || verdict_transport(c->verdict, c->findings) < 0))
		status = ipf_error_memory(err);
	for (size_t i = 0; c->inputs.observed && i < c->inputs.count; i++)
		verdict_observed(c->verdict,
		                 observed_capture(stream_reader_trailer(record_reader_stream(c->inputs.list[i].reader))));
	progress_end(&c->progress);
	run_view_end(c->view, &c->counts, c->verdict);
	if (status == 0 && !c->compressed)
		status = stream_writer_flush(c->writer, err); /* a failed write is the only thing to report */
	describe(c, whole, verbose, notes);
	return status;
}

int collect_close(struct collect *c, struct ipf_error *err)
{
	int status = write_windows(c, series_take, err);
	if (status == 0)
		status = itl_histograms_write(c->itl, c->writer, &c->line, err);
	if (status == 0) {
		note_steady(c);
		json_t *clocks = judge_clocks(c);
		const struct results_findings findings = {c->incomplete, c->until_stable, c->steady, clocks};
		json_t *published = finish_publish(c, err), *trailer = results_trailer(&c->inputs, &findings, c->verdict);
		live_run_trailer(c->live, &c->inputs.list[0].schedule, trailer);
		earlier_samples_trailer(c->earlier, trailer);
		if (c->prometheus)
			json_object_set_new(trailer, "prometheus", prometheus_json(c->prometheus));
		if (json_array_size(c->findings))
			json_object_set(trailer, "transport", c->findings);
		if (published)
			json_object_set_new(trailer, "publish", published);
		json_decref(clocks);
		status = stream_writer_close(c->writer, trailer, err);
		c->writer = NULL;
	}
	if (status == 0)
		publish_linger(c->publish);
	collect_abandon(c);
	return status;
}

void collect_abandon(struct collect *c)
{
	if (!c)
		return;
	progress_end(&c->progress);
	live_run_free(c->live);
	earlier_samples_close(c->earlier);
	prometheus_close(c->prometheus);
	run_view_free(c->view);
	record_inputs_release(&c->inputs);
	buffer_release(&c->missing);
	stream_writer_abandon(c->writer);
	token_counter_close(c->tokens);
	response_release(&c->response);
	measure_release(&c->measure);
	stage_edges_free(c->edges);
	output_check_close(c->output_check);
	answer_check_free(c->answers);
	history_tokens_free(c->history);
	early_turns_free(c->early);
	itl_histograms_free(c->itl);
	series_free(c->series);
	steady_free(c->steady);
	verdict_free(c->verdict);
	transport_free(c->transport);
	json_decref(c->findings);
	client_clocks_release(&c->clocks);
	until_stable_free(c->until_stable);
	publish_close(c->publish);
	buffer_release(&c->line);
	free(c);
}
