/* A libnvidia-ml.so.1 for tests: devices whose power follows a known curve of CLOCK_MONOTONIC, so a test can compute
 * their energy between any two times.
 *
 *   FAKE_NVML_DEVICES  their number (1)
 *   FAKE_NVML_CURVE    constant (300 W), sine (400 W + 300 W sin, period 7 s) or step (90 W and 690 W by turns, 4 s
 * each) FAKE_NVML_FAULT    driver: nvmlInit fails; denied: no handles; silent: no power and no energy; plain: no energy
 *                      counter; mig: divided; lost: the last device is lost after FAKE_NVML_AFTER seconds;
 *                      hang: a call never returns after that time
 *   FAKE_NVML_LOG      a file that gets a line for each time that energy was asked for: device, seconds, joules
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct utilization {
	unsigned int gpu, memory;
};
struct memory_v2 {
	unsigned int version;
	unsigned long long total, reserved, free, used;
};

int nvmlInit_v2(void);
int nvmlShutdown(void);
const char *nvmlErrorString(int code);
int nvmlDeviceGetCount_v2(unsigned int *count);
int nvmlDeviceGetHandleByIndex_v2(unsigned int index, void **device);
int nvmlDeviceGetName(void *device, char *name, unsigned int length);
int nvmlDeviceGetUUID(void *device, char *uuid, unsigned int length);
int nvmlDeviceGetUtilizationRates(void *device, struct utilization *busy);
int nvmlDeviceGetMemoryInfo_v2(void *device, struct memory_v2 *memory);
int nvmlDeviceGetPowerUsage(void *device, unsigned int *power_mw);
int nvmlDeviceGetTotalEnergyConsumption(void *device, unsigned long long *energy_mj);
int nvmlDeviceGetClockInfo(void *device, int type, unsigned int *mhz);
int nvmlDeviceGetTemperature(void *device, int sensor, unsigned int *celsius);
int nvmlDeviceGetMigMode(void *device, unsigned int *now, unsigned int *later);

enum { NOT_SUPPORTED = 3, NO_PERMISSION = 4, DRIVER_NOT_LOADED = 9, LOST = 15, VERSION_MISMATCH = 25 };
static const double pi = 3.14159265358979323846;
static double started;

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int is(const char *variable, const char *value)
{
	const char *text = getenv(variable);
	return text && !strcmp(text, value);
}

static unsigned int devices(void)
{
	const char *text = getenv("FAKE_NVML_DEVICES");
	return text ? (unsigned int)atoi(text) : 1;
}

/* Handles are the index and 1. */
static unsigned int index_of(void *device)
{
	return (unsigned int)((size_t)device - 1);
}

/* Every call of a device returns this. */
static int fault(void *device)
{
	const char *after = getenv("FAKE_NVML_AFTER");
	if (now() < started + (after ? atof(after) : 0))
		return 0;
	while (is("FAKE_NVML_FAULT", "hang"))
		pause();
	return is("FAKE_NVML_FAULT", "lost") && index_of(device) == devices() - 1 ? LOST : 0;
}

static double watts(double t)
{
	if (is("FAKE_NVML_CURVE", "sine"))
		return 400 + 300 * sin(2 * pi * t / 7);
	if (is("FAKE_NVML_CURVE", "step"))
		return fmod(t, 8) < 4 ? 90 : 690;
	return 300;
}

/* The integral of that. */
static double joules(double t)
{
	if (is("FAKE_NVML_CURVE", "sine"))
		return 400 * t + 300 * 7 / (2 * pi) * (1 - cos(2 * pi * t / 7));
	if (is("FAKE_NVML_CURVE", "step"))
		return floor(t / 8) * 3120 + 90 * fmin(fmod(t, 8), 4) + 690 * fmax(fmod(t, 8) - 4, 0);
	return 300 * t;
}

int nvmlInit_v2(void)
{
	started = now();
	return is("FAKE_NVML_FAULT", "driver") ? DRIVER_NOT_LOADED : 0;
}

int nvmlShutdown(void)
{
	return 0;
}

const char *nvmlErrorString(int code)
{
	switch (code) {
	case NO_PERMISSION:
		return "Insufficient Permissions";
	case DRIVER_NOT_LOADED:
		return "Driver Not Loaded";
	case LOST:
		return "GPU is lost";
	default:
		return "Unknown Error";
	}
}

int nvmlDeviceGetCount_v2(unsigned int *count)
{
	*count = devices();
	return 0;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned int index, void **device)
{
	*device = (void *)((size_t)index + 1);
	return is("FAKE_NVML_FAULT", "denied") ? NO_PERMISSION : 0;
}

int nvmlDeviceGetName(void *device, char *name, unsigned int length)
{
	snprintf(name, length, "Fake H200");
	return fault(device);
}

int nvmlDeviceGetUUID(void *device, char *uuid, unsigned int length)
{
	snprintf(uuid, length, "GPU-00000000-0000-0000-0000-%012u", index_of(device));
	return fault(device);
}

int nvmlDeviceGetUtilizationRates(void *device, struct utilization *busy)
{
	*busy = (struct utilization){80, 40};
	return is("FAKE_NVML_FAULT", "mig") ? NOT_SUPPORTED : fault(device);
}

int nvmlDeviceGetMemoryInfo_v2(void *device, struct memory_v2 *memory)
{
	if (memory->version != (sizeof *memory | 2u << 24))
		return VERSION_MISMATCH;
	memory->total = 150754820096ull;
	memory->used = 1ull << 35;
	memory->reserved = 1ull << 29;
	memory->free = memory->total - memory->used - memory->reserved;
	return fault(device);
}

int nvmlDeviceGetPowerUsage(void *device, unsigned int *power_mw)
{
	*power_mw = (unsigned int)(watts(now()) * 1e3);
	return is("FAKE_NVML_FAULT", "silent") ? NOT_SUPPORTED : fault(device);
}

int nvmlDeviceGetTotalEnergyConsumption(void *device, unsigned long long *energy_mj)
{
	double t = now();
	*energy_mj = (unsigned long long)(joules(t) * 1e3);
	FILE *log = getenv("FAKE_NVML_LOG") ? fopen(getenv("FAKE_NVML_LOG"), "a") : NULL;
	if (log) {
		fprintf(log, "%u %.9f %.3f\n", index_of(device), t, (double)*energy_mj / 1e3);
		fclose(log);
	}
	return is("FAKE_NVML_FAULT", "silent") || is("FAKE_NVML_FAULT", "plain") ? NOT_SUPPORTED : fault(device);
}

int nvmlDeviceGetClockInfo(void *device, int type, unsigned int *mhz)
{
	*mhz = type == 1 ? 1980 : 3201;
	return fault(device);
}

int nvmlDeviceGetTemperature(void *device, int sensor, unsigned int *celsius)
{
	(void)sensor;
	*celsius = 61;
	return fault(device);
}

int nvmlDeviceGetMigMode(void *device, unsigned int *current, unsigned int *later)
{
	*current = *later = is("FAKE_NVML_FAULT", "mig") ? 1 : 0;
	return fault(device);
}
