/* Hostile captures take bounded memory, and each exchange is told once. */
#include "absent.h"
#include "capture/capture.h"
#include "captured_packets.h"

#include "unit.h"

struct seen {
	struct capture *capture;
	int64_t ended, damaged, too_large, failed;
	size_t most_memory;
};

static int on_ended(void *data, struct captured *x, struct ipf_error *err)
{
	struct seen *s = data;
	(void)err;
	s->ended++;
	s->damaged += x->damage != DAMAGE_NONE;
	s->too_large += x->damage == DAMAGE_TOO_LARGE;
	s->failed += x->error != RECORD_OK;
	captured_free(x, capture_memory(s->capture));
	return 0;
}

static void begin(struct seen *s, size_t memory)
{
	const struct capture_options options = {.ended = on_ended, .data = s, .memory = memory};
	*s = (struct seen){.capture = capture_new(&options)};
	assert_non_null(s->capture);
}

static void give(struct seen *s, const struct made_packet *made)
{
	struct ipf_error err = {0};
	struct buffer bytes = {0};
	const struct packet packet = make_packet(made, &bytes);
	assert_int_equal(capture_packet(s->capture, PACKET_LINK_ETHERNET, &packet, &err), 0);
	if (capture_memory(s->capture)->used > s->most_memory)
		s->most_memory = capture_memory(s->capture)->used;
	buffer_release(&bytes);
}

static void end(struct seen *s)
{
	struct ipf_error err = {0};
	assert_int_equal(capture_end(s->capture, &err), 0);
	assert_int_equal(capture_memory(s->capture)->used, 0);
	capture_free(s->capture);
}

static struct made_packet from_client(uint32_t seq, const char *payload, size_t len)
{
	return (struct made_packet){.link = PACKET_LINK_ETHERNET,
	                            .from = 1,
	                            .to = 2,
	                            .from_port = 40000,
	                            .to_port = 8000,
	                            .seq = seq,
	                            .flags = PACKET_ACK,
	                            .payload = {payload, len},
	                            .t_ns = seq};
}

static void half_open_connections_make_room_for_others(void **state)
{
	const int64_t all = 3 * TCP_CONNECTIONS_MOST / 2;
	struct seen s;
	(void)state;
	begin(&s, 1 << 20);
	for (int64_t i = 0; i < all; i++) {
		struct made_packet syn = from_client(1, "", 0);
		syn.flags = PACKET_SYN;
		syn.from = (uint8_t)(i >> 16);
		syn.from_port = (uint16_t)i;
		give(&s, &syn);
	}
	assert_int_equal(capture_tcp_counts(s.capture)->connections, all);
	assert_int_equal(capture_tcp_counts(s.capture)->evicted, all - TCP_CONNECTIONS_MOST);
	end(&s);
	assert_int_equal(s.ended, 0);
}

static void gaps_of_any_size_end(void **state)
{
	static const char request[] = "GET / HTTP/1.1\r\n\r\n";
	static const uint32_t jumps[] = {1, 1000, 1u << 20, 0x3fffffff, 0x40000001, 0x7fffffff, 0x80000001, 0xffffff00};
	(void)state;
	for (size_t i = 0; i < sizeof jumps / sizeof *jumps; i++) {
		struct seen s;
		begin(&s, 1 << 20);
		struct made_packet first = from_client(100, request, 10);
		give(&s, &first);
		struct made_packet second = from_client(110 + jumps[i], request, sizeof request - 1);
		give(&s, &second);
		end(&s);
		assert_true(s.ended >= 1);
		assert_int_equal(s.ended, s.damaged);
	}
}

static void segments_behind_a_gap_are_bounded(void **state)
{
	static char bytes[1000];
	struct seen s;
	(void)state;
	memset(bytes, 'x', sizeof bytes);
	begin(&s, 1 << 20);
	struct made_packet first = from_client(1, "POST / HTTP/1.1\r\nContent-Length: 999999999\r\n\r\n", 46);
	give(&s, &first);
	for (uint32_t i = 0; i < 3 * TCP_WAITING_PIECES; i++) { /* every second segment is missing */
		struct made_packet next = from_client(47 + 1000 + i * 2000, bytes, sizeof bytes);
		give(&s, &next);
	}
	assert_true(capture_tcp_counts(s.capture)->lost_gaps > 1);
	end(&s);
	assert_int_equal(s.ended, 1);
	assert_int_equal(s.damaged, 1);
}

static void floods_of_headers_are_refused(void **state)
{
	struct seen s;
	struct buffer line = {0};
	uint32_t seq = 1;
	(void)state;
	begin(&s, 1 << 20);
	struct made_packet syn = from_client(0, "", 0), first = from_client(seq, "GET / HTTP/1.1\r\n", 16);
	syn.flags = PACKET_SYN;
	give(&s, &syn);
	give(&s, &first);
	seq += 16;
	for (int i = 0; i < 20000; i++) {
		buffer_clear(&line);
		buffer_format(&line, "x-%d: %0900d\r\n", i, 0);
		struct made_packet next = from_client(seq, line.data, line.len);
		give(&s, &next);
		seq += (uint32_t)line.len;
	}
	end(&s);
	assert_int_equal(s.ended, 1);
	assert_int_equal(s.failed, 1);
	buffer_release(&line);
}

static void bodies_beyond_the_memory_are_dropped(void **state)
{
	static char bytes[60000];
	const size_t limit = 1 << 20;
	struct seen s;
	(void)state;
	memset(bytes, 'x', sizeof bytes);
	begin(&s, limit);
	for (int c = 0; c < 8; c++) {
		struct made_packet head = from_client(1, "POST / HTTP/1.1\r\nContent-Length: 999999999\r\n\r\n", 46);
		head.from_port = (uint16_t)(40000 + c);
		give(&s, &head);
		for (uint32_t i = 0; i < 40; i++) {
			struct made_packet next = from_client(47 + i * (uint32_t)sizeof bytes, bytes, sizeof bytes);
			next.from_port = head.from_port;
			give(&s, &next);
		}
	}
	assert_true(s.most_memory < 3 * limit); /* a buffer doubles */
	end(&s);
	assert_int_equal(s.ended, 8);
	assert_int_equal(s.too_large, 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(half_open_connections_make_room_for_others), cmocka_unit_test(gaps_of_any_size_end),
		cmocka_unit_test(segments_behind_a_gap_are_bounded),          cmocka_unit_test(floods_of_headers_are_refused),
		cmocka_unit_test(bodies_beyond_the_memory_are_dropped),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
