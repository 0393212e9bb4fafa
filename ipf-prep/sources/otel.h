/* Spans in both of their layouts, and the messages in their attributes, for from_otel.c.
 *
 *     struct otel_each each; struct otel_span span;
 *     if (otel_begin(&each, json)) while (otel_next(&each, &span)) …
 */
#ifndef PREP_OTEL_H
#define PREP_OTEL_H

#include "draft/draft.h"

struct otel_span {
	const struct jdoc *json;
	jdoc_id node;
	bool otlp;
};

struct otel_each {
	const struct jdoc *json;
	bool otlp;
	struct jdoc_each resources, scopes, spans;
};

/* false: there are no spans in it. */
bool otel_begin(struct otel_each *each, const struct jdoc *json);
bool otel_next(struct otel_each *each, struct otel_span *span);

/* An attribute's text (a number or a list as it stands); absent where it is not there. */
struct slice otel_text(const struct otel_span *span, struct draft *d, const char *key);
int64_t otel_number(const struct otel_span *span, struct draft *d, const char *key); /* IPF_ABSENT */
struct slice otel_id(const struct otel_span *span, struct draft *d);
struct slice otel_trace(const struct otel_span *span, struct draft *d);
bool otel_failed(const struct otel_span *span);
int otel_times(const struct otel_span *span, struct draft *d, int64_t *start_ns, int64_t *end_ns,
               struct ipf_error *err);

/* Adds to the last request what a text with messages in it holds: {"role", "content"} or {"role", "parts"}. Absent
 * texts add nothing. */
int otel_messages(struct draft *d, struct slice system, struct slice messages, struct ipf_error *err);
/* The texts of such messages. */
struct slice otel_messages_text(struct draft *d, struct slice messages);

#endif
