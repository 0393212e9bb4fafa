#include "gpu/nvidia_smi.h"

#include "absent.h"
#include "gpu/gpu_number.h"
#include "gpu/tool.h"
#include "safe_text.h"

#include <string.h>

/* In the order of FIELDS. The name comes last: it is the only text with a possible a comma. */
enum {
	INDEX,
	UUID,
	COMPUTE,
	MEMORY_BUSY,
	MEMORY_USED,
	MEMORY_TOTAL,
	POWER,
	SM_CLOCK,
	MEMORY_CLOCK,
	TEMPERATURE,
	MIG,
	NAME,
	FIELDS_COUNT
};
#define FIELDS                                                                                                         \
	"index,uuid,utilization.gpu,utilization.memory,memory.used,memory.total,power.draw,clocks.sm,clocks.mem,"          \
	"temperature.gpu,mig.mode.current,name"

/* Cuts a line at its commas. False: it has too few. */
static bool split(struct slice line, struct slice fields[FIELDS_COUNT])
{
	for (int i = 0; i < FIELDS_COUNT; i++) {
		const char *comma = i < NAME && line.len ? memchr(line.data, ',', line.len) : NULL;
		if (i < NAME && !comma)
			return false;
		size_t len = comma ? (size_t)(comma - line.data) : line.len;
		fields[i] = gpu_trimmed((struct slice){line.data, len});
		line = comma ? (struct slice){comma + 1, line.len - len - 1} : (struct slice){0};
	}
	return true;
}

static bool parse_line(struct slice line, struct gpu_readings *readings)
{
	struct slice f[FIELDS_COUNT];
	if (!split(line, f))
		return false;
	int64_t index = gpu_integer(gpu_number(f[INDEX], ""), 1);
	bool named = f[UUID].len && f[UUID].data[0] != '[';
	if (index == IPF_ABSENT)
		return false;
	struct gpu_sample *s = gpu_readings_find(readings, named ? f[UUID] : (struct slice){0}, index);
	if (!s)
		return true;
	s->index = index;
	gpu_text_set(s->model, sizeof s->model, f[NAME].len && f[NAME].data[0] == '[' ? (struct slice){0} : f[NAME]);
	s->utilization = gpu_share(gpu_number(f[COMPUTE], "%"));
	s->memory_bandwidth = gpu_share(gpu_number(f[MEMORY_BUSY], "%"));
	s->memory_used_bytes = gpu_integer(gpu_number(f[MEMORY_USED], "MiB"), 1 << 20);
	s->memory_total_bytes = gpu_integer(gpu_number(f[MEMORY_TOTAL], "MiB"), 1 << 20);
	s->power_w = gpu_number(f[POWER], "W");
	s->sm_clock_hz = gpu_integer(gpu_number(f[SM_CLOCK], "MHz"), 1e6);
	s->memory_clock_hz = gpu_integer(gpu_number(f[MEMORY_CLOCK], "MHz"), 1e6);
	s->temperature_c = gpu_number(f[TEMPERATURE], "C");
	s->mig = slice_is(f[MIG], "Enabled");
	return true;
}

int nvidia_smi_parse(struct slice text, struct gpu_readings *readings, struct ipf_error *err)
{
	while (text.len) {
		const char *end = memchr(text.data, '\n', text.len);
		struct slice line = {text.data, end ? (size_t)(end - text.data) : text.len};
		text = (struct slice){text.data + line.len + (end != NULL), text.len - line.len - (end != NULL)};
		line = gpu_trimmed(line);
		if (!line.len)
			continue;
		if (!parse_line(line, readings))
			ipf_error_set(err, IPF_INPUT, "nvidia-smi: expected a line of %d values, got \"%s\"", FIELDS_COUNT,
			              shown_slice(line).text);
		else if (memmem(line.data, line.len, "[GPU is lost]", 13))
			ipf_error_set(err, IPF_SYSTEM, "nvidia-smi: a device is lost: \"%s\"", shown_slice(line).text);
	}
	if (readings->count)
		return 0;
	return ipf_error_set(err, IPF_INPUT, "nvidia-smi: no devices");
}

static int read_devices(void *state, const struct gpu_place *place, struct gpu_readings *readings,
                        struct ipf_error *err)
{
	static const char *const command[] = {"nvidia-smi", "--query-gpu=" FIELDS, "--format=csv,noheader,nounits", NULL};
	struct tool_limits limits = {.time_ns = place->patience_ns, .bytes = GPU_ANSWER_MOST, .cancel = place->cancel};
	struct buffer out = {0};
	(void)state;
	int status = tool_run(command, &limits, &out, err);
	if (status == 0)
		status = nvidia_smi_parse(buffer_all(&out), readings, err);
	buffer_release(&out);
	return status;
}

const struct gpu_source gpu_nvidia_smi = {.name = "nvidia-smi", .read = read_devices};
