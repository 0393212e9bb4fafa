#include "http/answer_limit.h"

#include "cli/units.h"

#include <stdio.h>

#define ANSWER_WITHOUT_WAIT (INT64_C(64) << 10) /* up to here an answer may grow where nothing can be waited for */

static struct memory_use *memory_of(const struct exchange *x)
{
	return x->transport->options->memory;
}

void answer_limit_init(struct transport *t)
{
	char text[32];
	const struct memory_use *m = t->options->memory;
	if (!m)
		return;
	snprintf(t->too_large_text, sizeof t->too_large_text, "the answer exceeds %s (--max-answer)",
	         format_size(m->answer_most, text));
	snprintf(t->no_room_text, sizeof t->no_room_text, "the largest answer in flight, cut because of --memory %s",
	         format_size(m->most, text));
}

static void cut(struct exchange *x, const char *why)
{
	if (x->cancelled)
		return;
	x->cancelled = why;
	x->cancelled_as = RECORD_TOO_LARGE;
	x->transport->cut = true;
	if (memory_of(x))
		job_leaves(x->job, memory_of(x), x->transport->options->thread);
}

size_t answer_limit_room(struct exchange *x, size_t len)
{
	const struct memory_use *m = memory_of(x);
	if (!m || !m->answer_most)
		return len;
	/* the bytes may need the time of another read */
	int64_t room = m->answer_most - job_answer_bytes(x->job) - (int64_t)sizeof(struct record_read);
	if (room >= (int64_t)len)
		return len;
	cut(x, x->transport->too_large_text);
	return room > 0 ? (size_t)room : 0;
}

/* The largest uncut answer in flight; NULL: there is none above ANSWER_SMALL. */
static struct exchange *largest(const struct transport *t)
{
	struct exchange *found = NULL;
	int64_t most = ANSWER_SMALL;
	for (struct exchange *x = t->in_flight; x; x = x->next)
		if (x->job && !x->cancelled && job_answer_bytes(x->job) > most) {
			most = job_answer_bytes(x->job);
			found = x;
		}
	return found;
}

static void note_largest(const struct transport *t)
{
	const struct exchange *x = largest(t);
	counter_set(&t->options->memory->largest[t->options->thread], x ? job_answer_bytes(x->job) : 0);
}

/* Cuts the largest of all threads, or asks for it. false: there is none to cut. */
static bool cut_largest(struct transport *t)
{
	struct exchange *x = largest(t);
	int64_t bytes = x ? job_answer_bytes(x->job) : ANSWER_SMALL;
	if (memory_use_ask(t->options->memory, t->options->thread, bytes))
		return true;
	if (!x)
		return false;
	cut(x, t->no_room_text);
	note_largest(t);
	return true;
}

/* Waits for the recorder, so the answer may grow. Other threads may wait as well: whichever has the largest answer must
 * cut it. false: there is no room for this one. */
static bool wait_for_room(struct exchange *x)
{
	struct transport *t = x->transport;
	struct memory_use *m = memory_of(x);
	struct memory_wait wait = memory_wait_begin(m);
	while (memory_use_state(m) == MEMORY_FULL) {
		/* this thread's ended responses are recorded only after this call, which may bring much more if it unpacks
		 * it */
		if (t->cut || t->ended.first) {
			bool first = !t->grown_in_need;
			t->grown_in_need = true;
			return first || job_answer_bytes(x->job) <= ANSWER_WITHOUT_WAIT;
		}
		if (!memory_use_wait(m, &wait))
			return false;
		if (memory_use_cuts(m))
			cut_largest(t);
		if (x->cancelled)
			return false;
	}
	return true;
}

bool answer_limit_grown(struct exchange *x)
{
	struct memory_use *m = memory_of(x);
	if (!m)
		return true;
	struct transport *t = x->transport;
	bool more = job_count_growth(x->job, m, t->options->thread);
	int64_t bytes = job_answer_bytes(x->job);
	if (!more || bytes <= ANSWER_SMALL)
		return true;
	if (counter_get(&m->largest[t->options->thread]) < bytes)
		counter_set(&m->largest[t->options->thread], bytes);
	if (memory_use_cuts(m))
		cut_largest(t);
	if (!x->cancelled && memory_use_state(m) == MEMORY_FULL && !wait_for_room(x))
		cut(x, t->no_room_text);
	return !x->cancelled;
}

void answer_limit_end_cut(struct transport *t, int64_t now, answer_limit_finish *finish)
{
	t->grown_in_need = false;
	if (!t->cut)
		return;
	t->cut = false;
	for (struct exchange *x = t->in_flight, *next; x; x = next) {
		next = x->next;
		if (x->job && x->cancelled)
			finish(t, x, now);
	}
}

bool answer_limit_cut_largest(struct transport *t, int64_t now, answer_limit_finish *finish)
{
	struct memory_use *m = t->options->memory;
	if (memory_use_asked(m, t->options->thread))
		note_largest(t);
	if (!memory_use_cuts(m) || !cut_largest(t))
		return false;
	answer_limit_end_cut(t, now, finish);
	return true;
}

/* Who looks for the largest walks through all in flight, which is not for every end of an answer. With room left, the
 * noted size may be too large: a thread asked because of it looks then. */
void answer_limit_ended(struct exchange *x, const struct job *job)
{
	const struct memory_use *m = memory_of(x);
	if (m && job_answer_bytes(job) > ANSWER_SMALL && memory_use_state(m) != MEMORY_AMPLE)
		note_largest(x->transport);
}
