#include "view/live_samples.h"

#include "absent.h"

#include <math.h>
#include <string.h>

static struct live_source *find(struct live_samples *s, struct slice name, bool gpu)
{
	if (name.len >= sizeof s->list->name)
		return NULL;
	for (size_t i = 0; i < s->count; i++)
		if (s->list[i].gpu == gpu && slice_is(name, s->list[i].name))
			return &s->list[i];
	if (s->count == LIVE_SOURCES_MOST)
		return NULL;
	struct live_source *source = &s->list[s->count++];
	*source = (struct live_source){.gpu = gpu, .running = NAN, .waiting = NAN, .kv_cache = NAN, .replicas = NAN};
	memcpy(source->name, name.data, name.len);
	return source;
}

static double number(const struct jdoc *doc, jdoc_id map, const char *key)
{
	double value;
	return jdoc_to_double(doc, jdoc_get(doc, map, key), &value) ? value : NAN;
}

static void read_server(struct live_source *source, const struct jdoc *doc)
{
	jdoc_id gauges = jdoc_get(doc, JDOC_ROOT, "gauges");
	source->failed = jdoc_get(doc, JDOC_ROOT, "error") != JDOC_NONE;
	if (source->failed)
		return;
	source->running = number(doc, gauges, "running");
	source->waiting = number(doc, gauges, "waiting");
	source->kv_cache = number(doc, gauges, "kv_cache_usage");
	source->replicas = number(doc, gauges, "replicas_ready");
}

static void read_gpu(struct live_source *source, const struct jdoc *doc)
{
	source->utilization = number(doc, JDOC_ROOT, "utilization");
	source->power_w = number(doc, JDOC_ROOT, "power_w");
	source->temperature = number(doc, JDOC_ROOT, "temperature_c");
	source->memory_share = number(doc, JDOC_ROOT, "memory_used_bytes") / number(doc, JDOC_ROOT, "memory_total_bytes");
}

int64_t live_samples_add(struct live_samples *s, struct slice line)
{
	struct ipf_error ignored = {0};
	int64_t t_ns = IPF_ABSENT;
	if (jdoc_parse(&s->doc, line.data, line.len, &ignored) < 0)
		return IPF_ABSENT;
	jdoc_id kind = jdoc_get(&s->doc, JDOC_ROOT, "sample");
	bool gpu = jdoc_text_is(&s->doc, kind, "gpu"), server = jdoc_text_is(&s->doc, kind, "server");
	jdoc_id name = jdoc_get(&s->doc, JDOC_ROOT, gpu ? "device" : "target");
	struct live_source *source = (gpu || server) && jdoc_type_of(&s->doc, name) == JDOC_TEXT
	                                 ? find(s, jdoc_raw(&s->doc, name), gpu)
	                                 : NULL;
	if (!source)
		return IPF_ABSENT;
	if (gpu) {
		read_gpu(source, &s->doc);
		return IPF_ABSENT;
	}
	read_server(source, &s->doc);
	jdoc_to_int(&s->doc, jdoc_get(&s->doc, JDOC_ROOT, "t_ns"), &t_ns);
	return t_ns;
}

static void add(double *sum, double value)
{
	if (!isnan(value))
		*sum = isnan(*sum) ? value : *sum + value;
}

static void raise_to(double *most, double value)
{
	if (!isnan(value) && (isnan(*most) || value > *most))
		*most = value;
}

struct server_now live_samples_servers(const struct live_samples *s)
{
	struct server_now now = {.running = NAN, .waiting = NAN, .kv_cache = NAN, .replicas = NAN};
	double shares = 0;
	for (size_t i = 0; i < s->count; i++) {
		const struct live_source *source = &s->list[i];
		if (source->gpu)
			continue;
		now.servers++;
		now.failed += source->failed;
		if (source->failed)
			continue;
		add(&now.running, source->running);
		add(&now.waiting, source->waiting);
		add(&now.replicas, source->replicas);
		add(&now.kv_cache, source->kv_cache);
		shares += !isnan(source->kv_cache);
	}
	now.kv_cache /= shares;
	return now;
}

struct gpu_now live_samples_gpus(const struct live_samples *s)
{
	struct gpu_now now = {.utilization = NAN, .power_w = NAN, .memory_share = NAN, .temperature = NAN};
	double shares = 0;
	for (size_t i = 0; i < s->count; i++) {
		const struct live_source *source = &s->list[i];
		if (!source->gpu)
			continue;
		now.devices++;
		add(&now.utilization, source->utilization);
		shares += !isnan(source->utilization);
		add(&now.power_w, source->power_w);
		raise_to(&now.memory_share, source->memory_share);
		raise_to(&now.temperature, source->temperature);
	}
	now.utilization /= shares;
	return now;
}

void live_samples_release(struct live_samples *s)
{
	jdoc_release(&s->doc);
}
