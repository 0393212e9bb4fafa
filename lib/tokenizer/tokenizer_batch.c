/* Many texts at once: each thread takes the next few texts and has its own scratch. */
#include "tokenizer/tokenizer.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#define THREADS_MAX 256
/* Bytes of text a thread takes at a time: few enough that all threads end together, enough that the lock costs
 * nothing. */
#define GRAB_BYTES 65536

struct batch_work {
	const struct tokenizer *tokenizer;
	const struct tokenizer_batch *batch;
	int64_t *counts; /* or: */
	struct token_ids *ids;
	pthread_mutex_t lock;
	size_t next, failed; /* failed: the first text that failed; the number of texts if none did */
	struct ipf_error *err;
};

/* Texts [*begin, end) are this thread's. */
static size_t grab(struct batch_work *w, size_t *begin)
{
	const struct tokenizer_batch *batch = w->batch;
	size_t bytes = 0;
	pthread_mutex_lock(&w->lock);
	size_t end = *begin = w->failed < batch->count ? batch->count : w->next;
	while (end < batch->count && bytes < GRAB_BYTES)
		bytes += batch->texts[end++].len + 64;
	w->next = end;
	pthread_mutex_unlock(&w->lock);
	return end;
}

/* Reports the error of the first text in order, whichever thread met it. */
static void fail(struct batch_work *w, size_t text, const struct ipf_error *err)
{
	pthread_mutex_lock(&w->lock);
	if (text < w->failed) {
		w->failed = text;
		*w->err = *err;
	}
	pthread_mutex_unlock(&w->lock);
}

static int process(struct batch_work *w, struct tokenizer_scratch *scratch, size_t i, struct ipf_error *err)
{
	struct slice text = w->batch->texts[i];
	if (!text.data)
		text.data = "";
	if (w->ids)
		return tokenizer_encode(w->tokenizer, scratch, text, w->batch->flags, &w->ids[i], err);
	w->counts[i] = tokenizer_count(w->tokenizer, scratch, text, w->batch->flags, err);
	return w->counts[i] < 0 ? -1 : 0;
}

static void *work_thread(void *work)
{
	struct batch_work *w = work;
	struct tokenizer_scratch *scratch = tokenizer_scratch_new(w->tokenizer);
	size_t begin, end;

	while ((end = grab(w, &begin)) > begin) {
		for (size_t i = begin; i < end; i++) {
			struct ipf_error err = {0};
			if (!scratch)
				ipf_error_memory(&err);
			if (!scratch || process(w, scratch, i, &err) < 0) {
				fail(w, i, &err);
				break;
			}
		}
	}
	tokenizer_scratch_free(scratch);
	return NULL;
}

static int thread_count(const struct tokenizer_batch *batch)
{
	cpu_set_t cores;
	int threads = batch->threads;
	if (threads <= 0)
		threads = sched_getaffinity(0, sizeof cores, &cores) == 0 ? CPU_COUNT(&cores) : 1;
	if (threads > THREADS_MAX)
		threads = THREADS_MAX;
	return (size_t)threads > batch->count ? (int)batch->count : threads;
}

static int run(struct batch_work *w)
{
	pthread_t others[THREADS_MAX];
	int started = 0, threads = thread_count(w->batch);

	w->failed = w->batch->count;
	pthread_mutex_init(&w->lock, NULL);
	/* If a thread cannot be started, the others take its share: this thread works too. */
	while (started < threads - 1 && pthread_create(&others[started], NULL, work_thread, w) == 0)
		started++;
	work_thread(w);
	for (int i = 0; i < started; i++)
		pthread_join(others[i], NULL);
	pthread_mutex_destroy(&w->lock);
	return w->failed < w->batch->count ? -1 : 0;
}

int tokenizer_count_many(const struct tokenizer *tokenizer, const struct tokenizer_batch *batch, int64_t *counts,
                         struct ipf_error *err)
{
	struct batch_work w = {.tokenizer = tokenizer, .batch = batch, .counts = counts, .err = err};
	return run(&w);
}

int tokenizer_encode_many(const struct tokenizer *tokenizer, const struct tokenizer_batch *batch, struct token_ids *ids,
                          struct ipf_error *err)
{
	struct batch_work w = {.tokenizer = tokenizer, .batch = batch, .ids = ids, .err = err};
	return run(&w);
}
