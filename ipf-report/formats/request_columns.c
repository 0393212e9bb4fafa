#include "formats/request_columns.h"

#include "absent.h"

#include <string.h>

enum own { OWN_PART, OWN_STAGE_NAME, OWN_TARGET, OWN_ERROR_KIND, OWN_STATUS, OWN_STALE, OWN_ERROR_TEXT, OWN_GOOD };

static bool is_left_out(const struct field *field, enum request_extent extent)
{
	if (extent == REQUEST_WHOLE)
		return field->type == FIELD_LIST;
	return field->type == FIELD_LIST || field->type == FIELD_INTEGERS || field->type == FIELD_MAP ||
	       strcmp(field->name, "text") == 0 || strcmp(field->name, "reasoning") == 0;
}

static enum request_type type_of(const struct field *field)
{
	switch (field->type) {
	case FIELD_BOOL:
		return REQUEST_BOOLEAN;
	case FIELD_TEXT:
	case FIELD_NAME:
		return REQUEST_TEXT;
	case FIELD_MAP:
	case FIELD_TAGS:
		return REQUEST_JSON;
	case FIELD_INTEGERS:
		return REQUEST_INTEGERS;
	default:
		return REQUEST_INTEGER;
	}
}

static void add(struct request_columns *columns, const char *name, enum request_type type, enum own own)
{
	columns->list[columns->count++] = (struct request_column){.name = name, .type = type, .own = own};
}

void request_columns_init(struct request_columns *columns, enum request_extent extent)
{
	columns->count = 0;
	add(columns, "part", REQUEST_INTEGER, OWN_PART);
	for (size_t i = 0; i < result_fields.count; i++) {
		const struct field *f = &result_fields.fields[i];
		if (is_left_out(f, extent))
			continue;
		if (strcmp(f->name, "target") == 0)
			add(columns, "target", REQUEST_TEXT, OWN_TARGET);
		else
			columns->list[columns->count++] = (struct request_column){.name = f->name, .type = type_of(f), .field = f};
		if (strcmp(f->name, "stage") == 0)
			add(columns, "stage_name", REQUEST_TEXT, OWN_STAGE_NAME);
		if (strcmp(f->name, "ok") == 0) {
			add(columns, "error_kind", REQUEST_TEXT, OWN_ERROR_KIND);
			add(columns, "status", REQUEST_INTEGER, OWN_STATUS);
			add(columns, "stale", REQUEST_BOOLEAN, OWN_STALE);
			add(columns, "error_text", REQUEST_TEXT, OWN_ERROR_TEXT);
			add(columns, "good", REQUEST_BOOLEAN, OWN_GOOD);
		}
	}
}

static struct request_value integer(int64_t value)
{
	return (struct request_value){.type = value == IPF_ABSENT ? REQUEST_ABSENT : REQUEST_INTEGER, .integer = value};
}

static struct request_value boolean(bool value)
{
	return (struct request_value){.type = REQUEST_BOOLEAN, .boolean = value};
}

static struct request_value plain_text(const char *text)
{
	return (struct request_value){.type = text ? REQUEST_TEXT : REQUEST_ABSENT, .text = slice_of(text)};
}

/* A text of the row, which is JSON. */
static struct request_value row_text(struct request_cells *cells, struct slice json)
{
	struct ipf_error ignored = {0};
	if (!json.data || jdoc_parse(&cells->doc, json.data, json.len, &ignored) < 0)
		return (struct request_value){0};
	buffer_clear(&cells->text);
	jdoc_text(&cells->doc, JDOC_ROOT, &cells->text);
	struct slice text = buffer_all(&cells->text);
	return (struct request_value){.type = REQUEST_TEXT, .text = text.data ? text : slice_of("")};
}

static struct request_value own_value(struct request_cells *cells, const struct run_data *run,
                                      const struct request *request, enum own own)
{
	const struct result *row = &request->result;
	int goodness = request->row->goodness;
	switch (own) {
	case OWN_PART:
		return integer(request->row->part);
	case OWN_STAGE_NAME:
		return plain_text((size_t)row->stage < run->schedule.count ? run->schedule.stages[row->stage].name : NULL);
	case OWN_TARGET:
		return plain_text(run_part_target(&run->parts[request->row->part], row->target));
	case OWN_ERROR_KIND:
		return row_text(cells, row->error_kind);
	case OWN_STATUS:
		return integer(row->status);
	case OWN_STALE:
		return row->error_kind.data ? boolean(row->stale) : (struct request_value){0};
	case OWN_ERROR_TEXT:
		return row_text(cells, row->error_text);
	case OWN_GOOD:
		return goodness == SLO_GOOD || goodness == SLO_MISSED ? boolean(goodness == SLO_GOOD)
		                                                      : (struct request_value){0};
	}
	return (struct request_value){0};
}

/* Is it a time, which counts from the start of the part, and not a duration? */
static bool is_time(const struct field *field)
{
	static const size_t times[] = {offsetof(struct result, due_ns),   offsetof(struct result, ready_ns),
	                               offsetof(struct result, start_ns), offsetof(struct result, end_ns),
	                               offsetof(struct result, edge_ns),  offsetof(struct result, attempt_start_ns)};
	for (size_t i = 0; i < sizeof times / sizeof *times; i++)
		if (field->offset == times[i])
			return true;
	return false;
}

struct request_value request_cell(struct request_cells *cells, const struct run_data *run,
                                  const struct request *request, const struct request_column *column)
{
	const struct field *field = column->field;
	if (!field)
		return own_value(cells, run, request, (enum own)column->own);
	const void *member = (const char *)&request->result + field->offset;
	const int64_t shift_ns = run->shards && is_time(field) ? run->parts[request->row->part].shift_ns : 0;
	if (column->type == REQUEST_JSON || column->type == REQUEST_INTEGERS) { /* databases can look into JSON */
		struct slice json = *(const struct slice *)member;
		return (struct request_value){
			.type = json.data ? column->type : REQUEST_ABSENT, .text = json, .integer = shift_ns};
	}
	if (column->type == REQUEST_TEXT)
		return row_text(cells, *(const struct slice *)member);
	if (column->type == REQUEST_BOOLEAN)
		return boolean(*(const bool *)member);
	int64_t value = *(const int64_t *)member;
	return integer(value == IPF_ABSENT ? value : value + shift_ns);
}

void request_cells_release(struct request_cells *cells)
{
	jdoc_release(&cells->doc);
	buffer_release(&cells->text);
}
