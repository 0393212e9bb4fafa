#include "gpu/accelerators.h"

#include "absent.h"
#include "gpu/gpu_watch.h"
#include "json/jout.h"
#include "redact.h"
#include "safe_text.h"

#include <stdlib.h>
#include <string.h>

/* As many choices as a command line can sensibly have; "auto" is two. */
enum { WATCHES_MOST = 64 };

/* When requests were in flight: from the first start to the last end. */
struct busy {
	int64_t from_ns, to_ns; /* IPF_ABSENT: never */
};

struct accelerators {
	struct gpu_watch *watches[WATCHES_MOST];
	size_t count;
	const struct run_clock *clock;
	struct busy run;
	struct busy *stages; /* by index */
	size_t stages_count;
};

/* ---- the choices ---- */

static const struct gpu_source *const sources[] = {&gpu_nvml, &gpu_nvidia_smi, &gpu_amd_smi, &gpu_dcgm, &gpu_amd};

/* The source a choice names, and the text after its colon; NULL: none. */
static const struct gpu_source *find_source(const char *choice, const char **url)
{
	size_t len = strcspn(choice, ":");
	*url = choice[len] ? choice + len + 1 : NULL;
	for (size_t i = 0; i < sizeof sources / sizeof *sources; i++)
		if (strlen(sources[i]->name) == len && !strncmp(sources[i]->name, choice, len))
			return sources[i];
	return NULL;
}

int accelerators_check(const struct string_list *choices, struct ipf_error *err)
{
	const char *url;
	if (choices->count > WATCHES_MOST / 2)
		return ipf_error_set(err, IPF_USAGE, "--gpu: expected at most %d, got %zu", WATCHES_MOST / 2, choices->count);
	for (size_t i = 0; i < choices->count; i++) {
		const char *choice = choices->items[i];
		const struct gpu_source *source = find_source(choice, &url);
		if (!strcmp(choice, "auto"))
			continue;
		if (!source)
			return ipf_error_set(err, IPF_USAGE,
			                     "--gpu: expected auto, nvml, nvidia-smi, amd-smi, dcgm:URL or amd:URL, "
			                     "got \"%s\"",
			                     choice);
		if (url && !source->takes_url)
			return ipf_error_set(err, IPF_USAGE, "--gpu: %s takes no URL, got \"%s\"", source->name, choice);
		if (source->takes_url && (!url || (strncmp(url, "http://", 7) != 0 && strncmp(url, "https://", 8) != 0)))
			return ipf_error_set(err, IPF_USAGE, "--gpu: expected %s:http://… or %s:https://…, got \"%s\"",
			                     source->name, source->name, choice);
	}
	return 0;
}

/* ---- running ---- */

static int add_watch(struct accelerators *a, const struct gpu_watch_plan *plan, struct ipf_error *err)
{
	struct gpu_watch *w = gpu_watch_new(plan);
	if (!w)
		return ipf_error_memory(err);
	if (gpu_watch_start(w, err) < 0) {
		gpu_watch_free(w);
		return -1;
	}
	a->watches[a->count++] = w;
	return 0;
}

/* "auto" watches the devices of both makers; NVIDIA's by its library or else by its tool. */
static int add_choice(struct accelerators *a, const char *choice, struct gpu_watch_plan plan, struct ipf_error *err)
{
	plan.name = choice;
	if (strcmp(choice, "auto") != 0) {
		plan.candidates[0] = find_source(choice, &plan.url);
		return add_watch(a, &plan, err);
	}
	plan.candidates[0] = &gpu_nvml;
	plan.candidates[1] = &gpu_nvidia_smi;
	if (add_watch(a, &plan, err) < 0)
		return -1;
	plan.candidates[0] = &gpu_amd_smi;
	plan.candidates[1] = NULL;
	return add_watch(a, &plan, err);
}

int accelerators_start(struct accelerators **accelerators, const struct string_list *choices, int64_t every_ns,
                       struct line_queue *queue, struct ipf_error *err)
{
	struct accelerators *a = calloc(1, sizeof *a);
	*accelerators = a;
	if (!a)
		return ipf_error_memory(err);
	a->run = (struct busy){IPF_ABSENT, IPF_ABSENT};
	for (size_t i = 0; i < choices->count; i++)
		if (add_choice(a, choices->items[i], (struct gpu_watch_plan){.every_ns = every_ns, .queue = queue}, err) < 0)
			return -1;
	return 0;
}

void accelerators_align(struct accelerators *a, const struct run_clock *clock)
{
	a->clock = clock;
	for (size_t i = 0; i < a->count; i++)
		gpu_watch_align(a->watches[i], clock);
}

static void extend(struct busy *busy, int64_t from_ns, int64_t to_ns)
{
	if (busy->from_ns == IPF_ABSENT || from_ns < busy->from_ns)
		busy->from_ns = from_ns;
	if (busy->to_ns == IPF_ABSENT || to_ns > busy->to_ns)
		busy->to_ns = to_ns;
}

int accelerators_row(struct accelerators *a, const struct observation *o)
{
	const struct result *row = o->row;
	if (row->start_ns == IPF_ABSENT || row->end_ns == IPF_ABSENT)
		return 0;
	int64_t from_ns = row->start_ns + o->offset_ns, to_ns = row->end_ns + o->offset_ns;
	extend(&a->run, from_ns, to_ns);
	if (row->stage < 0 || row->stage >= 1 << 20)
		return 0;
	size_t stage = (size_t)row->stage;
	if (stage >= a->stages_count) {
		struct busy *stages = realloc(a->stages, (stage + 1) * sizeof *stages);
		if (!stages)
			return -1;
		a->stages = stages;
		while (a->stages_count <= stage)
			a->stages[a->stages_count++] = (struct busy){IPF_ABSENT, IPF_ABSENT};
	}
	extend(&a->stages[stage], from_ns, to_ns);
	return 0;
}

void accelerators_stop(struct accelerators *a)
{
	for (size_t i = 0; i < a->count; i++)
		gpu_watch_ask_to_stop(a->watches[i]);
	for (size_t i = 0; i < a->count; i++)
		gpu_watch_stop(a->watches[i]);
}

void accelerators_free(struct accelerators *a)
{
	if (!a)
		return;
	for (size_t i = 0; i < a->count; i++)
		gpu_watch_free(a->watches[i]);
	free(a->stages);
	free(a);
}

/* ---- the trailer ---- */

/* from_ns, to_ns, and the energy between them. */
static void write_energy(const struct accelerators *a, const struct watched_device *d, struct busy busy,
                         struct jout *to)
{
	int64_t zero_ns = a->clock ? run_clock_zero(a->clock) : 0;
	struct energy energy;
	bool known = a->clock && busy.from_ns != IPF_ABSENT;
	energy_between(d ? d->energy : NULL, known ? busy.from_ns + zero_ns : 0, known ? busy.to_ns + zero_ns : 0, &energy);
	jout_member_int(to, "from_ns", busy.from_ns);
	jout_member_int(to, "to_ns", busy.to_ns);
	energy_write(&energy, to);
}

static void write_idle(const struct accelerators *a, const struct watched_device *d, struct jout *to)
{
	enum energy_idle how;
	bool known = a->clock && a->run.from_ns != IPF_ABSENT;
	double idle_w = energy_idle_power(d->energy, known ? a->run.from_ns + run_clock_zero(a->clock) : INT64_MIN, &how);
	if (how == ENERGY_IDLE_UNKNOWN)
		return;
	jout_key(to, "idle_power_w");
	jout_double(to, idle_w);
	jout_key(to, "idle_from");
	jout_string0(to, how == ENERGY_IDLE_BEFORE ? "before" : "lowest");
}

static void write_stages(const struct accelerators *a, const struct watched_device *d, const struct schedule *schedule,
                         struct jout *to)
{
	jout_key(to, "stages");
	jout_begin_list(to);
	for (size_t i = 0; i < a->stages_count && i < schedule->count; i++) {
		if (!schedule->stages[i].measured || a->stages[i].from_ns == IPF_ABSENT)
			continue;
		jout_begin_map(to);
		jout_member_int(to, "stage", (int64_t)i);
		jout_key(to, "name");
		jout_string0(to, schedule->stages[i].name);
		write_energy(a, d, a->stages[i], to);
		jout_end_map(to);
	}
	jout_end_list(to);
}

static void write_text(struct jout *to, const char *key, const char *text)
{
	if (*text)
		jout_member_string(to, key, slice_of(text));
}

/* The source's number of readings, and its errors. */
static void write_failures(const struct gpu_watched *seen, struct jout *to)
{
	jout_member_int(to, "asked", seen->asked);
	jout_member_int(to, "failed", seen->failed);
	if (seen->hung)
		jout_member_string(to, "last_error", slice_of("does not answer"));
	else
		write_text(to, "last_error", seen->last_error);
}

static void write_device(const struct accelerators *a, const struct gpu_watched *seen, const struct watched_device *d,
                         const struct schedule *schedule, struct jout *to)
{
	jout_begin_map(to);
	write_text(to, "source", d->last.source);
	write_text(to, "host", d->last.host);
	write_text(to, "device", d->last.device);
	jout_member_int(to, "index", d->last.index);
	write_text(to, "model", d->last.model);
	if (d->last.mig) {
		jout_key(to, "mig");
		jout_bool(to, true);
	}
	write_failures(seen, to);
	write_energy(a, d, a->run, to);
	write_idle(a, d, to);
	if (schedule->count)
		write_stages(a, d, schedule, to);
	jout_end_map(to);
}

static void write_name(const char *choice, struct jout *to)
{
	struct buffer name = {0};
	redact_value(choice, &name);
	jout_member_string(to, "source", buffer_all(&name));
	to->out->failed |= name.failed;
	buffer_release(&name);
}

/* Did the other half of "auto" find devices? */
static bool found_elsewhere(const struct accelerators *a, const struct gpu_watch *w)
{
	for (size_t i = 0; i < a->count; i++)
		if (!strcmp(gpu_watch_plan(a->watches[i])->name, "auto") && gpu_watch_seen(a->watches[i])->count)
			return !strcmp(gpu_watch_plan(w)->name, "auto");
	return false;
}

json_t *accelerators_json(const struct accelerators *a, const struct schedule *schedule)
{
	struct buffer text = {0};
	struct jout to = {.out = &text};
	jout_begin_list(&to);
	for (size_t i = 0; i < a->count; i++) {
		const struct gpu_watched *seen = gpu_watch_seen(a->watches[i]);
		for (size_t k = 0; k < seen->count; k++)
			write_device(a, seen, &seen->devices[k], schedule, &to);
		if (seen->count || found_elsewhere(a, a->watches[i]))
			continue;
		jout_begin_map(&to);
		write_name(gpu_watch_plan(a->watches[i])->name, &to);
		write_failures(seen, &to);
		write_energy(a, NULL, a->run, &to);
		jout_end_map(&to);
	}
	jout_end_list(&to);
	json_t *list = text.failed ? NULL : json_loadb(text.data, text.len, 0, NULL);
	buffer_release(&text);
	return list;
}

/* ---- notes ---- */

/* "--gpu dcgm:http://h:9400": without the secrets of the URL */
static void append_choice(const char *choice, struct buffer *out)
{
	struct buffer name = {0};
	redact_value(choice, &name);
	buffer_text(out, "--gpu ");
	safe_text_append(out, buffer_all(&name));
	out->failed |= name.failed;
	buffer_release(&name);
}

void accelerators_describe(const struct accelerators *a, bool verbose, struct buffer *out)
{
	for (size_t i = 0; i < a->count; i++) {
		const struct gpu_watched *seen = gpu_watch_seen(a->watches[i]);
		const char *choice = gpu_watch_plan(a->watches[i])->name;
		if (seen->count && (verbose || !strcmp(choice, "auto"))) {
			const char *model = seen->devices[0].last.model;
			append_choice(choice, out);
			buffer_format(out, ": %zu device%s by %s%s%s\n", seen->count, seen->count == 1 ? "" : "s",
			              seen->source->name, *model ? ": " : "", shown(model).text);
		}
		if (!seen->hung && (!seen->failed || (!seen->count && found_elsewhere(a, a->watches[i]))))
			continue;
		append_choice(choice, out);
		if (seen->hung)
			buffer_text(out, ": does not answer\n");
		else
			buffer_format(out, ": failed %lld of %lld times, at last: %s\n", (long long)seen->failed,
			              (long long)seen->asked, seen->last_error);
	}
}
