/* Spans on their way from the thread writing rows to the sending one, in batches of one request each; bounded in bytes.
 *
 *     struct otlp_batches *b = otlp_batches_new();
 *     otlp_batches_begin(b, header, &schedule, api, true, &err);   // each input
 *     if (otlp_batches_add(b, &observation)) …                     // a batch is complete: wake the other thread
 *     …
 *     struct push_request request;                                 // of the other thread
 *     if (otlp_batches_take(b, final, &request)) …
 *
 * A batch is complete with OTLP_BATCH spans or OTLP_BATCH_BYTES, or when its input ends.
 *
 * If there is no room, the oldest batch is dropped for the new one, and counted. A complete run can wait, which a live
 * one must not: then otlp_batches_add waits for room as long as batches are taken, but not longer than OTLP_WAIT_NS for
 * one, and afterwards never again.
 */
#ifndef COLLECT_OTLP_BATCHES_H
#define COLLECT_OTLP_BATCHES_H

#include "publish/otlp_span.h"
#include "push/push_queue.h"

#define OTLP_BATCH       512 /* as the SDKs of OpenTelemetry have by default */
#define OTLP_BATCH_BYTES ((size_t)1 << 20)
#define OTLP_QUEUE_BYTES ((size_t)32 << 20)
#define OTLP_WAIT_NS     (INT64_C(5) * 1000 * 1000 * 1000)

struct otlp_batches;

struct otlp_batches *otlp_batches_new(void); /* NULL: out of memory */
void otlp_batches_free(struct otlp_batches *b);

/* ---- the thread writing rows ---- */

/* An input begins; `live`: while its run lasts. `schedule` and `api` must outlive it. -1 as for otlp_run_new. */
int otlp_batches_begin(struct otlp_batches *b, const json_t *header, const struct schedule *schedule,
                       const struct api *api, bool live, struct ipf_error *err);
/* True: there is a complete batch there was not before. */
bool otlp_batches_add(struct otlp_batches *b, const struct observation *seen);

/* ---- the sending thread ---- */

/* Takes the oldest complete batch, or, with `all`, the incomplete one. False: there is none. */
bool otlp_batches_take(struct otlp_batches *b, bool all, struct push_request *request);

/* ---- any thread ---- */

/* Waiting spans, and dropped ones. */
void otlp_batches_count(struct otlp_batches *b, int64_t *waiting, int64_t *dropped);

#endif
