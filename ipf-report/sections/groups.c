#include "sections/groups.h"

#include "document/shown_numbers.h"

#include <stdio.h>
#include <string.h>

static const struct {
	const char *by, *what, *title;
} words[] = {
	{"model", "model", "Models"},       {"target", "target", "Targets"},   {"replica", "replica", "Replicas"},
	{"session", "session", "Sessions"}, {"time", "time", "By time"},       {"input_tokens", "input", "By input tokens"},
	{"tag", "tag", "By tag"},           {"inputs", "inputs", "By inputs"},
};
enum { WORDS = sizeof words / sizeof *words };

const char *group_word(const char *by)
{
	for (size_t i = 0; i < WORDS; i++)
		if (strcmp(words[i].by, by) == 0)
			return words[i].what;
	return by;
}

bool group_is_asked(const struct telling *t, const char *by)
{
	const char *asked = text_at(t->report, "options/by");
	return asked && strcmp(asked, by) == 0;
}

/* How many bytes all names share at their beginning and at their end, up to a slash. */
static void common_ends(struct group *g)
{
	const char *first = NULL, *name;
	json_t *block;
	g->front = g->back = 0;
	json_object_foreach(g->members, name, block)
	{
		size_t len = strlen(name), n = 0;
		if (!first) {
			first = name;
			g->front = g->back = len;
		}
		while (n < g->front && first[n] == name[n])
			n++;
		g->front = n;
		for (n = 0; n < g->back && n < len && first[strlen(first) - 1 - n] == name[len - 1 - n];)
			n++;
		g->back = n;
	}
	while (g->front > 0 && first[g->front - 1] != '/')
		g->front--;
	while (g->back > 0 && first[strlen(first) - g->back] != '/')
		g->back--;
	json_object_foreach(g->members, name, block)
	{
		if (strlen(name) <= g->front + g->back)
			g->front = g->back = 0;
	}
}

const char *group_member(const struct group *g, const char *name, char shown[200])
{
	snprintf(shown, 200, "%.*s", (int)(strlen(name) - g->front - g->back), name + g->front);
	return shown;
}

/* A brief report has the requested ones. The numbers of inputs have a section, and are there without being asked. */
static bool is_elsewhere(const struct telling *t, const char *by)
{
	return (t->brief || strcmp(by, "inputs") == 0) && !group_is_asked(t, by);
}

/* Fills the group of the member `at` of the total, or of the first one behind it that is one to show. */
static void *find(const struct telling *t, struct group *g, void *at)
{
	for (; at; at = json_object_iter_next(t->total, at)) {
		const char *key = json_object_iter_key(at);
		json_t *members = json_object_iter_value(at);
		if (strncmp(key, "by_", 3) != 0 || json_object_size(members) == 0 || is_elsewhere(t, key + 3))
			continue;
		*g = (struct group){.what = group_word(key + 3), .title = key + 3, .members = members};
		snprintf(g->by, sizeof g->by, "%s", key + 3);
		g->id = doc_replace(t->d, key + 3, "_", '-');
		for (size_t i = 0; i < WORDS; i++)
			if (strcmp(words[i].by, g->by) == 0)
				g->title = words[i].title;
		g->left_out = (size_t)json_integer_value(json_at(t->total, "groups_left_out"));
		if (strcmp(g->by, "target") == 0 || strcmp(g->by, "replica") == 0)
			common_ends(g);
		return at;
	}
	return NULL;
}

void *group_first(const struct telling *t, struct group *g)
{
	return find(t, g, json_object_iter(t->total));
}

void *group_next(const struct telling *t, struct group *g, void *at)
{
	return find(t, g, json_object_iter_next(t->total, at));
}
