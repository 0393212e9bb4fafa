/* Packets in, requests with their answers out: puts packet.h, tcp.h and the readers of protocols together.
 *
 *     struct capture_options options = {.ended = take, .data = me, .memory = (size_t)256 << 20};
 *     struct capture *c = capture_new(&options);
 *     while (…)
 *         capture_packet(c, link, &packet, &err);
 *     capture_end(c, &err);                          // exchanges that are open are told as damaged
 *     capture_counts(c)->…
 *     capture_free(c);
 *
 * Every exchange is told once, when it ends: whole ones, failed ones, and those of which a part is missing (damage).
 * Connections whose protocol is not understood are counted by what they are. TLS is decrypted if the keys are known.
 */
#ifndef IPF_CAPTURE_CAPTURE_H
#define IPF_CAPTURE_CAPTURE_H

#include "capture/captured.h"
#include "capture/tcp.h"
#include "capture/tls_keys.h"

struct capture_options {
	/* Takes the exchange over; captured_free. 0 or -1. */
	int (*ended)(void *data, struct captured *x, struct ipf_error *err);
	void *data;
	struct tls_keys *keys; /* to decrypt TLS; borrowed; NULL: none */
	size_t memory;         /* for all bodies in progress */
	const uint16_t *ports; /* servers have these; others are not looked at; count 0: all */
	size_t ports_count;
};

/* The kinds of connections. */
enum capture_protocol {
	CAPTURE_SILENT, /* no bytes came */
	CAPTURE_HTTP1,
	CAPTURE_HTTP2,
	CAPTURE_HTTP2_BEFORE, /* began before the capture: its headers cannot be read */
	CAPTURE_TLS,          /* without keys */
	CAPTURE_TLS_BEFORE,   /* began before the capture */
	CAPTURE_TLS_LOST,     /* cannot be decrypted any further, since packets are missing */
	CAPTURE_TLS_ODD,      /* a version or cipher that is not supported, or no valid TLS */
	CAPTURE_OTHER,
	CAPTURE_PROTOCOLS
};
extern const char *const capture_protocol_names[CAPTURE_PROTOCOLS]; /* "silent", "HTTP/1.1", … */

struct capture_counts {
	int64_t packets, bytes;          /* as captured */
	int64_t truncated;               /* packets that the capture cut */
	int64_t other_packets;           /* other protocols and ports */
	int64_t broken_packets;          /* headers that cannot be read */
	int64_t first_ns, last_ns;       /* the packets' times; IPF_ABSENT: there were none */
	int64_t backwards, backwards_ns; /* packets earlier than one before them, and the most by which they were */
	int64_t connections[CAPTURE_PROTOCOLS];
	int64_t exchanges, damaged[CAPTURE_DAMAGES];
};

/* Packets later than this, in the year 2043, have a broken header (as in lib/stream/fields.h). */
#define CAPTURE_TIME_MOST ((INT64_C(1) << 61) - 1)

struct capture;
struct capture *capture_new(const struct capture_options *options); /* NULL: out of memory */
/* The next packet, in the file's order; `link` as in packet.h. 0 or -1. */
int capture_packet(struct capture *c, int link, const struct packet *packet, struct ipf_error *err);
int capture_end(struct capture *c, struct ipf_error *err);
const struct capture_counts *capture_counts(const struct capture *c);
const struct tcp_counts *capture_tcp_counts(const struct capture *c);
int64_t capture_lost_fragments(const struct capture *c);
/* To free exchanges. */
struct captured_memory *capture_memory(struct capture *c);
void capture_free(struct capture *c); /* NULL is fine */

#endif
