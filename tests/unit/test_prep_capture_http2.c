/* Captured HTTP/2 between libnghttp2's client and server, against the frames that they sent: bodies, headers, times,
 * ends, and damage by missing packets. */
#include "capture/capture.h"
#include "http2_capture.h"

enum { TIMES = 24 };

static struct capture *capture;
static uint8_t told[H2_CONNECTIONS][65536]; /* by the stream's id: how often */

static bool is_body(struct slice body, int number, bool of_answer, size_t len)
{
	bool same = body.len == len;
	for (size_t i = 0; same && i < len; i++)
		same = body.data[i] == h2_byte(number, of_answer, i);
	return same;
}

static bool header_is(const struct captured_message *m, const char *name, const char *value)
{
	return slice_is(captured_header_value(m, name), value);
}

static void check_answer(const struct h2_sent *s, const struct captured *x, int number)
{
	char own[64];
	snprintf(own, sizeof own, "id-%d", number);
	assert_int_equal(x->error, RECORD_OK);
	assert_int_equal(x->status, 200);
	assert_true(x->asked);
	assert_true(is_body(buffer_all(&x->request.body), number, false, s->request_len));
	assert_true(is_body(buffer_all(&x->answer.body), number, true, s->way == H2_TRAILERS_ONLY ? 0 : s->answer_len));
	assert_true(header_is(&x->answer, "x-request-id", own));
	assert_int_equal(captured_header_value(&x->answer, "x-big").len, s->big_headers ? H2_BIG : 3);
	assert_false(captured_header_value(&x->answer, "link").data);
	assert_int_equal(x->sent_ns, s->sent_ns);
	if (s->way == H2_TRAILERS)
		assert_true(header_is(&x->answer, "grpc-status", "0") && header_is(&x->answer, "grpc-message", "fine"));
	if (s->way == H2_TRAILERS_ONLY)
		assert_true(header_is(&x->answer, "grpc-status", "7"));
}

static void check_reset(const struct h2_sent *s, const struct captured *x, int number)
{
	const bool by_server = s->way == H2_SERVER_RESETS;
	assert_int_equal(x->error, by_server ? RECORD_RESET : RECORD_HUNG_UP);
	assert_string_equal(x->why,
	                    by_server ? "the server reset the stream: INTERNAL_ERROR" : "the client reset the stream");
	assert_int_equal(x->stream_error, by_server ? NGHTTP2_INTERNAL_ERROR : NGHTTP2_CANCEL);
	/* a part of a frame may have come */
	assert_true(x->answer.body.len >= s->answer_seen && x->answer.body.len <= s->answer_len);
	assert_true(is_body(buffer_all(&x->answer.body), number, true, x->answer.body.len));
}

static void check_times(const struct h2_sent *s, const struct captured *x)
{
	assert_int_equal(x->start_ns, s->start_ns);
	assert_int_equal(x->first_byte_ns, s->first_byte_ns);
	assert_int_equal(x->end_ns, s->end_ns);
	if (s->reset)
		return;
	assert_int_equal(x->reads_count, s->reads_count);
	for (size_t i = 0; i < s->reads_count; i++) {
		assert_int_equal(x->reads[i].t_ns, s->reads[i].t_ns);
		assert_int_equal(x->reads[i].bytes, s->reads[i].bytes);
	}
}

static void check_whole(struct h2_sent *s, const struct captured *x, int number)
{
	s->told_whole++;
	assert_int_equal(x->http, 2);
	assert_int_equal(x->stream, s->stream);
	assert_true(slice_is(buffer_all(&x->method), "POST"));
	assert_true(header_is(&x->request, "host", "host:80"));
	assert_int_equal(x->reused, s->stream != 1);
	if (s->reset)
		check_reset(s, x, number);
	else
		check_answer(s, x, number);
	check_times(s, x);
}

static int on_ended(void *data, struct captured *x, struct ipf_error *err)
{
	struct h2_world *w = data;
	(void)err;
	const int number = x->target.len > 1 ? atoi(x->target.data + 1) : -1;
	assert_true(x->client.port >= 40000 && x->client.port < 40000 + H2_CONNECTIONS);
	assert_int_equal(x->stream & 1, 1);
	assert_int_equal(++told[x->client.port - 40000][x->stream], 1);
	if (number >= 0 && number < H2_ALL)
		w->sent[number].told++;
	if (x->damage == DAMAGE_NONE) {
		assert_true(number >= 0 && number < H2_ALL);
		check_whole(&w->sent[number], x, number);
	}
	captured_free(x, capture_memory(capture));
	return 0;
}

static void run_capture(struct h2_world *w)
{
	const struct capture_options options = {.ended = on_ended, .data = w, .memory = (size_t)64 << 20};
	struct ipf_error err = {0};
	struct buffer bytes = {0};
	memset(told, 0, sizeof told);
	capture = capture_new(&options);
	for (size_t i = 0; i < w->count; i++)
		for (int k = 0; k < w->packets[i].copies; k++) {
			struct packet packet = make_packet(&w->packets[i].made, &bytes);
			const size_t payload = w->packets[i].made.payload.len;
			if (w->packets[i].cut < payload)
				packet.len -= payload - w->packets[i].cut;
			assert_int_equal(capture_packet(capture, PACKET_LINK_ETHERNET, &packet, &err), 0);
		}
	assert_int_equal(capture_end(capture, &err), 0);
	assert_int_equal(capture_memory(capture)->used, 0);
	capture_free(capture);
	buffer_release(&bytes);
}

static void make_world(struct h2_world *w, uint64_t seed)
{
	h2_world_init(w, seed);
	for (int i = 0; i < H2_CONNECTIONS; i++)
		h2_connection(w, i);
	h2_world_sort(w);
}

static void requests_and_answers_are_those_on_the_wire(void **state)
{
	uint64_t seed = test_seed("whole");
	(void)state;
	for (int i = 0; i < few_or_many(TIMES, 100 * TIMES); i++) {
		struct h2_world w;
		make_world(&w, seed + (uint64_t)i);
		run_capture(&w);
		for (int n = 0; n < H2_ALL; n++)
			assert_int_equal(w.sent[n].told_whole, 1);
		h2_world_release(&w);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(requests_and_answers_are_those_on_the_wire),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
