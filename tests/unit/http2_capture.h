/* Connections of HTTP/2 between a client and a server of libnghttp2 in memory, as captured packets, and the truth about
 * each exchange, from the frames on the wire. Requests are random; their paths are their numbers.
 *
 *     struct h2_world w;
 *     h2_world_init(&w, seed);
 *     h2_connection(&w, 0);                       // packets of a connection
 *     h2_world_sort(&w);                          // packets of all connections by their times
 *     …w.packets[i], w.sent[n]…
 *     h2_world_release(&w);
 */
#ifndef HTTP2_CAPTURE_H
#define HTTP2_CAPTURE_H

#include "absent.h"
#include "array.h"
#include "captured_packets.h"
#include "stream/record.h"

#include "unit.h"

#include <nghttp2/nghttp2.h>

enum { H2_CONNECTIONS = 4, H2_REQUESTS = 24, H2_ALL = H2_CONNECTIONS * H2_REQUESTS, H2_BIG = 20000 };

/* How an exchange goes on the wire. */
enum h2_way { H2_PLAIN, H2_TRAILERS, H2_TRAILERS_ONLY, H2_SERVER_RESETS, H2_CLIENT_RESETS, H2_WAYS };

struct h2_sent {
	enum h2_way way;
	int32_t stream;
	size_t request_len, answer_len;
	size_t request_given, answer_given; /* bytes in frames so far */
	bool interim, pushes, big_headers;
	/* the truth, from the wire */
	int64_t start_ns, sent_ns, first_byte_ns, end_ns;
	struct record_read *reads;
	size_t reads_count, reads_cap, answer_seen;
	bool ended, reset, damaged;
	/* by the capture */
	int told, told_whole;
};

struct h2_packet {
	struct made_packet made;
	char *payload;
	int connection;
	uint64_t offset; /* where the payload is in the bytes of its side */
	int64_t order;
	size_t cut; /* captured bytes of the payload; SIZE_MAX: all */
	int copies;
};

/* A frame on the wire. */
struct h2_frame {
	int connection, from, sent; /* number of its request; -1: none, or it had ended */
	uint64_t at;                /* in the bytes of its side */
	uint32_t len;               /* the payload's */
	uint8_t type;
};

struct h2_world {
	uint64_t seed;
	struct h2_frame *frames;
	size_t frames_count, frames_cap;
	struct h2_sent sent[H2_ALL];
	struct h2_packet *packets;
	size_t count, cap;
	int64_t now_ns;
	size_t segment_most; /* bytes of a segment */
};

struct h2_side {
	nghttp2_session *session;
	struct buffer wire; /* its bytes */
	size_t packed;      /* number of these in packets */
	uint32_t seq;
	uint64_t before; /* bytes before HTTP/2 */
	struct h2_mark {
		uint64_t offset;
		int64_t t_ns;
	} * marks; /* packets with bytes */
	size_t marks_count, marks_cap;
};

struct h2_line {
	struct h2_world *w;
	int number, begun, answered;
	struct h2_side sides[2];
	bool upgraded;
};

static inline uint32_t h2_below(struct h2_world *w, uint32_t n)
{
	return (uint32_t)(test_random(&w->seed) % n);
}

/* The byte of a body at this place. */
static inline char h2_byte(int number, bool of_answer, size_t at)
{
	return (char)('!' + ((size_t)number * 7 + of_answer * 31 + at * 13 + at / 97) % 90);
}

/* ---- packets ---- */

static inline void h2_send_packet(struct h2_line *l, int from, uint8_t flags, struct slice payload)
{
	struct h2_world *w = l->w;
	struct h2_side *mine = &l->sides[from];
	assert_true(array_room(w->packets, w->cap, w->count + 1));
	struct h2_packet *p = &w->packets[w->count++];
	w->now_ns += 1000 + h2_below(w, 200000);
	*p = (struct h2_packet){.connection = l->number,
	                        .offset = mine->packed,
	                        .order = w->now_ns,
	                        .cut = SIZE_MAX,
	                        .copies = 1,
	                        .payload = malloc(payload.len + 1)};
	memcpy(p->payload, payload.data, payload.len);
	p->made = (struct made_packet){.link = PACKET_LINK_ETHERNET,
	                               .from = from ? 2 : 1,
	                               .to = from ? 1 : 2,
	                               .from_port = (uint16_t)(from ? 8000 : 40000 + l->number),
	                               .to_port = (uint16_t)(from ? 40000 + l->number : 8000),
	                               .seq = mine->seq,
	                               .ack = flags == PACKET_SYN ? 0 : l->sides[!from].seq,
	                               .flags = flags,
	                               .payload = {p->payload, payload.len},
	                               .t_ns = w->now_ns};
	mine->seq += (uint32_t)payload.len + (flags & (PACKET_SYN | PACKET_FIN) ? 1 : 0);
}

/* Sends waiting bytes in segments, and gives them to the other side. */
static inline void h2_pack(struct h2_line *l, int from, size_t most)
{
	struct h2_side *side = &l->sides[from], *other = &l->sides[!from];
	while (side->packed < side->wire.len && most) {
		const size_t left = side->wire.len - side->packed;
		size_t len = 1 + h2_below(l->w, (uint32_t)l->w->segment_most);
		len = len < left ? len : left;
		len = len < most ? len : most;
		const struct slice bytes = {side->wire.data + side->packed, len};
		h2_send_packet(l, from, PACKET_ACK, bytes);
		assert_true(array_room(side->marks, side->marks_cap, side->marks_count + 1));
		side->marks[side->marks_count++] = (struct h2_mark){side->packed, l->w->now_ns};
		const uint64_t skipped = side->packed < side->before ? side->before - side->packed : 0;
		side->packed += len;
		most -= len;
		if (len > skipped)
			assert_int_equal(
				nghttp2_session_mem_recv(other->session, (const uint8_t *)bytes.data + skipped, len - (size_t)skipped),
				len - skipped);
		if (h2_below(l->w, 3) == 0)
			h2_send_packet(l, !from, PACKET_ACK, (struct slice){"", 0});
	}
}

/* Takes frames out of the session. */
static inline void h2_write(struct h2_side *side, int frames)
{
	const uint8_t *bytes;
	ssize_t len;
	while (frames-- > 0 && (len = nghttp2_session_mem_send(side->session, &bytes)) > 0)
		buffer_append(&side->wire, bytes, (size_t)len);
}

/* ---- the sessions ---- */

static inline struct h2_sent *h2_sent_of(struct h2_line *l, int32_t stream)
{
	for (int i = 0; i < l->begun; i++)
		if (l->w->sent[l->number * H2_REQUESTS + i].stream == stream)
			return &l->w->sent[l->number * H2_REQUESTS + i];
	return NULL;
}

#define H2_NV(name_, value_)                                                                                           \
	{                                                                                                                  \
		(uint8_t *)(uintptr_t)(name_), (uint8_t *)(uintptr_t)(value_), strlen(name_), strlen(value_), 0                \
	}

static inline ssize_t h2_give_body(nghttp2_session *session, int32_t id, uint8_t *to, size_t most, uint32_t *flags,
                                   nghttp2_data_source *source, void *data)
{
	struct h2_line *l = data;
	struct h2_sent *s = source->ptr;
	const bool answer = session == l->sides[1].session;
	const size_t all = answer ? s->answer_len : s->request_len;
	size_t *given = answer ? &s->answer_given : &s->request_given;
	size_t len = 1 + h2_below(l->w, (uint32_t)(most < 3000 ? most : 3000));
	len = len < all - *given ? len : all - *given;
	for (size_t i = 0; i < len; i++)
		to[i] = (uint8_t)h2_byte((int)(s - l->w->sent), answer, *given + i);
	*given += len;
	if (*given < all)
		return (ssize_t)len;
	*flags |= NGHTTP2_DATA_FLAG_EOF;
	if (answer && s->way == H2_TRAILERS) {
		const nghttp2_nv trailers[] = {H2_NV("grpc-status", "0"), H2_NV("grpc-message", "fine")};
		*flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM;
		assert_int_equal(nghttp2_submit_trailer(session, id, trailers, 2), 0);
	}
	return (ssize_t)len;
}

static inline void h2_push(struct h2_line *l, int32_t id)
{
	const nghttp2_nv request[] = {H2_NV(":method", "GET"), H2_NV(":scheme", "http"), H2_NV(":authority", "h"),
	                              H2_NV(":path", "/pushed"), H2_NV("x-pushed", "a new entry of the table")};
	const nghttp2_nv response[] = {H2_NV(":status", "204"), H2_NV("x-of-push", "another one")};
	nghttp2_session *session = l->sides[1].session;
	const int32_t promised = nghttp2_submit_push_promise(session, 0, id, request, 5, NULL);
	assert_true(promised > 0);
	assert_int_equal(nghttp2_submit_response(session, promised, response, 2, NULL), 0);
}

static inline void h2_answer(struct h2_line *l, struct h2_sent *s)
{
	char big[H2_BIG + 1], own[64];
	nghttp2_session *session = l->sides[1].session;
	const nghttp2_nv interim[] = {H2_NV(":status", "103"), H2_NV("link", "</style.css>")};
	const nghttp2_data_provider body = {.source.ptr = s, .read_callback = h2_give_body};
	const bool bare = s->way == H2_TRAILERS_ONLY;
	memset(big, 'b', s->big_headers ? H2_BIG : 3);
	big[s->big_headers ? H2_BIG : 3] = '\0';
	snprintf(own, sizeof own, "id-%d", (int)(s - l->w->sent));
	const nghttp2_nv headers[] = {H2_NV(":status", "200"), H2_NV("content-type", "text/event-stream"),
	                              H2_NV("x-request-id", own), H2_NV("x-big", big), H2_NV("grpc-status", "7")};
	if (s->pushes)
		h2_push(l, s->stream);
	if (s->interim)
		assert_int_equal(nghttp2_submit_headers(session, 0, s->stream, NULL, interim, 2, NULL), 0);
	assert_int_equal(nghttp2_submit_response(session, s->stream, headers, bare ? 5 : 4, bare ? NULL : &body), 0);
}

static inline int h2_on_frame(nghttp2_session *session, const nghttp2_frame *frame, void *data)
{
	struct h2_line *l = data;
	const bool ends = (frame->hd.type == NGHTTP2_HEADERS || frame->hd.type == NGHTTP2_DATA) &&
	                  frame->hd.flags & NGHTTP2_FLAG_END_STREAM;
	struct h2_sent *s = ends ? h2_sent_of(l, frame->hd.stream_id) : NULL;
	if (session == l->sides[1].session && s)
		h2_answer(l, s);
	return 0;
}

static inline ssize_t h2_pad(nghttp2_session *session, const nghttp2_frame *frame, size_t most, void *data)
{
	struct h2_line *l = data;
	size_t len = frame->hd.length + (h2_below(l->w, 4) ? 0 : h2_below(l->w, 256));
	(void)session;
	return (ssize_t)(len < most ? len : most);
}

static inline void h2_settings(struct h2_world *w, nghttp2_session *session)
{
	static const uint32_t sizes[] = {0, 100, 4096, 65536};
	const nghttp2_settings_entry settings[] = {{NGHTTP2_SETTINGS_HEADER_TABLE_SIZE, sizes[h2_below(w, 4)]},
	                                           {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, 1000}};
	assert_int_equal(nghttp2_submit_settings(session, 0, settings, 2), 0);
}

static inline void h2_open(struct h2_line *l)
{
	nghttp2_session_callbacks *callbacks;
	nghttp2_option *option;
	assert_int_equal(nghttp2_session_callbacks_new(&callbacks), 0);
	assert_int_equal(nghttp2_option_new(&option), 0);
	nghttp2_option_set_max_deflate_dynamic_table_size(option, h2_below(l->w, 2) ? 65536 : 4096);
	nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, h2_on_frame);
	nghttp2_session_callbacks_set_select_padding_callback(callbacks, h2_pad);
	assert_int_equal(nghttp2_session_client_new2(&l->sides[0].session, callbacks, l, option), 0);
	assert_int_equal(nghttp2_session_server_new2(&l->sides[1].session, callbacks, l, option), 0);
	nghttp2_session_callbacks_del(callbacks);
	nghttp2_option_del(option);
}

static inline struct h2_sent *h2_next_sent(struct h2_line *l)
{
	struct h2_world *w = l->w;
	struct h2_sent *s = &w->sent[l->number * H2_REQUESTS + l->begun++];
	*s = (struct h2_sent){.way = (enum h2_way)h2_below(w, 3),
	                      .request_len = h2_below(w, 3) ? h2_below(w, 200) : h2_below(w, 40000),
	                      .answer_len = h2_below(w, 3) ? h2_below(w, 2000) : h2_below(w, 60000),
	                      .interim = h2_below(w, 5) == 0,
	                      .pushes = h2_below(w, 8) == 0,
	                      .big_headers = h2_below(w, 12) == 0,
	                      .start_ns = IPF_ABSENT,
	                      .sent_ns = IPF_ABSENT,
	                      .first_byte_ns = IPF_ABSENT,
	                      .end_ns = IPF_ABSENT};
	if (h2_below(w, 6) == 0)
		s->way = h2_below(w, 2) ? H2_SERVER_RESETS : H2_CLIENT_RESETS;
	return s;
}

static inline void h2_ask(struct h2_line *l)
{
	char path[32], tag[64];
	struct h2_sent *s = h2_next_sent(l);
	const nghttp2_data_provider body = {.source.ptr = s, .read_callback = h2_give_body};
	nghttp2_priority_spec priority;
	nghttp2_priority_spec_init(&priority, 0, 7, 0);
	snprintf(path, sizeof path, "/%d", (int)(s - l->w->sent));
	snprintf(tag, sizeof tag, "tag %u", h2_below(l->w, 5));
	const nghttp2_nv headers[] = {H2_NV(":method", "POST"), H2_NV(":scheme", "http"), H2_NV(":authority", "host:80"),
	                              H2_NV(":path", path), H2_NV("x-tag", tag)};
	s->stream = nghttp2_submit_request(l->sides[0].session, h2_below(l->w, 3) ? NULL : &priority, headers, 5,
	                                   s->request_len ? &body : NULL, s);
	assert_true(s->stream > 0);
}

/* Something else than requests. */
static inline void h2_disturb(struct h2_line *l)
{
	struct h2_world *w = l->w;
	nghttp2_session *session = l->sides[h2_below(w, 2)].session;
	switch (h2_below(w, 8)) {
	case 0:
		nghttp2_submit_ping(session, 0, NULL);
		break;
	case 1:
		h2_settings(w, session);
		break;
	case 2:
	case 3: {
		struct h2_sent *s = &w->sent[l->number * H2_REQUESTS + (int)h2_below(w, (uint32_t)l->begun + 1)];
		const bool by_server = s->way == H2_SERVER_RESETS;
		if (l->begun && s->stream && (by_server || s->way == H2_CLIENT_RESETS) && s->answer_given)
			nghttp2_submit_rst_stream(l->sides[by_server].session, 0, s->stream,
			                          by_server ? NGHTTP2_INTERNAL_ERROR : NGHTTP2_CANCEL);
		break;
	}
	default:
		break;
	}
}

/* ---- the truth ---- */

/* The time of the packet with this byte of the side. */
static inline int64_t h2_time_of(const struct h2_side *side, uint64_t offset)
{
	size_t low = 0, high = side->marks_count;
	while (high - low > 1) {
		const size_t middle = low + (high - low) / 2;
		*(side->marks[middle].offset <= offset ? &low : &high) = middle;
	}
	return side->marks[low].t_ns;
}

static inline uint32_t h2_number(const uint8_t *p, int bytes)
{
	uint32_t n = 0;
	for (int i = 0; i < bytes; i++)
		n = n << 8 | p[i];
	return n;
}

static inline void h2_note_read(struct h2_sent *s, int64_t t_ns)
{
	s->answer_seen++;
	if (s->reads_count && s->reads[s->reads_count - 1].t_ns == t_ns) {
		s->reads[s->reads_count - 1].bytes++;
		return;
	}
	assert_true(array_room(s->reads, s->reads_cap, s->reads_count + 1));
	s->reads[s->reads_count++] = (struct record_read){.t_ns = t_ns, .bytes = 1, .own_ns = t_ns};
}

/* Notes a frame; `at` is its offset. */
static inline void h2_note_frame(struct h2_line *l, int from, uint64_t at, const uint8_t *p, bool *ends)
{
	const uint32_t len = h2_number(p, 3), id = h2_number(p + 5, 4);
	struct h2_sent *s = h2_sent_of(l, (int32_t)id);
	const int64_t last_ns = h2_time_of(&l->sides[from], at + 8 + len);
	if (p[3] == NGHTTP2_DATA || p[3] == NGHTTP2_HEADERS)
		*ends = p[4] & NGHTTP2_FLAG_END_STREAM;
	assert_true(array_room(l->w->frames, l->w->frames_cap, l->w->frames_count + 1));
	l->w->frames[l->w->frames_count++] = (struct h2_frame){l->number, from, s && !s->ended ? (int)(s - l->w->sent) : -1,
	                                                       at,        len,  p[3]};
	if (!s || s->ended)
		return;
	if (p[3] == NGHTTP2_HEADERS && !from && s->start_ns == IPF_ABSENT)
		s->start_ns = h2_time_of(&l->sides[from], at);
	if (p[3] == NGHTTP2_HEADERS && from && s->first_byte_ns == IPF_ABSENT)
		s->first_byte_ns = h2_time_of(&l->sides[from], at);
	const uint32_t padded = p[3] == NGHTTP2_DATA && p[4] & NGHTTP2_FLAG_PADDED, padding = padded ? p[9] : 0;
	for (uint32_t i = padded; p[3] == NGHTTP2_DATA && from && i < len - padding; i++)
		h2_note_read(s, h2_time_of(&l->sides[from], at + 9 + i));
	const bool complete = p[3] == NGHTTP2_DATA || p[4] & NGHTTP2_FLAG_END_HEADERS;
	if ((p[3] == NGHTTP2_DATA || p[3] == NGHTTP2_HEADERS || p[3] == NGHTTP2_CONTINUATION) && complete && *ends) {
		*(from ? &s->end_ns : &s->sent_ns) = last_ns;
		s->ended = from;
	}
	if (p[3] == NGHTTP2_RST_STREAM) {
		s->end_ns = last_ns;
		s->reset = s->ended = true;
	}
}

/* Frames of both sides, by the times of their last bytes. */
static inline void h2_note_truth(struct h2_line *l)
{
	size_t at[2] = {(size_t)l->sides[0].before + 24, (size_t)l->sides[1].before};
	bool ends[2] = {false, false};
	for (;;) {
		int64_t next_ns[2];
		for (int i = 0; i < 2; i++) {
			const uint8_t *p = (const uint8_t *)l->sides[i].wire.data + at[i];
			next_ns[i] = at[i] < l->sides[i].wire.len ? h2_time_of(&l->sides[i], at[i] + 8 + h2_number(p, 3))
			                                          : INT64_MAX;
		}
		const int from = next_ns[1] < next_ns[0];
		if (next_ns[from] == INT64_MAX)
			return;
		const uint8_t *p = (const uint8_t *)l->sides[from].wire.data + at[from];
		h2_note_frame(l, from, at[from], p, &ends[from]);
		at[from] += 9 + h2_number(p, 3);
	}
}

/* ---- connections ---- */

static inline void h2_shake_hands(struct h2_line *l)
{
	h2_send_packet(l, 0, PACKET_SYN, (struct slice){"", 0});
	h2_send_packet(l, 1, PACKET_SYN | PACKET_ACK, (struct slice){"", 0});
	h2_send_packet(l, 0, PACKET_ACK, (struct slice){"", 0});
}

static inline bool h2_is_busy(const struct h2_line *l)
{
	for (int i = 0; i < 2; i++)
		if (nghttp2_session_want_write(l->sides[i].session) || l->sides[i].packed < l->sides[i].wire.len)
			return true;
	return l->begun < H2_REQUESTS;
}

static inline void h2_talk(struct h2_line *l)
{
	struct h2_world *w = l->w;
	for (int i = 0; i < 2; i++)
		h2_settings(w, l->sides[i].session);
	while (h2_is_busy(l)) {
		if (l->begun < H2_REQUESTS && h2_below(w, 3) == 0)
			h2_ask(l);
		h2_disturb(l);
		const int from = (int)h2_below(w, 2);
		h2_write(&l->sides[from], (int)h2_below(w, 8));
		h2_pack(l, from, h2_below(w, 4) ? SIZE_MAX : 1 + h2_below(w, 3000));
	}
}

static inline void h2_close(struct h2_line *l)
{
	h2_send_packet(l, 0, PACKET_ACK | PACKET_FIN, (struct slice){"", 0});
	h2_send_packet(l, 1, PACKET_ACK | PACKET_FIN, (struct slice){"", 0});
	h2_send_packet(l, 0, PACKET_ACK, (struct slice){"", 0});
	for (int i = 0; i < 2; i++) {
		nghttp2_session_del(l->sides[i].session);
		buffer_release(&l->sides[i].wire);
		free(l->sides[i].marks);
	}
}

static inline void h2_connection(struct h2_world *w, int number)
{
	struct h2_line l = {.w = w, .number = number};
	w->now_ns = 1000000000 + h2_below(w, 1000000);
	w->segment_most = h2_below(w, 3) ? 1460 : 1 + h2_below(w, 60);
	l.sides[0].seq = UINT32_MAX - h2_below(w, 3000);
	l.sides[1].seq = h2_below(w, UINT32_MAX);
	h2_open(&l);
	h2_shake_hands(&l);
	h2_talk(&l);
	h2_note_truth(&l);
	h2_close(&l);
}

static inline int h2_by_order(const void *a, const void *b)
{
	const struct h2_packet *x = a, *y = b;
	return (x->order > y->order) - (x->order < y->order);
}

static inline void h2_world_sort(struct h2_world *w)
{
	qsort(w->packets, w->count, sizeof *w->packets, h2_by_order);
}

static inline void h2_world_init(struct h2_world *w, uint64_t seed)
{
	*w = (struct h2_world){.seed = seed};
}

static inline void h2_world_release(struct h2_world *w)
{
	for (size_t i = 0; i < w->count; i++)
		free(w->packets[i].payload);
	free(w->packets);
	free(w->frames);
	for (int i = 0; i < H2_ALL; i++)
		free(w->sent[i].reads);
}

#endif
