#include "run/feeder.h"

#include "clock.h"
#include "job/job.h"
#include "job/thread_stats.h"
#include "run/thread_priority.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define QUEUE_JOBS   1024
#define QUEUE_ORDERS 16384
#define QUEUE_BYTES  (INT64_C(32) << 20) /* of bodies, in all queues */
#define TURN         32                  /* jobs of one lane before the next has its turn */
#define NAP_MS       3                   /* where all queues are full */

struct lane_queue {
	struct queue *queue;
	bool ended_seen;    /* the feeder's: nothing more comes */
	atomic_bool ended;  /* for the engine, after the last job */
	atomic_bool hungry; /* the engine found it empty */
};

struct feeder {
	struct arrival_reader *plan;
	struct renderer *renderer;
	const struct endpoint *target;
	bool streamed;
	struct history *history; /* NULL: the trace's */
	struct run_counters *gauges;
	struct queue *spare;
	struct lane_queue *lanes;
	size_t count;
	struct queue *orders;
	atomic_bool awaited; /* the engine waits for one of them */
	int wake_fd, stop_fd, ready_fd, order_fd;
	bool ready_said;
	bool input_ready;       /* poll said so: more of the schedule, or its end */
	struct ipf_error error; /* the thread's until it is joined; others after `failed` */
	atomic_bool failed;
	pthread_t thread;
};

static void say(int fd)
{
	uint64_t one = 1;
	while (write(fd, &one, sizeof one) < 0 && errno == EINTR)
		;
}

static void hear(int fd)
{
	uint64_t count;
	while (read(fd, &count, sizeof count) < 0 && errno == EINTR)
		;
}

/* ---- one job ---- */

static struct slice put_text(struct buffer *text, struct slice s)
{
	if (s.data)
		buffer_slice(text, s);
	return s;
}

/* The slices in `text`, once it no longer moves. */
static void point(struct slice *s, char **at)
{
	if (!s->data)
		return;
	s->data = *at;
	*at += s->len;
}

/* Later turns may want to know. */
static int remember(struct feeder *f, struct job *job, size_t lane, struct ipf_error *err)
{
	return history_add(f->history, job, arrival_reader_draft(f->plan, lane)) < 0 ? ipf_error_memory(err) : 0;
}

static int render(struct feeder *f, struct job *job, size_t lane, const struct planned *p, struct ipf_error *err)
{
	/* what its turn repeats of the turns before it is not held before it is needed */
	job->deferred = p->arrival.after_count > 0 && p->context.len > 0;
	if (job->deferred) {
		if (renderer_check(f->renderer, &p->request, err) < 0)
			return -1;
		if (f->history && job->session.data)
			return remember(f, job, lane, err);
		job->draft = arrival_reader_draft(f->plan, lane);
		return job->draft ? 0 : ipf_error_memory(err);
	}
	if (renderer_body(f->renderer, &p->request, p->context, &job->request, err) < 0)
		return -1;
	job->request_bytes = (int64_t)job->request.len;
	job->prompt_bytes = renderer_prompt_bytes(f->renderer);
	atomic_init(&job->rendered, true);
	struct slice ignored;
	if (f->history && job->session.data && remember(f, job, lane, err) < 0)
		return -1;
	if (job->remembered)
		history_request(f->history, job, &ignored);
	return 0;
}

static struct job *make(struct feeder *f, size_t lane, const struct planned *p, struct ipf_error *err)
{
	struct job *job = job_take(f->spare);
	size_t after = p->arrival.after_count * sizeof *job->after;
	if (!job || (after && !(job->after = malloc(after))))
		goto out;
	job->arrival = p->arrival;
	job->arrival.after = job->after;
	if (after)
		memcpy(job->after, p->arrival.after, after);
	job->id = put_text(&job->text, p->request.id);
	job->session = put_text(&job->text, p->request.session);
	job->model = put_text(&job->text, renderer_model(f->renderer, &p->request));
	job->slo = put_text(&job->text, p->request.slo);
	if (job->text.failed)
		goto out;
	char *at = job->text.data;
	point(&job->id, &at);
	point(&job->session, &at);
	point(&job->model, &at);
	point(&job->slo, &at);
	job->turn = p->request.turn;
	job->input_tokens = p->request.input_tokens;
	job->output_tokens = p->request.output_tokens;
	job->streamed = f->streamed;
	const struct request_variables variables = {.id = job->id, .session = job->session, .model = job->model};
	if (endpoint_address(f->target, &variables, &job->url, &job->headers_sent, err) < 0 ||
	    render(f, job, lane, p, err) < 0) {
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
	struct slice context = job->draft ? deferred_request_context(job->draft) : (struct slice){0};
	const struct trace_request *q = job->draft ? &job->draft->request : history_request(f->history, job, &context);
	if (renderer_body(f->renderer, q, context, &job->request, &why) < 0)
		job->request.failed = true; /* memory: the request will say so */
	deferred_request_free(job->draft);
	job->draft = NULL;
	job->request_bytes = (int64_t)job->request.len;
	job->prompt_bytes = renderer_prompt_bytes(f->renderer);
	atomic_store(&job->rendered, true);
	if (atomic_exchange(&f->awaited, false))
		say(f->wake_fd);
}

/* Later turns whose time comes near, and those whose turn before has been answered. */
static void render_orders(struct feeder *f)
{
	for (struct job *job; (job = queue_take(f->orders));)
		if (!job->remembered || history_order(f->history, job))
			render_order(f, job);
	for (struct job *job; f->history && (job = history_next(f->history));)
		render_order(f, job);
}

/* ---- the thread ---- */

enum fed { FED, FULL, BLOCKED, ENDED };

static enum fed lane_ends(struct lane_queue *lane, struct feeder *f)
{
	lane->ended_seen = true;
	atomic_store(&lane->ended, true);
	say(f->wake_fd);
	return ENDED;
}

static enum fed feed_lane(struct feeder *f, size_t index, int *input_fd)
{
	struct lane_queue *lane = &f->lanes[index];
	struct planned planned;
	for (int i = 0; i < TURN; i++) {
		if (lane->ended_seen)
			return ENDED;
		if (queue_full(lane->queue) ||
		    (counter_get(&f->gauges->ahead_bytes) >= QUEUE_BYTES && queue_count(lane->queue) > 0))
			return FULL;
		/* a schedule that comes through a pipe must not hold up the other lanes, nor the end */
		if (!index && !f->input_ready && !stream_reader_ready(arrival_reader_stream(f->plan), input_fd))
			return BLOCKED;
		if (!index)
			f->input_ready = false;
		int got = arrival_reader_next(f->plan, index, &planned, &f->error);
		if (got == 2)
			return FULL;
		struct job *job = got == 1 ? make(f, index, &planned, &f->error) : NULL;
		if (f->error.kind)
			atomic_store(&f->failed, true);
		if (!job)
			return lane_ends(lane, f);
		counter_add(&f->gauges->ahead_bytes, job->request_bytes);
		counter_add(&f->gauges->ahead, 1);
		queue_put(lane->queue, job);
		if (atomic_exchange(&lane->hungry, false))
			say(f->wake_fd);
	}
	return FED;
}

static void say_ready(struct feeder *f)
{
	if (!f->ready_said)
		say(f->ready_fd);
	f->ready_said = true;
}

static void *feeder_run(void *data)
{
	struct feeder *f = data;
	int64_t thread = thread_number();
	counter_set(&f->gauges->render_thread, thread);
	thread_priority_take(thread, THREAD_PRIORITY_RENDER);
	struct pollfd fds[3] = {{.fd = f->stop_fd, .events = POLLIN}, {.fd = f->order_fd, .events = POLLIN}};
	for (;;) {
		bool fed = false, all_ended = true, waits = false;
		int input_fd = -1;
		for (size_t i = 0; i < f->count && !f->error.kind; i++) {
			render_orders(f);
			enum fed how = feed_lane(f, i, &input_fd);
			fed |= how == FED;
			all_ended &= how == ENDED;
			waits |= how == FULL;
		}
		if (f->error.kind)
			for (size_t i = 0; i < f->count; i++)
				lane_ends(&f->lanes[i], f);
		bool some = all_ended;
		for (size_t i = 0; i < f->count; i++)
			some |= queue_count(f->lanes[i].queue) > 0;
		if (f->error.kind || (!fed && some))
			say_ready(f);
		bool over = f->error.kind || all_ended;
		render_orders(f);
		fds[2] = (struct pollfd){.fd = input_fd, .events = POLLIN}; /* one below 0 is passed over */
		int got = poll(fds, 3, over ? -1 : fed ? 0 : waits || input_fd < 0 ? NAP_MS : -1);
		if (got > 0 && fds[0].revents)
			return NULL;
		if (got > 0 && fds[1].revents)
			hear(f->order_fd);
		f->input_ready = got > 0 && input_fd >= 0 && fds[2].revents;
	}
}

/* ---- for the others ---- */

static void feeder_free(struct feeder *f)
{
	for (size_t i = 0; f->lanes && i < f->count; i++) {
		for (struct job *job; f->lanes[i].queue && (job = queue_take(f->lanes[i].queue));)
			job_free(job);
		queue_free(f->lanes[i].queue);
	}
	free(f->lanes);
	queue_free(f->orders);
	const int fds[] = {f->wake_fd, f->stop_fd, f->ready_fd, f->order_fd};
	for (size_t i = 0; i < 4; i++)
		if (fds[i] >= 0)
			close(fds[i]);
	free(f);
}

int feeder_start(struct feeder **feeder, struct arrival_reader *plan, struct renderer *renderer,
                 const struct endpoint *target, bool streamed, struct history *history, struct run_counters *gauges,
                 struct queue *spare, struct ipf_error *err)
{
	*feeder = NULL;
	struct feeder *f = calloc(1, sizeof *f);
	if (!f)
		return ipf_error_memory(err);
	*f = (struct feeder){.plan = plan,
	                     .renderer = renderer,
	                     .target = target,
	                     .streamed = streamed,
	                     .history = history,
	                     .gauges = gauges,
	                     .spare = spare,
	                     .count = arrival_reader_lanes(plan)};
	f->lanes = calloc(f->count, sizeof *f->lanes);
	f->wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	f->stop_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	f->ready_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	f->order_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	f->orders = queue_new(QUEUE_ORDERS);
	bool good = f->lanes && f->orders && f->wake_fd >= 0 && f->stop_fd >= 0 && f->ready_fd >= 0 && f->order_fd >= 0;
	for (size_t i = 0; good && i < f->count; i++)
		good = (f->lanes[i].queue = queue_new(QUEUE_JOBS));
	counter_set(&gauges->ahead_room, (int64_t)(QUEUE_JOBS * f->count));
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
	say(f->stop_fd);
	pthread_join(f->thread, NULL);
	if (f->error.kind)
		*err = f->error;
	feeder_free(f);
}

int feeder_wait(struct feeder *f, int signal_fd, struct ipf_error *err)
{
	struct pollfd fds[2] = {{.fd = f->ready_fd, .events = POLLIN}, {.fd = signal_fd, .events = POLLIN}};
	while (poll(fds, 2, -1) < 0 && errno == EINTR)
		;
	if (!fds[0].revents)
		return -1;
	if (!atomic_load(&f->failed))
		return 0;
	*err = f->error;
	return -1;
}

struct job *feeder_fetch(struct feeder *f, size_t index, bool *ended)
{
	struct lane_queue *lane = &f->lanes[index];
	*ended = false;
	for (int i = 0; i < 2; i++) {
		bool over = atomic_load(&lane->ended);
		struct job *job = queue_take(lane->queue);
		if (job) {
			counter_add(&f->gauges->ahead_bytes, -job->request_bytes);
			counter_add(&f->gauges->ahead, -1);
			return job;
		}
		if (over) {
			*ended = true;
			return NULL;
		}
		/* look again after having said so: one that was put in between is not waited for */
		atomic_store(&lane->hungry, true);
	}
	return NULL;
}

bool feeder_order(struct feeder *f, struct job *job)
{
	if (!queue_put(f->orders, job))
		return false;
	say(f->order_fd);
	return true;
}

void feeder_answered(struct feeder *f, const struct job *job)
{
	if (!job->remembered)
		return;
	history_ended(f->history, job);
	say(f->order_fd);
}

bool feeder_rendered(struct feeder *f, struct job *job)
{
	if (atomic_load(&job->rendered))
		return true;
	/* look again after having said so */
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
