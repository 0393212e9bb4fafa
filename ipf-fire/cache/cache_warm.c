#include "cache/cache_warm.h"

#include "clock.h"
#include "requests/arrival_reader.h"
#include "seen_numbers.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define AT_ONCE 8

/* Shared by the threads, under the lock. */
struct warming {
	const struct cache_warm_options *o;
	pthread_mutex_t lock;
	struct arrival_reader *arrivals;
	struct seen_numbers seen;
	size_t lane;
	int64_t in_lane; /* arrivals read of a cycle stage, which has no end */
	struct cache_warm_counts *counts;
	struct ipf_error *err;
	bool over;
};

/* The next arrival of all lanes; 1, 0 or -1. */
static int next_arrival(struct warming *w, struct arrival_request *to)
{
	const struct schedule *schedule = arrival_reader_schedule(w->arrivals);
	while (w->lane < arrival_reader_lanes(w->arrivals)) {
		int64_t stage = arrival_reader_lane_stage(w->arrivals, w->lane);
		bool ended = stage >= 0 && w->in_lane >= schedule->stages[stage].arrivals;
		int got = ended ? 0 : arrival_reader_next(w->arrivals, w->lane, to, w->err);
		w->in_lane++;
		if (got == 1 || got < 0)
			return got;
		w->lane++;
		w->in_lane = 0;
	}
	return 0;
}

/* Prepares the next prompt that was not sent yet; 1, 0 or -1. */
static int next_message(struct warming *w, struct aside_client *client, struct aside_message *message)
{
	struct arrival_request p;
	struct ipf_error misfit = {0};
	int got;
	while (!w->over && (got = next_arrival(w, &p)) == 1) {
		int64_t trace_requests = arrival_reader_schedule(w->arrivals)->trace_requests;
		bool again = seen_numbers_add(&w->seen, schedule_prompt_number(p.arrival.req, p.arrival.copy, trace_requests));
		if (w->seen.failed)
			return ipf_error_memory(w->err);
		if (again)
			continue;
		misfit.kind = IPF_OK;
		if (!p.request.media.data && aside_client_prepare(client, &p.request, p.context, message, &misfit) == 0)
			return 1;
		if (misfit.kind == IPF_SYSTEM)
			return ipf_error_memory(w->err);
		w->counts->left_out++;
	}
	return w->over ? 0 : got;
}

static void count(struct warming *w, const struct aside_answer *answer)
{
	bool failed = answer->status < 200 || answer->status > 299;
	w->counts->requests++;
	w->counts->failed += failed;
	if (!failed || *w->counts->why)
		return;
	if (answer->status)
		snprintf(w->counts->why, sizeof w->counts->why, "status %ld", answer->status);
	else
		snprintf(w->counts->why, sizeof w->counts->why, "%s", answer->why);
}

static void send_all(struct warming *w, struct aside_client *client, struct aside_message *message,
                     struct aside_answer *answer)
{
	struct ipf_error err = {0};
	pthread_mutex_lock(&w->lock);
	while (next_message(w, client, message) == 1) {
		for (size_t i = 0; i < w->o->targets && !w->over; i++) {
			pthread_mutex_unlock(&w->lock);
			int got = aside_client_send(client, i, message, answer, &err);
			pthread_mutex_lock(&w->lock);
			if (got == 0)
				count(w, answer);
			else
				w->over = true;
		}
	}
	w->over = true;
	if (err.kind)
		ipf_error_set(w->err, err.kind, "%s", err.text);
	pthread_mutex_unlock(&w->lock);
}

static void *work(void *data)
{
	struct warming *w = data;
	struct aside_client *client;
	struct aside_message message = {.headers = NULL};
	struct aside_answer answer = {.status = 0};
	struct ipf_error err = {0};
	if (aside_client_open(&client, &w->o->client, &err) == 0) {
		send_all(w, client, &message, &answer);
	} else {
		pthread_mutex_lock(&w->lock);
		w->over = true;
		ipf_error_set(w->err, err.kind, "%s", err.text);
		pthread_mutex_unlock(&w->lock);
	}
	aside_message_release(&message);
	aside_answer_release(&answer);
	aside_client_close(client);
	return NULL;
}

int cache_warm(const struct cache_warm_options *options, struct cache_warm_counts *counts, struct ipf_error *err)
{
	struct warming w = {.o = options, .counts = counts, .err = err};
	pthread_t threads[AT_ONCE];
	size_t started = 0;
	int64_t begin_ns = clock_now();
	*counts = (struct cache_warm_counts){.requests = 0};
	if (arrival_reader_open(&w.arrivals, options->schedule, options->trace, 0, err) < 0)
		return -1;
	pthread_mutex_init(&w.lock, NULL);
	while (started < AT_ONCE && pthread_create(&threads[started], NULL, work, &w) == 0)
		started++;
	if (!started)
		ipf_error_set(err, IPF_SYSTEM, "cannot start a thread");
	for (size_t i = 0; i < started; i++)
		pthread_join(threads[i], NULL);
	pthread_mutex_destroy(&w.lock);
	seen_numbers_release(&w.seen);
	arrival_reader_close(w.arrivals);
	counts->took_ns = clock_now() - begin_ns;
	return err->kind ? -1 : 0;
}
