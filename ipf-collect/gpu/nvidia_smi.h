/* nvidia-smi, NVIDIA's tool: one call for each sample.
 *
 * Names and units are those of `nvidia-smi --help-query-gpu` (driver 535 to 610): percent, MiB, W, MHz, degrees
 * Celsius. The tool prints no energy counter. It writes "[N/A]", "[Not Supported]", "[Unknown Error]", "[GPU is lost]"
 * or the like for unknown values.
 */
#ifndef COLLECT_NVIDIA_SMI_H
#define COLLECT_NVIDIA_SMI_H

#include "gpu/gpu_source.h"

/* Reads its lines. -1: none of them was one. 0 with an error in err: some were not, or a device is lost. */
int nvidia_smi_parse(struct slice text, struct gpu_readings *readings, struct ipf_error *err);

#endif
