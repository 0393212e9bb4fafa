/* amd-smi, AMD's tool: one call of `amd-smi metric --json` for each sample, and before the first `amd-smi list --json`
 * and `amd-smi static --asic --json` for UUIDs and names.
 *
 * Names and units are those of amd-smi of ROCm 6.3 (amdsmi_cli/amdsmi_commands.py), whose output is a list of devices;
 * since ROCm 7 it is a map with the list as "gpu_data". A value is {"value": 512, "unit": "W"}, a bare number or "N/A".
 * The energy counter is in J, memory in MB of 2^20 bytes. "Since the driver was loaded" is all known of the counter's
 * zero.
 */
#ifndef COLLECT_AMD_SMI_H
#define COLLECT_AMD_SMI_H

#include "gpu/gpu_source.h"

/* Adds an output of any of the three commands. -1: it is not JSON, or lists no device. */
int amd_smi_parse(struct slice text, struct gpu_readings *readings, struct ipf_error *err);

#endif
