/* Segments of a few connections, and the calls that tell of them. Sequence numbers count from the SYN of their
 * side, so the first byte is 1; those of the client wrap around early. Times are milliseconds.
 */
#include "unit.h"

#include "buffer.h"
#include "capture/tcp.h"

enum { SYN = PACKET_SYN, FIN = PACKET_FIN, RST = PACKET_RST, ACK = PACKET_ACK };
#define C          TCP_CLIENT
#define S          TCP_SERVER
#define MS         INT64_C(1000000)
#define CLIENT_ISN 0xfffffffau
#define SERVER_ISN 5000u

/* A table, and a log of the calls since the last look at it. "C hello 3" has a side, its bytes and the time, "C -5 3"
 * lost bytes ("cut" by the capture's limit). "C end 4" is the end of a side, "closed 0 5" that of the connection, and
 * why. */
struct trial {
	struct tcp_table *table;
	struct buffer log;
	struct ipf_error err;
	uint16_t port; /* the client's: another one is another connection */
	struct tcp_connection *last;
};

static int on_bytes(void *data, struct tcp_connection *c, enum tcp_side from, struct slice bytes, int64_t t_ns,
                    struct ipf_error *err)
{
	struct trial *t = data;
	(void)err;
	c->owner = t;
	t->last = c;
	buffer_format(&t->log, "%c %.*s %lld, ", from == C ? 'C' : 'S', (int)bytes.len, bytes.data, (long long)(t_ns / MS));
	return 0;
}

static int on_lost(void *data, struct tcp_connection *c, enum tcp_side from, uint64_t len, int64_t t_ns,
                   struct ipf_error *err)
{
	struct trial *t = data;
	(void)err;
	c->owner = t;
	buffer_format(&t->log, "%c -%llu%s %lld, ", from == C ? 'C' : 'S', (unsigned long long)len,
	              c->lost_by_cut ? " cut" : "", (long long)(t_ns / MS));
	return 0;
}

static int on_finished(void *data, struct tcp_connection *c, enum tcp_side from, int64_t t_ns, struct ipf_error *err)
{
	struct trial *t = data;
	(void)err;
	c->owner = t;
	buffer_format(&t->log, "%c end %lld, ", from == C ? 'C' : 'S', (long long)(t_ns / MS));
	return 0;
}

static int on_closed(void *data, struct tcp_connection *c, enum tcp_close why, int64_t t_ns, struct ipf_error *err)
{
	struct trial *t = data;
	(void)err;
	assert_ptr_equal(c->owner, t);
	c->owner = NULL;
	buffer_format(&t->log, "closed %d%s %lld, ", why, why == TCP_RESET ? c->reset_by == C ? " by C" : " by S" : "",
	              (long long)(t_ns / MS));
	return 0;
}

static const struct tcp_sink sink = {on_bytes, on_lost, on_finished, on_closed};

static void begin(struct trial *t)
{
	*t = (struct trial){.port = 40000};
	t->table = tcp_table_new(&sink, t);
	assert_non_null(t->table);
	buffer_text(&t->log, "");
}

static void give(struct trial *t, const struct packet_segment *segment)
{
	assert_int_equal(tcp_table_segment(t->table, segment, &t->err), 0);
	assert_int_equal(t->err.kind, IPF_OK);
}

/* The sender and the flags of a segment. */
#define FROM(side, flags) ((side) << 8 | (flags))

/* `ack`: counts like `seq`, from the SYN of the other side. */
static struct packet_segment segment(const struct trial *t, int from, uint32_t seq, uint32_t ack, const char *bytes,
                                     int64_t ms)
{
	const bool by_client = from >> 8 == C;
	struct packet_segment s = {.seq = seq + (by_client ? CLIENT_ISN : SERVER_ISN),
	                           .ack = ack + (by_client ? SERVER_ISN : CLIENT_ISN),
	                           .flags = (uint8_t)from,
	                           .payload = *bytes ? bytes : NULL,
	                           .len = strlen(bytes),
	                           .t_ns = ms * MS};
	struct packet_end *client = by_client ? &s.from : &s.to, *server = by_client ? &s.to : &s.from;
	client->address[15] = 1;
	client->port = t->port;
	server->address[15] = 2;
	server->port = 8000;
	return s;
}

static void send_flags(struct trial *t, int from, uint32_t seq, uint32_t ack, const char *bytes, int64_t ms)
{
	const struct packet_segment s = segment(t, from, seq, ack, bytes, ms);
	give(t, &s);
}

static void send_bytes(struct trial *t, int from, uint32_t seq, uint32_t ack, const char *bytes, int64_t ms)
{
	send_flags(t, FROM(from, ACK), seq, ack, bytes, ms);
}

/* SYN, SYN and ACK, ACK, at 0. */
static void open_connection(struct trial *t)
{
	send_flags(t, FROM(C, SYN), 0, 0, "", 0);
	send_flags(t, FROM(S, SYN | ACK), 0, 1, "", 0);
	send_flags(t, FROM(C, ACK), 1, 1, "", 0);
}

static void expect(struct trial *t, const char *log)
{
	if (t->log.len)
		t->log.len -= 2; /* the last comma */
	buffer_byte(&t->log, '\0');
	assert_string_equal(t->log.data, log);
	buffer_clear(&t->log);
}

/* The time passes, and with it a silent connection. */
static void wait_until(struct trial *t, int64_t ms)
{
	const uint16_t port = t->port;
	t->port = 50000;
	send_flags(t, FROM(C, SYN), 0, 0, "", ms);
	t->port = port;
}

static const struct tcp_counts *counts(const struct trial *t)
{
	return tcp_table_counts(t->table);
}

static void end(struct trial *t, int64_t ms, const char *log)
{
	assert_int_equal(tcp_table_end(t->table, ms * MS, &t->err), 0);
	expect(t, log);
	tcp_table_free(t->table);
	buffer_release(&t->log);
}

/* ---- in order ---- */

static void a_connection_is_told_from_its_beginning_to_its_end(void **state)
{
	struct trial t;
	(void)state;
	begin(&t);
	open_connection(&t);
	expect(&t, "");
	send_bytes(&t, C, 1, 1, "hello", 3);
	send_bytes(&t, C, 6, 1, " you", 4); /* around the highest number */
	send_bytes(&t, S, 1, 10, "hi", 5);
	expect(&t, "C hello 3, C  you 4, S hi 5");
	assert_true(t.last->from_start);
	assert_int_equal(t.last->opened_ns, 0);
	assert_int_equal(t.last->ends[C].port, 40000);
	send_flags(&t, FROM(C, FIN | ACK), 10, 3, "!", 6); /* with the last byte */
	expect(&t, "C ! 6, C end 6");
	send_flags(&t, FROM(S, FIN | ACK), 3, 12, "", 7); /* acknowledges the end, too */
	expect(&t, "S end 7, closed 0 7");
	send_flags(&t, FROM(C, ACK), 12, 4, "", 8);
	send_bytes(&t, C, 12, 4, "late", 8);
	expect(&t, "");
	assert_int_equal(counts(&t)->connections, 1);
	assert_int_equal(counts(&t)->began_before, 0);
	assert_int_equal(counts(&t)->duplicate_segments + counts(&t)->retransmitted_bytes + counts(&t)->odd_segments, 0);
	end(&t, 9, "");
}

static void the_end_of_one_side_leaves_the_other_open(void **state)
{
	struct trial t;
	(void)state;
	begin(&t);
	open_connection(&t);
	send_flags(&t, FROM(C, FIN | ACK), 1, 1, "hello", 1);
	send_flags(&t, FROM(C, FIN | ACK), 1, 1, "hello", 2); /* again */
	send_bytes(&t, S, 1, 7, "hi", 3);
	send_bytes(&t, S, 3, 7, "there", 4);
	expect(&t, "C hello 1, C end 1, S hi 3, S there 4");
	send_flags(&t, FROM(S, FIN | ACK), 8, 7, "", 5);
	expect(&t, "S end 5, closed 0 5");
	end(&t, 6, "");
}

static void bytes_that_come_again_are_told_once(void **state)
{
	struct trial t;
	(void)state;
	begin(&t);
	open_connection(&t);
	send_bytes(&t, C, 1, 1, "hello", 1);
	send_bytes(&t, C, 1, 1, "HELLO", 2);
	assert_int_equal(counts(&t)->duplicate_segments, 1);
	assert_int_equal(counts(&t)->retransmitted_bytes, 5);
	send_bytes(&t, C, 5, 1, "o", 3); /* a probe whether the other side is alive */
	assert_int_equal(counts(&t)->duplicate_segments, 2);
	send_bytes(&t, C, 4, 1, "LOworld", 4); /* its first two are old */
	assert_int_equal(counts(&t)->duplicate_segments, 2);
	assert_int_equal(counts(&t)->retransmitted_bytes, 5 + 1 + 2);
	expect(&t, "C hello 1, C world 4");
	end(&t, 9, "closed 4 9");
}

/* ---- out of order ---- */

static void segments_wait_for_those_before_them(void **state)
{
	struct trial t;
	(void)state;
	begin(&t);
	open_connection(&t);
	send_bytes(&t, C, 7, 1, "ef", 1);
	send_bytes(&t, C, 3, 1, "cd", 2);
	send_bytes(&t, C, 9, 1, "gh", 3);
	send_bytes(&t, C, 5, 1, "DD", 4);
	expect(&t, "");
	send_bytes(&t, C, 1, 1, "ab", 5);
	expect(&t, "C ab 5, C cd 5, C DD 5, C ef 5, C gh 5");
	send_bytes(&t, C, 11, 1, "i", 6);
	expect(&t, "C i 6");
	end(&t, 9, "closed 4 9");
}

static void segments_that_wait_may_overlap(void **state)
{
	struct trial t;
	(void)state;
	begin(&t);
	open_connection(&t);
	send_bytes(&t, C, 5, 1, "abc", 1);
	send_bytes(&t, C, 5, 1, "ab", 2); /* no more than is there */
	assert_int_equal(counts(&t)->duplicate_segments, 1);
	send_bytes(&t, C, 5, 1, "ABCD", 3);
	assert_int_equal(counts(&t)->duplicate_segments, 1);
	send_bytes(&t, C, 7, 1, "xyz", 4);
	send_bytes(&t, C, 6, 1, "b", 5); /* within another one */
	send_bytes(&t, C, 1, 1, "1234", 6);
	expect(&t, "C 1234 6, C ABCD 6, C z 6");
	end(&t, 9, "closed 4 9");
}

static void an_answer_waits_for_the_request_that_it_acknowledges(void **state)
{
	struct trial t;
	(void)state;
	begin(&t);
	open_connection(&t);
	send_bytes(&t, S, 1, 6, "yes", 1);
	send_bytes(&t, S, 4, 6, "!", 2);
	expect(&t, "");
	send_bytes(&t, C, 1, 1, "help", 3);
	expect(&t, "C help 3");
	send_bytes(&t, C, 5, 1, "?", 4);
	expect(&t, "C ? 4, S yes 1, S ! 2");
	send_flags(&t, FROM(C, FIN | ACK), 6, 5, "", 5);
	send_bytes(&t, S, 5, 7, "bye", 6); /* acknowledges the end, which is no byte */
	expect(&t, "C end 5, S bye 6");
	end(&t, 9, "closed 4 9");
}

/* Each acknowledges bytes of the other that came before its own: in turns. */
static void both_sides_are_told_in_turns(void **state)
{
	struct trial t;
	(void)state;
	begin(&t);
	open_connection(&t);
	send_bytes(&t, S, 1, 2, "1", 1);
	send_bytes(&t, C, 2, 2, "b", 2);
	send_bytes(&t, S, 2, 3, "2", 3);
	send_bytes(&t, C, 3, 3, "c", 4);
	expect(&t, "");
	send_bytes(&t, C, 1, 1, "a", 5);
	expect(&t, "C a 5, S 1 1, C b 5, S 2 3, C c 5");
	end(&t, 9, "closed 4 9");
}

/* ---- lost bytes ---- */

static void a_gap_is_waited_for_a_tenth_of_a_second(void **state)
{
	struct trial t;
	(void)state;
	begin(&t);
	open_connection(&t);
	send_bytes(&t, S, 1, 6, "yes", 10);
	wait_until(&t, 109);
	expect(&t, "");
	wait_until(&t, 110);
	expect(&t, "C -5 110, S yes 10");
	assert_int_equal(counts(&t)->lost_gaps, 1);
	assert_int_equal(counts(&t)->lost_bytes, 5);
	send_bytes(&t, C, 6, 4, "more", 120);
	expect(&t, "C more 120");
	end(&t, 200, "closed 4 200");
}

/* A gap before other bytes of its side ends with them, if the other side has acknowledged it. */
static void bytes_behind_a_gap_have_their_own_time(void **state)
{
	struct trial t;
	(void)state;
	begin(&t);
	open_connection(&t);
	send_bytes(&t, C, 1, 1, "ab", 1);
	send_bytes(&t, C, 6, 1, "f", 10); /* c d e are missing */
	send_bytes(&t, S, 1, 1, "", 11);
	wait_until(&t, 500); /* nobody has acknowledged them: they may come */
	expect(&t, "C ab 1");
	send_bytes(&t, S, 1, 5, "", 501); /* c d: the segment has waited long enough */
	wait_until(&t, 502);
	expect(&t, "C -2 10");
	send_bytes(&t, S, 1, 7, "", 503);
	wait_until(&t, 504);
	expect(&t, "C -1 10, C f 10");
	send_bytes(&t, C, 3, 1, "cde", 505); /* too late */
	expect(&t, "");
	assert_int_equal(counts(&t)->lost_gaps, 2);
	assert_int_equal(counts(&t)->lost_bytes, 3);
	end(&t, 600, "closed 4 600");
}

static void a_gap_that_is_filled_in_time_is_none(void **state)
{
	struct trial t;
	(void)state;
	begin(&t);
	open_connection(&t);
	send_bytes(&t, S, 1, 6, "yes", 10);
	send_bytes(&t, C, 1, 1, "hello", 50);
	expect(&t, "C hello 50, S yes 10");
	send_bytes(&t, S, 4, 8, "no", 60); /* another gap, which begins now */
	wait_until(&t, 159);
	expect(&t, "");
	wait_until(&t, 160);
	expect(&t, "C -2 160, S no 60");
	end(&t, 200, "closed 4 200");
}

static void each_side_waits_for_its_own_gap(void **state)
{
	struct trial t;
	(void)state;
	begin(&t);
	open_connection(&t);
	send_bytes(&t, S, 1, 6, "", 10);
	send_bytes(&t, C, 6, 4, "", 60);
	wait_until(&t, 110);
	expect(&t, "C -5 110");
	wait_until(&t, 159);
	expect(&t, "");
	wait_until(&t, 160);
	expect(&t, "S -3 160");
	end(&t, 200, "closed 4 200");
}

static void gaps_of_several_connections_end_in_their_order(void **state)
{
	struct trial t;
	(void)state;
	begin(&t);
	for (int i = 0; i < 3; i++) {
		t.port = (uint16_t)(40000 + i);
		open_connection(&t);
		send_bytes(&t, S, 1, 2, (const char *[]){"a", "b", "c"}[i], 10 * (i + 1));
	}
	t.port = 40001;
	send_bytes(&t, C, 1, 1, "-", 40); /* that of the second is filled */
	expect(&t, "C - 40, S b 20");
	wait_until(&t, 110);
	expect(&t, "C -1 110, S a 10");
	wait_until(&t, 129);
	expect(&t, "");
	wait_until(&t, 130);
	expect(&t, "C -1 130, S c 30");
	end(&t, 200, "closed 4 200, closed 4 200, closed 4 200");
}

static void what_waits_is_told_at_the_end(void **state)
{
	struct trial t;
	(void)state;
	begin(&t);
	open_connection(&t);
	send_bytes(&t, C, 3, 1, "cd", 10); /* nobody has acknowledged these */
	send_bytes(&t, S, 3, 1, "34", 5);
	send_bytes(&t, C, 8, 1, "hi", 20);
	expect(&t, "");
	end(&t, 30, "S -2 5, S 34 5, C -2 10, C cd 10, C -3 20, C hi 20, closed 4 30");
	/* bytes that the other side had come before those that are older, but were not acknowledged */
	begin(&t);
	open_connection(&t);
	send_bytes(&t, C, 3, 3, "cd", 5);
	send_bytes(&t, S, 3, 1, "34", 20);
	end(&t, 30, "S -2 20, S 34 20, C -2 5, C cd 5, closed 4 30");
	/* gaps of both sides, of which one byte is the older one */
	begin(&t);
	open_connection(&t);
	send_bytes(&t, C, 2, 3, "b", 10);
	send_bytes(&t, S, 3, 2, "34", 20);
	end(&t, 30, "C -1 10, S -2 20, C b 10, S 34 20, closed 4 30");
	begin(&t);
	open_connection(&t);
	send_flags(&t, FROM(C, FIN | ACK), 4, 1, "", 10); /* three bytes, and an end */
	send_bytes(&t, S, 1, 5, "no", 11);
	end(&t, 30, "C -3 30, C end 30, S no 11, closed 4 30");
}

static void cut_segments_lose_their_end(void **state)
{
	struct trial t;
	(void)state;
	begin(&t);
	open_connection(&t);
	struct packet_segment s = segment(&t, FROM(C, ACK), 1, 1, "he", 1);
	s.missing = 3;
	give(&t, &s);
	expect(&t, "C he 1, C -3 cut 1");
	assert_false(t.last->lost_by_cut);
	send_bytes(&t, C, 6, 1, "you", 2);
	s = segment(&t, FROM(C, ACK | FIN), 9, 1, "", 3);
	s.missing = 4;
	give(&t, &s);
	expect(&t, "C you 2, C -4 cut 3, C end 3");
	s = segment(&t, FROM(C, ACK), 1, 1, "he", 4); /* again */
	s.missing = 3;
	give(&t, &s);
	assert_int_equal(counts(&t)->cut_segments, 2);
	assert_int_equal(counts(&t)->retransmitted_bytes, 5);
	assert_int_equal(counts(&t)->lost_gaps, 2);
	assert_int_equal(counts(&t)->lost_bytes, 7);
	end(&t, 9, "closed 4 9");
	/* behind a gap */
	begin(&t);
	open_connection(&t);
	s = segment(&t, FROM(C, ACK), 3, 1, "cd", 1);
	s.missing = 1;
	give(&t, &s);
	assert_int_equal(counts(&t)->cut_segments, 1);
	send_bytes(&t, C, 1, 1, "ab", 2);
	expect(&t, "C ab 2, C cd 2, C -1 cut 2");
	send_bytes(&t, C, 6, 1, "f", 3);
	expect(&t, "C f 3");
	end(&t, 9, "closed 4 9");
}

/* ---- ends and beginnings ---- */

static void a_reset_ends_a_connection(void **state)
{
	struct trial t;
	(void)state;
	begin(&t);
	open_connection(&t);
	send_bytes(&t, C, 1, 1, "hello", 1);
	expect(&t, "C hello 1");
	send_flags(&t, FROM(S, RST), 0x1000002u, 0, "", 2);
	send_flags(&t, FROM(C, RST), 6 + 0x1000001u, 0, "", 2); /* nobody sent so much */
	expect(&t, "closed 1 by S 2");
	assert_int_equal(counts(&t)->odd_segments, 0); /* nothing is known of the server's numbers */
	end(&t, 3, "");
	begin(&t);
	open_connection(&t);
	send_bytes(&t, C, 1, 1, "hello", 1);
	send_flags(&t, FROM(C, RST), 6 + 0x1000001u, 0, "", 2);
	send_flags(&t, FROM(C, RST), 6 - 0x1000001u, 0, "", 2);
	expect(&t, "C hello 1");
	assert_int_equal(counts(&t)->odd_segments, 2);
	send_flags(&t, FROM(C, RST), 6 + 0x1000000u, 0, "", 3);
	expect(&t, "closed 1 by C 3");
	send_flags(&t, FROM(S, RST), 1, 6, "", 4); /* one connection is gone, one was never there */
	t.port++;
	send_flags(&t, FROM(S, RST), 1, 6, "", 5);
	assert_int_equal(counts(&t)->connections, 1);
	end(&t, 9, "");
}

static void a_new_opening_replaces_a_connection(void **state)
{
	struct trial t;
	(void)state;
	begin(&t);
	open_connection(&t);
	send_flags(&t, FROM(C, SYN), 0, 0, "", 1); /* again */
	send_bytes(&t, C, 1, 1, "hello", 2);
	send_flags(&t, FROM(C, SYN), 0, 0, "", 3);
	send_flags(&t, FROM(S, SYN | ACK), 0, 1, "", 3);
	send_bytes(&t, C, 6, 1, "you", 4);
	expect(&t, "C hello 2, C you 4");
	assert_int_equal(counts(&t)->connections, 1);
	send_flags(&t, FROM(C, SYN), 100, 0, "", 5);
	expect(&t, "closed 2 5");
	send_bytes(&t, C, 101, 1, "anew", 6);
	expect(&t, "C anew 6");
	send_flags(&t, FROM(C, FIN | ACK), 105, 1, "", 7);
	send_flags(&t, FROM(S, FIN | ACK), 1, 106, "", 7);
	expect(&t, "C end 7, S end 7, closed 0 7");
	send_flags(&t, FROM(C, SYN), 100, 0, "", 8); /* one that is over opens with another number only */
	send_bytes(&t, C, 101, 1, "no", 8);
	send_flags(&t, FROM(C, SYN), 200, 0, "", 9);
	send_bytes(&t, C, 201, 1, "third", 9);
	expect(&t, "C third 9");
	assert_int_equal(counts(&t)->connections, 3);
	end(&t, 10, "closed 4 10");
}

/* A connection whose first segment in the capture is not its opening. */
static void a_late_opening_belongs_to_the_bytes_after_it(void **state)
{
	static const struct {
		int from;
		uint32_t seq;
		bool same;
	} cases[] = {{C, 0, true},
	             {C, 6, true},
	             {C, 5, true},
	             {C, 7, false},
	             {C, 6u - 0x100000, true},
	             {C, 6u - 0x100001, false},
	             {S, SERVER_ISN, false}};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct trial t;
		begin(&t);
		send_bytes(&t, C, 1, 1, "GET /a", 1); /* up to 6 */
		expect(&t, "C GET /a 1");
		assert_false(t.last->from_start);
		send_flags(&t, FROM(cases[i].from, SYN), cases[i].seq, 0, "", 2);
		if (counts(&t)->connections != (cases[i].same ? 1 : 2))
			fail_msg("case %zu: %lld connections", i, (long long)counts(&t)->connections);
		assert_int_equal(counts(&t)->began_before, 1);
		expect(&t, cases[i].same ? "" : "closed 2 2");
		end(&t, 3, cases[i].same ? "closed 4 3" : "");
	}
}

static void the_client_of_a_connection_is_known_by_its_bytes(void **state)
{
	static const struct {
		uint8_t flags;
		const char *bytes;
		uint16_t from, to;
		int side;
	} cases[] = {
		{ACK, "GET /", 1, 9, C},      {ACK, "POST /", 1, 9, C},      {ACK, "PUT /", 1, 9, C},
		{ACK, "HEAD /", 1, 9, C},     {ACK, "OPTIONS *", 1, 9, C},   {ACK, "DELETE /", 1, 9, C},
		{ACK, "PRI * HTTP", 1, 9, C}, {ACK, "GET ", 1, 9, C},        {ACK, "GET", 1, 9, S},
		{ACK, "GET", 9, 1, C},        {ACK, "HTTP/1.", 9, 1, S},     {ACK, "HTTP/1", 9, 1, C},
		{SYN, "HTTP/1.1", 1, 9, C},   {SYN | ACK, "GET /", 9, 1, S}, {ACK, "x", 5, 5, C},
	};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct trial t;
		begin(&t);
		struct packet_segment s = segment(&t, FROM(C, cases[i].flags), 1, 1, cases[i].bytes, 1);
		s.from.port = cases[i].from;
		s.to.port = cases[i].to;
		give(&t, &s);
		if (t.log.data[0] != (cases[i].side == C ? 'C' : 'S'))
			fail_msg("%s from %d: %s", cases[i].bytes, cases[i].from, t.log.data);
		assert_int_equal(counts(&t)->began_before, !(cases[i].flags & SYN));
		buffer_clear(&t.log);
		end(&t, 9, "closed 4 9");
	}
}

/* No window is larger than 2^30. */
static void segments_far_away_are_odd(void **state)
{
	static const struct {
		uint32_t seq;
		bool odd;
	} cases[] = {{6 + 0x40000000u, true}, {6 + 0x3fffffffu, false}, {6 - 0x40000000u, true}, {6 - 0x3fffffffu, false}};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct trial t;
		begin(&t);
		open_connection(&t);
		send_bytes(&t, C, 1, 1, "hello", 1);
		send_bytes(&t, C, cases[i].seq, 1, "x", 2);
		expect(&t, "C hello 1");
		assert_int_equal(counts(&t)->odd_segments, cases[i].odd);
		assert_int_equal(counts(&t)->duplicate_segments, i == 3);
		send_bytes(&t, S, 1, 6 + 0x40000000u, "yes", 3); /* an acknowledgement of nothing */
		expect(&t, "S yes 3");
		wait_until(&t, 500);
		expect(&t, "");
		tcp_table_free(t.table);
		buffer_release(&t.log);
	}
}

/* An acknowledgement far beyond the bytes told is of another connection, though it is near another one. */
static void acknowledgements_far_away_are_no_gap(void **state)
{
	struct trial t;
	(void)state;
	begin(&t);
	open_connection(&t);
	send_bytes(&t, C, 1, 1, "hello", 1);
	send_bytes(&t, S, 1, 106, "", 3);
	send_bytes(&t, S, 1, 6 + 0x40000000u, "", 4);
	wait_until(&t, 103);
	expect(&t, "C hello 1, C -100 103");
	wait_until(&t, 500);
	expect(&t, "");
	end(&t, 600, "closed 4 600");
}

static void data_may_come_with_the_opening(void **state)
{
	struct trial t;
	(void)state;
	begin(&t);
	send_flags(&t, FROM(C, SYN), 0, 0, "fast", 1);
	send_flags(&t, FROM(S, SYN | ACK), 0, 5, "yes", 2);
	send_bytes(&t, C, 5, 4, "er", 3);
	expect(&t, "C fast 1, S yes 2, C er 3");
	end(&t, 9, "closed 4 9");
}

/* ---- failures ---- */

/* The call with this number fails. */
static int failing_call, calls;

static int next_call(struct ipf_error *err)
{
	return calls++ == failing_call ? ipf_error_set(err, IPF_SYSTEM, "no more") : 0;
}

static int fail_bytes(void *data, struct tcp_connection *c, enum tcp_side from, struct slice bytes, int64_t t_ns,
                      struct ipf_error *err)
{
	(void)from, (void)bytes, (void)t_ns;
	c->owner = data;
	return next_call(err);
}

static int fail_lost(void *data, struct tcp_connection *c, enum tcp_side from, uint64_t len, int64_t t_ns,
                     struct ipf_error *err)
{
	(void)from, (void)len, (void)t_ns;
	c->owner = data;
	return next_call(err);
}

static int fail_finished(void *data, struct tcp_connection *c, enum tcp_side from, int64_t t_ns, struct ipf_error *err)
{
	(void)from, (void)t_ns;
	c->owner = data;
	return next_call(err);
}

static int fail_closed(void *data, struct tcp_connection *c, enum tcp_close why, int64_t t_ns, struct ipf_error *err)
{
	(void)data, (void)why, (void)t_ns;
	c->owner = NULL;
	return next_call(err);
}

/* Each kind of call in each place from which there may be one. False: one failed. */
static bool tell_everything(struct trial *t)
{
	const struct packet_segment segments[] = {
		segment(t, FROM(C, SYN), 0, 0, "", 0),
		segment(t, FROM(S, SYN | ACK), 0, 1, "", 0),
		segment(t, FROM(C, ACK), 1, 1, "a", 1),
		segment(t, FROM(C, ACK), 3, 1, "c", 2),
		segment(t, FROM(C, ACK), 2, 1, "b", 3),      /* two pieces */
		segment(t, FROM(S, ACK), 1, 5, "1", 4),      /* a gap of the client, */
		segment(t, FROM(S, ACK), 2, 5, "2", 200),    /* which ends, */
		segment(t, FROM(S, ACK), 5, 5, "5", 201),    /* and one behind which a piece waits */
		segment(t, FROM(C, SYN), 1000, 0, "x", 202), /* at its end by a new connection */
		segment(t, FROM(C, ACK), 1005, 1, "y", 203),
		segment(t, FROM(C, ACK | RST), 1006, 1, "z", 204), /* by a reset */
		segment(t, FROM(C, SYN), 2000, 0, "", 205),
		segment(t, FROM(C, ACK | FIN), 2001, 1, "x", 206),
		segment(t, FROM(S, ACK | FIN), 1, 2003, "", 207), /* and by both sides */
		segment(t, FROM(C, SYN), 3000, 0, "x", 208),
		segment(t, FROM(C, ACK), 3004, 1, "y", 209),
	};
	for (size_t i = 0; i < sizeof segments / sizeof *segments; i++) {
		if (tcp_table_segment(t->table, &segments[i], &t->err) < 0)
			return false;
		assert_true(calls <= failing_call);
	}
	return tcp_table_end(t->table, 300 * MS, &t->err) == 0;
}

static void a_call_that_fails_is_the_last_one(void **state)
{
	static const struct tcp_sink failing = {fail_bytes, fail_lost, fail_finished, fail_closed};
	int all = 1000;
	(void)state;
	for (failing_call = 0; failing_call <= all; failing_call++) {
		struct trial t = {.port = 40000};
		calls = 0;
		t.table = tcp_table_new(&failing, &t);
		const bool good = tell_everything(&t);
		if (good)
			all = calls;
		assert_int_equal(good, failing_call == all);
		assert_int_equal(calls, good ? all : failing_call + 1);
		assert_int_equal(t.err.kind, good ? IPF_OK : IPF_SYSTEM);
		tcp_table_free(t.table);
	}
	assert_int_equal(all, 22);
}

/* ---- limits ---- */

static void so_many_segments_wait(void **state)
{
	struct trial t;
	(void)state;
	begin(&t);
	open_connection(&t);
	for (uint32_t i = 0; i < TCP_WAITING_PIECES; i++)
		send_bytes(&t, C, 3 + 2 * i, 1, "x", 1);
	expect(&t, "");
	send_bytes(&t, C, 3 + 2 * TCP_WAITING_PIECES, 1, "y", 2);
	expect(&t, "C -2 1, C x 1");
	send_bytes(&t, C, 3 + 2 * TCP_WAITING_PIECES + 2, 1, "z", 3); /* there is room for one */
	expect(&t, "C -1 1, C x 1");
	tcp_table_free(t.table);
	buffer_release(&t.log);
}

static void so_many_bytes_wait(void **state)
{
	static char bytes[65536];
	struct trial t;
	(void)state;
	memset(bytes, 'x', sizeof bytes - 1);
	begin(&t);
	open_connection(&t);
	for (uint32_t i = 0; i < TCP_WAITING_SIDE / sizeof bytes - 1; i++)
		send_bytes(&t, C, 3 + i * 65536, 1, bytes, 1);
	expect(&t, "");
	send_bytes(&t, C, 3 + (TCP_WAITING_SIDE / sizeof bytes - 1) * 65536, 1, bytes, 2);
	assert_int_equal(counts(&t)->lost_gaps, 1);
	assert_int_equal(counts(&t)->lost_bytes, 2);
	tcp_table_free(t.table);
	buffer_release(&t.log);
	/* those of all connections together */
	begin(&t);
	for (uint32_t c = 0; c < 17; c++) {
		t.port = (uint16_t)(41000 + c);
		open_connection(&t);
		for (uint32_t i = 0; i < TCP_WAITING_SIDE / sizeof bytes - 1; i++)
			send_bytes(&t, C, 3 + i * 65536, 1, bytes, 1);
		assert_int_equal(counts(&t)->lost_gaps > 0, c == 16);
	}
	tcp_table_free(t.table);
	buffer_release(&t.log);
}

/* The one that was silent for the longest time makes room; those that are over do so first. */
static void connections_make_room_for_others(void **state)
{
	struct trial t;
	(void)state;
	begin(&t);
	for (int i = 0; i < 3; i++) {
		t.port = (uint16_t)(40000 + i);
		send_bytes(&t, C, 1, 1, (const char *[]){"GET a", "GET b", "GET c"}[i], 1);
	}
	expect(&t, "C GET a 1, C GET b 1, C GET c 1");
	t.port = 40000;
	send_bytes(&t, C, 6, 1, "a", 2);
	t.port = 40002;
	send_flags(&t, FROM(C, RST), 6, 0, "", 2);
	expect(&t, "C a 2, closed 1 by C 2");
	for (int64_t i = 0; i < TCP_CONNECTIONS_MOST; i++) {
		struct packet_segment s = segment(&t, FROM(C, SYN), 0, 0, "", 3);
		s.from.port = (uint16_t)i;
		s.from.address[0] = (uint8_t)(1 + i / 65536);
		give(&t, &s);
		if (i == TCP_CONNECTIONS_MOST - 4)
			assert_int_equal(counts(&t)->evicted, 0);
		if (i == TCP_CONNECTIONS_MOST - 3)
			expect(&t, ""); /* the place of the one that is over */
		if (i == TCP_CONNECTIONS_MOST - 2)
			expect(&t, "closed 3 3"); /* b */
	}
	assert_int_equal(counts(&t)->evicted, 2);
	expect(&t, "closed 3 3");
	end(&t, 4, "");
}

static void count_owner(void *data, struct tcp_connection *c)
{
	int *count = data;
	*count += c->owner != NULL;
}

static void open_connections_can_be_visited(void **state)
{
	struct trial t;
	int count = 0;
	(void)state;
	begin(&t);
	for (int i = 0; i < 3; i++) {
		t.port = (uint16_t)(40000 + i);
		send_bytes(&t, C, 1, 1, "GET", 1);
	}
	send_flags(&t, FROM(C, RST), 4, 0, "", 2);
	tcp_table_each(t.table, count_owner, &count);
	assert_int_equal(count, 2);
	tcp_table_free(t.table);
	tcp_table_free(NULL);
	buffer_release(&t.log);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_connection_is_told_from_its_beginning_to_its_end),
		cmocka_unit_test(the_end_of_one_side_leaves_the_other_open),
		cmocka_unit_test(bytes_that_come_again_are_told_once),
		cmocka_unit_test(segments_wait_for_those_before_them),
		cmocka_unit_test(segments_that_wait_may_overlap),
		cmocka_unit_test(an_answer_waits_for_the_request_that_it_acknowledges),
		cmocka_unit_test(both_sides_are_told_in_turns),
		cmocka_unit_test(a_gap_is_waited_for_a_tenth_of_a_second),
		cmocka_unit_test(bytes_behind_a_gap_have_their_own_time),
		cmocka_unit_test(a_gap_that_is_filled_in_time_is_none),
		cmocka_unit_test(each_side_waits_for_its_own_gap),
		cmocka_unit_test(gaps_of_several_connections_end_in_their_order),
		cmocka_unit_test(what_waits_is_told_at_the_end),
		cmocka_unit_test(cut_segments_lose_their_end),
		cmocka_unit_test(a_reset_ends_a_connection),
		cmocka_unit_test(a_new_opening_replaces_a_connection),
		cmocka_unit_test(a_late_opening_belongs_to_the_bytes_after_it),
		cmocka_unit_test(the_client_of_a_connection_is_known_by_its_bytes),
		cmocka_unit_test(segments_far_away_are_odd),
		cmocka_unit_test(acknowledgements_far_away_are_no_gap),
		cmocka_unit_test(data_may_come_with_the_opening),
		cmocka_unit_test(a_call_that_fails_is_the_last_one),
		cmocka_unit_test(so_many_segments_wait),
		cmocka_unit_test(so_many_bytes_wait),
		cmocka_unit_test(connections_make_room_for_others),
		cmocka_unit_test(open_connections_can_be_visited),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
