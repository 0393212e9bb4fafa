/* One request as a span of OpenTelemetry, with the names of the semantic conventions for generative AI, version 1.41
 * (https://opentelemetry.io/docs/specs/semconv/gen-ai/); ipf-metrics(5) lists everything a span has.
 *
 * A span lasts from the request's start to its end. No text of a prompt or an answer is in it, and no text a server
 * sent as its error, because such a text can repeat them.
 */
#ifndef COLLECT_OTLP_SPAN_H
#define COLLECT_OTLP_SPAN_H

#include "measure/observation.h"
#include "publish/otlp_run.h"

/* Appends the span to a body between otlp_run_begin and otlp_run_end. False: the request was never started, so it has
 * no span. */
bool otlp_span_write(const struct otlp_run *run, const struct observation *seen, struct buffer *out);

#endif
