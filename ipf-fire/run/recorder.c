#include "run/recorder.h"

#include "absent.h"
#include "clock.h"
#include "stats/histogram.h"
#include "run/probe.h"
#include "run/thread_priority.h"
#include "run/warmup.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define BACKLOG_LONG (INT64_C(16) << 20) /* bytes */
#define BACKLOG_CALM (INT64_C(4) << 20)
#define TICK_MS      10 /* how often the queue is looked at: nobody wakes us, the engine has better things to do */
#define FLUSH_NS     (250 * NS_PER_MS) /* a file: at the latest after this long others can read what was written */
#define CLIENT_NS    NS_PER_S

struct recorder {
	struct recorder_options o;
	struct buffer line, headers;
	struct histogram *lags;
	struct client_stats *client;
	struct ipf_error error;
	int64_t flush_ns, client_ns;
	bool dirty;
	int stop_fd, done_fd;
	pthread_t thread;
	int64_t number;          /* of its thread */
	bool may_hurry, hurried; /* see mind_backlog */
};

/* ---- lines ---- */

static void say(int fd)
{
	uint64_t one = 1;
	while (write(fd, &one, sizeof one) < 0 && errno == EINTR)
		;
}

static void failed(struct recorder *r)
{
	atomic_store(&r->o.gauges->output_gone, true);
	say(r->o.engine_fd);
}

static void write_line(struct recorder *r)
{
	if (!r->error.kind && stream_writer_line(r->o.writer, &r->line, &r->error) < 0)
		failed(r);
	r->dirty = true;
}

static void flush(struct recorder *r, int64_t now)
{
	if (r->dirty && !r->error.kind && stream_writer_flush(r->o.writer, &r->error) < 0)
		failed(r);
	r->dirty = false;
	r->flush_ns = now + FLUSH_NS;
}

/* The senders come first where processors are short, as long as what waits here is little: it would grow without end.
 */
static void mind_backlog(struct recorder *r)
{
	int64_t waiting = counter_get(&r->o.gauges->unrecorded_bytes);
	if (!r->may_hurry || (r->hurried ? waiting > BACKLOG_CALM : waiting < BACKLOG_LONG))
		return;
	r->hurried = !r->hurried;
	thread_priority_take(r->number, r->hurried ? THREAD_PRIORITY_HURRY : THREAD_PRIORITY_RECORD);
}

static void record(struct recorder *r, struct job *job)
{
	struct record line;
	if (job->due_ns != IPF_ABSENT && !warmup_is(&job->arrival))
		histogram_add(r->lags, job->start_ns - job->due_ns, 1);
	if (!r->error.kind) {
		job_to_record(job, &r->headers, &line);
		if (r->o.show)
			probe_show_response(stderr, &line, r->o.show_messages);
		record_write(&line, &r->line);
		write_line(r);
	}
	counter_add(&r->o.gauges->unrecorded, -1);
	counter_add(&r->o.gauges->unrecorded_bytes, -(int64_t)job_bytes(job));
	job_put_back(r->o.spare, job);
	mind_backlog(r);
}

static void client_says(struct recorder *r, int64_t now)
{
	client_stats_line(r->client, now, &r->line);
	write_line(r);
	if (histogram_count(r->lags) > 0)
		counter_set(&r->o.gauges->lag_p99_ns, (int64_t)histogram_percentile(r->lags, 99));
}

/* ---- the thread ---- */

static bool reader_gone(struct recorder *r)
{
	struct pollfd p = {.fd = r->o.output_fd};
	return r->o.pipe && poll(&p, 1, 0) > 0 && p.revents & (POLLERR | POLLNVAL);
}

/* All that has ended; but a line about ourselves that is due comes first. */
static void take(struct recorder *r, int64_t now)
{
	for (size_t i = 0; i < r->o.client.senders; i++)
		for (struct job *job; (job = queue_take(r->o.client.queues[i]));) {
			record(r, job);
			if (now >= r->client_ns)
				return;
		}
}

static void *recorder_run(void *data)
{
	struct recorder *r = data;
	struct pollfd stop = {.fd = r->stop_fd, .events = POLLIN};
	/* who may not take a higher priority back had better keep the one that it has: the senders have no other then */
	r->number = thread_number();
	r->may_hurry = thread_priority_take(r->number, THREAD_PRIORITY_HURRY);
	if (r->may_hurry)
		thread_priority_take(r->number, THREAD_PRIORITY_RECORD);
	for (bool stopping = false;;) {
		stopping = stopping || poll(&stop, 1, TICK_MS) > 0;
		int64_t now = clock_now();
		take(r, now);
		if (now >= r->client_ns) {
			client_says(r, now);
			r->client_ns += (1 + (now - r->client_ns) / CLIENT_NS) * CLIENT_NS;
			continue;
		}
		if (stopping)
			break;
		if (!r->error.kind && reader_gone(r)) {
			ipf_error_errno(&r->error, EPIPE, NULL, "cannot write");
			failed(r);
		}
		if (r->o.pipe || now >= r->flush_ns)
			flush(r, now);
	}
	client_says(r, clock_now());
	flush(r, clock_now());
	say(r->done_fd);
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
	buffer_release(&r->headers);
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
	counter_set(&options->gauges->lag_p99_ns, -1);
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
	say(r->stop_fd);
	return r->done_fd;
}

json_t *recorder_stop(struct recorder *r, struct ipf_error *err)
{
	if (!r)
		return NULL;
	say(r->stop_fd);
	pthread_join(r->thread, NULL);
	if (r->error.kind)
		*err = r->error;
	json_t *whole = client_stats_whole(r->client);
	recorder_free(r);
	return whole;
}
