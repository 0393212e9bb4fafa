#include "outbox.h"

#include "array.h"

#include <stdlib.h>
#include <string.h>

void outbox_hold_at(struct outbox *o, uint64_t at, int64_t for_ns)
{
	if (!array_room(o->holds, o->hold_cap, o->hold_count + 1)) {
		o->bytes.failed = true;
		return;
	}
	o->holds[o->hold_count++] = (struct outbox_hold){.at = at, .for_ns = for_ns};
}

void outbox_hold(struct outbox *o, int64_t for_ns)
{
	outbox_hold_at(o, outbox_end(o), for_ns);
}

uint64_t outbox_end(const struct outbox *o)
{
	return o->dropped + o->bytes.len;
}

uint64_t outbox_here(const struct outbox *o)
{
	return o->dropped + o->sent;
}

struct slice outbox_ready(const struct outbox *o)
{
	uint64_t end = outbox_end(o);
	if (o->hold_first < o->hold_count && o->holds[o->hold_first].at < end)
		end = o->holds[o->hold_first].at;
	return (struct slice){o->bytes.data ? o->bytes.data + o->sent : "", (size_t)(end - outbox_here(o))};
}

int64_t outbox_advance(struct outbox *o, size_t len)
{
	int64_t wait_ns = 0;
	o->sent += len;
	while (o->hold_first < o->hold_count && o->holds[o->hold_first].at <= outbox_here(o))
		wait_ns += o->holds[o->hold_first++].for_ns;
	if (o->hold_first == o->hold_count)
		o->hold_first = o->hold_count = 0;
	if (o->sent == o->bytes.len) {
		o->dropped += o->sent;
		o->sent = 0;
		/* Thousands of idle connections shouldn't each keep the memory of one long answer. */
		if (o->bytes.cap > 65536)
			buffer_release(&o->bytes);
		buffer_clear(&o->bytes);
	} else if (o->sent > 65536 && o->sent > o->bytes.len / 2) {
		buffer_consume(&o->bytes, o->sent);
		o->dropped += o->sent;
		o->sent = 0;
	}
	return wait_ns;
}

bool outbox_empty(const struct outbox *o)
{
	return o->sent == o->bytes.len && o->hold_first == o->hold_count;
}

void outbox_release(struct outbox *o)
{
	buffer_release(&o->bytes);
	free(o->holds);
	o->holds = NULL;
	o->hold_count = o->hold_cap = o->hold_first = 0;
}
