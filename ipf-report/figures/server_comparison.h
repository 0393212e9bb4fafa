/* The client's measurements beside the server's of the same time, and possible reasons for a difference.
 *
 *     struct client_facts client = {…};                         // of the requests in a range of time
 *     struct server_facts server = {0};
 *     server_facts_read(&server, store, sources, count, &range);
 *     struct server_comparison c;
 *     server_comparison_make(&c, &client, &server);
 *     for (int i = 0; i < c.count; i++) … c.notes[i].text …     // none: nothing differs by more than can be known
 *     server_facts_release(&server);
 *
 * A latency differs if p50 or p90 of the client is outside of the bucket the server's is in, and the means, which are
 * exact on both sides, differ by 5 % and 5 ms at least. Numbers of requests and tokens differ if they do so by more
 * than 1 % (tokens the client's tokenizer or its events counted: 5 %) and by more than the requests at the edges of the
 * range, and increases between two readings of which the range has one, can explain. Causes are named as possible, not
 * as found: nothing here can see a proxy. But how long a connection takes to open tells the network, which adds about
 * one round trip to TTFT, from the rest. Requests the client gave up (timed out, disconnected, cancelled) are in the
 * server's figures and not in the client's latencies: they are named first. Other clients and unscraped replicas are
 * named only if the numbers of requests do not agree, or are not known. After a restart of the server, the counts
 * between the last reading and the restart are lost: nothing else explains too few.
 */
#ifndef IPF_SERVER_COMPARISON_H
#define IPF_SERVER_COMPARISON_H

#include "series/sample_store.h"

enum compared_latency { COMPARED_TTFT, COMPARED_TPOT, COMPARED_ITL, COMPARED_E2E, COMPARED_LATENCIES };
extern const char *const compared_latency_names[COMPARED_LATENCIES]; /* "ttft", "tpot", "itl", "e2e" */

/* Means over successful requests; durations in ns; NAN: not known. */
struct client_latency {
	int64_t n;
	double mean, p50, p90, p99;
};

/* Counts of the requests ending in the range. Token counts are of all of them, failed ones too. */
struct client_facts {
	int64_t ended, ok;
	int64_t edges; /* requests of which a part is outside the range: the server may count them or not */
	double input_tokens, output_tokens;
	double edge_input, edge_output;         /* tokens of these edges … */
	double unknown_output;                  /* … and those failing requests asked for and did not bring */
	int64_t given_up;                       /* ended by the client: timeout, disconnect, cancelled, too large … */
	int64_t given_up_early;                 /* … and before a first token */
	double given_up_input, given_up_output; /* their tokens, which are in the sums above */
	double unknown_input;                   /* input tokens in the trace of requests whose input is not in the sum */
	bool usage;                             /* the server's own usage counted the tokens of nearly all */
	double template_tokens; /* each answer reports this many input tokens more than its prompt has; NAN */
	double cached_share;    /* cached input tokens by the answers / input tokens; NAN */
	double wait_mean;       /* ns a request waited for a slot or a connection of a pool; NAN */
	double ttfb_mean;       /* ns to the first byte of the response */
	double connect_min;     /* ns: the fastest TCP connection, about one round trip; NAN: none was made */
	bool direct;            /* it asked the host and port publishing the server's figures */
	bool stopped;           /* the run was ended on purpose: requests in flight are not among these */
	struct client_latency latency[COMPARED_LATENCIES];
};

struct server_facts {
	double requests; /* ended ones, well or not; NAN: not known */
	double input_tokens, output_tokens;
	double unsure_requests, unsure_input, unsure_output; /* by which these may be off: counter_figures.unsure */
	double hit_rate, unsure_hit_rate;                    /* prefix cache hits / queries */
	double queue_mean;                                   /* ns */
	int64_t restarts; /* times the server's counters fell; server_facts_read does not know them */
	struct bucket_histogram latency[COMPARED_LATENCIES];
};

enum comparison_kind {
	COMPARISON_MORE_REQUESTS,
	COMPARISON_FEWER_REQUESTS,
	COMPARISON_MORE_OUTPUT,
	COMPARISON_FEWER_OUTPUT,
	COMPARISON_TEMPLATE, /* more input by a constant per request */
	COMPARISON_MORE_INPUT,
	COMPARISON_FEWER_INPUT,
	COMPARISON_TTFT_LONGER,
	COMPARISON_TTFT_SHORTER,
	COMPARISON_TPOT,
	COMPARISON_E2E,
	COMPARISON_HIT_RATE,
	COMPARISON_KINDS,
};
extern const char *const comparison_kind_names[COMPARISON_KINDS]; /* for programs: "more-requests" … */

struct comparison_note {
	enum comparison_kind kind;
	double client, server; /* the differing values; latencies: their means in ns */
	char text[320];        /* a sentence without a full stop: the figures, and possible reasons */
};

struct server_comparison {
	struct comparison_note notes[COMPARISON_KINDS];
	int count;
};

/* Sums these sources of the store over the range. Values that none of them has are NAN or empty. */
void server_facts_read(struct server_facts *facts, const struct sample_store *store, const int *sources, int count,
                       const struct sample_range *range);
void server_facts_release(struct server_facts *facts);

void server_comparison_make(struct server_comparison *c, const struct client_facts *client,
                            const struct server_facts *server);

#endif
