/* The times of the content events of one request, as they come: its gaps, and its row's list of events.
 *
 *     struct event_list events = {0};
 *     event_list_begin(&events);
 *     for each event: event_list_add(&events, in, stage, ns);
 *     event_list_put(&events, &row);                 // events, event_ns, ttft, ttst, e2e, itl; row.start_ns is known
 *     event_list_release(&events);
 */
#ifndef IPF_EVENT_LIST_H
#define IPF_EVENT_LIST_H

#include "imports/import.h"

struct event_list {
	struct buffer list;
	int64_t count, first_ns, second_ns, last_ns, most_ns;
};

void event_list_begin(struct event_list *events);
void event_list_add(struct event_list *events, struct import *in, int stage, int64_t ns);
void event_list_put(struct event_list *events, struct result *row); /* the row borrows the list */
void event_list_release(struct event_list *events);

#endif
