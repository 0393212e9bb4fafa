#include "live/sampler.h"

#include "clock.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

struct sampler {
	struct sampler_source source;
	int64_t every_ns;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	int64_t zero_ns; /* ticks are zero_ns + k * every_ns; under the lock, like the rest */
	bool stop, moved;
};

/* The first tick after now. */
static int64_t next_tick(int64_t zero_ns, int64_t every_ns, int64_t now_ns)
{
	int64_t past = (now_ns - zero_ns) % every_ns;
	return now_ns + every_ns - (past < 0 ? past + every_ns : past);
}

/* Waits until the tick, or until the ticks move or end. */
static void wait_until(struct sampler *s, int64_t until_ns)
{
	if (s->source.wait) {
		pthread_mutex_unlock(&s->lock);
		s->source.wait(s->source.data, until_ns);
		pthread_mutex_lock(&s->lock);
		return;
	}
	struct timespec until = {.tv_sec = until_ns / NS_PER_S, .tv_nsec = until_ns % NS_PER_S};
	pthread_cond_timedwait(&s->changed, &s->lock, &until);
}

static void *sampler_thread(void *data)
{
	struct sampler *s = data;
	s->source.sample(s->source.data, SAMPLER_FIRST);
	pthread_mutex_lock(&s->lock);
	int64_t due = next_tick(s->zero_ns, s->every_ns, clock_now());
	while (!s->stop) {
		if (s->moved) {
			s->moved = false;
			due = next_tick(s->zero_ns, s->every_ns, clock_now());
		}
		if (clock_now() < due) {
			wait_until(s, due);
			continue;
		}
		pthread_mutex_unlock(&s->lock);
		s->source.sample(s->source.data, SAMPLER_NEXT);
		pthread_mutex_lock(&s->lock);
		due = next_tick(s->zero_ns, s->every_ns, clock_now());
	}
	pthread_mutex_unlock(&s->lock);
	s->source.sample(s->source.data, SAMPLER_LAST);
	return NULL;
}

/* Signals are for the main thread. */
static int start_thread(struct sampler *s)
{
	sigset_t all, before;
	sigfillset(&all);
	int failed = pthread_sigmask(SIG_SETMASK, &all, &before);
	if (failed)
		return failed;
	failed = pthread_create(&s->thread, NULL, sampler_thread, s);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return failed;
}

static int init_condition(pthread_cond_t *condition)
{
	pthread_condattr_t monotonic;
	int failed = pthread_condattr_init(&monotonic);
	if (failed)
		return failed;
	failed = pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	if (!failed)
		failed = pthread_cond_init(condition, &monotonic);
	pthread_condattr_destroy(&monotonic);
	return failed;
}

static void release(struct sampler *s)
{
	pthread_cond_destroy(&s->changed);
	pthread_mutex_destroy(&s->lock);
	free(s);
}

int sampler_start(struct sampler **sampler, const struct sampler_source *source, int64_t every_ns,
                  struct ipf_error *err)
{
	struct sampler *s = calloc(1, sizeof *s);
	*sampler = NULL;
	if (!s)
		return ipf_error_memory(err);
	s->source = *source;
	s->every_ns = every_ns;
	s->zero_ns = clock_now();
	int failed = pthread_mutex_init(&s->lock, NULL);
	if (!failed)
		failed = init_condition(&s->changed);
	if (failed)
		free(s);
	else if ((failed = start_thread(s)))
		release(s);
	if (failed)
		return ipf_error_errno(err, failed, NULL, "cannot start a thread");
	*sampler = s;
	return 0;
}

static void change(struct sampler *s)
{
	pthread_cond_signal(&s->changed);
	pthread_mutex_unlock(&s->lock);
	if (s->source.wake)
		s->source.wake(s->source.data);
}

void sampler_align(struct sampler *s, int64_t zero_ns)
{
	pthread_mutex_lock(&s->lock);
	s->zero_ns = zero_ns;
	s->moved = true;
	change(s);
}

void sampler_ask_to_stop(struct sampler *s)
{
	if (!s)
		return;
	pthread_mutex_lock(&s->lock);
	s->stop = true;
	change(s);
}

void sampler_stop(struct sampler *s)
{
	if (!s)
		return;
	sampler_ask_to_stop(s);
	pthread_join(s->thread, NULL);
	release(s);
}

bool sampler_stop_within(struct sampler *s, int64_t patience_ns)
{
	if (!s)
		return true;
	sampler_ask_to_stop(s);
	/* on the wall clock, as this function wants it: a step of it changes only the patience */
	int64_t until_ns = clock_wall() + patience_ns;
	struct timespec until = {.tv_sec = until_ns / NS_PER_S, .tv_nsec = until_ns % NS_PER_S};
	if (pthread_timedjoin_np(s->thread, NULL, &until) != 0) {
		pthread_detach(s->thread);
		return false;
	}
	release(s);
	return true;
}
