#include "results/event_times.h"

#include "array.h"

#include <stdlib.h>
#include <string.h>

static bool add(struct event_times *times, double ns)
{
	if (!array_room(times->ns, times->cap, times->count + 1))
		return false;
	times->ns[times->count++] = ns;
	return true;
}

bool event_times_parse(struct event_times *times, struct slice list)
{
	times->count = 0;
	if (!list.data)
		return false;
	const char *at = list.data, *end = at + list.len;
	while (at < end) {
		at++; /* the bracket, then each comma */
		char *after;
		double ns = strtod(at, &after);
		if (after > at && !add(times, ns))
			return false;
		const char *comma = memchr(at, ',', (size_t)(end - at));
		at = comma ? comma : end;
	}
	return true;
}

void event_times_release(struct event_times *times)
{
	free(times->ns);
	*times = (struct event_times){0};
}
