/* Any frames from a server, between requests and cancellations of ours: each stream ends once at most, nothing is
 * reported of it afterwards, bodies are not read after they were given back, and the pieces in which bytes come make no
 * difference. The input is a list of steps: a byte for the kind, and its arguments. */
#include "http/http2_session.h"

#include <stdlib.h>
#include <string.h>

#define REQUESTS_MOST 200
#define STEPS_MOST    2000

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct call {
	struct run *run;
	char *body; /* memory of its own, so a sanitizer sees it is read too late */
	int32_t id;
	size_t header_bytes;
	uint64_t digest, body_digest;
	bool sent, ended, cancelled;
	uint8_t habits;
};

enum habit { REFUSES_BODY = 1, CALLS_AGAIN = 2, CANCELS_ITSELF = 4, CANCELS_ANOTHER = 8 };

struct run {
	struct http2_session *session;
	struct call calls[REQUESTS_MOST];
	size_t count, live;
	uint64_t digest;
	bool in_output, incomparable;
};

static void check(bool good)
{
	if (!good)
		abort();
}

static void add(uint64_t *digest, const void *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++)
		*digest = (*digest ^ ((const uint8_t *)bytes)[i]) * UINT64_C(0x100000001b3);
}

static void give_back(struct call *c)
{
	free(c->body);
	c->body = NULL;
}

static void cancel(struct call *c)
{
	http2_cancel(c->run->session, c->id);
	if (c->ended || c->cancelled)
		return;
	c->cancelled = true;
	c->run->live--;
	give_back(c);
}

static void request(struct run *r, uint8_t habits, size_t body, struct curl_slist *headers)
{
	struct http2_request q = {
		.method = "POST", .scheme = "https", .authority = slice_of("host"), .path = slice_of("/"), .headers = headers};
	struct call *c = &r->calls[r->count];
	if (r->count == REQUESTS_MOST)
		return;
	*c = (struct call){.run = r, .habits = habits, .body = body ? malloc(body) : NULL};
	if (c->body) {
		memset(c->body, 'b', body);
		q.body.text = (struct slice){c->body, body};
	}
	c->id = http2_request(r->session, c, &q);
	if (c->id < 0) {
		give_back(c);
		return;
	}
	r->count++;
	r->live++;
}

static void alive(const struct call *c)
{
	check(!c->ended && !c->cancelled);
}

static void on_status(void *stream, int status)
{
	struct call *c = stream;
	alive(c);
	check(status >= 0 && status <= 999);
	add(&c->digest, &status, sizeof status);
	if (c->habits & CANCELS_ITSELF)
		cancel(c);
}

static void on_header(void *stream, struct slice name, struct slice value)
{
	struct call *c = stream;
	alive(c);
	check(name.len && name.data[0] != ':');
	c->header_bytes += name.len + value.len;
	check(c->header_bytes <= HTTP2_HEADERS_MOST);
	add(&c->digest, name.data, name.len);
	add(&c->digest, value.data, value.len);
	if (c->habits & CANCELS_ANOTHER)
		cancel(&c->run->calls[name.len % c->run->count]);
}

static bool on_body(void *stream, const char *bytes, size_t len)
{
	struct call *c = stream;
	alive(c);
	check(!c->run->in_output);
	if (c->habits & REFUSES_BODY) {
		c->run->incomparable = true;
		return false;
	}
	add(&c->body_digest, bytes, len);
	return true;
}

static void on_sent(void *stream)
{
	struct call *c = stream;
	alive(c);
	check(c->run->in_output && !c->sent);
	c->sent = true;
	give_back(c);
}

static void on_ended(void *stream, enum http2_end how, uint32_t code)
{
	struct call *c = stream;
	alive(c);
	c->ended = true;
	c->run->live--;
	give_back(c);
	add(&c->digest, &how, sizeof how);
	add(&c->digest, &code, sizeof code);
	if (how == HTTP2_COMPLETE) /* how much came of a bad one is up to the pieces */
		add(&c->digest, &c->body_digest, sizeof c->body_digest);
	check(http2_streams(c->run->session) == c->run->live);
	if (c->habits & CALLS_AGAIN)
		request(c->run, c->habits, (size_t)c->id * 100, NULL);
}

static const struct http2_sink sink = {on_status, on_header, on_body, on_sent, on_ended};

static int64_t output(struct run *r)
{
	const char *bytes;
	bool broken = http2_error(r->session) != NULL;
	r->in_output = true;
	int64_t len = http2_output(r->session, &bytes);
	r->in_output = false;
	check(!broken || len == -1);
	check(len >= -1 && (len > 0 || !bytes || !*bytes));
	if (len > 0)
		add(&r->digest, bytes, (size_t)len);
	check(len >= 0 || http2_error(r->session));
	return len;
}

/* In pieces; each in memory of its own. */
static void input(struct run *r, const uint8_t *bytes, size_t len, size_t piece)
{
	for (size_t n; len; bytes += n, len -= n) {
		n = len < piece ? len : piece;
		char *copy = malloc(n);
		bool broken = http2_error(r->session) != NULL;
		if (!copy)
			return;
		memcpy(copy, bytes, n);
		bool good = http2_input(r->session, copy, n);
		free(copy);
		check(good == !http2_error(r->session) && (!broken || !good));
	}
}

/* A frame with a good header: its type and flags, the number of one of our streams, and 0 to 255 bytes of payload. */
static size_t input_frame(struct run *r, const uint8_t *step, size_t left, size_t piece)
{
	uint8_t frame[9 + 255] = {0};
	if (left < 4)
		return left;
	size_t len = step[3] < left - 4 ? step[3] : left - 4;
	frame[2] = (uint8_t)len;
	frame[3] = step[0] % 11;
	frame[4] = step[1];
	frame[8] = step[2];
	memcpy(frame + 9, step + 4, len);
	input(r, frame, 9 + len, piece);
	return 4 + len;
}

/* Takes a step; returns how many bytes it used. */
static size_t take_step(struct run *r, const uint8_t *step, size_t left, size_t piece)
{
	static struct curl_slist line = {(char *)"TE: trailers", NULL};
	size_t argument = left > 1 ? step[1] : 0, rest = left > 2 ? left - 2 : 0;
	switch (step[0] % 6) {
	case 0: /* these bytes */
		argument = argument < rest ? argument : rest;
		input(r, step + 2, argument, piece);
		return 2 + argument;
	case 1:
		return 1 + input_frame(r, step + 1, left - 1, piece);
	case 2:
		request(r, (uint8_t)(argument & 15), (argument >> 4) * (argument >> 4) * 330, argument & 1 ? &line : NULL);
		return 2;
	case 3:
		if (r->count)
			cancel(&r->calls[argument % r->count]);
		return 2;
	case 4:
		output(r);
		return 1;
	default:
		for (int i = 0; i < 200 && output(r) > 0; i++)
			;
		return 1;
	}
}

/* The digest of all reported and sent; 0 if the pieces may make a difference: the connection broke, which may take some
 * bytes more or less, or a body was refused, which may come before it turns out longer than announced. */
static uint64_t run_steps(const uint8_t *data, size_t size, size_t piece)
{
	struct run *r = calloc(1, sizeof *r);
	if (!r)
		return 0;
	check(http2_open(&r->session, &sink) == 0);
	for (size_t at = 0, steps = 0; at < size && steps < STEPS_MOST; steps++) {
		at += take_step(r, data + at, size - at, piece);
		check(http2_streams(r->session) == r->live && http2_held(r->session) <= r->live);
	}
	uint64_t digest = http2_error(r->session) || r->incomparable ? 0 : r->digest;
	http2_free(r->session);
	for (size_t i = 0; i < r->count; i++) {
		if (digest)
			add(&digest, &r->calls[i].digest, sizeof digest);
		give_back(&r->calls[i]);
	}
	free(r);
	return digest;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint64_t a = run_steps(data, size, SIZE_MAX), b = run_steps(data, size, 1);
	check(a == b || !a || !b);
	return 0;
}
