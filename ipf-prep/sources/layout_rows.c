#include "sources/layout_rows.h"

#include <stdio.h>

struct rows {
	void (*row)(const char *label, const char *places, void *data);
	void *data;
	char text[1024];
	size_t len;
};

static void add(struct rows *r, const char *text)
{
	int put = snprintf(r->text + r->len, sizeof r->text - r->len, "%s%s", r->len ? ", " : "", text);
	r->len += put < 0 ? 0 : (size_t)put;
	r->len = r->len < sizeof r->text ? r->len : sizeof r->text - 1;
}

static void end_row(struct rows *r, const char *label)
{
	r->row(label, r->text, r->data);
	r->len = 0;
	*r->text = '\0';
}

static const char *shown(const struct place *place)
{
	return place->count ? place->shown : "itself";
}

static void put_places(struct rows *r, const char *label, const struct place *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		add(r, shown(&list[i]));
	if (count)
		end_row(r, label);
}

/* The unit the name of a time ends in. */
static const char *unit_of(const struct mapping *m)
{
	static const struct {
		int64_t ns;
		const char *name;
	} units[] = {{1, "_ns"}, {1000, "_us"}, {1000000, "_ms"}};
	for (size_t i = 0; field_is_time(m->field) && i < sizeof units / sizeof *units; i++)
		if (units[i].ns == m->unit_ns)
			return units[i].name;
	return "";
}

static void put_fields(struct rows *r, const struct layout_fields *f, const char *of)
{
	char label[96], number[32];
	for (enum field field = 0; field < FIELDS; field++) {
		size_t first = f->first_of[field];
		if (!layout_maps(f, field))
			continue;
		snprintf(number, sizeof number, "%lld", (long long)f->constant[field]);
		for (size_t i = first; i < f->count; i = f->mappings[i].next)
			add(r, shown(&f->mappings[i].place));
		if (first == f->count)
			add(r, number);
		if (field == FIELD_PROMPT && f->join)
			add(r, "joined");
		snprintf(label, sizeof label, "%s%s%s", of, field_name_of(field),
		         first < f->count ? unit_of(&f->mappings[first]) : "");
		end_row(r, label);
	}
	for (size_t i = 0; i < f->tag_count; i++) {
		snprintf(label, sizeof label, "%stag %s", of, f->tags[i].name);
		put_places(r, label, &f->tags[i].mapping.place, 1);
	}
}

void layout_each_row(const struct layout *l, void (*row)(const char *label, const char *places, void *data), void *data)
{
	static const char *const roles[] = {
		[ROLE_SYSTEM] = "role system", [ROLE_USER] = "role user", [ROLE_ASSISTANT] = "role assistant"};
	struct rows r = {.row = row, .data = data};
	put_places(&r, "records", l->records, l->record_count);
	put_fields(&r, &l->fields, "");
	put_places(&r, "turns", l->turns.lists, l->turns.list_count);
	put_fields(&r, &l->turns.fields, "turn: ");
	for (size_t i = 0; i < sizeof roles / sizeof *roles; i++) {
		for (size_t k = 0; k < l->turns.role_counts[i]; k++)
			add(&r, l->turns.roles[i][k]);
		if (l->turns.role_counts[i])
			end_row(&r, roles[i]);
	}
}
