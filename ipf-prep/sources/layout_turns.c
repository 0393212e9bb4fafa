#include "sources/layout_read.h"

#include "absent.h"

#include <stdio.h>
#include <string.h>

/* Members outside the turns of a record. */
#define OF_SESSIONS (FIELD_BIT(FIELD_ID) | FIELD_BIT(FIELD_SESSION) | FIELD_BIT(FIELD_AT))

/* The conversation being read. An exchange is a user's messages and the model's answer. */
struct conversation {
	struct layout_reader *reader;
	const struct layout_turns *turns;
	const struct layout_view *record;
	struct layout_view turn; /* the one at hand */
	struct draft *draft;
	struct slice system; /* for the next request */
	bool started;        /* the user has spoken */
	bool answering;      /* the last request has an answer, at least in part */
	bool ended;          /* later turns are only checked */
	const char *why;     /* why it ended */
	int64_t wait_ns;     /* before the next request; IPF_ABSENT */
	uint32_t index;
};

static void end_conversation(struct conversation *c, const char *why)
{
	c->ended = true;
	c->why = why;
}

/* Is the last exchange complete? */
static bool exchange_complete(const struct conversation *c)
{
	const struct draft *d = c->draft;
	return d->count == 0 || !c->turns->answered || c->reader->settings.answers_optional ||
	       d->requests[d->count - 1].answer.len > 0;
}

/* ---- turns of one speaker ---- */

/* Gives the first request the part before the conversation: a system message and a context. */
static int add_opening(struct conversation *c, struct ipf_error *err)
{
	struct draft *d = c->draft;
	size_t count = d->message_count;
	struct slice context;
	if (view_text(c->record, FIELD_CONTEXT, d, &context, err) < 0)
		return -1;
	if (count > 0 && context.len > 0)
		d->messages[count - 1].text = draft_join(d, context, "\n\n", d->messages[count - 1].text);
	if (count > 0 && c->system.len > 0 && draft_message(d, ROLE_SYSTEM, c->system)) {
		struct draft_message system = d->messages[count];
		memmove(d->messages + 1, d->messages, count * sizeof *d->messages);
		d->messages[0] = system;
	}
	return 0;
}

/* A requesting turn with all belonging to it. */
static int add_request(struct conversation *c, struct ipf_error *err)
{
	struct draft *d = c->draft;
	const struct mapping *m;
	size_t count = d->count;
	jdoc_id references = view_find(c->record, FIELD_REFERENCES, &m), messages = view_find(&c->turn, FIELD_MESSAGES, &m);
	if (m && (messages == JDOC_NONE ||
	          (jdoc_type_of(c->turn.j, messages) == JDOC_LIST && jdoc_count(c->turn.j, messages) == 0)))
		return 0; /* a turn without messages */
	int got = layout_request(c->reader, &c->turn, err);
	if (got < 0 || d->failed)
		return got < 0 ? -1 : 0;
	struct draft_request *q = &d->requests[count];
	if (got == 0) {
		d->message_count = q->first;
		d->count = count;
		end_conversation(c, "empty prompt");
		return 0;
	}
	jdoc_id reference = jdoc_at(c->record->j, references, (uint32_t)count);
	if (!jdoc_text_empty(c->record->j, reference))
		q->answer = draft_text(d, c->record->j, reference);
	if (c->wait_ns != IPF_ABSENT)
		q->wait_ns = c->wait_ns;
	c->wait_ns = IPF_ABSENT;
	return view_time(&c->turn, FIELD_WAIT_AFTER, d, &c->wait_ns, err) < 0 || (count == 0 && add_opening(c, err) < 0)
	           ? -1
	           : 0;
}

/* ---- turns of several speakers ---- */

static int bad_turn(const struct conversation *c, const char *list, enum field field, jdoc_id node, const char *wanted,
                    struct ipf_error *err)
{
	const struct mapping *m;
	char name[128];
	view_find(&c->turn, field, &m);
	size_t first = c->turn.fields->first_of[field];
	if (node == JDOC_NONE && first < c->turn.fields->count)
		m = &c->turn.fields->mappings[first]; /* the usual name of the missing one */
	snprintf(name, sizeof name, "%s[%u].%s", list, c->index, m ? m->place.shown : field_name_of(field));
	return node == JDOC_NONE ? ipf_error_set(err, IPF_INPUT, "%s: missing", name)
	                         : jdoc_expected(c->turn.j, node, name, wanted, err);
}

/* The role of a turn: -1, or 0. Without a role, it is the user. */
static int read_role(const struct conversation *c, const char *list, enum role *role, struct ipf_error *err)
{
	const struct mapping *m;
	jdoc_id node = view_find(&c->turn, FIELD_ROLE, &m);
	*role = ROLE_USER;
	if (node == JDOC_NONE && !(c->turn.fields->required & FIELD_BIT(FIELD_ROLE)))
		return 0;
	if (jdoc_type_of(c->turn.j, node) != JDOC_TEXT)
		return bad_turn(c, list, FIELD_ROLE, node, "a string", err);
	for (size_t r = 0; r < sizeof c->turns->roles / sizeof *c->turns->roles; r++)
		for (size_t i = 0; i < c->turns->role_counts[r]; i++)
			if (jdoc_text_is(c->turn.j, node, c->turns->roles[r][i])) {
				*role = (enum role)r;
				return 0;
			}
	return bad_turn(c, list, FIELD_ROLE, node, "the name of a role (ipf-prep-formats(5) has them)", err);
}

/* The text of a turn: null is an empty one, another type an error, as it is if there is none. */
static int read_text(const struct conversation *c, const char *list, struct slice *text, struct ipf_error *err)
{
	const struct layout_view *v = &c->turn;
	*text = (struct slice){0};
	for (size_t i = v->fields->first_of[FIELD_PROMPT]; i < v->fields->count; i = v->fields->mappings[i].next) {
		jdoc_id node = view_at(v, &v->fields->mappings[i]);
		if (node == JDOC_NONE)
			continue;
		if (jdoc_is_null(v->j, node))
			return 0;
		return node_is_text(v->j, node) ? node_text(c->draft, v->j, node, v->fields->mappings[i].place.shown, text, err)
		                                : bad_turn(c, list, FIELD_PROMPT, node, "a string", err);
	}
	return bad_turn(c, list, FIELD_PROMPT, JDOC_NONE, "", err);
}

/* The parts of a user's turn as a request: media, lengths, waits. */
static int add_parts(struct conversation *c, struct ipf_error *err)
{
	const struct mapping *m;
	struct draft *d = c->draft;
	struct draft_request *q = &d->requests[d->count - 1];
	jdoc_id parameters = view_find(&c->turn, FIELD_PARAMETERS, &m);
	if ((parameters != JDOC_NONE && chat_parameters(d, c->turn.j, parameters, q, err) < 0) ||
	    layout_media(c->reader, &c->turn, err) < 0)
		return -1;
	return view_time(&c->turn, d->count > 1 ? FIELD_WAIT : FIELD_AT, d, d->count > 1 ? &q->wait_ns : &q->at_ns, err) < 0
	           ? -1
	           : 0;
}

static int add_user_turn(struct conversation *c, struct slice text, struct ipf_error *err)
{
	struct draft *d = c->draft;
	bool columns = c->turn.column >= 0;
	if (text.len == 0) {
		end_conversation(c, "empty user turn");
		return 0;
	}
	if (!c->started || c->answering || !c->turns->merged) {
		if (!exchange_complete(c)) {
			end_conversation(c, "empty answer");
			return 0;
		}
		if (c->reader->settings.lone && d->count == 1) {
			end_conversation(c, NULL);
			return 0;
		}
		if (!draft_request(d))
			return 0;
		if (c->system.len > 0)
			draft_message(d, ROLE_SYSTEM, c->system);
		c->system = (struct slice){0};
		c->started = true;
		c->answering = false;
	}
	draft_message(d, ROLE_USER, text);
	return d->failed || columns ? 0 : add_parts(c, err);
}

static void add_model_turn(struct conversation *c, struct slice text)
{
	if (!c->started)
		return; /* an answer without a question is left out */
	struct draft *d = c->draft;
	struct draft_request *q = &d->requests[d->count - 1];
	c->answering = true;
	q->answer = draft_append(d, q->answer, "\n\n", text);
}

/* A turn saying something: one of the user, of the model, or of the system. */
static int add_turn(struct conversation *c, const char *list, struct ipf_error *err)
{
	enum role role;
	struct slice text;
	if (read_role(c, list, &role, err) < 0 || read_text(c, list, &text, err) < 0)
		return -1;
	if (c->ended)
		return 0;
	if (role == ROLE_SYSTEM && c->draft->count == 0) /* after the record's */
		c->system = draft_append(c->draft, c->system, "\n\n", text);
	else if (role == ROLE_SYSTEM)
		c->system = text;
	else if (role == ROLE_USER)
		return add_user_turn(c, text, err);
	else
		add_model_turn(c, text);
	return 0;
}

/* ---- lists of turns ---- */

/* Turns as an object of lists, roles and texts, as Parquet's structs of lists become. */
static int read_columns(struct conversation *c, const char *name, struct ipf_error *err)
{
	const struct mapping *role, *text;
	const struct jdoc *j = c->turn.j;
	jdoc_id roles = view_find(&c->turn, FIELD_ROLE, &role), texts = view_find(&c->turn, FIELD_PROMPT, &text);
	uint32_t count = jdoc_count(j, roles);
	if (jdoc_type_of(j, roles) != JDOC_LIST || count != jdoc_count(j, texts))
		return jdoc_expected(j, c->turn.node, name, "a list, or an object of two lists of one length", err);
	for (; c->index < count; c->index++) {
		c->turn.column = c->index;
		if (add_turn(c, name, err) < 0)
			return -1;
	}
	return 0;
}

static int read_list(struct conversation *c, jdoc_id list, const char *name, struct ipf_error *err)
{
	bool speakers = layout_maps(&c->turns->fields, FIELD_ROLE);
	bool lone = c->reader->settings.lone && !speakers, bare = false;
	for (size_t i = 0; i < c->turns->fields.count; i++)
		bare |= c->turns->fields.mappings[i].place.count == 0; /* a turn may be the value itself */
	for (struct jdoc_each e = jdoc_each(c->turn.j, list);
	     !c->draft->failed && !(lone && c->draft->count == 1) && (speakers || !c->ended) && jdoc_step(&e); c->index++) {
		char place[96];
		struct ipf_error wrong = {0};
		snprintf(place, sizeof place, "%s[%u]", name, c->index);
		c->turn = layout_view(&c->turns->fields, c->turn.j, e.value, c->record->node);
		if (!bare && jdoc_type_of(c->turn.j, e.value) != JDOC_MAP)
			return jdoc_expected(c->turn.j, e.value, place, "an object", err);
		if ((speakers ? add_turn(c, name, err) : add_request(c, &wrong)) < 0)
			return speakers
			           ? -1
			           : ipf_error_set(err, wrong.kind, "%s%s%s", place, *wrong.text == ':' ? "" : ": ", wrong.text);
	}
	return 0;
}

/* The last exchange counts only if it is complete. */
static void drop_incomplete(struct conversation *c)
{
	struct draft *d = c->draft;
	if (d->count > 0 && !exchange_complete(c)) {
		d->count--;
		d->message_count = d->requests[d->count].first;
		if (!c->why)
			c->why = c->answering ? "empty answer" : "no answer";
	}
	if (!c->why)
		c->why = c->index ? "no user turn" : "empty conversation";
}

/* The media of a record belong to the user's first message. */
static int add_record_media(struct conversation *c, struct ipf_error *err)
{
	struct draft *d = c->draft;
	size_t first = 0, all = d->message_count;
	while (first < all && d->messages[first].role != ROLE_USER)
		first++;
	if (first == all)
		return 0;
	d->message_count = first + 1;
	int status = layout_media(c->reader, c->record, err);
	d->message_count = all;
	for (size_t i = first + 1; i < all && d->messages[first].media.data; i++)
		d->messages[i].text = chat_without_marks(d, d->messages[i].text);
	return status;
}

/* The rule of several benchmarks: the first two turns are prompt and answer, whatever their roles. */
static int read_first_two(struct conversation *c, jdoc_id list, const char *name, struct ipf_error *err)
{
	struct slice texts[2];
	enum role role;
	if (jdoc_count(c->turn.j, list) < 2) {
		c->reader->sink->unusable(c->reader->sink, "fewer than two turns");
		return 0;
	}
	for (; c->index < 2; c->index++) {
		c->turn = layout_view(&c->turns->fields, c->turn.j, jdoc_at(c->turn.j, list, c->index), c->record->node);
		if (read_role(c, name, &role, err) < 0 || read_text(c, name, &texts[c->index], err) < 0)
			return -1;
	}
	return chat_pair(c->reader->sink, (struct slice){0}, texts[0], texts[1], err);
}

/* The name of a session without one: its number in the data. */
static struct slice session_number(const struct layout_reader *r, struct draft *d)
{
	if (r->layout->record_count == 0)
		return draft_format(d, "%lld", (long long)d->number);
	return d->number == 1 ? draft_format(d, "%lld", (long long)d->part)
	                      : draft_format(d, "%lld:%lld", (long long)d->number, (long long)d->part);
}

static int hand_over(struct conversation *c, struct ipf_error *err)
{
	const struct mapping *m;
	struct draft *d = c->draft;
	jdoc_id tools = view_find(c->record, FIELD_TOOLS, &m);
	if (d->count == 0) {
		c->reader->sink->unusable(c->reader->sink, c->why);
		return 0;
	}
	if (layout_is_trace(c->reader))
		d->session = session_number(c->reader, d);
	struct slice shared = tools != JDOC_NONE ? chat_tools(d, c->record->j, tools) : (struct slice){0};
	struct slice tags = view_tags(c->record, d);
	for (size_t i = 0; i < d->count; i++) {
		d->requests[i].tools = shared.data ? shared : d->requests[i].tools;
		d->requests[i].tags = d->requests[i].tags.data ? d->requests[i].tags : tags;
	}
	d->chain = !c->reader->settings.lone && !c->turns->whole;
	return layout_hand_over(c->reader, c->record, err);
}

int layout_turns_read(struct layout_reader *r, const struct layout_view *v, const struct jdoc *j, jdoc_id list,
                      const char *name, struct ipf_error *err)
{
	struct conversation c = {
		.reader = r, .turns = &r->layout->turns, .record = v, .draft = &r->sink->draft, .wait_ns = IPF_ABSENT};
	enum jdoc_type type = jdoc_type_of(j, list);
	bool speakers = layout_maps(&c.turns->fields, FIELD_ROLE);
	c.turn = layout_view(&c.turns->fields, j, list, v->node);
	if (type != JDOC_LIST && (type != JDOC_MAP || !speakers || r->settings.first_two))
		return jdoc_expected(j, list, name, "a list", err);
	if (r->settings.first_two && speakers)
		return read_first_two(&c, list, name, err);
	if (view_check_required(v, OF_SESSIONS, err) < 0 || view_text(v, FIELD_SYSTEM, c.draft, &c.system, err) < 0 ||
	    (type == JDOC_MAP ? read_columns(&c, name, err) : read_list(&c, list, name, err)) < 0)
		return -1;
	drop_incomplete(&c);
	return add_record_media(&c, err) < 0 ? -1 : hand_over(&c, err);
}
