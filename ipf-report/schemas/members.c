#include "schemas/members.h"

#include "memory.h"

#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH = 16 };

struct source {
	json_t *types;
	const char *path, *at; /* the type read's */
	int64_t line;
	json_t *object; /* in the last type: the schema that members below it belong to; NULL */
	struct level {
		size_t indent;
		json_t *object;
	} open[DEPTH]; /* the lines above with less indent; `object` NULL: no members belong to them */
	int depth;
	struct ipf_error *err;
};

static void wrong(struct source *s, const char *wanted, const char *got)
{
	ipf_error_at(s->err, IPF_INPUT, s->path, s->line, "expected %s, got \"%s\"", wanted, got);
}

/* The member of an object, which becomes `fresh` unless it is there. */
static json_t *part(json_t *object, const char *name, json_t *fresh)
{
	json_t *found = json_object_get(object, name);
	if (found)
		json_decref(fresh);
	else
		json_object_set_new(object, name, fresh);
	return json_object_get(object, name);
}

/* ---- types ---- */

static const struct builtin {
	const char *name, *type;
	double least, most;
} builtins[] = {
	{"text", "string", -INFINITY, INFINITY},
	{"number", "number", -INFINITY, INFINITY},
	{"integer", "integer", -INFINITY, INFINITY},
	{"boolean", "boolean", -INFINITY, INFINITY},
	{"object", "object", -INFINITY, INFINITY},
	{"array", "array", -INFINITY, INFINITY},
	{"null", "null", -INFINITY, INFINITY},
	{"count", "integer", 0, INFINITY},
	{"share", "number", 0, 1},
	{"time", "string", -INFINITY, INFINITY},
	{"any", NULL, -INFINITY, INFINITY},
};

/* Sets a limit, unless there is none. */
static void set_limit(json_t *schema, const char *keyword, double value)
{
	if (isfinite(value))
		json_object_set_new(schema, keyword,
		                    value == floor(value) ? json_integer((json_int_t)value) : json_real(value));
}

static bool takes(struct source *s, const char *text)
{
	size_t len = strlen(text);
	bool same = strncmp(s->at, text, len) == 0;
	s->at += same ? len : 0;
	return same;
}

/* A number before ".." or the end; `otherwise` if there is none. */
static double read_limit(struct source *s, double otherwise)
{
	char digits[32];
	size_t len = 0;
	for (char c; len < sizeof digits - 1 && (c = s->at[len]) != '\0'; len++)
		if (!isalnum((unsigned char)c) && c != '-' && (c != '.' || s->at[len + 1] == '.'))
			break;
	memcpy(digits, s->at, len);
	digits[len] = '\0';
	s->at += len;
	return len ? strtod(digits, NULL) : otherwise;
}

struct limits {
	double least, most;
};

/* "2", "1..", "..8", "1..8" */
static struct limits read_limits(struct source *s)
{
	struct limits limits = {.least = read_limit(s, -INFINITY)};
	limits.most = takes(s, "..") ? read_limit(s, INFINITY) : limits.least;
	return limits;
}

static json_t *read_type(struct source *s);

static json_t *builtin_type(struct source *s, const struct builtin *b)
{
	json_t *schema = json_object();
	struct limits limits = {b->least, b->most};
	bool above = false;
	if (b->type)
		json_object_set_new(schema, "type", json_string(b->type));
	if (strcmp(b->name, "time") == 0)
		json_object_set_new(schema, "format", json_string("date-time"));
	if (takes(s, ":")) {
		above = takes(s, ">");
		limits = read_limits(s);
	}
	set_limit(schema, above ? "exclusiveMinimum" : "minimum", limits.least);
	set_limit(schema, "maximum", limits.most);
	if (strcmp(b->name, "object") == 0)
		s->object = schema;
	return schema;
}

/* The length of a name, or of a text with its quotes. */
static size_t word_length(const char *at)
{
	const char *end = *at == '"' ? strchr(at + 1, '"') : NULL;
	return end ? (size_t)(end + 1 - at) : strcspn(at, "|/[](){}:\"");
}

static json_t *word_json(const char *at, size_t len)
{
	return *at == '"' ? json_stringn(at + 1, len - 2) : json_stringn(at, len);
}

static json_t *read_texts(struct source *s)
{
	json_t *texts = json_array();
	do {
		size_t len = word_length(s->at);
		json_array_append_new(texts, word_json(s->at, len));
		s->at += len;
	} while (takes(s, "|"));
	return json_pack("{s:o}", "enum", texts);
}

static json_t *read_word(struct source *s)
{
	const char *word = s->at;
	size_t len = word_length(word);
	if (len && word[len] == '|')
		return read_texts(s);
	s->at += len;
	if (len && *word == '"')
		return json_pack("{s:o}", "const", word_json(word, len));
	if (isdigit((unsigned char)*word))
		return json_pack("{s:I}", "const", (json_int_t)strtoll(word, NULL, 10));
	if (len == 4 && memcmp(word, "true", len) == 0)
		return json_pack("{s:b}", "const", true);
	for (const struct builtin *b = builtins; b < builtins + sizeof builtins / sizeof *builtins; b++)
		if (strlen(b->name) == len && memcmp(b->name, word, len) == 0)
			return builtin_type(s, b);
	if (!len)
		wrong(s, "a type", word);
	return json_pack("{s:s+#}", "$ref", "#/$defs/", word, (int)len);
}

static json_t *read_one(struct source *s)
{
	if (*s->at == '^') {
		const char *pattern = s->at;
		s->at += strlen(pattern);
		return json_pack("{s:s, s:s}", "type", "string", "pattern", pattern);
	}
	if (!takes(s, "("))
		return read_word(s);
	json_t *schema = read_type(s);
	if (!takes(s, ")"))
		wrong(s, ")", s->at);
	return schema;
}

static json_t *list_of(struct source *s, json_t *items)
{
	json_t *schema = json_pack("{s:s, s:o}", "type", "array", "items", items);
	if (*s->at != ']') {
		struct limits limits = read_limits(s);
		set_limit(schema, "minItems", limits.least);
		set_limit(schema, "maxItems", limits.most);
	}
	if (!takes(s, "]"))
		wrong(s, "]", s->at);
	return schema;
}

static json_t *map_of(struct source *s, json_t *values)
{
	json_t *schema = json_pack("{s:s, s:o}", "type", "object", "additionalProperties", values), *object = s->object;
	if (takes(s, ".."))
		set_limit(schema, "maxProperties", read_limit(s, INFINITY));
	else if (*s->at != '}')
		json_object_set_new(schema, "propertyNames", read_type(s));
	s->object = object;
	if (!takes(s, "}"))
		wrong(s, "}", s->at);
	return schema;
}

static json_t *read_suffixes(struct source *s)
{
	json_t *schema = read_one(s);
	for (;;) {
		if (takes(s, "["))
			schema = list_of(s, schema);
		else if (takes(s, "{"))
			schema = map_of(s, schema);
		else
			return schema;
	}
}

static json_t *either(json_t *parts)
{
	json_t *names = json_array(), *one;
	size_t i;
	json_array_foreach(parts, i, one)
	{
		json_t *name = json_object_get(one, "type");
		if (name && json_object_size(one) == 1)
			json_array_append(names, name);
	}
	if (json_array_size(names) != json_array_size(parts)) {
		json_decref(names);
		return json_pack("{s:o}", "anyOf", parts);
	}
	json_decref(parts);
	return json_pack("{s:o}", "type", names);
}

static json_t *read_type(struct source *s)
{
	json_t *schema = read_suffixes(s);
	if (*s->at != '/')
		return schema;
	json_t *parts = json_pack("[o]", schema);
	while (takes(s, "/"))
		json_array_append_new(parts, read_suffixes(s));
	return either(parts);
}

/* ---- lines ---- */

static json_t *type_of_line(struct source *s, const char *type, const char *about)
{
	s->at = type;
	s->object = NULL;
	json_t *schema = read_type(s);
	if (*s->at)
		wrong(s, "the end of a type", s->at);
	if (*about)
		json_object_set_new(schema, "description", json_string(about));
	return schema;
}

static void require(json_t *object, const char *name)
{
	json_t *list = part(object, "required", json_array()), *one;
	size_t i;
	json_array_foreach(list, i, one) if (strcmp(json_string_value(one), name) == 0) return;
	json_array_append_new(list, json_string(name));
}

static void splice(struct source *s, json_t *object, const char *name)
{
	static const char *const groups[] = {"properties", "patternProperties"};
	json_t *from = json_object_get(s->types, name), *one;
	size_t i;
	if (!from)
		wrong(s, "a type from above", name);
	for (i = 0; i < sizeof groups / sizeof *groups; i++)
		if (json_object_get(from, groups[i]))
			json_object_update(part(object, groups[i], json_object()), json_object_get(from, groups[i]));
	json_array_foreach(json_object_get(from, "required"), i, one) require(object, json_string_value(one));
	if (json_object_get(from, "additionalProperties"))
		json_object_set(object, "additionalProperties", json_object_get(from, "additionalProperties"));
}

static void add_choice(json_t *object, const char *name, json_t *type)
{
	while (json_object_get(object, "if"))
		object = part(object, "else", json_object());
	if (*name) {
		json_object_set_new(object, "if", json_pack("{s:[s]}", "required", name));
		json_object_set_new(object, "then", type);
	} else {
		json_object_update(object, type);
		json_decref(type);
	}
}

/* Changes a present member. */
static void amend(struct source *s, json_t *members, const char *name, const char *about)
{
	json_t *copy = json_deep_copy(json_object_get(members, name));
	if (!copy)
		wrong(s, "a member from above", name);
	else if (*about)
		json_object_set_new(copy, "description", json_string(about));
	s->object = copy;
	json_object_set_new(members, name, copy);
}

static void add_member(struct source *s, json_t *object, char *name, const char *type, const char *about)
{
	size_t len = strlen(name);
	bool required = len > 1 && name[len - 1] == '!';
	json_t *members = part(object, *name == '^' ? "patternProperties" : "properties", json_object());
	name[len - required] = '\0';
	if (strcmp(type, "-") == 0)
		amend(s, members, name, about);
	else
		json_object_set_new(members, name, type_of_line(s, type, about));
	if (required)
		require(object, name);
}

/* The next word of a line, without the space after it. */
static char *take_word(char **at)
{
	char *word = *at, *end = word;
	for (bool quoted = false; *end && (quoted || *end != ' '); end++)
		quoted ^= *end == '"';
	*at = end + strspn(end, " ");
	*end = '\0';
	return word;
}

/* The object a line with this indent belongs to. NULL: none. */
static json_t *owner(struct source *s, size_t indent)
{
	while (s->depth && s->open[s->depth - 1].indent >= indent)
		s->depth--;
	return s->depth ? s->open[s->depth - 1].object : NULL;
}

static void read_line(struct source *s, char *line)
{
	size_t indent = strspn(line, " ");
	char *at = line + indent, *name = take_word(&at), *type = take_word(&at);
	json_t *object = owner(s, indent);
	s->object = NULL;
	if (!object && (*name != '$' || indent))
		wrong(s, "a member of an object", name);
	else if (*name == '$')
		json_object_set_new(s->types, name + 1, type_of_line(s, type, at));
	else if (*name == '@')
		splice(s, object, name + 1);
	else if (*name == '?')
		add_choice(object, name + 1, type_of_line(s, type, ""));
	else if (*name == '.')
		json_object_set_new(object, "additionalProperties", json_boolean(name[1] == '.'));
	else
		add_member(s, object, name, type, at);
	if (s->depth < DEPTH)
		s->open[s->depth++] = (struct level){indent, s->object};
}

int members_read(json_t *types, const char *path, char *text, struct ipf_error *err)
{
	struct source s = {.types = types, .path = path, .err = err};
	for (char *line; (line = strsep(&text, "\n")) != NULL && err->kind == IPF_OK;) {
		s.line++;
		if (*line && *line != '#')
			read_line(&s, line);
	}
	return err->kind == IPF_OK && !memory_ran_out() ? 0 : ipf_error_memory(err);
}

/* ---- a schema ---- */

static void add_used(const json_t *types, json_t *used, json_t *schema, struct ipf_error *err)
{
	const char *key;
	json_t *value;
	size_t i;
	json_array_foreach(schema, i, value) add_used(types, used, value, err);
	json_object_foreach(schema, key, value)
	{
		const char *name = strcmp(key, "$ref") == 0 ? strrchr(json_string_value(value), '/') + 1 : NULL;
		if (!name) {
			add_used(types, used, value, err);
		} else if (!json_object_get(types, name)) {
			ipf_error_set(err, IPF_INPUT, "%s: no such type", name);
		} else if (!json_object_get(used, name)) {
			json_object_set(used, name, json_object_get(types, name));
			add_used(types, used, json_object_get(types, name), err);
		}
	}
}

json_t *members_schema(const json_t *types, const char *name, struct ipf_error *err)
{
	json_t *used = json_object(),
		   *schema = json_pack("{s:s, s:s+}", "$schema", "https://json-schema.org/draft/2020-12/schema", "title",
	                           "ipf ", name);
	if (!json_object_get(types, name))
		ipf_error_set(err, IPF_INPUT, "%s: no such type", name);
	json_object_update(schema, json_object_get(types, name));
	add_used(types, used, schema, err);
	json_object_set_new(schema, "$defs", used);
	if (err->kind == IPF_OK && !memory_ran_out())
		return schema;
	json_decref(schema);
	return NULL;
}
