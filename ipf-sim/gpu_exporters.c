#include "gpu_exporters.h"

#include "exposition.h"

#include <math.h>

/* An H200: its memory in MiB, of which a server takes nine tenths when it starts, and its clocks in MHz. */
#define MEMORY_MIB   143771
#define USED_MIB     129394
#define RESERVED_MIB 594
#define SM_IDLE_MHZ  345
#define SM_BUSY_MHZ  1980
#define MEM_MHZ      3201
/* An MI300X: its memory in MB and its clocks in MHz. */
#define VRAM_MB      196592
#define VRAM_USED_MB 176932
#define GFX_IDLE_MHZ 132
#define GFX_BUSY_MHZ 2100
#define UMC_MHZ      1300

static double dram_active(const struct gpu_reading *r)
{
	return 0.3 * r->prefill + 0.8 * (r->busy - r->prefill);
}

static double tensor_active(const struct gpu_reading *r)
{
	return 0.9 * r->prefill + 0.1 * (r->busy - r->prefill);
}

static double celsius(const struct gpu_reading *r)
{
	return rint(30 + 40 * r->busy);
}

static double energy_j(const struct gpu_reading *r)
{
	return GPU_ENERGY_BEGIN_J + r->energy_j;
}

enum value {
	VALUE_SM_CLOCK,
	VALUE_MEM_CLOCK,
	VALUE_MEMORY_TEMP,
	VALUE_TEMP,
	VALUE_POWER,
	VALUE_ENERGY_MJ,
	VALUE_UTIL,
	VALUE_MEM_UTIL,
	VALUE_FREE,
	VALUE_USED,
	VALUE_RESERVED,
	VALUE_ENGINE_ACTIVE,
	VALUE_TENSOR_ACTIVE,
	VALUE_DRAM_ACTIVE,
	VALUE_ENERGY_UJ,
	VALUE_AMD_POWER,
	VALUE_AMD_TOTAL,
	VALUE_AMD_USED,
	VALUE_AMD_FREE
};

static double value_of(enum value value, const struct gpu_reading *r)
{
	switch (value) {
	case VALUE_SM_CLOCK:
		return r->computing ? SM_BUSY_MHZ : SM_IDLE_MHZ;
	case VALUE_MEM_CLOCK:
		return MEM_MHZ;
	case VALUE_MEMORY_TEMP:
		return celsius(r) + 5;
	case VALUE_TEMP:
		return celsius(r);
	case VALUE_POWER:
		return r->power_w;
	case VALUE_ENERGY_MJ:
		return floor(energy_j(r) * 1e3);
	case VALUE_UTIL:
		return rint(100 * r->busy);
	case VALUE_MEM_UTIL:
		return rint(100 * dram_active(r));
	case VALUE_FREE:
		return MEMORY_MIB - USED_MIB - RESERVED_MIB;
	case VALUE_USED:
		return USED_MIB;
	case VALUE_RESERVED:
		return RESERVED_MIB;
	case VALUE_ENGINE_ACTIVE:
		return r->busy;
	case VALUE_TENSOR_ACTIVE:
		return tensor_active(r);
	case VALUE_DRAM_ACTIVE:
		return dram_active(r);
	case VALUE_ENERGY_UJ:
		return floor(energy_j(r) * 1e6);
	case VALUE_AMD_POWER:
		return rint(r->power_w);
	case VALUE_AMD_TOTAL:
		return VRAM_MB;
	case VALUE_AMD_USED:
		return VRAM_USED_MB;
	case VALUE_AMD_FREE:
		break;
	}
	return VRAM_MB - VRAM_USED_MB;
}

struct field {
	const char *name, *type, *help;
	enum value value;
	bool real; /* written with six decimals, as DCGM does; others are whole numbers */
};

static const struct field dcgm_fields[] = {
	{"DCGM_FI_DEV_SM_CLOCK", "gauge", "SM clock frequency (in MHz).", VALUE_SM_CLOCK, false},
	{"DCGM_FI_DEV_MEM_CLOCK", "gauge", "Memory clock frequency (in MHz).", VALUE_MEM_CLOCK, false},
	{"DCGM_FI_DEV_MEMORY_TEMP", "gauge", "Memory temperature (in C).", VALUE_MEMORY_TEMP, false},
	{"DCGM_FI_DEV_GPU_TEMP", "gauge", "GPU temperature (in C).", VALUE_TEMP, false},
	{"DCGM_FI_DEV_POWER_USAGE", "gauge", "Power draw (in W).", VALUE_POWER, true},
	{"DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", "counter", "Total energy consumption since boot (in mJ).", VALUE_ENERGY_MJ,
     false},
	{"DCGM_FI_DEV_GPU_UTIL", "gauge", "GPU utilization (in %).", VALUE_UTIL, false},
	{"DCGM_FI_DEV_MEM_COPY_UTIL", "gauge", "Memory utilization (in %).", VALUE_MEM_UTIL, false},
	{"DCGM_FI_DEV_FB_FREE", "gauge", "Framebuffer memory free (in MiB).", VALUE_FREE, false},
	{"DCGM_FI_DEV_FB_USED", "gauge", "Framebuffer memory used (in MiB).", VALUE_USED, false},
	{"DCGM_FI_DEV_FB_RESERVED", "gauge", "Framebuffer memory reserved (in MiB).", VALUE_RESERVED, false},
	{"DCGM_FI_PROF_GR_ENGINE_ACTIVE", "gauge", "Ratio of time the graphics engine is active.", VALUE_ENGINE_ACTIVE,
     true},
	{"DCGM_FI_PROF_PIPE_TENSOR_ACTIVE", "gauge", "Ratio of cycles the tensor (HMMA) pipe is active.",
     VALUE_TENSOR_ACTIVE, true},
	{"DCGM_FI_PROF_DRAM_ACTIVE", "gauge",
     "Ratio of cycles the device memory interface is active sending or receiving data.", VALUE_DRAM_ACTIVE, true},
};

static const struct field amd_fields[] = {
	{"gpu_package_power", "gauge", "Current socket power in Watts", VALUE_AMD_POWER, false},
	{"gpu_energy_consumed", "gauge", "Accumulated energy consumed by the GPU in uJ", VALUE_ENERGY_UJ, false},
	{"gpu_gfx_activity", "gauge", "Graphics engine usage in Percentage (0-100)", VALUE_UTIL, false},
	{"gpu_umc_activity", "gauge", "Memory engine usage in Percentage (0-100)", VALUE_MEM_UTIL, false},
	{"gpu_junction_temperature", "gauge", "Current junction/hotspot temperature in Celsius", VALUE_TEMP, false},
	{"gpu_memory_temperature", "gauge", "Current memory temperature in Celsius", VALUE_MEMORY_TEMP, false},
	{"gpu_total_vram", "gauge", "Total VRAM memory of the GPU (in MB)", VALUE_AMD_TOTAL, false},
	{"gpu_used_vram", "gauge", "Used VRAM memory of the GPU (in MB)", VALUE_AMD_USED, false},
	{"gpu_free_vram", "gauge", "Free VRAM memory of the GPU (in MB)", VALUE_AMD_FREE, false},
};

static void dcgm_labels(struct buffer *out, int64_t replica, int64_t device, int64_t serial)
{
	buffer_format(out,
	              "{gpu=\"%lld\",UUID=\"GPU-51400000-0000-4000-8000-%012llx\",pci_bus_id=\"00000000:%02llX:00.0\","
	              "device=\"nvidia%lld\",modelName=\"NVIDIA H200\",hostname=\"sim-%lld\","
	              "DCGM_FI_DRIVER_VERSION=\"570.133.20\"}",
	              (long long)device, (unsigned long long)serial, (unsigned long long)(device + 16) & 0xff,
	              (long long)device, (long long)replica);
}

static void amd_labels(struct buffer *out, int64_t replica, int64_t device, int64_t serial)
{
	buffer_format(out,
	              "{card_model=\"102-G30211-0C\",deployment_mode=\"baremetal\",gpu_compute_partition_type=\"spx\","
	              "gpu_id=\"%lld\",gpu_memory_partition_type=\"nps1\",gpu_partition_id=\"0\",hostname=\"sim-%lld\","
	              "serial_number=\"51400%06lld\"}",
	              (long long)device, (long long)replica, (long long)serial);
}

static void write_field(const struct field *field, struct gpus *g, int64_t now_ns, struct buffer *out)
{
	int64_t each = gpus_options(g)->count;
	exposition_family(out, field->name, field->help, field->type);
	for (int64_t replica = 0; replica < gpus_replicas(g); replica++) {
		struct gpu_reading r = gpus_read(g, replica, now_ns);
		for (int64_t device = 0; device < each; device++) {
			buffer_text(out, field->name);
			(*field->name == 'D' ? dcgm_labels : amd_labels)(out, replica, device, replica * each + device);
			buffer_format(out, field->real ? " %.6f\n" : " %.0f\n", value_of(field->value, &r));
		}
	}
}

void gpu_write_dcgm(struct gpus *g, int64_t now_ns, struct buffer *out)
{
	for (size_t i = 0; i < sizeof dcgm_fields / sizeof *dcgm_fields; i++)
		write_field(&dcgm_fields[i], g, now_ns, out);
}

static void write_amd_clocks(struct gpus *g, int64_t now_ns, struct buffer *out)
{
	int64_t each = gpus_options(g)->count;
	exposition_family(out, "gpu_clock", "List of current GPU clock frequencies in MHz", "gauge");
	for (int64_t i = 0; i < gpus_replicas(g) * each; i++) {
		struct gpu_reading r = gpus_read(g, i / each, now_ns);
		for (int memory = 0; memory < 2; memory++) {
			int mhz = memory ? UMC_MHZ : r.computing ? GFX_BUSY_MHZ : GFX_IDLE_MHZ;
			buffer_format(out,
			              "gpu_clock{card_model=\"102-G30211-0C\",clock_index=\"%d\",clock_type=\"%s\","
			              "deployment_mode=\"baremetal\",gpu_compute_partition_type=\"spx\",gpu_id=\"%lld\","
			              "gpu_memory_partition_type=\"nps1\",gpu_partition_id=\"0\",hostname=\"sim-%lld\","
			              "serial_number=\"51400%06lld\"} %d\n",
			              memory ? 8 : 0, memory ? "memory" : "system", (long long)(i % each), (long long)(i / each),
			              (long long)i, mhz);
		}
	}
}

void gpu_write_amd(struct gpus *g, int64_t now_ns, struct buffer *out)
{
	exposition_family(out, "gpu_nodes_total", "Number of GPUs in the node", "gauge");
	for (int64_t replica = 0; replica < gpus_replicas(g); replica++)
		buffer_format(out, "gpu_nodes_total{hostname=\"sim-%lld\"} %lld\n", (long long)replica,
		              (long long)gpus_options(g)->count);
	for (size_t i = 0; i < sizeof amd_fields / sizeof *amd_fields; i++)
		write_field(&amd_fields[i], g, now_ns, out);
	write_amd_clocks(g, now_ns, out);
}
