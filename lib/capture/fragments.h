/* Puts the fragments of IP packets together (RFC 791 section 3.2, RFC 8200 section 4.5), for packet.h.
 *
 *     switch (fragments_add(&waiting, &part, &lost)) …
 *     case PACKET_TCP:  part.bytes is the whole payload, valid until the next call
 *
 * At most FRAGMENTS_PACKETS packets wait, for at most FRAGMENTS_WAIT_NS of the capture's time; the oldest make room.
 * Parts that overlap are refused with their packet (RFC 5722), but equal duplicates are ignored.
 */
#ifndef IPF_CAPTURE_FRAGMENTS_H
#define IPF_CAPTURE_FRAGMENTS_H

#include "capture/packet.h"

#define FRAGMENTS_PACKETS 64
#define FRAGMENTS_WAIT_NS INT64_C(30000000000)
#define FRAGMENTS_BYTES   65536 /* no packet is longer */

struct fragment {
	uint8_t from[16], to[16];
	uint32_t id;
	uint8_t protocol;
	bool is_part, more; /* further parts follow */
	uint32_t offset;    /* bytes */
	const uint8_t *bytes;
	size_t len;
	int64_t t_ns;
};

/* Takes a part. PACKET_TCP (whatever the protocol): it was the last missing one, and *part becomes the whole;
 * PACKET_FRAGMENT, PACKET_BROKEN, PACKET_NO_MEMORY. *lost counts packets given up. *waiting begins as NULL. */
enum packet_kind fragments_add(struct packet_fragments **waiting, struct fragment *part, int64_t *lost);
void fragments_free(struct packet_fragments *waiting); /* NULL is fine */

#endif
