/* Results: what it meant; one row a request. See ipf-results(5); the definitions are those of `ipf-report
 * --definitions`.
 *
 * Durations and times in nanoseconds, absent ones IPF_ABSENT, absent doubles NAN. Slices of JSON keep their quotes.
 */
#ifndef IPF_RESULT_H
#define IPF_RESULT_H

#include "json/jdoc.h"
#include "stream/stream.h"

struct result {
	int64_t n, req, stage;
	struct slice id, session, model; /* texts */
	int64_t turn;
	int64_t target; /* index into the records header's "targets", where there are several */
	bool ok;
	struct slice error_kind; /* text: connect tls timeout reset http-status in-band cut malformed hung-up cancelled */
	struct slice error_text; /* text */
	int64_t status;
	bool stale; /* a reset of a kept connection that the server closed before it answered */
	int64_t due_ns, ready_ns, start_ns, end_ns;
	int64_t lag_ns;        /* start − due */
	int64_t slot_wait_ns;  /* start − ready where a slot was waited for */
	int64_t pool_wait_ns;  /* start − (ready or slot) where a connection of a pool was waited for */
	int64_t client_lag_ns; /* start − (the moment when nothing but ourselves was missing) */
	int64_t ttfb_ns, ttft_ns, ttfa_ns, ttst_ns, e2e_ns, stream_ns, tpot_ns, tpot_corrected_ns, ntpot_ns;
	int64_t itl_mean_ns, itl_max_ns;
	int64_t stalls, events, coalesced;
	int64_t deadlines,
		deadlines_met; /* fluidity: tokens after the first, and those of them that were in time (--deadline) */
	int64_t input_tokens, output_tokens, output_tokens_usage, output_tokens_tokenizer;
	int64_t input_tokens_usage, input_tokens_tokenizer, reasoning_tokens, cached_tokens;
	int64_t asked_input_tokens, asked_output_tokens;
	struct slice tokens_source; /* text: usage, tokenizer or events: where output_tokens comes from */
	struct slice finish;        /* text: finish reason */
	struct slice finish_server; /* text: in the server's word, where that is another */
	int64_t server_load_ns, server_queue_ns, server_prefill_ns, server_ttft_ns, server_decode_ns, server_tpot_ns,
		server_inference_ns, server_total_ns; /* what the server says itself */
	struct slice slo;                         /* map: this request's own objectives */
	struct slice event_ns, event_tokens;      /* lists; --events */
	struct slice text, reasoning;             /* texts; --text */
};

/* Kinds of body lines. */
enum result_line { RESULT_END = 0, RESULT_ROW = 1, RESULT_HISTOGRAM = 2, RESULT_SAMPLE = 3 };

struct result_reader;

int result_reader_open(struct result_reader **reader, const char *path, struct ipf_error *err);
/* A row, or *line as it stands for histogram and sample lines (whole, as JSON); 0 at the end; -1. Good until the next
 * call. */
int result_reader_next(struct result_reader *reader, struct result *result, struct slice *line, struct ipf_error *err);
struct stream_reader *result_reader_stream(struct result_reader *reader);
void result_reader_close(struct result_reader *reader);

/* Did ipf-fire end it on purpose (--cancel)? It is no success, and nobody's failure: outside of every share, every
 * latency and every goal. */
bool result_hung_up(const struct result *result);

void result_init(struct result *result);
void result_write(const struct result *result, struct buffer *line);

#endif
