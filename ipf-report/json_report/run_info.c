#include "clock.h"
#include "stream/provenance.h"
#include "cli/options.h"
#include "stream/digest.h"
#include "json_report/run_info.h"
#include "results/cache_condition.h"

#include "figures/loads.h"
#include "stream/predicted.h"
#include "version.h"

#include <stdlib.h>
#include <string.h>

/* Removes values changing from run to run, at any depth. */
static void forget(json_t *value, int depth)
{
	static const char *const passing[] = {"created", "host", "t0", "t0_unix_ns", "t0_clock_ns", "calibration"};
	json_t *inner;
	const char *key;
	size_t i;
	if (depth > 32)
		return;
	for (i = 0; json_is_object(value) && i < sizeof passing / sizeof *passing; i++)
		json_object_del(value, passing[i]);
	json_object_foreach(value, key, inner) forget(inner, depth + 1);
	json_array_foreach(value, i, inner) forget(inner, depth + 1);
}

/* Collects the versions in all headers: "ipf-fire 0.1.0" becomes {"ipf-fire": "0.1.0"}. */
static void versions(json_t *header, json_t *to, int depth)
{
	const char *tool = json_string_value(json_object_get(header, "tool")), *blank = tool ? strchr(tool, ' ') : NULL;
	json_t *from = json_object_get(header, "from"), *entry;
	size_t i;
	char name[64];
	if (blank) {
		snprintf(name, sizeof name, "%.*s", (int)(blank - tool), tool);
		json_object_set_new(to, name, json_string(blank + 1));
	}
	if (depth < 16)
		json_array_foreach(from, i, entry) versions(entry, to, depth + 1);
}

static void copy(json_t *to, const char *name, json_t *value)
{
	if (value && !json_is_null(value))
		json_object_set(to, name, value);
}

/* The length of the run: that of the longest shard, or the sum of the repeats. */
static double duration_s(const struct run_data *run)
{
	int64_t sum = 0, most = 0;
	for (int i = 0; i < run->part_count; i++) {
		int64_t last = run->parts[i].last_ns;
		sum += last;
		most = last > most ? last : most;
	}
	return (double)(run->shards ? most : sum) / 1e9;
}

/* The same for a new value; NULL is fine. */
static void give(json_t *to, const char *name, json_t *value)
{
	copy(to, name, value);
	json_decref(value);
}

static json_t *schedule_text(const struct run_data *run)
{
	struct buffer text = {0};
	for (size_t i = 0; i < run->schedule.count; i++)
		if (run->schedule.stages[i].spec[0])
			buffer_format(&text, "%s%s", text.len ? " " : "", run->schedule.stages[i].spec);
	json_t *json = text.len ? json_string(text.data) : NULL;
	buffer_release(&text);
	return json;
}

/* The result of --calibrate, without the loads it tried on the way. */
static json_t *calibration(json_t *records)
{
	json_t *found = json_copy(json_object_get(records, "calibration"));
	if (json_is_object(found))
		json_object_del(found, "levels");
	return found;
}

static json_t *clients(const struct run_data *run)
{
	json_t *all = json_array();
	for (int i = 0; i < run->part_count; i++)
		if (run->parts[i].clients)
			json_array_extend(all, run->parts[i].clients);
	if (json_array_size(all))
		return all;
	json_decref(all);
	return NULL;
}

/* The twin's name, and the limits it exceeded. NULL: it was measured. */
static json_t *predicted_json(const struct run_data *run)
{
	json_t *member = run->parts[0].predicted, *names = run_data_extrapolated(run);
	json_t *copy = !member ? NULL : json_is_object(member) ? json_copy(member) : json_object();
	if (copy)
		json_object_set_new(copy, "by", json_string(predicted_by(copy).text));
	if (copy && json_array_size(names))
		json_object_set(copy, "extrapolated", names);
	json_decref(names);
	return copy;
}

/* The name of the run, if its parts agree on it; borrowed; NULL. */
static json_t *name_of(const struct run_data *run)
{
	json_t *name = json_object_get(run->parts[0].header, "name");
	for (int i = 1; i < run->part_count; i++)
		if (!json_equal(json_object_get(run->parts[i].header, "name"), name))
			return NULL;
	return json_is_string(name) ? name : NULL;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The SHA-256 of the lines of the results, as in their trailer; of several results, that of their digests in increasing
 * order, a line each. NULL: out of memory. */
static json_t *digest_of(const struct run_data *run)
{
	const char **all = calloc((size_t)run->part_count, sizeof *all);
	struct digest *sum = digest_new();
	char hex[65] = "";
	for (int i = 0; all && i < run->part_count; i++) {
		const char *one = json_string_value(json_array_get(run->parts[i].digests, 0));
		all[i] = one ? one : "";
	}
	if (all && run->part_count == 1) {
		snprintf(hex, sizeof hex, "%s", all[0]);
	} else if (all && sum) {
		qsort(all, (size_t)run->part_count, sizeof *all, by_text);
		for (int i = 0; i < run->part_count; i++) {
			digest_update(sum, all[i], strlen(all[i]));
			digest_update(sum, "\n", 1);
		}
		digest_hex(sum, hex);
	}
	digest_free(sum);
	free(all);
	return hex[0] ? json_string(hex) : NULL;
}

/* Sections of a report for which the run has data, and which a brief one leaves out. */
static json_t *data_of(const struct run_data *run)
{
	const struct {
		bool has;
		const char *section;
	} data[] = {{run->groups[BY_SESSION].count > 0, "sessions"},
	            {run->windows != NULL, "timeline"},
	            {run->samples && sample_store_sources(run->samples) > 0, "server"},
	            {run->accelerators.count > 0, "accelerators"}};
	json_t *list = json_array();
	for (size_t i = 0; i < sizeof data / sizeof *data; i++)
		if (data[i].has)
			json_array_append_new(list, json_string(data[i].section));
	return list;
}

/* How many models and targets there are, if several: there is more to see than the figures of all. */
static json_t *group_counts(const struct run_data *run)
{
	json_t *counts = json_object();
	for (enum grouping by = BY_MODEL; by <= BY_TARGET; by++)
		if (run->groups[by].count > 1)
			json_object_set_new(counts, groupings[by], json_integer(run->groups[by].count));
	if (json_object_size(counts) > 0)
		return counts;
	json_decref(counts);
	return NULL;
}

/* A sum of counts of trailers, which anyone may have written: at most the largest number. */
static json_int_t add(json_int_t a, json_int_t b)
{
	json_int_t sum;
	return __builtin_add_overflow(a, b, &sum) ? (b > 0 ? INT64_MAX : INT64_MIN) : sum;
}

/* Adds the counts of a map to those of another. */
static void add_counts(json_t *to, json_t *from)
{
	const char *name;
	json_t *value;
	json_object_foreach(from, name, value)
	{
		json_t *now = json_object_get(to, name);
		if (json_is_integer(value))
			json_object_set_new(to, name, json_integer(add(json_integer_value(now), json_integer_value(value))));
		else if (json_is_object(value) && (now || json_object_set_new(to, name, json_object()) == 0))
			add_counts(json_object_get(to, name), value);
	}
}

/* Counts the trailers of all records have under this name; NULL: none has. */
static json_t *counts_of_records(const struct run_data *run, const char *name)
{
	json_t *sum = json_object(), *entry;
	size_t k;
	for (int i = 0; i < run->part_count; i++)
		json_array_foreach(json_object_get(run->parts[i].trailer, "from"), k, entry)
			add_counts(sum, json_object_get(entry, name));
	if (json_object_size(sum) > 0)
		return sum;
	json_decref(sum);
	return NULL;
}

/* How many sessions in progress were cut at the end of their stages; NULL: none, or not known. */
static json_t *cut_sessions(const struct run_data *run)
{
	json_int_t sum = 0;
	json_t *entry;
	size_t k;
	for (int i = 0; i < run->part_count; i++)
		json_array_foreach(json_object_get(run->parts[i].trailer, "from"), k, entry)
			sum = add(sum, json_integer_value(json_object_get(entry, "cut_sessions")));
	return sum > 0 ? json_integer(sum) : NULL;
}

/* Where the run was interrupted and continued, for how long nothing was sent, and how many requests were sent again;
 * NULL: it was not. */
static json_t *continued(const struct run_data *run)
{
	json_t *list = json_array(), *from;
	size_t k;
	for (int i = 0; i < run->part_count; i++)
		json_array_foreach(json_object_get(run->parts[i].header, "from"), k, from)
		{
			json_t *continues = json_object_get(from, "continues"), *gap = json_object_get(continues, "gap_ns");
			if (!json_is_object(continues))
				continue;
			json_t *one = json_pack("{s:f, s:I}", "at_s", json_number_value(json_object_get(continues, "at_ns")) / 1e9,
			                        "restarted", (json_int_t)json_array_size(json_object_get(continues, "restarted")));
			if (json_is_integer(gap))
				json_object_set_new(one, "gap_s", json_real(json_number_value(gap) / 1e9));
			json_array_append_new(list, one);
		}
	if (json_array_size(list) > 0)
		return list;
	json_decref(list);
	return NULL;
}

/* The requests of the stage that primes the sessions of another one, whose name it has; -1: there is none. */
static int64_t primers_of(const struct schedule *schedule, const char *name)
{
	char primer[256];
	snprintf(primer, sizeof primer, "%s primer", name);
	for (size_t i = 0; i < schedule->count; i++)
		if (!schedule->stages[i].measured && strcmp(schedule->stages[i].name, primer) == 0)
			return schedule->stages[i].all_arrivals ? schedule->stages[i].all_arrivals : schedule->stages[i].arrivals;
	return -1;
}

/* The declared state of the prefix cache, and its resets, those before stages included. */
static void give_cache(json_t *info, const struct run_data *run)
{
	json_t *resets = json_array(), *from, *records = NULL;
	size_t k;
	for (int i = 0; i < run->part_count; i++) {
		json_array_foreach(json_object_get(run->parts[i].header, "from"), k, from)
		{
			records = provenance_find(from, "records");
			json_array_extend(resets, json_object_get(records, "cache_reset"));
			if (json_object_get(records, "cache"))
				give(info, "cache", cache_condition_text(run));
			copy(info, "cache_warm", json_object_get(records, "cache_warm"));
		}
		json_array_foreach(json_object_get(run->parts[i].trailer, "from"), k, from)
			json_array_extend(resets, json_object_get(from, "cache_reset"));
	}
	if (json_array_size(resets))
		json_object_set(info, "cache_reset", resets);
	json_decref(resets);
}

/* Where requests went, and what they asked for. */
static void give_requests(json_t *info, json_t *header, json_t *records)
{
	copy(info, "target", json_object_get(records, "target"));
	copy(info, "api", json_object_get(header, "api"));
	copy(info, "model", json_object_get(records, "model"));
	copy(info, "answers", json_object_get(records, "answers"));
}

/* The stages' use of the trace's sessions; NULL: none. */
static json_t *session_stages(const struct run_data *run)
{
	json_t *list = json_array();
	for (size_t i = 0; i < run->schedule.count; i++) {
		const struct schedule_stage *s = &run->schedule.stages[i];
		const int64_t primers = s->sessions && s->measured ? primers_of(&run->schedule, s->name) : -1;
		if (!s->measured || (primers < 0 && !s->salt && !s->idle_max_ns))
			continue;
		json_t *stage = json_pack("{s:s}", "stage", s->name);
		if (primers >= 0)
			json_object_set_new(stage, "primers", json_integer(primers));
		if (s->salt)
			json_object_set_new(stage, "salt", json_true());
		if (s->idle_max_ns)
			json_object_set_new(stage, "idle_max_ns", json_integer(s->idle_max_ns));
		json_array_append_new(list, stage);
	}
	if (json_array_size(list) > 0)
		return list;
	json_decref(list);
	return NULL;
}

json_t *run_info_json(const struct run_data *run, bool reproducible)
{
	json_t *info = json_object(), *tools = json_object(), *headers = json_array(), *incomplete = json_array();
	json_t *header = run->parts[0].header, *records = provenance_find(header, "records"),
		   *schedule = provenance_find(header, "schedule");
	for (int i = 0; i < run->part_count; i++) {
		if (run->parts[i].incomplete[0])
			json_array_append_new(incomplete, json_string(run->parts[i].incomplete));
		json_t *whole = json_deep_copy(run->parts[i].header);
		if (reproducible)
			forget(whole, 0);
		json_array_append_new(headers, whole);
		versions(run->parts[i].header, tools, 0);
	}
	json_object_set_new(tools, "ipf-report", json_string(IPF_VERSION));
	if (json_array_size(incomplete) > 0)
		json_object_set(info, "incomplete", incomplete);
	if (!reproducible && !run->parts[0].predicted)
		copy(info, "started", json_object_get(records, "t0"));
	copy(info, "stopped", json_object_get(run->parts[0].trailer, "stopped"));
	copy(info, "not_stable", json_object_get(run->parts[0].trailer, "not_stable"));
	if (!run->stated || run->stated->requests || duration_s(run) > 0) /* not every file of figures says it */
		json_object_set_new(info, "duration_s", json_real(duration_s(run)));
	give(info, "digest", digest_of(run));
	copy(info, "name", name_of(run));
	give(info, "predicted", predicted_json(run));
	copy(info, "imported", json_object_get(header, "imported"));
	copy(info, "definition", json_object_get(header, "definition"));
	give(info, "has", data_of(run));
	if (loads_differ(run))
		json_object_set_new(info, "several_loads", json_true());
	give(info, "groups", group_counts(run));
	if (run->part_count > 1)
		json_object_set_new(info, "pooled", json_string(run->shards ? "shards" : "repeats"));
	give_requests(info, header, records);
	copy(info, "tokenizer", json_object_get(header, "tokenizer"));
	copy(info, "itl", json_object_get(header, "itl"));
	copy(info, "seed", json_object_get(schedule, "seed"));
	give(info, "schedule", schedule_text(run));
	give(info, "shards", run->shard_set.of ? shard_set_json(&run->shard_set) : NULL);
	give(info, "sessions", session_stages(run));
	give(info, "cut_sessions", cut_sessions(run));
	give(info, "continued", continued(run));
	give(info, "history", counts_of_records(run, "history"));
	give(info, "session_tokens", counts_of_records(run, "session_tokens"));
	give_cache(info, run);
	copy(info, "trace", json_object_get(header, "trace"));
	copy(info, "stamps", json_object_get(records, "stamps"));
	give(info, "clients", clients(run));
	give(info, "calibration", reproducible ? NULL : calibration(records));
	if (!reproducible)
		copy(info, "host", json_object_get(records, "host"));
	json_object_set(info, "versions", tools);
	json_object_set(info, "headers", headers);
	json_decref(incomplete);
	json_decref(headers);
	json_decref(tools);
	return info;
}
