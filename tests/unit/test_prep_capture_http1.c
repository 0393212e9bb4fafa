/* Bytes of a few connections of HTTP/1.1, with and without losses, and the exchanges that come of them. */
#include "unit.h"

#include "absent.h"
#include "capture/http1_talk.h"

#define C TCP_CLIENT
#define S TCP_SERVER

/* A connection, and a log of the exchanges ended since the last look at it: "POST /a ask 200 yes 1 2 3 4". Its parts
 * are method, target, body, status and the answer's body, with "-" for none. The times are those of its beginning, of
 * the end of the request, and of the answer's first and last byte. Damage and error follow. */
struct trial {
	struct tcp_connection tcp;
	struct talk_context context;
	struct talk_about about;
	void *talk;
	struct ipf_error err;
	struct buffer log;
	size_t used;
};

static void put_time(struct buffer *log, int64_t t)
{
	if (t == IPF_ABSENT)
		buffer_text(log, " -");
	else
		buffer_format(log, " %lld", (long long)t);
}

static void put(struct buffer *log, struct slice text)
{
	buffer_byte(log, ' ');
	buffer_slice(log, text.len ? text : slice_of("-"));
}

static int on_ended(void *data, struct captured *x, struct ipf_error *err)
{
	struct trial *t = data;
	(void)err;
	assert_true(!x->next && !x->before);
	buffer_slice(&t->log, x->method.len ? buffer_all(&x->method) : slice_of("-"));
	put(&t->log, buffer_all(&x->target));
	put(&t->log, buffer_all(&x->request.body));
	put_time(&t->log, x->status);
	put(&t->log, buffer_all(&x->answer.body));
	put_time(&t->log, x->start_ns);
	put_time(&t->log, x->sent_ns);
	put_time(&t->log, x->first_byte_ns);
	put_time(&t->log, x->end_ns);
	assert_true(x->asked == (x->sent_ns != IPF_ABSENT && x->damage == DAMAGE_NONE) || x->damage);
	if (x->damage)
		buffer_format(&t->log, " %s", capture_damage_names[x->damage]);
	if (x->error)
		buffer_format(&t->log, " %s",
		              x->error == RECORD_PROTOCOL    ? "protocol"
		              : x->error == RECORD_TOO_LARGE ? "too large"
		              : x->error == RECORD_HUNG_UP   ? "hung up"
		              : x->error == RECORD_CUT       ? "cut"
		                                             : "reset");
	buffer_text(&t->log, ", ");
	captured_free(x, &t->context.memory);
	return 0;
}

static void begin_from(struct trial *t, bool began_before)
{
	*t = (struct trial){0};
	t->context = (struct talk_context){
		.memory = {.limit = 1 << 20, .body_most = 1 << 20}, .ended = on_ended, .data = t};
	t->about = (struct talk_about){.tcp = &t->tcp, .began_before = began_before};
	t->talk = http1_talk.open(&t->context, &t->about);
	assert_non_null(t->talk);
	buffer_text(&t->log, "");
}

static void begin(struct trial *t)
{
	begin_from(t, false);
}

static enum talk_result give(struct trial *t, enum tcp_side from, const char *text, int64_t t_ns)
{
	struct talk_bytes bytes = {.from = from, .bytes = slice_of(text), .t_ns = t_ns};
	const enum talk_result result = http1_talk.bytes(t->talk, &bytes, &t->err);
	t->used = bytes.used;
	return result;
}

static void send_bytes(struct trial *t, enum tcp_side from, const char *text, int64_t t_ns)
{
	assert_int_equal(give(t, from, text, t_ns), TALK_MORE);
}

static void lose(struct trial *t, enum tcp_side from, uint64_t len, int64_t t_ns)
{
	assert_int_equal(http1_talk.lost(t->talk, from, len, t_ns, &t->err), TALK_MORE);
}

static void finish(struct trial *t, enum tcp_side from, int64_t t_ns)
{
	assert_int_equal(http1_talk.finished(t->talk, from, t_ns, &t->err), 0);
}

static void expect(struct trial *t, const char *log)
{
	if (t->log.len)
		t->log.len -= 2; /* the last comma */
	buffer_byte(&t->log, '\0');
	assert_string_equal(t->log.data, log);
	buffer_clear(&t->log);
}

static void end(struct trial *t, int64_t t_ns, const char *log)
{
	const struct talk_end how = {RECORD_OK, DAMAGE_OPEN, NULL, t_ns};
	assert_int_equal(http1_talk.end(t->talk, &how, &t->err), 0);
	expect(t, log);
	http1_talk.close(t->talk);
	assert_int_equal(t->context.memory.used, 0);
	buffer_release(&t->log);
}

#define ASK(n_)  "POST /" n_ " HTTP/1.1\r\nContent-Length: 3\r\n\r\nask"
#define GET(n_)  "GET /" n_ " HTTP/1.1\r\n\r\n"
#define YES      "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nyes"
#define CHUNKED  "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
#define LENGTH_9 "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n"

/* ---- beginnings ---- */

/* The text is no longer than needed, so a sanitizer sees reads beyond its end. */
static bool looks(bool like(struct slice bytes), const char *text)
{
	const size_t len = strlen(text);
	char *copy = malloc(len + !len);
	assert_non_null(copy);
	memcpy(copy, text, len);
	const bool is = like((struct slice){copy, len});
	free(copy);
	return is;
}

static void messages_are_known_by_their_first_bytes(void **state)
{
	static const char *const requests[] = {"P",         "POST ",    "POST /",  "GET /", "PUT /", "HEAD /",
	                                       "OPTIONS *", "DELETE /", "PATCH /", "GE",    "PATC"},
							 *const no_requests[] = {"", "POSTS /", "get /", "X", "HTTP/1.1 200", "GET\r\n"},
							 *const responses[] = {"H", "HTTP/1.", "HTTP/1.0 200"},
							 *const no_responses[] = {"", "HTTP/2", "http/1.1", "x"},
							 *const chunks[] = {"0\r\n", "9\r\n", "a\r\n", "f\r\n", "A\r\n", "F\r\nx", "1234abcd\r\n"},
							 *const no_chunks[] = {"",      "\r\n",  "1\r",   "1",     "1\n\n", "1\rx", "123456789\r\n",
	                                               "/\r\n", ":\r\n", "@\r\n", "G\r\n", "`\r\n", "g\r\n"};
	(void)state;
	for (size_t i = 0; i < sizeof requests / sizeof *requests; i++)
		assert_true(looks(http1_talk_begins_request, requests[i]));
	for (size_t i = 0; i < sizeof no_requests / sizeof *no_requests; i++)
		assert_false(looks(http1_talk_begins_request, no_requests[i]));
	for (size_t i = 0; i < sizeof responses / sizeof *responses; i++)
		assert_true(looks(http1_talk_begins_response, responses[i]));
	for (size_t i = 0; i < sizeof no_responses / sizeof *no_responses; i++)
		assert_false(looks(http1_talk_begins_response, no_responses[i]));
	for (size_t i = 0; i < sizeof chunks / sizeof *chunks; i++)
		assert_true(looks(http1_talk_begins_chunk, chunks[i]));
	for (size_t i = 0; i < sizeof no_chunks / sizeof *no_chunks; i++)
		assert_false(looks(http1_talk_begins_chunk, no_chunks[i]));
}

/* ---- whole connections ---- */

static void exchanges_follow_each_other(void **state)
{
	struct trial t;
	(void)state;
	begin(&t);
	send_bytes(&t, C, "POST /a HTTP/1.1\r\nContent-Le", 1);
	send_bytes(&t, C, "ngth: 3\r\n\r\nas", 2);
	send_bytes(&t, C, "k", 3);
	send_bytes(&t, S, "HTTP", 4);
	send_bytes(&t, S, "/1.1 200 OK\r\nContent-Length: 3\r\n\r\ny", 5);
	expect(&t, "");
	send_bytes(&t, S, "es", 6);
	expect(&t, "POST /a ask 200 yes 1 3 4 6");
	send_bytes(&t, C, GET("b"), 7);
	send_bytes(&t, S, "HTTP/1.1 100 Continue\r\n\r\n", 8);
	send_bytes(&t, S, "HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n", 9);
	expect(&t, "GET /b - 404 - 7 7 8 9");
	send_bytes(&t, C, "HEAD /c HTTP/1.1\r\n\r\n", 10);
	send_bytes(&t, S, LENGTH_9, 11); /* its body does not come */
	expect(&t, "HEAD /c - 200 - 10 10 11 11");
	assert_int_equal(t.about.exchanges, 3);
	end(&t, 20, "");
}

static void requests_may_be_sent_ahead(void **state)
{
	struct trial t;
	(void)state;
	begin(&t);
	send_bytes(&t, C, ASK("a") GET("b"), 1);
	send_bytes(&t, C, GET("c"), 2);
	send_bytes(&t, S, YES "HTTP/1.1 200", 3);
	expect(&t, "POST /a ask 200 yes 1 1 3 3");
	send_bytes(&t, S, " OK\r\nContent-Length: 0\r\n\r\n", 4);
	expect(&t, "GET /b - 200 - 1 1 3 4");
	end(&t, 9, "GET /c - - - 2 2 - 9 still open at the end");
}

static void an_answer_may_come_before_the_end_of_its_request(void **state)
{
	struct trial t;
	(void)state;
	begin(&t);
	send_bytes(&t, C, "POST /a HTTP/1.1\r\nContent-Length: 9\r\n\r\nask", 1);
	send_bytes(&t, S, "HTTP/1.1 413 No\r\nContent-Length: 0\r\n\r\n", 2);
	expect(&t, "POST /a ask 413 - 1 - 2 2");
	send_bytes(&t, C, " more!" GET("b"), 3); /* the rest of it */
	send_bytes(&t, S, YES, 4);
	expect(&t, "GET /b - 200 yes 3 3 4 4");
	end(&t, 9, "");
	begin(&t);
	send_bytes(&t, C, "POST /a HTTP/1.1\r\n", 1);
	send_bytes(&t, S, YES, 2);
	expect(&t, "POST /a - 200 yes 1 - 2 2");
	send_bytes(&t, C, "Content-Length: 3\r\n\r\nask" GET("b"), 3);
	end(&t, 9, "GET /b - - - 3 3 - 9 still open at the end");
}

static void other_protocols_are_left_alone(void **state)
{
	struct trial t;
	(void)state;
	begin(&t);
	assert_int_equal(give(&t, C, "SSH-2.0-x\r\n", 1), TALK_OTHER);
	end(&t, 2, "- - - - - 1 - - 2 still open at the end");
	begin(&t);
	assert_int_equal(give(&t, S, "HTTP/1.1 408 Timeout\r\n\r\n", 1), TALK_OTHER);
	end(&t, 2, "");
	begin(&t);
	send_bytes(&t, C, GET("a"), 1);
	assert_int_equal(give(&t, S, "220 hello\r\n", 2), TALK_OTHER);
	expect(&t, "GET /a - - - 1 1 2 2 protocol");
	end(&t, 3, "");
	begin(&t);
	send_bytes(&t, C, GET("a"), 1);
	send_bytes(&t, S, "HTTP/1.1 200 OK\r\n", 2);
	static char line[300001];
	memset(line, 'x', sizeof line - 1);
	assert_int_equal(give(&t, S, line, 3), TALK_OTHER);
	expect(&t, "GET /a - 200 - 1 1 2 3 too large");
	end(&t, 4, "");
}

static void only_so_many_requests_are_open(void **state)
{
	struct trial t;
	(void)state;
	begin(&t);
	for (int i = 0; i < 256; i++)
		send_bytes(&t, C, GET("a"), 1);
	assert_int_equal(give(&t, C, GET("a"), 1), TALK_OTHER);
	send_bytes(&t, S, YES, 2);
	expect(&t, "GET /a - 200 yes 1 1 2 2");
	send_bytes(&t, C, GET("b"), 3);
	assert_int_equal(give(&t, C, GET("c"), 3), TALK_OTHER);
	http1_talk.close(t.talk);
	buffer_release(&t.log);
	http1_talk.close(NULL);
}

static void an_upgrade_takes_its_exchange_along(void **state)
{
	static const char *const asking[] = {"GET /a HTTP/1.1\r\nUpgrade: h2c\r\n\r\n", "CONNECT a:1 HTTP/1.1\r\n\r\n"},
							 answer[] = "HTTP/1.1 101 Go\r\nUpgrade: h2c\r\n\r\n";
	struct trial t;
	(void)state;
	for (int i = 0; i < 2; i++) {
		begin(&t);
		send_bytes(&t, C, asking[i], 1);
		send_bytes(&t, C, GET("b"), 2);
		struct buffer bytes = {0};
		buffer_format(&bytes, "%srest", answer);
		buffer_byte(&bytes, '\0');
		assert_int_equal(give(&t, S, bytes.data, 3), TALK_UPGRADED);
		assert_int_equal(t.used, sizeof answer - 1);
		struct captured *x = http1_talk_upgraded(t.talk);
		assert_int_equal(x->status, 101);
		assert_null(x->next);
		captured_free(x, &t.context.memory);
		buffer_release(&bytes);
		end(&t, 4, "GET /b - - - 2 2 - 4 still open at the end");
	}
	begin(&t);
	send_bytes(&t, C, asking[0], 1);
	assert_int_equal(give(&t, S, answer, 3), TALK_UPGRADED);
	struct captured *x = http1_talk_upgraded(t.talk);
	captured_free(x, &t.context.memory);
	send_bytes(&t, C, GET("b"), 4); /* as the first one */
	end(&t, 5, "GET /b - - - 4 4 - 5 still open at the end");
	begin(&t);
	send_bytes(&t, C, GET("a"), 1); /* it asked for none */
	assert_int_equal(give(&t, S, answer, 2), TALK_OTHER);
	end(&t, 3, "GET /a - 101 - 1 1 2 2 protocol");
}

/* ---- ends ---- */

static void a_body_without_length_ends_with_the_connection(void **state)
{
	struct trial t;
	(void)state;
	begin(&t);
	send_bytes(&t, C, GET("a"), 1);
	send_bytes(&t, S, "HTTP/1.1 200 OK\r\n\r\nyes", 2);
	finish(&t, C, 3); /* this ends no answer */
	expect(&t, "");
	finish(&t, S, 4);
	expect(&t, "GET /a - 200 yes 1 1 2 4");
	end(&t, 9, "");
	begin(&t);
	send_bytes(&t, C, GET("a"), 1);
	send_bytes(&t, S, LENGTH_9 "yes", 2);
	finish(&t, S, 3); /* too early */
	finish(&t, C, 4); /* after the server */
	expect(&t, "");
	const struct talk_end closed = {RECORD_OK, DAMAGE_NONE, NULL, 5};
	assert_int_equal(http1_talk.end(t.talk, &closed, &t.err), 0);
	end(&t, 9, "GET /a - 200 yes 1 1 2 5 cut");
	begin(&t);
	send_bytes(&t, C, GET("a"), 1);
	finish(&t, C, 2);
	finish(&t, S, 3);
	assert_int_equal(http1_talk.end(t.talk, &closed, &t.err), 0);
	end(&t, 9, "GET /a - - - 1 1 - 2 hung up");
}

/* ---- losses ---- */

static void a_lost_part_of_a_body_damages_its_exchange_only(void **state)
{
	struct trial t;
	(void)state;
	begin(&t);
	send_bytes(&t, C, "POST /a HTTP/1.1\r\nContent-Length: 9\r\n\r\nask", 1);
	lose(&t, C, 4, 2);
	send_bytes(&t, C, "it" GET("b"), 3); /* as long as it was said to be */
	send_bytes(&t, S, YES YES, 4);
	expect(&t, "POST /a askit 200 yes 1 3 4 4 lost packets, GET /b - 200 yes 3 3 4 4");
	send_bytes(&t, C, GET("c"), 5);
	send_bytes(&t, S, LENGTH_9 "yes", 6);
	t.context.snapped = true;
	lose(&t, S, 6, 7); /* up to its end */
	expect(&t, "GET /c - 200 yes 5 5 6 7 cut packets");
	t.context.snapped = false;
	send_bytes(&t, C, "POST /d HTTP/1.1\r\nContent-Length: 9\r\n\r\nask", 8);
	lose(&t, C, 6, 9);
	send_bytes(&t, C, GET("e"), 10);
	send_bytes(&t, S, YES YES, 11);
	expect(&t, "POST /d ask 200 yes 8 9 11 11 lost packets, GET /e - 200 yes 10 10 11 11");
	end(&t, 20, "");
}

static void after_a_lost_head_reading_goes_on_at_the_next_one(void **state)
{
	struct trial t;
	(void)state;
	begin(&t);
	send_bytes(&t, C, "POST /a HTTP/1.1\r\n", 1);
	lose(&t, C, 30, 2);
	send_bytes(&t, C, "no request", 3);
	send_bytes(&t, S, YES, 4);
	expect(&t, "POST /a - 200 yes 1 - 4 4 lost packets");
	send_bytes(&t, C, GET("b"), 5);
	send_bytes(&t, S, YES, 6);
	expect(&t, "GET /b - 200 yes 5 5 6 6");
	/* a lost request */
	lose(&t, C, 20, 7);
	send_bytes(&t, S, YES, 8);
	expect(&t, "- - - 200 yes 8 - 8 8 lost packets");
	send_bytes(&t, C, GET("c"), 9);
	send_bytes(&t, S, "HTTP/1.1 200 OK\r\nConten", 10);
	lose(&t, S, 20, 11);
	send_bytes(&t, S, "yes", 12);
	expect(&t, "");
	send_bytes(&t, C, GET("d"), 13);
	send_bytes(&t, S, YES, 14);
	expect(&t, "GET /c - 200 - 9 9 10 14 lost packets, GET /d - 200 yes 13 13 14 14");
	end(&t, 20, "");
}

static void chunks_that_are_lost_end_with_the_next_answer(void **state)
{
	struct trial t;
	(void)state;
	begin(&t);
	send_bytes(&t, C, GET("a"), 1);
	send_bytes(&t, S, CHUNKED "3\r\nyes\r\n", 2);
	lose(&t, S, 20, 3);
	send_bytes(&t, S, "3\r\nyes\r\n0\r\n\r\n", 4);
	send_bytes(&t, C, GET("b"), 5);
	send_bytes(&t, S, YES, 6);
	expect(&t, "GET /a - 200 yes 1 1 2 6 lost packets, GET /b - 200 yes 5 5 6 6");
	end(&t, 20, "");
	/* bytes that cannot be a chunk, though none is lost */
	begin(&t);
	send_bytes(&t, C, GET("a"), 1);
	send_bytes(&t, S, LENGTH_9 "yes", 2);
	lose(&t, S, 3, 3);
	send_bytes(&t, S, "yes", 4);
	expect(&t, "GET /a - 200 yesyes 1 1 2 4 lost packets");
	send_bytes(&t, C, GET("b"), 5);
	send_bytes(&t, S, CHUNKED "3\r\nyes and no", 6);
	send_bytes(&t, C, GET("c"), 7);
	send_bytes(&t, S, YES, 8);
	expect(&t, "GET /b - 200 yes 5 5 6 8 lost packets, GET /c - 200 yes 7 7 8 8");
	send_bytes(&t, C, "GET /d\r\n\r\n", 9); /* no request, but it has an answer */
	send_bytes(&t, C, GET("e"), 10);
	send_bytes(&t, S, YES YES, 11);
	expect(&t, "- - - 200 yes 9 - 11 11 lost packets, GET /e - 200 yes 10 10 11 11");
	end(&t, 20, "");
}

/* An answer to any of several requests damages the one it is taken for. */
static void after_a_lost_answer_pipelined_requests_are_damaged(void **state)
{
	struct trial t;
	(void)state;
	begin(&t);
	send_bytes(&t, C, GET("a"), 1);
	send_bytes(&t, C, GET("b"), 2);
	send_bytes(&t, S, "HTTP/1.1", 3);
	lose(&t, S, 50, 4);
	send_bytes(&t, S, YES, 5);
	expect(&t, "GET /a - - - 1 1 3 5 lost packets, GET /b - 200 yes 2 2 5 5 lost packets");
	end(&t, 9, "");
	/* the next request is damaged itself: the answer may be to one behind it */
	begin(&t);
	send_bytes(&t, C, GET("a"), 1);
	lose(&t, S, 50, 2);
	lose(&t, C, 50, 3);
	send_bytes(&t, S, YES, 4);
	expect(&t, "GET /a - 200 yes 1 1 4 4 lost packets");
	end(&t, 9, "");
}

/* ---- failures ---- */

/* The exchange with this number is not taken. */
static int failing_call, calls;

static int on_ended_but_one(void *data, struct captured *x, struct ipf_error *err)
{
	struct trial *t = data;
	captured_free(x, &t->context.memory);
	return calls++ == failing_call ? ipf_error_set(err, IPF_SYSTEM, "no more") : 0;
}

/* Exchanges end in each way that there is. False: one was not taken. */
static bool end_in_every_way(struct trial *t)
{
	static const struct {
		char what; /* bytes, lost bytes, or the end of a side */
		enum tcp_side from;
		const char *text;
	} steps[] = {
		{'b', S, "rest"}, {'b', C, GET("a")}, {'b', S, YES},      {'b', C, GET("b")},
		{'b', S, "HTTP"}, {'l', S, NULL},     {'b', C, GET("c")}, {'b', S, LENGTH_9},
		{'n', S, NULL},   {'b', S, YES},      {'b', C, GET("d")}, {'b', S, "HTTP/1.1 200 OK\r\n\r\n"},
		{'f', S, NULL},   {'b', C, GET("e")},
	};
	for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
		const int64_t t_ns = (int64_t)i + 1;
		bool good;
		if (steps[i].what == 'b')
			good = give(t, steps[i].from, steps[i].text, t_ns) != TALK_FAILED;
		else if (steps[i].what == 'f')
			good = http1_talk.finished(t->talk, steps[i].from, t_ns, &t->err) == 0;
		else
			good = http1_talk.lost(t->talk, steps[i].from, steps[i].what == 'n' ? 9 : 99, t_ns, &t->err) != TALK_FAILED;
		if (!good)
			return false;
		assert_true(calls <= failing_call);
	}
	const struct talk_end how = {RECORD_OK, DAMAGE_OPEN, NULL, 100};
	return http1_talk.end(t->talk, &how, &t->err) == 0;
}

static void an_exchange_that_is_not_taken_ends_reading(void **state)
{
	enum { ALL = 7 };
	(void)state;
	for (failing_call = 0; failing_call <= ALL; failing_call++) {
		struct trial t;
		calls = 0;
		begin_from(&t, true);
		t.context.ended = on_ended_but_one;
		assert_int_equal(end_in_every_way(&t), failing_call == ALL);
		assert_int_equal(calls, failing_call == ALL ? ALL : failing_call + 1);
		assert_int_equal(t.err.kind, failing_call == ALL ? IPF_OK : IPF_SYSTEM);
		http1_talk.close(t.talk);
		buffer_release(&t.log);
	}
}

/* ---- a capture that began later ---- */

static void bytes_before_the_capture_belong_to_no_request(void **state)
{
	struct trial t;
	(void)state;
	begin_from(&t, true);
	send_bytes(&t, C, "rest of a body", 1);
	send_bytes(&t, S, "rest of an answer", 2);
	send_bytes(&t, S, "and more", 3);
	expect(&t, "");
	send_bytes(&t, C, GET("a"), 4); /* ends the answer */
	expect(&t, "- - - - - 2 - - 4 began before the capture");
	send_bytes(&t, S, YES, 5);
	expect(&t, "GET /a - 200 yes 4 4 5 5");
	end(&t, 9, "");
	/* a chunk ends it at once, and once */
	begin_from(&t, true);
	send_bytes(&t, S, "5\r\nhello\r\n", 1);
	send_bytes(&t, S, "5\r\nhello\r\n", 2);
	expect(&t, "- - - - - 1 - - 1 began before the capture");
	send_bytes(&t, S, YES, 3);
	expect(&t, "- - - 200 yes 3 - 3 3 lost packets");
	end(&t, 9, "");
	/* the first answer is to a request before the capture */
	begin_from(&t, true);
	send_bytes(&t, S, YES, 1);
	expect(&t, "- - - 200 yes 1 - 1 1 began before the capture");
	send_bytes(&t, C, GET("a"), 2);
	send_bytes(&t, S, YES, 3);
	expect(&t, "GET /a - 200 yes 2 2 3 3");
	end(&t, 9, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(messages_are_known_by_their_first_bytes),
		cmocka_unit_test(exchanges_follow_each_other),
		cmocka_unit_test(requests_may_be_sent_ahead),
		cmocka_unit_test(an_answer_may_come_before_the_end_of_its_request),
		cmocka_unit_test(other_protocols_are_left_alone),
		cmocka_unit_test(only_so_many_requests_are_open),
		cmocka_unit_test(an_upgrade_takes_its_exchange_along),
		cmocka_unit_test(a_body_without_length_ends_with_the_connection),
		cmocka_unit_test(a_lost_part_of_a_body_damages_its_exchange_only),
		cmocka_unit_test(after_a_lost_head_reading_goes_on_at_the_next_one),
		cmocka_unit_test(chunks_that_are_lost_end_with_the_next_answer),
		cmocka_unit_test(after_a_lost_answer_pipelined_requests_are_damaged),
		cmocka_unit_test(an_exchange_that_is_not_taken_ends_reading),
		cmocka_unit_test(bytes_before_the_capture_belong_to_no_request),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
