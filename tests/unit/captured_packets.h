/* Packets of invented connections, for tests of captures. A packet is built layer by layer into a buffer:
 *
 *     struct made_packet p = {.link = PACKET_LINK_ETHERNET, .from = client, .to = server, .seq = 1, .payload = text};
 *     struct packet packet = make_packet(&p, &bytes);
 */
#ifndef CAPTURED_PACKETS_H
#define CAPTURED_PACKETS_H

#include "buffer.h"
#include "capture/packet.h"

#include <string.h>

struct made_packet {
	int link;
	bool v6;
	int vlan_tags;
	int extensions;   /* IPv6 */
	uint8_t from, to; /* the last byte of the addresses */
	uint16_t from_port, to_port;
	uint32_t seq, ack;
	uint8_t flags;
	struct slice payload;
	bool zero_length; /* as offloads write it */
	int64_t t_ns;
};

static inline void put16(struct buffer *b, unsigned value)
{
	buffer_byte(b, (char)(value >> 8 & 255));
	buffer_byte(b, (char)(value & 255));
}

static inline void put32(struct buffer *b, uint32_t value)
{
	put16(b, value >> 16);
	put16(b, value & 0xffff);
}

static inline void put_link(const struct made_packet *p, struct buffer *b)
{
	const unsigned type = p->v6 ? 0x86dd : 0x0800;
	static const char zeros[20] = {0};
	switch (p->link) {
	case PACKET_LINK_ETHERNET:
		buffer_append(b, zeros, 12);
		for (int i = 0; i < p->vlan_tags; i++) {
			put16(b, i ? 0x8100 : 0x88a8);
			put16(b, 7);
		}
		put16(b, type);
		break;
	case PACKET_LINK_COOKED:
		buffer_append(b, zeros, 14);
		put16(b, type);
		break;
	case PACKET_LINK_COOKED_2:
		put16(b, type);
		buffer_append(b, zeros, 18);
		break;
	case PACKET_LINK_NULL:
	case PACKET_LINK_LOOP:
		put32(b, p->v6 ? 30 : 2);
		break;
	default:
		break;
	}
}

static inline void put_tcp(const struct made_packet *p, struct buffer *b)
{
	put16(b, p->from_port);
	put16(b, p->to_port);
	put32(b, p->seq);
	put32(b, p->ack);
	put16(b, 0x5000u | p->flags);
	put16(b, 65535);
	put32(b, 0);
	buffer_slice(b, p->payload);
}

static inline void put_ip(const struct made_packet *p, struct buffer *b, size_t payload)
{
	static const char zeros[16] = {0};
	if (!p->v6) {
		put16(b, 0x4500);
		put16(b, p->zero_length ? 0 : (unsigned)(20 + payload));
		put32(b, 0x00010000);
		put16(b, 0x4006);
		put16(b, 0);
		put32(b, 0x0a000000u | p->from);
		put32(b, 0x0a000000u | p->to);
		return;
	}
	put32(b, 0x60000000);
	put16(b, p->zero_length ? 0 : (unsigned)(payload + (size_t)p->extensions * 8));
	put16(b, (p->extensions ? 0u : 0x600u) | 64);
	buffer_append(b, zeros, 15);
	buffer_byte(b, (char)p->from);
	buffer_append(b, zeros, 15);
	buffer_byte(b, (char)p->to);
	for (int i = 0; i < p->extensions; i++) { /* hop-by-hop, then destination options */
		buffer_byte(b, (char)(i + 1 < p->extensions ? 60 : 6));
		buffer_append(b, zeros, 7);
	}
}

static inline struct packet make_packet(const struct made_packet *p, struct buffer *bytes)
{
	buffer_clear(bytes);
	put_link(p, bytes);
	put_ip(p, bytes, 20 + p->payload.len);
	put_tcp(p, bytes);
	return (struct packet){
		.bytes = (const uint8_t *)bytes->data, .len = bytes->len, .wire_len = bytes->len, .t_ns = p->t_ns};
}

#endif
