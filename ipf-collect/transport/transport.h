/* Effects of the way between client and server on the figures: buffering proxies, timers of TCP, connections not kept,
 * replicas with unequal shares. Each finding has its evidence, the affected share, possible causes and a remedy;
 * ipf-results(5) describes them as `transport`.
 *
 *     struct transport *t = transport_new();
 *     transport_begin(t, header, &schedule);       // each stream of records
 *     transport_add(t, &observation);              // every request, in the order in which they ended
 *     transport_client(t, client);                 // every client line
 *     json_t *findings = transport_findings(t);    // once, at the end
 *     transport_free(t);
 *
 * Only requests of measured stages count. Memory is bounded. Findings of several results streams are not merged: they
 * are computed again from all records together, or stand side by side.
 */
#ifndef COLLECT_TRANSPORT_H
#define COLLECT_TRANSPORT_H

#include "measure/observation.h"
#include "stream/schedule.h"

#include <jansson.h>

struct transport;

struct transport *transport_new(void); /* NULL: out of memory */
void transport_free(struct transport *t);

/* Begins a stream of records with this header and schedule, which must live until the next begin or the findings. */
void transport_begin(struct transport *t, const json_t *header, const struct schedule *schedule);
void transport_add(struct transport *t, const struct observation *o);
/* Takes a `client` line as ipf-fire wrote it. */
void transport_client(struct transport *t, struct slice client);

/* An array, empty if there is nothing to say. New. NULL: out of memory. */
json_t *transport_findings(struct transport *t);

#endif
