#include "capture/fragments.h"

#include <stdlib.h>
#include <string.h>

enum { UNITS = FRAGMENTS_BYTES / 8 }; /* offsets count eight bytes each */

struct partial {
	struct fragment key; /* its first part to come */
	bool used, complete;
	uint32_t end;      /* the whole packet's; 0: the last part has not come */
	uint32_t received; /* bytes */
	uint8_t *bytes;
	uint8_t seen[UNITS / 8]; /* a bit for each unit */
};

struct packet_fragments {
	struct partial list[FRAGMENTS_PACKETS];
};

static bool same_packet(const struct partial *p, const struct fragment *part)
{
	return p->used && p->key.id == part->id && p->key.protocol == part->protocol &&
	       memcmp(p->key.from, part->from, 16) == 0 && memcmp(p->key.to, part->to, 16) == 0 &&
	       part->t_ns - p->key.t_ns < FRAGMENTS_WAIT_NS;
}

static void begin(struct partial *p, const struct fragment *part)
{
	uint8_t *bytes = p->bytes;
	memset(p, 0, sizeof *p);
	p->bytes = bytes;
	p->key = *part;
	p->used = true;
}

/* The packet the part belongs to, or the place of the oldest one for a new packet. */
static struct partial *find(struct packet_fragments *w, const struct fragment *part, int64_t *lost)
{
	struct partial *oldest = &w->list[0];
	for (size_t i = 0; i < FRAGMENTS_PACKETS; i++) {
		struct partial *p = &w->list[i];
		if (same_packet(p, part))
			return p;
		if (oldest->used && (!p->used || p->key.t_ns < oldest->key.t_ns))
			oldest = p;
	}
	*lost += oldest->used && !oldest->complete;
	begin(oldest, part);
	return oldest;
}

/* False: the part overlaps or contradicts others. One that is there already is fine. */
static bool put(struct partial *p, const struct fragment *part)
{
	const uint32_t end = part->offset + (uint32_t)part->len, first = part->offset / 8, last = (end + 7) / 8;
	uint32_t there = 0;
	if (!part->len || end > FRAGMENTS_BYTES || (part->more && part->len % 8) || (p->end && end > p->end) ||
	    (!part->more && p->end && p->end != end))
		return false;
	for (uint32_t i = first; i < last; i++)
		there += p->seen[i / 8] >> (i % 8) & 1;
	if (there)
		return there == last - first && memcmp(p->bytes + part->offset, part->bytes, part->len) == 0;
	for (uint32_t i = first; i < last; i++)
		p->seen[i / 8] = (uint8_t)(p->seen[i / 8] | 1 << (i % 8));
	memcpy(p->bytes + part->offset, part->bytes, part->len);
	p->received += (uint32_t)part->len;
	if (!part->more)
		p->end = end;
	for (uint32_t i = last; !part->more && i < UNITS; i++) /* nothing follows the end */
		if (p->seen[i / 8] >> (i % 8) & 1)
			return false;
	return true;
}

enum packet_kind fragments_add(struct packet_fragments **waiting, struct fragment *part, int64_t *lost)
{
	if (!*waiting && !(*waiting = calloc(1, sizeof **waiting)))
		return PACKET_NO_MEMORY;
	struct partial *p = find(*waiting, part, lost);
	if (!p->bytes && !(p->bytes = malloc(FRAGMENTS_BYTES))) {
		p->used = false;
		return PACKET_NO_MEMORY;
	}
	if (p->complete) /* a duplicate of a part; the whole was handed on */
		return PACKET_FRAGMENT;
	if (!put(p, part)) {
		p->used = false;
		++*lost;
		return PACKET_BROKEN;
	}
	if (!p->end || p->received < p->end)
		return PACKET_FRAGMENT;
	p->complete = true;
	part->bytes = p->bytes;
	part->len = p->end;
	return PACKET_TCP;
}

void fragments_free(struct packet_fragments *waiting)
{
	for (size_t i = 0; waiting && i < FRAGMENTS_PACKETS; i++)
		free(waiting->list[i].bytes);
	free(waiting);
}
