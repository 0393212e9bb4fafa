/* --probe: sends one request and shows the bytes sent and received on standard error. ipf-collect --explain shows their
 * meaning.
 */
#ifndef IPF_PROBE_H
#define IPF_PROBE_H

#include "body/body_renderer.h"
#include "endpoint/endpoint.h"
#include "run/generated_input.h"
#include "stream/record.h"

#include <stdio.h>

/* A schedule of the trace's first request. */
int probe_schedule(struct generated_input *schedule, struct ipf_error *err);

struct probe_options {
	const struct endpoint *endpoint;
	struct body_renderer *renderer;
	struct body_renderer *shown; /* renders the body without secrets (redact.h) */
	bool redacted;               /* it differs from `renderer` */
};

/* Shows the first request of the trace as it will be sent, without secrets. */
int probe_show_request(FILE *to, const struct probe_options *options, const char *trace, struct ipf_error *err);
/* Shows its outcome. `messages`: the body is gRPC messages, which are shown field by field. */
void probe_show_response(FILE *to, const struct record *record, bool messages);

#endif
