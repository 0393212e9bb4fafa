#include "sources/layout_read.h"

#include "absent.h"
#include "safe_text.h"
#include "sources/logged_exchange.h"

#include <stdlib.h>
#include <string.h>

/* A request and its response as they were logged. */
static int read_exchange(struct layout_reader *r, const struct layout_view *v, jdoc_id request, const char *name,
                         struct ipf_error *err)
{
	const struct mapping *m;
	struct draft *d = &r->sink->draft;
	struct recorded_times recorded;
	struct logged_exchange logged = {
		.json = v->j, .request = request, .request_name = name, .start_ns = IPF_ABSENT, .recorded = &recorded};
	logged.response = view_find(v, FIELD_RESPONSE, &m);
	logged.response_name = m ? m->place.shown : NULL;
	jdoc_id url = view_find(v, FIELD_URL, &m);
	struct slice path = jdoc_raw(v->j, url);
	logged.embeddings = path.data && memmem(path.data, path.len, "/embeddings", strlen("/embeddings"));
	if (view_check_required(v, UINT64_MAX, err) < 0 || layout_arrival(v, d, &logged.start_ns, err) < 0 ||
	    layout_outcome(v, d, &logged.failed, &logged.hang_up_ns, err) < 0 ||
	    layout_recorded(v, d, logged.start_ns, &recorded, err) < 0 ||
	    view_tokens(v, FIELD_OUTPUT_TOKENS, &logged.output_tokens, err) < 0 ||
	    view_name(v, FIELD_SESSION, d, &logged.session, err) < 0 || view_name(v, FIELD_ID, d, &logged.id, err) < 0)
		return -1;
	if (logged.id.data && name_set_add(&r->ids, logged.id) == 0)
		return ipf_error_set(err, IPF_INPUT, "%s: expected a unique id, got \"%.*s\" again",
		                     v->fields->mappings[v->fields->first_of[FIELD_ID]].place.shown,
		                     (int)(logged.id.len > 40 ? 40 : logged.id.len), logged.id.data);
	return name_set_check(&r->ids, err) < 0 ? -1 : logged_exchange_take(&logged, &r->origin, r->sink, err);
}

/* The inputs of one request: a query and its documents. */
static int add_inputs(const struct layout_view *v, enum field field, struct draft *d, struct ipf_error *err)
{
	static const char wanted[] = "a text, or an object with its text";
	const struct layout_fields *f = v->fields;
	const struct jdoc *j = v->j;
	bool query = field == FIELD_QUERY;
	for (size_t i = f->first_of[field], before = d->message_count; i < f->count; i = f->mappings[i].next) {
		jdoc_id node = view_at(v, &f->mappings[i]);
		bool list = jdoc_type_of(j, node) == JDOC_LIST;
		if (jdoc_is_null(j, node) || (query && d->message_count > before))
			continue;
		if (query && list && jdoc_count(j, node) != 1)
			return jdoc_expected(j, node, f->mappings[i].place.shown, wanted, err);
		for (uint32_t k = 0, count = list ? jdoc_count(j, node) : 1; k < count; k++) {
			jdoc_id one = list ? jdoc_at(j, node, k) : node;
			jdoc_id text = jdoc_type_of(j, one) == JDOC_MAP ? jdoc_get(j, one, "text") : one;
			if (jdoc_type_of(j, text) != JDOC_TEXT)
				return jdoc_expected(j, one, f->mappings[i].place.shown, wanted, err);
			draft_message(d, query ? ROLE_SYSTEM : ROLE_USER, draft_text(d, j, text));
		}
	}
	return 0;
}

static int read_ranking(struct layout_reader *r, const struct layout_view *v, struct ipf_error *err)
{
	struct draft *d = &r->sink->draft;
	struct draft_request *q = draft_request(d);
	if (!q)
		return 0;
	q->batch = true;
	if (view_text(v, FIELD_MODEL, d, &q->model, err) < 0 || add_inputs(v, FIELD_QUERY, d, err) < 0)
		return -1;
	if (d->message_count == 0)
		return view_missing(v, FIELD_QUERY, err);
	if (add_inputs(v, FIELD_DOCUMENTS, d, err) < 0)
		return -1;
	if (d->message_count > 1)
		return layout_hand_over(r, v, err);
	r->sink->unusable(r->sink, "no documents");
	return 0;
}

static int read_one(struct layout_reader *r, const struct layout_view *v, struct ipf_error *err)
{
	const struct mapping *m;
	struct sink *sink = r->sink;
	struct draft *d = &sink->draft;
	jdoc_id request = view_find(v, FIELD_REQUEST, &m);
	if (layout_maps(v->fields, FIELD_REQUEST))
		return request != JDOC_NONE ? read_exchange(r, v, request, m->place.shown, err)
		                            : view_missing(v, FIELD_REQUEST, err);
	if (layout_maps(v->fields, FIELD_QUERY))
		return read_ranking(r, v, err);
	int got = layout_request(r, v, err);
	if (got < 0 || d->failed)
		return got < 0 ? -1 : 0;
	const struct draft_request *q = &d->requests[0];
	bool text = false;
	for (size_t i = 0; i < d->message_count; i++)
		text |= d->messages[i].json.data || d->messages[i].media.data ||
		        (d->messages[i].role != ROLE_SYSTEM && d->messages[i].text.len > 0);
	if (!text && (layout_is_trace(r) ? d->message_count == 0 && q->input_tokens == IPF_ABSENT
	                                 : d->message_count > 0 || q->input_tokens <= 0))
		sink->unusable(sink, "empty prompt");
	else if (q->output_tokens == 0 && !layout_is_trace(r))
		sink->unusable(sink, "no output token");
	else
		return layout_hand_over(r, v, err);
	return 0;
}

/* A list of turns, which may be in a text. */
static int read_turns(struct layout_reader *r, const struct layout_view *v, jdoc_id list, const char *name,
                      struct ipf_error *err)
{
	struct ipf_error wrong = {0};
	if (jdoc_type_of(v->j, list) != JDOC_TEXT)
		return layout_turns_read(r, v, v->j, list, name, err);
	struct draft *d = &r->sink->draft;
	struct slice text = draft_text(d, v->j, list);
	if (!text.data || jdoc_parse(&r->inner, text.data, text.len, &wrong) < 0)
		return jdoc_expected(v->j, list, name, "a list, or a string with one", err);
	put_on_one_line(text);
	return layout_turns_read(r, v, &r->inner, JDOC_ROOT, name, err);
}

/* A record, or an element of a list of them. */
struct element {
	struct layout_reader *reader;
	struct ipf_error *err;
};

static int read_element(jdoc_id node, void *data)
{
	struct element *e = data;
	struct layout_reader *r = e->reader;
	const struct layout *l = r->layout;
	const struct jdoc *j = r->record->json;
	if (r->sink->full || r->sink->draft.failed)
		return 0;
	if (l->record_count && r->part++ > 0) {
		draft_begin(&r->sink->draft, r->record->number, r->part - 1);
		record_notes_element(r->sink->notes);
	}
	bool bare = l->turns.list_count && l->turns.lists[0].count == 0; /* the record is the list of turns */
	if (!bare && need_object(j, node, l->record_count ? l->records[0].shown : "record", e->err) < 0)
		return -1;
	struct layout_view v = r->columns && l->record_count == 0 ? layout_row_view(r->fields, j, r->columns)
	                                                          : layout_view(r->fields, j, node, JDOC_ROOT);
	v.csv = r->record->csv != NULL;
	for (size_t i = 0; i < l->turns.list_count && !r->is_given; i++) {
		jdoc_id list = place_find(&l->turns.lists[i], j, node);
		if (!jdoc_is_null(j, list))
			return read_turns(r, &v, list, bare ? "turns" : l->turns.lists[i].shown, e->err);
	}
	if (l->turns.list_count && r->fields->count == 0)
		return ipf_error_set(e->err, IPF_INPUT, "%s: missing", l->turns.lists[0].shown);
	return read_one(r, &v, e->err);
}

/* Notes which fields a record has, as --field would say it: a hint repeats them, since it replaces the usual names. */
static void make_hint(struct layout_reader *r, const struct jdoc *j)
{
	static const enum field texts[] = {FIELD_CONTEXT, FIELD_PROMPT};
	const struct layout_view v = layout_view(r->fields, j, JDOC_ROOT, JDOC_ROOT);
	const struct mapping *m;
	struct buffer *prompt = &r->prompt_hint, *other = &r->other_hint;
	buffer_clear(prompt);
	buffer_clear(other);
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		if (node_is_text(j, view_find(&v, texts[i], &m)))
			buffer_format(prompt, "%s%s", prompt->len ? "," : "", shown(m->place.shown).text);
	for (enum field f = 0; f < FIELDS; f++)
		if (f != FIELD_PROMPT && f != FIELD_CONTEXT && view_find(&v, f, &m) != JDOC_NONE)
			buffer_format(other, " --field %s=%s", field_name_of(f), shown(m->place.shown).text);
	buffer_byte(prompt, '\0');
	buffer_byte(other, '\0');
	r->hinted = true;
	r->sink->notes->prompt_at = prompt->failed ? "" : prompt->data;
	r->sink->notes->other_fields = other->failed ? "" : other->data;
}

int layout_read(struct layout_reader *r, const struct source_record *record, struct sink *sink, struct ipf_error *err)
{
	const struct layout *l = r->layout;
	const struct jdoc *j = record->json;
	struct element e = {r, err};
	int status = 0;
	if (need_object(j, JDOC_ROOT, "record", err) < 0)
		return -1;
	r->record = record;
	r->sink = sink;
	r->part = 0;
	if (sink->notes && l->guessed && !r->hinted)
		make_hint(r, j);
	if (!layout_conditions_hold(l->requests, l->requests_count, j, JDOC_ROOT)) {
		sink->no_request(sink, l->other ? l->other : "no request");
		return 0;
	}
	if (l->record_count == 0)
		return read_element(JDOC_ROOT, &e);
	for (size_t i = 0; i < r->fields->count; i++)
		if (r->fields->mappings[i].place.outer)
			place_find(&r->fields->mappings[i].place, j, JDOC_ROOT); /* used, even if the list is empty */
	struct place_walk walk = {.j = j, .found = read_element, .data = &e, .err = err};
	for (size_t i = 0; i < l->record_count && !walk.exists && status == 0; i++) {
		walk.place = &l->records[i];
		status = place_each(&walk, JDOC_ROOT);
	}
	return walk.exists || status < 0 ? status : ipf_error_set(err, IPF_INPUT, "%s: missing", l->records[0].shown);
}

void layout_reader_release(struct layout_reader *r)
{
	layout_fields_release(&r->given);
	name_set_release(&r->ids);
	jdoc_release(&r->inner);
	buffer_release(&r->prompt_hint);
	buffer_release(&r->other_hint);
	free(r->columns);
}
