/* Spans of OpenTelemetry in both of their JSON formats, and the messages in their attributes; for from_otel.c.
 *
 *     struct otel_each each;
 *     struct otel_span span;
 *     if (otel_begin(&each, json))
 *         while (otel_next(&each, &span))
 *             … otel_text(&span, d, "gen_ai.request.model") …
 */
#ifndef PREP_OTEL_SPANS_H
#define PREP_OTEL_SPANS_H

#include "draft/draft.h"

struct otel_span {
	const struct jdoc *json;
	jdoc_id node;
	bool otlp; /* resourceSpans: attributes are a list, times are nanoseconds */
};

struct otel_each {
	const struct jdoc *json;
	bool otlp;
	struct jdoc_each resources, scopes, spans;
};

/* false: the document has neither spans nor resourceSpans. */
bool otel_begin(struct otel_each *each, const struct jdoc *json);
/* false: there are no more. */
bool otel_next(struct otel_each *each, struct otel_span *span);

/* The text of an attribute; of a number or a list, its JSON. Absent if there is no such attribute. */
struct slice otel_text(const struct otel_span *span, struct draft *d, const char *key);
/* The value of an attribute that is a number of 0 or more; IPF_ABSENT if it is not. */
int64_t otel_number(const struct otel_span *span, struct draft *d, const char *key);
/* The ids of the span and of its trace. */
struct slice otel_id(const struct otel_span *span, struct draft *d);
struct slice otel_trace(const struct otel_span *span, struct draft *d);
/* Is its status ERROR? */
bool otel_failed(const struct otel_span *span);
/* When it began, which is required, and when it ended (default: when it began), in nanoseconds. 0 or -1. */
int otel_times(const struct otel_span *span, int64_t *start_ns, int64_t *end_ns, struct ipf_error *err);

/* Adds messages to the last request, from the texts of two attributes: system instructions (a text, or JSON) and a
 * JSON list of messages, {"role", "content"} or {"role", "parts"}. An absent text adds nothing. 0 or -1. */
int otel_messages(struct draft *d, struct slice system, struct slice messages, struct ipf_error *err);
/* The texts of a JSON list of messages, joined. Absent if there are none. */
struct slice otel_messages_text(struct draft *d, struct slice messages);

#endif
