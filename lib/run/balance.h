/* Chooses the target of each request. All sending threads share one balance: a lock guards its state.
 *
 *     target = balance_choose(b, session);   // the request counts as in flight at that target
 *     balance_ended(b, target);
 */
#ifndef IPF_BALANCE_H
#define IPF_BALANCE_H

#include "balance_kind.h"
#include "buffer.h"

#include <stdbool.h>
#include <stdint.h>

struct balance;

struct balance *balance_new(enum balance_kind kind, size_t targets); /* NULL: out of memory */
void balance_free(struct balance *b);                                /* NULL is fine */
size_t balance_choose(struct balance *b, struct slice session);
/* A target that is out is not chosen; at first all are in. One of several must be in when one is chosen. */
void balance_set_in(struct balance *b, size_t target, bool in);
void balance_ended(struct balance *b, size_t target);

#endif
