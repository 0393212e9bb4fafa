#include "compare/settings.h"

#include "buffer.h"
#include "memory.h"
#include "stream/provenance.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Members that are not about the run, or appear elsewhere: the sources of a stream have a separate entry. */
static const char *const left_out[] = {"argv",         "created",     "from",         "name",        "t0",
                                       "t0_unix_ns",   "t0_clock_ns", "system_clock", "calibration", "shard",
                                       "ipf",          "version",     "series",       "clock",       "note",
                                       "search",       "clients",     "limits",       "release",     "first_n",
                                       "all_arrivals", "definition",  "file",         "cache_reset", "cache_warm"};

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

/* A stage of the schedule is the user's setting; values derived from it would only repeat it. Have both sides such
 * stages? */
static bool compare_stages(json_t *list, const char *name, json_t *base, json_t *value)
{
	json_t *a = specs_of(base), *b = specs_of(value);
	const bool told = a && b;
	if (told && !json_equal(a, b))
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

/* By which twin, which only the header of the results says: the records' would repeat it. */
static void compare_predicted(json_t *list, const char *path, json_t *base, json_t *value, int depth)
{
	if (strcmp(path, "results.predicted") != 0)
		return;
	if (base && value)
		compare_members(list, "predicted", base, value, depth);
	else
		add(list, "predicted", json_object_get(base, "twin"), json_object_get(value, "twin"));
}

static void compare(json_t *list, const char *path, json_t *base, json_t *value, int depth)
{
	const char *last = strrchr(path, '.');
	if (json_equal(base, value) || json_array_size(list) >= SETTINGS_MOST)
		return;
	if (last && strcmp(last, ".stages") == 0 && compare_stages(list, path, base, value))
		return;
	if (last && strcmp(last, ".predicted") == 0) {
		compare_predicted(list, path, base, value, depth);
		return;
	}
	/* descriptors have names; that one of the same name differs is said with all of it */
	json_t *a = json_object_get(base, "name"), *b = json_object_get(value, "name");
	if (json_is_object(base) && json_is_object(value) && a && b && !json_equal(a, b))
		add(list, path, a, b);
	else if (json_is_object(base) && json_is_object(value) && depth < DEPTH)
		compare_members(list, path, base, value, depth);
	else
		add(list, path, base, value);
}

/* Whose definitions the figures of a run have: ours, those of a tool ipf-collect --definition applied, or of the one
 * that wrote the file. */
static json_t *definitions_of(json_t *header)
{
	json_t *applied = json_object_get(header, "definition");
	const char *tool = json_string_value(json_object_get(json_object_get(header, "imported"), "tool"));
	const char *by = json_string_value(json_object_get(applied, "tool")),
			   *version = json_string_value(json_object_get(applied, "version"));
	if (tool || !by)
		return json_string(tool ? tool : "ipf");
	return json_sprintf("%s%s%s", by, version ? " " : "", version ? version : "");
}

static bool is_imported(json_t *header)
{
	return json_object_get(header, "imported") != NULL;
}

/* A file of another tool has few members of our headers: the entry would be a list of absent values. */
static void keep_common(json_t *list)
{
	for (size_t i = json_array_size(list); i-- > 0;) {
		json_t *entry = json_array_get(list, i);
		if (!json_object_get(entry, "base") || !json_object_get(entry, "new"))
			json_array_remove(list, i);
	}
}

/* The differences of two headers: a new array of entries; NULL: out of memory. */
static json_t *compare_headers(json_t *base, json_t *value)
{
	static const char *const kinds[] = {"results", "records", "schedule", "trace"};
	json_t *list = json_array();
	for (size_t i = 0; list && i < sizeof kinds / sizeof *kinds; i++) {
		json_t *a = i == 0 ? base : provenance_find(base, kinds[i]),
			   *b = i == 0 ? value : provenance_find(value, kinds[i]);
		if (a && b)
			compare_members(list, kinds[i], a, b, 0);
	}
	if (is_imported(base) != is_imported(value))
		keep_common(list);
	json_t *a = definitions_of(base), *b = definitions_of(value);
	if (list && a && b && !json_equal(a, b))
		json_array_insert_new(list, 0, json_pack("{s:s, s:O, s:O}", "name", "definitions", "base", a, "new", b));
	json_decref(a);
	json_decref(b);
	return list;
}

/* ---- several runs ---- */

static json_t *entry_of(json_t *list, const char *name)
{
	json_t *entry;
	size_t i;
	json_array_foreach(list, i, entry)
	{
		if (strcmp(json_string_value(json_object_get(entry, "name")), name) == 0)
			return entry;
	}
	return NULL;
}

/* Which runs of a side have which value of a setting: {VALUE: [run, …]}, in order of appearance. `lists` are their
 * differences from the first run of the base, whose value is `reference`; NULL: it has none. "" is no value. */
static json_t *runs_by_value(json_t *lists, const char *name, const char *reference)
{
	json_t *by_value = json_object(), *list;
	size_t r;
	json_array_foreach(lists, r, list)
	{
		json_t *entry = entry_of(list, name);
		const char *value = entry ? json_string_value(json_object_get(entry, "new")) : reference;
		json_t *runs = json_object_get(by_value, value ? value : "");
		if (!runs) {
			runs = json_array();
			json_object_set_new(by_value, value ? value : "", runs);
		}
		json_array_append_new(runs, json_integer((json_int_t)r + 1));
	}
	return by_value;
}

/* Has the same share of the runs of both sides each value? */
static bool same_shares(json_t *base, size_t base_runs, json_t *value, size_t value_runs)
{
	const char *key;
	json_t *runs;
	json_object_foreach(base, key, runs)
	{
		if (json_array_size(runs) * value_runs != json_array_size(json_object_get(value, key)) * base_runs)
			return false;
	}
	return json_object_size(base) == json_object_size(value);
}

/* "1.1", or "1.1 (runs 1, 3); 2 (run 2)"; a new text; NULL: no run has a value. */
static json_t *text_of_runs(json_t *by_value)
{
	struct buffer text = {0};
	const char *value;
	json_t *runs, *run, *made;
	size_t i;
	json_object_foreach(by_value, value, runs)
	{
		buffer_format(&text, "%s%s", text.len ? "; " : "", *value || json_object_size(by_value) == 1 ? value : "-");
		json_array_foreach(json_object_size(by_value) > 1 ? runs : NULL, i, run)
			buffer_format(&text, "%s%lld",
		                  i                           ? ", "
		                  : json_array_size(runs) > 1 ? " (runs "
		                                              : " (run ",
		                  (long long)json_integer_value(run));
		if (json_object_size(by_value) > 1)
			buffer_byte(&text, ')');
	}
	made = text.len ? json_stringn(text.data, text.len) : NULL;
	buffer_release(&text);
	return made;
}

static void add_runs(json_t *list, const char *name, const char *reference, json_t *base, json_t *value)
{
	json_t *by_base = runs_by_value(base, name, reference), *by_value = runs_by_value(value, name, reference);
	if (json_array_size(list) < SETTINGS_MOST && !entry_of(list, name) &&
	    !same_shares(by_base, json_array_size(base), by_value, json_array_size(value))) {
		json_t *entry = json_pack("{s:s}", "name", name), *a = text_of_runs(by_base), *b = text_of_runs(by_value);
		if (a)
			json_object_set_new(entry, "base", a);
		if (b)
			json_object_set_new(entry, "new", b);
		json_array_append_new(list, entry);
	}
	json_decref(by_base);
	json_decref(by_value);
}

/* The differences of each run from the first one of the base: an array of arrays. */
static json_t *compare_all(json_t *first, json_t *headers)
{
	json_t *lists = json_array(), *header;
	size_t r;
	json_array_foreach(headers, r, header) json_array_append_new(lists, compare_headers(first, header));
	return lists;
}

json_t *settings_compare(json_t *base, json_t *value)
{
	json_t *first = json_array_get(base, 0), *list = json_array(), *lists[2], *differing, *entry;
	size_t s, r, i;
	lists[0] = compare_all(first, base);
	lists[1] = compare_all(first, value);
	for (s = 0; s < 2; s++)
		json_array_foreach(lists[s], r, differing) json_array_foreach(differing, i, entry)
			add_runs(list, json_string_value(json_object_get(entry, "name")),
		             json_string_value(json_object_get(entry, "base")), lists[0], lists[1]);
	json_decref(lists[0]);
	json_decref(lists[1]);
	return list;
}

/* ---- in words ---- */

const char *setting_words(const char *name, char words[160])
{
	static const char *const known[][2] = {
		{"target", "server"},      {"targets", "servers"},
		{"stages", "load"},        {"trace", "trace"},
		{"trace.sha256", "trace"}, {"trace.requests", "requests of the trace"},
		{"http", "HTTP"},          {"api", "API"},
		{"itl", "sample of ITL"},
	};
	const char *dot = strchr(name, '.'), *rest = dot ? dot + 1 : name;
	for (size_t i = 0; dot && i < sizeof known / sizeof *known; i++)
		if (strcmp(known[i][0], rest) == 0)
			return known[i][1];
	snprintf(words, 160, "%s", rest);
	for (char *at = words; *at; at++)
		*at = *at == '.' || *at == '_' ? ' ' : *at;
	return words;
}

char *setting_value(const char *value)
{
	static const char *const signs[][2] = {{"[\"", ""}, {"\"]", ""}, {"\",\"", ", "}};
	struct buffer text = {0};
	while (*value) {
		size_t taken = 0;
		for (size_t i = 0; taken == 0 && i < sizeof signs / sizeof *signs; i++)
			if (strncmp(value, signs[i][0], strlen(signs[i][0])) == 0) {
				buffer_text(&text, signs[i][1]);
				taken = strlen(signs[i][0]);
			}
		if (taken == 0)
			buffer_byte(&text, *value);
		value += taken ? taken : 1;
	}
	char *made = text.failed ? NULL : strndup(text.len ? text.data : "", text.len);
	buffer_release(&text);
	return made;
}

bool settings_named(json_t *settings, const char *words, const char **base, const char **value)
{
	char own[160];
	json_t *entry;
	size_t i;
	json_array_foreach(settings, i, entry)
	{
		if (strcmp(setting_words(json_string_value(json_object_get(entry, "name")), own), words) != 0)
			continue;
		*base = json_string_value(json_object_get(entry, "base"));
		*value = json_string_value(json_object_get(entry, "new"));
		return true;
	}
	return false;
}
