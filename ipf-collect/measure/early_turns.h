/* Records of turns coming before the record of the turn they continue, so the order of records does not matter:
 * ipf-fire has several sending threads, and files can be sorted.
 *
 *     struct early_turns *early = early_turns_new();
 *     for each record of an input:
 *         if (early_turns_hold(early, &record, line) == 1) continue;    // kept until its turn comes
 *         … use the record …; early_turns_used(early, record.n);
 *         while (early_turns_next(early, &record, &err) == 1)
 *             … use the record …; early_turns_used(early, record.n);
 *     early_turns_end(early);                     // what is kept waits for nothing more: early_turns_next returns it
 *
 * Records are kept as their lines, up to EARLY_TURNS_MOST bytes; beyond that, the oldest ones wait no longer. At the
 * end of an input they are returned in the order in which they came.
 */
#ifndef COLLECT_EARLY_TURNS_H
#define COLLECT_EARLY_TURNS_H

#include "stream/record.h"

#define EARLY_TURNS_MOST ((size_t)64 << 20)

struct early_turns;

struct early_turns *early_turns_new(void);    /* NULL: out of memory */
void early_turns_free(struct early_turns *e); /* NULL is fine */
/* 1: the record is kept; 0: it continues nothing, or its previous turn has been used; -1: out of memory. `line`: its
 * JSON, which is copied. */
int early_turns_hold(struct early_turns *e, const struct record *record, struct slice line);
/* A record has been used: those continuing it need not wait. */
void early_turns_used(struct early_turns *e, int64_t n);
/* 1: a record needing not wait any longer, valid until the next call; 0: none; -1: out of memory. */
int early_turns_next(struct early_turns *e, struct record *record, struct ipf_error *err);
/* The input has ended, and the next one numbers other requests. */
void early_turns_end(struct early_turns *e);

#endif
