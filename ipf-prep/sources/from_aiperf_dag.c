/* aiperf-dag: branching conversations, as AIPerf's dag_jsonl has them.
 *
 * Origin: github.com/ai-dynamo/aiperf, docs/benchmark-modes/dag.md. JSON Lines, a line for each conversation:
 *
 *     session_id  its name, unique in the file
 *     turns       list of turns, each with what is new since the one before it:
 *       messages, model, max_tokens, tools, and `extra`, members for the body
 *       delay     milliseconds before the turn
 *       forks     conversations that continue this one: names, or {"child", "background"}
 *       spawns    conversations that start afresh after this turn: names, whose end the next turn waits for, or
 *                 {"children", "join_at"}: the turn that waits for them
 *     context_mode        message_array_with_responses: each turn has the whole conversation
 *     pre_session_spawns  conversations that start with this one
 *     orchestrator        this one has no turns, but starts others
 *
 * A conversation without branches is a session with the server's answers in its context. A tree of conversations is a
 * session of whole prompts, without answers, which the data lack. Conversations starting with another one or by an
 * orchestrator are sessions.
 */
#include "absent.h"
#include "array.h"
#include "clock.h"
#include "json/jout.h"
#include "name_set.h"
#include "sources/chat_fields.h"
#include "sources/record_fields.h"
#include "sources/sniff.h"

#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX    64     /* conversations within each other */
#define MESSAGES_MAX 200000 /* over all prompts of a session: each includes those before it */

/* A line, kept until the end, when all names are known. */
struct conversation {
	struct slice id, text; /* allocated as one */
	size_t prefix;         /* the id's: the common beginning of names in this file */
	int64_t number;
	bool branches;     /* it starts others, or its turns are whole conversations */
	bool child;        /* others start it */
	bool used, active; /* it is in a session; in the current one, above the part being added */
};

struct state {
	struct conversation *items;
	size_t count, cap;
	struct name_set ids;
};

static void close_state(void *opened)
{
	struct state *s = opened;
	for (size_t i = 0; i < s->count; i++)
		free((char *)(uintptr_t)s->items[i].id.data);
	free(s->items);
	name_set_release(&s->ids);
}

static struct slice agent_tag(struct draft *d, struct slice agent)
{
	struct buffer out = {0};
	struct jout w = {.out = &out};
	jout_begin_map(&w);
	jout_member_string(&w, "agent", agent);
	jout_end_map(&w);
	return draft_take_buffer(d, &out);
}

static int keep(struct state *s, struct draft *d, struct slice id, size_t prefix, struct slice text)
{
	if (!array_room(s->items, s->cap, s->count + 1)) {
		d->failed = true;
		return 0;
	}
	char *both = malloc(id.len + text.len + 1);
	d->failed |= !both;
	if (!both)
		return 0;
	memcpy(both, id.data, id.len);
	memcpy(both + id.len, text.data, text.len);
	s->items[s->count++] = (struct conversation){
		.id = {both, id.len}, .text = {both + id.len, text.len}, .prefix = prefix, .number = d->number};
	return 0;
}

/* ---- a line ---- */

/* Checks the input when all conversations are there, so it cannot fail then. */
static int check_turn(struct draft *d, const struct jdoc *j, jdoc_id turn, struct ipf_error *err)
{
	static const char *const lists[] = {"forks", "spawns"};
	int64_t delay_ns = 0;
	jdoc_id messages;
	struct draft_request *r = draft_request(d);
	if (need_object(j, turn, "turns", err) < 0 || need_list(j, turn, "messages", &messages, err) < 0 || !r ||
	    chat_prompt(d, j, messages, err) < 0 || chat_parameters(d, j, turn, &d->requests[0], err) < 0 ||
	    field_duration(j, turn, "delay", NS_PER_MS, &delay_ns, err) < 0)
		return r ? -1 : 0;
	jdoc_id extra = jdoc_get(j, turn, "extra");
	if (!jdoc_is_null(j, extra) &&
	    (need_object(j, extra, "extra", err) < 0 || chat_parameters(d, j, extra, &d->requests[0], err) < 0))
		return -1;
	for (size_t i = 0; i < 2; i++) {
		jdoc_id list = jdoc_get(j, turn, lists[i]);
		if (!jdoc_is_null(j, list) && jdoc_type_of(j, list) != JDOC_LIST)
			return jdoc_expected(j, list, lists[i], "a list", err);
	}
	for (struct jdoc_each e = jdoc_each(j, jdoc_get(j, turn, "spawns")); jdoc_step(&e);) {
		int64_t join_at;
		if (jdoc_get_int(j, e.value, "join_at", &join_at, err) < 0)
			return -1;
	}
	return 0;
}

static int read_record(void *opened, const struct source_record *record, struct sink *sink, struct ipf_error *err)
{
	struct state *s = opened;
	const struct jdoc *j = record->json;
	struct draft *d = &sink->draft;
	struct slice id;
	jdoc_id turns = jdoc_get(j, JDOC_ROOT, "turns");
	bool orchestrator = false;
	if (need_object(j, JDOC_ROOT, "record", err) < 0 || need_name(d, j, JDOC_ROOT, "session_id", &id, err) < 0 ||
	    jdoc_get_bool(j, JDOC_ROOT, "orchestrator", &orchestrator, err) < 0 ||
	    (!orchestrator && need_list(j, JDOC_ROOT, "turns", &turns, err) < 0))
		return -1;
	for (struct jdoc_each e = jdoc_each(j, turns); jdoc_step(&e) && !d->failed;) {
		draft_begin(d, record->number, 0);
		if (check_turn(d, j, e.value, err) < 0 || draft_check_names(d, err) < 0)
			return -1;
	}
	draft_begin(d, record->number, 0);
	need_name(d, j, JDOC_ROOT, "session_id", &id, err);
	d->session = id;
	if (draft_check_names(d, err) < 0)
		return -1;
	if (orchestrator) {
		sink->no_request(sink, "an orchestrator, which sends nothing");
		sink->inexact(sink, "the rounds of an orchestrator are not in the trace; its conversations are sessions");
		return 0;
	}
	if (jdoc_count(j, turns) == 0) {
		sink->unusable(sink, "empty conversation");
		return 0;
	}
	id = name_in_file(d, record->file_index, id);
	if (name_set_add(&s->ids, id) == 0)
		return ipf_error_set(err, IPF_INPUT, "session_id: expected a unique id, got \"%.*s\" again",
		                     (int)(id.len > 40 ? 40 : id.len), id.data);
	if (name_set_check(&s->ids, err) < 0)
		return -1;
	if (!jdoc_is_null(j, jdoc_get(j, JDOC_ROOT, "pre_session_spawns")))
		sink->inexact(sink, "conversations that start with it are sessions, with no wait between them");
	return d->failed ? 0 : keep(s, d, id, id.len - d->session.len, jdoc_raw(j, JDOC_ROOT));
}

/* ---- trees ---- */

/* The session being made. */
struct tree {
	struct state *state;
	struct sink *sink;
	bool chain; /* without branches */
	bool too_long;
	int depth;
};

/* Requests whose ends the turn `at` of a conversation waits for. */
struct join {
	int64_t at;
	uint64_t request;
};

struct joins {
	struct join *items;
	size_t count, cap;
};

/* A conversation whose turns are being added. */
struct level {
	const struct conversation *conversation;
	const struct jdoc *json;
	int64_t turn;
	struct joins joins;
};

/* How a conversation is started. */
struct branch {
	int64_t after;   /* the request before it; -1: none */
	bool fork;       /* it continues that one's prompt */
	int64_t join_at; /* the turn waiting for its end; -1: none */
};

static int by_id(const void *a, const void *b)
{
	struct slice x = ((const struct conversation *)a)->id, y = ((const struct conversation *)b)->id;
	int order = memcmp(x.data, y.data, x.len < y.len ? x.len : y.len);
	return order ? order : x.len < y.len ? -1 : x.len > y.len;
}

static int by_number(const void *a, const void *b)
{
	const struct conversation *const *x = a, *const *y = b;
	return (*x)->number < (*y)->number ? -1 : (*x)->number > (*y)->number;
}

/* The conversation of this name in the file of another one; NULL. */
static struct conversation *find(const struct state *s, struct draft *d, const struct conversation *from,
                                 const struct jdoc *j, jdoc_id name)
{
	struct slice prefix = {from->id.data, from->prefix};
	struct conversation key = {.id = draft_join(d, prefix, "", draft_text(d, j, name))};
	return key.id.data ? bsearch(&key, s->items, s->count, sizeof key, by_id) : NULL;
}

static void add_join(struct draft *d, struct joins *joins, int64_t at, uint64_t request)
{
	if (!array_room(joins->items, joins->cap, joins->count + 1)) {
		d->failed = true;
		return;
	}
	joins->items[joins->count++] = (struct join){at, request};
}

/* Adds the messages of an earlier request to the last one. */
static void inherit(struct draft *d, size_t from)
{
	struct draft_request earlier = d->requests[from];
	for (size_t i = 0; i < earlier.count && !d->failed; i++) {
		struct draft_message copy = d->messages[earlier.first + i], *m = draft_message(d, copy.role, copy.text);
		if (m)
			*m = copy;
	}
}

/* The last request waits for `before` (-1: none) and for the branches joined at this turn. */
static void set_parents(struct draft *d, int64_t before, const struct joins *joins, int64_t turn)
{
	uint64_t *parents = draft_ids(d, joins->count + 1);
	size_t count = 0;
	struct draft_request *r = &d->requests[d->count - 1];
	if (!parents || before < 0)
		return;
	parents[count++] = (uint64_t)before;
	for (size_t i = 0; i < joins->count; i++)
		if (joins->items[i].at == turn)
			parents[count++] = joins->items[i].request;
	r->parents = parents;
	r->parent_count = count;
}

static int add_turn(struct tree *t, const struct conversation *c, const struct jdoc *j, jdoc_id turn, int64_t inherited,
                    struct ipf_error *err)
{
	struct draft *d = &t->sink->draft;
	struct draft_request *r = draft_request(d);
	if (!r)
		return 0;
	if (inherited >= 0) {
		inherit(d, (size_t)inherited);
		t->sink->inexact(t->sink, "its prompt lacks the answers before it, which are not in the data");
	}
	if (d->failed)
		return 0;
	if (chat_prompt(d, j, jdoc_get(j, turn, "messages"), err) < 0 || chat_parameters(d, j, turn, r, err) < 0 ||
	    chat_extra(&t->sink->draft, j, jdoc_get(j, turn, "extra"), r, err) < 0 ||
	    (d->count > 1 && field_duration(j, turn, "delay", NS_PER_MS, &r->wait_ns, err) < 0))
		return -1;
	if (t->depth > 1)
		r->tags = agent_tag(d, c->id);
	t->too_long |= d->message_count > MESSAGES_MAX;
	return 0;
}

static int add_conversation(struct tree *t, struct conversation *c, const struct branch *branch, int64_t *last,
                            struct ipf_error *err);

static int add_child(struct tree *t, struct level *l, jdoc_id name, const struct branch *branch, struct ipf_error *err)
{
	struct draft *d = &t->sink->draft;
	struct conversation *child = find(t->state, d, l->conversation, l->json, name);
	int64_t last = -1;
	if (!child || child->active || t->depth == DEPTH_MAX) {
		t->sink->inexact(t->sink, !child
		                              ? "a branch names no conversation of the data, and is ignored"
		                              : "a branch leads back to its own conversation or is too deep, and is ignored");
		return 0;
	}
	if (add_conversation(t, child, branch, &last, err) < 0)
		return -1;
	if (branch->join_at >= 0 && last >= 0)
		add_join(d, &l->joins, branch->join_at, (uint64_t)last);
	return 0;
}

/* Adds the conversations a turn starts. */
static int add_branches(struct tree *t, struct level *l, jdoc_id turn, struct ipf_error *err)
{
	const struct jdoc *j = l->json;
	struct branch branch = {.after = (int64_t)t->sink->draft.count - 1, .fork = true, .join_at = -1};
	for (struct jdoc_each e = jdoc_each(j, jdoc_get(j, turn, "forks")); jdoc_step(&e) && !t->too_long;) {
		jdoc_id child = jdoc_type_of(j, e.value) == JDOC_MAP ? jdoc_get(j, e.value, "child") : e.value;
		if (add_child(t, l, child, &branch, err) < 0)
			return -1;
	}
	branch.fork = false;
	for (struct jdoc_each e = jdoc_each(j, jdoc_get(j, turn, "spawns")); jdoc_step(&e) && !t->too_long;) {
		branch.join_at = l->turn + 1;
		if (jdoc_type_of(j, e.value) != JDOC_MAP && add_child(t, l, e.value, &branch, err) < 0)
			return -1;
		if (jdoc_get_int(j, e.value, "join_at", &branch.join_at, err) < 0)
			return -1;
		for (struct jdoc_each k = jdoc_each(j, jdoc_get(j, e.value, "children")); jdoc_step(&k) && !t->too_long;)
			if (add_child(t, l, k.value, &branch, err) < 0)
				return -1;
	}
	return 0;
}

static int add_turns(struct tree *t, struct conversation *c, const struct jdoc *j, const struct branch *branch,
                     int64_t *last, struct ipf_error *err)
{
	struct draft *d = &t->sink->draft;
	struct level l = {.conversation = c, .json = j};
	int64_t before = branch->after;
	int status = 0;
	bool whole = jdoc_text_is(j, jdoc_get(j, JDOC_ROOT, "context_mode"), "message_array_with_responses");
	t->depth++;
	for (struct jdoc_each e = jdoc_each(j, jdoc_get(j, JDOC_ROOT, "turns"));
	     jdoc_step(&e) && status == 0 && !d->failed && !t->too_long; l.turn++) {
		bool continues = !t->chain && !whole && before >= 0 && (l.turn > 0 || branch->fork);
		status = add_turn(t, c, j, e.value, continues ? before : -1, err);
		if (status < 0 || d->failed)
			break;
		if (!t->chain)
			set_parents(d, before, &l.joins, l.turn);
		before = *last = (int64_t)d->count - 1;
		status = add_branches(t, &l, e.value, err);
	}
	t->depth--;
	free(l.joins.items);
	return status;
}

static int add_conversation(struct tree *t, struct conversation *c, const struct branch *branch, int64_t *last,
                            struct ipf_error *err)
{
	struct jdoc j = {0};
	int status = jdoc_parse(&j, c->text.data, c->text.len, err);
	c->active = c->used = true;
	if (status == 0)
		status = add_turns(t, c, &j, branch, last, err);
	c->active = false;
	jdoc_release(&j);
	return status;
}

/* Marks the conversations started by the turns of one. */
static void mark_child(struct state *s, struct draft *d, struct conversation *c, const struct jdoc *j, jdoc_id name)
{
	struct conversation *child = find(s, d, c, j, name);
	c->branches = true;
	if (child)
		child->child = true;
}

static void mark_children(struct state *s, struct draft *d, struct conversation *c, const struct jdoc *j)
{
	for (struct jdoc_each turn = jdoc_each(j, jdoc_get(j, JDOC_ROOT, "turns")); jdoc_step(&turn);) {
		for (struct jdoc_each e = jdoc_each(j, jdoc_get(j, turn.value, "forks")); jdoc_step(&e);)
			mark_child(s, d, c, j, jdoc_type_of(j, e.value) == JDOC_MAP ? jdoc_get(j, e.value, "child") : e.value);
		for (struct jdoc_each e = jdoc_each(j, jdoc_get(j, turn.value, "spawns")); jdoc_step(&e);) {
			if (jdoc_type_of(j, e.value) != JDOC_MAP)
				mark_child(s, d, c, j, e.value);
			for (struct jdoc_each k = jdoc_each(j, jdoc_get(j, e.value, "children")); jdoc_step(&k);)
				mark_child(s, d, c, j, k.value);
		}
	}
	c->branches |= jdoc_text_is(j, jdoc_get(j, JDOC_ROOT, "context_mode"), "message_array_with_responses");
}

/* Hands over the session of a conversation not started by another one. */
static int take_tree(struct state *s, struct conversation *root, struct sink *sink, struct ipf_error *err)
{
	struct draft *d = &sink->draft;
	struct tree t = {.state = s, .sink = sink, .chain = !root->branches};
	int64_t last = -1;
	draft_begin(d, root->number, 0);
	d->session = root->id;
	d->chain = t.chain;
	if (add_conversation(&t, root, &(struct branch){.after = -1, .join_at = -1}, &last, err) < 0)
		return -1;
	if (t.too_long)
		sink->unusable(sink, "a session of more than 200000 messages in all");
	return t.too_long || d->failed ? 0 : sink->take(sink, d, err);
}

static int finish(void *opened, struct sink *sink, struct ipf_error *err)
{
	struct state *s = opened;
	struct conversation **order = reallocarray(NULL, s->count + 1, sizeof *order);
	int status = order ? 0 : ipf_error_memory(err);
	if (s->count)
		qsort(s->items, s->count, sizeof *s->items, by_id);
	for (size_t i = 0; i < s->count && status == 0; i++) {
		struct jdoc j = {0};
		status = jdoc_parse(&j, s->items[i].text.data, s->items[i].text.len, err);
		mark_children(s, &sink->draft, &s->items[i], &j);
		jdoc_release(&j);
		order[i] = &s->items[i];
		draft_reset(&sink->draft);
	}
	if (status == 0 && s->count)
		qsort(order, s->count, sizeof *order, by_number);
	for (size_t i = 0; i < s->count && status == 0 && !sink->full && !sink->draft.failed; i++)
		if (!order[i]->child)
			status = take_tree(s, order[i], sink, err);
	for (size_t i = 0; i < s->count && status == 0 && !sink->full; i++)
		if (!order[i]->used) {
			sink->unusable(sink, "only started by itself");
			sink->inexact(sink, "it is only started by itself, through others, and is left out");
		}
	free(order);
	return status;
}

static bool recognises(const struct sniff *sniff)
{
	jdoc_id turns = sniff->json ? jdoc_get(sniff->json, JDOC_ROOT, "turns") : JDOC_NONE;
	return sniff_members(sniff, "session_id") &&
	       (jdoc_type_of(sniff->json, jdoc_get(sniff->json, jdoc_at(sniff->json, turns, 0), "messages")) == JDOC_LIST ||
	        sniff_members(sniff, "orchestrator spawns"));
}

const struct source_format source_aiperf_dag = {
	.name = "aiperf-dag",
	.about = "AIPerf's branching conversations (dag_jsonl): turns, forks and sub-agents, with their parents",
	.kind = SOURCE_DATASET,
	.unit = UNIT_JSON,
	.traits = HAS_SESSIONS,
	.state_size = sizeof(struct state),
	.read_record = read_record,
	.finish = finish,
	.recognises = recognises,
	.close = close_state,
};
