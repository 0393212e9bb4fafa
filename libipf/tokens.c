#include <ipf/tokens.h>

#include "library.h"
#include "tokenizers.h"

#include <pthread.h>
#include <stdlib.h>

#define POOL_MAX 64 /* scratches kept for later calls */

struct ipf_tokenizer {
	struct tokenizer *tokenizer;
	struct token_counter *counter; /* the same, for measuring; owns it */
	pthread_mutex_t lock;
	struct tokenizer_scratch *scratches[POOL_MAX];
	int count;
};

int ipf_tokenizer_open(struct ipf_tokenizer **tokenizer, const char *path, struct ipf_error *err)
{
	library_begin();
	*tokenizer = NULL;
	struct ipf_tokenizer *t = calloc(1, sizeof *t);
	if (!t)
		return ipf_error_memory(err);
	if (tokenizer_open(&t->tokenizer, path, err) < 0 || token_counter_of(&t->counter, t->tokenizer, err) < 0) {
		free(t);
		return -1;
	}
	pthread_mutex_init(&t->lock, NULL);
	*tokenizer = t;
	return 0;
}

void ipf_tokenizer_close(struct ipf_tokenizer *t)
{
	if (!t)
		return;
	for (int i = 0; i < t->count; i++)
		tokenizer_scratch_free(t->scratches[i]);
	pthread_mutex_destroy(&t->lock);
	token_counter_close(t->counter);
	free(t);
}

uint32_t ipf_tokenizer_vocabulary(const struct ipf_tokenizer *t)
{
	return tokenizer_vocabulary_size(t->tokenizer);
}

const struct token_counter *tokenizer_counter(const struct ipf_tokenizer *t)
{
	return t ? t->counter : NULL;
}

/* Only the pool changes. */
static struct tokenizer_scratch *take(const struct ipf_tokenizer *shared)
{
	struct ipf_tokenizer *t = (struct ipf_tokenizer *)shared;
	struct tokenizer_scratch *s = NULL;
	pthread_mutex_lock(&t->lock);
	if (t->count)
		s = t->scratches[--t->count];
	pthread_mutex_unlock(&t->lock);
	return s ? s : tokenizer_scratch_new(t->tokenizer);
}

static void put(const struct ipf_tokenizer *shared, struct tokenizer_scratch *s)
{
	struct ipf_tokenizer *t = (struct ipf_tokenizer *)shared;
	pthread_mutex_lock(&t->lock);
	if (t->count < POOL_MAX) {
		t->scratches[t->count++] = s;
		s = NULL;
	}
	pthread_mutex_unlock(&t->lock);
	tokenizer_scratch_free(s);
}

int64_t ipf_tokenizer_count(const struct ipf_tokenizer *t, struct ipf_text text, int flags, struct ipf_error *err)
{
	library_begin();
	struct tokenizer_scratch *s = take(t);
	if (!s)
		return ipf_error_memory(err);
	int64_t count = tokenizer_count(t->tokenizer, s, (struct slice){text.data, text.len}, flags, err);
	put(t, s);
	return count;
}

int64_t ipf_tokenizer_encode(const struct ipf_tokenizer *t, struct ipf_text text, int flags, uint32_t *ids, size_t room,
                             struct ipf_error *err)
{
	struct token_ids list = {0};
	library_begin();
	struct tokenizer_scratch *s = take(t);
	if (!s)
		return ipf_error_memory(err);
	int64_t count = -1;
	if (tokenizer_encode(t->tokenizer, s, (struct slice){text.data, text.len}, flags, &list, err) == 0) {
		size_t fits = list.count < room ? list.count : room;
		if (fits)
			memcpy(ids, list.ids, fits * sizeof *ids);
		count = (int64_t)list.count;
	}
	token_ids_release(&list);
	put(t, s);
	return count;
}

int64_t ipf_tokenizer_decode(const struct ipf_tokenizer *t, struct ipf_ids ids, int flags, char *text, size_t room,
                             struct ipf_error *err)
{
	struct buffer out = {0};
	int64_t len = -1;
	library_begin();
	if (tokenizer_decode(t->tokenizer, ids.data, ids.count, flags, &out, err) == 0 && out.failed)
		ipf_error_memory(err);
	else if (!err->kind) {
		size_t fits = out.len < room ? out.len : room ? room - 1 : 0;
		if (fits)
			memcpy(text, out.data, fits);
		if (room)
			text[fits] = '\0';
		len = (int64_t)out.len;
	}
	buffer_release(&out);
	return len;
}
