/* Reads the formats in which servers expose metrics: Prometheus text 0.0.4 and OpenMetrics 1.0, also with the quoted
 * UTF-8 names of Prometheus 3.
 *
 *     # TYPE vllm:num_requests_running gauge
 *     vllm:num_requests_running{engine="0",model_name="m"} 3
 *     {"http.requests","code"="200"} 17 1700000000 # {trace_id="x"} 0.5
 *
 *     struct exposition *e = exposition_new(series, data);
 *     exposition_feed(e, bytes, len);                 // as they come, in parts of any size
 *     if (exposition_finish(e, &err) < 0) …           // the text holds no metrics
 *     exposition_free(e);
 *
 * It is strict about a line and tolerant about the text: a malformed line is skipped and counted, the others count.
 * HELP, UNIT, timestamps and exemplars are checked as far as needed to find the value, and ignored. Memory is bounded
 * by EXPOSITION_LINE_MAX, whatever comes.
 */
#ifndef COLLECT_EXPOSITION_H
#define COLLECT_EXPOSITION_H

#include "buffer.h"
#include "error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EXPOSITION_LINE_MAX   ((size_t)64 << 10)
#define EXPOSITION_LABELS_MAX 64

enum exposition_type {
	EXPOSITION_UNTYPED,
	EXPOSITION_GAUGE, /* and stateset, info, gaugehistogram: current values */
	EXPOSITION_COUNTER,
	EXPOSITION_HISTOGRAM,
	EXPOSITION_SUMMARY,
};

struct exposition_label {
	struct slice name, value; /* escapes are resolved */
};

/* One line with a value. Valid for the length of the call. */
struct exposition_series {
	struct slice name;
	const struct exposition_label *labels;
	size_t labels_count;
	double value;              /* may be NaN or infinite */
	enum exposition_type type; /* the line's family's */
};

typedef void exposition_handler(void *data, const struct exposition_series *series);

struct exposition;

/* NULL: no memory. */
struct exposition *exposition_new(exposition_handler *handler, void *data);
void exposition_free(struct exposition *exposition);
void exposition_feed(struct exposition *exposition, const char *bytes, size_t len);
/* At the end of the text. -1: IPF_INPUT, there were lines but none of them holds a metric (the text names the fault of
 * the first one); or out of memory. A last line without a newline counts. */
int exposition_finish(struct exposition *exposition, struct ipf_error *err);
/* Lines skipped because they break the grammar or follow "# EOF", so far. */
int64_t exposition_bad_lines(const struct exposition *exposition);

/* The value of a label; absent if the series does not have it. */
struct slice exposition_label(const struct exposition_series *series, const char *name);
/* A number as the formats write it: decimal, NaN, Inf, +Inf, -Inf. False: it is none. */
bool exposition_number(struct slice text, double *value);

#endif
