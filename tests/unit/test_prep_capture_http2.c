/* Captured HTTP/2 between libnghttp2's client and server, against their frames: bodies, headers, times,
 * ends, and damage by missing packets. */
#include "capture/capture.h"
#include "http2_capture.h"

enum { TIMES = 8 };

static struct capture *capture;
static bool keeps_times;
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
	assert_true(!keeps_times || x->sent_ns == s->sent_ns);
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
	if (keeps_times)
		check_times(s, x);
}

static int on_ended(void *data, struct captured *x, struct ipf_error *err)
{
	struct h2_world *w = data;
	(void)err;
	const int number = x->target.len > 1 ? atoi(x->target.data + 1) : -1;
	assert_true(x->client.port >= 40000 && x->client.port < 40000 + H2_CONNECTIONS);
	assert_true(x->stream & 1 || (x->http != 2 && x->damage != DAMAGE_NONE));
	assert_true(x->stream >= 0 && x->stream < 65536);
	told[x->client.port - 40000][0] = 0; /* not HTTP/2 */
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
	keeps_times = true;
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

/* ---- damage ---- */

/* The first time from which frames of any stream of the connection may be missing. */
struct loss {
	int64_t from_ns[H2_CONNECTIONS];
};

static bool belongs_to_exchange(const struct h2_frame *f)
{
	return f->sent >= 0 && (f->type == NGHTTP2_DATA || f->type == NGHTTP2_HEADERS || f->type == NGHTTP2_CONTINUATION ||
	                        f->type == NGHTTP2_RST_STREAM);
}

/* Marks the exchanges to which these bytes belong. */
static void note_loss(struct h2_world *w, const struct h2_packet *p, uint64_t from, uint64_t to, struct loss *loss)
{
	bool within_data = false;
	for (size_t i = 0; i < w->frames_count; i++) {
		const struct h2_frame *f = &w->frames[i];
		const uint64_t payload = f->at + 9, end = payload + f->len;
		if (f->connection != p->connection || f->from != (p->made.from == 2) || end <= from || to <= f->at)
			continue;
		if (belongs_to_exchange(f))
			w->sent[f->sent].damaged = true;
		within_data |= f->type == NGHTTP2_DATA && payload <= from && to <= end;
	}
	if (!within_data && p->made.t_ns < loss->from_ns[p->connection])
		loss->from_ns[p->connection] = p->made.t_ns;
}

/* Joins the missing bytes of neighbouring packets of a side. */
static struct loss note_losses(struct h2_world *w)
{
	struct loss loss;
	for (int c = 0; c < H2_CONNECTIONS; c++)
		loss.from_ns[c] = INT64_MAX;
	for (int c = 0; c < 2 * H2_CONNECTIONS; c++) {
		const struct h2_packet *first = NULL;
		uint64_t from = 0, to = 0;
		for (size_t i = 0; i < w->count; i++) {
			const struct h2_packet *p = &w->packets[i];
			const size_t len = p->made.payload.len, kept = !p->copies ? 0 : p->cut < len ? p->cut : len;
			if (p->connection != c / 2 || (p->made.from == 2) != (c & 1) || !len || kept == len)
				continue;
			if (first && p->offset + kept != to) {
				note_loss(w, first, from, to, &loss);
				first = NULL;
			}
			from = first ? from : p->offset + kept;
			first = first ? first : p;
			to = p->offset + len;
		}
		if (first)
			note_loss(w, first, from, to, &loss);
	}
	return loss;
}

static void check_damage(struct h2_world *w, const struct loss *loss)
{
	for (int n = 0; n < H2_ALL; n++) {
		const struct h2_sent *s = &w->sent[n];
		const bool spared = !s->damaged && s->end_ns < loss->from_ns[n / H2_REQUESTS];
		assert_true(s->told <= 1);
		if (s->damaged && s->told_whole)
			print_error("request %d is damaged, and was taken for whole\n", n);
		if (spared && !s->told_whole)
			print_error("request %d is undamaged, and was lost\n", n);
		assert_false(s->damaged && s->told_whole);
		assert_true(!spared || s->told_whole);
	}
}

typedef void damage(struct h2_world *w, uint32_t amount);

static void remove_some(struct h2_world *w, uint32_t per_mille)
{
	for (size_t i = 0; i < w->count; i++)
		if (h2_below(w, 1000) < per_mille && !(w->packets[i].made.flags & PACKET_SYN))
			w->packets[i].copies = 0;
}

/* One packet with DATA alone, if there is one. */
static void remove_data(struct h2_world *w, uint32_t times)
{
	for (uint32_t tries = 0; tries < 100 * times; tries++) {
		struct h2_packet *p = &w->packets[h2_below(w, (uint32_t)w->count)];
		for (size_t i = 0; i < w->frames_count && p->made.payload.len; i++) {
			const struct h2_frame *f = &w->frames[i];
			if (f->type == NGHTTP2_DATA && f->connection == p->connection && f->from == (p->made.from == 2) &&
			    f->at + 9 <= p->offset && p->offset + p->made.payload.len <= f->at + 9 + f->len)
				p->copies = 0;
		}
	}
}

static void repeat_some(struct h2_world *w, uint32_t per_mille)
{
	for (size_t i = 0; i < w->count; i++)
		w->packets[i].copies += h2_below(w, 1000) < per_mille;
}

static void move_some(struct h2_world *w, uint32_t per_mille)
{
	for (size_t i = 0; i < w->count; i++)
		if (h2_below(w, 1000) < per_mille && !(w->packets[i].made.flags & PACKET_SYN))
			w->packets[i].order += 100000 + h2_below(w, 3000000);
	h2_world_sort(w);
	keeps_times = false;
}

static void cut_some(struct h2_world *w, uint32_t per_mille)
{
	for (size_t i = 0; i < w->count; i++)
		if (h2_below(w, 1000) < per_mille && w->packets[i].made.payload.len)
			w->packets[i].cut = h2_below(w, (uint32_t)w->packets[i].made.payload.len);
}

static void cut_all(struct h2_world *w, uint32_t most)
{
	for (size_t i = 0; i < w->count; i++)
		w->packets[i].cut = most;
}

static void try_damage(const char *name, damage *how, uint32_t amount)
{
	uint64_t seed = test_seed(name);
	for (int i = 0; i < few_or_many(TIMES / 2, 50 * TIMES); i++) {
		struct h2_world w;
		make_world(&w, seed + (uint64_t)i);
		struct loss loss = note_losses(&w); /* none, in the order in which they were sent */
		how(&w, amount);
		if (how != move_some)
			loss = note_losses(&w);
		run_capture(&w);
		check_damage(&w, &loss);
		h2_world_release(&w);
	}
}

static void missing_packets_never_leave_a_damaged_exchange_whole(void **state)
{
	(void)state;
	try_damage("0.2 % removed", remove_some, 2);
	try_damage("3 % removed", remove_some, 30);
}

static void missing_data_damages_its_stream_alone(void **state)
{
	(void)state;
	try_damage("DATA removed", remove_data, 1);
}

static void repeated_and_reordered_packets_damage_nothing(void **state)
{
	(void)state;
	try_damage("5 % repeated", repeat_some, 50);
	try_damage("0.5 % moved", move_some, 5); /* gaps one after another would be given up */
}

static void cut_packets_never_leave_a_damaged_exchange_whole(void **state)
{
	(void)state;
	try_damage("0.5 % cut", cut_some, 5);
	try_damage("42 bytes", cut_all, 42);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(requests_and_answers_are_those_on_the_wire),
		cmocka_unit_test(missing_packets_never_leave_a_damaged_exchange_whole),
		cmocka_unit_test(missing_data_damages_its_stream_alone),
		cmocka_unit_test(repeated_and_reordered_packets_damage_nothing),
		cmocka_unit_test(cut_packets_never_leave_a_damaged_exchange_whole),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
