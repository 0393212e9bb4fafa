/* The output of a connection: bytes, and between them moments to wait, so the other side sees separate reads.
 *
 * Whoever writes an answer writes it here and knows of no sockets; conn.c sends it. Positions count from the
 * connection's beginning and never go back.
 */
#ifndef SIM_OUTBOX_H
#define SIM_OUTBOX_H

#include "buffer.h"

#include <stdbool.h>
#include <stdint.h>

struct outbox_hold {
	uint64_t at; /* position sent up to before */
	int64_t for_ns;
};

struct outbox {
	struct buffer bytes; /* unsent bytes, behind `sent` bytes */
	size_t sent;
	uint64_t dropped; /* position of bytes.data[0] */
	struct outbox_hold *holds;
	size_t hold_count, hold_cap, hold_first;
	bool corked;                   /* send nothing for now */
	const int64_t *date_offset_ns; /* every head has a Date, so much ahead of the wall clock; NULL: none has */
	/* Positions at which content events end, of the answer under way; 0: none yet. */
	uint64_t first_content, last_content;
};

/* Here the sending pauses for so long, once everything before was sent. */
void outbox_hold(struct outbox *o, int64_t for_ns);
/* The same in the middle of appended bytes, at a position after every earlier hold. */
void outbox_hold_at(struct outbox *o, uint64_t at, int64_t for_ns);

uint64_t outbox_end(const struct outbox *o);  /* the position after the last byte */
uint64_t outbox_here(const struct outbox *o); /* the position up to which it was sent */

/* The bytes that may be sent now: up to the next hold. */
struct slice outbox_ready(const struct outbox *o);
/* `len` bytes of that are gone. Returns how long to wait before the next ones, 0 for not at all. */
int64_t outbox_advance(struct outbox *o, size_t len);
bool outbox_empty(const struct outbox *o);
void outbox_release(struct outbox *o);

#endif
