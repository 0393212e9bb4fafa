#include "results/client_delays.h"

#include "absent.h"
#include "array.h"
#include "clock.h"

#include <stdlib.h>

/* A sample counts for this many seconds before it at most: a client stopped takes none. */
#define SECONDS_MOST 16
#define TIME_MOST    (INT64_C(1) << 58)

static int64_t second_of(int64_t t_ns)
{
	return t_ns >= 0 ? t_ns / NS_PER_S : -((-t_ns + NS_PER_S - 1) / NS_PER_S);
}

static void add(struct client_delays *d, int64_t second, int64_t longest_ns)
{
	if (!array_room(d->list, d->cap, d->count + 1)) {
		d->failed = true;
		return;
	}
	d->list[d->count++] = (struct client_delay){second, longest_ns};
}

static int64_t max_of(const struct jdoc *doc, jdoc_id node, const char *key)
{
	int64_t most;
	bool found = jdoc_to_int(doc, jdoc_get(doc, jdoc_get(doc, node, key), "max"), &most);
	return found && most > 0 && most < TIME_MOST ? most : 0;
}

void client_delays_read(struct client_delays *d, const struct jdoc *doc, jdoc_id node)
{
	int64_t t_ns, longest_ns = max_of(doc, node, "delay_ns"), loop_ns = max_of(doc, node, "loop_lag_ns");
	/* without the kernel's timestamps, the thread's wake-up delay is unknown: twice its lateness then */
	loop_ns = longest_ns ? loop_ns : 2 * loop_ns;
	longest_ns = loop_ns > longest_ns ? loop_ns : longest_ns;
	if (!jdoc_to_int(doc, jdoc_get(doc, node, "t_ns"), &t_ns) || t_ns > TIME_MOST || t_ns < -TIME_MOST || !longest_ns)
		return;
	int64_t to = second_of(t_ns), from = second_of(d->last_ns < t_ns ? d->last_ns : t_ns - NS_PER_S);
	from = from < to - SECONDS_MOST ? to - SECONDS_MOST : from;
	/* bytes received at the end of a second may have been read in the next one */
	for (int64_t second = from - 1; second <= to; second++)
		add(d, second, longest_ns);
	d->last_ns = t_ns;
	d->longest_ns = longest_ns > d->longest_ns ? longest_ns : d->longest_ns;
}

static int compare(const void *a, const void *b)
{
	const struct client_delay *x = a, *y = b;
	return (x->second > y->second) - (x->second < y->second);
}

void client_delays_prepare(struct client_delays *d)
{
	size_t count = 0;
	if (d->count > 1)
		qsort(d->list, d->count, sizeof *d->list, compare);
	for (size_t i = 0; i < d->count; i++) {
		struct client_delay *last = count ? &d->list[count - 1] : NULL;
		if (!last || last->second != d->list[i].second)
			d->list[count++] = d->list[i];
		else if (d->list[i].longest_ns > last->longest_ns)
			last->longest_ns = d->list[i].longest_ns;
	}
	d->count = count;
}

int64_t client_delays_longest(const struct client_delays *d)
{
	if (!d->longest_ns)
		return IPF_ABSENT;
	return d->longest_ns > CLIENT_DELAY_LEAST_NS ? d->longest_ns : CLIENT_DELAY_LEAST_NS;
}

int64_t client_delays_at(const struct client_delays *d, int64_t t_ns)
{
	int64_t second = second_of(t_ns);
	size_t low = 0, high = d->count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (d->list[middle].second < second)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == d->count || d->list[low].second != second)
		return client_delays_longest(d);
	int64_t longest_ns = d->list[low].longest_ns;
	return longest_ns > CLIENT_DELAY_LEAST_NS ? longest_ns : CLIENT_DELAY_LEAST_NS;
}

void client_delays_release(struct client_delays *d)
{
	free(d->list);
	*d = (struct client_delays){0};
}
