#include "sources/layout.h"

#include "array.h"

#include <stdlib.h>
#include <string.h>

/* ---- mappings ---- */

static struct mapping *add_mapping(struct layout_fields *f, enum field field, int64_t unit_ns)
{
	if (!array_one_more(f->mappings, f->count))
		return NULL;
	f->present |= FIELD_BIT(field);
	f->mappings[f->count] = (struct mapping){.field = field, .unit_ns = unit_ns};
	return &f->mappings[f->count++];
}

int layout_map_place(struct layout_fields *f, enum field field, int64_t unit_ns, const char *place,
                     struct ipf_error *err)
{
	struct mapping *m = add_mapping(f, field, unit_ns);
	return m ? place_parse(&m->place, place, err) : ipf_error_memory(err);
}

int layout_map_field(struct layout_fields *f, const char *text, struct ipf_error *err)
{
	const char *equals = strchr(text, '=');
	enum field field;
	int64_t unit_ns;
	struct ipf_error wrong = {0};
	if (!equals)
		return ipf_error_set(err, IPF_USAGE, "--field: expected NAME=/POINTER or NAME=COLUMN, got \"%s\"", text);
	field = field_of_name(text, (size_t)(equals - text), &unit_ns);
	if (field >= FIELD_ROLE) {
		struct buffer known = {0};
		for (enum field i = 0; i < FIELD_ROLE; i++)
			buffer_format(&known, i ? ", %s" : "%s", field_name_of(i));
		ipf_error_set(err, IPF_USAGE, "--field: unknown name \"%.*s\" (known: %s; times also with _ms, _us, _ns)",
		              (int)(equals - text), text, known.data ? known.data : "");
		buffer_release(&known);
		return -1;
	}
	const char *comma = field == FIELD_PROMPT ? strchr(equals, ',') : NULL;
	if (comma && !f->join && !(f->join = strdup("\n\n")))
		return ipf_error_memory(err);
	for (const char *at = equals + 1; at; at = comma ? comma + 1 : NULL) {
		comma = field == FIELD_PROMPT ? strchr(at, ',') : NULL;
		char *place = strndup(at, comma ? (size_t)(comma - at) : strlen(at));
		int status = place ? layout_map_place(f, field, unit_ns, place, &wrong) : ipf_error_memory(&wrong);
		free(place);
		if (status < 0)
			return ipf_error_set(err, wrong.kind, "--field: %s", wrong.text);
	}
	return 0;
}

void layout_fields_link(struct layout_fields *f)
{
	for (enum field field = 0; field < FIELDS; field++)
		f->first_of[field] = f->count;
	for (size_t i = f->count; i-- > 0;) {
		struct mapping *m = &f->mappings[i];
		m->next = f->first_of[m->field];
		f->first_of[m->field] = i;
	}
}

/* ---- conditions ---- */

/* Is there a value? In a record, null and "" say there is none; the first record of a file shows its members. */
static bool is_there(const struct jdoc *j, jdoc_id node, bool member)
{
	return member ? node != JDOC_NONE
	              : !jdoc_is_null(j, node) && !(jdoc_type_of(j, node) == JDOC_TEXT && jdoc_text_empty(j, node));
}

/* `members`: whether the members it names are there, even without a value. */
static bool holds(const struct layout_condition *c, const struct jdoc *j, jdoc_id node, bool members)
{
	bool found = false;
	for (size_t i = 0; i < c->has_count; i++) {
		found |= is_there(j, place_find(&c->has[i], j, node), members);
		if (!c->has[i].or_next && !found)
			return false;
		found &= c->has[i].or_next;
	}
	for (size_t i = 0; i < c->lacks_count; i++)
		if (is_there(j, place_find(&c->lacks[i], j, node), members))
			return false;
	bool is = c->is_count == 0;
	for (size_t i = 0; i < c->text_count; i++)
		is |= jdoc_text_is(j, place_find(c->is, j, node), c->texts[i]);
	return is;
}

bool layout_conditions_hold(const struct layout_condition *list, size_t count, const struct jdoc *j, jdoc_id node)
{
	for (size_t i = 0; i < count; i++)
		if (holds(&list[i], j, node, false))
			return true;
	return count == 0;
}

static bool has_columns(const struct layout_condition *c, const struct csv *csv)
{
	bool found = false;
	for (size_t i = 0; i < c->has_count; i++) {
		found |= c->has[i].count == 1 && csv_column(csv, c->has[i].steps) >= 0;
		if (!c->has[i].or_next && !found)
			return false;
		found &= c->has[i].or_next;
	}
	for (size_t i = 0; i < c->lacks_count; i++)
		if (csv_column(csv, c->lacks[i].steps) >= 0)
			return false;
	return c->has_count > 0;
}

/* Does one of the alternatives "A|B" occur? */
static bool occurs(const struct sniff *sniff, const char *texts)
{
	for (size_t len; *texts; texts += len + (texts[len] == '|')) {
		len = strcspn(texts, "|");
		if (memmem(sniff->head.data, sniff->head.len, texts, len))
			return true;
	}
	return false;
}

bool layout_recognises(const struct layout *l, const struct sniff *sniff)
{
	for (size_t i = 0; i < l->recognised_count; i++) {
		const struct layout_condition *c = &l->recognised[i];
		bool texts_alone = c->has_count == 0 && c->lacks_count == 0 && c->within_count > 0;
		bool found = sniff->json  ? holds(c, sniff->json, JDOC_ROOT, true)
		             : sniff->csv ? has_columns(c, sniff->csv)
		                          : texts_alone; /* for a record longer than the part read */
		found = found && (!c->json || sniff->json) && (!c->csv || sniff->csv);
		for (size_t k = 0; k < c->within_count; k++)
			found = found && occurs(sniff, c->within[k]);
		if (found)
			return true;
	}
	return false;
}

/* ---- release ---- */

static void free_texts(char **list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(list[i]);
	free(list);
}

static void free_places(struct place *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		place_release(&list[i]);
	free(list);
}

static void free_conditions(struct layout_condition *list, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		free_places(list[i].has, list[i].has_count);
		free_places(list[i].lacks, list[i].lacks_count);
		free_places(list[i].is, list[i].is_count);
		free_texts(list[i].texts, list[i].text_count);
		free_texts(list[i].within, list[i].within_count);
	}
	free(list);
}

static void mapping_release(struct mapping *m)
{
	place_release(&m->place);
	free(m->none);
}

void layout_fields_release(struct layout_fields *f)
{
	for (size_t i = 0; i < f->count; i++)
		mapping_release(&f->mappings[i]);
	for (size_t i = 0; i < f->tag_count; i++) {
		free(f->tags[i].name);
		mapping_release(&f->tags[i].mapping);
	}
	free(f->mappings);
	free(f->tags);
	free(f->join);
	*f = (struct layout_fields){0};
}

void layout_free(struct layout *l)
{
	if (!l)
		return;
	char *const texts[] = {l->path, l->name, l->about, l->page, l->source, l->ignored, l->filled, l->other};
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		free(texts[i]);
	free_conditions(l->recognised, l->recognised_count);
	free_conditions(l->requests, l->requests_count);
	free_places(l->records, l->record_count);
	free_places(l->turns.lists, l->turns.list_count);
	for (size_t i = 0; i < sizeof l->turns.roles / sizeof *l->turns.roles; i++)
		free_texts(l->turns.roles[i], l->turns.role_counts[i]);
	layout_fields_release(&l->fields);
	layout_fields_release(&l->turns.fields);
	free(l);
}
