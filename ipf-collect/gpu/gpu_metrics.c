#include "gpu/gpu_metrics.h"

#include "absent.h"
#include "gpu/gpu_number.h"

#include <math.h>
#include <string.h>

enum figure {
	UTILIZATION,
	BANDWIDTH,
	MEMORY_USED,
	MEMORY_TOTAL,
	MEMORY_REST, /* added to the used memory if the total is not known */
	POWER,
	ENERGY,
	SM_CLOCK,
	MEMORY_CLOCK,
	TEMPERATURE,
	FIGURES,
};

/* The first of several names with a value counts; for MEMORY_REST, all. */
struct metric {
	const char *name;
	enum figure figure;
	double factor;          /* to shares, bytes, W, J, Hz, degrees Celsius */
	const char *clock_type; /* for AMD's gpu_clock; NULL for all others */
};

struct gpu_metrics_family {
	const char *prefix;                              /* may precede the names */
	const char *device[3], *host[2], *index, *model; /* labels, by preference */
	const char *instance, *partition;                /* labels; NULL: the exporter has none */
	struct metric metrics[GPU_METRICS];              /* up to one without a name */
};

#define MIB 1048576.0

const struct gpu_metrics_family gpu_metrics_dcgm = {
	.prefix = "",
	.device = {"UUID", "uuid"},
	.host = {"Hostname", "hostname"},
	.index = "gpu",
	.model = "modelName",
	.instance = "GPU_I_ID",
	.metrics = {{"DCGM_FI_DEV_GPU_UTIL", UTILIZATION, 0.01, NULL},
                {"DCGM_FI_PROF_GR_ENGINE_ACTIVE", UTILIZATION, 1, NULL},
                {"DCGM_FI_PROF_DRAM_ACTIVE", BANDWIDTH, 1, NULL},
                {"DCGM_FI_DEV_MEM_COPY_UTIL", BANDWIDTH, 0.01, NULL},
                {"DCGM_FI_DEV_FB_USED", MEMORY_USED, MIB, NULL},
                {"DCGM_FI_DEV_FB_TOTAL", MEMORY_TOTAL, MIB, NULL},
                {"DCGM_FI_DEV_FB_FREE", MEMORY_REST, MIB, NULL},
                {"DCGM_FI_DEV_FB_RESERVED", MEMORY_REST, MIB, NULL},
                {"DCGM_FI_DEV_POWER_USAGE", POWER, 1, NULL},
                {"DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", ENERGY, 1e-3, NULL},
                {"DCGM_FI_DEV_SM_CLOCK", SM_CLOCK, 1e6, NULL},
                {"DCGM_FI_DEV_MEM_CLOCK", MEMORY_CLOCK, 1e6, NULL},
                {"DCGM_FI_DEV_GPU_TEMP", TEMPERATURE, 1, NULL}},
};

const struct gpu_metrics_family gpu_metrics_amd = {
	.prefix = "amd_",
	.device = {"gpu_uuid", "serial_number"},
	.host = {"hostname"},
	.index = "gpu_id",
	.model = "card_model",
	.partition = "gpu_partition_id",
	.metrics = {{"gpu_gfx_activity", UTILIZATION, 0.01, NULL},
                {"gpu_umc_activity", BANDWIDTH, 0.01, NULL},
                {"gpu_used_vram", MEMORY_USED, MIB, NULL},
                {"gpu_total_vram", MEMORY_TOTAL, MIB, NULL},
                {"gpu_package_power", POWER, 1, NULL},
                {"gpu_average_package_power", POWER, 1, NULL},
                {"gpu_power_usage", POWER, 1, NULL},
                {"gpu_energy_consumed", ENERGY, 1e-6, NULL},
                {"gpu_clock", SM_CLOCK, 1e6, "system"},
                {"gpu_clock", MEMORY_CLOCK, 1e6, "memory"},
                {"gpu_junction_temperature", TEMPERATURE, 1, NULL},
                {"gpu_edge_temperature", TEMPERATURE, 1, NULL}},
};

/* ---- series ---- */

static bool is_blank(double value)
{
	/* blanks: 64-bit integers 0x7ffffffffffffff0 to …f3, doubles 2^47 to 2^47 + 3 (dcgm_structs.h) */
	return value >= 0x7ffffffffffff000p0 || (value >= 0x1p47 && value <= 0x1p47 + 3);
}

/* "system", also as "GPU_CLOCK_TYPE_SYSTEM" of exporters before 1.1 */
static bool clock_type_is(struct slice text, const char *type)
{
	size_t len = strlen(type);
	if (text.len < len)
		return false;
	return !strncasecmp(text.data + text.len - len, type, len);
}

/* The place of the series' value; -1: it is not used. */
static int find_metric(const struct gpu_metrics_family *family, const struct exposition_series *series)
{
	struct slice name = series->name;
	size_t prefix = strlen(family->prefix);
	if (prefix && name.len > prefix && !memcmp(name.data, family->prefix, prefix))
		name = (struct slice){name.data + prefix, name.len - prefix};
	for (int i = 0; i < GPU_METRICS && family->metrics[i].name; i++) {
		const struct metric *m = &family->metrics[i];
		if (slice_is(name, m->name) &&
		    (!m->clock_type || clock_type_is(exposition_label(series, "clock_type"), m->clock_type)))
			return i;
	}
	return -1;
}

static struct slice first_label(const struct exposition_series *series, const char *const *names, size_t count)
{
	struct slice value = {0};
	for (size_t i = 0; i < count && names[i] && !value.len; i++)
		value = exposition_label(series, names[i]);
	return value;
}

static struct gpu_sample *find_device(struct gpu_metrics *m, const struct exposition_series *series)
{
	const struct gpu_metrics_family *f = m->family;
	int64_t index = gpu_integer(gpu_number(exposition_label(series, f->index), ""), 1);
	struct slice host = first_label(series, f->host, sizeof f->host / sizeof *f->host);
	struct slice device = first_label(series, f->device, sizeof f->device / sizeof *f->device);
	if (!device.len && index == IPF_ABSENT)
		return NULL;
	size_t before = m->devices.count;
	struct gpu_sample *s = gpu_readings_find(&m->devices, device, index);
	if (!s || m->devices.count == before)
		return s;
	for (size_t i = 0; i < GPU_METRICS; i++)
		m->values[before][i] = NAN;
	s->index = index;
	gpu_text_set(s->host, sizeof s->host, host);
	gpu_text_set(s->model, sizeof s->model, exposition_label(series, f->model));
	return s;
}

void gpu_metrics_begin(struct gpu_metrics *m, const struct gpu_metrics_family *family)
{
	m->family = family;
	m->devices.count = 0;
}

void gpu_metrics_add(struct gpu_metrics *m, const struct exposition_series *series)
{
	const struct gpu_metrics_family *f = m->family;
	int at = find_metric(f, series);
	if (at < 0 || !isfinite(series->value) || series->value < 0 || is_blank(series->value))
		return;
	struct slice partition = f->partition ? exposition_label(series, f->partition) : (struct slice){0};
	if (partition.len && !slice_is(partition, "0"))
		return;
	struct gpu_sample *s = find_device(m, series);
	if (!s)
		return;
	double *value = &m->values[s - m->devices.items][at];
	bool instance = f->instance && exposition_label(series, f->instance).len;
	enum figure figure = f->metrics[at].figure;
	s->mig |= instance;
	if (isnan(*value))
		*value = series->value;
	else if (instance && (figure == MEMORY_USED || figure == MEMORY_TOTAL || figure == MEMORY_REST))
		*value += series->value;
	else if (series->value > *value)
		*value = series->value;
}

/* ---- devices ---- */

static void gather(const struct gpu_metrics *m, size_t device, double figures[FIGURES])
{
	for (size_t i = 0; i < FIGURES; i++)
		figures[i] = NAN;
	for (size_t i = 0; i < GPU_METRICS && m->family->metrics[i].name; i++) {
		const struct metric *metric = &m->family->metrics[i];
		double value = m->values[device][i] * metric->factor, *figure = &figures[metric->figure];
		if (isnan(*figure))
			*figure = value;
		else if (metric->figure == MEMORY_REST && !isnan(value))
			*figure += value;
	}
	if (isnan(figures[MEMORY_TOTAL]))
		figures[MEMORY_TOTAL] = figures[MEMORY_USED] + figures[MEMORY_REST];
}

void gpu_metrics_end(struct gpu_metrics *m, struct gpu_readings *readings)
{
	for (size_t i = 0; i < m->devices.count; i++) {
		double f[FIGURES];
		gather(m, i, f);
		struct gpu_sample *s = gpu_readings_add(readings);
		if (!s)
			return;
		*s = m->devices.items[i];
		s->utilization = f[UTILIZATION] <= 1 ? f[UTILIZATION] : NAN;
		s->memory_bandwidth = f[BANDWIDTH] <= 1 ? f[BANDWIDTH] : NAN;
		s->memory_used_bytes = gpu_integer(f[MEMORY_USED], 1);
		s->memory_total_bytes = gpu_integer(f[MEMORY_TOTAL], 1);
		s->power_w = f[POWER];
		s->energy_j = f[ENERGY];
		s->sm_clock_hz = gpu_integer(f[SM_CLOCK], 1);
		s->memory_clock_hz = gpu_integer(f[MEMORY_CLOCK], 1);
		s->temperature_c = f[TEMPERATURE];
	}
}
