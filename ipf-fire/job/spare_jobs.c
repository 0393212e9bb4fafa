#include "job/spare_jobs.h"

#include <stdatomic.h>
#include <stdlib.h>

#define CACHE_LINE _Alignas(64) /* keeps the two threads from contending for one */

struct spare_jobs {
	CACHE_LINE _Atomic(struct job *) given; /* the last one first, linked by job->next */
	atomic_size_t given_count;              /* ever; the giver's */
	size_t most;
	CACHE_LINE struct job *taken; /* the taker's, which takes all given at once */
	atomic_size_t taken_count;
};

struct spare_jobs *spare_jobs_new(size_t most)
{
	struct spare_jobs *s = aligned_alloc(64, sizeof *s);
	if (!s)
		return NULL;
	atomic_init(&s->given, NULL);
	atomic_init(&s->given_count, 0);
	atomic_init(&s->taken_count, 0);
	s->most = most;
	s->taken = NULL;
	return s;
}

size_t spare_jobs_count(const struct spare_jobs *s)
{
	size_t taken = atomic_load_explicit(&s->taken_count, memory_order_relaxed);
	return atomic_load_explicit(&s->given_count, memory_order_relaxed) - taken;
}

void spare_jobs_give(struct spare_jobs *s, struct job *job)
{
	if (spare_jobs_count(s) >= s->most) {
		job_free(job);
		return;
	}
	job_reset(job);
	size_t count = atomic_load_explicit(&s->given_count, memory_order_relaxed);
	atomic_store_explicit(&s->given_count, count + 1, memory_order_relaxed);
	job->next = atomic_load_explicit(&s->given, memory_order_relaxed);
	/* the taker takes the whole list, so no job can leave it and come back in between */
	while (
		!atomic_compare_exchange_weak_explicit(&s->given, &job->next, job, memory_order_release, memory_order_relaxed))
		;
}

struct job *spare_jobs_take(struct spare_jobs *s)
{
	if (!s->taken)
		s->taken = atomic_exchange_explicit(&s->given, NULL, memory_order_acquire);
	struct job *job = s->taken;
	if (!job)
		return job_new();
	s->taken = job->next;
	job->next = NULL;
	job_prefetch(s->taken);
	size_t count = atomic_load_explicit(&s->taken_count, memory_order_relaxed);
	atomic_store_explicit(&s->taken_count, count + 1, memory_order_relaxed);
	return job;
}

void spare_jobs_free(struct spare_jobs *s)
{
	if (!s)
		return;
	while (spare_jobs_count(s))
		job_free(spare_jobs_take(s));
	free(s);
}
