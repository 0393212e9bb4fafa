/* The parts of OpenTelemetry's files: spans, the events in them, and log records, each with attributes; for
 * from_otel.c. otel_messages.h reads the messages in them.
 *
 *     struct otel_each each;
 *     struct otel_item item;
 *     if (otel_begin(&each, json))
 *         while (otel_next(&each, &item))
 *             … otel_text(&item, d, "gen_ai.request.model") …
 */
#ifndef PREP_OTEL_SPANS_H
#define PREP_OTEL_SPANS_H

#include "draft/draft.h"

struct otel_item {
	const struct jdoc *json;
	jdoc_id node;
	enum otel_kind { OTEL_SPAN, OTEL_EVENT, OTEL_LOG } kind;
	bool otlp; /* attributes are a list of typed values, times are nanoseconds; else a session file's */
};

struct otel_each {
	const struct jdoc *json;
	bool otlp, logs;
	struct jdoc_each resources, scopes, items;
};

/* false: the document has neither spans nor anything of OTLP. */
bool otel_begin(struct otel_each *each, const struct jdoc *json);
/* The next span, or log record after all spans. false: there are no more. */
bool otel_next(struct otel_each *each, struct otel_item *item);
/* The events of a span; each is an item of kind OTEL_EVENT. */
struct jdoc_each otel_events(const struct otel_item *span);

/* The text of an attribute; of any other value, its JSON, without the types of OTLP. Absent if there is no such
 * attribute. */
struct slice otel_text(const struct otel_item *item, struct draft *d, const char *key);
/* The number of 0 or more in an attribute; IPF_ABSENT if it is not. */
int64_t otel_number(const struct otel_item *item, struct draft *d, const char *key);
/* The name of an event or log record. */
struct slice otel_name(const struct otel_item *item, struct draft *d);
/* The content of an event or log record: the body of a log record, or the attributes of an event, as JSON. Absent if
 * there is nothing. */
struct slice otel_body(const struct otel_item *item, struct draft *d);
/* The ids of the span, or of a log record's, and of its trace. */
struct slice otel_id(const struct otel_item *item, struct draft *d);
struct slice otel_trace(const struct otel_item *item, struct draft *d);
/* Is the span's status ERROR? */
bool otel_failed(const struct otel_item *span);
/* When a span began, which is required, and when it ended (default: when it began); of an event (default: 0)
 * or log record, twice its time. In nanoseconds. 0 or -1. */
int otel_times(const struct otel_item *item, int64_t *start_ns, int64_t *end_ns, struct ipf_error *err);

#endif
