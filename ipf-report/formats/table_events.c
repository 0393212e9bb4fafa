/* The table `events`: a row for each event of a response, in the order of time (ipf-collect --events). */
#include "formats/table_output.h"

#include "absent.h"

enum { PART = TABLE_COLUMNS, N, EVENT, TIME, TOKENS, KIND, COLUMNS };
static const struct parquet_column columns[COLUMNS] = {
	TABLE_FIRST_COLUMNS("number"),
	[PART] = {"part", PARQUET_INTEGER, false},
	[N] = {"n", PARQUET_INTEGER, false},
	[EVENT] = {"event", PARQUET_INTEGER, false},
	[TIME] = {"t_ns", PARQUET_INTEGER, false},
	[TOKENS] = {"tokens", PARQUET_INTEGER, false},
	[KIND] = {"kind", PARQUET_TEXT, false},
};

/* A list of the row, which may be absent or too short, and the element to come. */
struct list {
	struct jdoc doc;
	struct jdoc_each each;
	bool there; /* the list is */
	bool left;  /* an element is to come: each.value */
};

enum { CONTENT_NS, CONTENT_TOKENS, CONTENT_KINDS, OTHER_NS, OTHER_KINDS, LISTS };

struct event_table {
	struct table_output *t;
	struct list lists[LISTS];
	struct buffer kind;
	const struct request *request;
	int64_t number; /* the request's */
};

static void begin_list(struct list *list, struct slice json)
{
	struct ipf_error ignored = {0};
	list->there = json.data && jdoc_parse(&list->doc, json.data, json.len, &ignored) == 0;
	list->each = jdoc_each(&list->doc, list->there ? JDOC_ROOT : JDOC_NONE);
	list->left = jdoc_step(&list->each);
}

static int64_t integer_of(const struct list *list)
{
	int64_t value;
	return list->left && jdoc_to_int(&list->doc, list->each.value, &value) ? value : IPF_ABSENT;
}

static void put_kind(struct event_table *e, const struct list *kinds)
{
	if (!kinds->left || jdoc_type_of(&kinds->doc, kinds->each.value) != JDOC_TEXT)
		return;
	buffer_clear(&e->kind);
	jdoc_text(&kinds->doc, kinds->each.value, &e->kind);
	parquet_writer_text(e->t->w, KIND, e->kind.data ? buffer_all(&e->kind) : slice_of(""));
}

/* `first` is CONTENT_NS or OTHER_NS; the lists from it to before `end` go on. */
static void put_event(struct event_table *e, int first, int end, int64_t event)
{
	struct table_output *t = e->t;
	const struct row *row = e->request->row;
	int64_t time_ns = integer_of(&e->lists[first]);
	parquet_writer_integer(t->w, TABLE_NUMBER, e->number);
	table_date(t, row->part, time_ns);
	parquet_writer_integer(t->w, PART, row->part);
	parquet_writer_integer(t->w, N, row->n);
	table_integer(t, EVENT, event);
	table_integer(t, TIME, table_time(t, row->part, time_ns));
	if (first == CONTENT_NS) {
		table_integer(t, TOKENS, integer_of(&e->lists[CONTENT_TOKENS]));
		if (!e->lists[CONTENT_KINDS].there)
			parquet_writer_text(t->w, KIND, slice_of("text"));
	}
	put_kind(e, &e->lists[end - 1]);
	for (int i = first; i < end; i++)
		e->lists[i].left = e->lists[i].left && jdoc_step(&e->lists[i].each);
	table_end_row(t);
}

static void put_events(struct event_table *e)
{
	const struct result *r = &e->request->result;
	const struct slice lists[LISTS] = {r->event_ns, r->event_tokens, r->event_kinds, r->other_ns, r->other_kinds};
	const struct list *content = &e->lists[CONTENT_NS], *other = &e->lists[OTHER_NS];
	int64_t event = 0;
	for (int i = 0; i < LISTS; i++)
		begin_list(&e->lists[i], lists[i]);
	while ((content->left || other->left) && !e->t->stopped)
		if (!other->left || (content->left && integer_of(content) <= integer_of(other)))
			put_event(e, CONTENT_NS, OTHER_NS, event++);
		else
			put_event(e, OTHER_NS, LISTS, IPF_ABSENT);
}

void table_events(struct table_output *t)
{
	struct event_table e = {.t = t};
	struct request request;
	if (!table_begin(t, columns, COLUMNS))
		return;
	e.request = &request;
	for (; table_request(t, e.number, &request); e.number++)
		put_events(&e);
	t->out->failed |= e.kind.failed;
	for (int i = 0; i < LISTS; i++)
		jdoc_release(&e.lists[i].doc);
	buffer_release(&e.kind);
}
