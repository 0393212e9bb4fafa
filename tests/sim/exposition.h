/* Lines of the Prometheus text format, as several servers and exporters of the simulation need them.
 *
 *     exposition_family(&out, "vllm:num_preemptions_total", "Cumulative number of preemptions.", "counter");
 *     buffer_format(&out, "vllm:num_preemptions_total{%s} %.17g\n", labels, value);
 */
#ifndef SIM_EXPOSITION_H
#define SIM_EXPOSITION_H

#include "buffer.h"

/* `# HELP` and `# TYPE` of a metric. */
void exposition_family(struct buffer *out, const char *name, const char *help, const char *type);

/* A label's value between its quotes: backslash, quote and line feed are escaped. */
void exposition_label_value(struct buffer *out, const char *text);

#endif
