/* How much an answer may take: --max-answer for each, and --memory for all that is in flight (job/memory_use.h). An
 * answer that goes beyond is cut: its request ends as RECORD_TOO_LARGE with what had come, and its connection, or with
 * HTTP/2 its stream, is closed.
 */
#ifndef IPF_ANSWER_LIMIT_H
#define IPF_ANSWER_LIMIT_H

#include "http/transport_state.h"

/* The header lines of a response, interim ones and trailers included, with what libcurl takes for each of them. */
#define ANSWER_HEADERS_MOST (INT64_C(256) << 10)

/* The texts of the errors, once the options are known. */
void answer_limit_init(struct transport *t);

/* How many of `len` more bytes of the body may be kept. Less than `len`: the answer is cut, for on_body to report. */
size_t answer_limit_room(struct transfer *x, size_t len);
/* A header line of `len` bytes came. false: the answer is cut. */
bool answer_limit_header(struct transfer *x, size_t len);
/* It has grown: cuts the largest answer if memory is short. false: this one is cut. */
bool answer_limit_grown(struct transfer *x);

/* Ends a transfer. */
typedef void answer_limit_finish(struct transport *t, struct transfer *x, int64_t now_ns);
/* Ends those that were cut. Outside of libcurl's callbacks. */
void answer_limit_end_cut(struct transport *t, int64_t now_ns, answer_limit_finish *finish);
/* Cuts the largest answer of all threads if memory is short, or asks the thread that has it. false: memory is not
 * short, or there is none to cut. Outside of libcurl's callbacks. */
bool answer_limit_cut_largest(struct transport *t, int64_t now_ns, answer_limit_finish *finish);
/* The transfer has ended: the largest answer may now be another one. */
void answer_limit_ended(struct transfer *x, const struct job *job);

#endif
