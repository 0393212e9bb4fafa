/* Captured HTTP/2 of scripted frames: ends of streams and connections, upgrades, and connections of which a part is
 * missing. */
#include "absent.h"
#include "capture/capture.h"
#include "captured_packets.h"

#include "unit.h"

#define PREFACE "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
#define REQUEST                                                                                                        \
	"\x83\x86\x04\x03/v1\x40\x03x-a\x01"                                                                               \
	"b"                                                               /* enters an entry of the table */
#define AGAIN                               "\x83\x86\x04\x03/v2\xbe" /* refers to it */
#define RESPONSE                            "\x88\x40\x03x-r\x01s"
#define FRAME(type, flags, stream, payload) frame(type, flags, stream, payload, sizeof payload - 1)

enum { DATA, HEADERS, RST = 3, SETTINGS = 4, GOAWAY = 7, WINDOW = 8, END = 1, HEADS = 4, MOST = 8 };

static struct {
	struct capture *capture;
	struct buffer frames, packet;
	uint32_t seq[2];
	int64_t now_ns;
	struct captured *told[MOST];
	size_t count;
} my;

static int on_ended(void *data, struct captured *x, struct ipf_error *err)
{
	(void)data, (void)err;
	assert_true(my.count < MOST);
	my.told[my.count++] = x;
	return 0;
}

static void frame(int type, int flags, int stream, const char *payload, size_t len)
{
	buffer_byte(&my.frames, 0);
	put16(&my.frames, (unsigned)len);
	buffer_byte(&my.frames, (char)type);
	buffer_byte(&my.frames, (char)flags);
	put32(&my.frames, (uint32_t)stream);
	buffer_append(&my.frames, payload, len);
}

/* A packet, which the capture may lack. */
static void give(int from, uint8_t flags, struct slice payload, bool lacking)
{
	struct ipf_error err = {0};
	const struct made_packet made = {.link = PACKET_LINK_ETHERNET,
	                                 .from = from ? 2 : 1,
	                                 .to = from ? 1 : 2,
	                                 .from_port = from ? 8000 : 40000,
	                                 .to_port = from ? 40000 : 8000,
	                                 .seq = my.seq[from],
	                                 .ack = flags == PACKET_SYN ? 0 : my.seq[!from],
	                                 .flags = flags,
	                                 .payload = payload,
	                                 .t_ns = my.now_ns += 1000};
	const struct packet packet = make_packet(&made, &my.packet);
	my.seq[from] += (uint32_t)payload.len + (flags & (PACKET_SYN | PACKET_FIN) ? 1 : 0);
	if (!lacking)
		assert_int_equal(capture_packet(my.capture, PACKET_LINK_ETHERNET, &packet, &err), 0);
}

/* The frames made so far. */
static void send_frames(int from)
{
	give(from, PACKET_ACK, buffer_all(&my.frames), false);
	buffer_clear(&my.frames);
}

static void send_text(int from, const char *text)
{
	give(from, PACKET_ACK, slice_of(text), false);
}

static void begin(bool from_start)
{
	static const struct capture_options options = {.ended = on_ended, .memory = 1 << 20};
	memset(&my, 0, sizeof my);
	my.capture = capture_new(&options);
	my.now_ns = 1000000;
	give(0, PACKET_SYN, (struct slice){"", 0}, !from_start);
	give(1, PACKET_SYN | PACKET_ACK, (struct slice){"", 0}, !from_start);
	give(0, PACKET_ACK, (struct slice){"", 0}, !from_start);
}

static void greet(void)
{
	buffer_text(&my.frames, PREFACE);
	FRAME(SETTINGS, 0, 0, "");
	send_frames(0);
	FRAME(SETTINGS, 0, 0, "");
	send_frames(1);
}

static void ask(int stream)
{
	if (stream == 1)
		FRAME(HEADERS, END | HEADS, 1, REQUEST);
	else
		FRAME(HEADERS, END | HEADS, stream, AGAIN);
	send_frames(0);
}

static void finish(int from)
{
	give(from, PACKET_ACK | PACKET_FIN, (struct slice){"", 0}, false);
	give(!from, PACKET_ACK, (struct slice){"", 0}, false);
}

static const struct capture_counts *end(void)
{
	struct ipf_error err = {0};
	assert_int_equal(capture_end(my.capture, &err), 0);
	return capture_counts(my.capture);
}

static int release(void **state)
{
	(void)state;
	for (size_t i = 0; i < my.count; i++)
		captured_free(my.told[i], capture_memory(my.capture));
	const bool freed = !my.capture || capture_memory(my.capture)->used == 0;
	capture_free(my.capture);
	buffer_release(&my.frames);
	buffer_release(&my.packet);
	memset(&my, 0, sizeof my);
	return freed ? 0 : -1;
}

static void expect(size_t i, int stream, enum record_error error, enum capture_damage damage)
{
	assert_true(i < my.count);
	assert_int_equal(my.told[i]->stream, stream);
	assert_int_equal(my.told[i]->error, error);
	assert_int_equal(my.told[i]->damage, damage);
}

static void expect_target(size_t i, const char *target)
{
	assert_true(slice_is(buffer_all(&my.told[i]->target), target));
}

/* ---- ends ---- */

static void goaway_ends_the_requests_beyond_the_last_one(void **state)
{
	(void)state;
	begin(true);
	greet();
	ask(1);
	ask(3);
	FRAME(GOAWAY, 0, 0, "\0\0\0\x01\0\0\0\0");
	FRAME(HEADERS, END | HEADS, 1, RESPONSE);
	send_frames(1);
	assert_int_equal(end()->exchanges, 2);
	expect(0, 3, RECORD_RESET, DAMAGE_NONE);
	expect(1, 1, RECORD_OK, DAMAGE_NONE);
	expect_target(1, "/v1");
	expect_target(0, "/v2");
}

static void resets_have_the_name_of_their_code(void **state)
{
	(void)state;
	begin(true);
	greet();
	ask(1);
	ask(3);
	FRAME(RST, 0, 1, "\0\0\0\x07");
	FRAME(RST, 0, 3, "\0\0\0\x7f");
	send_frames(1);
	end();
	expect(0, 1, RECORD_RESET, DAMAGE_NONE);
	assert_string_equal(my.told[0]->why, "the server reset the stream: REFUSED_STREAM");
	assert_string_equal(my.told[1]->why, "the server reset the stream: unknown error");
	assert_int_equal(my.told[1]->stream_error, 0x7f);
}

static void a_reset_after_the_answer_changes_nothing(void **state)
{
	(void)state;
	begin(true);
	greet();
	FRAME(HEADERS, HEADS, 1, REQUEST); /* the request goes on */
	send_frames(0);
	FRAME(HEADERS, HEADS, 1, RESPONSE);
	FRAME(DATA, END, 1, "early");
	FRAME(RST, 0, 1, "\0\0\0\0");
	send_frames(1);
	FRAME(DATA, END, 1, "late");
	send_frames(0);
	assert_int_equal(end()->exchanges, 1);
	expect(0, 1, RECORD_OK, DAMAGE_NONE);
	assert_false(my.told[0]->asked);
	assert_int_equal(my.told[0]->sent_ns, IPF_ABSENT);
}

static void a_closed_connection_ends_its_streams(void **state)
{
	(void)state;
	for (int from = 0; from < 2; from++) {
		begin(true);
		greet();
		ask(1);
		ask(3);
		FRAME(HEADERS, HEADS, 1, RESPONSE);
		send_frames(1);
		finish(from);
		const int64_t left_ns = my.now_ns - 1000;
		finish(!from);
		end();
		expect(0, 1, from ? RECORD_CUT : RECORD_HUNG_UP, DAMAGE_NONE);
		expect(1, 3, from ? RECORD_RESET : RECORD_HUNG_UP, DAMAGE_NONE);
		assert_true(from || my.told[0]->end_ns == left_ns);
		release(state);
	}
}

static void streams_that_are_open_at_the_end_are_damaged(void **state)
{
	(void)state;
	begin(true);
	greet();
	ask(1);
	assert_int_equal(end()->damaged[DAMAGE_OPEN], 1);
	expect(0, 1, RECORD_OK, DAMAGE_OPEN);
}

static void an_end_without_headers_is_an_error(void **state)
{
	(void)state;
	begin(true);
	greet();
	ask(1);
	FRAME(DATA, END, 1, "body");
	send_frames(1);
	end();
	expect(0, 1, RECORD_PROTOCOL, DAMAGE_NONE);
}

static void frames_that_break_the_rules_end_the_reading(void **state)
{
	(void)state;
	begin(true);
	greet();
	ask(1);
	FRAME(WINDOW, 0, 0, "12345");
	send_frames(1);
	assert_int_equal(end()->connections[CAPTURE_HTTP2], 1);
	expect(0, 1, RECORD_PROTOCOL, DAMAGE_NONE);
}

/* ---- beginnings ---- */

static void a_server_may_begin(void **state)
{
	(void)state;
	begin(true);
	FRAME(SETTINGS, 0, 0, "");
	give(1, PACKET_ACK, (struct slice){my.frames.data, 4}, false);
	give(1, PACKET_ACK, (struct slice){my.frames.data + 4, 5}, false);
	buffer_clear(&my.frames);
	buffer_text(&my.frames, PREFACE);
	FRAME(SETTINGS, 0, 0, "");
	ask(1);
	FRAME(HEADERS, END | HEADS, 1, RESPONSE);
	send_frames(1);
	assert_int_equal(end()->connections[CAPTURE_HTTP2], 1);
	expect(0, 1, RECORD_OK, DAMAGE_NONE);
}

#define UPGRADE(to) "POST /v1 HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: " to "\r\nContent-Length: 2\r\n\r\n{}"
#define SWITCH(to)  "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: " to "\r\n\r\n"

static void an_upgrade_to_h2c_goes_on_as_stream_1(void **state)
{
	(void)state;
	begin(true);
	send_text(0, UPGRADE("h2c"));
	buffer_text(&my.frames, SWITCH("h2c"));
	FRAME(SETTINGS, 0, 0, "");
	FRAME(HEADERS, HEADS, 1, RESPONSE);
	send_frames(1);
	buffer_text(&my.frames, PREFACE);
	FRAME(SETTINGS, 0, 0, "");
	FRAME(HEADERS, END | HEADS, 3, REQUEST);
	send_frames(0);
	FRAME(DATA, END, 1, "one");
	FRAME(HEADERS, END | HEADS, 3, RESPONSE);
	send_frames(1);
	assert_int_equal(end()->connections[CAPTURE_HTTP2], 1);
	assert_int_equal(my.count, 2);
	expect(0, 1, RECORD_OK, DAMAGE_NONE);
	expect(1, 3, RECORD_OK, DAMAGE_NONE);
	assert_true(my.told[0]->asked);
	assert_int_equal(my.told[0]->status, 200);
	assert_true(slice_is(buffer_all(&my.told[0]->request.body), "{}"));
	assert_true(slice_is(buffer_all(&my.told[0]->answer.body), "one"));
	assert_true(my.told[1]->reused && !my.told[0]->reused);
}

static void another_upgrade_ends_the_reading(void **state)
{
	(void)state;
	begin(true);
	send_text(0, UPGRADE("websocket"));
	send_text(1, SWITCH("websocket") "\x81\x02hi");
	send_text(0, "\x81\x02ho");
	assert_int_equal(end()->connections[CAPTURE_OTHER], 1);
	assert_int_equal(my.count, 1);
	assert_int_equal(my.told[0]->status, 101);
	assert_int_equal(my.told[0]->damage, DAMAGE_NONE);
	assert_int_equal(my.told[0]->error, RECORD_OK);
}

static void streams_that_began_before_the_capture_are_counted_once(void **state)
{
	(void)state;
	begin(false);
	FRAME(WINDOW, 0, 0, "\0\0\x01\0");
	ask(9);
	FRAME(DATA, 0, 7, "of a request before");
	FRAME(DATA, END, 7, "end");
	send_frames(1);
	FRAME(HEADERS, HEADS, 9, RESPONSE);
	FRAME(DATA, END, 9, "x");
	send_frames(1);
	FRAME(DATA, END, 7, "late");
	send_frames(0);
	assert_int_equal(end()->connections[CAPTURE_HTTP2_BEFORE], 1);
	assert_int_equal(my.count, 2);
	expect(0, 7, RECORD_OK, DAMAGE_BEGAN_BEFORE);
	expect(1, 9, RECORD_OK, DAMAGE_BEGAN_BEFORE);
	expect_target(1, "");
}

/* ---- missing bytes ---- */

static void missing_headers_make_later_requests_unreadable(void **state)
{
	(void)state;
	begin(true);
	greet();
	FRAME(HEADERS, END | HEADS, 1, REQUEST);
	give(0, PACKET_ACK, buffer_all(&my.frames), true);
	buffer_clear(&my.frames);
	FRAME(HEADERS, HEADS, 1, RESPONSE);
	FRAME(DATA, END, 1, "first");
	send_frames(1);
	ask(3);
	FRAME(HEADERS, END | HEADS, 3, RESPONSE);
	send_frames(1);
	my.now_ns += 1000000000;
	give(0, PACKET_ACK, (struct slice){"", 0}, false);
	assert_int_equal(end()->damaged[DAMAGE_LOST], 2);
	expect(0, 1, RECORD_OK, DAMAGE_LOST);
	expect(1, 3, RECORD_OK, DAMAGE_LOST);
	expect_target(0, "");
	expect_target(1, "");
}

static void a_missing_end_of_data_ends_its_stream(void **state)
{
	(void)state;
	begin(true);
	greet();
	ask(1);
	ask(3);
	FRAME(HEADERS, HEADS, 1, RESPONSE);
	FRAME(DATA, END, 1, "partly");
	give(1, PACKET_ACK, (struct slice){my.frames.data, my.frames.len - 4}, false);
	give(1, PACKET_ACK, (struct slice){my.frames.data + my.frames.len - 4, 4}, true);
	buffer_clear(&my.frames);
	FRAME(HEADERS, HEADS, 3, "\x88\xbe");
	FRAME(DATA, END, 3, "whole");
	send_frames(1);
	finish(0);
	finish(1);
	end();
	expect(0, 1, RECORD_OK, DAMAGE_LOST);
	expect(1, 3, RECORD_OK, DAMAGE_NONE);
	assert_true(slice_is(captured_header_value(&my.told[1]->answer, "x-r"), "s"));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_teardown(name, release)
	const struct CMUnitTest tests[] = {
		TEST(goaway_ends_the_requests_beyond_the_last_one),
		TEST(resets_have_the_name_of_their_code),
		TEST(a_reset_after_the_answer_changes_nothing),
		TEST(a_closed_connection_ends_its_streams),
		TEST(streams_that_are_open_at_the_end_are_damaged),
		TEST(an_end_without_headers_is_an_error),
		TEST(frames_that_break_the_rules_end_the_reading),
		TEST(a_server_may_begin),
		TEST(an_upgrade_to_h2c_goes_on_as_stream_1),
		TEST(another_upgrade_ends_the_reading),
		TEST(streams_that_began_before_the_capture_are_counted_once),
		TEST(missing_headers_make_later_requests_unreadable),
		TEST(a_missing_end_of_data_ends_its_stream),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
