/* How far apart the clocks of the clients are whose records are merged, for the trailer and the verdict of the results.
 *
 *     struct client_clocks clocks = {0};
 *     if (client_clocks_begin(&clocks, &inputs, &err) < 0) …
 *     client_clocks_line(&clocks, input, line, &err);           // each client line of the records
 *     json_t *found = client_clocks_end(&clocks, &inputs);      // "clocks" of ipf-results(5)
 *     client_clocks_release(&clocks);
 *
 * With one input, nothing is done: there is nothing to compare. See series/clock_offsets.h.
 */
#ifndef COLLECT_CLIENT_CLOCKS_H
#define COLLECT_CLIENT_CLOCKS_H

#include "record_inputs.h"
#include "series/clock_offsets.h"

struct client_clocks {
	struct clock_offsets *offsets; /* NULL: one client, or more than are compared */
	struct jdoc doc;
};

/* -1: out of memory. */
int client_clocks_begin(struct client_clocks *c, const struct record_inputs *inputs, struct ipf_error *err);
/* Takes a line of the input of this number. -1: IPF_INPUT, or out of memory. */
int client_clocks_line(struct client_clocks *c, size_t input, struct slice line, struct ipf_error *err);
/* After the last line. New; NULL: there are no two clients to compare, or out of memory. */
json_t *client_clocks_end(struct client_clocks *c, const struct record_inputs *inputs);
void client_clocks_release(struct client_clocks *c);

#endif
