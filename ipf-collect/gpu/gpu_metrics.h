/* The series of the exporters of NVIDIA and AMD about accelerators.
 *
 *     struct gpu_metrics metrics;
 *     gpu_metrics_begin(&metrics, &gpu_metrics_dcgm);
 *     gpu_metrics_add(&metrics, series);                  // each series of the exposition
 *     gpu_metrics_end(&metrics, &readings);
 *
 * dcgm-exporter: names, units and labels of version 4.5.3 (etc/default-counters.csv and the DCGM fields that are off
 * there by default), which has "hostname" since May 2026 and "Hostname" before. Instances of a divided device (label
 * GPU_I_ID) count as their device: their memory is added up, of the rest, which is of the device, the largest counts.
 * DCGM's blank values are unknown.
 *
 * AMD's device-metrics-exporter: version 1.5.1 (docs/configuration/metricslist.md), also with the prefix "amd_". Only
 * partition 0 of a partitioned device counts, which has the figures of the whole.
 */
#ifndef COLLECT_GPU_METRICS_H
#define COLLECT_GPU_METRICS_H

#include "gpu/gpu_source.h"
#include "scrape/exposition.h"

struct gpu_metrics_family; /* the names of an exporter */
extern const struct gpu_metrics_family gpu_metrics_dcgm, gpu_metrics_amd;

enum { GPU_METRICS = 24 };

struct gpu_metrics {
	const struct gpu_metrics_family *family;
	struct gpu_readings devices;                  /* names so far */
	double values[GPU_DEVICES_MOST][GPU_METRICS]; /* by the family's names; NAN: not seen */
};

void gpu_metrics_begin(struct gpu_metrics *m, const struct gpu_metrics_family *family);
void gpu_metrics_add(struct gpu_metrics *m, const struct exposition_series *series);
/* Devices of which nothing but a name is known are left out. */
void gpu_metrics_end(struct gpu_metrics *m, struct gpu_readings *readings);

#endif
