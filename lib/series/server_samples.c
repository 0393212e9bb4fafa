#include "series/server_samples.h"

#include "absent.h"
#include "array.h"
#include "safe_text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Times within these bounds (30 years) can be added and subtracted. */
#define TIME_MOST INT64_C(1000000000000000000)

static int get_time(const struct jdoc *line, const char *key, int64_t *t_ns, struct ipf_error *err)
{
	int got = jdoc_get_int(line, JDOC_ROOT, key, t_ns, err);
	if (got == 1 && (*t_ns > TIME_MOST || *t_ns < -TIME_MOST))
		return ipf_error_set(err, IPF_INPUT, "%s: %lld is out of range", key, (long long)*t_ns);
	return got;
}

/* Decodes a text into `to`, cut to its size and safe for a terminal. It keeps its value if the member is absent. */
static int get_text(const struct jdoc *line, const char *key, char *to, size_t size, struct ipf_error *err)
{
	struct buffer text = {0};
	int got = jdoc_get_text(line, JDOC_ROOT, key, &text, err);
	if (got == 1)
		safe_text(to, size, buffer_all(&text));
	if (text.failed)
		got = ipf_error_memory(err);
	buffer_release(&text);
	return got;
}

/* Appends the text that must be in the member `key`. */
static int get_name(const struct jdoc *line, const char *key, struct buffer *name, struct ipf_error *err)
{
	int got = jdoc_get_text(line, JDOC_ROOT, key, name, err);
	if (got == 0)
		return ipf_error_set(err, IPF_INPUT, "%s: missing in a sample", key);
	return name->failed ? ipf_error_memory(err) : got;
}

/* The source with this name, which is released. >= 0; -1: left out; -2: out of memory. */
static int source_of(struct sample_store *store, int part, struct buffer *name, struct ipf_error *err)
{
	int source = sample_store_source(store, part, name->data ? buffer_all(name) : slice_of(""));
	if (source == -2)
		ipf_error_memory(err);
	buffer_release(name);
	return source;
}

/* ---- servers ---- */

static struct server_target *target_of(struct server_samples *s, int part, int source)
{
	for (int i = 0; i < s->count; i++)
		if (s->targets[i].source == source)
			return &s->targets[i];
	if (!array_one_more(s->targets, s->count))
		return NULL;
	s->targets[s->count] = (struct server_target){.source = source, .part = part};
	return &s->targets[s->count++];
}

/* One reading of a source, whose figures are added one after another. */
struct reading {
	struct sample_store *store;
	int source;
	int64_t t_ns;
	struct sample_range time; /* since the reading before it */
	const struct jdoc *line;
	const char *group; /* for messages: "gauges", "counters", "histograms" */
};

static int expected(const struct reading *r, const char *name, const char *wanted, struct ipf_error *err)
{
	return ipf_error_set(err, IPF_INPUT, "%s: %.60s: expected %s", r->group, name, wanted);
}

static int add_gauge(const struct reading *r, struct slice name, jdoc_id value, struct ipf_error *err)
{
	double number;
	if (!jdoc_to_double(r->line, value, &number))
		return expected(r, name.data, "a number", err);
	return sample_store_gauge(r->store, r->source, name, r->t_ns, number) < 0 ? ipf_error_memory(err) : 0;
}

static int add_counter(const struct reading *r, struct slice name, jdoc_id value, struct ipf_error *err)
{
	double number;
	if (!jdoc_to_double(r->line, value, &number) || !(number >= 0))
		return expected(r, name.data, "a number of at least 0", err);
	return sample_store_increase(r->store, r->source, name, r->time, number) < 0 ? ipf_error_memory(err) : 0;
}

static int read_bucket(const struct reading *r, jdoc_id pair, struct bucket_interval *bucket)
{
	jdoc_id bound = jdoc_at(r->line, pair, 0);
	if (jdoc_count(r->line, pair) != 2 || jdoc_type_of(r->line, pair) != JDOC_LIST)
		return -1;
	if (jdoc_type_of(r->line, bound) == JDOC_NULL)
		bucket->high = INFINITY;
	else if (!jdoc_to_double(r->line, bound, &bucket->high) || !isfinite(bucket->high))
		return -1;
	return jdoc_to_double(r->line, jdoc_at(r->line, pair, 1), &bucket->count) && bucket->count >= 0 ? 0 : -1;
}

static int add_histogram(const struct reading *r, struct slice name, jdoc_id value, struct ipf_error *err)
{
	struct bucket_interval list[SAMPLE_BOUNDS_MOST];
	struct bucket_histogram h = {.list = list};
	jdoc_id buckets = jdoc_get(r->line, value, "buckets"), sum = jdoc_get(r->line, value, "sum");
	uint32_t count = jdoc_count(r->line, buckets);
	double last = -INFINITY;
	if (!jdoc_to_double(r->line, jdoc_get(r->line, value, "count"), &h.n) || !(h.n >= 0) ||
	    (sum != JDOC_NONE && !jdoc_to_double(r->line, sum, &h.sum)))
		return expected(r, name.data, "an object with count, sum and buckets", err);
	if (buckets != JDOC_NONE && jdoc_type_of(r->line, buckets) != JDOC_LIST)
		return expected(r, name.data, "a list of buckets", err);
	/* some servers have only a sum and a count, which do for the mean; without a sum there is nothing they say alike */
	if (sum == JDOC_NONE || count > SAMPLE_BOUNDS_MOST) {
		sample_store_leave_out(r->store);
		return 0;
	}
	for (struct jdoc_each e = jdoc_each(r->line, buckets); jdoc_step(&e); last = list[h.count++].high)
		if (read_bucket(r, e.value, &list[h.count]) < 0 || !(list[h.count].high > last))
			return expected(r, name.data, "buckets [bound, count] in order of their bounds", err);
	return sample_store_histogram(r->store, r->source, name, r->time, &h) < 0 ? ipf_error_memory(err) : 0;
}

/* Hands each member of the map `group` to `add`. */
static int each_member(struct reading *r, const char *group,
                       int (*add)(const struct reading *, struct slice, jdoc_id, struct ipf_error *),
                       struct ipf_error *err)
{
	jdoc_id map = jdoc_get(r->line, JDOC_ROOT, group);
	struct buffer name = {0};
	int bad = 0;
	r->group = group;
	if (!jdoc_is_null(r->line, map) && jdoc_type_of(r->line, map) != JDOC_MAP)
		return jdoc_expected(r->line, map, group, "an object", err);
	for (struct jdoc_each e = jdoc_each(r->line, map); bad == 0 && jdoc_step(&e);) {
		buffer_clear(&name);
		jdoc_text(r->line, e.key, &name);
		buffer_byte(&name, 0);
		bad = name.failed ? ipf_error_memory(err) : add(r, (struct slice){name.data, strlen(name.data)}, e.value, err);
	}
	buffer_release(&name);
	return bad;
}

/* A reading whose counters fell: the server restarted since the reading before. */
static int add_restart(struct server_target *target, int64_t t_ns, const struct jdoc *line, struct ipf_error *err)
{
	int64_t resets = 0;
	if (jdoc_get_uint(line, JDOC_ROOT, "resets", &resets, err) < 0)
		return -1;
	if (resets > 0 && target->restarts++ == 0)
		target->restarted_ns = t_ns;
	return 0;
}

int server_samples_add(struct server_samples *s, int part, int64_t shift_ns, const struct jdoc *line,
                       struct ipf_error *err)
{
	int64_t t_ns, interval_ns = 0;
	int got = get_time(line, "t_ns", &t_ns, err);
	if (got != 1)
		return got < 0 ? -1 : ipf_error_set(err, IPF_INPUT, "t_ns: missing in a sample");
	if (get_time(line, "interval_ns", &interval_ns, err) < 0)
		return -1;
	if (interval_ns < 0)
		return ipf_error_set(err, IPF_INPUT, "interval_ns: %lld is negative", (long long)interval_ns);
	struct buffer name = {0};
	if (get_name(line, "target", &name, err) < 0) {
		buffer_release(&name);
		return -1;
	}
	int source = source_of(s->store, part, &name, err);
	if (source < 0)
		return source == -1 ? 0 : -1;
	struct server_target *target = target_of(s, part, source);
	if (!target)
		return ipf_error_memory(err);
	t_ns += shift_ns;
	if (!sample_store_tick(s->store, source, t_ns))
		return 0;
	if (get_text(line, "server", target->server, sizeof target->server, err) < 0)
		return -1;
	got = get_text(line, "error", target->last_error, sizeof target->last_error, err);
	target->readings++;
	target->failed += got == 1;
	if (got != 0)
		return got < 0 ? -1 : 0;
	struct reading r = {s->store, source, t_ns, {t_ns - interval_ns, t_ns}, line, ""};
	int bad = add_restart(target, t_ns, line, err);
	if (bad == 0)
		bad = each_member(&r, "gauges", add_gauge, err);
	if (bad == 0 && interval_ns > 0)
		bad = each_member(&r, "counters", add_counter, err);
	if (bad == 0 && interval_ns > 0)
		bad = each_member(&r, "histograms", add_histogram, err);
	return bad;
}

void server_samples_release(struct server_samples *s)
{
	free(s->targets);
	*s = (struct server_samples){0};
}

/* ---- accelerators ---- */

static struct gpu_device *device_of(struct gpu_samples *s, int part, int source)
{
	for (int i = 0; i < s->count; i++)
		if (s->devices[i].source == source)
			return &s->devices[i];
	if (!array_one_more(s->devices, s->count))
		return NULL;
	s->devices[s->count] = (struct gpu_device){.source = source, .part = part, .index = IPF_ABSENT, .energy_j = NAN};
	return &s->devices[s->count++];
}

/* The counter begins at a value of its own; one that is lower than before began anew. */
static int add_energy(struct gpu_samples *s, struct gpu_device *device, double joules, int64_t t_ns)
{
	struct sample_range time = {device->energy_t_ns, t_ns};
	double increase = joules - device->energy_j;
	bool counts = increase >= 0 && time.end_ns > time.begin_ns;
	device->energy_j = joules;
	device->energy_t_ns = t_ns;
	return counts ? sample_store_increase(s->store, device->source, slice_of("energy_j"), time, increase) : 0;
}

static int add_device_figures(struct gpu_samples *s, struct gpu_device *device, int64_t t_ns, const struct jdoc *line,
                              struct ipf_error *err)
{
	static const char *const gauges[] = {"utilization", "memory_used_bytes", "memory_total_bytes", "memory_bandwidth",
	                                     "power_w",     "sm_clock_hz",       "memory_clock_hz",    "temperature_c"};
	double value;
	for (size_t i = 0; i < sizeof gauges / sizeof *gauges; i++) {
		jdoc_id node = jdoc_get(line, JDOC_ROOT, gauges[i]);
		if (jdoc_is_null(line, node))
			continue;
		if (!jdoc_to_double(line, node, &value))
			return jdoc_expected(line, node, gauges[i], "a number", err);
		if (sample_store_gauge(s->store, device->source, slice_of(gauges[i]), t_ns, value) < 0)
			return ipf_error_memory(err);
	}
	jdoc_id energy = jdoc_get(line, JDOC_ROOT, "energy_j");
	if (jdoc_is_null(line, energy))
		return 0;
	if (!jdoc_to_double(line, energy, &value))
		return jdoc_expected(line, energy, "energy_j", "a number", err);
	return add_energy(s, device, value, t_ns) < 0 ? ipf_error_memory(err) : 0;
}

int gpu_samples_add(struct gpu_samples *s, int part, int64_t shift_ns, const struct jdoc *line, struct ipf_error *err)
{
	int64_t t_ns;
	int got = get_time(line, "t_ns", &t_ns, err);
	if (got != 1)
		return got < 0 ? -1 : ipf_error_set(err, IPF_INPUT, "t_ns: missing in a sample");
	struct buffer name = {0};
	/* devices of two hosts may have the same name, and two sources report the same device */
	int from = jdoc_get_text(line, JDOC_ROOT, "source", &name, err);
	buffer_byte(&name, ' ');
	int host = jdoc_get_text(line, JDOC_ROOT, "host", &name, err);
	buffer_byte(&name, ' ');
	if (from < 0 || host < 0 || get_name(line, "device", &name, err) < 0) {
		buffer_release(&name);
		return -1;
	}
	int source = source_of(s->store, part, &name, err);
	if (source < 0)
		return source == -1 ? 0 : -1;
	struct gpu_device *device = device_of(s, part, source);
	if (!device)
		return ipf_error_memory(err);
	t_ns += shift_ns;
	if (!sample_store_tick(s->store, source, t_ns))
		return 0;
	if (get_text(line, "host", device->host, sizeof device->host, err) < 0 ||
	    get_text(line, "model", device->model, sizeof device->model, err) < 0 ||
	    get_text(line, "source", device->from, sizeof device->from, err) < 0 ||
	    get_text(line, "device", device->device, sizeof device->device, err) < 0 ||
	    jdoc_get_uint(line, JDOC_ROOT, "index", &device->index, err) < 0)
		return -1;
	return add_device_figures(s, device, t_ns, line, err);
}

void gpu_samples_release(struct gpu_samples *s)
{
	free(s->devices);
	*s = (struct gpu_samples){0};
}
