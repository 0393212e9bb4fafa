#include "twin/twin_server.h"

#include <math.h>
#include <stdlib.h>

struct replica {
	struct batching *engine;
	int64_t wake_ns;
	struct twin_server *server;
};

struct twin_server {
	struct replica *replicas;
	size_t count;
	int64_t overhead_ns, room;
	struct twin_answer *first, *last; /* on their way to a replica */
	void (*on_tokens)(struct twin_answer *answer, void *data);
	void *data;
	void (*on_step)(size_t replica, const struct batching_step *step, void *data);
	void *watcher;
	void (*on_move)(const struct twin_answer *answer, int64_t at_ns, void *data);
	void *move_watcher;
};

/* ---- requests ---- */

void twin_answer_block(struct twin_answer *a, uint64_t hash)
{
	sequence_add_block(&a->sequence, hash);
}

void twin_answer_prompt(struct twin_answer *a, int64_t tokens)
{
	a->sequence.prompt_tokens = tokens > 1 ? tokens : 1;
}

bool twin_answer_failed(const struct twin_answer *a)
{
	return a->sequence.failed;
}

void twin_answer_release(struct twin_answer *a)
{
	sequence_release(&a->sequence);
}

/* ---- the server ---- */

int twin_server_open(struct twin_server **server, const struct twin *twin, size_t replicas, uint64_t seed,
                     struct ipf_error *err)
{
	struct twin_server *s = calloc(1, sizeof *s);
	*server = NULL;
	if (!s || !(s->replicas = calloc(replicas, sizeof *s->replicas))) {
		twin_server_close(s);
		return ipf_error_memory(err);
	}
	s->overhead_ns = (int64_t)twin_value(twin, TWIN_OVERHEAD);
	for (; s->count < replicas; s->count++) {
		const struct batching_options options = twin_engine(twin, seed + s->count);
		s->replicas[s->count].wake_ns = INT64_MAX;
		if (batching_open(&s->replicas[s->count].engine, &options, err) < 0) {
			twin_server_close(s);
			return -1;
		}
		s->room = batching_room(s->replicas[s->count].engine);
	}
	*server = s;
	return 0;
}

void twin_server_close(struct twin_server *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->count; i++)
		batching_close(s->replicas[i].engine);
	free(s->replicas);
	free(s);
}

static void pass_step(const struct batching_step *step, void *data)
{
	const struct replica *r = data;
	const struct twin_server *s = r->server;
	s->on_step((size_t)(r - s->replicas), step, s->watcher);
}

void twin_server_watch(struct twin_server *s,
                       void (*on_step)(size_t replica, const struct batching_step *step, void *data), void *data)
{
	s->on_step = on_step;
	s->watcher = data;
	for (size_t i = 0; i < s->count; i++) {
		s->replicas[i].server = s;
		batching_watch(s->replicas[i].engine, pass_step, &s->replicas[i]);
	}
}

static void pass_move(const struct sequence *sequence, int64_t at_ns, void *data)
{
	const struct twin_server *s = data;
	s->on_move((const struct twin_answer *)sequence, at_ns, s->move_watcher);
}

void twin_server_watch_moves(struct twin_server *s,
                             void (*on_move)(const struct twin_answer *answer, int64_t at_ns, void *data), void *data)
{
	s->on_move = on_move;
	s->move_watcher = data;
	for (size_t i = 0; i < s->count; i++)
		batching_watch_moves(s->replicas[i].engine, pass_move, s);
}

int64_t twin_server_room(const struct twin_server *s)
{
	return s->room;
}

void twin_server_send(struct twin_server *s, struct twin_answer *a, int64_t now_ns)
{
	a->arrives_ns = now_ns + s->overhead_ns;
	a->arrived = false;
	a->next = NULL;
	if (s->last)
		s->last->next = a;
	else
		s->first = a;
	s->last = a;
}

static void forget_arriving(struct twin_server *s, struct twin_answer *a)
{
	struct twin_answer **at = &s->first, *before = NULL;
	while (*at && *at != a) {
		before = *at;
		at = &(*at)->next;
	}
	if (!*at)
		return;
	*at = a->next;
	if (s->last == a)
		s->last = before;
}

void twin_server_cancel(struct twin_server *s, struct twin_answer *a)
{
	if (a->arrived)
		batching_remove(s->replicas[a->replica].engine, &a->sequence);
	else
		forget_arriving(s, a);
}

int64_t twin_server_wake(const struct twin_server *s)
{
	int64_t wake = s->first ? s->first->arrives_ns : INT64_MAX;
	for (size_t i = 0; i < s->count; i++)
		if (s->replicas[i].wake_ns < wake)
			wake = s->replicas[i].wake_ns;
	return wake;
}

/* All that arrive at a moment are in the step that begins then. */
static void let_arrive(struct twin_server *s, int64_t now_ns)
{
	while (s->first && s->first->arrives_ns <= now_ns) {
		struct twin_answer *a = s->first;
		struct replica *r = &s->replicas[a->replica];
		s->first = a->next;
		if (!s->first)
			s->last = NULL;
		a->arrived = true;
		batching_add(r->engine, &a->sequence, a->arrives_ns);
		if (r->wake_ns == INT64_MAX)
			r->wake_ns = now_ns; /* it is idle: begins below */
	}
}

static void hand_on(struct sequence *sequence, void *data)
{
	struct twin_server *s = data;
	s->on_tokens((struct twin_answer *)sequence, s->data);
}

void twin_server_run(struct twin_server *s, int64_t now_ns, void (*on_tokens)(struct twin_answer *answer, void *data),
                     void *data)
{
	s->on_tokens = on_tokens;
	s->data = data;
	let_arrive(s, now_ns);
	for (size_t i = 0; i < s->count; i++) {
		struct replica *r = &s->replicas[i];
		if (r->wake_ns > now_ns)
			continue;
		batching_finish(r->engine, now_ns, hand_on, s);
		batching_start(r->engine, now_ns);
		r->wake_ns = batching_deadline(r->engine);
	}
}
