#include "sources/layout.h"

#include "absent.h"
#include "api/descriptor_check.h"
#include "array.h"
#include "cli/nearest.h"
#include "sources/builtin_formats.h"
#include "sources/member_names.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* ---- texts and places ---- */

static int copy_text(struct descriptor_place at, json_t *object, const char *key, char **copy, struct ipf_error *err)
{
	json_t *value = json_object_get(object, key);
	if (!value)
		return 0;
	if (!json_is_string(value))
		return descriptor_wrong(at, key, err, "a string", value);
	*copy = strdup(json_string_value(value));
	return *copy ? 0 : ipf_error_memory(err);
}

static int copy_flag(struct descriptor_place at, json_t *object, const char *key, bool *flag, struct ipf_error *err)
{
	json_t *value = json_object_get(object, key);
	if (value && !json_is_boolean(value))
		return descriptor_wrong(at, key, err, "true or false", value);
	*flag = json_is_true(value);
	return 0;
}

/* Calls `each` with a string, or with every string of an array. */
static int each_text(struct descriptor_place at, json_t *object, const char *key,
                     int (*each)(const char *text, void *data, struct ipf_error *err), void *data,
                     struct ipf_error *err)
{
	json_t *value = json_object_get(object, key), *item;
	struct ipf_error wrong = {0};
	size_t i;
	int status = 0;
	if (value && !json_is_string(value) && !json_array_size(value))
		return descriptor_wrong(at, key, err, "a string, or a list of strings", value);
	if (json_is_string(value))
		status = each(json_string_value(value), data, &wrong);
	json_array_foreach(value, i, item)
	{
		if (status == 0 && !json_is_string(item))
			return descriptor_wrong(at, key, err, "a list of strings", value);
		if (status == 0)
			status = each(json_string_value(item), data, &wrong);
	}
	if (status < 0)
		descriptor_error(at, key, err, "%s", wrong.text);
	return status;
}

struct text_list {
	char ***list;
	size_t *count;
};

static int add_text(const char *text, void *data, struct ipf_error *err)
{
	struct text_list *to = data;
	if (!array_one_more(*to->list, *to->count))
		return ipf_error_memory(err);
	(*to->list)[*to->count] = strdup(text);
	return (*to->list)[(*to->count)++] ? 0 : ipf_error_memory(err);
}

static int read_texts(struct descriptor_place at, json_t *object, const char *key, char ***list, size_t *count,
                      struct ipf_error *err)
{
	return each_text(at, object, key, add_text, &(struct text_list){list, count}, err);
}

struct place_list {
	struct place **list;
	size_t *count;
};

static int add_place(const char *text, void *data, struct ipf_error *err)
{
	struct place_list *to = data;
	if (!array_one_more(*to->list, *to->count))
		return ipf_error_memory(err);
	return place_parse(&(*to->list)[(*to->count)++], text, err);
}

static int read_places(struct descriptor_place at, json_t *object, const char *key, struct place **list, size_t *count,
                       struct ipf_error *err)
{
	return each_text(at, object, key, add_place, &(struct place_list){list, count}, err);
}

/* ---- fields ---- */

/* A member of "fields". */
struct field_value {
	struct layout_fields *fields;
	enum field field;
	int64_t unit_ns;
	json_t *none;
};

/* The texts of a list, each ending in NUL, and an empty one. */
static char *joined_texts(json_t *list)
{
	size_t len = 1, i;
	json_t *text;
	json_array_foreach(list, i, text) len += json_string_length(text) + 1;
	char *all = calloc(1, len), *to = all;
	json_array_foreach(list, i, text)
	{
		if (to)
			to = stpcpy(to, json_string_value(text)) + 1;
	}
	return all;
}

static int map_place(const char *text, void *data, struct ipf_error *err)
{
	const struct field_value *v = data;
	size_t len = strlen(text);
	if (strstr(text, "/*/") || (len >= 2 && strcmp(text + len - 2, "/*") == 0))
		return ipf_error_set(err, IPF_INPUT, "expected one place, got \"%.80s\": \"*\" is for records", text);
	if (layout_map_place(v->fields, v->field, v->unit_ns, text, err) < 0)
		return -1;
	struct mapping *m = &v->fields->mappings[v->fields->count - 1];
	return v->none && !(m->none = joined_texts(v->none)) ? ipf_error_memory(err) : 0;
}

/* "@system" stands for the usual names of a kind of member (member_names.h). */
static int map_kind(const char *text, void *data, struct ipf_error *err)
{
	static const struct {
		const char *name;
		enum member_kind kind;
	} kinds[] = {{"@system", MEMBER_SYSTEM}, {"@context", MEMBER_CONTEXT}, {"@output_tokens", MEMBER_OUTPUT_TOKENS}};
	const char *name;
	size_t k = 0;
	if (text[0] != '@')
		return map_place(text, data, err);
	while (k < sizeof kinds / sizeof *kinds && strcmp(kinds[k].name, text) != 0)
		k++;
	if (k == sizeof kinds / sizeof *kinds)
		return ipf_error_set(err, IPF_INPUT, "expected @system, @context or @output_tokens, got \"%.40s\"", text);
	for (size_t i = 0; (name = member_name_at(kinds[k].kind, i)); i++)
		if (map_place(name, data, err) < 0)
			return -1;
	return 0;
}

static bool is_list_of_texts(json_t *list)
{
	json_t *one;
	size_t i;
	json_array_foreach(list, i, one)
	{
		if (!json_is_string(one))
			return false;
	}
	return json_array_size(list) > 0;
}

/* {"from": PLACES, "none": [TEXT, …], "join": TEXT, "value": NUMBER} */
static int map_object(struct descriptor_place at, const char *key, json_t *object, struct field_value *v,
                      struct ipf_error *err)
{
	static const char *const known[] = {"from", "none", "join", "value", NULL};
	char inside[128];
	snprintf(inside, sizeof inside, "%s.%s", at.inside, key);
	struct descriptor_place in = descriptor_inside(at, inside);
	json_t *value = json_object_get(object, "value");
	v->none = json_object_get(object, "none");
	if (descriptor_only_members(in, object, known, err) < 0)
		return -1;
	if (v->none && !is_list_of_texts(v->none))
		return descriptor_wrong(in, "none", err, "a list of strings", v->none);
	if (value && (!json_is_integer(value) || json_integer_value(value) < 0))
		return descriptor_wrong(in, "value", err, "a number of 0 or more", value);
	if (value && v->field < FIELDS) {
		v->fields->constant[v->field] = json_integer_value(value);
		v->fields->present |= FIELD_BIT(v->field);
	}
	if (!value && !json_object_get(object, "from"))
		return descriptor_wrong(in, "from", err, "a place", NULL);
	if (v->field == FIELD_PROMPT && copy_text(in, object, "join", &v->fields->join, err) < 0)
		return -1;
	return each_text(in, object, "from", map_kind, v, err);
}

static int unknown_field(struct descriptor_place at, const char *key, struct ipf_error *err)
{
	struct nearest near = {0};
	for (enum field f = 0; f < FIELDS; f++)
		nearest_try(&near, key, strlen(key), field_name_of(f));
	return near.name ? descriptor_error(at, key, err, "unknown field, did you mean \"%s\"?", near.name)
	                 : descriptor_error(at, key, err, "unknown field");
}

static int map_tag(struct descriptor_place at, const char *name, json_t *value, struct layout_fields *f,
                   struct ipf_error *err)
{
	struct layout_fields one = {0};
	struct field_value v = {.fields = &one, .field = FIELD_IGNORE};
	int status;
	if (!array_one_more(f->tags, f->tag_count))
		return ipf_error_memory(err);
	if (json_is_object(value))
		status = map_object(at, name, value, &v, err);
	else
		status = json_is_string(value) ? map_place(json_string_value(value), &v, err)
		                               : descriptor_wrong(at, name, err, "a place", value);
	if (status == 0 && one.count == 1) {
		f->tags[f->tag_count++] = (struct layout_tag){strdup(name), one.mappings[0]};
		free(one.mappings);
		return f->tags[f->tag_count - 1].name ? 0 : ipf_error_memory(err);
	}
	layout_fields_release(&one);
	return status < 0 ? -1 : descriptor_wrong(at, name, err, "one place", value);
}

static int read_fields(struct descriptor_place at, json_t *object, struct layout_fields *f, struct ipf_error *err)
{
	const char *key, *name;
	json_t *value, *tag;
	for (enum field i = 0; i < FIELDS; i++)
		f->constant[i] = IPF_ABSENT;
	if (object && !json_is_object(object))
		return descriptor_wrong(at, "fields", err, "an object", object);
	char inside[64];
	snprintf(inside, sizeof inside, "%s%sfields", at.inside ? at.inside : "", at.inside ? "." : "");
	struct descriptor_place in = descriptor_inside(at, inside);
	json_object_foreach(object, key, value)
	{
		struct field_value v = {.fields = f};
		int status = 0;
		if (strcmp(key, "tags") == 0 && json_is_object(value)) {
			json_object_foreach(value, name, tag)
			{
				if (status == 0)
					status = map_tag(descriptor_inside(at, "fields.tags"), name, tag, f, err);
			}
		} else if ((v.field = field_of_name(key, strlen(key), &v.unit_ns)) == FIELDS) {
			return unknown_field(in, key, err);
		} else {
			status = json_is_object(value) ? map_object(in, key, value, &v, err)
			                               : each_text(in, object, key, map_kind, &v, err);
		}
		if (status < 0)
			return -1;
	}
	layout_fields_link(f);
	return 0;
}

static int add_required(const char *text, void *data, struct ipf_error *err)
{
	int64_t unit;
	enum field field = field_of_name(text, strlen(text), &unit);
	if (field == FIELDS)
		return ipf_error_set(err, IPF_INPUT, "expected the name of a field, got \"%.40s\"", text);
	((struct layout_fields *)data)->required |= FIELD_BIT(field);
	return 0;
}

/* ---- conditions ---- */

/* Adds the alternatives "A|B". */
static int add_alternatives(const char *text, void *data, struct ipf_error *err)
{
	struct place_list *to = data;
	for (const char *at = text, *bar; at; at = bar ? bar + 1 : NULL) {
		bar = strchr(at, '|');
		char *one = strndup(at, bar ? (size_t)(bar - at) : strlen(at));
		int status = one ? add_place(one, data, err) : ipf_error_memory(err);
		free(one);
		if (status < 0)
			return -1;
		(*to->list)[*to->count - 1].or_next = bar != NULL;
	}
	return 0;
}

static int read_condition(struct descriptor_place at, json_t *json, struct layout_condition *c, struct ipf_error *err)
{
	static const char *const known[] = {"has", "lacks", "is", "text", "json", "csv", NULL};
	json_t *is = json_object_get(json, "is");
	const char *key;
	json_t *value;
	if (!json_is_object(json))
		return descriptor_wrong(at, "condition", err, "an object", json);
	if (descriptor_only_members(at, json, known, err) < 0 ||
	    each_text(at, json, "has", add_alternatives, &(struct place_list){&c->has, &c->has_count}, err) < 0 ||
	    read_places(at, json, "lacks", &c->lacks, &c->lacks_count, err) < 0 ||
	    read_texts(at, json, "text", &c->within, &c->within_count, err) < 0 ||
	    copy_flag(at, json, "json", &c->json, err) < 0 || copy_flag(at, json, "csv", &c->csv, err) < 0)
		return -1;
	if (is && json_object_size(is) != 1)
		return descriptor_wrong(at, "is", err, "an object with one place and its texts", is);
	json_object_foreach(is, key, value)
	{
		struct ipf_error wrong = {0};
		if (add_place(key, &(struct place_list){&c->is, &c->is_count}, &wrong) < 0)
			return descriptor_error(at, "is", err, "%s", wrong.text);
		if (read_texts(at, is, key, &c->texts, &c->text_count, err) < 0)
			return -1;
	}
	return 0;
}

static int read_conditions(struct descriptor_place at, json_t *object, const char *key, struct layout_condition **list,
                           size_t *count, struct ipf_error *err)
{
	json_t *value = json_object_get(object, key), *one;
	size_t i, all = json_is_array(value) ? json_array_size(value) : value != NULL;
	if (all == 0)
		return value ? descriptor_wrong(at, key, err, "a condition, or a list of conditions", value) : 0;
	*list = calloc(all, sizeof **list);
	if (!*list)
		return ipf_error_memory(err);
	*count = all;
	at = descriptor_inside(at, key);
	if (!json_is_array(value))
		return read_condition(at, value, *list, err);
	json_array_foreach(value, i, one)
	{
		if (read_condition(at, one, *list + i, err) < 0)
			return -1;
	}
	return 0;
}

/* ---- turns ---- */

static int read_roles(struct descriptor_place at, json_t *object, struct layout_turns *t, struct ipf_error *err)
{
	static const char *const names[] = {[ROLE_SYSTEM] = "system", [ROLE_USER] = "user", [ROLE_ASSISTANT] = "assistant"};
	static const char *const known[] = {"system", "user", "assistant", NULL};
	json_t *roles = json_object_get(object, "roles");
	if (!roles)
		return 0;
	if (!json_is_object(roles))
		return descriptor_wrong(at, "roles", err, "an object", roles);
	at = descriptor_inside(at, "turns.roles");
	if (descriptor_only_members(at, roles, known, err) < 0)
		return -1;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (read_texts(at, roles, names[i], &t->roles[i], &t->role_counts[i], err) < 0)
			return -1;
	return 0;
}

static int read_turns(struct descriptor_place at, json_t *object, struct layout_turns *t, struct ipf_error *err)
{
	static const char *const known[] = {"list", "fields", "required", "roles", "merged", "answered", "whole", NULL};
	if (!object)
		return 0;
	if (!json_is_object(object))
		return descriptor_wrong(at, "turns", err, "an object", object);
	at = descriptor_inside(at, "turns");
	if (!json_object_get(object, "list"))
		return descriptor_wrong(at, "list", err, "a place", NULL);
	return descriptor_only_members(at, object, known, err) < 0 ||
	               read_places(at, object, "list", &t->lists, &t->list_count, err) < 0 ||
	               read_fields(at, json_object_get(object, "fields"), &t->fields, err) < 0 ||
	               each_text(at, object, "required", add_required, &t->fields, err) < 0 ||
	               read_roles(at, object, t, err) < 0 || copy_flag(at, object, "merged", &t->merged, err) < 0 ||
	               copy_flag(at, object, "answered", &t->answered, err) < 0 ||
	               copy_flag(at, object, "whole", &t->whole, err) < 0
	           ? -1
	           : 0;
}

/* ---- the whole ---- */

/* The index of a text in a list ending with NULL; -1: it is another one, which err says. */
static int read_choice(struct descriptor_place at, json_t *object, const char *key, const char *const *list,
                       const char *expected, struct ipf_error *err)
{
	json_t *value = json_object_get(object, key);
	for (int i = 0; json_is_string(value) && list[i]; i++)
		if (strcmp(list[i], json_string_value(value)) == 0)
			return i;
	return value ? descriptor_wrong(at, key, err, expected, value) : 0;
}

static int read_head(struct descriptor_place at, json_t *json, struct layout *l, struct ipf_error *err)
{
	static const char *const groups[] = {"dataset", "trace", "agents", "log", NULL};
	static const char *const origins[] = {"zero", "file", "data", NULL};
	json_t *version = json_object_get(json, "version");
	if (!json_is_string(json_object_get(json, "ipf")) ||
	    strcmp(json_string_value(json_object_get(json, "ipf")), "prep-format") != 0)
		return descriptor_wrong(at, "ipf", err, "\"prep-format\"", json_object_get(json, "ipf"));
	if (!json_is_integer(version) || json_integer_value(version) != 1)
		return descriptor_wrong(at, "version", err, "1", version);
	int group = read_choice(at, json, "group", groups, "dataset, trace, agents or log", err);
	int origin = read_choice(at, json, "counts_from", origins, "zero, file or data", err);
	l->group = (enum source_group)group;
	l->origin = (enum layout_origin)origin;
	return group < 0 || origin < 0 || descriptor_check_string(at, json, "name", false, err) < 0 ||
	               descriptor_check_string(at, json, "about", false, err) < 0 ||
	               copy_text(at, json, "name", &l->name, err) < 0 || copy_text(at, json, "about", &l->about, err) < 0 ||
	               copy_text(at, json, "page", &l->page, err) < 0 ||
	               copy_text(at, json, "source", &l->source, err) < 0 ||
	               copy_text(at, json, "ignored", &l->ignored, err) < 0 ||
	               copy_text(at, json, "filled", &l->filled, err) < 0 ||
	               copy_flag(at, json, "ordered", &l->ordered, err) < 0 ||
	               copy_flag(at, json, "guessed", &l->guessed, err) < 0
	           ? -1
	           : 0;
}

static int read_layout(struct descriptor_place at, json_t *json, struct layout *l, struct ipf_error *err)
{
	static const char *const known[] = {"ipf",       "version",  "name",        "group",  "about",
	                                    "page",      "source",   "ignored",     "filled", "ordered",
	                                    "guessed",   "records",  "requests",    "other",  "fields",
	                                    "recognise", "required", "counts_from", "turns",  NULL};
	if (descriptor_only_members(at, json, known, err) < 0 || read_head(at, json, l, err) < 0 ||
	    read_conditions(at, json, "recognise", &l->recognised, &l->recognised_count, err) < 0 ||
	    read_conditions(at, json, "requests", &l->requests, &l->requests_count, err) < 0 ||
	    copy_text(at, json, "other", &l->other, err) < 0 ||
	    read_places(at, json, "records", &l->records, &l->record_count, err) < 0 ||
	    read_fields(at, json_object_get(json, "fields"), &l->fields, err) < 0 ||
	    each_text(at, json, "required", add_required, &l->fields, err) < 0 ||
	    read_turns(at, json_object_get(json, "turns"), &l->turns, err) < 0)
		return -1;
	if (!((l->fields.present | l->turns.fields.present) & FIELDS_OF_PROMPTS))
		return descriptor_error(at, "fields", err,
		                        "expected one of prompt, messages, input_tokens, audio, request and query, got none");
	if (l->turns.fields.present & (FIELD_BIT(FIELD_ID) | FIELD_BIT(FIELD_SESSION)))
		return descriptor_error(descriptor_inside(at, "turns"), "fields", err,
		                        "id and session are of the record, not of its turns");
	return 0;
}

/* Adds missing members from the built-in format like this one. */
static int add_base(struct descriptor_place at, json_t *json, struct ipf_error *err)
{
	json_t *like = json_object_get(json, "like");
	const char *name = json_string_value(like);
	size_t i = 0;
	if (!like)
		return 0;
	while (name && format_builtins[i].name && strcmp(format_builtins[i].name, name) != 0)
		i++;
	if (!name || !format_builtins[i].name)
		return descriptor_wrong(at, "like", err, "the name of a format described in a file", like);
	json_t *base = json_loads(format_builtins[i].json, 0, NULL);
	int status = json_object_update_missing(json, base);
	json_decref(base);
	return status < 0 ? ipf_error_memory(err) : json_object_del(json, "like");
}

struct layout *layout_load(const char *file, const char *text, struct ipf_error *err)
{
	json_error_t wrong;
	struct descriptor_place at = {.file = file};
	json_t *json = json_loads(text, JSON_REJECT_DUPLICATES, &wrong);
	struct layout *l = calloc(1, sizeof *l);
	int status = 0;
	if (!json)
		status = ipf_error_at(err, IPF_INPUT, file, wrong.line, "not JSON: %s", wrong.text);
	else if (!json_is_object(json))
		status = ipf_error_at(err, IPF_INPUT, file, 1, "expected an object");
	else if (add_base(at, json, err) < 0)
		status = -1;
	else
		status = l && (l->path = strdup(file)) ? read_layout(at, json, l, err) : ipf_error_memory(err);
	json_decref(json);
	if (status < 0) {
		layout_free(l);
		return NULL;
	}
	layout_to_format(l);
	return l;
}
