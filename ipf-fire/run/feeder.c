#include "run/feeder.h"

#include "absent.h"
#include "clock.h"
#include "job/agent_names.h"
#include "job/event_fd.h"
#include "job/job.h"
#include "job/spare_jobs.h"
#include "job/thread_stats.h"
#include "run/thread_priority.h"
#include "span_ids.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define QUEUE_JOBS   512
#define QUEUE_ORDERS 16384
#define QUEUE_BYTES  (INT64_C(32) << 20) /* bodies, in all queues */
#define BATCH        32                  /* jobs of one lane before the next lane */
#define FULL_WAIT_MS 3                   /* while all queues are full */

struct lane_queue {
	struct queue *queue;
	bool ended_seen;    /* for the feeder: nothing more comes */
	atomic_bool ended;  /* for the senders, set after the last job */
	atomic_bool hungry; /* a sender found it empty */
};

struct feeder {
	struct feeder_options o;
	struct lane_queue *lanes;
	size_t count;
	struct queue *orders;
	atomic_bool awaited; /* a sender waits for one of them */
	int wake_fd, stop_fd, ready_fd, order_fd;
	bool ready_sent;
	_Atomic int64_t first_due_ns; /* the first requests'; INT64_MAX: there are none */
	bool input_ready;             /* poll reported more of the schedule, or its end */
	struct buffer url;
	bool names_agents; /* a header has them */
	struct agent_names agents;
	struct ipf_error error; /* the thread's, until it is joined; for others once `failed` */
	atomic_bool failed;
	pthread_t thread;
};

/* ---- one job ---- */

static struct slice put_text(struct buffer *text, struct slice s)
{
	if (s.data)
		buffer_slice(text, s);
	return s;
}

/* Sets a slice of `text`, once it no longer moves. */
static void point_into(struct slice *s, char **at)
{
	if (!s->data)
		return;
	s->data = *at;
	*at += s->len;
}

/* Adds the job to its session, for later turns. */
static int add_to_history(struct feeder *f, struct job *job, size_t lane, struct ipf_error *err)
{
	return history_add(f->o.history, job, lane, arrival_reader_defer(f->o.arrivals, lane)) < 0 ? ipf_error_memory(err)
	                                                                                           : 0;
}

/* Are the media of a request there, and does the API take them? */
static int check_media(const struct feeder *f, const struct trace_request *q, struct ipf_error *err)
{
	return q->messages.data ? request_body_check(q->messages, f->o.media, err) : 0;
}

static int render_body(struct feeder *f, struct job *job, const struct trace_request *q, struct slice context,
                       struct ipf_error *err)
{
	struct request_body *body = &job->request;
	struct media_mark mark;
	if (body_renderer_render(f->o.renderer, q, context, &body->text, err) < 0 ||
	    request_body_attach(body, f->o.media, err) < 0)
		return -1;
	if (!body->pieces && q->messages.data && media_next_mark(q->messages, 0, &mark))
		return ipf_error_set(err, IPF_INPUT, "messages: this API does not accept media");
	if (f->o.endpoint->signer && request_body_hash(body, err) < 0)
		return -1;
	job->request_bytes = (int64_t)request_body_len(body);
	job->prompt_bytes = body_renderer_prompt_bytes(f->o.renderer);
	return 0;
}

static int render(struct feeder *f, struct job *job, size_t lane, const struct arrival_request *p,
                  struct ipf_error *err)
{
	/* the earlier turns it repeats are copied when they are needed */
	job->deferred = p->arrival.after_count > 0 && p->context.len > 0;
	if (job->deferred) {
		if (body_renderer_check(f->o.renderer, &p->request, err) < 0 || check_media(f, &p->request, err) < 0)
			return -1;
		if (f->o.history && job->session.data)
			return add_to_history(f, job, lane, err);
		job->source = arrival_reader_defer(f->o.arrivals, lane);
		return job->source ? 0 : ipf_error_memory(err);
	}
	if (render_body(f, job, &p->request, p->context, err) < 0)
		return -1;
	atomic_init(&job->rendered, true);
	struct slice ignored;
	if (f->o.history && job->session.data && add_to_history(f, job, lane, err) < 0)
		return -1;
	if (job->history_turn)
		history_request(f->o.history, job, &ignored, &ignored);
	return 0;
}

/* The request's traceparent as a text in JSON; absent: it sends none. */
static struct slice name_span(const char *run_id, const struct job *job, char text[SPAN_IDS_TRACEPARENT + 2])
{
	if (!*run_id)
		return (struct slice){0};
	struct span_ids ids = span_ids(slice_of(run_id), job->arrival.n, job->session);
	text[0] = '"';
	span_ids_traceparent(&ids, text + 1);
	strcat(text, "\"");
	return slice_of(text);
}

/* Its own URL and headers, if it has any. */
static int address(struct feeder *f, struct job *job, const struct request_variables *variables, struct ipf_error *err)
{
	buffer_clear(&f->url);
	if (endpoint_address(f->o.endpoint, variables, &f->url, &job->headers_sent, err) < 0)
		return -1;
	if (!f->url.len)
		return 0;
	job->url = malloc(f->url.len);
	if (!job->url || f->url.failed)
		return ipf_error_memory(err);
	memcpy(job->url, f->url.data, f->url.len);
	return 0;
}

static struct job *make_job(struct feeder *f, size_t lane, const struct arrival_request *p, struct ipf_error *err)
{
	struct job *job = spare_jobs_take(f->o.spare);
	size_t after = p->arrival.after_count * sizeof *job->after;
	if (!job || (after && !(job->after = malloc(after))))
		goto out;
	job->arrival = p->arrival;
	job->arrival.after = job->after;
	if (after)
		memcpy(job->after, p->arrival.after, after);
	job->id = put_text(&job->text, p->request.id);
	job->session = put_text(&job->text, p->request.session);
	job->model = put_text(&job->text, body_renderer_model(f->o.renderer, &p->request));
	job->slo = put_text(&job->text, p->request.slo);
	job->tags = put_text(&job->text, p->request.tags);
	job->media = put_text(&job->text, p->request.media);
	if (job->text.failed)
		goto out;
	char *at = job->text.data;
	point_into(&job->id, &at);
	point_into(&job->session, &at);
	point_into(&job->model, &at);
	point_into(&job->slo, &at);
	point_into(&job->tags, &at);
	point_into(&job->media, &at);
	job->turn = p->request.turn;
	job->input_tokens = p->request.input_tokens;
	job->output_tokens = body_renderer_asked_tokens(f->o.renderer, &p->request);
	job->inputs = p->request.inputs_count;
	job->asked_outputs = body_renderer_asked_outputs(f->o.renderer, &p->request);
	job->hang_up_ns = p->request.hang_up_ns;
	job->streamed = f->o.streamed;
	char traceparent[SPAN_IDS_TRACEPARENT + 2];
	if (f->names_agents && !agent_names_find(&f->agents, job->session, job->tags))
		goto out;
	const struct request_variables variables = {.id = job->id,
	                                            .session = job->session,
	                                            .agent = f->agents.agent,
	                                            .parent_agent = f->agents.parent,
	                                            .model = job->model,
	                                            .headers = p->request.headers,
	                                            .traceparent = name_span(f->o.run_id, job, traceparent)};
	if (address(f, job, &variables, err) < 0 || render(f, job, lane, p, err) < 0) {
		char where[48];
		snprintf(where, sizeof where, "request %lld of the trace", (long long)p->arrival.req);
		ipf_error_place(err, where, 0);
		goto out;
	}
	return job;
out:
	job_free(job);
	ipf_error_memory(err);
	return NULL;
}

static void render_order(struct feeder *f, struct job *job)
{
	struct ipf_error why = {0};
	struct slice previous = {0}, context = job->source ? deferred_request_context(job->source) : (struct slice){0};
	const struct trace_request *q = job->source ? &job->source->request
	                                            : history_request(f->o.history, job, &context, &previous);
	body_renderer_continue(f->o.renderer, previous);
	if (render_body(f, job, q, context, &why) < 0)
		job->request.text.failed = true; /* out of memory: the request fails with it */
	deferred_request_free(job->source);
	job->source = NULL;
	atomic_store(&job->rendered, true);
	if (atomic_exchange(&f->awaited, false))
		event_fd_notify(f->wake_fd);
}

/* Ordered jobs, and those whose awaited answer has come. */
static void render_orders(struct feeder *f)
{
	for (struct job *job; (job = queue_take(f->orders));)
		if (!job->history_turn || history_order(f->o.history, job))
			render_order(f, job);
	for (struct job *job; f->o.history && (job = history_next(f->o.history));)
		render_order(f, job);
}

/* ---- the thread ---- */

enum feed_result { FEED_MORE, FEED_QUEUE_FULL, FEED_INPUT_BLOCKED, FEED_LANE_ENDED };

static enum feed_result end_lane(struct lane_queue *lane, struct feeder *f)
{
	lane->ended_seen = true;
	atomic_store(&lane->ended, true);
	event_fd_notify(f->wake_fd);
	return FEED_LANE_ENDED;
}

static int64_t bytes_ahead(const struct run_counters *c)
{
	return counter_get(&c->rendered_bytes) - counter_get(&c->fetched_bytes);
}

/* Until the first requests are ready, notes when the earliest of them is due. */
static void note_due(struct feeder *f, const struct schedule_arrival *a)
{
	const struct schedule *schedule = arrival_reader_schedule(f->o.arrivals);
	int64_t due_ns = a->at_ns != IPF_ABSENT ? a->at_ns : schedule->stages[a->stage].begin_ns;
	if (!f->ready_sent && due_ns < f->first_due_ns)
		f->first_due_ns = due_ns;
}

static enum feed_result feed_lane(struct feeder *f, size_t index, int *input_fd)
{
	struct lane_queue *lane = &f->lanes[index];
	struct arrival_request next;
	for (int i = 0; i < BATCH; i++) {
		if (lane->ended_seen)
			return FEED_LANE_ENDED;
		if (queue_full(lane->queue) || (bytes_ahead(f->o.counters) >= QUEUE_BYTES && queue_count(lane->queue) > 0))
			return FEED_QUEUE_FULL;
		/* waiting for a schedule coming through a pipe must not delay the other lanes, or the end */
		if (!index && !f->input_ready && !stream_reader_ready(arrival_reader_stream(f->o.arrivals), input_fd))
			return FEED_INPUT_BLOCKED;
		if (!index)
			f->input_ready = false;
		int got = arrival_reader_next(f->o.arrivals, index, &next, &f->error);
		if (got == 2)
			return FEED_QUEUE_FULL;
		if (f->o.history && (got != 1 || !next.arrival.after_count))
			history_head(f->o.history, index);
		struct job *job = got == 1 ? make_job(f, index, &next, &f->error) : NULL;
		if (f->error.kind)
			atomic_store(&f->failed, true);
		if (!job)
			return end_lane(lane, f);
		note_due(f, &job->arrival);
		counter_count(&f->o.counters->rendered_bytes, job->request_bytes);
		counter_count(&f->o.counters->rendered, 1);
		queue_put(lane->queue, job);
		if (atomic_load(&lane->hungry) && atomic_exchange(&lane->hungry, false))
			event_fd_notify(f->wake_fd);
	}
	return FEED_MORE;
}

static void send_ready(struct feeder *f)
{
	if (!f->ready_sent)
		event_fd_notify(f->ready_fd);
	f->ready_sent = true;
}

static void *feeder_run(void *data)
{
	struct feeder *f = data;
	int64_t thread = thread_number();
	counter_set(&f->o.counters->render_thread, thread);
	thread_priority_set(THREAD_PRIORITY_RENDER);
	struct pollfd fds[3] = {{.fd = f->stop_fd, .events = POLLIN}, {.fd = f->order_fd, .events = POLLIN}};
	for (;;) {
		bool fed = false, all_ended = true, waits = false;
		int input_fd = -1;
		for (size_t i = 0; i < f->count && !f->error.kind; i++) {
			render_orders(f);
			enum feed_result how = feed_lane(f, i, &input_fd);
			fed |= how == FEED_MORE;
			all_ended &= how == FEED_LANE_ENDED;
			waits |= how == FEED_QUEUE_FULL;
		}
		if (f->error.kind)
			for (size_t i = 0; i < f->count; i++)
				end_lane(&f->lanes[i], f);
		bool some = all_ended;
		for (size_t i = 0; i < f->count; i++)
			some |= queue_count(f->lanes[i].queue) > 0;
		if (f->error.kind || (!fed && some))
			send_ready(f);
		bool over = f->error.kind || all_ended;
		render_orders(f);
		fds[2] = (struct pollfd){.fd = input_fd, .events = POLLIN}; /* poll ignores negative ones */
		int got = poll(fds, 3, over ? -1 : fed ? 0 : waits || input_fd < 0 ? FULL_WAIT_MS : -1);
		if (got > 0 && fds[0].revents)
			return NULL;
		if (got > 0 && fds[1].revents)
			event_fd_clear(f->order_fd);
		f->input_ready = got > 0 && input_fd >= 0 && fds[2].revents;
	}
}

/* ---- for other threads ---- */

static void feeder_free(struct feeder *f)
{
	for (size_t i = 0; f->lanes && i < f->count; i++) {
		for (struct job *job; f->lanes[i].queue && (job = queue_take(f->lanes[i].queue));)
			job_free(job);
		queue_free(f->lanes[i].queue);
	}
	free(f->lanes);
	buffer_release(&f->url);
	agent_names_release(&f->agents);
	queue_free(f->orders);
	const int fds[] = {f->wake_fd, f->stop_fd, f->ready_fd, f->order_fd};
	for (size_t i = 0; i < 4; i++)
		if (fds[i] >= 0)
			close(fds[i]);
	free(f);
}

int feeder_start(struct feeder **feeder, const struct feeder_options *options, struct ipf_error *err)
{
	*feeder = NULL;
	struct feeder *f = calloc(1, sizeof *f);
	if (!f)
		return ipf_error_memory(err);
	*f = (struct feeder){.o = *options, .count = arrival_reader_lanes(options->arrivals), .first_due_ns = INT64_MAX};
	f->names_agents = endpoint_sends(options->endpoint, "$agent") || endpoint_sends(options->endpoint, "$parent_agent");
	f->lanes = calloc(f->count, sizeof *f->lanes);
	f->wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	f->stop_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	f->ready_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	f->order_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	f->orders = queue_new(QUEUE_ORDERS);
	bool good = f->lanes && f->orders && f->wake_fd >= 0 && f->stop_fd >= 0 && f->ready_fd >= 0 && f->order_fd >= 0;
	for (size_t i = 0; good && i < f->count; i++)
		good = (f->lanes[i].queue = queue_new(QUEUE_JOBS));
	counter_set(&options->counters->ahead_room, (int64_t)(QUEUE_JOBS * f->count));
	int why = good ? pthread_create(&f->thread, NULL, feeder_run, f) : errno;
	if (!good || why) {
		feeder_free(f);
		return ipf_error_errno(err, why, NULL, "cannot start the rendering thread");
	}
	*feeder = f;
	return 0;
}

void feeder_stop(struct feeder *f, struct ipf_error *err)
{
	if (!f)
		return;
	event_fd_notify(f->stop_fd);
	pthread_join(f->thread, NULL);
	if (f->error.kind)
		*err = f->error;
	feeder_free(f);
}

int feeder_wait(struct feeder *f, int signal_fd, struct ipf_error *err)
{
	struct pollfd fds[2] = {{.fd = f->ready_fd, .events = POLLIN}, {.fd = signal_fd, .events = POLLIN}};
	while (poll(fds, 2, -1) < 0)
		if (errno != EINTR)
			return ipf_error_errno(err, errno, NULL, "cannot wait for the first request");
	if (!fds[0].revents)
		return -1;
	if (!atomic_load(&f->failed))
		return 0;
	*err = f->error;
	return -1;
}

int64_t feeder_first_due(const struct feeder *f)
{
	const int64_t first_ns = atomic_load(&f->first_due_ns);
	return first_ns == INT64_MAX ? 0 : first_ns;
}

struct job *feeder_fetch(struct feeder *f, size_t index, bool *ended)
{
	struct lane_queue *lane = &f->lanes[index];
	*ended = false;
	for (int i = 0; i < 2; i++) {
		bool over = atomic_load(&lane->ended);
		struct job *job = queue_take(lane->queue);
		if (job) {
			job_prefetch(queue_next(lane->queue));
			counter_count(&f->o.counters->fetched_bytes, job->request_bytes);
			counter_count(&f->o.counters->fetched, 1);
			return job;
		}
		if (over) {
			*ended = true;
			return NULL;
		}
		/* look again after setting the flag: one put in between does not notify us */
		atomic_store(&lane->hungry, true);
	}
	return NULL;
}

bool feeder_order(struct feeder *f, struct job *job)
{
	if (!queue_put(f->orders, job))
		return false;
	event_fd_notify(f->order_fd);
	return true;
}

void feeder_answered(struct feeder *f, const struct job *job)
{
	if (!job->history_turn)
		return;
	history_ended(f->o.history, job);
	event_fd_notify(f->order_fd);
}

bool feeder_rendered(struct feeder *f, struct job *job)
{
	if (atomic_load(&job->rendered))
		return true;
	/* look again after setting the flag */
	atomic_store(&f->awaited, true);
	return atomic_load(&job->rendered);
}

int feeder_wake_fd(const struct feeder *f)
{
	return f->wake_fd;
}

pthread_t feeder_thread(const struct feeder *f)
{
	return f->thread;
}
