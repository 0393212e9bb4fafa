#include "capture/http2_streams.h"

#include <stdlib.h>

enum { BUCKETS_LEAST = 16, ENDED = 128 };

/* Ids of requests are odd. */
static size_t place_of(int32_t id, size_t count)
{
	return (size_t)(uint32_t)id >> 1 & (count - 1);
}

static bool grow(struct http2_streams *t)
{
	const size_t count = t->buckets_count ? 2 * t->buckets_count : BUCKETS_LEAST;
	struct http2_stream **buckets = calloc(count, sizeof(struct http2_stream *));
	if (!buckets)
		return false;
	for (struct http2_stream *s = t->oldest; s; s = s->newer) {
		struct http2_stream **place = &buckets[place_of(s->id, count)];
		s->chain = *place;
		*place = s;
	}
	free(t->buckets);
	t->buckets = buckets;
	t->buckets_count = count;
	return true;
}

struct http2_stream *http2_streams_add(struct http2_streams *t, int32_t id, struct captured *x)
{
	if (!t->ended && !(t->ended = calloc(ENDED, sizeof *t->ended)))
		return NULL;
	if (t->count >= t->buckets_count && !grow(t))
		return NULL;
	struct http2_stream *s = calloc(1, sizeof *s);
	if (!s)
		return NULL;
	struct http2_stream **place = &t->buckets[place_of(id, t->buckets_count)];
	*s = (struct http2_stream){.x = x, .id = id, .chain = *place, .older = t->newest};
	*place = s;
	*(t->newest ? &t->newest->newer : &t->oldest) = s;
	t->newest = s;
	t->count++;
	return s;
}

struct http2_stream *http2_streams_find(const struct http2_streams *t, int32_t id)
{
	struct http2_stream *s = t->buckets_count ? t->buckets[place_of(id, t->buckets_count)] : NULL;
	while (s && s->id != id)
		s = s->chain;
	return s;
}

void http2_streams_remove(struct http2_streams *t, struct http2_stream *s)
{
	struct http2_stream **place = &t->buckets[place_of(s->id, t->buckets_count)];
	while (*place != s)
		place = &(*place)->chain;
	*place = s->chain;
	*(s->older ? &s->older->newer : &t->oldest) = s->newer;
	*(s->newer ? &s->newer->older : &t->newest) = s->older;
	t->ended[place_of(s->id, ENDED)] = s->id;
	t->count--;
	free(s);
}

bool http2_streams_has_ended(const struct http2_streams *t, int32_t id)
{
	return t->ended && t->ended[place_of(id, ENDED)] == id;
}

void http2_streams_release(struct http2_streams *t)
{
	while (t->oldest)
		http2_streams_remove(t, t->oldest);
	free(t->buckets);
	free(t->ended);
	*t = (struct http2_streams){0};
}
