/* Which of several targets a request goes to, over all sending threads: what changes is under a lock of its own.
 *
 *     target = balance_choose(b, session);   // the request is in flight there from now on
 *     balance_ended(b, target);
 */
#ifndef IPF_BALANCE_H
#define IPF_BALANCE_H

#include "json/jdoc.h"

struct balance;

enum balance_kind {
	BALANCE_ROUND_ROBIN,
	BALANCE_LEAST,   /* the one with the fewest requests in flight; of several, the one that comes first from where the
	                    last went */
	BALANCE_SESSION, /* all requests of a session to the same, found from its name; those without one in turn */
};

/* "round-robin", "least", "session". */
bool balance_parse(const char *name, enum balance_kind *kind);

struct balance *balance_new(enum balance_kind kind, size_t targets); /* NULL: out of memory */
void balance_free(struct balance *b);                                /* NULL is fine */
size_t balance_choose(struct balance *b, struct slice session);
void balance_ended(struct balance *b, size_t target);

/* A number that is the same for the same text, in every run and on every machine. */
uint64_t text_hash(struct slice text);

#endif
