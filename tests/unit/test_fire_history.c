/* Live histories: the answers that later turns continue, and that nothing is kept of sessions that are over. */
#include "unit.h"

#include "absent.h"
#include "body/history.h"
#include "job/memory_use.h"
#include "stats/rng.h"

enum { SESSIONS = 400, TURNS_MOST = 4, READ_AHEAD = 40 };

/* A turn of the test: its place in the run, and its state. */
struct turn {
	struct job *job;
	int session, number, turns;
	bool rendered, ended;
};

static struct turn turns[SESSIONS * TURNS_MOST];
static int turn_count;

static void plan(struct rng *rng)
{
	turn_count = 0;
	for (int s = 0; s < SESSIONS; s++) {
		int count = 1 + (int)rng_below(rng, TURNS_MOST);
		for (int t = 0; t < count; t++)
			turns[turn_count++] = (struct turn){.session = s, .number = t, .turns = count};
	}
}

/* The feeder reads a line of the schedule. */
static void read_turn(struct history *h, int n)
{
	struct turn *t = &turns[n];
	char name[32];
	struct slice ignored;
	snprintf(name, sizeof name, "\"s%d\"", t->session);
	struct trace_request q;
	trace_request_init(&q);
	q.session = slice_of(name);
	q.messages = slice_of("[{\"role\":\"user\",\"content\":\"and?\"}]");
	struct dialogue *dialogue = dialogue_new();
	t->job = job_new();
	assert_non_null(t->job);
	t->job->arrival.n = n;
	t->job->deferred = t->number > 0;
	if (t->number) {
		t->job->after = malloc(sizeof *t->job->after);
		*t->job->after = n - 1;
		t->job->arrival.after = t->job->after;
		t->job->arrival.after_count = 1;
	} else {
		history_head(h, 0);
	}
	assert_int_equal(history_add(h, t->job, 0, deferred_request_new(&q, dialogue, 0)), 0);
	dialogue_release(dialogue);
	if (!t->number) {
		history_request(h, t->job, &ignored, &ignored);
		t->rendered = true;
	}
}

/* Its request has ended with an answer of its own number. */
static void end_turn(struct history *h, int n)
{
	struct job *job = turns[n].job;
	job->status = 200;
	job->streamed = true;
	job->start_ns = job->sent_ns = 0;
	job->first_byte_ns = job->end_ns = 1;
	buffer_format(&job->body, "data: {\"choices\":[{\"delta\":{\"content\":\"answer %d\"}}]}\n\ndata: [DONE]\n\n", n);
	history_ended(h, job);
	turns[n].ended = true;
	job_free(job);
}

static void render_ready(struct history *h)
{
	for (struct job *job; (job = history_next(h));) {
		struct slice context, previous;
		char expected[64];
		const int n = (int)job->arrival.n;
		history_request(h, job, &context, &previous);
		snprintf(expected, sizeof expected, "\"content\":\"answer %d\"}", n - 1);
		assert_true(context.len > strlen(expected));
		assert_memory_equal(context.data + context.len - strlen(expected), expected, strlen(expected));
		assert_int_equal(job->continues, n - 1);
		turns[n].rendered = true;
	}
}

/* A turn is ordered once, when the one before it has been sent. */
static void order(struct history *h, int n)
{
	struct slice context, previous;
	struct turn *t = &turns[n];
	if (!t->number || t->rendered || t->job->ordered || !turns[n - 1].rendered)
		return;
	t->job->ordered = true;
	if (!history_order(h, t->job))
		return;
	history_request(h, t->job, &context, &previous);
	t->rendered = true;
}

static void nothing_is_kept_of_sessions_that_are_over(void **state)
{
	(void)state;
	struct api *api;
	struct ipf_error err = {0};
	struct memory_use memory = {.most = 0};
	struct rng rng;
	rng_init(&rng, test_seed("nothing_is_kept_of_sessions_that_are_over"), "history", 0);
	plan(&rng);
	assert_int_equal(api_open(&api, "openai-chat", &err), 0);
	struct history *h = history_new(&(struct history_options){.api = api, .memory = &memory});
	int read = 0, over = 0; /* all before `over` have ended */
	int64_t most = 0;
	while (over < turn_count) {
		if (read < turn_count && read - over < READ_AHEAD && rng_below(&rng, 2)) {
			read_turn(h, read++);
			continue;
		}
		if (read == turn_count)
			history_head(h, 0);
		int n = over + (int)rng_below(&rng, (uint64_t)(read - over + 1));
		if (n < read && !turns[n].ended && turns[n].rendered)
			end_turn(h, n);
		render_ready(h);
		for (int i = over; i < read; i++)
			order(h, i);
		while (over < read && turns[over].ended)
			over++;
		most = memory_use_taken(&memory) > most ? memory_use_taken(&memory) : most;
	}
	history_head(h, 0);
	render_ready(h);
	assert_int_equal(memory_use_taken(&memory), 0);
	assert_true(most < (int64_t)READ_AHEAD * 4096);
	assert_int_equal(history_counts(h).recorded + history_counts(h).left_out, 0);
	history_free(h);
	api_close(api);
}

/* ---- branches ---- */

/* A turn of one session, after `parent` (-1: none), whose own message is its number. */
static struct job *branch(struct history *h, int n, int parent)
{
	char messages[64];
	struct trace_request q;
	struct slice ignored;
	struct dialogue *dialogue = dialogue_new();
	struct job *job = job_new();
	assert_non_null(job);
	trace_request_init(&q);
	q.session = slice_of("\"s\"");
	snprintf(messages, sizeof messages, "[{\"role\":\"user\",\"content\":\"own %d\"}]", n);
	q.messages = slice_of(messages);
	job->arrival.n = n;
	job->deferred = parent >= 0;
	if (parent >= 0) {
		job->after = malloc(sizeof *job->after);
		*job->after = parent;
		job->arrival.after = job->after;
		job->arrival.after_count = 1;
	}
	assert_int_equal(history_add(h, job, 0, deferred_request_new(&q, dialogue, 0)), 0);
	dialogue_release(dialogue);
	if (parent < 0)
		history_request(h, job, &ignored, &ignored);
	turns[n] = (struct turn){.job = job, .rendered = parent < 0};
	return job;
}

#define OWN(n_)    "{\"role\":\"user\",\"content\":\"own " #n_ "\"}"
#define ANSWER(n_) "{\"role\":\"assistant\",\"content\":\"answer " #n_ "\"}"

static void has_context(struct history *h, struct job *job, const char *expected)
{
	struct slice context, previous;
	history_request(h, job, &context, &previous);
	assert_true(slice_is(context, expected));
	assert_int_equal(job->continues, job->arrival.after[0]);
}

/* 0 is continued by 1, 2 and 3; 1 by 4, 2 by 5 and, later than all others, 6. */
static void every_branch_has_the_answer(void **state)
{
	(void)state;
	struct api *api;
	struct ipf_error err = {0};
	struct memory_use memory = {.most = 0};
	assert_int_equal(api_open(&api, "openai-chat", &err), 0);
	struct history *h = history_new(&(struct history_options){.api = api, .memory = &memory});
	history_head(h, 0);
	struct job *jobs[7];
	static const int parents[] = {-1, 0, 0, 0, 1, 2, 2};
	for (int n = 0; n < 3; n++)
		jobs[n] = branch(h, n, parents[n]);
	assert_false(history_order(h, jobs[1]));
	assert_false(history_order(h, jobs[2]));
	end_turn(h, 0);
	for (int i = 0; i < 2; i++) {
		struct job *job = history_next(h);
		assert_true(job == jobs[1] || job == jobs[2]);
		has_context(h, job, OWN(0) "," ANSWER(0));
	}
	assert_null(history_next(h));
	jobs[3] = branch(h, 3, 0); /* read when the others have been rendered */
	assert_true(history_order(h, jobs[3]));
	has_context(h, jobs[3], OWN(0) "," ANSWER(0));
	for (int n = 4; n < 6; n++)
		jobs[n] = branch(h, n, parents[n]);
	end_turn(h, 1);
	end_turn(h, 2);
	assert_null(history_next(h));
	assert_true(history_order(h, jobs[5]) && history_order(h, jobs[4]));
	has_context(h, jobs[5], OWN(0) "," ANSWER(0) "," OWN(2) "," ANSWER(2));
	has_context(h, jobs[4], OWN(0) "," ANSWER(0) "," OWN(1) "," ANSWER(1));
	jobs[6] = branch(h, 6, 2);
	history_head(h, 0); /* nothing more of the session */
	end_turn(h, 3);
	end_turn(h, 4);
	end_turn(h, 5);
	assert_null(history_next(h));
	assert_true(history_order(h, jobs[6]));
	has_context(h, jobs[6], OWN(0) "," ANSWER(0) "," OWN(2) "," ANSWER(2));
	end_turn(h, 6);
	assert_null(history_next(h));
	assert_int_equal(memory_use_taken(&memory), 0);
	assert_int_equal(history_counts(h).live, 6);
	assert_int_equal(history_counts(h).recorded + history_counts(h).left_out, 0);
	history_free(h);
	api_close(api);
}

/* A session going on and on, of which nothing is over: continued turns are dropped first. */
static void memory_is_bounded_while_a_session_goes_on(void **state)
{
	(void)state;
	struct api *api;
	struct ipf_error err = {0};
	struct memory_use memory = {.most = 400000}; /* a quarter of it is for answers */
	assert_int_equal(api_open(&api, "openai-chat", &err), 0);
	struct history *h = history_new(&(struct history_options){.api = api, .memory = &memory});
	history_head(h, 0);
	branch(h, 0, -1);
	for (int n = 1; n < 1000; n++) {
		struct slice context, previous;
		struct job *job = branch(h, n, n - 1);
		assert_false(history_order(h, job));
		end_turn(h, n - 1);
		assert_ptr_equal(history_next(h), job);
		history_request(h, job, &context, &previous);
		assert_int_equal(job->continues, n - 1);
		assert_true(memory_use_taken(&memory) < 400000);
	}
	end_turn(h, 999);
	history_head(h, 0);
	assert_null(history_next(h));
	history_free(h);
	api_close(api);
	assert_int_equal(memory_use_taken(&memory), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(nothing_is_kept_of_sessions_that_are_over),
	                                   cmocka_unit_test(every_branch_has_the_answer),
	                                   cmocka_unit_test(memory_is_bounded_while_a_session_goes_on)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
