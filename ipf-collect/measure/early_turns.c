#include "measure/early_turns.h"

#include "absent.h"
#include "seen_numbers.h"

#include <stdlib.h>
#include <string.h>

#define BUCKETS 4096

/* A record waiting for another one. */
struct early_turn {
	int64_t continues;
	size_t len;
	struct early_turn *newer, *older; /* the list of all turns */
	struct early_turn *in_bucket;     /* by `continues`, the newest first; then in the list of ready ones */
	char line[];
};

struct early_turns {
	struct early_turn *buckets[BUCKETS];
	struct early_turn *oldest, *newest;
	struct early_turn *ready, **ready_end;
	struct early_turn *returned; /* its line is in use */
	size_t bytes;
	struct seen_numbers used;
	struct record_reader *reader;
};

struct early_turns *early_turns_new(void)
{
	struct early_turns *e = calloc(1, sizeof *e);
	if (!e)
		return NULL;
	e->ready_end = &e->ready;
	e->reader = record_reader_new();
	if (e->reader)
		return e;
	free(e);
	return NULL;
}

void early_turns_free(struct early_turns *e)
{
	if (!e)
		return;
	early_turns_end(e);
	for (struct early_turn *t = e->ready, *next; t; t = next) {
		next = t->in_bucket;
		free(t);
	}
	free(e->returned);
	record_reader_close(e->reader);
	free(e);
}

static struct early_turn **bucket_of(struct early_turns *e, int64_t n)
{
	return &e->buckets[(uint64_t)n % BUCKETS];
}

static void make_ready(struct early_turns *e, struct early_turn *t)
{
	struct early_turn **at = bucket_of(e, t->continues);
	while (*at != t)
		at = &(*at)->in_bucket;
	*at = t->in_bucket;
	*(t->older ? &t->older->newer : &e->oldest) = t->newer;
	*(t->newer ? &t->newer->older : &e->newest) = t->older;
	e->bytes -= sizeof *t + t->len;
	t->in_bucket = NULL;
	*e->ready_end = t;
	e->ready_end = &t->in_bucket;
}

int early_turns_hold(struct early_turns *e, const struct record *record, struct slice line)
{
	const int64_t n = record->continues;
	if (n == IPF_ABSENT || n == record->n || n < 0 || n >= SEEN_NUMBERS_MOST || seen_numbers_has(&e->used, n))
		return 0;
	struct early_turn *t = malloc(sizeof *t + line.len), **at = bucket_of(e, n);
	if (!t)
		return -1;
	*t = (struct early_turn){.continues = n, .len = line.len, .older = e->newest, .in_bucket = *at};
	memcpy(t->line, line.data, line.len);
	*at = t;
	*(e->newest ? &e->newest->newer : &e->oldest) = t;
	e->newest = t;
	e->bytes += sizeof *t + t->len;
	while (e->bytes > EARLY_TURNS_MOST)
		make_ready(e, e->oldest);
	return 1;
}

void early_turns_used(struct early_turns *e, int64_t n)
{
	seen_numbers_add(&e->used, n);
	/* the bucket has the newest first */
	for (struct early_turn *last = e->newest; last;) {
		last = NULL;
		for (struct early_turn *t = *bucket_of(e, n); t; t = t->in_bucket)
			if (t->continues == n)
				last = t;
		if (last)
			make_ready(e, last);
	}
}

int early_turns_next(struct early_turns *e, struct record *record, struct ipf_error *err)
{
	struct early_turn *t = e->ready;
	struct slice ignored;
	free(e->returned);
	e->returned = t;
	if (e->used.failed)
		return ipf_error_memory(err);
	if (!t)
		return 0;
	e->ready = t->in_bucket;
	if (!e->ready)
		e->ready_end = &e->ready;
	return record_reader_parse(e->reader, (struct slice){t->line, t->len}, record, &ignored, err);
}

void early_turns_end(struct early_turns *e)
{
	while (e->oldest)
		make_ready(e, e->oldest);
	seen_numbers_release(&e->used);
}
