/* How much an answer may take: --max-answer for each, and --memory for all in flight (job/memory_use.h). An answer
 * beyond the limit is cut: its request ends as RECORD_TOO_LARGE with the bytes received, and its connection, or with
 * HTTP/2 its stream, is closed.
 */
#ifndef IPF_ANSWER_LIMIT_H
#define IPF_ANSWER_LIMIT_H

#include "http/transport_state.h"

/* The texts of the errors, once the options are known. */
void answer_limit_init(struct transport *t);

/* How many of `len` more bytes of the body may be kept. Less than `len`: the answer is cut. */
size_t answer_limit_room(struct exchange *x, size_t len);
/* It has grown: cuts the largest answer if memory is short. false: this one is cut. */
bool answer_limit_grown(struct exchange *x);

/* Ends an exchange. */
typedef void answer_limit_finish(struct transport *t, struct exchange *x, int64_t now_ns);
/* Ends the cut ones. Not while a response is being read. */
void answer_limit_end_cut(struct transport *t, int64_t now_ns, answer_limit_finish *finish);
/* Cuts the largest answer of all threads if memory is short, or asks its thread. false: memory is not short, or there
 * is none to cut. Not while a response is being read. */
bool answer_limit_cut_largest(struct transport *t, int64_t now_ns, answer_limit_finish *finish);
/* The exchange has ended: the largest answer may now be another one. */
void answer_limit_ended(struct exchange *x, const struct job *job);

#endif
