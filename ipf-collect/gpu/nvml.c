#include "gpu/gpu_source.h"

#include "absent.h"
#include "clock.h"
#include "gpu/gpu_number.h"

#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The used parts of NVML, declared anew from nvml.h of NVML 13 (as in NVIDIA/go-nvml); older versions have the same
 * since 5.319 (functions with _v2) and 510 (MemoryInfo_v2). Every function returns 0 for success. */
struct nvmlDevice_st;
typedef struct nvmlDevice_st *nvml_device;
enum { NVML_SUCCESS = 0, NVML_NOT_SUPPORTED = 3, NVML_NO_PERMISSION = 4 };
enum { NVML_CLOCK_SM = 1, NVML_CLOCK_MEMORY = 2, NVML_TEMPERATURE_DIE = 0 };
struct nvml_utilization {
	unsigned int gpu, memory; /* percent */
};
struct nvml_memory {
	unsigned long long total, free, used; /* bytes; used includes the driver's own memory */
};
struct nvml_memory_v2 {
	unsigned int version; /* size of the struct, and 2 in the highest byte */
	unsigned long long total, reserved, free, used;
};

struct nvml {
	void *library;
	bool started;
	unsigned int count;
	struct {
		nvml_device handle;
		unsigned int index;
		char uuid[96], name[96];
	} devices[GPU_DEVICES_MOST];
	int (*init)(void);
	int (*shutdown)(void);
	const char *(*error_string)(int);
	int (*get_count)(unsigned int *);
	int (*get_handle)(unsigned int, nvml_device *);
	int (*get_name)(nvml_device, char *, unsigned int);
	int (*get_uuid)(nvml_device, char *, unsigned int);
	int (*get_utilization)(nvml_device, struct nvml_utilization *);
	int (*get_memory)(nvml_device, struct nvml_memory *);
	int (*get_memory_v2)(nvml_device, struct nvml_memory_v2 *);
	int (*get_power)(nvml_device, unsigned int *);               /* mW */
	int (*get_energy)(nvml_device, unsigned long long *);        /* mJ since the driver was loaded */
	int (*get_clock)(nvml_device, int, unsigned int *);          /* MHz */
	int (*get_temperature)(nvml_device, int, unsigned int *);    /* degrees Celsius */
	int (*get_mig)(nvml_device, unsigned int *, unsigned int *); /* now and after the next reset: 1 is on */
};

/* ---- opening ---- */

static void find_functions(struct nvml *n)
{
	const struct {
		const char *name;
		void *to;
	} functions[] = {
		{"nvmlInit_v2", &n->init},
		{"nvmlShutdown", &n->shutdown},
		{"nvmlErrorString", &n->error_string},
		{"nvmlDeviceGetCount_v2", &n->get_count},
		{"nvmlDeviceGetHandleByIndex_v2", &n->get_handle},
		{"nvmlDeviceGetName", &n->get_name},
		{"nvmlDeviceGetUUID", &n->get_uuid},
		{"nvmlDeviceGetUtilizationRates", &n->get_utilization},
		{"nvmlDeviceGetMemoryInfo", &n->get_memory},
		{"nvmlDeviceGetMemoryInfo_v2", &n->get_memory_v2},
		{"nvmlDeviceGetPowerUsage", &n->get_power},
		{"nvmlDeviceGetTotalEnergyConsumption", &n->get_energy},
		{"nvmlDeviceGetClockInfo", &n->get_clock},
		{"nvmlDeviceGetTemperature", &n->get_temperature},
		{"nvmlDeviceGetMigMode", &n->get_mig},
	};
	for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
		void *function = dlsym(n->library, functions[i].name);
		memcpy(functions[i].to, &function, sizeof function);
	}
}

static const char *reason(const struct nvml *n, int code)
{
	const char *text = n->error_string ? n->error_string(code) : NULL;
	return text ? text : "unknown error";
}

static void close_nvml(void *state)
{
	struct nvml *n = state;
	if (!n)
		return;
	if (n->started && n->shutdown)
		n->shutdown();
	if (n->library)
		dlclose(n->library);
	free(n);
}

/* Devices this process may not use are left out. Names are read while the devices answer. */
static int find_devices(struct nvml *n, struct ipf_error *err)
{
	unsigned int count = 0;
	int code = n->get_count(&count), refused = NVML_SUCCESS;
	if (code != NVML_SUCCESS)
		return ipf_error_set(err, IPF_SYSTEM, "nvml: devices cannot be counted: %s", reason(n, code));
	for (unsigned int i = 0; i < count && n->count < GPU_DEVICES_MOST; i++) {
		nvml_device device = NULL;
		code = n->get_handle(i, &device);
		if (code != NVML_SUCCESS) {
			refused = code;
			continue;
		}
		n->devices[n->count].handle = device;
		n->devices[n->count].index = i;
		if (n->get_uuid)
			n->get_uuid(device, n->devices[n->count].uuid, sizeof n->devices->uuid - 1);
		if (n->get_name)
			n->get_name(device, n->devices[n->count].name, sizeof n->devices->name - 1);
		n->count++;
	}
	if (n->count)
		return 0;
	return ipf_error_set(err, IPF_SYSTEM, "nvml: no devices%s%s", refused ? ": " : "",
	                     refused ? reason(n, refused) : "");
}

static int open_nvml(void **state, const struct gpu_place *place, struct ipf_error *err)
{
	struct nvml *n = calloc(1, sizeof *n);
	(void)place;
	if (!n)
		return ipf_error_memory(err);
	n->library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
	if (!n->library) {
		ipf_error_set(err, IPF_SYSTEM, "nvml: %s", dlerror());
		close_nvml(n);
		return -1;
	}
	find_functions(n);
	if (!n->init || !n->get_count || !n->get_handle) {
		close_nvml(n);
		return ipf_error_set(err, IPF_SYSTEM, "nvml: libnvidia-ml.so.1 lacks nvmlInit_v2 or others: older than 2013?");
	}
	int code = n->init();
	n->started = code == NVML_SUCCESS;
	if (!n->started)
		ipf_error_set(err, IPF_SYSTEM, "nvml: %s", reason(n, code));
	if (!n->started || find_devices(n, err) < 0) {
		close_nvml(n);
		return -1;
	}
	*state = n;
	return 0;
}

/* ---- reading ---- */

/* Notes why a call failed. A value the device does not support is unknown. */
static bool worked(const struct nvml *n, int code, const struct gpu_sample *s, struct ipf_error *err)
{
	if (code != NVML_SUCCESS && code != NVML_NOT_SUPPORTED)
		ipf_error_set(err, IPF_SYSTEM, "nvml: device %s: %s", *s->device ? s->device : "without a UUID",
		              reason(n, code));
	return code == NVML_SUCCESS;
}

static void read_memory(const struct nvml *n, nvml_device device, struct gpu_sample *s, struct ipf_error *err)
{
	struct nvml_memory_v2 v2 = {.version = (unsigned int)sizeof v2 | 2u << 24};
	struct nvml_memory v1 = {0};
	if (n->get_memory_v2 && n->get_memory_v2(device, &v2) == NVML_SUCCESS) {
		s->memory_used_bytes = (int64_t)(v2.used & INT64_MAX);
		s->memory_total_bytes = (int64_t)(v2.total & INT64_MAX);
	} else if (n->get_memory && worked(n, n->get_memory(device, &v1), s, err)) {
		s->memory_used_bytes = (int64_t)(v1.used & INT64_MAX);
		s->memory_total_bytes = (int64_t)(v1.total & INT64_MAX);
	}
}

static void read_clocks(const struct nvml *n, nvml_device device, struct gpu_sample *s, struct ipf_error *err)
{
	unsigned int value = 0;
	if (n->get_clock && worked(n, n->get_clock(device, NVML_CLOCK_SM, &value), s, err))
		s->sm_clock_hz = (int64_t)value * 1000000;
	if (n->get_clock && worked(n, n->get_clock(device, NVML_CLOCK_MEMORY, &value), s, err))
		s->memory_clock_hz = (int64_t)value * 1000000;
	if (n->get_temperature && worked(n, n->get_temperature(device, NVML_TEMPERATURE_DIE, &value), s, err))
		s->temperature_c = value;
}

static void read_device(const struct nvml *n, nvml_device device, struct gpu_sample *s, struct ipf_error *err)
{
	struct nvml_utilization busy = {0};
	unsigned long long energy_mj = 0;
	unsigned int value = 0, pending = 0;
	/* power and energy at once after each other: they are compared */
	if (n->get_power && worked(n, n->get_power(device, &value), s, err))
		s->power_w = value / 1e3;
	if (n->get_energy && worked(n, n->get_energy(device, &energy_mj), s, err))
		s->energy_j = (double)energy_mj / 1e3;
	if (n->get_utilization && worked(n, n->get_utilization(device, &busy), s, err)) {
		s->utilization = gpu_share(busy.gpu);
		s->memory_bandwidth = gpu_share(busy.memory);
	}
	read_memory(n, device, s, err);
	read_clocks(n, device, s, err);
	s->mig = n->get_mig && n->get_mig(device, &value, &pending) == NVML_SUCCESS && value == 1;
}

/* Is anything known but the device's name? */
static bool answered(const struct gpu_sample *s)
{
	return !isnan(s->power_w) || !isnan(s->energy_j) || !isnan(s->utilization) || s->memory_used_bytes != IPF_ABSENT;
}

static int read_devices(void *state, const struct gpu_place *place, struct gpu_readings *readings,
                        struct ipf_error *err)
{
	const struct nvml *n = state;
	(void)place;
	for (unsigned int i = 0; i < n->count; i++) {
		struct gpu_sample *s = gpu_readings_add(readings);
		s->index = n->devices[i].index;
		gpu_text_set(s->device, sizeof s->device, slice_of(n->devices[i].uuid));
		gpu_text_set(s->model, sizeof s->model, slice_of(n->devices[i].name));
		read_device(n, n->devices[i].handle, s, err);
		if (!answered(s)) /* it was lost, or belongs to somebody else */
			readings->count--;
	}
	if (readings->count)
		return 0;
	return ipf_error_set(err, IPF_SYSTEM, "nvml: no device answers");
}

const struct gpu_source gpu_nvml = {
	.name = "nvml", .often_ns = 100 * NS_PER_MS, .open = open_nvml, .read = read_devices, .close = close_nvml};
