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

/* ---- headers ---- */

/* Where the headers of a packet of IPv4 or IPv6 on Ethernet are. */
enum { IP = 14, TCP_OF_4 = IP + 20, TCP_OF_6 = IP + 40 };

/* A packet to be changed byte by byte. */
struct edited {
	struct packet_layers layers;
	struct packet_segment segment;
	struct buffer bytes;
	size_t wire; /* further bytes on the wire */
};

static struct edited packet_with(bool v6, const char *payload)
{
	struct edited e = {.layers = {.link = PACKET_LINK_ETHERNET}};
	struct made_packet made = plain;
	made.v6 = v6;
	made.payload = slice_of(payload);
	make_packet(&made, &e.bytes);
	return e;
}

static void set(struct edited *e, size_t at, unsigned value)
{
	e->bytes.data[at] = (char)value;
}

/* The kind, from memory exactly as long as the packet. */
static enum packet_kind read_edited(struct edited *e)
{
	char *copy = malloc(e->bytes.len);
	memcpy(copy, e->bytes.data, e->bytes.len);
	const struct packet packet = {(const uint8_t *)copy, e->bytes.len, e->bytes.len + e->wire, 0};
	const enum packet_kind kind = packet_segment(&e->layers, &packet, &e->segment);
	free(copy);
	return kind;
}

static void release_edited(struct edited *e)
{
	packet_layers_release(&e->layers);
	buffer_release(&e->bytes);
}

static void options_of_tcp_are_no_payload(void **state)
{
	(void)state;
	for (unsigned words = 0; words < 16; words++) {
		struct edited e = packet_with(false, "0123456789012345678901234567890123456789");
		set(&e, TCP_OF_4 + 12, words << 4);
		assert_int_equal(read_edited(&e), words < 5 ? PACKET_BROKEN : PACKET_TCP);
		if (words >= 5)
			assert_int_equal(e.segment.len, 40 - (words - 5) * 4);
		assert_true(words < 15 || !e.segment.payload);
		release_edited(&e);
	}
	struct edited e = packet_with(false, "12345678");
	set(&e, TCP_OF_4 + 12, 8 << 4); /* longer than the packet */
	assert_int_equal(read_edited(&e), PACKET_BROKEN);
	set(&e, IP + 3, 20 + 32 + 7); /* than the captured part: seven bytes of payload are missing */
	e.wire = 32 + 7 - 28;
	assert_int_equal(read_edited(&e), PACKET_TCP);
	assert_int_equal(e.segment.len, 0);
	assert_int_equal(e.segment.missing, 7);
	release_edited(&e);
}

static void flags_of_a_connection_are_kept(void **state)
{
	(void)state;
	struct edited e = packet_with(false, "x");
	for (unsigned flags = 0; flags < 256; flags++) {
		set(&e, TCP_OF_4 + 13, flags);
		assert_int_equal(read_edited(&e), PACKET_TCP);
		assert_int_equal(e.segment.flags, flags & (PACKET_FIN | PACKET_SYN | PACKET_RST | PACKET_ACK));
	}
	release_edited(&e);
}

static void numbers_have_all_their_bytes(void **state)
{
	(void)state;
	struct edited e = packet_with(false, "x");
	for (unsigned i = 0; i < 12; i++)
		set(&e, TCP_OF_4 + i, 0x81 + i);
	assert_int_equal(read_edited(&e), PACKET_TCP);
	assert_int_equal(e.segment.from.port, 0x8182);
	assert_int_equal(e.segment.to.port, 0x8384);
	assert_int_equal(e.segment.seq, 0x85868788);
	assert_int_equal(e.segment.ack, 0x898a8b8c);
	release_edited(&e);
}

static void lengths_of_ipv4_must_fit(void **state)
{
	static const struct {
		unsigned version, words, total;
		size_t wire;
		enum packet_kind kind;
		size_t len, missing;
	} cases[] = {
		{4, 5, 48, 0, PACKET_TCP, 8, 0},    {4, 5, 45, 0, PACKET_TCP, 5, 0},    /* then padding */
		{4, 5, 40, 0, PACKET_TCP, 0, 0},    {4, 5, 39, 0, PACKET_BROKEN, 0, 0}, /* no room for TCP */
		{4, 5, 20, 0, PACKET_BROKEN, 0, 0}, {4, 5, 19, 0, PACKET_BROKEN, 0, 0}, {4, 5, 49, 0, PACKET_BROKEN, 0, 0},
		{4, 5, 49, 1, PACKET_TCP, 8, 1},    {4, 5, 48, 9, PACKET_TCP, 8, 0},    {4, 5, 0, 0, PACKET_TCP, 8, 0},
		{4, 5, 0, 3, PACKET_TCP, 8, 3},     {4, 4, 48, 0, PACKET_BROKEN, 0, 0}, {4, 15, 48, 0, PACKET_BROKEN, 0, 0},
		{6, 5, 48, 0, PACKET_BROKEN, 0, 0},
	};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct edited e = packet_with(false, "12345678");
		set(&e, IP, cases[i].version << 4 | cases[i].words);
		set(&e, IP + 3, cases[i].total);
		e.wire = cases[i].wire;
		if (read_edited(&e) != cases[i].kind)
			fail_msg("case %zu: not of kind %d", i, cases[i].kind);
		if (cases[i].kind == PACKET_TCP) {
			assert_int_equal(e.segment.len, cases[i].len);
			assert_int_equal(e.segment.missing, cases[i].missing);
		}
		release_edited(&e);
	}
	/* with options: the four bytes after the header are one, so TCP begins later */
	struct edited e = packet_with(false, "12345678");
	struct buffer longer = {0};
	buffer_append(&longer, e.bytes.data, TCP_OF_4);
	buffer_append(&longer, "\1\1\1", 4);
	buffer_append(&longer, e.bytes.data + TCP_OF_4, e.bytes.len - TCP_OF_4);
	buffer_release(&e.bytes);
	e.bytes = longer;
	set(&e, IP, 0x46);
	set(&e, IP + 3, 52);
	assert_int_equal(read_edited(&e), PACKET_TCP);
	assert_int_equal(e.segment.len, 8);
	set(&e, IP + 9, 17); /* UDP */
	assert_int_equal(read_edited(&e), PACKET_OTHER);
	release_edited(&e);
}

static void fragments_of_ipv4_are_put_together(void **state)
{
	(void)state;
	struct edited e = packet_with(false, "12345678");
	set(&e, IP + 6, 0x20); /* more follow */
	set(&e, IP + 3, 44);
	e.bytes.len -= 4; /* 24 bytes of TCP */
	assert_int_equal(read_edited(&e), PACKET_FRAGMENT);
	set(&e, IP + 6, 0);
	set(&e, IP + 7, 3); /* at byte 24 */
	assert_int_equal(read_edited(&e), PACKET_TCP);
	assert_int_equal(e.segment.len, 28);
	assert_int_equal(e.segment.seq, 7);
	assert_int_equal(e.layers.lost_fragments, 0);
	/* a cut part, and one of another protocol */
	set(&e, IP + 5, 9);
	set(&e, IP + 3, 45);
	e.wire = 1;
	assert_int_equal(read_edited(&e), PACKET_BROKEN);
	assert_int_equal(e.layers.lost_fragments, 1);
	e.wire = 0;
	set(&e, IP + 3, 44);
	set(&e, IP + 9, 17);
	assert_int_equal(read_edited(&e), PACKET_FRAGMENT);
	set(&e, IP + 6, 0x20);
	set(&e, IP + 7, 0);
	assert_int_equal(read_edited(&e), PACKET_OTHER);
	set(&e, IP + 6, 0x40); /* must not be fragmented */
	set(&e, IP + 9, 6);
	assert_int_equal(read_edited(&e), PACKET_TCP);
	release_edited(&e);
}

static void lengths_of_ipv6_must_fit(void **state)
{
	static const struct {
		unsigned version, payload;
		size_t wire;
		enum packet_kind kind;
		size_t len, missing;
	} cases[] = {
		{6, 28, 0, PACKET_TCP, 8, 0},   {6, 25, 0, PACKET_TCP, 5, 0},    {6, 20, 0, PACKET_TCP, 0, 0},
		{6, 1, 0, PACKET_BROKEN, 0, 0}, {6, 29, 0, PACKET_BROKEN, 0, 0}, {6, 29, 1, PACKET_TCP, 8, 1},
		{6, 0, 2, PACKET_TCP, 8, 2},    {4, 28, 0, PACKET_BROKEN, 0, 0},
	};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct edited e = packet_with(true, "12345678");
		set(&e, IP, cases[i].version << 4);
		set(&e, IP + 5, cases[i].payload);
		e.wire = cases[i].wire;
		if (read_edited(&e) != cases[i].kind)
			fail_msg("case %zu: not of kind %d", i, cases[i].kind);
		if (cases[i].kind == PACKET_TCP) {
			assert_int_equal(e.segment.len, cases[i].len);
			assert_int_equal(e.segment.missing, cases[i].missing);
		}
		release_edited(&e);
	}
}

/* `count` extension headers of this type before TCP, the first of which has `more` units beyond its least length. */
static struct edited with_extensions(unsigned type, int count, size_t more, size_t unit)
{
	struct edited e = packet_with(true, "12345678");
	struct buffer bytes = {0};
	buffer_append(&bytes, e.bytes.data, TCP_OF_6);
	for (int i = 0; i < count; i++) {
		const size_t units = i == 0 ? more : 0;
		buffer_byte(&bytes, (char)(i + 1 < count ? type : 6));
		buffer_byte(&bytes, (char)units);
		for (size_t k = 2; k < 8 + units * unit; k++)
			buffer_byte(&bytes, 0);
	}
	const size_t added = bytes.len - TCP_OF_6;
	buffer_append(&bytes, e.bytes.data + TCP_OF_6, e.bytes.len - TCP_OF_6);
	buffer_release(&e.bytes);
	e.bytes = bytes;
	set(&e, IP + 4, (unsigned)(28 + added) >> 8);
	set(&e, IP + 5, (unsigned)(28 + added) & 255);
	set(&e, IP + 6, type);
	return e;
}

static void extension_headers_have_their_lengths(void **state)
{
	static const struct {
		unsigned type;
		size_t unit; /* 0: it is no such header */
	} types[] = {{0, 8}, {43, 8}, {60, 8}, {135, 8}, {139, 8}, {140, 8}, {51, 4}, {59, 0}, {50, 0}, {17, 0}};
	(void)state;
	for (size_t i = 0; i < sizeof types / sizeof *types; i++)
		for (size_t more = 0; more < 3; more++) {
			struct edited e = with_extensions(types[i].type, 2, more, types[i].unit);
			assert_int_equal(read_edited(&e), types[i].unit ? PACKET_TCP : PACKET_OTHER);
			if (types[i].unit)
				assert_int_equal(e.segment.len, 8);
			e.bytes.len = TCP_OF_6 + 7; /* cut within the header */
			e.wire = 200;
			assert_int_equal(read_edited(&e), PACKET_OTHER);
			e.bytes.len = TCP_OF_6 + 8; /* after the first one: there may be TCP, or another one */
			set(&e, TCP_OF_6, 6);
			assert_int_equal(read_edited(&e), types[i].unit && !more ? PACKET_BROKEN : PACKET_OTHER);
			release_edited(&e);
		}
	for (int count = 15; count < 18; count++) {
		struct edited e = with_extensions(60, count, 0, 8);
		assert_int_equal(read_edited(&e), count <= 16 ? PACKET_TCP : PACKET_OTHER);
		release_edited(&e);
	}
}

/* The captured part of the header, 40 bytes of 88, could be a header of TCP. */
static void a_cut_extension_header_is_no_header_of_tcp(void **state)
{
	(void)state;
	static const unsigned types[] = {0, 51};
	for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
		struct edited e = with_extensions(types[i], 1, 10, 8);
		set(&e, TCP_OF_6 + 12, 0x50);
		set(&e, TCP_OF_6 + 1, types[i] ? 20 : 10);
		assert_int_equal(read_edited(&e), PACKET_TCP);
		assert_int_equal(e.segment.len, 8);
		e.wire = e.bytes.len - TCP_OF_6 - 40;
		e.bytes.len = TCP_OF_6 + 40;
		assert_int_equal(read_edited(&e), PACKET_OTHER);
		release_edited(&e);
	}
}

static void fragments_of_ipv6_are_put_together(void **state)
{
	(void)state;
	struct edited whole = with_extensions(44, 1, 0, 8); /* the only part */
	assert_int_equal(read_edited(&whole), PACKET_TCP);
	assert_int_equal(whole.segment.len, 8);
	release_edited(&whole);
	struct edited e = with_extensions(44, 1, 0, 8);
	e.bytes.len -= 4;
	set(&e, IP + 5, 32);
	set(&e, TCP_OF_6 + 3, 1);
	assert_int_equal(read_edited(&e), PACKET_FRAGMENT);
	set(&e, TCP_OF_6 + 3, 24 | 6); /* the lowest bits are no part of the offset */
	set(&e, TCP_OF_6 + 7, 1);      /* another packet's number */
	assert_int_equal(read_edited(&e), PACKET_FRAGMENT);
	set(&e, TCP_OF_6 + 7, 0);
	assert_int_equal(read_edited(&e), PACKET_TCP);
	assert_int_equal(e.segment.len, 28);
	release_edited(&e);
}

static void links_have_so_many_tags(void **state)
{
	(void)state;
	for (int tags = 4; tags < 6; tags++) {
		struct edited e = {.layers = {.link = PACKET_LINK_ETHERNET}};
		struct made_packet made = plain;
		made.vlan_tags = tags;
		make_packet(&made, &e.bytes);
		set(&e, 12, 0x91); /* an older number of the outer one */
		set(&e, 13, 0);
		assert_int_equal(read_edited(&e), tags == 4 ? PACKET_TCP : PACKET_OTHER);
		e.bytes.len = 14 + 7; /* cut within the second tag */
		assert_int_equal(read_edited(&e), PACKET_BROKEN);
		e.bytes.len = 14 + 4; /* behind the first one, of ARP */
		set(&e, 14 + 2, 8);
		set(&e, 14 + 3, 6);
		assert_int_equal(read_edited(&e), PACKET_OTHER);
		release_edited(&e);
	}
	struct edited e = packet_with(false, "x");
	set(&e, 13, 6); /* ARP */
	assert_int_equal(read_edited(&e), PACKET_OTHER);
	e.layers.link = PACKET_LINK_RAW; /* zeros are no IP */
	assert_int_equal(read_edited(&e), PACKET_OTHER);
	e.bytes.len = 0;
	assert_int_equal(read_edited(&e), PACKET_BROKEN);
	release_edited(&e);
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

/* A packet of 400 parts of eight bytes and one of five, in an order that visits each. */
static void many_fragments_make_a_packet(void **state)
{
	enum { PARTS = 401 };
	static char whole[8 * PARTS - 3];
	struct packet_fragments *waiting = NULL;
	int64_t lost = 0;
	(void)state;
	for (size_t i = 0; i < sizeof whole; i++)
		whole[i] = (char)(i * i % 251);
	for (size_t i = 0; i < PARTS; i++) {
		const size_t k = i * 150 % PARTS;
		struct fragment part = part_of(whole, 8 * k, k + 1 < PARTS ? 8 : 5, k + 1 < PARTS), again = part;
		assert_int_equal(fragments_add(&waiting, &part, &lost), i + 1 < PARTS ? PACKET_FRAGMENT : PACKET_TCP);
		if (i + 1 == PARTS) {
			assert_int_equal(part.len, sizeof whole);
			assert_memory_equal(part.bytes, whole, sizeof whole);
		}
		assert_int_equal(fragments_add(&waiting, &again, &lost), PACKET_FRAGMENT);
	}
	assert_int_equal(lost, 0);
	fragments_free(waiting);
}

/* Parts of 0123456789abcdef…, and the kind of the last one; a letter in `other` is another content. */
static void parts_that_contradict_each_other_are_refused(void **state)
{
	static const struct {
		struct {
			size_t offset, len;
			bool more, other;
		} parts[3];
		enum packet_kind last;
	} cases[] = {
		{{{0, 0, true, false}}, PACKET_BROKEN},
		{{{0, 7, true, false}}, PACKET_BROKEN}, /* only the last one may have any length */
		{{{8, 7, false, false}}, PACKET_FRAGMENT},
		{{{65528, 8, false, false}}, PACKET_FRAGMENT},
		{{{65528, 9, false, false}}, PACKET_BROKEN},
		{{{65528, 16, true, false}}, PACKET_BROKEN},
		{{{0, 16, true, false}, {0, 16, true, false}}, PACKET_FRAGMENT},
		{{{0, 16, true, false}, {0, 16, true, true}}, PACKET_BROKEN},
		{{{0, 16, true, false}, {8, 8, true, false}}, PACKET_FRAGMENT},
		{{{0, 16, true, false}, {8, 16, true, false}}, PACKET_BROKEN},
		{{{8, 8, true, false}, {0, 16, true, false}}, PACKET_BROKEN},
		/* beyond the end */
		{{{8, 8, false, false}, {16, 8, true, false}}, PACKET_BROKEN},
		{{{16, 8, true, false}, {8, 8, false, false}}, PACKET_BROKEN},
		{{{520, 8, true, false}, {8, 8, false, false}}, PACKET_BROKEN},
		/* two ends */
		{{{8, 8, false, false}, {16, 8, false, false}}, PACKET_BROKEN},
		{{{16, 8, false, false}, {8, 8, false, false}}, PACKET_BROKEN},
		{{{16, 8, false, false}, {16, 8, false, false}}, PACKET_FRAGMENT},
		{{{16, 8, false, false}, {0, 8, true, false}, {8, 8, true, false}}, PACKET_TCP},
		{{{8, 5, false, false}, {0, 8, true, false}}, PACKET_TCP},
		{{{0, 9, false, false}}, PACKET_TCP},
	};
	static char whole[65600], other[65600];
	(void)state;
	memset(other, 'X', sizeof other);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct packet_fragments *waiting = NULL;
		enum packet_kind kind = PACKET_FRAGMENT;
		int64_t lost = 0;
		for (size_t k = 0; k < 3 && (k == 0 || cases[i].parts[k].len); k++) {
			assert_int_equal(kind, PACKET_FRAGMENT);
			struct fragment part = part_of(cases[i].parts[k].other ? other : whole, cases[i].parts[k].offset,
			                               cases[i].parts[k].len, cases[i].parts[k].more);
			kind = fragments_add(&waiting, &part, &lost);
		}
		if (kind != cases[i].last || lost != (kind == PACKET_BROKEN))
			fail_msg("case %zu: kind %d, %lld lost", i, kind, (long long)lost);
		if (kind == PACKET_BROKEN) { /* it may begin anew */
			struct fragment first = part_of(whole, 0, 8, true), last = part_of(whole, 8, 8, false);
			assert_int_equal(fragments_add(&waiting, &first, &lost), PACKET_FRAGMENT);
			assert_int_equal(fragments_add(&waiting, &last, &lost), PACKET_TCP);
			assert_int_equal(last.len, 16);
		}
		fragments_free(waiting);
	}
}

static void fragments_of_different_packets_are_not_mixed(void **state)
{
	static const char whole[] = "0123456789abcdef";
	(void)state;
	for (int differs = 0; differs < 7; differs++) {
		struct packet_fragments *waiting = NULL;
		int64_t lost = 0;
		struct fragment first = part_of(whole, 0, 8, true), last = part_of(whole, 8, 8, false);
		last.id += differs == 1;
		last.protocol = differs == 2 ? 17 : 6;
		last.from[15] = differs == 3;
		last.to[0] = differs == 4;
		last.t_ns = differs == 5 ? FRAGMENTS_WAIT_NS : differs == 6 ? FRAGMENTS_WAIT_NS - 1 : 0;
		const bool same = differs == 0 || differs == 6;
		assert_int_equal(fragments_add(&waiting, &first, &lost), PACKET_FRAGMENT);
		assert_int_equal(fragments_add(&waiting, &last, &lost), same ? PACKET_TCP : PACKET_FRAGMENT);
		assert_int_equal(lost, 0);
		fragments_free(waiting);
	}
}

/* All places are taken, by packets in this order of time; a further one takes that of the oldest. */
static void the_oldest_packet_makes_room(void **state)
{
	static const char whole[] = "0123456789abcdef";
	struct packet_fragments *waiting = NULL;
	int64_t lost = 0;
	(void)state;
	for (uint32_t id = 0; id <= FRAGMENTS_PACKETS; id++) {
		struct fragment part = part_of(whole, 0, 8, true);
		part.id = id;
		part.t_ns = id == FRAGMENTS_PACKETS ? 500 : id == 40 ? 1 : 100 + id;
		assert_int_equal(fragments_add(&waiting, &part, &lost), PACKET_FRAGMENT);
	}
	assert_int_equal(lost, 1);
	for (uint32_t id = 0; id <= FRAGMENTS_PACKETS; id++) {
		struct fragment part = part_of(whole, 8, 8, false);
		part.id = id;
		part.t_ns = 600;
		if (id != 40)
			assert_int_equal(fragments_add(&waiting, &part, &lost), PACKET_TCP);
	}
	for (uint32_t id = 100; id < 110; id++) { /* those that are complete are no loss */
		struct fragment part = part_of(whole, 0, 8, true);
		part.id = id;
		part.t_ns = 700;
		assert_int_equal(fragments_add(&waiting, &part, &lost), PACKET_FRAGMENT);
	}
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
		cmocka_unit_test(options_of_tcp_are_no_payload),
		cmocka_unit_test(flags_of_a_connection_are_kept),
		cmocka_unit_test(numbers_have_all_their_bytes),
		cmocka_unit_test(lengths_of_ipv4_must_fit),
		cmocka_unit_test(fragments_of_ipv4_are_put_together),
		cmocka_unit_test(lengths_of_ipv6_must_fit),
		cmocka_unit_test(extension_headers_have_their_lengths),
		cmocka_unit_test(a_cut_extension_header_is_no_header_of_tcp),
		cmocka_unit_test(fragments_of_ipv6_are_put_together),
		cmocka_unit_test(links_have_so_many_tags),
		cmocka_unit_test(many_fragments_make_a_packet),
		cmocka_unit_test(parts_that_contradict_each_other_are_refused),
		cmocka_unit_test(fragments_of_different_packets_are_not_mixed),
		cmocka_unit_test(the_oldest_packet_makes_room),
		cmocka_unit_test(many_unfinished_packets_take_bounded_memory),
		cmocka_unit_test(drop_counters_of_all_interfaces_add_up),
		cmocka_unit_test(other_files_have_no_drop_counters),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
