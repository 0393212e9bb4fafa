/* Shared by the spans of one input: the begin of its run and the name for its ids, the names of its stages, the
 * addresses of its targets, and OpenTelemetry's name for its API.
 *
 *     struct otlp_run *run;
 *     struct otlp_body body = {0};
 *     if (otlp_run_new(&run, header, &schedule, api, &err) < 0) …
 *     otlp_run_begin(run, &body);                       // what precedes the spans
 *     otlp_span_write(run, &observation, &body.bytes);  // any number of times
 *     otlp_run_end(&body);                              // body.bytes is an ExportTraceServiceRequest of OTLP 1.9
 *     otlp_run_free(run);
 */
#ifndef COLLECT_OTLP_RUN_H
#define COLLECT_OTLP_RUN_H

#include "api/api.h"
#include "stream/schedule.h"

/* The field of a ScopeSpans message containing a span. */
#define OTLP_SCOPE_SPAN 2

struct otlp_target {
	char *address;
	int64_t port; /* IPF_ABSENT: a Unix socket */
};

struct otlp_run {
	char id[33];         /* no other run's */
	int64_t t0_unix_ns;  /* when the run began, since the epoch */
	struct buffer about; /* opentelemetry.proto.resource.v1.Resource */
	const struct schedule *schedule;
	struct otlp_target *targets;
	size_t targets_count;
	const char *provider, *operation; /* gen_ai.provider.name, gen_ai.operation.name */
};

struct otlp_body {
	struct buffer bytes;
	size_t open[2]; /* incomplete messages */
};

/* `header`: of the records. `schedule` and `api` must outlive the run. -1: out of memory; IPF_INPUT if the header does
 * not say when the run began. */
int otlp_run_new(struct otlp_run **run, const json_t *header, const struct schedule *schedule, const struct api *api,
                 struct ipf_error *err);
void otlp_run_free(struct otlp_run *run); /* NULL is fine */

/* `body` is empty; its memory is reused. */
void otlp_run_begin(const struct otlp_run *run, struct otlp_body *body);
void otlp_run_end(struct otlp_body *body);

#endif
