#include "body/history.h"

#include "absent.h"
#include "array.h"
#include "requests/prompt.h"
#include "json/jout.h"
#include "text_hash.h"

#include <stdlib.h>
#include <string.h>

#define ANSWER_LARGE ((size_t)256 << 10) /* memory for parsing a larger one is released */

/* Messages common to turns. It only grows: a turn is a beginning of it, and the first turn continuing the last one adds
 * to it. Further branches copy their beginning. */
struct history_text {
	struct buffer messages;
	size_t references;
	int64_t counted_bytes; /* in memory_use.taken */
};

/* A request of a session. */
struct history_turn {
	int64_t n;
	int64_t parent;                   /* n of the turn before; -1: unknown or none */
	struct deferred_request *request; /* until the answer has come */
	struct history_text *text;        /* the messages before it, then its own … */
	size_t len;                       /* … up to here */
	struct buffer own;                /* its own as they are sent, if not as in the trace; else empty */
	struct trace_request sent;        /* its request with these */
	struct live_answer live;          /* its answer */
	struct buffer recorded;           /* JSON: the one in the trace, if `live` may not do; else empty */
	bool has_live;                    /* the answer has usable content */
	struct buffer previous;           /* JSON: the id of its answer; then, in the turn after it, the previous id of this
	                                   * turn */
	size_t own_begin;                 /* where its own begin */
	uint64_t session;                 /* a hash of the session's name */
	_Atomic int64_t *counted_as;      /* the count for this turn, once it is sent; NULL: a first turn */
	size_t to_render;                 /* those not rendered yet … */
	size_t waiting_for;               /* … and waited when it was answered */
	bool answered;
	bool closed; /* no other turn will be read continuing it */
	bool kept;   /* in the list of kept turns */
	size_t kept_bytes;
	struct job *job;                             /* waits for the parent's answer */
	struct history_turn *next_waiting, *waiting; /* in the parent's list; the turns waiting for this one */
	struct history_turn *in_bucket;
	struct history_turn *newer, *older; /* while it is kept: answered, and no turn is about to be rendered with it */
	/* From the thread that sent it. */
	struct history_turn *next_ended;
	struct buffer body;
	struct job_record_parts parts;
	struct record record;
	struct record_read read;
	int64_t counted_bytes; /* in memory_use.taken */
};

/* Turns of the session a lane reads. */
struct open_turns {
	int64_t *list; /* their n */
	size_t count, cap;
};

struct history {
	struct history_options o;
	struct history_turn **buckets;
	size_t mask, count;
	struct history_turn *oldest, *newest; /* kept turns: continued ones are older than all others … */
	struct history_turn *continued;       /* … up to here; NULL: none has */
	struct open_turns *lanes;
	size_t lane_count;
	size_t kept_bytes;                       /* the kept turns' */
	_Atomic(struct history_turn *) ended;    /* a stack; any thread pushes */
	struct history_turn *ready, **ready_end; /* whose jobs can be rendered; linked by next_waiting */
	_Atomic int64_t live, recorded, left_out, server;
	struct live_answer_counts calls; /* the feeder's; others read it when it has ended */
	struct response answer;
};

struct history *history_new(const struct history_options *options)
{
	struct history *h = calloc(1, sizeof *h);
	if (!h)
		return NULL;
	h->o = *options;
	h->mask = 1023;
	h->ready_end = &h->ready;
	h->buckets = calloc(h->mask + 1, sizeof(struct history_turn *));
	if (h->buckets)
		return h;
	free(h);
	return NULL;
}

/* The current memory of the turn, apart from its request. */
static void count_memory(const struct history *h, struct history_turn *t)
{
	int64_t bytes = (int64_t)(t->own.cap + t->body.cap + t->previous.cap + t->recorded.cap +
	                          live_answer_bytes(&t->live));
	memory_use_add(h->o.memory, bytes - t->counted_bytes);
	t->counted_bytes = bytes;
}

/* Is there room for an answer's body, its text, and the text as JSON? */
static bool room_for(const struct history *h, size_t body)
{
	int64_t most = h->o.memory->most;
	return !most || memory_use_taken(h->o.memory) + 4 * (int64_t)body < most;
}

/* ---- the messages ---- */

/* The feeder's: it alone changes them. */
static void count_text(const struct history *h, struct history_text *text)
{
	memory_use_add(h->o.memory, (int64_t)text->messages.cap - text->counted_bytes);
	text->counted_bytes = (int64_t)text->messages.cap;
}

static void text_release(const struct history *h, struct history_text *text)
{
	if (--text->references)
		return;
	memory_use_add(h->o.memory, -text->counted_bytes);
	buffer_release(&text->messages);
	free(text);
}

/* The turn begins with the first bytes of another turn's messages. false: out of memory, and it begins with nothing. */
static bool begin_with(const struct history *h, struct history_turn *t, struct history_text *from, size_t len)
{
	if (from->messages.len == len) {
		text_release(h, t->text);
		t->text = from;
		from->references++;
		return true;
	}
	if (t->text->references > 1) {
		struct history_text *own = calloc(1, sizeof *own);
		if (!own)
			return false;
		own->references = 1;
		text_release(h, t->text);
		t->text = own;
	}
	buffer_clear(&t->text->messages);
	buffer_append(&t->text->messages, from->messages.data, len);
	return !t->text->messages.failed;
}

static void turn_free(const struct history *h, struct history_turn *t)
{
	deferred_request_free(t->request);
	if (t->text)
		text_release(h, t->text);
	buffer_release(&t->own);
	buffer_release(&t->recorded);
	live_answer_release(&t->live);
	buffer_release(&t->previous);
	buffer_release(&t->body);
	job_record_parts_release(&t->parts);
	free(t);
}

void history_free(struct history *h)
{
	if (!h)
		return;
	for (size_t i = 0; i <= h->mask; i++)
		for (struct history_turn *t = h->buckets[i], *next; t; t = next) {
			next = t->in_bucket;
			turn_free(h, t);
		}
	for (size_t i = 0; i < h->lane_count; i++)
		free(h->lanes[i].list);
	free(h->lanes);
	response_release(&h->answer);
	free(h->buckets);
	free(h);
}

struct history_counts history_counts(const struct history *h)
{
	return (struct history_counts){.live = atomic_load(&h->live),
	                               .recorded = atomic_load(&h->recorded),
	                               .left_out = atomic_load(&h->left_out),
	                               .server = atomic_load(&h->server),
	                               .calls = h->calls};
}

/* ---- turns by n ---- */

static struct history_turn **find(struct history *h, int64_t n)
{
	struct history_turn **at = &h->buckets[(uint64_t)n & h->mask];
	while (*at && (*at)->n != n)
		at = &(*at)->in_bucket;
	return at;
}

static void grow(struct history *h)
{
	size_t mask = 2 * h->mask + 1;
	struct history_turn **buckets = calloc(mask + 1, sizeof(struct history_turn *));
	if (!buckets)
		return; /* the chains get longer */
	for (size_t i = 0; i <= h->mask; i++)
		for (struct history_turn *t = h->buckets[i], *next; t; t = next) {
			next = t->in_bucket;
			t->in_bucket = buckets[(uint64_t)t->n & mask];
			buckets[(uint64_t)t->n & mask] = t;
		}
	free(h->buckets);
	h->buckets = buckets;
	h->mask = mask;
}

static void remove_kept(struct history *h, struct history_turn *t)
{
	if (!t->kept)
		return;
	if (h->continued == t)
		h->continued = t->older;
	*(t->older ? &t->older->newer : &h->oldest) = t->newer;
	*(t->newer ? &t->newer->older : &h->newest) = t->older;
	t->newer = t->older = NULL;
	h->kept_bytes -= t->kept_bytes;
	t->kept = false;
}

static void forget(struct history *h, struct history_turn *t)
{
	*find(h, t->n) = t->in_bucket;
	h->count--;
	memory_use_add(h->o.memory, -t->counted_bytes);
	turn_free(h, t);
}

/* It has been answered; perhaps a turn will continue it, or another one. The messages of a continued turn are those of
 * the turn after it: such turns are dropped before the others. */
static void keep(struct history *h, struct history_turn *t, bool continued)
{
	t->older = continued ? h->continued : h->newest;
	t->newer = !continued ? NULL : t->older ? t->older->newer : h->oldest;
	*(t->older ? &t->older->newer : &h->oldest) = t;
	*(t->newer ? &t->newer->older : &h->newest) = t;
	if (continued)
		h->continued = t;
	t->kept = true;
	t->kept_bytes = sizeof *t + t->recorded.cap + live_answer_bytes(&t->live) + (continued ? 0 : t->len);
	h->kept_bytes += t->kept_bytes;
	size_t most = h->o.memory->most && h->o.memory->most / 4 < HISTORY_BYTES ? (size_t)h->o.memory->most / 4
	                                                                         : (size_t)HISTORY_BYTES;
	while (h->kept_bytes > most && h->oldest) {
		struct history_turn *old = h->oldest;
		remove_kept(h, old);
		forget(h, old);
	}
}

/* ---- sessions as they are read ---- */

/* NULL: out of memory, in which case last turns are kept like others. */
static struct open_turns *open_turns(struct history *h, size_t lane)
{
	return array_reach(h->lanes, h->lane_count, lane) ? &h->lanes[lane] : NULL;
}

/* Nothing more will be rendered with its answer. */
static bool is_over(const struct history_turn *t)
{
	return t->answered && t->closed && t->to_render == 0;
}

static void note_open(struct history *h, size_t lane, const struct history_turn *t)
{
	struct open_turns *open = open_turns(h, lane);
	if (!open)
		return;
	if (!array_room(open->list, open->cap, open->count + 1))
		return;
	open->list[open->count++] = t->n;
}

void history_head(struct history *h, size_t lane)
{
	struct open_turns *open = open_turns(h, lane);
	while (open && open->count) {
		struct history_turn *t = *find(h, open->list[--open->count]);
		if (!t)
			continue;
		t->closed = true;
		if (is_over(t)) {
			remove_kept(h, t);
			forget(h, t);
		}
	}
}

/* ---- adding and ordering ---- */

int history_add(struct history *h, struct job *job, size_t lane, struct deferred_request *request)
{
	struct history_turn *t = request ? calloc(1, sizeof *t) : NULL, *parent;
	struct history_text *text = t ? calloc(1, sizeof *text) : NULL;
	if (!text) {
		deferred_request_free(request);
		free(t);
		return -1;
	}
	text->references = 1;
	t->text = text;
	t->n = job->arrival.n;
	t->request = request;
	t->parent = -1;
	t->session = text_hash_mixed(request->request.session);
	for (size_t i = 0; job->deferred && i < job->arrival.after_count; i++) {
		const struct history_turn *before = *find(h, job->arrival.after[i]);
		if (before && before->session == t->session)
			t->parent = before->n;
	}
	if (t->parent >= 0 && (parent = *find(h, t->parent)))
		parent->to_render++;
	struct history_turn **at = find(h, t->n);
	t->in_bucket = *at;
	*at = t;
	if (++h->count > h->mask)
		grow(h);
	job->history_turn = t;
	note_open(h, lane, t);
	return 0;
}

bool history_order(struct history *h, struct job *job)
{
	struct history_turn *t = job->history_turn, *parent = t->parent < 0 ? NULL : *find(h, t->parent);
	if (!parent || parent->answered)
		return true;
	t->job = job;
	t->next_waiting = parent->waiting;
	parent->waiting = t;
	return false;
}

/* Begins with the messages of the turn before, and adds its answer. Returns the count for this turn. */
static _Atomic int64_t *take_answer(struct history *h, struct history_turn *t, struct history_turn *parent)
{
	const struct trace_request *q = &t->request->request;
	const bool good = begin_with(h, t, parent->text, parent->len);
	buffer_slice(&t->previous, buffer_all(&parent->previous));
	if (good && parent->has_live &&
	    live_answer_continue(&parent->live, q, h->o.reasoning, &t->text->messages, &t->own, &h->calls)) {
		if (t->own.len) {
			t->sent = *q;
			t->sent.messages = buffer_all(&t->own);
		}
		return t->previous.len ? &h->server : &h->live;
	}
	buffer_release(&t->previous); /* the server's messages are others */
	if (live_answer_recorded(q))
		return &h->recorded; /* its own messages begin with it */
	if (!parent->recorded.len) {
		begin_with(h, t, parent->text, parent->own_begin);
		return &h->left_out;
	}
	prompt_append_answer(&t->text->messages, buffer_all(&parent->recorded));
	return &h->recorded;
}

/* A turn has been rendered with its answer. */
static void continued(struct history *h, struct history_turn *parent)
{
	parent->to_render--;
	parent->waiting_for -= parent->waiting_for > 0;
	remove_kept(h, parent);
	if (is_over(parent))
		forget(h, parent);
	else if (!parent->waiting_for)
		keep(h, parent, true);
}

const struct trace_request *history_request(struct history *h, struct job *job, struct slice *context,
                                            struct slice *previous)
{
	struct history_turn *t = job->history_turn, *parent = t->parent < 0 ? NULL : *find(h, t->parent);
	if (parent && parent->answered) {
		t->counted_as = take_answer(h, t, parent);
		if (t->counted_as == &h->live || t->counted_as == &h->server)
			job->continues = parent->n;
		continued(h, parent);
	} else {
		buffer_slice(&t->text->messages, deferred_request_context(t->request));
		t->counted_as = job->deferred ? &h->recorded : NULL;
	}
	const struct trace_request *q = t->own.len ? &t->sent : &t->request->request;
	t->own_begin = t->text->messages.len;
	prompt_append_own(&t->text->messages, q);
	t->len = t->text->messages.len;
	count_text(h, t->text);
	count_memory(h, t);
	*previous = t->previous.len ? buffer_all(&t->previous) : (struct slice){0};
	*context = (struct slice){t->text->messages.data, previous->data ? 0 : t->own_begin};
	return q;
}

/* ---- ended ---- */

void history_ended(struct history *h, const struct job *job)
{
	struct history_turn *t = job->history_turn;
	if (!t)
		return;
	if (t->counted_as && job->sent_ns != IPF_ABSENT)
		atomic_fetch_add(t->counted_as, 1);
	job_to_record(job, &t->parts, &t->record);
	if (job->error != RECORD_TOO_LARGE && room_for(h, t->record.body.len))
		buffer_slice(&t->body, t->record.body);
	count_memory(h, t);
	/* the times of the bytes do not matter here */
	t->read = (struct record_read){.bytes = (int64_t)t->body.len};
	t->record.body = t->body.data ? buffer_all(&t->body) : (struct slice){0};
	t->record.reads = &t->read;
	t->record.reads_count = t->body.len ? 1 : 0;
	t->record.error_text = (struct slice){0};
	t->record.id = t->record.session = t->record.model = t->record.slo = t->record.tags = (struct slice){0};
	t->next_ended = atomic_load(&h->ended);
	while (!atomic_compare_exchange_weak(&h->ended, &t->next_ended, t))
		;
}

/* Takes the parts of the answer. false: there is nothing. */
static bool take_live(struct history *h, struct history_turn *t)
{
	struct response *a = &h->answer;
	const bool ids = t->request->request.prompt_token_ids.data;
	const struct response_options options = {.keep_text = true, .keep_ids = ids};
	struct ipf_error ignored = {0};
	if (!t->record.body.data || t->body.failed || !room_for(h, t->body.len) ||
	    response_parse(a, &t->record, h->o.api, &options, &ignored) < 0)
		return false;
	if (!a->parsed || !a->ended || a->failed || a->malformed || a->text.failed)
		return false;
	return live_answer_take(&t->live, a, ids);
}

/* Keeps the id by which the next turn continues the answer, if the server keeps it. */
static void keep_id(struct history *h, struct history_turn *t)
{
	struct jout w = {.out = &t->previous};
	buffer_clear(&t->previous);
	if (!h->o.by_server || !h->answer.id.len || h->answer.id.failed)
		return;
	jout_string(&w, buffer_all(&h->answer.id));
	if (t->previous.failed)
		buffer_release(&t->previous);
}

static void answered(struct history *h, struct history_turn *t)
{
	struct slice recorded = trace_answer(&t->request->request);
	if (t->closed && t->to_render == 0) {
		forget(h, t);
		return;
	}
	t->has_live = take_live(h, t);
	if (t->has_live)
		keep_id(h, t);
	if (recorded.data && !live_answer_is_text(&t->live))
		buffer_slice(&t->recorded, recorded);
	if (t->body.len > ANSWER_LARGE) {
		response_release(&h->answer);
		h->answer = (struct response){0};
	}
	t->answered = true;
	deferred_request_free(t->request);
	t->request = NULL;
	buffer_release(&t->body);
	job_record_parts_release(&t->parts);
	count_memory(h, t);
	for (struct history_turn *next = t->waiting, *after; next; next = after) {
		after = next->next_waiting;
		next->next_waiting = NULL;
		t->waiting_for++;
		*h->ready_end = next;
		h->ready_end = &next->next_waiting;
	}
	t->waiting = NULL;
	if (!t->waiting_for)
		keep(h, t, false); /* which may drop it */
}

struct job *history_next(struct history *h)
{
	/* the stack has the last one on top: reverse it */
	struct history_turn *stack = atomic_exchange(&h->ended, NULL), *ended = NULL;
	for (struct history_turn *next; stack; stack = next) {
		next = stack->next_ended;
		stack->next_ended = ended;
		ended = stack;
	}
	for (struct history_turn *next; ended; ended = next) {
		next = ended->next_ended;
		answered(h, ended);
	}
	struct history_turn *t = h->ready;
	if (!t)
		return NULL;
	h->ready = t->next_waiting;
	if (!h->ready)
		h->ready_end = &h->ready;
	return t->job;
}
