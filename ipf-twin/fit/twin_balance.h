/* How the requests of a run were spread over several servers of one kind, from which of them answered each:
 *
 *     round-robin   the server that had none for longest
 *     least         one of those with the fewest requests in flight
 *     session       that of the earlier requests of the session
 *
 * A way explains a share of the choices; chance alone would explain some, which does not count: (share - chance) /
 * (1 - chance). The way that explains most is known if it explains nine tenths so.
 */
#ifndef TWIN_TWIN_BALANCE_H
#define TWIN_TWIN_BALANCE_H

#include "fit/twin_data.h"

#include "twin/twin.h"

/* Sets twin->balancing; nothing where each part of the run has one server. -1: out of memory. */
int twin_balance_fit(struct twin *twin, const struct twin_data *data, struct ipf_error *err);

#endif
