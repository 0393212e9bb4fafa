#include "publish/otlp_batches.h"

#include "clock.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

struct otlp_batches {
	struct otlp_run *run;   /* this input's; NULL before the first */
	bool patient;           /* waits for room */
	pthread_mutex_t lock;   /* protects the members below */
	pthread_cond_t taken;   /* a batch was taken */
	struct otlp_body open;  /* the incomplete batch */
	int64_t spans, waiting; /* in it, and in the queue */
	struct push_queue queue;
	int64_t dropped;
};

struct otlp_batches *otlp_batches_new(void)
{
	struct otlp_batches *b = calloc(1, sizeof *b);
	pthread_condattr_t monotonic;
	if (!b)
		return NULL;
	b->queue.bytes_most = OTLP_QUEUE_BYTES;
	pthread_mutex_init(&b->lock, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&b->taken, &monotonic);
	pthread_condattr_destroy(&monotonic);
	return b;
}

void otlp_batches_free(struct otlp_batches *b)
{
	if (!b)
		return;
	otlp_run_free(b->run);
	buffer_release(&b->open.bytes);
	push_queue_release(&b->queue);
	pthread_cond_destroy(&b->taken);
	pthread_mutex_destroy(&b->lock);
	free(b);
}

/* All of these with the lock. */

static bool has_room(const struct otlp_batches *b)
{
	return b->queue.count < PUSH_QUEUE && b->queue.bytes + b->open.bytes.len <= OTLP_QUEUE_BYTES;
}

static void wait_for_room(struct otlp_batches *b)
{
	while (b->patient && !has_room(b)) {
		int64_t until_ns = clock_now() + OTLP_WAIT_NS;
		struct timespec until = {.tv_sec = until_ns / NS_PER_S, .tv_nsec = until_ns % NS_PER_S};
		b->patient = pthread_cond_timedwait(&b->taken, &b->lock, &until) == 0;
	}
}

static void complete(struct otlp_batches *b)
{
	struct push_request request = {.items = b->spans};
	if (!b->spans)
		return;
	otlp_run_end(&b->open);
	request.body = b->open.bytes;
	b->open = (struct otlp_body){0};
	b->waiting += b->spans;
	b->spans = 0;
	int64_t dropped = push_queue_put(&b->queue, &request);
	b->waiting -= dropped;
	b->dropped += dropped;
}

/* ---- the thread writing rows ---- */

int otlp_batches_begin(struct otlp_batches *b, const json_t *header, const struct schedule *schedule,
                       const struct api *api, bool live, struct ipf_error *err)
{
	struct otlp_run *run;
	int status = otlp_run_new(&run, header, schedule, api, err);
	pthread_mutex_lock(&b->lock);
	wait_for_room(b);
	complete(b);
	pthread_mutex_unlock(&b->lock);
	otlp_run_free(b->run);
	b->run = run;
	b->patient = !live;
	return status;
}

bool otlp_batches_add(struct otlp_batches *b, const struct observation *seen)
{
	bool full;
	pthread_mutex_lock(&b->lock);
	if (!b->spans)
		otlp_run_begin(b->run, &b->open);
	b->spans += otlp_span_write(b->run, seen, &b->open.bytes);
	full = b->spans >= OTLP_BATCH || b->open.bytes.len >= OTLP_BATCH_BYTES || b->open.bytes.failed;
	if (full) {
		wait_for_room(b);
		complete(b);
	}
	pthread_mutex_unlock(&b->lock);
	return full;
}

/* ---- the sending thread ---- */

bool otlp_batches_take(struct otlp_batches *b, bool all, struct push_request *request)
{
	pthread_mutex_lock(&b->lock);
	if (all && !b->queue.count)
		complete(b);
	struct push_request *first = push_queue_first(&b->queue);
	bool found = first;
	if (first) {
		*request = *first;
		first->body = (struct buffer){0};
		b->queue.bytes -= request->body.len;
		push_queue_pop(&b->queue);
		b->waiting -= request->items;
		pthread_cond_signal(&b->taken);
	}
	pthread_mutex_unlock(&b->lock);
	return found;
}

void otlp_batches_count(struct otlp_batches *b, int64_t *waiting, int64_t *dropped)
{
	pthread_mutex_lock(&b->lock);
	*waiting = b->waiting + b->spans;
	*dropped = b->dropped;
	pthread_mutex_unlock(&b->lock);
}
