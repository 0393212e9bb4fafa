#include "api/api_lookup.h"

#include "api/api.h"
#include "api/api_builtin.h"
#include "buffer.h"
#include "cli/nearest.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NAME_MOST 64

/* The form in which names are compared. False: it is longer than any name. */
static bool normalize(const char *name, char form[NAME_MOST])
{
	size_t i = 0;
	for (; name[i] && i + 1 < NAME_MOST; i++)
		form[i] = name[i] == '_' || name[i] == '.' ? '-' : (char)tolower((unsigned char)name[i]);
	form[i] = '\0';
	return !name[i];
}

/* Calls `each` with every alias of a descriptor, until it returns true. */
static bool each_alias(const struct builtin_text *api, bool (*each)(const char *alias, void *data), void *data)
{
	json_t *json = json_loads(api->json, 0, NULL), *alias;
	size_t i;
	bool found = false;
	json_array_foreach(json_object_get(json, "aliases"), i, alias)
		found = found || each(json_string_value(alias), data);
	json_decref(json);
	return found;
}

static bool is_name(const char *alias, void *name)
{
	return !strcmp(alias, name);
}

const char *api_lookup(const char *name)
{
	char form[NAME_MOST];
	if (!normalize(name, form))
		return NULL;
	for (size_t i = 0; api_builtins[i].name; i++)
		if (!strcmp(api_builtins[i].name, form))
			return api_builtins[i].json;
	for (size_t i = 0; api_builtins[i].name; i++)
		if (each_alias(&api_builtins[i], is_name, form))
			return api_builtins[i].json;
	return NULL;
}

/* The nearest of all names and aliases. */
struct search {
	char typed[NAME_MOST], best[NAME_MOST];
	struct nearest near;
};

static bool try_name(const char *name, void *data)
{
	struct search *s = data;
	struct nearest before = s->near;
	nearest_try(&s->near, s->typed, strlen(s->typed), name);
	if (s->near.name != before.name || s->near.edits != before.edits)
		snprintf(s->best, sizeof s->best, "%s", name);
	s->near.name = s->best[0] ? s->best : NULL; /* an alias is freed after this call */
	return false;
}

int api_lookup_failed(const char *name, struct ipf_error *err)
{
	struct search s = {0};
	struct buffer known = {0};
	if (access(name, F_OK) == 0)
		return ipf_error_set(err, IPF_USAGE,
		                     "unknown API \"%.100s\": if the file of this name is meant, write ./%.100s", name, name);
	bool usual = normalize(name, s.typed);
	for (size_t i = 0; api_builtins[i].name; i++) {
		buffer_format(&known, i ? ", %s" : "%s", api_builtins[i].name);
		if (usual) {
			try_name(api_builtins[i].name, &s);
			each_alias(&api_builtins[i], try_name, &s);
		}
	}
	if (known.failed)
		ipf_error_memory(err);
	else if (s.best[0])
		ipf_error_set(err, IPF_USAGE, "unknown API \"%.100s\": did you mean %s? (--list-apis lists all)", name, s.best);
	else
		ipf_error_set(err, IPF_USAGE, "unknown API \"%.100s\": expected one of %s, or a descriptor file (FILE.json)",
		              name, known.data);
	buffer_release(&known);
	return -1;
}

static bool append_alias(const char *alias, void *text)
{
	struct buffer *b = text;
	buffer_format(b, b->len ? ", %s" : "%s", alias);
	return false;
}

const char *api_offer(size_t i)
{
	return api_builtin(i, NULL);
}

const char *api_builtin(size_t i, const char **about)
{
	static char text[1024];
	size_t count = 0;
	while (api_builtins[count].name)
		count++;
	if (i >= count)
		return NULL;
	if (about) {
		struct buffer aliases = {0};
		json_t *json = json_loads(api_builtins[i].json, 0, NULL);
		const char *says = json_string_value(json_object_get(json, "about"));
		each_alias(&api_builtins[i], append_alias, &aliases);
		bool has = aliases.data && !aliases.failed;
		snprintf(text, sizeof text, "%s%s%s", says ? says : "", has ? "; also: " : "", has ? aliases.data : "");
		json_decref(json);
		buffer_release(&aliases);
		*about = text;
	}
	return api_builtins[i].name;
}
