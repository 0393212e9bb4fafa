/* How far apart the clocks of a run's clients (shards) are, from shared evidence: the Date header of a server that
 * several of them send to, and each system's report about its own clock (adjtimex).
 *
 * A server's Date changes once a second, at one moment for all. A client knows when: after it sent the last request
 * answered with an earlier Date, and before the first byte of the first answer with that Date. If two clients know this
 * of the same change, the difference of their clocks is within an interval; the intersection over all changes is narrow
 * if requests are many. Nothing is assumed about how right the server's clock is, nor how old its Date. A system whose
 * clock is synchronised knows its greatest error against UTC: two of these give another interval.
 *
 *     struct clock_offsets *c = clock_offsets_new();
 *     int a = clock_offsets_client(c, header_of_its_records);
 *     clock_offsets_read(c, a, &doc, line, &err);                          // each of its client lines
 *     clock_offsets_end(c, a, client_of_its_trailer);
 *     struct clock_offset o = clock_offsets_between(c, a, b);              // b's clock - a's clock
 *     clock_offsets_free(c);
 *
 * Offsets are for saying, not for correcting. An address of the machine itself is another server on another machine.
 * A server, or a cache in front of it, that answers with the Date of an earlier answer leads to a contradiction.
 */
#ifndef IPF_CLOCK_OFFSETS_H
#define IPF_CLOCK_OFFSETS_H

#include "json/jdoc.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

enum { CLOCK_CLIENTS_MOST = 1024, CLOCK_SERVERS_MOST = 64, CLOCK_DATES_MOST = 100000 };

/* The true offset is within [low_ns, high_ns]; IPF_ABSENT: nothing is known. */
struct clock_offset {
	int64_t low_ns, high_ns;
	bool by_date, by_ntp; /* the sources; both: each narrows it */
	bool one_clock;       /* both ran on one machine: the offset is 0, whatever dates say */
	bool contradiction;   /* the two, or the changes of the Date, exclude each other: a clock was set during the run, or
	                       * the URL is not of one server. The interval is then the widest of them. */
};

struct clock_offsets;

struct clock_offsets *clock_offsets_new(void);    /* NULL: out of memory */
void clock_offsets_free(struct clock_offsets *c); /* NULL is fine */

/* A client with the header of its records, which is borrowed. Its number; -1: too many; -2: out of memory. */
int clock_offsets_client(struct clock_offsets *c, json_t *header);
/* Takes "dates" of a client line, the map `line`. Dates beyond the limits above are left out. -1: IPF_INPUT for one
 * that contradicts ipf-records(5), or out of memory. */
int clock_offsets_read(struct clock_offsets *c, int client, const struct jdoc *doc, jdoc_id line,
                       struct ipf_error *err);
/* "client" of the records' trailer; NULL: none. Without it, the state at the start counts. */
void clock_offsets_end(struct clock_offsets *c, int client, json_t *of_trailer);

int clock_offsets_clients(const struct clock_offsets *c);
struct clock_offset clock_offsets_between(const struct clock_offsets *c, int a, int b);
/* "clocks" of ipf-results(5): the offsets of all clients from the first one, and how far apart their starts were. New;
 * NULL: fewer than two clients, or out of memory. */
json_t *clock_offsets_json(const struct clock_offsets *c);
/* The offset of the client in such an object that can be the largest, and whose it is; low_ns is IPF_ABSENT if one of
 * them is unknown. */
struct clock_offset clock_offsets_worst(json_t *clocks, int *client);

#endif
