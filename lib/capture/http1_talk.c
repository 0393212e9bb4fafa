#include "capture/http1_talk.h"

#include "absent.h"
#include "http/http1_reader.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* No client sends more requests ahead. */
enum { OPEN_MOST = 256 };

/* A side of the connection as a sequence of messages. */
struct side {
	struct http1_reader reader;
	bool within; /* a message has begun */
	bool adrift; /* where the next one begins is not known */
	bool finished;
};

struct http1 {
	struct talk_context *context;
	struct talk_about *about;
	struct side sides[2];
	struct captured *first, *last; /* without a whole answer, in the order of their requests */
	struct captured *asking;       /* whose request is being read; NULL */
	int64_t t_ns;                  /* the time of the bytes at hand */
	int64_t left_ns;               /* when the client finished, before the server did; IPF_ABSENT: it did not */
	size_t open;                   /* exchanges in the list */
	bool pipelines;                /* the client sent a request before the answer to the one before began */
	bool lossy;                    /* bytes are missing */
	int64_t unknown_ns;            /* when bytes of an answer without a request came first; IPF_ABSENT: none */
	bool unknown_told;
	bool no_memory;
};

/* ---- beginnings of messages ---- */

static bool hex_digit(char c)
{
	return (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'f');
}

bool http1_talk_begins_request(struct slice bytes)
{
	static const char *const methods[] = {"POST ", "GET ", "PUT ", "HEAD ", "OPTIONS ", "DELETE ", "PATCH "};
	for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
		const size_t len = strlen(methods[i]);
		if (bytes.len && memcmp(bytes.data, methods[i], bytes.len < len ? bytes.len : len) == 0)
			return true;
	}
	return false;
}

bool http1_talk_begins_chunk(struct slice bytes)
{
	size_t i = 0;
	while (i < bytes.len && i < 8 && hex_digit(bytes.data[i]))
		i++;
	return i > 0 && i + 1 < bytes.len && bytes.data[i] == '\r' && bytes.data[i + 1] == '\n';
}

bool http1_talk_begins_response(struct slice bytes)
{
	static const char begin[] = "HTTP/1.";
	const size_t len = sizeof begin - 1;
	return bytes.len && memcmp(bytes.data, begin, bytes.len < len ? bytes.len : len) == 0;
}

/* ---- the list of exchanges ---- */

static int begin_exchange(struct http1 *t, struct ipf_error *err)
{
	t->open++;
	struct captured *x = talk_begin(t->context, t->about, t->t_ns);
	if (!x)
		return ipf_error_memory(err);
	x->before = t->last;
	*(t->last ? &t->last->next : &t->first) = x;
	t->last = x;
	return 0;
}

/* Takes it out of the list, and hands it on. */
static int end_exchange(struct http1 *t, struct captured *x, int64_t t_ns, struct ipf_error *err)
{
	*(x->before ? &x->before->next : &t->first) = x->next;
	*(x->next ? &x->next->before : &t->last) = x->before;
	x->next = x->before = NULL;
	t->open--;
	if (t->asking == x)
		t->asking = NULL;
	x->end_ns = t_ns;
	return t->context->ended(t->context->data, x, err);
}

/* ---- events of the readers ---- */

static void on_request(void *data, struct slice method, struct slice target)
{
	struct http1 *t = data;
	if (!t->asking) /* it was answered before its end */
		return;
	buffer_slice(&t->asking->method, method);
	buffer_slice(&t->asking->target, target);
}

static void on_request_header(void *data, struct slice name, struct slice value)
{
	struct http1 *t = data;
	if (!t->asking) /* it was answered before its end */
		return;
	captured_header(&t->asking->request, name, value);
}

/* The encoding is known once the first byte of the body is there. */
static bool begins_body(struct captured_message *m)
{
	return m->wire_bytes > 0 || captured_body_begins(m);
}

static bool on_request_body(void *data, const char *bytes, size_t len)
{
	struct http1 *t = data;
	if (!t->asking)
		return true;
	t->no_memory |= !begins_body(&t->asking->request) ||
	                !captured_request_body(t->asking, (struct slice){bytes, len}, &t->context->memory);
	return !t->no_memory;
}

static void on_status(void *data, int status)
{
	struct http1 *t = data;
	captured_headers_forget(&t->first->answer);
	t->first->status = status;
}

static void on_header(void *data, struct slice name, struct slice value)
{
	struct http1 *t = data;
	captured_header(&t->first->answer, name, value);
}

static bool on_body(void *data, const char *bytes, size_t len)
{
	struct http1 *t = data;
	t->no_memory |= !begins_body(&t->first->answer) ||
	                !captured_answer_body(t->first, (struct slice){bytes, len}, t->t_ns, &t->context->memory);
	return !t->no_memory;
}

static const struct http1_sink request_sink = {.request = on_request,
                                               .header = on_request_header,
                                               .body = on_request_body},
							   answer_sink = {.status = on_status, .header = on_header, .body = on_body};

static int end_unknown(struct http1 *t, struct ipf_error *err);

/* Are bytes of the connection missing? Then bytes that are no HTTP may be a part of it. */
static bool is_damaged(const struct http1 *t)
{
	return t->lossy || t->about->began_before;
}

/* Where the next message of a side begins is not known any more. */
static void drift(struct http1 *t, enum tcp_side from, struct captured *x)
{
	t->sides[from].adrift = true;
	if (x)
		captured_damaged(x, t->context->snapped ? DAMAGE_SNAPPED : DAMAGE_LOST);
}

/* ---- requests ---- */

static int begin_request(struct http1 *t, struct ipf_error *err)
{
	struct side *side = &t->sides[TCP_CLIENT];
	if (t->unknown_ns != IPF_ABSENT && end_unknown(t, err) < 0)
		return -1;
	if (t->last && t->last->first_byte_ns == IPF_ABSENT && !t->sides[TCP_SERVER].adrift)
		t->pipelines = true;
	if (begin_exchange(t, err) < 0)
		return -1;
	t->asking = t->last;
	side->within = true;
	side->adrift = false;
	http1_begin_request(&side->reader);
	return 0;
}

/* The request is over, wholly or not. */
static void end_request(struct http1 *t, bool whole)
{
	t->sides[TCP_CLIENT].within = false;
	if (!t->asking)
		return;
	t->asking->asked = whole && t->asking->damage == DAMAGE_NONE;
	if (whole)
		t->asking->sent_ns = t->t_ns;
	t->asking = NULL;
}

static enum talk_result read_requests(struct http1 *t, struct slice bytes, struct ipf_error *err)
{
	struct side *side = &t->sides[TCP_CLIENT];
	if (side->adrift && !http1_talk_begins_request(bytes))
		return TALK_MORE;
	if (side->adrift)
		end_request(t, false);
	while (bytes.len || (side->within && !side->adrift)) {
		size_t used;
		if (!side->within && t->open == OPEN_MOST)
			return TALK_OTHER;
		if (!side->within && begin_request(t, err) < 0)
			return TALK_FAILED;
		const enum http1_result result = http1_read(&side->reader, bytes.data, bytes.len, &used, &request_sink, t);
		bytes = (struct slice){bytes.data + used, bytes.len - used};
		if (t->no_memory || result == HTTP1_NO_MEMORY)
			return ipf_error_memory(err), TALK_FAILED;
		if (result == HTTP1_MORE)
			return TALK_MORE;
		if (result != HTTP1_COMPLETE && !is_damaged(t))
			return TALK_OTHER;
		if (result != HTTP1_COMPLETE) {
			drift(t, TCP_CLIENT, t->asking);
			return TALK_MORE;
		}
		end_request(t, true);
	}
	return TALK_MORE;
}

/* ---- answers ---- */

/* The first request's answer begins. */
static void begin_answer(struct http1 *t)
{
	struct side *side = &t->sides[TCP_SERVER];
	struct captured *x = t->first;
	side->within = true;
	side->adrift = false;
	if (x->first_byte_ns == IPF_ABSENT)
		x->first_byte_ns = t->t_ns;
	http1_begin(&side->reader, slice_is(buffer_all(&x->method), "HEAD"));
	side->reader.may_upgrade = captured_header_value(&x->request, "upgrade").len > 0 ||
	                           slice_is(buffer_all(&x->method), "CONNECT") || x->damage;
}

/* Ends the requests whose answers are lost, before the one to which the bytes at hand belong. */
static int drop_unanswered(struct http1 *t, struct ipf_error *err)
{
	struct captured *mine = NULL;
	for (struct captured *x = t->first; x; x = x->next)
		if (x->start_ns <= t->t_ns)
			mine = x;
	if (mine && ((mine->before && t->pipelines) || (mine == t->last && t->sides[TCP_CLIENT].adrift)))
		captured_damaged(mine, DAMAGE_LOST); /* it may be the answer to another one, also to one that is lost */
	while (mine && t->first != mine) {
		captured_damaged(t->first, DAMAGE_LOST);
		if (end_exchange(t, t->first, t->t_ns, err) < 0)
			return -1;
	}
	return 0;
}

/* Bytes of the server without a request in the capture, which came first at t_ns. */
static int begin_orphan(struct http1 *t, int64_t t_ns, struct ipf_error *err)
{
	const bool before = t->about->exchanges == 0 && t->about->began_before;
	const int64_t now_ns = t->t_ns;
	t->t_ns = t_ns;
	const int status = begin_exchange(t, err);
	t->t_ns = now_ns;
	if (status == 0)
		captured_damaged(t->last, before ? DAMAGE_BEGAN_BEFORE : DAMAGE_LOST);
	return status;
}

static int end_answer(struct http1 *t, struct ipf_error *err)
{
	t->sides[TCP_SERVER].within = false;
	return end_exchange(t, t->first, t->t_ns, err);
}

/* The answer whose rest came first ends where the next message begins: now it is certain that it is HTTP. */
static int end_unknown(struct http1 *t, struct ipf_error *err)
{
	const int64_t since_ns = t->unknown_ns;
	t->unknown_ns = IPF_ABSENT;
	if (since_ns == IPF_ABSENT)
		return 0;
	t->unknown_told = true;
	return begin_orphan(t, since_ns, err) < 0 ? -1 : end_exchange(t, t->last, t->t_ns, err);
}

/* Makes sure that there is an exchange to which the bytes belong. 1: read on; 0: the bytes belong to none; -1. */
static int find_exchange(struct http1 *t, struct slice bytes, struct ipf_error *err)
{
	struct side *side = &t->sides[TCP_SERVER];
	if (side->adrift && !http1_talk_begins_response(bytes)) {
		if (!t->first && t->unknown_ns == IPF_ABSENT && !t->unknown_told)
			t->unknown_ns = t->t_ns;
		return !t->first && http1_talk_begins_chunk(bytes) ? end_unknown(t, err) : 0;
	}
	if (end_unknown(t, err) < 0 || (side->adrift && drop_unanswered(t, err) < 0))
		return -1;
	t->unknown_told = false;
	return t->first || begin_orphan(t, t->t_ns, err) == 0 ? 1 : -1;
}

static enum talk_result read_answers(struct http1 *t, struct talk_bytes *b, struct ipf_error *err)
{
	struct side *side = &t->sides[TCP_SERVER];
	struct slice bytes = b->bytes;
	while (bytes.len || side->within) {
		size_t used;
		if (!side->within || side->adrift) {
			if (!t->first && !is_damaged(t))
				return TALK_OTHER; /* nobody asked for it, as some servers close an idle connection */
			const int found = find_exchange(t, bytes, err);
			if (found <= 0)
				return found < 0 ? TALK_FAILED : TALK_MORE;
			begin_answer(t);
		}
		const enum http1_result result = http1_read(&side->reader, bytes.data, bytes.len, &used, &answer_sink, t);
		bytes = (struct slice){bytes.data + used, bytes.len - used};
		b->used = b->bytes.len - bytes.len;
		if (t->no_memory || result == HTTP1_NO_MEMORY)
			return ipf_error_memory(err), TALK_FAILED;
		if (result == HTTP1_MORE)
			return TALK_MORE;
		if (result == HTTP1_UPGRADED)
			return TALK_UPGRADED;
		if (result != HTTP1_COMPLETE && is_damaged(t)) {
			drift(t, TCP_SERVER, t->first);
			return TALK_MORE;
		}
		if (result != HTTP1_COMPLETE) {
			t->first->error = result == HTTP1_TOO_LARGE ? RECORD_TOO_LARGE : RECORD_PROTOCOL;
			t->first->why = side->reader.why ? side->reader.why : "the header lines are too long";
			return end_answer(t, err) < 0 ? TALK_FAILED : TALK_OTHER;
		}
		if (end_answer(t, err) < 0)
			return TALK_FAILED;
	}
	return TALK_MORE;
}

/* ---- the connection ---- */

static void *open_talk(struct talk_context *context, struct talk_about *about)
{
	struct http1 *t = calloc(1, sizeof *t);
	if (!t)
		return NULL;
	t->context = context;
	t->about = about;
	t->left_ns = t->unknown_ns = IPF_ABSENT;
	t->sides[TCP_CLIENT].adrift = t->sides[TCP_SERVER].adrift = about->began_before;
	return t;
}

static enum talk_result take_bytes(void *talk, struct talk_bytes *bytes, struct ipf_error *err)
{
	struct http1 *t = talk;
	t->t_ns = bytes->t_ns;
	return bytes->from == TCP_CLIENT ? read_requests(t, bytes->bytes, err) : read_answers(t, bytes, err);
}

static enum talk_result take_lost(void *talk, enum tcp_side from, uint64_t len, int64_t t_ns, struct ipf_error *err)
{
	struct http1 *t = talk;
	struct side *side = &t->sides[from];
	struct captured *x = from == TCP_CLIENT ? t->asking : t->first;
	struct talk_bytes none = {.from = from, .bytes = {"", 0}, .t_ns = t_ns};
	t->t_ns = t_ns;
	t->lossy = true;
	if (x)
		captured_damaged(x, t->context->snapped ? DAMAGE_SNAPPED : DAMAGE_LOST);
	if (side->within && !side->adrift && http1_lost(&side->reader, len))
		return from == TCP_CLIENT ? read_requests(t, none.bytes, err) : read_answers(t, &none, err);
	side->adrift = true;
	return TALK_MORE;
}

static int finish_side(void *talk, enum tcp_side from, int64_t t_ns, struct ipf_error *err)
{
	struct http1 *t = talk;
	struct side *side = &t->sides[from];
	t->t_ns = t_ns;
	side->finished = true;
	if (from == TCP_CLIENT) {
		if (!t->sides[TCP_SERVER].finished)
			t->left_ns = t_ns;
	} else if (t->first && side->within && !side->adrift && http1_closed(&side->reader) == HTTP1_COMPLETE)
		return end_answer(t, err);
	return 0;
}

static int end_all(void *talk, const struct talk_end *end, struct ipf_error *err)
{
	struct http1 *t = talk;
	const struct talk_closing closing = {t->left_ns, t->sides[TCP_SERVER].finished};
	while (t->first)
		if (end_exchange(t, t->first, talk_end_exchange(t->first, &closing, end), err) < 0)
			return -1;
	return 0;
}

struct captured *http1_talk_upgraded(void *talk)
{
	struct http1 *t = talk;
	struct captured *x = t->first;
	t->first = x->next;
	*(x->next ? &x->next->before : &t->last) = NULL;
	x->next = NULL;
	t->open--;
	return x;
}

static void close_talk(void *talk)
{
	struct http1 *t = talk;
	if (!t)
		return;
	for (struct captured *next; t->first; t->first = next) {
		next = t->first->next;
		captured_free(t->first, &t->context->memory);
	}
	http1_release(&t->sides[TCP_CLIENT].reader);
	http1_release(&t->sides[TCP_SERVER].reader);
	free(t);
}

const struct talk_reader http1_talk = {open_talk, take_bytes, take_lost, finish_side, end_all, close_talk};
