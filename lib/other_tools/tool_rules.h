/* Other tools' definitions of their figures about model servers: a table, with a row for each tool, and the few
 * functions that apply it. Whoever shows a figure by another tool's definition takes it from here: the exports and
 * `ipf-report --as`.
 *
 *     const struct tool_rules *vllm = tool_rules_find(slice_of("vllm"));
 *     if (tool_counts(vllm, EVENT_EMPTY)) …                  // does a chunk with empty text count as a token?
 *     int64_t tokens = tool_output_tokens(vllm, &counts, &source);
 *     double tpot_ns = tool_tpot(vllm, &times, tokens);
 *
 * The rules were read in the source of the version the row names. Times of one request are in nanoseconds from its
 * start; an absent value is NAN.
 */
#ifndef IPF_TOOL_RULES_H
#define IPF_TOOL_RULES_H

#include "buffer.h"
#include "api/response.h"
#include "stats/samples.h"

#include <stdbool.h>
#include <stdint.h>

enum tool {
	TOOL_VLLM,
	TOOL_VLLM_RS,
	TOOL_SGLANG,
	TOOL_GUIDELLM,
	TOOL_AIPERF,
	TOOL_GENAI_PERF,
	TOOL_INFERENCE_PERF,
	TOOL_LPG,
	TOOL_MLPERF,
	TOOL_COUNT,
};

/* Where the latency of a whole request ends. */
enum tool_end {
	TOOL_END_LAST_CHUNK, /* the last chunk that counts as tokens */
	TOOL_END_LAST_EVENT, /* the last event of any kind, which is the end mark if there is one */
	TOOL_END_RESPONSE,   /* the end of the response */
};

/* The time per output token. `first`, `last`: chunks that count; `end`: the latency; n: output tokens. */
enum tool_tpot {
	TOOL_TPOT_NONE,
	TOOL_TPOT_LAST_LESS_FIRST, /* (last - first) / (n - 1) */
	TOOL_TPOT_END_LESS_FIRST,  /* (end - first) / (n - 1) */
	TOOL_TPOT_LAST_PER_TOKEN,  /* last / n */
	TOOL_TPOT_END_PER_TOKEN,   /* end / n */
};

/* The samples of inter-token latency. */
enum tool_itl {
	TOOL_ITL_NONE,
	TOOL_ITL_GAPS,            /* a gap between chunks that count */
	TOOL_ITL_TOKENS,          /* the same, and 0 for each further token of a chunk */
	TOOL_ITL_REQUESTS,        /* (last - first) / (n - 1) of each request */
	TOOL_ITL_REQUEST_WEIGHTS, /* the same, with the weight n - 1 */
};

/* How the output tokens of a response are counted; the first known counts. */
enum tool_tokens {
	TOOL_TOKENS_NONE,
	TOOL_TOKENS_USAGE,     /* the server's */
	TOOL_TOKENS_TOKENIZER, /* the whole text's */
	TOOL_TOKENS_ASKED,     /* as requested */
	TOOL_TOKENS_CHUNKS,    /* the chunks that count: the substitute for an unknown count by its tokenizer */
};
enum { TOOL_TOKENS_MOST = 3 };
extern const char *const tool_tokens_names[]; /* "usage", … */

/* How a percentile is read from the sorted values. */
enum tool_percentile {
	TOOL_PERCENTILE_LINEAR, /* between order statistics: NumPy's default */
	TOOL_PERCENTILE_LEAST,  /* the least value at which the weights reach the share */
	TOOL_PERCENTILE_FLOOR,  /* the value at the position floor(n p) */
};

/* The time that rates refer to. */
enum tool_window {
	TOOL_WINDOW_ENDS,    /* from the first start to the last end, failures too */
	TOOL_WINDOW_CONTENT, /* from the first start to the last content of a success */
	TOOL_WINDOW_DUE,     /* from when the first request was due to the end of the last one; one success less counts */
};

/* The treatment of a time per token. */
enum tool_whole_ns {
	TOOL_FRACTIONS,
	TOOL_NEAREST_NS, /* halves to even */
	TOOL_FLOOR_NS,
};

/* The reasons for a response of status 2xx to be a failure, apart from a connection breaking before its end. */
enum {
	TOOL_FAILS_ERROR = 1,     /* an error object in the stream */
	TOOL_FAILS_MALFORMED = 2, /* an event that is no JSON */
	TOOL_FAILS_EMPTY = 4,     /* no chunk that counts */
	TOOL_FAILS_NO_END = 8,    /* no end mark */
};

/* The figures, as the rows of a table. */
enum tool_figure {
	TOOL_TTFT,
	TOOL_ITL,
	TOOL_TPOT,
	TOOL_E2E,
	TOOL_LATENCIES, /* how many of them are latencies */
	TOOL_THROUGHPUT = TOOL_LATENCIES,
	TOOL_OUTPUT_TOKENS,
	TOOL_FAILURES,
	TOOL_FIGURES,
};
extern const char *const tool_figure_names[TOOL_FIGURES]; /* "ttft_ms", … */

struct tool_rules {
	const char *name, *tool, *version, *source; /* as in --as; as a person writes it; where the rules were read */
	unsigned chunks;                            /* the kinds of events that count as tokens: 1 << EVENT_TEXT | … */
	enum tool_end end;
	enum tool_tpot tpot;
	enum tool_itl itl;
	enum tool_tokens tokens[TOOL_TOKENS_MOST];
	enum tool_percentile percentile;
	enum tool_window window;
	unsigned fails;
	enum tool_whole_ns whole_ns;
	bool two_chunks;   /* without a second chunk there is no ttft and no tpot */
	bool two_for_itl;  /* without a second chunk there is no TOOL_ITL_REQUESTS */
	bool zero_ttft;    /* without a chunk that counts, the first one came at 0 */
	bool zero_e2e;     /* and so did the last one */
	bool one_token;    /* without a chunk that counts, the answer has one token if chunks are counted */
	bool zero_usage;   /* a usage of 0 counts; else it is none */
	bool no_deviation; /* it shows none */
	bool sent_count;   /* its rate is that of requests sent, failures too */
	bool from_due;     /* latencies count from when the request was due, if it was */
	struct {
		const char *name; /* as the tool calls it; NULL: it has no such figure */
		const char *rule; /* in words */
	} figures[TOOL_FIGURES];
};
extern const struct tool_rules tool_rules[TOOL_COUNT];
extern const char *const tool_names[]; /* NULL ends them */
#define TOOL_NAMES "vllm, vllm-rs, sglang, guidellm, aiperf, genai-perf, inference-perf, lpg, mlperf"

const struct tool_rules *tool_rules_find(struct slice name); /* NULL: none */

bool tool_counts(const struct tool_rules *rules, enum event_kind kind);

/* A response's count of output tokens; IPF_ABSENT. */
struct tool_counts {
	int64_t usage, tokenizer, asked, chunks;
};
/* IPF_ABSENT: none is known. *source (NULL is fine) says which. */
int64_t tool_output_tokens(const struct tool_rules *rules, const struct tool_counts *counts, enum tool_tokens *source);

/* One request's chunks. */
struct tool_times {
	double first, last; /* the first and last chunk that counts */
	double event;       /* the last event of any kind */
	double end;         /* the end of the response */
	int64_t chunks;
};
double tool_ttft(const struct tool_rules *rules, const struct tool_times *t);
double tool_e2e(const struct tool_rules *rules, const struct tool_times *t);
double tool_tpot(const struct tool_rules *rules, const struct tool_times *t, int64_t tokens);
/* (last - first) / (tokens - 1) */
double tool_request_itl(const struct tool_rules *rules, const struct tool_times *t, int64_t tokens);
/* By its rule, but for TOOL_PERCENTILE_LEAST, which needs weights; p in 0 … 100. Sorts. NAN: there are no values. */
double tool_percentile(const struct tool_rules *rules, struct samples *values, double p);

/* How a response ended, in ipf's words. */
struct tool_outcome {
	bool ok;               /* by ipf's own definition */
	bool error, malformed; /* an error object in a response of status 2xx; an event that is no JSON */
	bool incomplete;       /* no end mark, or no content */
	bool closed;           /* the HTTP response came to its end */
	bool end_mark;
	int64_t chunks;
};
/* Does the tool count the request as a success? */
bool tool_success(const struct tool_rules *rules, const struct tool_outcome *outcome);

#endif
