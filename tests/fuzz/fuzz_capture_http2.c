/* Any bytes of both sides of a captured HTTP/2 connection, in any pieces, between missing bytes: each exchange is told
 * once, with reads adding up to its body and times in order, and all memory is given back. The input is a byte of
 * flags, and steps: a byte for side and kind, a byte for the length, and the bytes. */
#include "absent.h"
#include "capture/http2_talk.h"
#include "fuzz_input.h"

enum { BEGAN_BEFORE = 1, UPGRADED = 2, SNAPPED = 4 };

struct run {
	struct talk_context context;
	int64_t told;
};

static int on_ended(void *data, struct captured *x, struct ipf_error *err)
{
	struct run *r = data;
	int64_t bytes = 0;
	(void)err;
	for (size_t i = 0; i < x->reads_count; i++) {
		bytes += x->reads[i].bytes;
		must(x->reads[i].bytes > 0 && (!i || x->reads[i].t_ns > x->reads[i - 1].t_ns));
	}
	must(x->damage == DAMAGE_TOO_LARGE || bytes == (int64_t)x->answer.body.len);
	must(x->http == 2 && x->end_ns >= x->start_ns && !x->next);
	must(x->damage || x->error || (x->status >= 200 && x->status <= 999));
	must(x->damage || x->target.len || !x->asked || x->method.len || x->request.headers.len || x->error ||
	     x->status != IPF_ABSENT);
	r->told++;
	captured_free(x, &r->context.memory);
	return 0;
}

/* The exchange whose request was sent by HTTP/1.1. */
static void upgrade(struct run *r, struct talk_about *about, void *talk)
{
	struct ipf_error err = {0};
	struct captured *x = talk_begin(&r->context, about, 0);
	must(x != NULL);
	x->asked = true;
	must(http2_talk_upgraded(talk, x, &err) == 0);
}

static enum talk_result take_step(void *talk, const uint8_t *step, size_t len, int64_t t_ns)
{
	struct ipf_error err = {0};
	const enum tcp_side from = step[0] & 1 ? TCP_SERVER : TCP_CLIENT;
	char *copy = malloc(len + 1); /* a copy, so a sanitizer sees reads beyond it */
	struct talk_bytes bytes = {.from = from, .bytes = {copy, len}, .t_ns = t_ns};
	enum talk_result result = TALK_MORE;
	must(copy != NULL);
	if (len)
		memcpy(copy, step + 2, len);
	switch (step[0] / 2 % 8) {
	case 0:
		result = http2_talk.lost(talk, from, 1 + len, t_ns, &err);
		break;
	case 1:
		must(http2_talk.finished(talk, from, t_ns, &err) == 0);
		break;
	default:
		if (len)
			result = http2_talk.bytes(talk, &bytes, &err);
	}
	must(result == TALK_MORE || result == TALK_OTHER);
	free(copy);
	return result;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct run r = {.context = {.memory = {.limit = 1 << 20, .body_most = 1 << 18}, .ended = on_ended}};
	const struct tcp_connection tcp = {0};
	struct talk_about about = {.tcp = &tcp};
	struct ipf_error err = {0};
	const struct talk_end end = {.error = RECORD_OK, .t_ns = 1 << 20};
	if (!size)
		return 0;
	r.context.data = &r;
	r.context.snapped = data[0] & SNAPPED;
	about.began_before = data[0] & BEGAN_BEFORE;
	void *talk = http2_talk.open(&r.context, &about);
	must(talk != NULL);
	if (data[0] & UPGRADED)
		upgrade(&r, &about, talk);
	for (size_t at = 1, t_ns = 1; at + 2 <= size; t_ns++) {
		size_t len = data[at + 1];
		len = len < size - at - 2 ? len : size - at - 2;
		if (take_step(talk, data + at, len, (int64_t)t_ns) == TALK_OTHER)
			break;
		at += 2 + (data[at] / 2 % 8 == 0 ? 0 : len);
	}
	if (!(data[0] & 8)) /* otherwise it is closed without an end */
		must(http2_talk.end(talk, &end, &err) == 0 && r.told == r.context.exchanges);
	http2_talk.close(talk);
	must(!r.context.memory.used && !r.context.streams && !r.context.stream_headers);
	return 0;
}
