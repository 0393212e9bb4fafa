/* Random connections of HTTP/1.1 with random damage, against what was sent: each damaged request is marked, none of
 * them is taken for whole, no undamaged one is lost, and times are those of the packets. */
#include "absent.h"
#include "array.h"
#include "capture/capture.h"
#include "captured_packets.h"

#include "unit.h"

enum { CONNECTIONS = 6, EXCHANGES = 8, IN_ALL = CONNECTIONS * EXCHANGES, TIMES = 64 };

/* An exchange as it was sent. */
struct sent {
	char body[200], answer[4000];
	size_t answer_len;
	int64_t start_ns, sent_ns, first_byte_ns, end_ns;
	bool damaged;
	int seen, seen_whole;
};

/* A packet on its way into the capture. */
struct item {
	struct made_packet made;
	char *payload;
	int exchange; /* -1: none */
	bool needed;  /* it has bytes of it */
	size_t cut;   /* the captured bytes of the payload; SIZE_MAX: all */
	int copies;
	int64_t order;
};

struct world {
	uint64_t seed;
	struct sent sent[IN_ALL];
	struct item *items;
	size_t count, cap;
	int64_t now_ns;
	bool keeps_times; /* no packet was moved or repeated */
};

/* A connection while it is invented. */
struct line {
	struct world *w;
	int number;
	uint32_t seq[2];
};

static uint32_t below(struct world *w, uint32_t n)
{
	return (uint32_t)(test_random(&w->seed) % n);
}

static void send_packet(struct line *l, int from, uint8_t flags, struct slice payload, int exchange)
{
	struct world *w = l->w;
	assert_true(array_room(w->items, w->cap, w->count + 1));
	struct item *item = &w->items[w->count++];
	*item = (struct item){.exchange = exchange, .needed = payload.len > 0, .cut = SIZE_MAX, .copies = 1};
	item->payload = malloc(payload.len + 1);
	memcpy(item->payload, payload.data, payload.len);
	w->now_ns += 1000 + below(w, 200000);
	item->order = w->now_ns;
	item->made = (struct made_packet){.link = PACKET_LINK_ETHERNET,
	                                  .from = from ? 2 : 1,
	                                  .to = from ? 1 : 2,
	                                  .from_port = (uint16_t)(from ? 8000 : 40000 + l->number),
	                                  .to_port = (uint16_t)(from ? 40000 + l->number : 8000),
	                                  .seq = l->seq[from],
	                                  .ack = l->seq[!from],
	                                  .flags = flags,
	                                  .payload = {item->payload, payload.len},
	                                  .t_ns = w->now_ns};
	l->seq[from] += (uint32_t)payload.len + (flags & (PACKET_SYN | PACKET_FIN) ? 1 : 0);
}

/* In segments of random lengths; the other side acknowledges some of them. */
static void send_bytes(struct line *l, int from, struct slice bytes, int exchange)
{
	while (bytes.len) {
		size_t len = 1 + below(l->w, 700);
		len = len < bytes.len ? len : bytes.len;
		send_packet(l, from, PACKET_ACK, (struct slice){bytes.data, len}, exchange);
		bytes = (struct slice){bytes.data + len, bytes.len - len};
		if (below(l->w, 2))
			send_packet(l, !from, PACKET_ACK, (struct slice){"", 0}, -1);
	}
}

static void send_request(struct line *l, int exchange)
{
	struct sent *s = &l->w->sent[exchange];
	struct buffer text = {0};
	snprintf(s->body, sizeof s->body, "{\"n\":%d,\"text\":\"%0*d\"}", exchange, (int)below(l->w, 100) + 1, 0);
	if (below(l->w, 2))
		buffer_format(&text, "POST /%d HTTP/1.1\r\nContent-Length: %zu\r\n\r\n%s", exchange, strlen(s->body), s->body);
	else
		buffer_format(&text, "POST /%d HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n%zx\r\n%s\r\n0\r\n\r\n", exchange,
		              strlen(s->body), s->body);
	const size_t first = l->w->count;
	send_bytes(l, 0, buffer_all(&text), exchange);
	s->start_ns = l->w->items[first].made.t_ns;
	for (size_t i = first; i < l->w->count; i++)
		if (l->w->items[i].needed)
			s->sent_ns = l->w->items[i].made.t_ns;
	buffer_release(&text);
}

static void send_answer(struct line *l, int exchange)
{
	struct sent *s = &l->w->sent[exchange];
	struct buffer text = {0};
	const bool chunked = below(l->w, 2);
	const size_t first = l->w->count, events = 1 + below(l->w, 12);
	for (size_t i = 0; i < events; i++)
		s->answer_len += (size_t)snprintf(s->answer + s->answer_len, 200, "data: %d.%zu %0*d\n\n", exchange, i,
		                                  (int)below(l->w, 90) + 1, 0);
	if (chunked)
		buffer_text(&text, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
	else
		buffer_format(&text, "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\n\r\n", s->answer_len);
	send_bytes(l, 1, buffer_all(&text), exchange);
	for (size_t at = 0; at < s->answer_len;) {
		size_t len = 1 + below(l->w, 300);
		len = len < s->answer_len - at ? len : s->answer_len - at;
		buffer_clear(&text);
		if (chunked)
			buffer_format(&text, "%zx\r\n", len);
		buffer_append(&text, s->answer + at, len);
		buffer_text(&text, chunked ? "\r\n" : "");
		at += len;
		if (chunked && at == s->answer_len)
			buffer_text(&text, "0\r\n\r\n");
		send_bytes(l, 1, buffer_all(&text), exchange);
	}
	s->first_byte_ns = l->w->items[first].made.t_ns;
	for (size_t i = first; i < l->w->count; i++)
		if (l->w->items[i].needed)
			s->end_ns = l->w->items[i].made.t_ns;
	buffer_release(&text);
}

static void make_connection(struct world *w, int number)
{
	struct line l = {.w = w, .number = number, .seq = {UINT32_MAX - below(w, 3000), below(w, UINT32_MAX)}};
	w->now_ns = 1000000000 + below(w, 1000000);
	const uint32_t first[2] = {l.seq[0], l.seq[1]};
	l.seq[1] = 0; /* a SYN acknowledges nothing */
	send_packet(&l, 0, PACKET_SYN, (struct slice){"", 0}, -1);
	l.seq[1] = first[1];
	send_packet(&l, 1, PACKET_SYN | PACKET_ACK, (struct slice){"", 0}, -1);
	send_packet(&l, 0, PACKET_ACK, (struct slice){"", 0}, -1);
	for (int i = 0; i < EXCHANGES; i++) {
		send_request(&l, number * EXCHANGES + i);
		send_answer(&l, number * EXCHANGES + i);
	}
	send_packet(&l, 0, PACKET_ACK | PACKET_FIN, (struct slice){"", 0}, -1);
	send_packet(&l, 1, PACKET_ACK | PACKET_FIN, (struct slice){"", 0}, -1);
	send_packet(&l, 0, PACKET_ACK, (struct slice){"", 0}, -1);
}

static int by_order(const void *a, const void *b)
{
	const struct item *x = a, *y = b;
	return (x->order > y->order) - (x->order < y->order);
}

static void make_world(struct world *w, uint64_t seed)
{
	*w = (struct world){.seed = seed, .keeps_times = true};
	for (int i = 0; i < CONNECTIONS; i++)
		make_connection(w, i);
	qsort(w->items, w->count, sizeof *w->items, by_order);
}

static void release_world(struct world *w)
{
	for (size_t i = 0; i < w->count; i++)
		free(w->items[i].payload);
	free(w->items);
}

/* ---- the capture ---- */

static bool same(struct slice a, const char *text, size_t len)
{
	return a.len == len && (len == 0 || memcmp(a.data, text, len) == 0);
}

static struct capture *capture;

static int on_ended(void *data, struct captured *x, struct ipf_error *err)
{
	struct world *w = data;
	(void)err;
	const int number = x->target.len > 1 ? atoi(x->target.data + 1) : -1;
	if (number >= 0 && number < IN_ALL) {
		struct sent *s = &w->sent[number];
		s->seen++;
		if (x->damage == DAMAGE_NONE) {
			s->seen_whole++;
			assert_int_equal(x->error, RECORD_OK);
			assert_int_equal(x->status, 200);
			assert_true(x->asked);
			assert_true(same(buffer_all(&x->request.body), s->body, strlen(s->body)));
			assert_true(same(buffer_all(&x->answer.body), s->answer, s->answer_len));
		}
		if (x->damage == DAMAGE_NONE && w->keeps_times && !s->damaged) {
			assert_int_equal(x->start_ns, s->start_ns);
			assert_int_equal(x->sent_ns, s->sent_ns);
			assert_int_equal(x->first_byte_ns, s->first_byte_ns);
			assert_int_equal(x->end_ns, s->end_ns);
		}
	} else {
		assert_true(x->damage != DAMAGE_NONE);
	}
	captured_free(x, capture_memory(capture));
	return 0;
}

static void run_capture(struct world *w)
{
	const struct capture_options options = {.ended = on_ended, .data = w, .memory = (size_t)64 << 20};
	struct ipf_error err = {0};
	struct buffer bytes = {0};
	capture = capture_new(&options);
	for (size_t i = 0; i < w->count; i++)
		for (int k = 0; k < w->items[i].copies; k++) {
			struct packet packet = make_packet(&w->items[i].made, &bytes);
			const size_t payload = w->items[i].made.payload.len;
			if (w->items[i].cut < payload)
				packet.len -= payload - w->items[i].cut;
			assert_int_equal(capture_packet(capture, PACKET_LINK_ETHERNET, &packet, &err), 0);
		}
	assert_int_equal(capture_end(capture, &err), 0);
	assert_int_equal(capture_memory(capture)->used, 0);
	capture_free(capture);
	buffer_release(&bytes);
}

static void check_world(struct world *w)
{
	for (int i = 0; i < IN_ALL; i++) {
		const struct sent *s = &w->sent[i];
		assert_true(s->seen <= 1);
		if (s->damaged && s->seen_whole)
			print_error("exchange %d is damaged, and was taken for whole\n", i);
		if (!s->damaged && !s->seen_whole)
			print_error("exchange %d is undamaged, and was lost\n", i);
		assert_true(s->damaged ? s->seen_whole == 0 : s->seen_whole == 1);
	}
}

/* ---- damage ---- */

typedef void damage(struct world *w, uint32_t per_mille);

static void nothing(struct world *w, uint32_t per_mille)
{
	(void)w, (void)per_mille;
}

static void remove_some(struct world *w, uint32_t per_mille)
{
	for (size_t i = 0; i < w->count; i++)
		if (below(w, 1000) < per_mille) {
			w->items[i].copies = 0;
			if (w->items[i].needed)
				w->sent[w->items[i].exchange].damaged = true;
		}
}

static void repeat_some(struct world *w, uint32_t per_mille)
{
	for (size_t i = 0; i < w->count; i++)
		w->items[i].copies += below(w, 1000) < per_mille;
}

/* Behind others, as far as a capture of several processors may do so. */
static void move_some(struct world *w, uint32_t per_mille)
{
	for (size_t i = 0; i < w->count; i++)
		if (below(w, 1000) < per_mille)
			w->items[i].order += 100000 + below(w, 3000000);
	qsort(w->items, w->count, sizeof *w->items, by_order);
	w->keeps_times = false;
}

static void cut_some(struct world *w, uint32_t per_mille)
{
	for (size_t i = 0; i < w->count; i++)
		if (below(w, 1000) < per_mille && w->items[i].made.payload.len) {
			w->items[i].cut = below(w, (uint32_t)w->items[i].made.payload.len);
			w->sent[w->items[i].exchange].damaged = true;
		}
}

/* The link's limit on the length of a packet. */
static void cut_all(struct world *w, uint32_t most)
{
	for (size_t i = 0; i < w->count; i++)
		if (w->items[i].made.payload.len > most) {
			w->items[i].cut = most;
			w->sent[w->items[i].exchange].damaged = true;
		}
}

static void all_of_it(struct world *w, uint32_t per_mille)
{
	repeat_some(w, per_mille);
	move_some(w, per_mille);
	for (size_t i = 0; i < w->count; i++)
		if (w->items[i].copies == 1 && below(w, 1000) < per_mille) {
			w->items[i].copies = 0;
			if (w->items[i].needed)
				w->sent[w->items[i].exchange].damaged = true;
		}
}

static void try_damage(const char *name, damage *how, uint32_t amount)
{
	uint64_t seed = test_seed(name);
	const int times = few_or_many(TIMES, 100 * TIMES);
	for (int i = 0; i < times; i++) {
		struct world w;
		make_world(&w, seed + (uint64_t)i);
		how(&w, amount);
		run_capture(&w);
		check_world(&w);
		release_world(&w);
	}
}

static void undamaged_captures_have_all_requests(void **state)
{
	(void)state;
	try_damage("nothing", nothing, 0);
}

static void removed_packets_damage_only_their_requests(void **state)
{
	(void)state;
	try_damage("1 % removed", remove_some, 10);
	try_damage("10 % removed", remove_some, 100);
}

static void repeated_packets_change_nothing(void **state)
{
	(void)state;
	try_damage("1 % repeated", repeat_some, 10);
	try_damage("10 % repeated", repeat_some, 100);
}

static void reordered_packets_damage_nothing(void **state)
{
	(void)state;
	try_damage("1 % moved", move_some, 10);
	try_damage("10 % moved", move_some, 100);
}

static void cut_packets_damage_only_their_requests(void **state)
{
	(void)state;
	try_damage("1 % cut", cut_some, 10);
	try_damage("10 % cut", cut_some, 100);
	try_damage("96 bytes", cut_all, 96 - 54);
	try_damage("512 bytes", cut_all, 512 - 54);
}

static void all_damage_together_damages_only_its_requests(void **state)
{
	(void)state;
	try_damage("1 % of all", all_of_it, 10);
	try_damage("10 % of all", all_of_it, 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(undamaged_captures_have_all_requests),
		cmocka_unit_test(removed_packets_damage_only_their_requests),
		cmocka_unit_test(repeated_packets_change_nothing),
		cmocka_unit_test(reordered_packets_damage_nothing),
		cmocka_unit_test(cut_packets_damage_only_their_requests),
		cmocka_unit_test(all_damage_together_damages_only_its_requests),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
