/* Any bytes as the output of nvidia-smi, amd-smi and the exporters: no more devices than there can be, and only values
 * making sense. */
#include "absent.h"
#include "gpu/amd_smi.h"
#include "gpu/gpu_metrics.h"
#include "gpu/nvidia_smi.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct gpu_readings *readings, int status, const struct ipf_error *err)
{
	if (readings->count > GPU_DEVICES_MOST || (status < 0 && err->kind == IPF_OK))
		abort();
	for (size_t i = 0; i < readings->count; i++) {
		const struct gpu_sample *s = &readings->items[i];
		struct buffer line = {0};
		if (s->utilization < 0 || s->utilization > 1 || isinf(s->power_w) || isinf(s->energy_j))
			abort();
		if (s->memory_used_bytes < 0 && s->memory_used_bytes != IPF_ABSENT)
			abort();
		if (strlen(s->device) >= sizeof s->device || strlen(s->model) >= sizeof s->model)
			abort();
		gpu_sample_write(s, &line);
		json_t *map = json_loadb(line.data, line.len, 0, NULL);
		if (!map)
			abort();
		json_decref(map);
		buffer_release(&line);
	}
}

static void add(void *data, const struct exposition_series *series)
{
	gpu_metrics_add(data, series);
}

static void check_exporter(const struct gpu_metrics_family *family, const char *text, size_t size)
{
	static struct gpu_metrics metrics;
	static struct gpu_readings readings;
	struct ipf_error err = {0};
	struct exposition *e = exposition_new(add, &metrics);
	if (!e)
		return;
	readings.count = 0;
	gpu_metrics_begin(&metrics, family);
	exposition_feed(e, text, size);
	int status = exposition_finish(e, &err);
	gpu_metrics_end(&metrics, &readings);
	check(&readings, status, &err);
	exposition_free(e);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct gpu_readings readings;
	struct ipf_error err = {0};
	/* a copy of its own, so a sanitizer sees one byte too far */
	char *copy = malloc(size ? size : 1);
	if (!copy)
		return 0;
	if (size)
		memcpy(copy, data, size);
	readings.count = 0;
	int status = nvidia_smi_parse((struct slice){copy, size}, &readings, &err);
	check(&readings, status, &err);
	err = (struct ipf_error){0};
	readings.count = 0;
	status = amd_smi_parse((struct slice){copy, size}, &readings, &err);
	check(&readings, status, &err);
	check_exporter(&gpu_metrics_dcgm, copy, size);
	check_exporter(&gpu_metrics_amd, copy, size);
	free(copy);
	return 0;
}
