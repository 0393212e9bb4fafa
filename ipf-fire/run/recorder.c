#include "run/recorder.h"

#include "absent.h"
#include "api/answer_message.h"
#include "api/early_end.h"
#include "clock.h"
#include "job/event_fd.h"
#include "job/spare_jobs.h"
#include "stats/histogram.h"
#include "run/probe.h"
#include "run/thread_priority.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define BACKLOG_LARGE (INT64_C(4) << 20) /* bytes */
#define BACKLOG_SMALL (INT64_C(1) << 20)
#define BACKLOG_MANY  256 /* requests: as many small ones as stay in a processor's cache until they are recorded */
#define BACKLOG_FEW   32
#define TICK_MS       2 /* between looks at the queues: the sending threads do not spend time on waking us */
#define FLUSH_NS      (250 * NS_PER_MS) /* in a file: others can read a line after this time */
#define CLIENT_NS     NS_PER_S
#define MESSAGE_BODY  ((size_t)64 << 10) /* a longer error response is not searched for its message */

struct recorder {
	struct recorder_options o;
	struct buffer line, message, observed;
	struct job_record_parts parts;
	struct jdoc doc;
	struct histogram *lags;
	struct client_stats *client;
	struct server_dates dates; /* since the last line about the program */
	struct ipf_error error;
	int64_t flush_ns, client_ns;
	bool dirty;
	int stop_fd, done_fd;
	pthread_t thread;
	bool may_catch_up, catching_up; /* see adjust_priority */
};

/* Are few enough ended requests unwritten to wait for an idle processor, or too many to wait? Between the two it stays
 * as it was. */
static bool is_behind(const struct recorder *r, bool was)
{
	int64_t bytes = counters_unrecorded_bytes(r->o.counters), requests = counters_unrecorded(r->o.counters);
	bool needed = memory_use_state(r->o.memory) == MEMORY_FULL; /* a sending thread waits, and it could grow */
	return needed || bytes >= (was ? BACKLOG_SMALL : BACKLOG_LARGE) || requests >= (was ? BACKLOG_FEW : BACKLOG_MANY);
}

/* If processors are short, the sending threads come first, but only while the backlog here is small. It could grow
 * without limit, and a request recorded late has to be fetched from memory again, which takes their time as well. */
static void adjust_priority(struct recorder *r)
{
	if (!r->may_catch_up || is_behind(r, r->catching_up) == r->catching_up)
		return;
	r->catching_up = !r->catching_up;
	thread_priority_set(r->catching_up ? THREAD_PRIORITY_CATCH_UP : THREAD_PRIORITY_RECORD);
}

/* ---- lines ---- */

static void output_failed(struct recorder *r)
{
	atomic_store(&r->o.counters->output_gone, true);
	event_fd_notify(r->o.engine_fd);
}

static void write_line(struct recorder *r)
{
	if (!r->error.kind && stream_writer_line(r->o.writer, &r->line, &r->error) < 0)
		output_failed(r);
	r->dirty = true;
}

/* A line has become longer by so much. The memory it frees is the whole record's, but a thread waiting sees it goes
 * on. */
static int write_part(void *data, size_t bytes)
{
	struct recorder *r = data;
	counter_count(&r->o.memory->written, (int64_t)bytes);
	adjust_priority(r);
	return stream_writer_within_line(r->o.writer, &r->error);
}

/* Into the writer's buffer, so nothing is copied. */
static void write_record_line(struct recorder *r, const struct record *record)
{
	struct buffer *line = stream_writer_begin_line(r->o.writer);
	if (record_append(record, line, write_part, r) < 0 || stream_writer_end_line(r->o.writer, &r->error) < 0)
		output_failed(r);
	r->dirty = true;
	counter_count(&r->o.memory->written, 1);
}

static void flush(struct recorder *r, int64_t now)
{
	if (r->dirty && !r->error.kind && stream_writer_flush(r->o.writer, &r->error) < 0)
		output_failed(r);
	r->dirty = false;
	r->flush_ns = now + FLUSH_NS;
}

/* Counts why a request failed, as far as visible without the API: an error within a 200 is not. A request ended by
 * ipf-fire itself is no reason. */
static void tally_failure(struct recorder *r, const struct job *job, struct slice headers)
{
	const char *kind = record_error_name(job->error);
	bool bad_status = job->status != IPF_ABSENT && (job->status < 200 || job->status > 299);
	if (job_is_warmup(job) || job->error == RECORD_HUNG_UP || job->error == RECORD_CANCELLED || (!kind && !bad_status))
		return;
	struct slice text = slice_of(job->error_text);
	buffer_clear(&r->message);
	if (bad_status) {
		struct answer_head head = {.status = job->status, .headers = headers, .body = buffer_all(&job->body)};
		head.body.len = head.body.len > MESSAGE_BODY ? MESSAGE_BODY : head.body.len;
		answer_message(&r->doc, &head, &r->message);
		text = buffer_all(&r->message);
	}
	failure_tally_add(r->o.failures, slice_of(bad_status ? "http-status" : kind), job->status, text);
}

static void show_observer(struct recorder *r, const struct record *record)
{
	record_write(record, &r->observed);
	if (!r->observed.failed)
		r->o.observer->ended(r->o.observer->data, buffer_all(&r->observed));
}

/* Judges a request whose transfer failed within an answer. */
static bool ended_early(struct recorder *r, const struct job *job)
{
	const struct response_options options = {0};
	struct ipf_error ignored = {0};
	struct response response = {0};
	struct record record;
	job_to_record(job, &r->parts, &record);
	bool early = response_parse(&response, &record, r->o.api, &options, &ignored) == 0 && early_end(&record, &response);
	response_release(&response);
	counter_count(&r->o.counters->early_ends, early && !job_is_warmup(job));
	counter_count(&r->o.counters->unmeasured_broken, !early && job->unmeasured);
	counter_count(&r->o.counters->broken_by[job->error], !early);
	counter_count(&r->o.counters->broken, !early);
	if (job->first)
		counter_add(early ? &r->o.counters->first_other : &r->o.counters->first_failed, 1);
	return early;
}

static void write_record(struct recorder *r, struct job *job)
{
	struct record line = {.headers = {0}};
	if (job->due_ns != IPF_ABSENT && !job_is_warmup(job))
		histogram_add(r->lags, job->start_ns - job->due_ns, 1);
	if (!r->error.kind) {
		job_to_record(job, &r->parts, &line);
		if (r->o.observer && r->o.observer->ended)
			show_observer(r, &line);
		if (r->o.show)
			probe_show_response(stderr, &line, r->o.show_messages);
		write_record_line(r, &line);
	}
	if (job->date_s != IPF_ABSENT && job->start_ns != IPF_ABSENT)
		server_dates_add(&r->dates, &(struct server_date){job->target == IPF_ABSENT ? 0 : job->target, job->date_s,
		                                                  job->date_ns, job->start_ns});
	if (!job_broke_within_answer(job) || !ended_early(r, job))
		tally_failure(r, job, line.headers);
	counter_count(&r->o.counters->resent, job->stale_idle_ns != IPF_ABSENT && !job_is_warmup(job));
	if (!job_is_warmup(job)) {
		counter_count(&r->o.counters->retried, job_attempts_count(job) > 0);
		counter_count(&r->o.counters->retries, job_attempts_count(job));
	}
	counter_count(&r->o.counters->recorded, 1);
	counter_count(&r->o.counters->recorded_bytes, (int64_t)job_bytes(job));
	job_uncount_memory(job, r->o.memory);
	spare_jobs_give(r->o.spare, job);
	adjust_priority(r);
}

static void write_client_line(struct recorder *r, int64_t now)
{
	client_stats_line(r->client, now, &r->dates, &r->line);
	write_line(r);
	if (histogram_count(r->lags) > 0)
		counter_set(&r->o.counters->lag_p99_ns, (int64_t)histogram_percentile(r->lags, 99));
}

/* ---- the thread ---- */

static bool reader_gone(struct recorder *r)
{
	struct pollfd p = {.fd = r->o.output_fd};
	return r->o.pipe && poll(&p, 1, 0) > 0 && p.revents & (POLLERR | POLLNVAL);
}

/* Writes ended jobs, until a line about the program is due. */
static void write_ended(struct recorder *r, int64_t now)
{
	for (size_t i = 0; i < r->o.client.senders; i++)
		for (struct job *job; (job = queue_take(r->o.client.queues[i]));) {
			job_prefetch(queue_next(r->o.client.queues[i]));
			write_record(r, job);
			if (now >= r->client_ns)
				return;
		}
}

static void *recorder_run(void *data)
{
	struct recorder *r = data;
	struct pollfd stop = {.fd = r->stop_fd, .events = POLLIN};
	/* if the priority cannot be raised again, keep it: the sending threads do not have a higher one then either */
	r->may_catch_up = thread_priority_set(THREAD_PRIORITY_CATCH_UP);
	if (r->may_catch_up)
		thread_priority_set(THREAD_PRIORITY_RECORD);
	for (bool stopping = false;;) {
		stopping = stopping || poll(&stop, 1, TICK_MS) > 0;
		int64_t now = clock_now();
		write_ended(r, now);
		if (now >= r->client_ns) {
			write_client_line(r, now);
			r->client_ns += (1 + (now - r->client_ns) / CLIENT_NS) * CLIENT_NS;
			continue;
		}
		if (stopping)
			break;
		if (!r->error.kind && reader_gone(r)) {
			ipf_error_errno(&r->error, EPIPE, NULL, "cannot write");
			output_failed(r);
		}
		if (r->o.pipe || now >= r->flush_ns)
			flush(r, now);
	}
	write_client_line(r, clock_now());
	flush(r, clock_now());
	event_fd_notify(r->done_fd);
	return NULL;
}

static void recorder_free(struct recorder *r)
{
	if (r->stop_fd >= 0)
		close(r->stop_fd);
	if (r->done_fd >= 0)
		close(r->done_fd);
	histogram_free(r->lags);
	client_stats_free(r->client);
	buffer_release(&r->line);
	job_record_parts_release(&r->parts);
	buffer_release(&r->message);
	buffer_release(&r->observed);
	jdoc_release(&r->doc);
	free(r);
}

int recorder_start(struct recorder **recorder, const struct recorder_options *options, struct ipf_error *err)
{
	struct recorder *r = calloc(1, sizeof *r);
	*recorder = NULL;
	if (!r)
		return ipf_error_memory(err);
	r->o = *options;
	r->client_ns = options->zero_ns + CLIENT_NS;
	r->lags = histogram_new();
	r->client = client_stats_new(&options->client);
	r->stop_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	r->done_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	counter_set(&options->counters->lag_p99_ns, -1);
	int why = r->stop_fd < 0 || r->done_fd < 0 || !r->lags || !r->client
	              ? (errno ? errno : ENOMEM)
	              : pthread_create(&r->thread, NULL, recorder_run, r);
	if (!why) {
		*recorder = r;
		return 0;
	}
	recorder_free(r);
	return ipf_error_errno(err, why, NULL, "cannot start the recording thread");
}

int recorder_finish(struct recorder *r)
{
	event_fd_notify(r->stop_fd);
	return r->done_fd;
}

json_t *recorder_stop(struct recorder *r, struct ipf_error *err)
{
	if (!r)
		return NULL;
	event_fd_notify(r->stop_fd);
	pthread_join(r->thread, NULL);
	if (r->error.kind)
		*err = r->error;
	json_t *whole = client_stats_whole(r->client);
	recorder_free(r);
	return whole;
}
