#include "body/history.h"

#include "absent.h"
#include "endpoint/balance.h"
#include "json/jout.h"
#include "body/prompt.h"
#include "body/body_renderer.h"

#include <stdlib.h>
#include <string.h>

/* What is known of a request of a session. */
struct turn {
	int64_t n;
	int64_t parent;                 /* the turn before, as its arrival's number; -1: none that we know */
	struct deferred_request *draft; /* until the answer has come */
	struct buffer talk;             /* the messages before, and its own; then the answer's */
	size_t own;                     /* where its own begin */
	uint64_t session;               /* its name's number */
	_Atomic int64_t *gives;         /* the count that the next turn is one of: what stands for this one's answer */
	_Atomic int64_t *counts;        /* the one that it is one of itself, once it is sent; NULL: a first turn */
	bool rendered, answered;
	struct job *job;                        /* that waits for the parent's answer */
	struct turn *next_waiting, *waiting;    /* in the parent's list; those that wait for this one */
	struct turn *in_bucket, *newer, *older; /* the latter while it is answered and nobody has asked for it */
	/* From the thread that sent it. */
	struct turn *next_ended;
	struct buffer body, headers;
	struct record record;
	struct record_read read;
};

struct history {
	const struct api *api;
	struct turn **buckets;
	size_t mask, count;
	struct turn *oldest, *newest;
	size_t held;                     /* bytes of those that nobody has asked for */
	_Atomic(struct turn *) ended;    /* a stack, by any thread */
	struct turn *ready, **ready_end; /* whose jobs may be rendered; by next_waiting */
	_Atomic int64_t live, recorded, left_out;
	struct response answer;
};

struct history *history_new(const struct api *api)
{
	struct history *h = calloc(1, sizeof *h);
	if (!h)
		return NULL;
	h->api = api;
	h->mask = 1023;
	h->ready_end = &h->ready;
	h->buckets = calloc(h->mask + 1, sizeof(struct turn *));
	if (h->buckets)
		return h;
	free(h);
	return NULL;
}

static void turn_free(struct turn *t)
{
	deferred_request_free(t->draft);
	buffer_release(&t->talk);
	buffer_release(&t->body);
	buffer_release(&t->headers);
	free(t);
}

void history_free(struct history *h)
{
	if (!h)
		return;
	for (size_t i = 0; i <= h->mask; i++)
		for (struct turn *t = h->buckets[i], *next; t; t = next) {
			next = t->in_bucket;
			turn_free(t);
		}
	response_release(&h->answer);
	free(h->buckets);
	free(h);
}

struct history_counts history_counts(const struct history *h)
{
	return (struct history_counts){
		.live = atomic_load(&h->live), .recorded = atomic_load(&h->recorded), .left_out = atomic_load(&h->left_out)};
}

/* ---- by their numbers ---- */

static struct turn **find(struct history *h, int64_t n)
{
	struct turn **at = &h->buckets[(uint64_t)n & h->mask];
	while (*at && (*at)->n != n)
		at = &(*at)->in_bucket;
	return at;
}

static void grow(struct history *h)
{
	size_t mask = 2 * h->mask + 1;
	struct turn **buckets = calloc(mask + 1, sizeof(struct turn *));
	if (!buckets)
		return; /* longer chains, then */
	for (size_t i = 0; i <= h->mask; i++)
		for (struct turn *t = h->buckets[i], *next; t; t = next) {
			next = t->in_bucket;
			t->in_bucket = buckets[(uint64_t)t->n & mask];
			buckets[(uint64_t)t->n & mask] = t;
		}
	free(h->buckets);
	h->buckets = buckets;
	h->mask = mask;
}

static void unhold(struct history *h, struct turn *t)
{
	*(t->older ? &t->older->newer : &h->oldest) = t->newer;
	*(t->newer ? &t->newer->older : &h->newest) = t->older;
	t->newer = t->older = NULL;
	h->held -= t->talk.cap;
}

static void forget(struct history *h, struct turn *t)
{
	*find(h, t->n) = t->in_bucket;
	h->count--;
	turn_free(t);
}

/* Answered, and nobody has asked for it: perhaps nobody will. */
static void hold(struct history *h, struct turn *t)
{
	t->older = h->newest;
	*(h->newest ? &h->newest->newer : &h->oldest) = t;
	h->newest = t;
	h->held += t->talk.cap;
	while (h->held > HISTORY_BYTES) {
		struct turn *old = h->oldest;
		unhold(h, old);
		forget(h, old);
	}
}

/* ---- made, and wanted ---- */

int history_add(struct history *h, struct job *job, struct deferred_request *draft)
{
	struct turn *t = draft ? calloc(1, sizeof *t) : NULL;
	if (!t) {
		deferred_request_free(draft);
		return -1;
	}
	t->n = job->arrival.n;
	t->draft = draft;
	t->parent = -1;
	t->session = text_number(draft->request.session);
	for (size_t i = 0; job->deferred && i < job->arrival.after_count; i++) {
		const struct turn *before = *find(h, job->arrival.after[i]);
		if (before && before->session == t->session)
			t->parent = before->n;
	}
	struct turn **at = find(h, t->n);
	t->in_bucket = *at;
	*at = t;
	if (++h->count > h->mask)
		grow(h);
	job->remembered = t;
	return 0;
}

bool history_order(struct history *h, struct job *job)
{
	struct turn *t = job->remembered, *parent = t->parent < 0 ? NULL : *find(h, t->parent);
	if (!parent || parent->answered)
		return true;
	t->job = job;
	t->next_waiting = parent->waiting;
	parent->waiting = t;
	return false;
}

const struct trace_request *history_request(struct history *h, struct job *job, struct slice *context)
{
	struct turn *t = job->remembered, *parent = t->parent < 0 ? NULL : *find(h, t->parent);
	if (parent && parent->answered) {
		if (!parent->waiting)
			unhold(h, parent);
		t->counts = parent->gives;
		t->talk = parent->talk;
		parent->talk = (struct buffer){0};
		/* whoever else waits for it is not the next turn */
		parent->waiting = NULL;
		forget(h, parent);
	} else {
		buffer_slice(&t->talk, deferred_request_context(t->draft));
		t->counts = job->deferred ? &h->recorded : NULL;
	}
	t->own = t->talk.len;
	prompt_append_turn(&t->talk, &t->draft->request);
	t->rendered = true;
	*context = (struct slice){t->talk.data, t->own};
	return &t->draft->request;
}

/* ---- ended ---- */

void history_ended(struct history *h, const struct job *job)
{
	struct turn *t = job->remembered;
	if (!t)
		return;
	if (t->counts && job->sent_ns != IPF_ABSENT)
		atomic_fetch_add(t->counts, 1);
	job_to_record(job, &t->headers, &t->record);
	buffer_slice(&t->body, t->record.body);
	/* when the bytes came makes no difference here */
	t->read = (struct record_read){.bytes = (int64_t)t->body.len};
	t->record.body = buffer_all(&t->body);
	t->record.reads = &t->read;
	t->record.reads_count = t->body.len ? 1 : 0;
	t->record.error_text = (struct slice){0};
	t->record.id = t->record.session = t->record.model = t->record.slo = (struct slice){0};
	t->next_ended = atomic_load(&h->ended);
	while (!atomic_compare_exchange_weak(&h->ended, &t->next_ended, t))
		;
}

/* The answer's text as JSON, onto the talk. false: there is none. */
static bool take_answer(struct history *h, struct turn *t)
{
	struct response *a = &h->answer;
	const struct response_options options = {.keep_text = true};
	struct ipf_error ignored = {0};
	if (!t->record.body.data || t->body.failed || response_parse(a, &t->record, h->api, &options, &ignored) < 0)
		return false;
	if (!a->parsed || !a->ended || a->failed || a->malformed || !a->text.len || a->text.failed)
		return false;
	struct buffer json = {0};
	struct jout w = {.out = &json};
	jout_string(&w, buffer_all(&a->text));
	session_answer(&t->talk, buffer_all(&json));
	bool good = !json.failed && !t->talk.failed;
	buffer_release(&json);
	return good;
}

static void answered(struct history *h, struct turn *t)
{
	const struct trace_request *q = &t->draft->request;
	size_t before = t->talk.len;
	if (take_answer(h, t)) {
		t->gives = &h->live;
	} else if (q->answer.data) {
		t->talk.len = before;
		session_answer(&t->talk, q->answer);
		t->gives = &h->recorded;
	} else {
		t->talk.len = t->own;
		t->gives = &h->left_out;
	}
	t->answered = true;
	deferred_request_free(t->draft);
	t->draft = NULL;
	buffer_release(&t->body);
	buffer_release(&t->headers);
	if (!t->waiting)
		hold(h, t);
	for (struct turn *next = t->waiting, *after; next; next = after) {
		after = next->next_waiting;
		next->next_waiting = NULL;
		*h->ready_end = next;
		h->ready_end = &next->next_waiting;
	}
}

struct job *history_next(struct history *h)
{
	/* last in comes first: turned round */
	struct turn *stack = atomic_exchange(&h->ended, NULL), *ended = NULL;
	for (struct turn *next; stack; stack = next) {
		next = stack->next_ended;
		stack->next_ended = ended;
		ended = stack;
	}
	for (struct turn *next; ended; ended = next) {
		next = ended->next_ended;
		answered(h, ended);
	}
	struct turn *t = h->ready;
	if (!t)
		return NULL;
	h->ready = t->next_waiting;
	if (!h->ready)
		h->ready_end = &h->ready;
	return t->job;
}
