#include "capture/tcp.h"

#include "hash_index.h"

#include <stdlib.h>
#include <string.h>

enum { BUCKETS = 65536 };
#define ODD_DISTANCE  INT32_C(0x40000000) /* no window is larger (RFC 7323) */
#define SYN_LATE_MOST INT32_C(0x100000)   /* bytes before a late SYN */
#define RST_FAR       INT32_C(0x1000000)  /* a reset further away belongs to no such connection */

/* A segment that waits for the bytes before it. */
struct piece {
	struct piece *next;
	uint32_t seq, ack;
	bool has_ack;
	size_t len, missing;
	int64_t t_ns;
	char bytes[];
};

/* The bytes a side sends. */
struct tcp_half {
	uint32_t next;  /* the next byte to tell */
	uint32_t acked; /* by the other side */
	uint32_t fin;   /* where it finished */
	bool known;     /* `next` is */
	bool told;      /* bytes were told, or missed */
	bool has_acked, has_fin, finished;
	bool gap_noted; /* lost bytes begin at `gap_at` … */
	uint32_t gap_at;
	int64_t gap_ns;             /* … and are waited for since then */
	int64_t last_ns;            /* the time of the bytes told last */
	struct piece *first, *last; /* by sequence number */
	size_t pieces, waiting;
};

struct tcp_table {
	const struct tcp_sink *sink;
	void *data;
	struct tcp_connection *buckets[BUCKETS];
	struct tcp_connection *newest, *oldest;
	struct tcp_connection *gaps, *gaps_last; /* with a gap to give up, by the time */
	size_t count, waiting;
	struct tcp_counts counts;
};

/* The current call. */
struct step {
	struct tcp_table *t;
	struct tcp_connection *c;
	int64_t t_ns;
	struct ipf_error *err;
};

static int32_t distance(uint32_t from, uint32_t to)
{
	return (int32_t)(to - from);
}

struct tcp_table *tcp_table_new(const struct tcp_sink *sink, void *data)
{
	struct tcp_table *t = calloc(1, sizeof *t);
	if (t) {
		t->sink = sink;
		t->data = data;
	}
	return t;
}

const struct tcp_counts *tcp_table_counts(const struct tcp_table *t)
{
	return &t->counts;
}

/* ---- connections ---- */

static uint64_t hash_of_end(const struct packet_end *end)
{
	uint64_t a, b;
	memcpy(&a, end->address, 8);
	memcpy(&b, end->address + 8, 8);
	return hash_index_key(a ^ hash_index_key(b ^ hash_index_key(end->port)));
}

static bool same_end(const struct packet_end *a, const struct packet_end *b)
{
	return memcmp(a, b, sizeof *a) == 0;
}

/* By both ends, in either direction. */
static struct tcp_connection *find(struct tcp_table *t, const struct packet_segment *s, uint64_t hash)
{
	for (struct tcp_connection *c = t->buckets[hash % BUCKETS]; c; c = c->chain)
		if (c->hash == hash && ((same_end(&c->ends[TCP_CLIENT], &s->from) && same_end(&c->ends[TCP_SERVER], &s->to)) ||
		                        (same_end(&c->ends[TCP_CLIENT], &s->to) && same_end(&c->ends[TCP_SERVER], &s->from))))
			return c;
	return NULL;
}

static void unlink_by_age(struct tcp_table *t, struct tcp_connection *c)
{
	*(c->newer ? &c->newer->older : &t->newest) = c->older;
	*(c->older ? &c->older->newer : &t->oldest) = c->newer;
	c->newer = c->older = NULL;
}

static void link_newest(struct tcp_table *t, struct tcp_connection *c)
{
	c->older = t->newest;
	c->newer = NULL;
	*(t->newest ? &t->newest->newer : &t->oldest) = c;
	t->newest = c;
}

/* Connections that have ended make room first. */
static void link_oldest(struct tcp_table *t, struct tcp_connection *c)
{
	c->newer = t->oldest;
	c->older = NULL;
	*(t->oldest ? &t->oldest->older : &t->newest) = c;
	t->oldest = c;
}

static void drop_pieces(struct tcp_table *t, struct tcp_half *half)
{
	t->waiting -= half->waiting;
	half->waiting = half->pieces = 0;
	for (struct piece *next; half->first; half->first = next) {
		next = half->first->next;
		free(half->first);
	}
	half->last = NULL;
}

static void free_halves(struct tcp_table *t, struct tcp_connection *c)
{
	for (int side = 0; side < 2; side++) {
		if (c->halves[side])
			drop_pieces(t, c->halves[side]);
		free(c->halves[side]);
		c->halves[side] = NULL;
	}
}

static void unlist_gap(struct tcp_table *t, struct tcp_connection *c)
{
	if (!c->gap_listed)
		return;
	*(c->gap_before ? &c->gap_before->gap_next : &t->gaps) = c->gap_next;
	*(c->gap_next ? &c->gap_next->gap_before : &t->gaps_last) = c->gap_before;
	c->gap_listed = false;
	c->gap_next = c->gap_before = NULL;
}

/* It is closed, or the whole table goes. */
static void forget(struct tcp_table *t, struct tcp_connection *c)
{
	struct tcp_connection **at = &t->buckets[c->hash % BUCKETS];
	while (*at != c)
		at = &(*at)->chain;
	*at = c->chain;
	unlink_by_age(t, c);
	free_halves(t, c);
	free(c);
	t->count--;
}

/* ---- telling ---- */

static int tell_lost(struct step *s, enum tcp_side from, uint32_t len, int64_t t_ns)
{
	s->t->counts.lost_gaps++;
	s->t->counts.lost_bytes += len;
	s->c->halves[from]->next += len;
	s->c->halves[from]->told = true;
	return s->t->sink->lost(s->t->data, s->c, from, len, t_ns, s->err);
}

/* The bytes of a segment from `next` on, and what the capture cut of it. They were deliverable when their packet was
 * there, and those of all bytes before. */
static int tell_segment(struct step *s, enum tcp_side from, const struct packet_segment *part)
{
	struct tcp_half *half = s->c->halves[from];
	const size_t old = (size_t)distance(part->seq, half->next), whole = part->len + part->missing;
	half->last_ns = part->t_ns > half->last_ns ? part->t_ns : half->last_ns;
	if (old < part->len) {
		const struct slice bytes = {part->payload + old, part->len - old};
		half->next += (uint32_t)bytes.len;
		half->told = true;
		if (s->t->sink->bytes(s->t->data, s->c, from, bytes, half->last_ns, s->err) < 0)
			return -1;
	}
	const size_t told = (size_t)distance(part->seq, half->next);
	if (told >= whole)
		return 0;
	s->c->lost_by_cut = true;
	const int status = tell_lost(s, from, (uint32_t)(whole - told), half->last_ns);
	s->c->lost_by_cut = false;
	return status;
}

/* Did the sender of a segment have bytes of the other side that were not told yet? */
static bool is_early(const struct tcp_half *other, bool has_ack, uint32_t ack)
{
	const int32_t ahead = has_ack && other->known ? distance(other->next, ack) : 0;
	return ahead > 0 && ahead < ODD_DISTANCE && !(other->has_fin && distance(other->fin, other->next) >= 0);
}

/* Takes the first piece out and tells it. */
static int tell_piece(struct step *s, enum tcp_side from)
{
	struct tcp_half *half = s->c->halves[from];
	struct piece *p = half->first;
	const struct packet_segment part = {
		.seq = p->seq, .payload = p->bytes, .len = p->len, .missing = p->missing, .t_ns = p->t_ns};
	half->first = p->next;
	if (!half->first)
		half->last = NULL;
	half->pieces--;
	half->waiting -= sizeof *p + p->len;
	s->t->waiting -= sizeof *p + p->len;
	const int status = distance(half->next, p->seq + (uint32_t)(p->len + p->missing)) > 0 ? tell_segment(s, from, &part)
	                                                                                      : 0;
	free(p);
	return status;
}

static int tell_finish(struct step *s, enum tcp_side from, int64_t t_ns)
{
	struct tcp_half *half = s->c->halves[from];
	if (!half->has_fin || half->finished || distance(half->next, half->fin) > 0)
		return 0;
	half->finished = true;
	return s->t->sink->finished(s->t->data, s->c, from, t_ns, s->err);
}

/* Bytes that the receiver has and the capture has not. */
static bool has_lost(const struct tcp_half *half)
{
	const int32_t acked = half->has_acked ? distance(half->next, half->acked) : 0;
	const int32_t fin = half->has_fin ? distance(half->next, half->fin) : INT32_MAX;
	return half->known && (acked < fin ? acked : fin) > 0;
}

/* Tells pieces without a gap before them, of both sides in turn: each after those its sender had got. `all`: in any
 * order. */
static int tell_pieces(struct step *s, bool all)
{
	for (bool told = true; told;) {
		told = false;
		for (int side = 0; side < 2; side++) {
			struct tcp_half *half = s->c->halves[side], *other = s->c->halves[!side];
			while (half->first && distance(half->next, half->first->seq) <= 0 &&
			       (all || !is_early(other, half->first->has_ack, half->first->ack))) {
				if (tell_piece(s, (enum tcp_side)side) < 0)
					return -1;
				told = true;
			}
			if (tell_finish(s, (enum tcp_side)side, s->t_ns) < 0)
				return -1;
		}
	}
	return 0;
}

/* The bytes of a side that are missing next: those the other side acknowledged, up to the first piece, and up to what
 * the other side had when it sent its own next piece, which comes before the rest. `all`: also bytes that nobody
 * acknowledged. */
static int32_t gap_of(const struct tcp_connection *c, enum tcp_side side, bool all)
{
	const struct tcp_half *half = c->halves[side];
	const struct piece *other = c->halves[!side]->first;
	const int32_t end = half->has_fin ? distance(half->next, half->fin) : INT32_MAX;
	int32_t gap = half->first ? distance(half->next, half->first->seq) : end;
	int32_t acked = half->has_acked ? distance(half->next, half->acked) : 0;
	if (!half->known)
		return 0;
	if (other && is_early(half, other->has_ack, other->ack))
		acked = distance(half->next, other->ack);
	acked = acked < end ? acked : end; /* the end takes a number as well */
	if (acked > 0)
		return acked < gap ? acked : gap;
	return all && gap < INT32_MAX ? gap : 0;
}

static int give_up(struct step *s, enum tcp_side from, bool all)
{
	const struct tcp_half *half = s->c->halves[from];
	const int32_t gap = gap_of(s->c, from, all);
	const int64_t t_ns = half->first ? half->first->t_ns : s->t_ns;
	return gap > 0 ? tell_lost(s, from, (uint32_t)gap, t_ns > half->last_ns ? t_ns : half->last_ns) : 0;
}

static int64_t time_of_gap(const struct tcp_half *half)
{
	return half->first ? half->first->t_ns : INT64_MAX;
}

/* Everything that waits, at the end of a connection: bytes first that the other side had, then gaps by the time of the
 * first piece behind them. */
static int flush(struct step *s)
{
	const struct tcp_half *client = s->c->halves[TCP_CLIENT], *server = s->c->halves[TCP_SERVER];
	for (;;) {
		if (tell_pieces(s, false) < 0)
			return -1;
		bool all = false, at_client = gap_of(s->c, TCP_CLIENT, all) > 0, at_server = gap_of(s->c, TCP_SERVER, all) > 0;
		if (!at_client && !at_server) {
			all = true;
			at_client = gap_of(s->c, TCP_CLIENT, all) > 0;
			at_server = gap_of(s->c, TCP_SERVER, all) > 0;
		}
		if (!at_client && !at_server)
			return tell_pieces(s, true);
		const bool first = at_client && (!at_server || time_of_gap(client) <= time_of_gap(server));
		if (give_up(s, first ? TCP_CLIENT : TCP_SERVER, all) < 0)
			return -1;
	}
}

static int close_connection(struct step *s, enum tcp_close why)
{
	struct tcp_connection *c = s->c;
	if (c->gone)
		return 0;
	if (flush(s) < 0)
		return -1;
	c->gone = true;
	unlink_by_age(s->t, c);
	link_oldest(s->t, c);
	unlist_gap(s->t, c);
	free_halves(s->t, c);
	return c->owner ? s->t->sink->closed(s->t->data, c, why, s->t_ns, s->err) : 0;
}

/* ---- opening ---- */

/* Are these the first bytes of a server of HTTP? 1; those of a client: 0; -1: not known. */
static int sent_by_server(const struct packet_segment *s)
{
	static const char *const clients[] = {"POST ", "GET ", "PUT ", "HEAD ", "OPTIONS ", "DELETE ", "PRI * "};
	if (s->len >= 7 && memcmp(s->payload, "HTTP/1.", 7) == 0)
		return 1;
	for (size_t i = 0; i < sizeof clients / sizeof *clients; i++)
		if (s->len >= strlen(clients[i]) && memcmp(s->payload, clients[i], strlen(clients[i])) == 0)
			return 0;
	return -1;
}

/* Which side sent the first segment seen? */
static enum tcp_side side_of_first(const struct packet_segment *s)
{
	const int server = sent_by_server(s);
	if (s->flags & PACKET_SYN)
		return s->flags & PACKET_ACK ? TCP_SERVER : TCP_CLIENT;
	if (server >= 0)
		return server ? TCP_SERVER : TCP_CLIENT;
	return s->from.port < s->to.port ? TCP_SERVER : TCP_CLIENT;
}

static struct tcp_connection *open_connection(struct tcp_table *t, const struct packet_segment *s, uint64_t hash,
                                              struct ipf_error *err)
{
	struct tcp_connection *c = calloc(1, sizeof *c);
	const enum tcp_side from = side_of_first(s);
	for (int side = 0; c && side < 2; side++)
		if (!(c->halves[side] = calloc(1, sizeof *c->halves[side]))) {
			free_halves(t, c);
			free(c);
			c = NULL;
		}
	if (!c) {
		ipf_error_memory(err);
		return NULL;
	}
	c->ends[from] = s->from;
	c->ends[!from] = s->to;
	c->from_start = s->flags & PACKET_SYN;
	c->opened_ns = s->t_ns;
	c->hash = hash;
	c->chain = t->buckets[hash % BUCKETS];
	t->buckets[hash % BUCKETS] = c;
	link_newest(t, c);
	t->count++;
	t->counts.connections++;
	t->counts.began_before += !c->from_start;
	return c;
}

/* Makes room for one more. */
static int evict(struct tcp_table *t, int64_t t_ns, struct ipf_error *err)
{
	struct step s = {t, t->oldest, t_ns, err};
	if (t->count < TCP_CONNECTIONS_MOST)
		return 0;
	t->counts.evicted += !s.c->gone;
	if (close_connection(&s, TCP_EVICTED) < 0)
		return -1;
	forget(t, s.c);
	return 0;
}

/* Does a SYN begin a new connection between the ends of this one? Not if it comes again, or late: then it belongs to
 * the bytes that were told. */
static bool is_replaced(const struct tcp_connection *c, const struct packet_segment *s)
{
	const struct tcp_half *half = c->halves[TCP_CLIENT];
	if ((s->flags & (PACKET_SYN | PACKET_ACK)) != PACKET_SYN)
		return false;
	if (c->gone || c->syn_seen)
		return !c->syn_seen || s->seq != c->syn_seq;
	if (!same_end(&c->ends[TCP_CLIENT], &s->from))
		return true;
	const int32_t told = half->known ? distance(s->seq + 1, half->next) : 0;
	return told < 0 || told > SYN_LATE_MOST;
}

/* The segment's connection; NULL without an error: it belongs to one that is gone. */
static struct tcp_connection *connection_of(struct tcp_table *t, const struct packet_segment *segment,
                                            struct ipf_error *err)
{
	const uint64_t hash = hash_of_end(&segment->from) ^ hash_of_end(&segment->to);
	struct tcp_connection *c = find(t, segment, hash);
	if (c && is_replaced(c, segment)) {
		struct step s = {t, c, segment->t_ns, err};
		if (close_connection(&s, TCP_REPLACED) < 0)
			return NULL;
		forget(t, c);
		c = NULL;
	}
	if (c && c->gone)
		return NULL;
	if (c) {
		unlink_by_age(t, c);
		link_newest(t, c);
		return c;
	}
	if (segment->flags & PACKET_RST) /* nothing is known of what it ends */
		return NULL;
	return evict(t, segment->t_ns, err) < 0 ? NULL : open_connection(t, segment, hash, err);
}

/* ---- segments ---- */

/* Keeps a segment behind a gap. */
static int keep(struct step *s, enum tcp_side from, const struct packet_segment *part)
{
	struct tcp_half *half = s->c->halves[from];
	struct piece **at = &half->first;
	if (half->last && distance(half->last->seq, part->seq) > 0)
		at = &half->last->next;
	while (*at && distance((*at)->seq, part->seq) > 0)
		at = &(*at)->next;
	if (*at && (*at)->seq == part->seq && (*at)->len >= part->len) {
		s->t->counts.duplicate_segments++;
		return 0;
	}
	struct piece *p = malloc(sizeof *p + part->len);
	if (!p)
		return ipf_error_memory(s->err);
	*p = (struct piece){.next = *at,
	                    .seq = part->seq,
	                    .ack = part->ack,
	                    .has_ack = part->flags & PACKET_ACK,
	                    .len = part->len,
	                    .missing = part->missing,
	                    .t_ns = part->t_ns};
	if (part->len)
		memcpy(p->bytes, part->payload, part->len);
	*at = p;
	if (!p->next)
		half->last = p;
	half->pieces++;
	half->waiting += sizeof *p + p->len;
	s->t->waiting += sizeof *p + p->len;
	if (half->pieces > TCP_WAITING_PIECES || half->waiting > TCP_WAITING_SIDE || s->t->waiting > TCP_WAITING_ALL)
		return give_up(s, from, true) < 0 ? -1 : tell_pieces(s, true);
	return 0;
}

static int take_payload(struct step *s, enum tcp_side from, const struct packet_segment *part)
{
	struct tcp_half *half = s->c->halves[from];
	const size_t whole = part->len + part->missing;
	const int32_t ahead = distance(half->next, part->seq), end = distance(half->next, part->seq + (uint32_t)whole);
	if (ahead >= ODD_DISTANCE || ahead <= -ODD_DISTANCE || whole >= (size_t)ODD_DISTANCE) {
		s->t->counts.odd_segments++;
		return 0;
	}
	if (end <= 0) {
		s->t->counts.duplicate_segments++;
		s->t->counts.retransmitted_bytes += (int64_t)whole;
		return 0;
	}
	s->t->counts.cut_segments += part->missing > 0;
	if (ahead > 0 || is_early(s->c->halves[!from], part->flags & PACKET_ACK, part->ack))
		return keep(s, from, part);
	s->t->counts.retransmitted_bytes += -(int64_t)ahead;
	return tell_segment(s, from, part) < 0 ? -1 : tell_pieces(s, false);
}

/* The segment acknowledges bytes of the other side. */
static void take_ack(struct step *s, enum tcp_side from, const struct packet_segment *segment)
{
	struct tcp_half *other = s->c->halves[!from];
	if (!(segment->flags & PACKET_ACK))
		return;
	if (!other->known) { /* all that came before is not in the capture; a SYN has been counted */
		other->known = true;
		other->next = segment->ack;
	}
	const int32_t newer = other->has_acked ? distance(other->acked, segment->ack) : 1;
	if (newer > 0 && newer < ODD_DISTANCE && distance(other->next, segment->ack) < ODD_DISTANCE) {
		other->acked = segment->ack;
		other->has_acked = true;
	}
}

/* Since when the gap of a side that is there now is known: by an acknowledgement, or by the segment behind it.
 * INT64_MAX: there is none, or the next bytes wait for the other side. */
static int64_t gap_since(struct tcp_half *half, int64_t now_ns)
{
	if (!has_lost(half) || (half->first && distance(half->next, half->first->seq) <= 0)) {
		half->gap_noted = false;
		return INT64_MAX;
	}
	if (!half->gap_noted || half->gap_at != half->next) {
		half->gap_noted = true;
		half->gap_at = half->next;
		half->gap_ns = now_ns;
	}
	return half->first && half->first->t_ns < half->gap_ns ? half->first->t_ns : half->gap_ns;
}

/* The same for the connection. Without a gap, pieces that wait for each other: retransmitted ones may have newer
 * acknowledgements than the lost originals. */
static int64_t wait_since(struct tcp_connection *c, int64_t now_ns, bool *gap)
{
	const struct piece *first[2] = {c->halves[TCP_CLIENT]->first, c->halves[TCP_SERVER]->first};
	const int64_t client = gap_since(c->halves[TCP_CLIENT], now_ns), server = gap_since(c->halves[TCP_SERVER], now_ns);
	int64_t since = client < server ? client : server;
	*gap = since != INT64_MAX;
	for (int side = 0; side < 2 && !*gap; side++)
		if (first[side] && distance(c->halves[side]->next, first[side]->seq) <= 0 && first[side]->t_ns < since)
			since = first[side]->t_ns;
	return since;
}

/* Notes when the gaps that are there now will be given up. */
static void watch_gap(struct tcp_table *t, struct tcp_connection *c, int64_t now_ns)
{
	bool gap;
	const int64_t since = wait_since(c, now_ns, &gap);
	if (since == INT64_MAX)
		unlist_gap(t, c);
	if (c->gap_listed || since == INT64_MAX)
		return;
	c->gap_due_ns = since + TCP_GAP_WAIT_NS;
	c->gap_listed = true;
	c->gap_before = t->gaps_last;
	*(t->gaps_last ? &t->gaps_last->gap_next : &t->gaps) = c;
	t->gaps_last = c;
}

/* Gives up what was waited for long enough. */
static int end_waiting(struct step *s, int64_t now_ns)
{
	bool gap;
	while (wait_since(s->c, now_ns, &gap) <= now_ns - TCP_GAP_WAIT_NS) {
		for (int side = 0; side < 2 && gap; side++)
			if (gap_since(s->c->halves[side], now_ns) <= now_ns - TCP_GAP_WAIT_NS &&
			    give_up(s, (enum tcp_side)side, false) < 0)
				return -1;
		if (tell_pieces(s, !gap) < 0)
			return -1;
	}
	return 0;
}

static int end_gaps(struct tcp_table *t, int64_t now_ns, struct ipf_error *err)
{
	while (t->gaps && t->gaps->gap_due_ns <= now_ns) {
		struct tcp_connection *c = t->gaps;
		struct step s = {t, c, now_ns, err};
		unlist_gap(t, c);
		if (end_waiting(&s, now_ns) < 0)
			return -1;
		watch_gap(t, c, now_ns);
	}
	return 0;
}

static int take_segment(struct step *s, enum tcp_side from, const struct packet_segment *segment)
{
	struct tcp_half *half = s->c->halves[from];
	struct packet_segment part = *segment;
	if (part.flags & PACKET_SYN) {
		if (!half->told) /* else it comes late, or again */
			half->next = part.seq + 1;
		half->known = true;
		if (!(part.flags & PACKET_ACK)) {
			s->c->syn_seen = true;
			s->c->syn_seq = part.seq;
		}
		part.seq++; /* data with it (TCP Fast Open) follow */
	}
	if (!half->known && !(part.flags & PACKET_RST)) { /* a segment without bytes says, too, where they go on */
		half->known = true;
		half->next = part.seq;
	}
	take_ack(s, from, segment);
	if (part.len + part.missing > 0 && take_payload(s, from, &part) < 0)
		return -1;
	if (part.flags & PACKET_FIN && !half->has_fin) {
		half->has_fin = true;
		half->fin = part.seq + (uint32_t)(part.len + part.missing);
	}
	if (tell_pieces(s, false) < 0)
		return -1;
	watch_gap(s->t, s->c, part.t_ns);
	if (part.flags & PACKET_RST && half->told && abs(distance(half->next, part.seq)) > RST_FAR)
		s->t->counts.odd_segments++;
	else if (part.flags & PACKET_RST) {
		s->c->reset_by = from;
		return close_connection(s, TCP_RESET);
	}
	return half->finished && s->c->halves[!from]->finished ? close_connection(s, TCP_CLOSED) : 0;
}

int tcp_table_segment(struct tcp_table *t, const struct packet_segment *segment, struct ipf_error *err)
{
	if (end_gaps(t, segment->t_ns, err) < 0)
		return -1;
	struct tcp_connection *c = connection_of(t, segment, err);
	if (!c)
		return err->kind ? -1 : 0;
	struct step s = {t, c, segment->t_ns, err};
	return take_segment(&s, same_end(&c->ends[TCP_CLIENT], &segment->from) ? TCP_CLIENT : TCP_SERVER, segment);
}

int tcp_table_end(struct tcp_table *t, int64_t now_ns, struct ipf_error *err)
{
	for (struct tcp_connection *c = t->oldest, *next; c; c = next) {
		next = c->newer; /* an ended one goes to the oldest */
		struct step s = {t, c, now_ns, err};
		if (close_connection(&s, TCP_END) < 0)
			return -1;
	}
	return 0;
}

void tcp_table_each(struct tcp_table *t, void (*each)(void *data, struct tcp_connection *c), void *data)
{
	for (struct tcp_connection *c = t->oldest; c; c = c->newer)
		if (!c->gone)
			each(data, c);
}

void tcp_table_free(struct tcp_table *t)
{
	while (t && t->oldest)
		forget(t, t->oldest);
	free(t);
}
