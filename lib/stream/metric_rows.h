/* The metrics of a request with a distribution, a row each. Everything listing metrics is made from these rows: members
 * of struct result and of the rows of results (result.h), objectives (metric.h), the figures of the report with their
 * columns and families (catalogue/catalogue.c), and the labels people see.
 *
 *     METRIC(id, name, label, remark, flags)
 *
 * METRIC_ID is its constant. The member of a row is NAME_ns, of a report NAME_ms. People see the label and the remark:
 * "TPOT, corrected".
 */
#ifndef IPF_METRIC_ROWS_H
#define IPF_METRIC_ROWS_H

enum metric_flag {
	METRIC_FROM_DUE = 1,   /* counts from the start of the request: a second version counts from its due time */
	METRIC_OF_STREAM = 2,  /* only an answer streamed has it … */
	METRIC_OF_TOKENS = 4,  /* … and that has several tokens */
	METRIC_IN_CURVE = 8,   /* a column of --curve */
	METRIC_OF_SERVER = 16, /* as the server reports it: never an objective */
};

/* clang-format off */
#define METRICS_OF_ANSWERS(METRIC)                                                                                     \
	METRIC(TTFB, ttfb, "TTFB", "", METRIC_FROM_DUE)                                                                    \
	METRIC(TTFT, ttft, "TTFT", "", METRIC_FROM_DUE | METRIC_OF_STREAM | METRIC_IN_CURVE)                               \
	METRIC(TTFA, ttfa, "TTFA", "", METRIC_FROM_DUE | METRIC_OF_STREAM)                                                 \
	METRIC(TTST, ttst, "TTST", "", METRIC_OF_TOKENS)                                                                   \
	METRIC(E2E, e2e, "E2E", "", METRIC_FROM_DUE | METRIC_IN_CURVE)                                                     \
	METRIC(STREAM, stream, "stream", "", METRIC_FROM_DUE)                                                              \
	METRIC(TPOT, tpot, "TPOT", "", METRIC_OF_TOKENS | METRIC_IN_CURVE)                                                 \
	METRIC(TPOT_CORRECTED, tpot_corrected, "TPOT", ", corrected", METRIC_OF_TOKENS)                                    \
	METRIC(NTPOT, ntpot, "NTPOT", "", 0)                                                                               \
	METRIC(PER_INPUT, per_input, "E2E", ", per input", 0)                                                              \
	METRIC(RTF, rtf, "E2E", ", per s of audio", 0)

#define METRICS_OF_GAPS(METRIC)                                                                                        \
	METRIC(ITL_MEAN, itl_mean, "ITL", ", request mean", METRIC_OF_TOKENS)                                              \
	METRIC(ITL_MAX, itl_max, "ITL", ", request max", METRIC_OF_TOKENS)

/* With ipf-fire --retry, of the last attempt. */
#define METRICS_OF_ATTEMPTS(METRIC)                                                                                    \
	METRIC(ATTEMPT_TTFT, attempt_ttft, "TTFT", ", last attempt", METRIC_OF_STREAM)                                     \
	METRIC(ATTEMPT_E2E, attempt_e2e, "E2E", ", last attempt", 0)

#define METRICS_OF_SERVERS(METRIC)                                                                                     \
	METRIC(SERVER_LOAD, server_load, "load", "", METRIC_OF_SERVER)                                                     \
	METRIC(SERVER_QUEUE, server_queue, "queue", "", METRIC_OF_SERVER)                                                  \
	METRIC(SERVER_PREFILL, server_prefill, "prefill", "", METRIC_OF_SERVER)                                            \
	METRIC(SERVER_TTFT, server_ttft, "TTFT", "", METRIC_OF_SERVER)                                                     \
	METRIC(SERVER_DECODE, server_decode, "decode", "", METRIC_OF_SERVER)                                               \
	METRIC(SERVER_TPOT, server_tpot, "TPOT", "", METRIC_OF_SERVER)                                                     \
	METRIC(SERVER_INFERENCE, server_inference, "inference", "", METRIC_OF_SERVER)                                      \
	METRIC(SERVER_TOTAL, server_total, "total", "", METRIC_OF_SERVER)                                                  \
	METRIC(SERVER_PREFILL_QUEUE, server_prefill_queue, "prefill queue", "", METRIC_OF_SERVER)                          \
	METRIC(SERVER_KV_TRANSFER, server_kv_transfer, "KV transfer", "", METRIC_OF_SERVER)                                \
	METRIC(SERVER_DECODE_QUEUE, server_decode_queue, "decode queue", "", METRIC_OF_SERVER)

/* Requests failing have these as well. */
#define METRICS_OF_WAITS(METRIC)                                                                                       \
	METRIC(LAG, lag, "lag", "", 0)                                                                                     \
	METRIC(CLIENT_LAG, client_lag, "lag", ", of the client", 0)                                                        \
	METRIC(SLOT_WAIT, slot_wait, "slot wait", "", 0)
/* clang-format on */

#define METRICS_OF_LATENCIES(METRIC)                                                                                   \
	METRICS_OF_ANSWERS(METRIC) METRICS_OF_GAPS(METRIC) METRICS_OF_ATTEMPTS(METRIC) METRICS_OF_SERVERS(METRIC)

#endif
