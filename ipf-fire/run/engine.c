#include "run/engine.h"

#include "run/work_sharing.h"
#include "clock.h"
#include "job/event_fd.h"
#include "job/thread_stats.h"
#include "run/sender.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct engine {
	struct engine_options o;
	struct work_sharing *sharing;
	struct sender *senders[THREADS_MOST];
	struct transport_options transports[THREADS_MOST];
	atomic_size_t running;
	atomic_llong connections;
	int64_t zero_ns;
	int done_fd;
};

/* One thread's share of the transport options. */
static struct transport_options transport_of(struct engine *e, size_t index)
{
	struct transport_options o = e->o.transport;
	int64_t pool = o.connections.pool, threads = (int64_t)e->o.threads;
	o.connections.pool = pool / threads + ((int64_t)index < pool % threads);
	o.thread = index;
	o.numbers = &e->connections;
	return o;
}

int engine_open(struct engine **engine, const struct engine_options *options, struct ipf_error *err)
{
	*engine = NULL;
	struct engine *e = calloc(1, sizeof *e);
	if (!e)
		return ipf_error_memory(err);
	e->o = *options;
	e->done_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (e->done_fd < 0) {
		ipf_error_errno(err, errno, NULL, "cannot set up the event loop");
		goto out;
	}
	struct work_sharing_options sharing = {.arrivals = options->arrivals,
	                                       .feeder = options->feeder,
	                                       .counters = options->counters,
	                                       .stats = options->stats,
	                                       .threads = options->threads,
	                                       .grace_ns = options->grace_ns,
	                                       .spin_ns = options->spin_ns};
	if (work_sharing_new(&e->sharing, &sharing, err) < 0)
		goto out;
	for (size_t i = 0; i < options->threads; i++) {
		e->transports[i] = transport_of(e, i);
		struct sender_options sender = {
			.sharing = e->sharing,
			.index = i,
			.feeder = options->feeder,
			.endpoint = options->endpoint,
			.transport = &e->transports[i],
			.retry = options->retry,
			.records = options->records[i],
			.counters = options->counters,
			.stats = options->stats[i],
			.signal_fd = options->signal_fd,
			.spin_ns = options->spin_ns,
		};
		if (sender_open(&e->senders[i], &sender, err) < 0)
			goto out;
	}
	*engine = e;
	return 0;
out:
	engine_close(e);
	return -1;
}

static void on_sender_done(void *data)
{
	struct engine *e = data;
	if (atomic_fetch_sub(&e->running, 1) == 1)
		event_fd_notify(e->done_fd);
}

int engine_begin(struct engine *e, int64_t zero_ns, int64_t lead_ns, struct ipf_error *err)
{
	struct sender_result nothing;
	e->zero_ns = zero_ns;
	work_sharing_begin(e->sharing, zero_ns, lead_ns);
	atomic_store(&e->running, e->o.threads);
	for (size_t i = 0; i < e->o.threads; i++) {
		if (sender_begin(e->senders[i], zero_ns, on_sender_done, e, err) == 0)
			continue;
		/* the threads before it end without having sent anything */
		work_sharing_cancel(e->sharing, 0, "cancelled: not all threads could be started");
		while (i-- > 0)
			sender_finish(e->senders[i], &nothing);
		return -1;
	}
	return 0;
}

pthread_t engine_thread(const struct engine *e, size_t index)
{
	return sender_thread(e->senders[index]);
}

bool engine_stop(struct engine *e)
{
	return work_sharing_stop(e->sharing, clock_now() - e->zero_ns);
}

int engine_wake_fd(const struct engine *e)
{
	return work_sharing_wake_fd(e->sharing, 0);
}

int engine_gate_fd(const struct engine *e)
{
	return work_sharing_gate_fd(e->sharing);
}

int64_t engine_gate(struct engine *e)
{
	return work_sharing_gate(e->sharing);
}

void engine_open_gate(struct engine *e, int64_t now_ns)
{
	work_sharing_open_gate(e->sharing, now_ns);
}

int engine_done_fd(const struct engine *e)
{
	return e->done_fd;
}

static void stage_times(struct engine *e, struct run_result *r)
{
	size_t count = arrival_reader_schedule(e->o.arrivals)->count;
	r->stage_begin_ns = calloc(count + 1, sizeof *r->stage_begin_ns);
	r->stage_end_ns = calloc(count + 1, sizeof *r->stage_end_ns);
	for (size_t i = 0; r->stage_begin_ns && r->stage_end_ns && i < count; i++)
		work_sharing_stage_times(e->sharing, (int64_t)i, &r->stage_begin_ns[i], &r->stage_end_ns[i]);
}

void engine_finish(struct engine *e, struct run_result *result)
{
	struct work_sharing_result sharing;
	*result = (struct run_result){0};
	for (size_t i = 0; i < e->o.threads; i++) {
		struct sender_result sender;
		sender_finish(e->senders[i], &sender);
		result->signals += sender.signals;
		result->memory_full |= sender.memory_full;
		result->starved += counter_get(&e->o.stats[i]->starved);
	}
	work_sharing_finish(e->sharing, &sharing);
	result->unstarted = sharing.unstarted;
	result->cut_sessions = work_sharing_cut_sessions(e->sharing);
	result->error = sharing.error;
	stage_times(e, result);
}

void engine_close(struct engine *e)
{
	if (!e)
		return;
	for (size_t i = 0; i < e->o.threads; i++)
		sender_close(e->senders[i]);
	work_sharing_free(e->sharing);
	if (e->done_fd >= 0)
		close(e->done_fd);
	free(e);
}
