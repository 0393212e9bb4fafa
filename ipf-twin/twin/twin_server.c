#include "twin/twin_server.h"

#include "array.h"
#include "deadline_heap.h"

#include <stddef.h>
#include <stdlib.h>

/* One that is there, from when it is ready until it has been removed and has finished. */
struct twin_replica {
	struct batching *engine;
	struct twin_server *server;
	struct deadline_entry wake;    /* INT64_MAX: it has nothing to do */
	struct twin_replica *next_due; /* in twin_server_run: of those with something to do now */
	bool due;
	int64_t answers; /* that were sent to it and have not ended */
	int64_t running, waiting;
	size_t number;
	bool removed;
};

struct answer_list {
	struct twin_answer *first, *last;
};

struct twin_server {
	const struct twin *twin;
	uint64_t seed;
	struct twin_replica **list; /* all that are there, in the order in which they became ready */
	size_t count, cap;
	struct twin_replica **ready; /* by number; NULL: it is not */
	int64_t ready_count;
	bool some_removed;
	struct deadline_heap wakes; /* for all servers */
	struct replicas replicas;
	struct twin_scaling scaling;
	bool failed;
	bool vary, unseen;        /* unseen: the load has changed since replicas_update */
	int64_t running, waiting; /* in all, if they vary */
	int64_t opened;
	int64_t overhead_ns, room;
	struct answer_list travelling; /* on their way to a replica */
	struct answer_list queue;      /* for want of a replica */
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

static void list_put(struct answer_list *list, struct twin_answer *a)
{
	a->next = NULL;
	if (list->last)
		list->last->next = a;
	else
		list->first = a;
	list->last = a;
}

static struct twin_answer *list_take(struct answer_list *list)
{
	struct twin_answer *a = list->first;
	list->first = a->next;
	if (!list->first)
		list->last = NULL;
	return a;
}

/* False: it is not in the list. */
static bool list_remove(struct answer_list *list, struct twin_answer *a)
{
	struct twin_answer **at = &list->first, *before = NULL;
	while (*at && *at != a) {
		before = *at;
		at = &(*at)->next;
	}
	if (!*at)
		return false;
	*at = a->next;
	if (list->last == a)
		list->last = before;
	return true;
}

/* ---- replicas ---- */

static void pass_move(const struct sequence *sequence, int64_t at_ns, void *data)
{
	const struct twin_server *s = data;
	s->on_move((const struct twin_answer *)sequence, at_ns, s->move_watcher);
}

static void pass_step(const struct batching_step *step, void *data)
{
	const struct twin_replica *r = data;
	const struct twin_server *s = r->server;
	s->on_step(r->number, step, s->watcher);
}

static void close_replica(struct twin_replica *r)
{
	deadline_heap_remove(&r->server->wakes, &r->wake);
	batching_close(r->engine);
	free(r);
}

static int add_replica(struct twin_server *s, size_t number, struct ipf_error *err)
{
	/* the first ones have seeds by their numbers; one that comes later is another server */
	const struct batching_options options = twin_engine(s->twin, s->seed + (uint64_t)s->opened);
	if (!array_room(s->list, s->cap, s->count + 1))
		return ipf_error_memory(err);
	struct twin_replica *r = calloc(1, sizeof *r);
	if (!r)
		return ipf_error_memory(err);
	r->server = s;
	r->number = number;
	r->wake.order = s->opened;
	if (!deadline_heap_set(&s->wakes, &r->wake, INT64_MAX) || batching_open(&r->engine, &options, err) < 0) {
		close_replica(r);
		return err->kind ? -1 : ipf_error_memory(err);
	}
	s->room = batching_room(r->engine);
	s->opened++;
	s->list[s->count++] = s->ready[number] = r;
	s->ready_count++;
	if (s->on_step)
		batching_watch(r->engine, pass_step, r);
	if (s->on_move)
		batching_watch_moves(r->engine, pass_move, s);
	return 0;
}

/* Those removed and have finished. */
static void close_finished(struct twin_server *s)
{
	size_t kept = 0;
	s->some_removed = false;
	for (size_t i = 0; i < s->count; i++)
		if (s->list[i]->removed && s->list[i]->answers == 0)
			close_replica(s->list[i]);
		else
			s->some_removed |= (s->list[kept++] = s->list[i])->removed;
	s->count = kept;
}

/* The lowest number that none has, not even one that has been removed and still answers; else one that is not ready. */
static size_t free_number(const struct twin_server *s)
{
	size_t other = SIZE_MAX;
	for (size_t n = 0; n < (size_t)s->replicas.options.most; n++) {
		bool answers = false;
		if (s->ready[n])
			continue;
		for (size_t i = 0; i < s->count && !answers; i++)
			answers = s->list[i]->number == n;
		if (!answers)
			return n;
		other = other == SIZE_MAX ? n : other;
	}
	return other;
}

/* As many are ready as there should be. */
static int follow_replicas(struct twin_server *s, struct ipf_error *err)
{
	while (s->ready_count < s->replicas.ready)
		if (add_replica(s, free_number(s), err) < 0)
			return -1;
	for (size_t n = (size_t)s->replicas.options.most; s->ready_count > s->replicas.ready && n--;)
		if (s->ready[n]) {
			s->ready[n]->removed = true;
			s->ready[n] = NULL;
			s->ready_count--;
			s->some_removed = true;
		}
	return 0;
}

static void note_load(struct twin_replica *r)
{
	struct twin_server *s = r->server;
	if (!s->vary)
		return;
	struct batching_counts counts = batching_counts(r->engine);
	s->running += counts.running - r->running;
	s->waiting += counts.waiting - r->waiting;
	r->running = counts.running;
	r->waiting = counts.waiting;
}

/* It is in the heap, so this cannot fail. */
static void wake_at(struct twin_replica *r, int64_t at_ns)
{
	deadline_heap_set(&r->server->wakes, &r->wake, at_ns);
}

/* Its step begins at the end of twin_server_run, if it is idle. */
static void arrive(struct twin_answer *a, int64_t at_ns, int64_t now_ns)
{
	a->arrived = true;
	batching_add(a->at->engine, &a->sequence, at_ns);
	if (a->at->wake.at_ns == INT64_MAX && !a->at->due)
		wake_at(a->at, now_ns);
	note_load(a->at);
}

/* The rule sees the load as it is now; then requests that had no replica go to those that are ready. */
static void scale(struct twin_server *s, int64_t now_ns)
{
	struct replicas *r = &s->replicas;
	struct ipf_error memory = {0};
	int64_t ready = r->ready, desired = r->desired;
	s->unseen = false;
	replicas_update(r, s->running, s->waiting, now_ns);
	s->failed |= follow_replicas(s, &memory) < 0;
	if (r->ready != ready || r->desired != desired)
		s->scaling.changed(s->scaling.data);
	while (s->ready_count && s->queue.first) {
		struct twin_answer *a = list_take(&s->queue);
		a->replica = s->scaling.choose(a, s->scaling.data);
		a->at = s->ready[a->replica];
		a->at->answers++;
		s->waiting--;
		arrive(a, now_ns, now_ns);
	}
}

/* ---- the server ---- */

int twin_server_open(struct twin_server **server, const struct twin *twin, const struct replicas_options *replicas,
                     uint64_t seed, struct ipf_error *err)
{
	struct twin_server *s = *server = calloc(1, sizeof *s);
	if (!s || !(s->ready = calloc((size_t)replicas->most, sizeof(struct twin_replica *)))) {
		ipf_error_memory(err);
	} else {
		s->twin = twin;
		s->seed = seed;
		s->overhead_ns = (int64_t)twin_value(twin, TWIN_OVERHEAD);
		s->vary = replicas_vary(replicas);
		replicas_init(&s->replicas, replicas);
		/* one at least, for the room */
		if (add_replica(s, 0, err) == 0 && follow_replicas(s, err) == 0) {
			close_finished(s);
			return 0;
		}
	}
	twin_server_close(s);
	*server = NULL;
	return -1;
}

void twin_server_close(struct twin_server *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->count; i++)
		close_replica(s->list[i]);
	deadline_heap_release(&s->wakes);
	free(s->list);
	free(s->ready);
	free(s);
}

void twin_server_watch(struct twin_server *s,
                       void (*on_step)(size_t replica, const struct batching_step *step, void *data), void *data)
{
	s->on_step = on_step;
	s->watcher = data;
	for (size_t i = 0; i < s->count; i++)
		batching_watch(s->list[i]->engine, pass_step, s->list[i]);
}

void twin_server_watch_moves(struct twin_server *s,
                             void (*on_move)(const struct twin_answer *answer, int64_t at_ns, void *data), void *data)
{
	s->on_move = on_move;
	s->move_watcher = data;
	for (size_t i = 0; i < s->count; i++)
		batching_watch_moves(s->list[i]->engine, pass_move, s);
}

void twin_server_scale(struct twin_server *s, const struct twin_scaling *scaling)
{
	s->scaling = *scaling;
}

const struct replicas *twin_server_replicas(const struct twin_server *s)
{
	return &s->replicas;
}

bool twin_server_is_ready(const struct twin_server *s, size_t replica)
{
	return s->ready[replica] != NULL;
}

int64_t twin_server_room(const struct twin_server *s)
{
	return s->room;
}

void twin_server_send(struct twin_server *s, struct twin_answer *a, int64_t now_ns)
{
	a->arrives_ns = now_ns + s->overhead_ns;
	a->arrived = false;
	a->at = a->replica == TWIN_NO_REPLICA ? NULL : s->ready[a->replica];
	if (a->at)
		a->at->answers++;
	list_put(&s->travelling, a);
}

void twin_server_cancel(struct twin_server *s, struct twin_answer *a)
{
	if (a->at)
		a->at->answers--;
	if (a->arrived) {
		batching_remove(a->at->engine, &a->sequence);
		note_load(a->at);
	} else if (!list_remove(&s->travelling, a) && list_remove(&s->queue, a)) {
		s->waiting--;
	}
	s->unseen = s->vary;
}

int64_t twin_server_wake(const struct twin_server *s)
{
	int64_t wake = s->travelling.first ? s->travelling.first->arrives_ns : INT64_MAX;
	int64_t change = s->unseen ? INT64_MIN : s->vary ? replicas_deadline(&s->replicas) : INT64_MAX;
	const struct deadline_entry *first = deadline_heap_first(&s->wakes); /* NULL: there is no replica */
	wake = first && first->at_ns < wake ? first->at_ns : wake;
	return change < wake ? change : wake;
}

/* All arriving at a moment are in the step beginning then. */
static void let_arrive(struct twin_server *s, int64_t now_ns)
{
	while (s->travelling.first && s->travelling.first->arrives_ns <= now_ns) {
		struct twin_answer *a = list_take(&s->travelling);
		if (a->at) {
			arrive(a, a->arrives_ns, now_ns);
		} else {
			list_put(&s->queue, a);
			s->waiting++;
		}
	}
}

static void hand_on(struct sequence *sequence, void *data)
{
	struct twin_server *s = data;
	struct twin_answer *a = (struct twin_answer *)sequence;
	a->at->answers -= sequence->produced == sequence->output_tokens;
	s->on_tokens(a, s->data);
}

/* Puts those with something to do by now behind `end`; returns the new end. */
static struct twin_replica **take_due(struct twin_server *s, int64_t now_ns, struct twin_replica **end)
{
	for (struct deadline_entry *first; (first = deadline_heap_first(&s->wakes)) && first->at_ns <= now_ns;) {
		struct twin_replica *r = (struct twin_replica *)((char *)first - offsetof(struct twin_replica, wake));
		wake_at(r, INT64_MAX);
		r->due = true;
		r->next_due = NULL;
		*end = r;
		end = &r->next_due;
	}
	return end;
}

void twin_server_run(struct twin_server *s, int64_t now_ns, void (*on_tokens)(struct twin_answer *answer, void *data),
                     void *data)
{
	struct twin_replica *due = NULL, **end;
	s->on_tokens = on_tokens;
	s->data = data;
	let_arrive(s, now_ns);
	end = take_due(s, now_ns, &due);
	for (struct twin_replica *r = due; r; r = r->next_due) {
		batching_finish(r->engine, now_ns, hand_on, s);
		note_load(r);
	}
	if (s->vary)
		scale(s, now_ns);
	take_due(s, now_ns, end);
	for (struct twin_replica *r = due; r; r = r->next_due) {
		batching_start(r->engine, now_ns);
		r->due = false;
		wake_at(r, batching_deadline(r->engine));
		note_load(r);
	}
	if (s->some_removed)
		close_finished(s);
}

void twin_server_reset_caches(struct twin_server *s)
{
	for (size_t i = 0; i < s->count; i++)
		batching_reset_prefixes(s->list[i]->engine);
}

bool twin_server_failed(const struct twin_server *s)
{
	return s->failed;
}
