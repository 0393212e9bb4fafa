#include "sources/otel_spans.h"

#include "absent.h"
#include "cli/times.h"
#include "clock.h"
#include "json/jout.h"
#include "sources/record_fields.h"

#include <string.h>

/* ---- the spans and log records of a document ---- */

/* The members leading to them in OTLP, by each->logs. */
static const struct {
	const char *resources, *scopes, *items;
} levels[] = {{"resourceSpans", "scopeSpans", "spans"}, {"resourceLogs", "scopeLogs", "logRecords"}};

bool otel_begin(struct otel_each *each, const struct jdoc *json)
{
	jdoc_id spans = jdoc_get(json, JDOC_ROOT, "spans"), resources = jdoc_get(json, JDOC_ROOT, "resourceSpans");
	bool otlp = resources != JDOC_NONE || jdoc_get(json, JDOC_ROOT, "resourceLogs") != JDOC_NONE ||
	            jdoc_get(json, JDOC_ROOT, "resourceMetrics") != JDOC_NONE;
	*each = (struct otel_each){.json = json, .otlp = otlp};
	each->resources = jdoc_each(json, resources);
	each->scopes = jdoc_each(json, JDOC_NONE);
	each->items = jdoc_each(json, otlp ? JDOC_NONE : spans);
	return otlp || jdoc_type_of(json, spans) == JDOC_LIST;
}

bool otel_next(struct otel_each *each, struct otel_item *item)
{
	const struct jdoc *j = each->json;
	while (!jdoc_step(&each->items)) {
		if (jdoc_step(&each->scopes)) {
			each->items = jdoc_each(j, jdoc_get(j, each->scopes.value, levels[each->logs].items));
		} else if (jdoc_step(&each->resources)) {
			each->scopes = jdoc_each(j, jdoc_get(j, each->resources.value, levels[each->logs].scopes));
		} else if (each->otlp && !each->logs) {
			each->logs = true;
			each->resources = jdoc_each(j, jdoc_get(j, JDOC_ROOT, levels[true].resources));
		} else {
			return false;
		}
	}
	*item = (struct otel_item){j, each->items.value, each->logs ? OTEL_LOG : OTEL_SPAN, each->otlp};
	return true;
}

struct jdoc_each otel_events(const struct otel_item *span)
{
	return jdoc_each(span->json, jdoc_get(span->json, span->node, "events"));
}

/* ---- values ---- */

/* The value of OTLP's AnyValue, which names its type: {"stringValue": "x"}. */
static jdoc_id any_value(const struct jdoc *j, jdoc_id any)
{
	struct jdoc_each e = jdoc_each(j, any);
	return e.map && jdoc_step(&e) ? e.value : JDOC_NONE;
}

static bool any_is(const struct jdoc *j, jdoc_id value, const char *type)
{
	return jdoc_text_is(j, jdoc_key_of(j, value), type);
}

static bool any_is_list(const struct jdoc *j, jdoc_id value)
{
	return any_is(j, value, "arrayValue") || any_is(j, value, "kvlistValue");
}

/* Is it an integer in quotes? */
static bool is_integer(struct slice quoted)
{
	size_t at = quoted.len > 2 && quoted.data[1] == '-' ? 2 : 1, first = at;
	while (at + 1 < quoted.len && quoted.data[at] >= '0' && quoted.data[at] <= '9')
		at++;
	return at > first && at + 1 == quoted.len && (quoted.data[first] != '0' || at == first + 1);
}

static void write_any(const struct jdoc *j, jdoc_id any, struct jout *w);

/* Writes a list of {"key", "value"} as an object. */
static void write_map(const struct jdoc *j, jdoc_id list, struct jout *w)
{
	jout_begin_map(w);
	for (struct jdoc_each e = jdoc_each(j, list); jdoc_step(&e);) {
		struct slice key = jdoc_raw(j, jdoc_get(j, e.value, "key"));
		if (!key.data || jdoc_type_of(j, jdoc_get(j, e.value, "key")) != JDOC_TEXT)
			continue;
		jout_value(w, key);
		buffer_byte(w->out, ':');
		w->comma = false;
		write_any(j, jdoc_get(j, e.value, "value"), w);
	}
	jout_end_map(w);
}

/* Writes an AnyValue as the JSON it stands for. */
static void write_any(const struct jdoc *j, jdoc_id any, struct jout *w)
{
	jdoc_id value = any_value(j, any), inner = jdoc_get(j, value, "values");
	struct slice raw = jdoc_raw(j, value);
	if (value == JDOC_NONE) {
		jout_null(w);
	} else if (any_is(j, value, "arrayValue")) {
		jout_begin_list(w);
		for (struct jdoc_each e = jdoc_each(j, inner); jdoc_step(&e);)
			write_any(j, e.value, w);
		jout_end_list(w);
	} else if (any_is(j, value, "kvlistValue")) {
		write_map(j, inner, w);
	} else if (any_is(j, value, "intValue") && jdoc_type_of(j, value) == JDOC_TEXT && is_integer(raw)) {
		jout_value(w, (struct slice){raw.data + 1, raw.len - 2}); /* protocol buffers' JSON has it as a text */
	} else {
		jout_value(w, raw);
	}
}

static struct slice written(struct draft *d, const struct jdoc *j, jdoc_id node,
                            void (*write)(const struct jdoc *j, jdoc_id node, struct jout *w))
{
	struct buffer out = {0};
	struct jout w = {.out = &out};
	write(j, node, &w);
	return draft_take_buffer(d, &out);
}

/* The text of a value; of another kind, its JSON. */
static struct slice text_of(const struct jdoc *j, struct draft *d, jdoc_id node)
{
	if (jdoc_is_null(j, node))
		return (struct slice){0};
	return jdoc_type_of(j, node) == JDOC_TEXT ? draft_text(d, j, node) : jdoc_raw(j, node);
}

static struct slice any_text(const struct jdoc *j, struct draft *d, jdoc_id any)
{
	jdoc_id value = any_value(j, any);
	return any_is_list(j, value) ? written(d, j, any, write_any) : text_of(j, d, value);
}

struct slice otel_text(const struct otel_item *item, struct draft *d, const char *key)
{
	const struct jdoc *j = item->json;
	jdoc_id attributes = jdoc_get(j, item->node, "attributes");
	if (!item->otlp)
		return text_of(j, d, jdoc_get(j, attributes, key));
	for (struct jdoc_each e = jdoc_each(j, attributes); jdoc_step(&e);)
		if (jdoc_text_is(j, jdoc_get(j, e.value, "key"), key))
			return any_text(j, d, jdoc_get(j, e.value, "value"));
	return (struct slice){0};
}

int64_t otel_number(const struct otel_item *item, struct draft *d, const char *key)
{
	int64_t value;
	struct slice text = otel_text(item, d, key);
	return text.data && time_from_number(text, 1, &value) == 0 && value >= 0 ? value : IPF_ABSENT;
}

/* ---- the fields of an item ---- */

struct slice otel_name(const struct otel_item *item, struct draft *d)
{
	jdoc_id name = jdoc_get(item->json, item->node, item->kind == OTEL_LOG ? "eventName" : "name");
	if (item->kind == OTEL_LOG && jdoc_text_empty(item->json, name))
		return otel_text(item, d, "event.name"); /* before OTLP 1.5 */
	return draft_text(d, item->json, name);
}

struct slice otel_body(const struct otel_item *item, struct draft *d)
{
	const struct jdoc *j = item->json;
	jdoc_id attributes = jdoc_get(j, item->node, "attributes");
	if (item->kind == OTEL_LOG)
		return any_text(j, d, jdoc_get(j, item->node, "body"));
	struct slice content = otel_text(item, d, "gen_ai.event.content"); /* in libraries of Microsoft */
	return content.data ? content : item->otlp ? written(d, j, attributes, write_map) : jdoc_raw(j, attributes);
}

struct slice otel_id(const struct otel_item *item, struct draft *d)
{
	return text_of(item->json, d, jdoc_get(item->json, item->node, item->otlp ? "spanId" : "span_id"));
}

struct slice otel_trace(const struct otel_item *item, struct draft *d)
{
	return text_of(item->json, d, jdoc_get(item->json, item->node, item->otlp ? "traceId" : "trace_id"));
}

bool otel_failed(const struct otel_item *span)
{
	jdoc_id code = jdoc_get(span->json, jdoc_get(span->json, span->node, "status"), "code");
	int64_t number;
	return jdoc_text_is(span->json, code, "STATUS_CODE_ERROR") || jdoc_text_is(span->json, code, "ERROR") ||
	       (jdoc_to_int(span->json, code, &number) && number == 2);
}

/* An event has a time; a log record may only have that when it was seen. */
static int event_time(const struct otel_item *item, int64_t *at_ns, struct ipf_error *err)
{
	int got = field_time(item->json, item->node, "timeUnixNano", 1, at_ns, err);
	if (item->kind == OTEL_LOG && (got == 0 || (got > 0 && *at_ns == 0)))
		return need_time(item->json, item->node, "observedTimeUnixNano", 1, at_ns, err);
	if (got == 0)
		*at_ns = 0;
	return got < 0 ? -1 : 0;
}

int otel_times(const struct otel_item *item, int64_t *start_ns, int64_t *end_ns, struct ipf_error *err)
{
	const char *start = item->otlp ? "startTimeUnixNano" : "start_time";
	const char *end = item->otlp ? "endTimeUnixNano" : "end_time";
	int64_t unit_ns = item->otlp ? 1 : NS_PER_S;
	if (item->kind != OTEL_SPAN) {
		int status = event_time(item, start_ns, err);
		*end_ns = *start_ns;
		return status;
	}
	if (need_time(item->json, item->node, start, unit_ns, start_ns, err) < 0)
		return -1;
	int got = field_time(item->json, item->node, end, unit_ns, end_ns, err);
	if (got == 0)
		*end_ns = *start_ns;
	return got < 0 ? -1 : 0;
}
