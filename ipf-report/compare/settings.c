#include "compare/settings.h"

#include "memory.h"
#include "stream/provenance.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What says nothing of the run, or is said elsewhere: what a stream was made of has an entry of its own. */
static const char *const left_out[] = {"argv",        "created",      "from",        "name",   "t0",      "t0_unix_ns",
                                       "t0_clock_ns", "system_clock", "calibration", "shard",  "ipf",     "version",
                                       "series",      "clock",        "note",        "search", "clients", "limits",
                                       "release",     "first_n",      "all_arrivals"};

static bool is_left_out(const char *key)
{
	for (size_t i = 0; i < sizeof left_out / sizeof *left_out; i++)
		if (strcmp(key, left_out[i]) == 0)
			return true;
	return false;
}

/* A value as text; NULL: out of memory, or absent. */
static char *text_of(json_t *value)
{
	return json_is_string(value) ? strdup(json_string_value(value))
	       : value               ? json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(15))
	                             : NULL;
}

static void add(json_t *list, const char *name, json_t *base, json_t *value)
{
	char *texts[] = {text_of(base), text_of(value)};
	json_t *entry = json_object();
	json_object_set_new(entry, "name", json_string(name));
	if (texts[0])
		json_object_set_new(entry, "base", json_string(texts[0]));
	if (texts[1])
		json_object_set_new(entry, "new", json_string(texts[1]));
	json_array_append_new(list, entry);
	free(texts[0]);
	free(texts[1]);
}

/* The specifications of the stages, as on the command line; NULL: they have none. */
static json_t *specs_of(json_t *stages)
{
	json_t *list = json_array(), *stage;
	size_t i;
	json_array_foreach(stages, i, stage)
	{
		json_t *spec = json_object_get(stage, "spec");
		if (!json_is_string(spec) || !*json_string_value(spec)) {
			json_decref(list);
			return NULL;
		}
		json_array_append(list, spec);
	}
	return list;
}

/* A stage of the schedule is what the user asked for; what follows from that would only repeat it. */
static bool same_stages(json_t *list, const char *name, json_t *base, json_t *value)
{
	json_t *a = specs_of(base), *b = specs_of(value);
	const bool told = a && b && !json_equal(a, b);
	if (told)
		add(list, name, a, b);
	json_decref(a);
	json_decref(b);
	return told;
}

enum { DEPTH = 3 };

static void compare(json_t *list, const char *path, json_t *base, json_t *value, int depth);

static void compare_members(json_t *list, const char *path, json_t *base, json_t *value, int depth)
{
	const char *key;
	json_t *member;
	char name[160];
	json_object_foreach(base, key, member)
	{
		snprintf(name, sizeof name, "%.70s.%.70s", path, key);
		if (!is_left_out(key))
			compare(list, name, member, json_object_get(value, key), depth + 1);
	}
	json_object_foreach(value, key, member)
	{
		snprintf(name, sizeof name, "%.70s.%.70s", path, key);
		if (!is_left_out(key) && !json_object_get(base, key))
			compare(list, name, NULL, member, depth + 1);
	}
}

static void compare(json_t *list, const char *path, json_t *base, json_t *value, int depth)
{
	const char *last = strrchr(path, '.');
	if (json_equal(base, value) || json_array_size(list) >= SETTINGS_MOST)
		return;
	if (last && strcmp(last, ".stages") == 0 && same_stages(list, path, base, value))
		return;
	/* descriptors have names; that one of the same name differs is said with all of it */
	json_t *a = json_object_get(base, "name"), *b = json_object_get(value, "name");
	if (json_is_object(base) && json_is_object(value) && a && b && !json_equal(a, b))
		add(list, path, a, b);
	else if (json_is_object(base) && json_is_object(value) && depth < DEPTH)
		compare_members(list, path, base, value, depth);
	else
		add(list, path, base, value);
}

/* Whose definitions the figures of a side have. */
static const char *definitions_of(json_t *header)
{
	const char *tool = json_string_value(json_object_get(json_object_get(header, "imported"), "tool"));
	return tool ? tool : "ipf";
}

/* A file of another tool says little of what our headers say: that would be a list of what is absent. */
static void keep_common(json_t *list)
{
	for (size_t i = json_array_size(list); i-- > 0;) {
		json_t *entry = json_array_get(list, i);
		if (!json_object_get(entry, "base") || !json_object_get(entry, "new"))
			json_array_remove(list, i);
	}
}

json_t *settings_compare(json_t *base, json_t *value)
{
	static const char *const kinds[] = {"results", "records", "schedule", "trace"};
	json_t *list = json_array();
	for (size_t i = 0; list && i < sizeof kinds / sizeof *kinds; i++) {
		json_t *a = i == 0 ? base : provenance_find(base, kinds[i]),
			   *b = i == 0 ? value : provenance_find(value, kinds[i]);
		if (a && b)
			compare_members(list, kinds[i], a, b, 0);
	}
	if (!list || strcmp(definitions_of(base), definitions_of(value)) == 0)
		return list;
	keep_common(list);
	json_array_insert_new(list, 0,
	                      json_pack("{s:s, s:s, s:s}", "name", "definitions", "base", definitions_of(base), "new",
	                                definitions_of(value)));
	return list;
}
