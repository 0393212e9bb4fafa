/* A server's figures about one request in its answer: how long it waited, was computed and decoded, and how its drafts
 * fared. Each appends members to a->json.
 *
 * Sources: vLLM's docs/features/per_request_metrics.md and speculative_decoding/acceptance_metrics.md (2026; the
 * former's times count from when the request was scheduled), Dynamo's nvext.timing and nvext.worker_id (2026), SGLang's
 * meta_info as of 0.5.9 with --enable-metrics.
 */
#ifndef SIM_REQUEST_METRICS_H
#define SIM_REQUEST_METRICS_H

#include "answer.h"

/* `,"metrics":{…}`, with a->metrics. */
void request_metrics_vllm(struct answer *a);
/* `,"nvext":{…}`, with the members the request asks for. */
void request_metrics_dynamo(struct answer *a);
/* `,"cached_tokens_details":{…}` of SGLang's meta_info, if there are tiers below the device. */
void request_metrics_cached(struct answer *a);
/* `,"sglext":{"cached_tokens_details":{…}}` of its OpenAI API, with return_cached_tokens_details. */
void request_metrics_sglext(struct answer *a);
/* `,"queue_time":…` and its neighbours, with a->metrics. */
void request_metrics_sglang(struct answer *a);

#endif
