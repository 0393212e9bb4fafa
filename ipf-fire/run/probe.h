/* --probe: one request, and what goes out and comes back on standard error. What it means is ipf-collect --explain's
 * matter. */
#ifndef IPF_PROBE_H
#define IPF_PROBE_H

#include "run/generated_input.h"
#include "stream/record.h"
#include "body/body_renderer.h"
#include "endpoint/endpoint.h"

#include <stdio.h>

/* A schedule of the trace's first request. */
int probe_schedule(struct generated_input *made, struct ipf_error *err);

/* The first request of the trace, as it will be sent. Secrets are left out. */
int probe_show_request(FILE *to, const struct endpoint *target, struct renderer *renderer, const char *trace,
                       struct ipf_error *err);
/* What came of it; `messages`: of gRPC, field by field. */
void probe_show_response(FILE *to, const struct record *record, bool messages);

#endif
