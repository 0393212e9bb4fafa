#include "capture/packet.h"

#include "capture/fragments.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

enum { ETHER_IPV4 = 0x0800, ETHER_IPV6 = 0x86dd, ETHER_VLAN = 0x8100, ETHER_QINQ = 0x88a8, ETHER_QINQ_OLD = 0x9100 };
enum {
	PROTOCOL_TCP = 6,
	PROTOCOL_HOP_BY_HOP = 0,
	PROTOCOL_ROUTING = 43,
	PROTOCOL_FRAGMENT = 44,
	PROTOCOL_AH = 51,
	PROTOCOL_DESTINATION = 60,
	PROTOCOL_MOBILITY = 135,
	PROTOCOL_HIP = 139,
	PROTOCOL_SHIM6 = 140
};
enum { VLAN_TAGS_MOST = 4, EXTENSIONS_MOST = 16 };

/* The rest of a packet: `len` captured bytes, of `wire` on the wire. */
struct rest {
	const uint8_t *at;
	size_t len, wire;
};

static uint16_t be16(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

static uint32_t be32(const uint8_t *p)
{
	return (uint32_t)be16(p) << 16 | be16(p + 2);
}

/* Takes a header off. False: the capture has not all of it. */
static bool skip(struct rest *r, size_t len)
{
	if (r->len < len)
		return false;
	r->at += len;
	r->len -= len;
	r->wire -= len;
	return true;
}

/* Cuts what follows after `len` bytes, such as padding of the link. */
static void limit(struct rest *r, size_t len)
{
	r->wire = r->wire < len ? r->wire : len;
	r->len = r->len < len ? r->len : len;
}

bool packet_link_is_known(int link)
{
	static const int known[] = {PACKET_LINK_NULL, PACKET_LINK_ETHERNET, PACKET_LINK_RAW_BSD, PACKET_LINK_RAW_OPENBSD,
	                            PACKET_LINK_RAW,  PACKET_LINK_LOOP,     PACKET_LINK_COOKED,  PACKET_LINK_IPV4,
	                            PACKET_LINK_IPV6, PACKET_LINK_COOKED_2};
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (known[i] == link)
			return true;
	return false;
}

/* ---- TCP ---- */

static enum packet_kind read_tcp(struct rest r, struct packet_segment *s)
{
	if (r.len < 20)
		return PACKET_BROKEN;
	const size_t header = (size_t)(r.at[12] >> 4) * 4;
	s->from.port = be16(r.at);
	s->to.port = be16(r.at + 2);
	s->seq = be32(r.at + 4);
	s->ack = be32(r.at + 8);
	s->flags = r.at[13] & (PACKET_FIN | PACKET_SYN | PACKET_RST | PACKET_ACK);
	if (header < 20 || header > r.wire)
		return PACKET_BROKEN;
	s->len = s->missing = 0;
	s->payload = NULL;
	if (header > r.len) { /* cut within the options */
		s->missing = r.wire - header;
		return PACKET_TCP;
	}
	skip(&r, header);
	s->payload = r.len ? (const char *)r.at : NULL;
	s->len = r.len;
	s->missing = r.wire - r.len;
	return PACKET_TCP;
}

/* ---- IP ---- */

/* A packet or a part of one, whose payload is left in `r`. */
static enum packet_kind read_payload(struct packet_layers *l, struct rest r, const struct fragment *part,
                                     struct packet_segment *s)
{
	struct fragment whole = *part;
	whole.bytes = r.at;
	whole.len = r.len;
	if (part->is_part) {
		if (r.len != r.wire) { /* a cut part: its missing bytes are not known */
			l->lost_fragments++;
			return PACKET_BROKEN;
		}
		const enum packet_kind kind = fragments_add(&l->fragments, &whole, &l->lost_fragments);
		if (kind != PACKET_TCP)
			return kind;
		r = (struct rest){whole.bytes, whole.len, whole.len};
	}
	memcpy(s->from.address, part->from, 16);
	memcpy(s->to.address, part->to, 16);
	return whole.protocol == PROTOCOL_TCP ? read_tcp(r, s) : PACKET_OTHER;
}

static enum packet_kind read_ipv4(struct packet_layers *l, struct rest r, struct packet_segment *s)
{
	static const uint8_t mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
	struct fragment part = {.t_ns = s->t_ns};
	if (r.len < 20 || r.at[0] >> 4 != 4)
		return PACKET_BROKEN;
	const uint8_t *ip = r.at;
	const size_t header = (size_t)(ip[0] & 15) * 4, total = be16(ip + 2);
	const uint16_t offset = be16(ip + 6);
	if (header < 20 || (total && (total < header || total > r.wire)))
		return PACKET_BROKEN;
	if (total) /* 0: larger than 65535, or an offload fills it in later */
		limit(&r, total);
	if (!skip(&r, header))
		return PACKET_BROKEN;
	memcpy(part.from, mapped, 12);
	memcpy(part.from + 12, ip + 12, 4);
	memcpy(part.to, mapped, 12);
	memcpy(part.to + 12, ip + 16, 4);
	part.id = be16(ip + 4);
	part.protocol = ip[9];
	part.more = offset & 0x2000;
	part.offset = (uint32_t)(offset & 0x1fff) * 8;
	part.is_part = part.more || part.offset;
	return part.is_part || part.protocol == PROTOCOL_TCP ? read_payload(l, r, &part, s) : PACKET_OTHER;
}

/* Takes an extension header off, and notes where a fragment belongs. False: there is none, or not all of it; the
 * protocol is then that of the header. */
static bool skip_extension(struct rest *r, struct fragment *part)
{
	if (r->len < 8)
		return false;
	const uint8_t *at = r->at;
	size_t len = 8;
	switch (part->protocol) {
	case PROTOCOL_HOP_BY_HOP:
	case PROTOCOL_ROUTING:
	case PROTOCOL_DESTINATION:
	case PROTOCOL_MOBILITY:
	case PROTOCOL_HIP:
	case PROTOCOL_SHIM6:
		len += (size_t)at[1] * 8;
		break;
	case PROTOCOL_AH:
		len += (size_t)at[1] * 4;
		break;
	case PROTOCOL_FRAGMENT:
		part->offset = be16(at + 2) & 0xfff8;
		part->more = at[3] & 1;
		part->is_part = part->more || part->offset;
		part->id = be32(at + 4);
		break;
	default:
		return false;
	}
	if (!skip(r, len))
		return false;
	part->protocol = at[0];
	return true;
}

static enum packet_kind read_ipv6(struct packet_layers *l, struct rest r, struct packet_segment *s)
{
	struct fragment part = {.t_ns = s->t_ns};
	if (r.len < 40 || r.at[0] >> 4 != 6)
		return PACKET_BROKEN;
	const size_t payload = be16(r.at + 4);
	if (payload + 40 > r.wire)
		return PACKET_BROKEN;
	part.protocol = r.at[6];
	memcpy(part.from, r.at + 8, 16);
	memcpy(part.to, r.at + 24, 16);
	if (payload) /* 0: a jumbogram */
		limit(&r, payload + 40);
	skip(&r, 40);
	for (int i = 0; i < EXTENSIONS_MOST && !part.is_part && skip_extension(&r, &part); i++)
		;
	return part.is_part || part.protocol == PROTOCOL_TCP ? read_payload(l, r, &part, s) : PACKET_OTHER;
}

static enum packet_kind read_ip(struct packet_layers *l, struct rest r, struct packet_segment *s)
{
	if (!r.len)
		return PACKET_BROKEN;
	return r.at[0] >> 4 == 4 ? read_ipv4(l, r, s) : r.at[0] >> 4 == 6 ? read_ipv6(l, r, s) : PACKET_OTHER;
}

/* ---- link ---- */

static enum packet_kind read_ether_type(struct packet_layers *l, struct rest r, uint16_t type, struct packet_segment *s)
{
	for (int i = 0; i < VLAN_TAGS_MOST && (type == ETHER_VLAN || type == ETHER_QINQ || type == ETHER_QINQ_OLD); i++) {
		if (r.len < 4)
			return PACKET_BROKEN;
		type = be16(r.at + 2);
		skip(&r, 4);
	}
	return type == ETHER_IPV4 ? read_ipv4(l, r, s) : type == ETHER_IPV6 ? read_ipv6(l, r, s) : PACKET_OTHER;
}

/* The length of the link's header, and where in it the type of the payload is; 0: there is no such field. */
static const struct link {
	int number;
	size_t header, type_at;
} links[] = {
	{PACKET_LINK_ETHERNET, 14, 12}, {PACKET_LINK_COOKED, 16, 14}, {PACKET_LINK_COOKED_2, 20, 0},
	{PACKET_LINK_NULL, 4, 0},       {PACKET_LINK_LOOP, 4, 0},
};

enum packet_kind packet_segment(struct packet_layers *layers, const struct packet *packet,
                                struct packet_segment *segment)
{
	struct rest r = {packet->bytes, packet->len, packet->wire_len > packet->len ? packet->wire_len : packet->len};
	*segment = (struct packet_segment){.t_ns = packet->t_ns};
	for (size_t i = 0; i < sizeof links / sizeof *links; i++) {
		const struct link *link = &links[i];
		if (link->number != layers->link)
			continue;
		const uint8_t *header = r.at;
		if (!skip(&r, link->header))
			return PACKET_BROKEN;
		if (link->number == PACKET_LINK_COOKED_2)
			return read_ether_type(layers, r, be16(header), segment);
		if (link->type_at)
			return read_ether_type(layers, r, be16(header + link->type_at), segment);
	}
	return read_ip(layers, r, segment);
}

void packet_layers_release(struct packet_layers *layers)
{
	fragments_free(layers->fragments);
	layers->fragments = NULL;
}

struct packet_end_name packet_end_name(const struct packet_end *end)
{
	struct packet_end_name name;
	char text[INET6_ADDRSTRLEN] = "?";
	const bool v4 = IN6_IS_ADDR_V4MAPPED((const struct in6_addr *)(const void *)end->address);
	inet_ntop(v4 ? AF_INET : AF_INET6, end->address + (v4 ? 12 : 0), text, sizeof text);
	snprintf(name.text, sizeof name.text, v4 ? "%s:%u" : "[%s]:%u", text, end->port);
	return name;
}
