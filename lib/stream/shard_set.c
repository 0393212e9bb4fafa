#include "stream/shard_set.h"

#include "absent.h"
#include "array.h"
#include "stream/provenance.h"
#include "stream/schedule.h"

#include <stdlib.h>
#include <string.h>

/* ---- the identity of a schedule ---- */

/* The differences between the shards of a schedule. */
static const char *const own[] = {"slots", "arrivals", "once", "first_n", "rate"};

/* The digests of the files the schedule was made from. */
static json_t *files_of(json_t *schedule)
{
	json_t *files = json_array(), *entry, *digest;
	size_t i;
	json_array_foreach(json_object_get(schedule, "from"), i, entry)
	{
		digest = json_object_get(entry, "file") ? json_object_get(entry, "sha256") : NULL;
		if (digest && json_array_append(files, digest) < 0) {
			json_decref(files);
			return NULL;
		}
	}
	return files;
}

static json_t *stages_of(json_t *schedule)
{
	json_t *stages = json_deep_copy(json_object_get(schedule, "stages")), *stage;
	size_t i, k;
	json_array_foreach(stages, i, stage)
	{
		for (k = 0; k < sizeof own / sizeof *own; k++)
			json_object_del(stage, own[k]);
	}
	return stages;
}

/* In the order in which differences are told. NULL: out of memory. */
static json_t *identify(json_t *schedule)
{
	json_t *seed = json_object_get(schedule, "seed"),
		   *sha256 = json_object_get(json_object_get(schedule, "trace"), "sha256");
	return json_pack("{s:O?, s:O?, s:o, s:o}", "seed", seed, "trace", sha256, "stages", stages_of(schedule),
	                 "input files", files_of(schedule));
}

static const char *difference(json_t *a, json_t *b)
{
	static const char *const names[] = {"seed", "trace", "stages", "input files"};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		json_t *x = json_object_get(a, names[i]), *y = json_object_get(b, names[i]);
		if (x != y && !json_equal(x, y))
			return names[i];
	}
	return NULL;
}

/* ---- adding ---- */

static bool has(const struct shard_set *set, int64_t index)
{
	for (size_t i = 0; i < set->count; i++)
		if (set->list[i].index == index)
			return true;
	return false;
}

/* "shard 1 of 2", or "no shard" */
static const char *describe(int64_t index, int64_t of, char text[64])
{
	if (of)
		snprintf(text, 64, "shard %lld of %lld", (long long)index, (long long)of);
	else
		snprintf(text, 64, "no shard");
	return text;
}

static void count_arrivals(struct shard_set *set, const struct schedule *schedule)
{
	int64_t all = 0;
	for (size_t i = 0; i < schedule->count; i++) {
		const struct schedule_stage *stage = &schedule->stages[i];
		const int64_t most = INT64_C(1000000000000); /* keeps sums from overflowing */
		set->unknown |= stage->cycle || stage->arrivals == IPF_ABSENT || stage->arrivals > most ||
		                stage->all_arrivals > most || set->arrivals > most || all > most;
		if (set->unknown)
			return;
		set->arrivals += stage->arrivals;
		all += stage->all_arrivals;
	}
	set->all_arrivals = all;
}

static int append(struct shard_set *set, int64_t index, const char *file, int64_t t0_ns, struct ipf_error *err)
{
	if (!array_one_more(set->list, set->count))
		return ipf_error_memory(err);
	set->list[set->count] = (struct shard_entry){.index = index, .file = strdup(file), .t0_ns = t0_ns};
	return set->list[set->count++].file ? 0 : ipf_error_memory(err);
}

/* Adds a file; index 0 of 0: it is no shard. Takes `whole` over. */
static int join(struct shard_set *set, int64_t index, int64_t of, json_t *whole, const char *file,
                struct ipf_error *err)
{
	const char *what;
	char this[64], that[64];
	int bad = 0;
	describe(index, of, this);
	if (!set->file) {
		set->of = of;
		set->whole = json_incref(whole);
		bad = (set->file = strdup(file)) ? 0 : ipf_error_memory(err);
	} else if (set->of != of) {
		bad = ipf_error_at(err, IPF_INPUT, file, 0, "is %s, but %s is %s", this, set->file,
		                   describe(set->count ? set->list[0].index : 0, set->of, that));
	} else if (of && (what = difference(set->whole, whole))) {
		bad = ipf_error_at(err, IPF_INPUT, file, 0, "is %s of another schedule than %s: its %s differ%s", this,
		                   set->file, what, what[strlen(what) - 1] == 's' ? "" : "s");
	}
	json_decref(whole);
	return bad;
}

static int add_schedule(struct shard_set *set, json_t *header, json_t *records, const char *file, struct ipf_error *err)
{
	struct schedule schedule = {0};
	json_t *t0 = json_object_get(records, "t0_unix_ns"), *whole = NULL;
	int64_t t0_ns = json_is_integer(t0) && json_integer_value(t0) >= 0 ? json_integer_value(t0) : IPF_ABSENT;
	json_t *shard = json_object_get(header, "shard");
	if (!shard || json_is_null(shard))
		return join(set, 0, 0, NULL, file, err);
	if (schedule_from_header(&schedule, header, file, err) < 0)
		return -1;
	int64_t index = schedule.shard, of = schedule.shards;
	int bad = (whole = identify(header)) ? join(set, index, of, whole, file, err) : ipf_error_memory(err);
	for (size_t i = 0; bad == 0 && i < set->count; i++)
		if (set->list[i].index == index)
			bad = ipf_error_at(err, IPF_INPUT, file, 0, "is shard %lld of %lld, as %s is: a shard counts once",
			                   (long long)index, (long long)of, set->list[i].file);
	if (bad == 0)
		bad = append(set, index, file, t0_ns, err);
	if (bad == 0)
		count_arrivals(set, &schedule);
	schedule_release(&schedule);
	return bad;
}

static json_t *schedule_in(json_t *header)
{
	json_t *found = provenance_find(header, "schedule");
	return found ? found : header;
}

int shard_set_add(struct shard_set *set, json_t *header, const char *file, struct ipf_error *err)
{
	const char *kind = json_string_value(json_object_get(header, "ipf")), *inner;
	json_t *entry;
	size_t i;
	int added = 0;
	if (kind && strcmp(kind, "results") == 0)
		json_array_foreach(json_object_get(header, "from"), i, entry)
		{
			inner = json_string_value(json_object_get(entry, "ipf"));
			if (!inner || strcmp(inner, "records") != 0)
				continue;
			if (add_schedule(set, schedule_in(entry), entry, file, err) < 0)
				return -1;
			added++;
		}
	return added ? 0 : add_schedule(set, schedule_in(header), header, file, err);
}

int shard_set_add_whole(struct shard_set *set, const char *file, struct ipf_error *err)
{
	return join(set, 0, 0, NULL, file, err);
}

/* ---- present shards ---- */

bool shard_set_complete(const struct shard_set *set)
{
	return set->of > 0 && (int64_t)set->count == set->of;
}

int64_t shard_set_missing(const struct shard_set *set)
{
	bool nothing_left = !set->unknown && set->all_arrivals > 0 && set->arrivals >= set->all_arrivals;
	return set->of == 0 || nothing_left ? 0 : set->of - (int64_t)set->count;
}

void shard_set_describe_missing(const struct shard_set *set, struct buffer *out)
{
	enum { NAMED_MOST = 8 };
	int64_t missing = shard_set_missing(set), named = 0;
	buffer_text(out, missing == 1 ? "shard" : "shards");
	for (int64_t i = 1; i <= set->of && named < missing; i++) {
		if (has(set, i))
			continue;
		named++;
		if (named > NAMED_MOST) {
			buffer_format(out, " and %lld others", (long long)(missing - named + 1));
			break;
		}
		bool last = named == missing;
		buffer_format(out, "%s %lld", named == 1 ? "" : last ? " and" : ",", (long long)i);
	}
	buffer_format(out, " of %lld %s missing", (long long)set->of, missing == 1 ? "is" : "are");
}

int64_t shard_set_spread_ns(const struct shard_set *set, int64_t *index)
{
	int64_t first = IPF_ABSENT, last = IPF_ABSENT;
	*index = 0;
	for (size_t i = 0; i < set->count; i++) {
		int64_t t0_ns = set->list[i].t0_ns;
		if (t0_ns == IPF_ABSENT)
			return 0;
		first = first == IPF_ABSENT || t0_ns < first ? t0_ns : first;
		if (last == IPF_ABSENT || t0_ns > last) {
			last = t0_ns;
			*index = set->list[i].index;
		}
	}
	return last - first;
}

json_t *shard_set_json(const struct shard_set *set)
{
	json_t *json = json_pack("{s:I}", "of", (json_int_t)set->of), *present = json_array(), *missing = json_array();
	int bad = !json || !present || !missing;
	for (int64_t i = 1; !bad && i <= set->of; i++)
		bad = json_array_append_new(has(set, i) ? present : missing, json_integer((json_int_t)i));
	bad = bad || json_object_set(json, "present", present) < 0 ||
	      (shard_set_missing(set) > 0 && json_object_set(json, "missing", missing) < 0);
	json_decref(present);
	json_decref(missing);
	if (!bad)
		return json;
	json_decref(json);
	return NULL;
}

void shard_set_release(struct shard_set *set)
{
	for (size_t i = 0; i < set->count; i++)
		free(set->list[i].file);
	free(set->list);
	free(set->file);
	json_decref(set->whole);
	*set = (struct shard_set){0};
}
