/* Values that not every row has: metrics, tokens, counts. Each is a column, which exists if at least one row has the
 * value. A run takes no memory for values its server never reports, and readers of one value of all rows read only
 * that. Values have four bytes as long as all of the column fit, which nearly all but the times since the run's start
 * do.
 *
 *     struct row_columns columns = {0};
 *     row_columns_add(&columns, 0, &result, &err);               // row 0
 *     const struct column_values *ttft = &columns.list[METRIC_TTFT];
 *     if (column_exists(ttft)) … column_value(ttft, 0)      // a value for each row
 *     row_columns_release(&columns);
 *
 * Rows are numbered in the order of reading. Integers are as in ipf-results(5); one that a row does not have is
 * IPF_ABSENT.
 */
#ifndef IPF_ROW_COLUMNS_H
#define IPF_ROW_COLUMNS_H

#include "absent.h"
#include "stream/metric.h"

/* The columns: those of enum metric, and these. Times come before counts. */
enum row_column {
	ROW_READY_NS = METRIC_COUNT,
	ROW_POOL_WAIT_NS,
	ROW_CONNECT_NS,
	ROW_SENDING_NS,
	ROW_SETUP_NS,
	ROW_FIRST_EARLY_NS,
	ROW_LAST_EARLY_NS,
	ROW_ATTEMPT_START_NS,
	ROW_RETRY_WAIT_NS,
	ROW_RETRY_AFTER_NS,
	ROW_RETRY_AFTER_MIN_NS,
	ROW_RETRY_AFTER_MAX_NS,
	ROW_STALLS,
	ROW_EVENTS,
	ROW_COALESCED,
	ROW_AFTER_END,
	ROW_DEADLINES,
	ROW_DEADLINES_MET,
	ROW_INPUT_TOKENS,
	ROW_OUTPUT_TOKENS,
	ROW_OUTPUT_USAGE,
	ROW_OUTPUT_TOKENIZER,
	ROW_INPUT_USAGE,
	ROW_INPUT_TOKENIZER,
	ROW_REASONING_TOKENS,
	ROW_CACHED_TOKENS,
	ROW_CACHED_DEVICE,
	ROW_CACHED_HOST,
	ROW_CACHED_DISK,
	ROW_CACHED_REMOTE,
	ROW_IMAGE_TOKENS,
	ROW_AUDIO_TOKENS,
	ROW_OUTPUT_AUDIO_TOKENS,
	ROW_IMAGES,
	ROW_AUDIO_CLIPS,
	ROW_VIDEO_CLIPS,
	ROW_AUDIO_NS,
	ROW_MEDIA_BYTES,
	ROW_READS,
	ROW_READS_2,
	ROW_READS_3,
	ROW_READS_4,
	ROW_READS_5,
	ROW_READS_6,
	ROW_READS_7,
	ROW_READS_8,
	ROW_GAP_ONE_NS,
	ROW_GAP_SEVERAL_NS,
	ROW_SPEC_DRAFTS,
	ROW_SPEC_DRAFT_TOKENS,
	ROW_SPEC_ACCEPTED_TOKENS,
	ROW_OUTPUT_AUDIO_NS,
	ROW_PLAYBACK_WAIT_NS,
	ROW_ASKED_INPUT,
	ROW_ASKED_OUTPUT,
	ROW_INPUTS,
	ROW_SEND_WAITS,
	ROW_ATTEMPTS,
	ROW_REFUSALS,
	ROW_RETRY_AFTERS,
	ROW_RETRY_EARLY,
	ROW_SESSION_REQUESTS,
	ROW_CONTINUES,
	ROW_HISTORY_TOKENS,
	ROW_HISTORY_SAME,
	ROW_HISTORY_GENERATED,
	ROW_HISTORY_CACHED,
	ROW_HISTORY_TEXT,
	ROW_TOOL_CALLS,
	ROW_DIFFERS_AT_TOKEN,
	ROW_DIFFERS_AT_CHAR,
	ROW_REQ,      /* kept if `with_req` says so, and of sessions */
	ROW_AFTER,    /* for sessions: where in `lists` is the list of the requests it waited for */
	ROW_CAPTURED, /* its number in the capture whose trace it is of, or that shows it: that of its id, c<number> */
	ROW_EDGES,    /* where in `lists` are the times of edges of stages, each with the tokens coming before it */
	ROW_COLUMNS,
};

struct tool_rules;

/* A column. One of both, or none, is not NULL. */
struct column_values {
	int32_t *narrow; /* INT32_MIN: absent */
	int64_t *wide;
};

static inline bool column_exists(const struct column_values *v)
{
	return v->narrow || v->wide;
}

/* IPF_ABSENT if the row has none, or the column does not exist. */
static inline int64_t column_value(const struct column_values *v, int64_t at)
{
	if (v->narrow)
		return v->narrow[at] == INT32_MIN ? IPF_ABSENT : v->narrow[at];
	return v->wide ? v->wide[at] : IPF_ABSENT;
}

struct row_columns {
	struct column_values list[ROW_COLUMNS];
	int64_t cap;                    /* rows each of them has room for */
	const struct tool_rules *rules; /* the tool whose definitions the values have (tool_view.h); NULL: ipf's own */
	bool with_req;                  /* set before the first row: keep the column ROW_REQ of all */
	int64_t *lists;                 /* for each list its length, then its values */
	int64_t lists_count, lists_cap;
	/* The columns before ROW_REQ, first the `used` ones, which exist, since most rows have the values of all of these.
	 */
	struct row_column_place {
		struct column_values *values;
		int64_t most;
		size_t offset; /* its value's in struct result */
		int column;
	} places[ROW_COLUMNS];
	int used;
};

/* Sums and differences of values within these bounds (30 years, 1e12 tokens) do not overflow. */
#define ROW_TIME_MOST  INT64_C(1000000000000000000)
#define ROW_COUNT_MOST INT64_C(1000000000000)

/* Sets row number `at`, the one after the last. -1: IPF_INPUT, a value is out of range; IPF_SYSTEM. */
int row_columns_add(struct row_columns *columns, int64_t at, const struct result *result, struct ipf_error *err);
/* Have both metrics the same values in all of the `count` rows, as the lag of a client nothing held back, or the TTFT
 * and TTFA of a model that does not reason? */
bool row_columns_same(const struct row_columns *columns, enum metric a, enum metric b, int64_t count);
void row_columns_release(struct row_columns *columns);

#endif
