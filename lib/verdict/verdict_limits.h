/* The limits between OK, DOUBTFUL and INVALID. verdict_rule() (verdict.h) states them in words.
 */
#ifndef IPF_VERDICT_LIMITS_H
#define IPF_VERDICT_LIMITS_H

/* Offered load, of the worst stage: share of the scheduled load that was delivered. */
#define VERDICT_DELIVERED_DOUBTFUL 0.99
#define VERDICT_DELIVERED_INVALID  0.95
/* p99 of the client's own lateness. */
#define VERDICT_LATE_DOUBTFUL_MS 10
#define VERDICT_LATE_INVALID_MS  100
/* Share of open-loop requests waiting for a slot for longer than VERDICT_SLOT_WAIT_NS. */
#define VERDICT_SLOTS_DOUBTFUL 0.01
#define VERDICT_SLOT_WAIT_NS   1000000
/* Between the starts of the first and the last shard: this share of the run's length, and at least this time. */
#define VERDICT_SPREAD_DOUBTFUL    0.05
#define VERDICT_SPREAD_DOUBTFUL_NS 100000000

/* The client's figures below are taken per second of the run and judged by their 95th percentile. */

/* CPU of the busiest sending thread, as a share of one core. */
#define VERDICT_CPU_DOUBTFUL 0.80
#define VERDICT_CPU_INVALID  0.95
/* Share of the time that this thread was ready to run and had no core; mentioned from VERDICT_WAIT_MENTIONED on. */
#define VERDICT_WAIT_MENTIONED 0.01
#define VERDICT_WAIT_DOUBTFUL  0.10
#define VERDICT_WAIT_INVALID   0.50
/* Worst lag of the event loop in a second. */
#define VERDICT_LOOP_DOUBTFUL_MS 10
#define VERDICT_LOOP_INVALID_MS  100
/* p99 of the client's clock less the kernel's receive timestamp at reads. */
#define VERDICT_DELAY_DOUBTFUL_MS 10
#define VERDICT_DELAY_INVALID_MS  100
/* Fill level of the record queue, at its highest. */
#define VERDICT_FULL_DOUBTFUL 0.90
/* Share of the requests that could not be sent for lack of file descriptors; any at all is DOUBTFUL. */
#define VERDICT_NO_FILES_INVALID 0.01
/* Share of the kernel timestamps that were rejected as implausible. */
#define VERDICT_REJECTED_DOUBTFUL 0.01
/* Share of the content events sharing a read. */
#define VERDICT_COALESCED_DOUBTFUL 0.05

/* An observed run: share of the requests of which packets are missing; of the connections that were not understood;
 * of the packets that the capture dropped by its own count. */
#define VERDICT_UNSEEN_DOUBTFUL    0.01
#define VERDICT_UNSEEN_INVALID     0.10
#define VERDICT_UNREAD_CONNECTIONS 0.01
#define VERDICT_DROPPED_DOUBTFUL   0.001
/* Packets captured before an earlier one by more than this: several clocks, or buffers of several processors. */
#define VERDICT_BACKWARDS_NS 1000000

/* Share of failed requests, without those we cancelled or disconnected and without stale connections. */
#define VERDICT_ERRORS_DOUBTFUL    0.01
#define VERDICT_ERRORS_INVALID     0.05
#define VERDICT_CANCELLED_DOUBTFUL 0.01
/* Share of the successful responses whose content went on after their end mark. */
#define VERDICT_AFTER_END_DOUBTFUL 0.01
/* Share of the successful responses without content. */
#define VERDICT_COUNTS_DOUBTFUL 0.01 /* share of responses whose counts of tokens contradict each other */
#define VERDICT_UNREAD_DOUBTFUL 0.01 /* share of events with text the descriptor does not read */
#define VERDICT_EARLY_DOUBTFUL  0.01 /* share of responses ending for another reason than stop or length */
#define VERDICT_EMPTY_DOUBTFUL  0.01
/* Share of the successful responses coming in one piece although streaming was requested. */
#define VERDICT_NOT_STREAMED_DOUBTFUL 0.01
/* Share of the streamed responses with more than VERDICT_ONE_EVENT_TOKENS that came as one event. */
#define VERDICT_ONE_EVENT_DOUBTFUL 0.05
#define VERDICT_ONE_EVENT_TOKENS   8
/* Output tokens differ from those requested by more than this share. */
#define VERDICT_LENGTH_DOUBTFUL 0.10
/* Input tokens by the server's usage differ from those of the trace by more than this share, and by more than this many
 * a request: less is a chat template, or an estimate. */
#define VERDICT_INPUT_DOUBTFUL  0.25
#define VERDICT_TEMPLATE_TOKENS 64
/* Share of the successful requests of a stage whose prompt was sent before, or of the prompts of a trace. */
#define VERDICT_REPEATS_DOUBTFUL 0.01
/* Share of the first-sent prompt tokens found in the server's prefix cache. */
#define VERDICT_WARM_DOUBTFUL 0.01
/* By how much tokens a byte may differ between the shared part of prompts and the rest; and the tokens a server finds
 * beyond whole blocks. */
#define VERDICT_WARM_UNEVEN 0.20
#define VERDICT_WARM_BLOCK  16
/* More canaries are wrong under load than alone with less than this probability by chance. */
#define VERDICT_ANSWERS_P 0.01
/* Share of those tokens that a cache filled on purpose must have, but for a block of each prompt. */
#define VERDICT_FILLED_DOUBTFUL 0.50
/* Requests ending within a stage, which its rates count / requests it started. */
#define VERDICT_ENDED_DOUBTFUL 0.50
#define VERDICT_SHORT_WINDOWS  "ended within the stage"

#endif
