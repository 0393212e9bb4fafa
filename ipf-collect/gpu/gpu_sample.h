/* The state of an accelerator at one moment: the lines {"sample":"gpu",…} of the results, see ipf-results(5).
 *
 *     struct gpu_sample sample;
 *     gpu_sample_init(&sample);                       // everything unknown
 *     sample.power_w = 512.3;
 *     gpu_sample_write(&sample, &line);               // {"sample":"gpu","t_ns":…,"power_w":512.3}
 *
 * A device is identified by its source, host and device together.
 */
#ifndef COLLECT_GPU_SAMPLE_H
#define COLLECT_GPU_SAMPLE_H

#include "json/jout.h"

#include <stdbool.h>
#include <stdint.h>

/* Unknown are IPF_ABSENT, NAN and "". Longer texts are cut. */
struct gpu_sample {
	int64_t t_ns;                         /* the run's */
	char source[16];                      /* "nvml" */
	char host[128];                       /* the device's, as far as is known */
	char device[96];                      /* the device's UUID if it has one */
	char model[96];                       /* "NVIDIA H200" */
	int64_t index;                        /* on its host, from 0 */
	bool mig;                             /* divided into instances: the figures are those of the whole device */
	double utilization, memory_bandwidth; /* 0 … 1: share of the time in which it computed, and used its memory */
	int64_t memory_used_bytes, memory_total_bytes;
	double power_w;
	double energy_j; /* the device's counter as read; its zero means nothing */
	int64_t sm_clock_hz, memory_clock_hz;
	double temperature_c;
};

void gpu_sample_init(struct gpu_sample *sample);
/* Copies a text into one of the arrays, cut between characters. */
void gpu_text_set(char *to, size_t size, struct slice text);
/* Appends the line, without a newline. */
void gpu_sample_write(const struct gpu_sample *sample, struct buffer *to);

#endif
