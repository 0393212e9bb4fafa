/* A source of samples of accelerators: nvml, nvidia-smi, amd-smi, dcgm:URL, amd:URL. One file for each;
 * `accelerators.c` lists them.
 *
 *     void *state = NULL;
 *     if (source->open(&state, &place, &err) == 0 && source->read(state, &place, &readings, &err) == 0)
 *         for (size_t i = 0; i < readings.count; i++) … readings.items[i] …
 *     if (source->close) source->close(state);
 *
 * All functions are called by one thread, which may be made to wait: for a tool up to GPU_PATIENCE_NS, or until
 * `cancel` becomes readable.
 */
#ifndef COLLECT_GPU_SOURCE_H
#define COLLECT_GPU_SOURCE_H

#include "error.h"
#include "gpu/gpu_sample.h"

/* More devices than any host has; further ones of a source are left out. */
#define GPU_DEVICES_MOST 256
/* How long a tool or an exporter may take for an answer. */
#define GPU_PATIENCE_NS INT64_C(5000000000)
/* The longest answer. */
#define GPU_ANSWER_MOST ((size_t)4 << 20)

/* The devices of one sample. Sources fill everything but t_ns, source and, for the devices of this host, host. */
struct gpu_readings {
	struct gpu_sample items[GPU_DEVICES_MOST];
	size_t count;
};

/* The next device, with everything unknown; NULL: there are too many. */
struct gpu_sample *gpu_readings_add(struct gpu_readings *readings);
/* The device with this UUID or, if the UUID is "", with this index and without a UUID; added if it is new. NULL: too
 * many. */
struct gpu_sample *gpu_readings_find(struct gpu_readings *readings, struct slice device, int64_t index);

/* Where and how patiently a source asks. */
struct gpu_place {
	const char *url;     /* an exporter's, else NULL */
	int cancel;          /* a descriptor that becomes readable when waiting must end */
	int64_t patience_ns; /* how long an answer may take */
};

struct gpu_source {
	const char *name;
	bool takes_url;   /* NAME:URL */
	int64_t often_ns; /* asked at least this often, because asking is cheap; 0: as often as samples are wanted */
	/* NULL if there is nothing to open. -1: err says why there are no devices. */
	int (*open)(void **state, const struct gpu_place *place, struct ipf_error *err);
	/* Reads all devices into `readings`, which is empty. -1: nothing was read. 0 with an error in err: some devices
	 * were not, or not everything. */
	int (*read)(void *state, const struct gpu_place *place, struct gpu_readings *readings, struct ipf_error *err);
	void (*close)(void *state); /* NULL is fine for `state` */
};

extern const struct gpu_source gpu_nvml, gpu_nvidia_smi, gpu_amd_smi, gpu_dcgm, gpu_amd;

#endif
