/* The devices of gpu.h as the exporters of their makers report them to Prometheus.
 *
 * Names, types, units and labels: dcgm-exporter 4.8.2 (etc/default-counters.csv, its template of lines, whose label is
 * `hostname` where versions before wrote `Hostname`), and ROCm's device-metrics-exporter of August 2026
 * (pkg/amdgpu/gpuagent/gpuagent_gpu_metrics.go). Each replica is a host of its own, sim-0, sim-1, ….
 */
#ifndef SIM_GPU_EXPORTERS_H
#define SIM_GPU_EXPORTERS_H

#include "buffer.h"
#include "gpu.h"

/* Where a device's energy counter begins: devices were on before the server was. */
#define GPU_ENERGY_BEGIN_J 1000000.0

void gpu_write_dcgm(struct gpus *gpus, int64_t now_ns, struct buffer *out);
void gpu_write_amd(struct gpus *gpus, int64_t now_ns, struct buffer *out);

#endif
