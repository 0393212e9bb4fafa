#include "parquet/footer.h"

#include "parquet/thrift.h"

#include <stdlib.h>

/* Bytes of a struct with its required fields, at least. */
#define ELEMENT_LEAST 3
#define CHUNK_LEAST   16
#define GROUP_LEAST   7

/* ---- annotations ------------------------------------------------------------------------------------------------- */

/* The older form is a number, of which the unit of a time is part. It comes before the newer one, which is preferred.
 */
static void converted_type(struct schema_element *e, int64_t type)
{
	static const struct {
		enum annotation note;
		int64_t digits;
	} notes[] = {
		[0] = {NOTE_STRING, 0},    [1] = {NOTE_MAP, 0},       [2] = {NOTE_MAP, 0},        [3] = {NOTE_LIST, 0},
		[4] = {NOTE_STRING, 0},    [5] = {NOTE_DECIMAL, 0},   [6] = {NOTE_DATE, 0},       [7] = {NOTE_TIME, 3},
		[8] = {NOTE_TIME, 6},      [9] = {NOTE_TIMESTAMP, 3}, [10] = {NOTE_TIMESTAMP, 6}, [11] = {NOTE_UNSIGNED, 0},
		[12] = {NOTE_UNSIGNED, 0}, [13] = {NOTE_UNSIGNED, 0}, [14] = {NOTE_UNSIGNED, 0},  [19] = {NOTE_JSON, 0},
	};
	if (type < 0 || type >= (int64_t)(sizeof notes / sizeof *notes))
		return;
	e->note = notes[type].note;
	e->digits = notes[type].digits;
}

static int64_t unit_digits(struct thrift *t, int type)
{
	int64_t digits = 0;
	thrift_struct(t, type);
	for (struct thrift_field f = {0}; thrift_next(t, &f); thrift_skip(t, f.type))
		digits = f.id >= 1 && f.id <= 3 ? 3 * f.id : 0;
	return digits;
}

/* The members of the annotation: a scale, or whether it is UTC and a unit, or the width of an integer and its sign. */
static void annotation_members(struct thrift *t, struct schema_element *e, int64_t kind)
{
	for (struct thrift_field f = {0}; thrift_next(t, &f);)
		if (kind == 5 && f.id == 1)
			e->scale = thrift_integer(t, f.type);
		else if ((kind == 7 || kind == 8) && f.id == 1)
			e->utc = thrift_bool(t, f.type);
		else if ((kind == 7 || kind == 8) && f.id == 2)
			e->digits = unit_digits(t, f.type);
		else if (kind == 10 && f.id == 2)
			e->note = thrift_bool(t, f.type) ? NOTE_OTHER : NOTE_UNSIGNED;
		else
			thrift_skip(t, f.type);
}

static void logical_type(struct thrift *t, struct schema_element *e, int type)
{
	static const enum annotation notes[] = {
		[1] = NOTE_STRING,  [2] = NOTE_MAP,   [3] = NOTE_LIST,  [4] = NOTE_STRING,
		[5] = NOTE_DECIMAL, [6] = NOTE_DATE,  [7] = NOTE_TIME,  [8] = NOTE_TIMESTAMP,
		[10] = NOTE_OTHER,  [12] = NOTE_JSON, [14] = NOTE_UUID, [15] = NOTE_FLOAT16};
	thrift_struct(t, type);
	for (struct thrift_field f = {0}; thrift_next(t, &f);) {
		bool known = f.id > 0 && f.id < (int64_t)(sizeof notes / sizeof *notes) && notes[f.id];
		e->note = known ? notes[f.id] : NOTE_OTHER;
		e->utc = false;
		thrift_struct(t, f.type);
		annotation_members(t, e, f.id);
	}
}

/* ---- structs ----------------------------------------------------------------------------------------------------- */

static void schema_element(struct thrift *t, struct schema_element *e)
{
	*e = (struct schema_element){.type = -1};
	for (struct thrift_field f = {0}; thrift_next(t, &f);)
		switch (f.id) {
		case 1:
			e->type = thrift_integer(t, f.type);
			break;
		case 2:
			e->type_length = thrift_integer(t, f.type);
			break;
		case 3:
			e->repetition = thrift_integer(t, f.type);
			break;
		case 4:
			e->name = thrift_binary(t, f.type);
			break;
		case 5:
			e->children = thrift_integer(t, f.type);
			break;
		case 6:
			converted_type(e, thrift_integer(t, f.type));
			break;
		case 7:
			e->scale = thrift_integer(t, f.type);
			break;
		case 10:
			logical_type(t, e, f.type);
			break;
		default:
			thrift_skip(t, f.type);
		}
}

static void column_metadata(struct thrift *t, struct column_chunk *c, int type)
{
	thrift_struct(t, type);
	c->described = true;
	for (struct thrift_field f = {0}; thrift_next(t, &f);)
		switch (f.id) {
		case 1:
			c->type = thrift_integer(t, f.type);
			break;
		case 4:
			c->codec = thrift_integer(t, f.type);
			break;
		case 5:
			c->values = thrift_integer(t, f.type);
			break;
		case 7:
			c->bytes = thrift_integer(t, f.type);
			break;
		case 9:
			c->data_page = thrift_integer(t, f.type);
			break;
		case 11:
			c->dictionary_page = thrift_integer(t, f.type);
			break;
		default:
			thrift_skip(t, f.type);
		}
}

static void column_chunk(struct thrift *t, struct column_chunk *c)
{
	*c = (struct column_chunk){.codec = -1};
	for (struct thrift_field f = {0}; thrift_next(t, &f);) {
		if (f.id == 3) {
			column_metadata(t, c, f.type);
			continue;
		}
		c->elsewhere |= f.id == 1;
		c->encrypted |= f.id == 8 || f.id == 9;
		thrift_skip(t, f.type);
	}
}

/* An array for the structs of a list, of which each takes at least `least` bytes of the footer. NULL and 0 if there are
 * none. */
static void *list_of(struct thrift *t, int type, size_t size, size_t least, size_t *count, struct ipf_error *err)
{
	*count = thrift_list(t, type, THRIFT_STRUCT);
	if (*count > (size_t)(t->end - t->at) / least) {
		*count = 0;
		t->fault = THRIFT_CUT;
	}
	void *array = *count ? calloc(*count, size) : NULL;
	if (*count && !array) {
		*count = 0;
		ipf_error_memory(err);
	}
	return array;
}

static void row_group(struct thrift *t, struct row_group *g, struct ipf_error *err)
{
	for (struct thrift_field f = {0}; !err->kind && thrift_next(t, &f);)
		if (f.id == 1 && !g->chunks) {
			g->chunks = list_of(t, f.type, sizeof *g->chunks, CHUNK_LEAST, &g->count, err);
			for (size_t i = 0; i < g->count; i++)
				column_chunk(t, &g->chunks[i]);
		} else if (f.id == 3) {
			g->rows = thrift_integer(t, f.type);
		} else {
			thrift_skip(t, f.type);
		}
}

static void file_metadata(struct thrift *t, struct footer *footer, struct ipf_error *err)
{
	for (struct thrift_field f = {0}; !err->kind && thrift_next(t, &f);)
		if (f.id == 2 && !footer->elements) {
			footer->elements = list_of(t, f.type, sizeof *footer->elements, ELEMENT_LEAST, &footer->element_count, err);
			for (size_t i = 0; i < footer->element_count; i++)
				schema_element(t, &footer->elements[i]);
		} else if (f.id == 3) {
			footer->rows = thrift_integer(t, f.type);
		} else if (f.id == 4 && !footer->groups) {
			footer->groups = list_of(t, f.type, sizeof *footer->groups, GROUP_LEAST, &footer->group_count, err);
			for (size_t i = 0; i < footer->group_count && !err->kind; i++)
				row_group(t, &footer->groups[i], err);
		} else {
			thrift_skip(t, f.type);
		}
}

int footer_parse(struct footer *footer, struct slice bytes, const char *name, struct ipf_error *err)
{
	struct thrift t = {.at = (const unsigned char *)bytes.data};
	t.end = t.at + bytes.len;
	*footer = (struct footer){0};
	file_metadata(&t, footer, err);
	if (footer->element_count > ELEMENTS_MAX)
		ipf_error_at(err, IPF_INPUT, name, 0, "the schema of the Parquet file has %zu elements; at most %d are read",
		             footer->element_count, ELEMENTS_MAX);
	if (!err->kind && t.fault)
		ipf_error_at(err, IPF_INPUT, name, 0, "the footer of the Parquet file is malformed (%s)",
		             t.fault == THRIFT_CUT ? "its end is missing" : "a field has another type than specified");
	if (err->kind)
		footer_release(footer);
	return err->kind ? -1 : 0;
}

void footer_release(struct footer *footer)
{
	for (size_t i = 0; i < footer->group_count; i++)
		free(footer->groups[i].chunks);
	free(footer->groups);
	free(footer->elements);
	*footer = (struct footer){0};
}
