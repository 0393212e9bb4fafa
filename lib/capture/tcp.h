/* Puts the segments of captured TCP connections in order (RFC 9293) and tells what each side sent, with times.
 *
 *     struct tcp_table *table = tcp_table_new(&sink, data);
 *     tcp_table_segment(table, &segment, &err);     // for each segment, in the capture's order
 *     tcp_table_end(table, now_ns, &err);           // the capture has ended
 *     tcp_table_free(table);
 *
 * Retransmitted, duplicated, overlapping and reordered segments, wrapping sequence numbers, keep-alive probes, segments
 * of any size and connections that began before the capture are handled. If bytes came several times, the first
 * ones count.
 *
 * A byte's time is when it became deliverable in order: its packet's, or that of a later packet that filled the gap
 * before it. A gap that no packet fills although the other side acknowledged it was lost by the capture alone; bytes
 * behind it then have their own packet's time. It is waited for during TCP_GAP_WAIT_NS of the capture's time, since
 * captures may have packets in another order than the wire. Bytes are told after all bytes of the other side that
 * their sender had acknowledged: a response never comes before its request.
 *
 * Memory is bounded whatever comes: TCP_CONNECTIONS_MOST connections, of which the least recently active one makes
 * room; TCP_WAITING_SIDE bytes and TCP_WAITING_PIECES segments behind a gap of one side, TCP_WAITING_ALL bytes in all:
 * beyond these a gap counts as lost.
 */
#ifndef IPF_CAPTURE_TCP_H
#define IPF_CAPTURE_TCP_H

#include "capture/packet.h"
#include "buffer.h"
#include "error.h"

#define TCP_CONNECTIONS_MOST 131072
#define TCP_WAITING_SIDE     ((size_t)4 << 20)
#define TCP_WAITING_PIECES   4096
#define TCP_WAITING_ALL      ((size_t)64 << 20)
#define TCP_GAP_WAIT_NS      INT64_C(100000000)

enum tcp_side { TCP_CLIENT, TCP_SERVER };
/* Why nothing more is told of a connection. */
enum tcp_close {
	TCP_CLOSED,   /* both sides have finished */
	TCP_RESET,    /* by `reset_by` */
	TCP_REPLACED, /* a new connection between the same ends began */
	TCP_EVICTED,  /* it had to make room for others */
	TCP_END,      /* the capture ended */
};

struct tcp_half; /* private */
struct tcp_connection {
	struct packet_end ends[2]; /* by enum tcp_side. The client is the one that opened it; of a connection that began
	                            * before the capture, a guess by its first bytes, else by the ports */
	bool from_start;           /* its opening is in the capture */
	enum tcp_side reset_by;    /* for TCP_RESET */
	bool lost_by_cut;          /* during `lost`: a limit on the length of packets cut these bytes */
	int64_t opened_ns;         /* its first packet */
	void *owner;               /* the sink's */

	/* private */
	struct tcp_half *halves[2];
	struct tcp_connection *chain, *newer, *older, *gap_next, *gap_before;
	uint64_t hash;
	int64_t gap_due_ns;
	uint32_t syn_seq;
	bool syn_seen, gone, gap_listed;
};

/* Each returns 0, or -1 after which nothing more is told. */
struct tcp_sink {
	/* The next bytes of a side, in order. */
	int (*bytes)(void *data, struct tcp_connection *c, enum tcp_side from, struct slice bytes, int64_t t_ns,
	             struct ipf_error *err);
	/* The next `len` bytes are not in the capture. */
	int (*lost)(void *data, struct tcp_connection *c, enum tcp_side from, uint64_t len, int64_t t_ns,
	            struct ipf_error *err);
	/* The side will send no more. */
	int (*finished)(void *data, struct tcp_connection *c, enum tcp_side from, int64_t t_ns, struct ipf_error *err);
	/* The last call for a connection of which any other call came; release its owner. */
	int (*closed)(void *data, struct tcp_connection *c, enum tcp_close why, int64_t t_ns, struct ipf_error *err);
};

struct tcp_counts {
	int64_t connections, began_before, evicted;
	int64_t retransmitted_bytes, duplicate_segments; /* with bytes that were there */
	int64_t lost_gaps, lost_bytes;                   /* not in the capture although the receiver had them, or before
	                                                  * other bytes of the side */
	int64_t cut_segments;                            /* by the capture's limit on a packet's length */
	int64_t odd_segments;                            /* sequence numbers that fit nowhere */
};

struct tcp_table;
struct tcp_table *tcp_table_new(const struct tcp_sink *sink, void *data); /* NULL: out of memory */
int tcp_table_segment(struct tcp_table *t, const struct packet_segment *segment, struct ipf_error *err);
int tcp_table_end(struct tcp_table *t, int64_t now_ns, struct ipf_error *err);
const struct tcp_counts *tcp_table_counts(const struct tcp_table *t);
/* Calls no sink: whoever ends early releases owners by tcp_table_each. NULL is fine. */
void tcp_table_free(struct tcp_table *t);
/* Calls `each` for every connection that was not closed. */
void tcp_table_each(struct tcp_table *t, void (*each)(void *data, struct tcp_connection *c), void *data);

#endif
