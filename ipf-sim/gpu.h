/* The accelerators under the engine: a device meter's exact readings, on a clock the caller holds.
 *
 * Each replica has `count` devices, which all do the same (tensor parallelism). A device draws busy_w while its replica
 * computes a step and idle_w between steps, so from the beginning to any moment
 *
 *     energy = idle_w × time + (busy_w - idle_w) × time within steps        (joules)
 *
 * to the nanosecond: a test knows the energy of a run from the steps alone. Utilization, power and the other rates are
 * means over the last whole GPU_WINDOW_NS, as a driver samples them; only the energy counter is exact at any moment. A
 * step computes its prompts first: that part keeps the tensor cores busy, the rest the memory.
 *
 *     gpus_step(gpus, &step, 1);                    // the engine began a step, on one replica
 *     struct gpu_reading r = gpus_read(gpus, 0, now);
 */
#ifndef SIM_GPU_H
#define SIM_GPU_H

#include "batching/batching.h"

#define GPU_WINDOW_NS INT64_C(100000000)

struct gpu_options {
	int64_t count; /* each replica's; 0: there are none */
	double idle_w, busy_w;
};

struct gpu_reading {
	double energy_j;      /* since the beginning */
	double power_w;       /* mean of the last whole window */
	double busy, prefill; /* shares of that window: within a step; within the first part of one, of prompts */
	bool computing;       /* at this moment */
};

/* "IDLE:BUSY" in watts, into the options at `gpu`. */
int gpu_parse_power(const char *text, void *gpu, struct ipf_error *err);

struct gpus;

struct gpus *gpus_new(const struct gpu_options *options, int64_t replicas, int64_t begin_ns); /* NULL: no memory */
void gpus_free(struct gpus *gpus);
int64_t gpus_replicas(const struct gpus *gpus);
const struct gpu_options *gpus_options(const struct gpus *gpus);

/* The replicas from 0 to `replicas` - 1 began this step. Steps come in order and do not overlap. */
void gpus_step(struct gpus *gpus, const struct batching_step *step, int64_t replicas);

/* A device of this replica at now_ns, which does not go back. */
struct gpu_reading gpus_read(struct gpus *gpus, int64_t replica, int64_t now_ns);

#endif
