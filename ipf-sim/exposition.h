/* Lines of the Prometheus text format, as several servers and exporters of the simulation need them.
 *
 *     exposition_family(&out, "vllm:num_preemptions_total", "Cumulative number of preemptions.", "counter");
 *     exposition_value(&out, "vllm:num_preemptions_total", "engine=\"0\"", 3);
 */
#ifndef SIM_EXPOSITION_H
#define SIM_EXPOSITION_H

#include "buffer.h"

/* `# HELP` and `# TYPE` of a metric. */
void exposition_family(struct buffer *out, const char *name, const char *help, const char *type);

/* A line: name, labels (without braces, "" for none), value. */
void exposition_value(struct buffer *out, const char *name, const char *labels, double value);

/* Metrics of one line each, with the same labels. */
struct exposition_plain {
	const char *type, *name, *help;
	double value;
};
void exposition_plain(struct buffer *out, const struct exposition_plain *metrics, size_t count, const char *labels);

/* A label's value between its quotes: backslash, quote and line feed are escaped. */
void exposition_label_value(struct buffer *out, const char *text);

#endif
