/* Embeddings of a batch, rankings and scores, as several servers' APIs have them. No engine computes them: a request
 * takes --batch-base, and --batch-input for each of its inputs, however many are in flight, so the right measurement is
 * known.
 *
 * Written from knowledge of the servers, and not from lib/api/apis/, so the one can be held against the other.
 */
#ifndef SIM_BATCHES_H
#define SIM_BATCHES_H

#include "server.h"

/* Answers a request whose path is one of these APIs'. false: it is another path. */
bool batches_answer(struct conn *conn);
/* Whether this is such a path. */
bool batches_has_path(struct slice path);

#endif
