/* Runs a program and returns its output: nvidia-smi, amd-smi.
 *
 *     static const char *const command[] = {"nvidia-smi", "--query-gpu=index,uuid", "--format=csv,noheader", NULL};
 *     if (tool_run(command, &limits, &out, &err) < 0) … err: "nvidia-smi: ended with status 9: NVIDIA-SMI has failed …"
 *
 * No shell: the program is found in PATH. It has /dev/null as input, no descriptors but its own three, the locale C and
 * a process group of its own. That group is killed when the program takes too long, prints too much or is no longer
 * wanted, and the program is waited for, so neither it nor its children stay behind.
 */
#ifndef COLLECT_TOOL_H
#define COLLECT_TOOL_H

#include "buffer.h"
#include "error.h"

#include <stdint.h>

struct tool_limits {
	int64_t time_ns; /* from its start to its end */
	size_t bytes;    /* its output's */
	int cancel;      /* a descriptor that becomes readable when the program is to be killed; -1: none */
};

/* Appends the program's standard output to `out`. -1: it could not be started, was killed or ended with a status other
 * than 0; the message then has the first line it printed on standard error or else on standard output. */
int tool_run(const char *const command[], const struct tool_limits *limits, struct buffer *out, struct ipf_error *err);

#endif
