/* Many texts at once: threads that each take the next few texts, with a scratch of their own. */
#include "tokenizer/tokenizer.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#define MOST_THREADS 256
#define GRAB_BYTES   65536 /* of texts at a time: little enough to end together, enough to forget about the counter */

struct batch {
	const struct tokenizer *tokenizer;
	const struct slice *texts;
	size_t count;
	int flags;
	int64_t *counts; /* or: */
	struct token_ids *ids;
	pthread_mutex_t lock;
	size_t next, failed; /* failed: the first text that did, count for none */
	struct ipf_error *err;
};

/* Texts [*begin, end) are this thread's. */
static size_t grab(struct batch *b, size_t *begin)
{
	size_t bytes = 0;
	pthread_mutex_lock(&b->lock);
	size_t end = *begin = b->failed < b->count ? b->count : b->next;
	while (end < b->count && bytes < GRAB_BYTES)
		bytes += b->texts[end++].len + 64;
	b->next = end;
	pthread_mutex_unlock(&b->lock);
	return end;
}

/* The error of the first text in order is the one that is told, whichever thread met it. */
static void fail(struct batch *b, size_t text, const struct ipf_error *err)
{
	pthread_mutex_lock(&b->lock);
	if (text < b->failed) {
		b->failed = text;
		*b->err = *err;
	}
	pthread_mutex_unlock(&b->lock);
}

static int one(struct batch *b, struct tokenizer_scratch *scratch, size_t i, struct ipf_error *err)
{
	const char *text = b->texts[i].data ? b->texts[i].data : "";
	if (b->ids)
		return tokenizer_encode(b->tokenizer, scratch, text, b->texts[i].len, b->flags, &b->ids[i], err);
	b->counts[i] = tokenizer_count(b->tokenizer, scratch, text, b->texts[i].len, b->flags, err);
	return b->counts[i] < 0 ? -1 : 0;
}

static void *work(void *batch)
{
	struct batch *b = batch;
	struct tokenizer_scratch *scratch = tokenizer_scratch_new(b->tokenizer);
	size_t begin, end;

	while ((end = grab(b, &begin)) > begin) {
		for (size_t i = begin; i < end; i++) {
			struct ipf_error err = {0};
			if (!scratch)
				ipf_error_memory(&err);
			if (!scratch || one(b, scratch, i, &err) < 0) {
				fail(b, i, &err);
				break;
			}
		}
	}
	tokenizer_scratch_free(scratch);
	return NULL;
}

static int threads_for(int asked, size_t texts)
{
	cpu_set_t cores;
	int threads = asked;
	if (threads <= 0)
		threads = sched_getaffinity(0, sizeof cores, &cores) == 0 ? CPU_COUNT(&cores) : 1;
	if (threads > MOST_THREADS)
		threads = MOST_THREADS;
	return (size_t)threads > texts ? (int)texts : threads;
}

static int run(struct batch *b, int threads)
{
	pthread_t others[MOST_THREADS];
	int started = 0;

	b->failed = b->count;
	pthread_mutex_init(&b->lock, NULL);
	threads = threads_for(threads, b->count);
	/* What cannot be started does not matter: this thread works too. */
	while (started < threads - 1 && pthread_create(&others[started], NULL, work, b) == 0)
		started++;
	work(b);
	for (int i = 0; i < started; i++)
		pthread_join(others[i], NULL);
	pthread_mutex_destroy(&b->lock);
	return b->failed < b->count ? -1 : 0;
}

int tokenizer_count_many(const struct tokenizer *tokenizer, const struct slice *texts, size_t count, int flags,
                         int threads, int64_t *counts, struct ipf_error *err)
{
	struct batch b = {
		.tokenizer = tokenizer, .texts = texts, .count = count, .flags = flags, .counts = counts, .err = err};
	return run(&b, threads);
}

int tokenizer_encode_many(const struct tokenizer *tokenizer, const struct slice *texts, size_t count, int flags,
                          int threads, struct token_ids *ids, struct ipf_error *err)
{
	struct batch b = {.tokenizer = tokenizer, .texts = texts, .count = count, .flags = flags, .ids = ids, .err = err};
	return run(&b, threads);
}
