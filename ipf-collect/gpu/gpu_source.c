#include "gpu/gpu_source.h"

#include "absent.h"

struct gpu_sample *gpu_readings_add(struct gpu_readings *r)
{
	if (r->count == GPU_DEVICES_MOST)
		return NULL;
	gpu_sample_init(&r->items[r->count]);
	return &r->items[r->count++];
}

struct gpu_sample *gpu_readings_find(struct gpu_readings *r, struct slice device, int64_t index)
{
	for (size_t i = 0; i < r->count; i++) {
		struct gpu_sample *s = &r->items[i];
		if (device.len ? slice_is(device, s->device) : !*s->device && s->index == index)
			return s;
	}
	struct gpu_sample *s = gpu_readings_add(r);
	if (!s)
		return NULL;
	if (device.len)
		gpu_text_set(s->device, sizeof s->device, device);
	s->index = index;
	return s;
}
