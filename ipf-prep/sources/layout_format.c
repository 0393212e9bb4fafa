#include "sources/layout.h"

#include "sources/layout_read.h"
#include "sources/quoted_names.h"

#include <stdlib.h>
#include <string.h>

/* ---- the calls of a format ---- */

static int open_reader(void *state, const struct source_settings *settings, struct ipf_error *err)
{
	struct layout_reader *r = state;
	chat_open(&r->settings, settings, err);
	r->settings.lone &= r->layout->format.kind == SOURCE_DATASET;
	r->fields = &r->layout->fields;
	if (settings->fields.count == 0)
		return 0;
	r->is_given = true;
	r->fields = &r->given;
	for (enum field f = 0; f < FIELDS; f++)
		r->given.constant[f] = r->layout->fields.constant[f];
	for (size_t i = 0; i < settings->fields.count; i++)
		if (layout_map_field(&r->given, settings->fields.items[i], err) < 0)
			return -1;
	layout_fields_link(&r->given);
	r->given.required = r->given.present & (FIELD_BIT(FIELD_ID) | FIELD_BIT(FIELD_SESSION) | FIELD_BIT(FIELD_AT));
	return r->given.present & FIELDS_OF_PROMPTS
	           ? 0
	           : ipf_error_set(err, IPF_USAGE,
	                           "--field: one of prompt, messages, request, query, input_tokens and audio is required");
}

/* The index of the column at a place; -1: there is none. */
static int32_t column_at(const struct csv *csv, const struct place *place)
{
	for (size_t i = 0; i < csv->column_count && i < INT32_MAX && place->count == 1; i++)
		if (strcmp(csv->columns[i], place->steps) == 0)
			return (int32_t)i;
	return -1;
}

/* Is one of the places of a field a column? */
static bool has_column(const struct layout_fields *f, enum field field, const struct csv *csv)
{
	for (size_t i = f->first_of[field]; i < f->count; i = f->mappings[i].next)
		if (column_at(csv, &f->mappings[i].place) >= 0)
			return true;
	return false;
}

/* Does the file have any column of the layout? */
static bool has_any_column(const struct layout_reader *r, const struct csv *csv)
{
	const struct layout_turns *t = &r->layout->turns;
	bool found = false;
	for (size_t i = 0; i < r->fields->count; i++)
		found |= column_at(csv, &r->fields->mappings[i].place) >= 0;
	for (size_t i = 0; i < t->list_count && !r->is_given; i++)
		found |= column_at(csv, &t->lists[i]) >= 0;
	return found;
}

/* A column of --field or the layout, missing from the file. */
static int check_columns(const struct layout_reader *r, const struct csv *csv, struct ipf_error *err)
{
	const struct layout_fields *f = r->fields;
	uint64_t needed = r->is_given ? f->present : f->required;
	for (size_t i = 0; i < f->count; i++) {
		const struct mapping *m = &f->mappings[i];
		if (has_column(f, m->field, csv) || (!(needed & FIELD_BIT(m->field)) && has_any_column(r, csv)))
			continue;
		struct quoted_names columns = {0};
		for (size_t k = 0; k < csv->column_count; k++)
			quoted_names_add(&columns, slice_of(csv->columns[k]));
		if (r->is_given)
			ipf_error_set(err, IPF_INPUT, "--field %s=%.80s: there is no such column, but %s", field_name_of(m->field),
			              m->place.shown, quoted_names_text(&columns));
		else if (!has_any_column(r, csv))
			ipf_error_set(err, IPF_INPUT, "the header has no column of this format, but %s",
			              quoted_names_text(&columns));
		else
			ipf_error_set(err, IPF_INPUT, "the header has no column %.80s, but %s", m->place.shown,
			              quoted_names_text(&columns));
		quoted_names_release(&columns);
		return -1;
	}
	return 0;
}

static int begin_file(void *state, const struct csv *csv, struct ipf_error *err)
{
	struct layout_reader *r = state;
	r->hinted = false;
	if (r->layout->origin == ORIGIN_FILE)
		r->origin = (struct time_origin){0};
	free(r->columns);
	r->columns = NULL;
	if (!csv)
		return 0;
	r->columns = calloc(r->fields->count + r->fields->tag_count + 1, sizeof *r->columns);
	if (!r->columns)
		return ipf_error_memory(err);
	for (size_t i = 0; i < r->fields->count; i++)
		r->columns[i] = column_at(csv, &r->fields->mappings[i].place);
	for (size_t i = 0; i < r->fields->tag_count; i++)
		r->columns[r->fields->count + i] = column_at(csv, &r->fields->tags[i].mapping.place);
	return check_columns(r, csv, err);
}

static int read_record(void *state, const struct source_record *record, struct sink *sink, struct ipf_error *err)
{
	return layout_read(state, record, sink, err);
}

static unsigned traits_of(const void *state)
{
	const struct layout_reader *r = state;
	const struct layout *l = r->layout;
	const struct layout_fields *f = r->fields, *turns = &l->turns.fields;
	const uint64_t present = f->present | (r->is_given ? 0 : turns->present);
	const bool dataset = l->format.kind == SOURCE_DATASET;
	unsigned traits = l->guessed ? HAS_FIELDS : 0;
	if (present & (FIELD_BIT(FIELD_AT) | FIELD_BIT(FIELD_END)))
		traits |= HAS_TIMES | (l->ordered ? 0 : GATHERS);
	if (present & FIELD_BIT(FIELD_SESSION))
		traits |= HAS_SESSIONS | (l->turns.list_count && !r->is_given ? 0 : GATHERS);
	if (l->turns.list_count && !r->is_given)
		traits |= dataset ? HAS_TURNS : HAS_SESSIONS;
	if (l->filled && present & FIELD_BIT(FIELD_INPUT_TOKENS))
		traits |= MAKES_TEXT;
	if (present & FIELD_BIT(FIELD_BLOCK_IDS))
		traits |= HAS_BLOCKS;
	return traits;
}

static void close_reader(void *state)
{
	layout_reader_release(state);
}

/* ---- the format ---- */

void layout_to_format(struct layout *l)
{
	const struct layout_reader unopened = {.layout = l, .fields = &l->fields};
	l->format = (struct source_format){
		.name = l->name,
		.about = l->about,
		.kind = l->group == SOURCE_GROUP_DATASET ? SOURCE_DATASET : SOURCE_TRACE,
		.unit = UNIT_TABLE,
		.filled = l->filled,
		.ignored = l->ignored,
		.layout = l,
		.state_size = sizeof(struct layout_reader),
		.open = open_reader,
		.begin_file = begin_file,
		.read_record = read_record,
		.traits_of = traits_of,
		.close = close_reader,
	};
	l->format.traits = traits_of(&unopened) | (l->guessed ? HAS_TIMES | HAS_SESSIONS | MAKES_TEXT : 0);
}
