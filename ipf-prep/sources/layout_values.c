#include "sources/layout_values.h"

#include "absent.h"
#include "cli/times.h"
#include "input/csv_json.h"
#include "json/jout.h"
#include "sources/chat_fields.h"
#include "sources/record_fields.h"
#include "token_count.h"

#include <string.h>

struct layout_view layout_view(const struct layout_fields *fields, const struct jdoc *j, jdoc_id node, jdoc_id record)
{
	return (struct layout_view){fields, j, node, record, place_bits(j, node), -1, false, NULL};
}

/* ---- nodes ---- */

/* Is it one of the texts standing for no value? */
static bool says_none(const struct mapping *m, const struct jdoc *j, jdoc_id node)
{
	for (const char *text = m->none; text && *text; text += strlen(text) + 1)
		if (jdoc_text_is(j, node, text) || slice_is(jdoc_raw(j, node), text))
			return true;
	return false;
}

/* The value of a row of CSV, by the number of the mapping, or the tag's after them. */
static jdoc_id column_value(const struct layout_view *v, size_t i)
{
	return v->columns[i] < 0 ? JDOC_NONE : jdoc_used(v->j, csv_json_node(v->columns[i]));
}

jdoc_id view_at(const struct layout_view *v, const struct mapping *m)
{
	if (v->columns)
		return column_value(v, (size_t)(m - v->fields->mappings));
	if (m->place.outer)
		return place_find(&m->place, v->j, v->record);
	if (m->place.first && !(m->place.first & v->bits))
		return JDOC_NONE;
	jdoc_id node = place_find(&m->place, v->j, v->node);
	return v->column < 0 ? node : jdoc_at(v->j, node, (uint32_t)v->column);
}

jdoc_id view_find_mapped(const struct layout_view *v, enum field field, const struct mapping **m)
{
	const struct layout_fields *f = v->fields;
	for (size_t i = f->first_of[field]; i < f->count; i = f->mappings[i].next) {
		*m = &f->mappings[i];
		jdoc_id node = view_at(v, *m);
		if (!jdoc_is_null(v->j, node) && !says_none(*m, v->j, node))
			return node;
	}
	return JDOC_NONE;
}

int view_missing(const struct layout_view *v, enum field field, struct ipf_error *err)
{
	const struct layout_fields *f = v->fields;
	struct buffer names = {0};
	size_t named = 0;
	for (size_t i = f->first_of[field]; i < f->count; i = f->mappings[i].next, named++)
		buffer_format(&names, "%s%s",
		              named == 0   ? ""
		              : named == 1 ? ": missing (also as "
		                           : ", ",
		              f->mappings[i].place.shown);
	ipf_error_set(err, IPF_INPUT, "%s%s", names.data ? names.data : field_name_of(field),
	              named > 1 ? ")" : ": missing");
	buffer_release(&names);
	return -1;
}

/* Does the record have the field's member, even if it is null? */
static bool has_member(const struct layout_view *v, enum field field)
{
	for (size_t i = v->fields->first_of[field]; i < v->fields->count; i = v->fields->mappings[i].next)
		if (view_at(v, &v->fields->mappings[i]) != JDOC_NONE)
			return true;
	return false;
}

int view_check_required(const struct layout_view *v, uint64_t set, struct ipf_error *err)
{
	const struct mapping *m;
	set &= v->fields->required;
	for (enum field f = 0; set >> f; f++)
		if ((set >> f & 1) && view_find(v, f, &m) == JDOC_NONE && (f != FIELD_SESSION || !has_member(v, f)))
			return view_missing(v, f, err);
	return 0;
}

/* The text between the quotes of a string, or a number. */
static struct slice digits_of(const struct jdoc *j, jdoc_id node)
{
	struct slice raw = jdoc_raw(j, node);
	return jdoc_type_of(j, node) == JDOC_TEXT ? (struct slice){raw.data + 1, raw.len - 2} : raw;
}

static bool is_empty(const struct jdoc *j, jdoc_id node)
{
	return jdoc_type_of(j, node) == JDOC_TEXT && jdoc_text_empty(j, node);
}

/* ---- texts and names ---- */

bool node_is_text(const struct jdoc *j, jdoc_id node)
{
	if (jdoc_type_of(j, node) != JDOC_LIST)
		return jdoc_type_of(j, node) == JDOC_TEXT;
	for (struct jdoc_each e = jdoc_each(j, node); jdoc_step(&e);)
		if (jdoc_type_of(j, e.value) != JDOC_TEXT)
			return false;
	return jdoc_count(j, node) > 0;
}

int node_text(struct draft *d, const struct jdoc *j, jdoc_id node, const char *shown, struct slice *text,
              struct ipf_error *err)
{
	if (!node_is_text(j, node))
		return jdoc_expected(j, node, shown, "a string", err);
	*text = draft_text(d, j, node);
	for (struct jdoc_each e = jdoc_each(j, node); jdoc_step(&e);)
		*text = draft_append(d, *text, "\n", draft_text(d, j, e.value));
	return 1;
}

int view_text(const struct layout_view *v, enum field field, struct draft *d, struct slice *text, struct ipf_error *err)
{
	const struct mapping *m;
	jdoc_id node = view_find(v, field, &m);
	*text = (struct slice){0};
	if (field == FIELD_OUTPUT && jdoc_type_of(v->j, node) == JDOC_NUMBER) { /* the number of a choice */
		*text = jdoc_raw(v->j, node);
		return 1;
	}
	bool message = field == FIELD_OUTPUT &&
	               (jdoc_get(v->j, node, "content") != JDOC_NONE || jdoc_get(v->j, node, "tool_calls") != JDOC_NONE);
	if (message) {
		*text = chat_answer(d, v->j, node);
		return 1;
	}
	return node == JDOC_NONE ? 0 : node_text(d, v->j, node, m->place.shown, text, err);
}

int view_name(const struct layout_view *v, enum field field, struct draft *d, struct slice *name, struct ipf_error *err)
{
	const struct mapping *m;
	jdoc_id node = view_find(v, field, &m);
	*name = (struct slice){0};
	return node == JDOC_NONE || is_empty(v->j, node) ? 0 : node_name(d, v->j, node, m->place.shown, name, err);
}

/* ---- numbers ---- */

/* A whole number of 0 or more, which programs without an other numbers write as 12.0; -1: it is none. */
static int64_t whole_number(struct slice text)
{
	int64_t value = 0;
	size_t i = 0;
	for (; i < text.len && i < 18 && text.data[i] >= '0' && text.data[i] <= '9'; i++)
		value = value * 10 + (text.data[i] - '0');
	size_t digits = i;
	if (i < text.len && text.data[i] == '.')
		for (i++; i < text.len && text.data[i] == '0'; i++)
			;
	return digits > 0 && i == text.len ? value : -1;
}

int view_tokens(const struct layout_view *v, enum field field, int64_t *count, struct ipf_error *err)
{
	const struct mapping *m;
	jdoc_id node = view_find(v, field, &m);
	if (v->fields->constant[field] != IPF_ABSENT)
		*count = v->fields->constant[field];
	if (node == JDOC_NONE || is_empty(v->j, node))
		return v->fields->constant[field] != IPF_ABSENT;
	enum jdoc_type type = jdoc_type_of(v->j, node);
	*count = type == JDOC_TEXT || type == JDOC_NUMBER ? whole_number(digits_of(v->j, node)) : -1;
	return token_count_is_possible(*count) ? 1 : jdoc_expected(v->j, node, m->place.shown, TOKENS_EXPECTED, err);
}

/* Does it begin as a date, 2023-11-16? */
static bool begins_as_date(struct slice text)
{
	return text.len > 7 && text.data[4] == '-' && text.data[7] == '-';
}

int view_time(const struct layout_view *v, enum field field, struct draft *d, int64_t *ns, struct ipf_error *err)
{
	const struct mapping *m;
	jdoc_id node = view_find(v, field, &m);
	bool duration = field_is_duration(field);
	enum jdoc_type type = jdoc_type_of(v->j, node);
	if (node == JDOC_NONE || is_empty(v->j, node))
		return 0;
	if ((type == JDOC_TEXT || type == JDOC_NUMBER) && !begins_as_date(digits_of(v->j, node)) &&
	    (duration ? time_from_number : time_of_number)(digits_of(v->j, node), m->unit_ns, ns) == 0 &&
	    (!duration || *ns >= 0))
		return 1;
	if (!duration && type == JDOC_TEXT && time_parse(draft_text(d, v->j, node), ns, err) == 0 && time_is_possible(*ns))
		return 1;
	ipf_error_clear(err);
	return jdoc_expected(v->j, node, m->place.shown,
	                     duration ? "a number of 0 or more" : "a number or a time such as 2023-11-16T18:15:46Z", err);
}

int view_flag(const struct layout_view *v, enum field field, struct ipf_error *err)
{
	const struct mapping *m;
	jdoc_id node = view_find(v, field, &m);
	struct slice text = digits_of(v->j, node);
	if (slice_is(text, "true") || slice_is(text, "1"))
		return 1;
	return text.len == 0 || slice_is(text, "false") || slice_is(text, "0")
	           ? 0
	           : jdoc_expected(v->j, node, m->place.shown, "true, false, 1 or 0", err);
}

/* ---- tags ---- */

/* Is a text a number as JSON has them? Values of CSV may be. */
static bool is_number(struct slice text)
{
	int64_t ignored;
	return text.len > 0 && text.len < 18 && (text.data[0] != '0' || text.len == 1 || text.data[1] == '.') &&
	       strspn(text.data, "0123456789.") >= text.len && text.data[0] != '.' && text.data[text.len - 1] != '.' &&
	       time_from_number(text, 1000000, &ignored) == 0;
}

/* The node of a tag's value; JDOC_NONE if it has none. */
static jdoc_id tag_value(const struct layout_view *v, size_t i)
{
	const struct mapping *m = &v->fields->tags[i].mapping;
	jdoc_id node;
	if (v->columns)
		node = column_value(v, v->fields->count + i);
	else
		node = place_find(&m->place, v->j, m->place.outer ? v->record : v->node);
	enum jdoc_type type = jdoc_type_of(v->j, node);
	return (type != JDOC_TEXT && type != JDOC_NUMBER) || is_empty(v->j, node) || says_none(m, v->j, node) ? JDOC_NONE
	                                                                                                      : node;
}

static void put_tag(const struct layout_view *v, const char *name, jdoc_id node, struct draft *d, struct jout *w)
{
	jout_string(w, slice_of(name));
	buffer_byte(w->out, ':');
	w->comma = false;
	if (v->csv && is_number(digits_of(v->j, node)))
		jout_value(w, digits_of(v->j, node));
	else if (jdoc_type_of(v->j, node) == JDOC_TEXT)
		jout_string(w, draft_text(d, v->j, node));
	else
		jout_value(w, jdoc_raw(v->j, node));
}

struct slice view_tags(const struct layout_view *v, struct draft *d)
{
	struct buffer out = {0};
	struct jout w = {.out = &out};
	for (size_t i = 0; i < v->fields->tag_count; i++) {
		jdoc_id node = tag_value(v, i);
		if (node == JDOC_NONE)
			continue;
		if (out.len == 0)
			jout_begin_map(&w);
		put_tag(v, v->fields->tags[i].name, node, d, &w);
	}
	if (out.len == 0)
		return (struct slice){0};
	jout_end_map(&w);
	return tags_written(d, &out);
}
