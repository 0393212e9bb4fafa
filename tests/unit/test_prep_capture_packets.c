/* Packets of each link type, with tags, extension headers and fragments, to segments of TCP. */
#include "absent.h"
#include "capture/fragments.h"
#include "capture/statistics_blocks.h"
#include "captured_packets.h"

#include "unit.h"

static const struct made_packet plain = {.link = PACKET_LINK_ETHERNET,
                                         .from = 1,
                                         .to = 2,
                                         .from_port = 40000,
                                         .to_port = 8000,
                                         .seq = 7,
                                         .ack = 9,
                                         .flags = PACKET_ACK,
                                         .payload = {"hello", 5},
                                         .t_ns = 77};

static void expect_hello(const struct made_packet *made)
{
	struct packet_layers layers = {.link = made->link};
	struct packet_segment s;
	struct buffer bytes = {0};
	const struct packet packet = make_packet(made, &bytes);
	assert_int_equal(packet_segment(&layers, &packet, &s), PACKET_TCP);
	assert_int_equal(s.len, 5);
	assert_memory_equal(s.payload, "hello", 5);
	assert_int_equal(s.missing, 0);
	assert_int_equal(s.seq, 7);
	assert_int_equal(s.ack, 9);
	assert_int_equal(s.flags, PACKET_ACK);
	assert_int_equal(s.t_ns, 77);
	assert_string_equal(packet_end_name(&s.from).text, made->v6 ? "[::1]:40000" : "10.0.0.1:40000");
	assert_string_equal(packet_end_name(&s.to).text, made->v6 ? "[::2]:8000" : "10.0.0.2:8000");
	packet_layers_release(&layers);
	buffer_release(&bytes);
}

static void each_link_type_is_read(void **state)
{
	static const int links[] = {PACKET_LINK_NULL, PACKET_LINK_ETHERNET, PACKET_LINK_RAW_BSD, PACKET_LINK_RAW_OPENBSD,
	                            PACKET_LINK_RAW,  PACKET_LINK_LOOP,     PACKET_LINK_COOKED,  PACKET_LINK_IPV4,
	                            PACKET_LINK_IPV6, PACKET_LINK_COOKED_2};
	(void)state;
	for (size_t i = 0; i < sizeof links / sizeof *links; i++)
		for (int v6 = 0; v6 < 2; v6++) {
			struct made_packet made = plain;
			made.link = links[i];
			made.v6 = v6;
			assert_true(packet_link_is_known(links[i]));
			expect_hello(&made);
		}
	assert_false(packet_link_is_known(147));
}

static void tags_and_extension_headers_are_passed_over(void **state)
{
	(void)state;
	for (int tags = 0; tags < 4; tags++) {
		struct made_packet made = plain;
		made.vlan_tags = tags;
		expect_hello(&made);
		made.v6 = true;
		made.extensions = tags;
		expect_hello(&made);
		made.zero_length = true;
		made.vlan_tags = 0;
		expect_hello(&made);
		made.v6 = false;
		expect_hello(&made);
	}
}

static void padding_of_the_link_is_no_payload(void **state)
{
	struct packet_layers layers = {.link = PACKET_LINK_ETHERNET};
	struct packet_segment s;
	struct buffer bytes = {0};
	struct made_packet made = plain;
	(void)state;
	made.payload = (struct slice){"", 0};
	make_packet(&made, &bytes);
	buffer_append(&bytes, "\0\0\0\0\0\0", 6);
	const struct packet packet = {(const uint8_t *)bytes.data, bytes.len, bytes.len, 0};
	assert_int_equal(packet_segment(&layers, &packet, &s), PACKET_TCP);
	assert_int_equal(s.len + s.missing, 0);
	buffer_release(&bytes);
}

/* A capture cut at each byte of a packet: what is missing is counted, and nothing is invented. */
static void cut_packets_tell_how_much_is_missing(void **state)
{
	struct packet_segment s;
	struct buffer bytes = {0};
	(void)state;
	for (int v6 = 0; v6 < 2; v6++) {
		struct made_packet made = plain;
		made.v6 = v6;
		struct packet packet = make_packet(&made, &bytes);
		for (size_t cut = 0; cut <= bytes.len; cut++) {
			struct packet_layers layers = {.link = PACKET_LINK_ETHERNET};
			char *copy = malloc(cut + 1); /* exactly as long, so a sanitizer sees who reads past it */
			memcpy(copy, bytes.data, cut);
			packet.bytes = (const uint8_t *)copy;
			packet.len = cut;
			const enum packet_kind kind = packet_segment(&layers, &packet, &s);
			const size_t headers = bytes.len - 5;
			if (kind == PACKET_TCP)
				assert_int_equal(s.len + s.missing, 5);
			assert_int_equal(kind == PACKET_TCP, cut >= headers);
			if (cut >= headers)
				assert_int_equal(s.len, cut - headers);
			packet_layers_release(&layers);
			free(copy);
		}
	}
	buffer_release(&bytes);
}

/* ---- fragments ---- */

static struct fragment part_of(const char *whole, size_t offset, size_t len, bool more)
{
	return (struct fragment){.id = 3,
	                         .protocol = 6,
	                         .is_part = true,
	                         .more = more,
	                         .offset = (uint32_t)offset,
	                         .bytes = (const uint8_t *)whole + offset,
	                         .len = len};
}

static void fragments_in_any_order_make_the_packet(void **state)
{
	static const int orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
	static const char whole[] = "0123456789abcdefghijklm";
	(void)state;
	for (int o = 0; o < 6; o++) {
		struct packet_fragments *waiting = NULL;
		int64_t lost = 0;
		for (int i = 0; i < 3; i++) {
			const int k = orders[o][i];
			struct fragment part = part_of(whole, (size_t)k * 8, k < 2 ? 8 : 7, k < 2), again = part;
			assert_int_equal(fragments_add(&waiting, &part, &lost), i < 2 ? PACKET_FRAGMENT : PACKET_TCP);
			if (i == 2) {
				assert_int_equal(part.len, 23);
				assert_memory_equal(part.bytes, whole, 23);
			}
			assert_int_equal(fragments_add(&waiting, &again, &lost), PACKET_FRAGMENT); /* a duplicate */
		}
		assert_int_equal(lost, 0);
		fragments_free(waiting);
	}
}

static void overlapping_fragments_are_refused(void **state)
{
	static const char whole[] = "0123456789abcdef", other[] = "XXXXXXXXXXXXXXXXXXXXXXXX";
	struct packet_fragments *waiting = NULL;
	int64_t lost = 0;
	struct fragment first = part_of(whole, 0, 16, true), overlap = part_of(other, 8, 16, false);
	(void)state;
	assert_int_equal(fragments_add(&waiting, &first, &lost), PACKET_FRAGMENT);
	assert_int_equal(fragments_add(&waiting, &overlap, &lost), PACKET_BROKEN);
	assert_int_equal(lost, 1);
	fragments_free(waiting);
}

static void many_unfinished_packets_take_bounded_memory(void **state)
{
	static const char whole[] = "0123456789abcdef";
	struct packet_fragments *waiting = NULL;
	int64_t lost = 0;
	(void)state;
	for (uint32_t id = 0; id < 1000; id++) {
		struct fragment part = part_of(whole, 0, 8, true);
		part.id = id;
		part.t_ns = id;
		assert_int_equal(fragments_add(&waiting, &part, &lost), PACKET_FRAGMENT);
	}
	assert_int_equal(lost, 1000 - FRAGMENTS_PACKETS);
	fragments_free(waiting);
}

/* ---- dropped packets of pcapng ---- */

static void put_block(struct buffer *b, uint32_t type, struct slice body, bool big)
{
	const uint32_t words[2] = {type, (uint32_t)(12 + body.len)};
	for (int w = 0; w < 2; w++)
		for (int i = 0; i < 4; i++)
			buffer_byte(b, (char)(words[w] >> (big ? 24 - 8 * i : 8 * i) & 255));
	buffer_slice(b, body);
	for (int i = 0; i < 4; i++)
		buffer_byte(b, (char)(words[1] >> (big ? 24 - 8 * i : 8 * i) & 255));
}

static void put_number(struct buffer *b, uint64_t n, int bytes, bool big)
{
	for (int i = 0; i < bytes; i++)
		buffer_byte(b, (char)(n >> (big ? 8 * (bytes - 1 - i) : 8 * i) & 255));
}

static void put_statistics(struct buffer *to, uint32_t interface, uint64_t dropped, bool big)
{
	struct buffer body = {0};
	put_number(&body, interface, 4, big);
	put_number(&body, 0, 8, big);
	put_number(&body, 4, 2, big); /* received */
	put_number(&body, 8, 2, big);
	put_number(&body, 1000, 8, big);
	put_number(&body, 5, 2, big); /* dropped by the interface */
	put_number(&body, 8, 2, big);
	put_number(&body, dropped, 8, big);
	put_number(&body, 0, 4, big);
	put_block(to, 5, buffer_all(&body), big);
	buffer_release(&body);
}

static void drop_counters_of_all_interfaces_add_up(void **state)
{
	uint64_t seed = test_seed("drop counters");
	(void)state;
	for (int big = 0; big < 2; big++)
		for (size_t piece = 1; piece < 60; piece++) {
			struct buffer file = {0};
			struct statistics_blocks blocks = {0};
			for (int section = 0; section < 2; section++) {
				struct buffer body = {0};
				put_number(&body, 0x1a2b3c4d, 4, big);
				put_number(&body, 1, 2, big);
				put_number(&body, 0, 2, big);
				put_number(&body, UINT64_MAX, 8, big);
				put_block(&file, 0x0a0d0d0a, buffer_all(&body), big);
				put_block(&file, 6, (struct slice){"0123456789abcdef0123456789abcdef", 32}, big);
				put_statistics(&file, 0, 1 + test_random(&seed) % 100, big); /* replaced by the next one */
				put_statistics(&file, 0, 5, big);
				put_statistics(&file, 1, 7, big);
				buffer_release(&body);
			}
			for (size_t at = 0; at < file.len; at += piece)
				statistics_blocks_bytes(&blocks, file.data + at, piece < file.len - at ? piece : file.len - at);
			assert_int_equal(statistics_blocks_dropped(&blocks), 24);
			buffer_release(&file);
		}
}

static void other_files_have_no_drop_counters(void **state)
{
	struct statistics_blocks blocks = {0};
	(void)state;
	statistics_blocks_bytes(&blocks, "\xd4\xc3\xb2\xa1 not pcapng at all, whatever follows", 40);
	assert_true(statistics_blocks_dropped(&blocks) == IPF_ABSENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_link_type_is_read),
		cmocka_unit_test(tags_and_extension_headers_are_passed_over),
		cmocka_unit_test(padding_of_the_link_is_no_payload),
		cmocka_unit_test(cut_packets_tell_how_much_is_missing),
		cmocka_unit_test(fragments_in_any_order_make_the_packet),
		cmocka_unit_test(overlapping_fragments_are_refused),
		cmocka_unit_test(many_unfinished_packets_take_bounded_memory),
		cmocka_unit_test(drop_counters_of_all_interfaces_add_up),
		cmocka_unit_test(other_files_have_no_drop_counters),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
