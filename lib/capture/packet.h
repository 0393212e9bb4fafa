/* A captured packet as a segment of TCP: link layer, IP and TCP headers taken off.
 *
 *     struct packet_layers layers = {.link = PACKET_LINK_ETHERNET};
 *     switch (packet_segment(&layers, &packet, &segment)) …
 *     packet_layers_release(&layers);
 *
 * Link types: Ethernet (with VLAN and QinQ tags), Linux cooked v1 and v2, BSD loopback, raw IP. IPv4 with options and
 * fragments (RFC 791), IPv6 with extension headers and fragments (RFC 8200). Fragments wait for each other in bounded
 * memory: the packet with the last one has the whole segment. Reads no file and keeps no time.
 *
 * A capture may cut packets (snaplen): `missing` bytes of the payload then follow those that are there. The packets of
 * offloads, larger than the link's, are read by the length captured where the IP header says 0.
 */
#ifndef IPF_CAPTURE_PACKET_H
#define IPF_CAPTURE_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The numbers of pcap files (https://www.tcpdump.org/linktypes.html). */
enum packet_link {
	PACKET_LINK_NULL = 0,
	PACKET_LINK_ETHERNET = 1,
	PACKET_LINK_RAW_BSD = 12, /* as files have it that were written without a translation */
	PACKET_LINK_RAW_OPENBSD = 14,
	PACKET_LINK_RAW = 101,
	PACKET_LINK_LOOP = 108,
	PACKET_LINK_COOKED = 113,
	PACKET_LINK_IPV4 = 228,
	PACKET_LINK_IPV6 = 229,
	PACKET_LINK_COOKED_2 = 276,
};

/* Can packets of this link type be read? */
bool packet_link_is_known(int link);

struct packet {
	const uint8_t *bytes; /* as captured */
	size_t len;
	size_t wire_len; /* on the wire: at least `len` */
	int64_t t_ns;    /* since 1970 */
};

/* An end of a connection. IPv4 addresses are mapped (::ffff:192.0.2.1), so a comparison of bytes is enough. */
struct packet_end {
	uint8_t address[16];
	uint16_t port, unused; /* `unused` is 0 */
};

enum { PACKET_FIN = 1, PACKET_SYN = 2, PACKET_RST = 4, PACKET_ACK = 16 };

struct packet_segment {
	struct packet_end from, to;
	uint32_t seq, ack;
	uint8_t flags;
	const char *payload; /* valid until the next call; NULL if len is 0 */
	size_t len;
	size_t missing; /* further bytes of the payload that the capture cut */
	int64_t t_ns;
};

/* "192.0.2.1:8000", "[2001:db8::1]:8000" */
struct packet_end_name {
	char text[64];
};
struct packet_end_name packet_end_name(const struct packet_end *end);

enum packet_kind {
	PACKET_TCP,      /* *segment is set */
	PACKET_OTHER,    /* another protocol */
	PACKET_FRAGMENT, /* a part of a packet, whose other parts are to come */
	PACKET_BROKEN,   /* headers that contradict themselves, or which the capture cut: no segment can be read */
	PACKET_NO_MEMORY,
};

/* State between packets: fragments that wait. Zero-initialise but for `link`. */
struct packet_layers {
	int link;
	struct packet_fragments *fragments; /* NULL: none came */
	int64_t lost_fragments;             /* that were given up: their others did not come, or there was no room */
};

enum packet_kind packet_segment(struct packet_layers *layers, const struct packet *packet,
                                struct packet_segment *segment);
void packet_layers_release(struct packet_layers *layers);

#endif
