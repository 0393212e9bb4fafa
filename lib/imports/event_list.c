#include "imports/event_list.h"

void event_list_begin(struct event_list *events)
{
	buffer_clear(&events->list);
	*events = (struct event_list){.list = events->list};
}

void event_list_add(struct event_list *events, struct import *in, int stage, int64_t ns)
{
	if (events->count == 0) {
		events->first_ns = ns;
	} else {
		if (events->count == 1)
			events->second_ns = ns;
		import_gap(in, stage, ns - events->last_ns);
		if (ns - events->last_ns > events->most_ns)
			events->most_ns = ns - events->last_ns;
	}
	buffer_format(&events->list, "%c%lld", events->count ? ',' : '[', (long long)ns);
	events->last_ns = ns;
	events->count++;
}

void event_list_put(struct event_list *events, struct result *row)
{
	if (events->count == 0)
		return;
	buffer_byte(&events->list, ']');
	row->events = events->count;
	row->event_ns = buffer_all(&events->list);
	row->ttft_ns = events->first_ns - row->start_ns;
	if (events->count > 1)
		row->ttst_ns = events->second_ns - events->first_ns;
	row->e2e_ns = events->last_ns - row->start_ns;
	import_derive(row, events->count - 1, (double)(events->last_ns - events->first_ns), events->most_ns);
}

void event_list_release(struct event_list *events)
{
	buffer_release(&events->list);
}
