#include "gpu/amd_smi.h"

#include "absent.h"
#include "gpu/gpu_number.h"
#include "gpu/tool.h"
#include "json/jdoc.h"

#include <math.h>
#include <stdlib.h>

/* The output of `list` and `static`, once. */
struct amd_smi {
	struct gpu_readings known;
};

/* ---- the output ---- */

/* A number, or one with its unit, at /a/b/c of a device; the path ends at the first NULL. */
static double value_at(const struct jdoc *j, jdoc_id device, const char *const path[3], const char *unit)
{
	double value = NAN;
	jdoc_id node = device;
	for (int i = 0; i < 3 && path[i]; i++)
		node = jdoc_get(j, node, path[i]);
	if (jdoc_type_of(j, node) == JDOC_MAP) {
		jdoc_id own = jdoc_get(j, node, "unit");
		if (!jdoc_is_null(j, own) && !jdoc_text_is(j, own, unit))
			return NAN;
		node = jdoc_get(j, node, "value");
	}
	return jdoc_to_double(j, node, &value) && isfinite(value) ? value : NAN;
}
#define VALUE(unit_, ...) value_at(j, device, (const char *const[3]){__VA_ARGS__}, unit_)

static void set_text(const struct jdoc *j, jdoc_id node, char *to, size_t size)
{
	struct buffer text = {0};
	if (jdoc_type_of(j, node) != JDOC_TEXT || jdoc_text_is(j, node, "N/A"))
		return;
	jdoc_text(j, node, &text);
	if (!text.failed && text.len)
		gpu_text_set(to, size, buffer_all(&text));
	buffer_release(&text);
}

static void keep(double *to, double value)
{
	if (!isnan(value))
		*to = value;
}

static void keep_integer(int64_t *to, double value, double factor)
{
	int64_t integer = gpu_integer(value, factor);
	if (integer != IPF_ABSENT)
		*to = integer;
}

static void parse_device(const struct jdoc *j, jdoc_id device, struct gpu_sample *s)
{
	set_text(j, jdoc_get(j, device, "uuid"), s->device, sizeof s->device);
	set_text(j, jdoc_get(j, jdoc_get(j, device, "asic"), "market_name"), s->model, sizeof s->model);
	keep(&s->utilization, gpu_share(VALUE("%", "usage", "gfx_activity")));
	keep(&s->memory_bandwidth, gpu_share(VALUE("%", "usage", "umc_activity")));
	keep(&s->power_w, VALUE("W", "power", "socket_power"));
	keep(&s->energy_j, VALUE("J", "energy", "total_energy_consumption"));
	keep_integer(&s->sm_clock_hz, VALUE("MHz", "clock", "gfx_0", "clk"), 1e6);
	keep_integer(&s->memory_clock_hz, VALUE("MHz", "clock", "mem_0", "clk"), 1e6);
	keep_integer(&s->memory_used_bytes, VALUE("MB", "mem_usage", "used_vram"), 1 << 20);
	keep_integer(&s->memory_total_bytes, VALUE("MB", "mem_usage", "total_vram"), 1 << 20);
	/* all of AMD's accelerators report the die's hottest spot; some lack "edge" */
	keep(&s->temperature_c, VALUE("C", "temperature", "hotspot"));
}

/* The device with this number on its host. */
static struct gpu_sample *device_number(struct gpu_readings *readings, int64_t index)
{
	for (size_t i = 0; i < readings->count; i++)
		if (readings->items[i].index == index)
			return &readings->items[i];
	return gpu_readings_find(readings, (struct slice){0}, index);
}

int amd_smi_parse(struct slice text, struct gpu_readings *readings, struct ipf_error *err)
{
	struct jdoc j = {0};
	struct ipf_error bad = {0};
	bool found = false;
	if (jdoc_parse(&j, text.data, text.len, &bad) < 0) {
		jdoc_release(&j);
		return ipf_error_set(err, IPF_INPUT, "amd-smi: not JSON: %s", bad.text);
	}
	jdoc_id list = jdoc_type_of(&j, JDOC_ROOT) == JDOC_MAP ? jdoc_get(&j, JDOC_ROOT, "gpu_data") : JDOC_ROOT;
	for (struct jdoc_each e = jdoc_each(&j, jdoc_type_of(&j, list) == JDOC_LIST ? list : JDOC_NONE); jdoc_step(&e);) {
		int64_t index = IPF_ABSENT;
		if (!jdoc_to_int(&j, jdoc_get(&j, e.value, "gpu"), &index) || index < 0)
			continue;
		struct gpu_sample *s = device_number(readings, index);
		if (s)
			parse_device(&j, e.value, s);
		found = true;
	}
	jdoc_release(&j);
	return found ? 0 : ipf_error_set(err, IPF_INPUT, "amd-smi: no devices");
}

/* ---- the tool ---- */

static int ask(const char *const command[], const struct gpu_place *place, struct gpu_readings *readings,
               struct ipf_error *err)
{
	struct tool_limits limits = {.time_ns = place->patience_ns, .bytes = GPU_ANSWER_MOST, .cancel = place->cancel};
	struct buffer out = {0};
	int status = tool_run(command, &limits, &out, err);
	if (status == 0)
		status = amd_smi_parse(buffer_all(&out), readings, err);
	buffer_release(&out);
	return status;
}

static int open_tool(void **state, const struct gpu_place *place, struct ipf_error *err)
{
	static const char *const list[] = {"amd-smi", "list", "--json", NULL};
	static const char *const asic[] = {"amd-smi", "static", "--asic", "--json", NULL};
	struct ipf_error unknown_names = {0};
	struct amd_smi *a = calloc(1, sizeof *a);
	if (!a)
		return ipf_error_memory(err);
	if (ask(list, place, &a->known, err) < 0) {
		free(a);
		return -1;
	}
	ask(asic, place, &a->known, &unknown_names);
	*state = a;
	return 0;
}

static int read_devices(void *state, const struct gpu_place *place, struct gpu_readings *readings,
                        struct ipf_error *err)
{
	static const char *const metric[] = {"amd-smi", "metric", "--json", NULL};
	const struct amd_smi *a = state;
	int status = ask(metric, place, readings, err);
	for (size_t i = 0; i < readings->count; i++) {
		struct gpu_sample *s = &readings->items[i];
		for (size_t k = 0; k < a->known.count; k++) {
			const struct gpu_sample *known = &a->known.items[k];
			if (known->index != s->index)
				continue;
			gpu_text_set(s->device, sizeof s->device, slice_of(known->device));
			gpu_text_set(s->model, sizeof s->model, slice_of(known->model));
		}
	}
	return status;
}

const struct gpu_source gpu_amd_smi = {.name = "amd-smi", .open = open_tool, .read = read_devices, .close = free};
