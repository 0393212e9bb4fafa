/* Reads and writes results: the metrics of each request, one row a request. See ipf-results(5); `ipf-report
 * definitions` defines the metrics.
 *
 * Durations and times are in nanoseconds; an absent one is IPF_ABSENT. Slices hold JSON verbatim, texts with their
 * quotes.
 */
#ifndef IPF_RESULT_H
#define IPF_RESULT_H

#include "json/jdoc.h"
#include "stream/fields.h"
#include "stream/metric_rows.h"
#include "stream/stream.h"

/* The reads by their tokens: from 2 to this many more than 1, or more. */
enum { RESULT_READ_SIZES = 7 };

#define RESULT_METRIC(id_, name_, label_, remark_, flags_) int64_t name_##_ns;

struct result {
	int64_t n, req, stage;
	int64_t copy;                         /* which copy of the request, see schedule.h; absent: the request itself */
	struct slice id, session, model;      /* texts */
	int64_t session_requests;             /* for the first request of a session: how many it has */
	struct slice response_id, request_id; /* texts: the server's own ids, in the answer and in its headers */
	struct slice trace_id;                /* text: that of the header traceparent */
	int64_t turn;
	int64_t continues;    /* n of the request whose answer its prompt has, as the server gave it */
	struct slice after;   /* list of integers: the n of the requests whose ends it waited for; absent: of none */
	int64_t target;       /* index into "targets" of the records' header; absent: there is only one */
	struct slice replica; /* text: which server of several answered, from a header of the answer */
	bool ok;
	struct slice error_kind; /* text: connect tls timeout reset http-status in-band cut malformed hung-up cancelled
	                          * too-large */
	struct slice error_text; /* text */
	int64_t status;
	bool stale; /* a reset of a reused connection the server closed before it answered */
	int64_t due_ns, ready_ns, start_ns, end_ns;
	int64_t lag_ns;        /* start − due */
	int64_t slot_wait_ns;  /* start − ready, if it waited for a slot */
	int64_t pool_wait_ns;  /* start − (ready or slot), if it waited for a connection of the pool */
	int64_t connect_ns;    /* until the TCP connection was there; absent: it was reused, or none was made */
	int64_t client_lag_ns; /* start − the moment from which on only the client held it back */
	METRICS_OF_LATENCIES(RESULT_METRIC)
	int64_t attempts;         /* for a request sent again (--retry); absent: it was not */
	int64_t attempt_start_ns; /* start of the last one; absent also if the request ended before it */
	int64_t retry_wait_ns;    /* between the attempts */
	int64_t retry_early;      /* attempts before the server wanted them; absent: none */
	int64_t refusals;         /* answers with status 429 or 503; absent: none */
	int64_t retry_afters;     /* answers asking the client to wait … */
	int64_t retry_after_ns, retry_after_min_ns, retry_after_max_ns; /* … for how long: sum, least, most */
	int64_t sending_ns; /* the request left so much after `start` at most, or after its connection was ready */
	int64_t setup_ns, send_waits;          /* until then, and the reason for waiting: TCP, TLS, a name; absent: none */
	int64_t first_early_ns, last_early_ns; /* the first, the last content event came so much earlier at most */
	int64_t stalls, events, coalesced;
	int64_t choices;                  /* the content events', if there are several */
	int64_t after_end;                /* content events after the end mark; absent: none */
	int64_t unread_events;            /* events whose text the descriptor does not read; absent: none */
	int64_t deadlines, deadlines_met; /* fluidity: tokens after the first, and how many of them met --deadline */
	int64_t input_tokens, output_tokens, output_tokens_usage, output_tokens_tokenizer;
	int64_t input_tokens_usage, input_tokens_tokenizer, reasoning_tokens, cached_tokens;
	int64_t hidden_tokens; /* output tokens generated before the first event and not sent */
	int64_t cached_tokens_device, cached_tokens_host, cached_tokens_disk,
		cached_tokens_remote;                    /* where they were kept */
	int64_t history_tokens, history_same_tokens; /* tokens of the request it continues, with its answer: all, and those
	                                              * with which this prompt begins, by the ids the server lists */
	int64_t history_generated_tokens, history_cached_tokens, history_text_tokens; /* tokens of that answer: all, those
	                                                                               * found in the cache, and those the
	                                                                               * tokenizer makes of its text */
	int64_t cache_write_tokens;                              /* input tokens that were put into the cache */
	int64_t image_tokens, audio_tokens, output_audio_tokens; /* parts of the input, of the output */
	int64_t images, audio_clips, video_clips;                /* that were sent */
	int64_t audio_ns;                                        /* for clips whose length is known */
	int64_t output_audio_ns;                                 /* the length of the answer, if it is audio */
	int64_t playback_wait_ns;                                /* how long it stops if it is played while it arrives */
	int64_t media_bytes;                                     /* for all of them, before base64 */
	int64_t spec_drafts, spec_draft_tokens, spec_accepted_tokens; /* speculative decoding; absent: nothing drafted */
	int64_t reads;                                                /* with content, after the first; absent: see below */
	int64_t reads_2, reads_3, reads_4, reads_5, reads_6, reads_7, reads_8; /* reads of so many tokens */
	int64_t gap_one_ns, gap_several_ns; /* before reads of one token, of several; summed */
	int64_t asked_input_tokens, asked_output_tokens;
	int64_t inputs, outputs;     /* how many inputs it had, and how many results came; absent: the API has no inputs */
	struct slice not_streamed;   /* text: why the response came in one piece: ignored, not-asked, no-streaming */
	int64_t tool_calls;          /* that the answer consists of; absent: none, or the API does not say where they are */
	struct slice tokens_source;  /* text: usage, tokenizer, ids, events or none: the source of output_tokens */
	struct slice doubt;          /* text: the contradiction of the counts of tokens; absent: none */
	struct slice finish;         /* text: finish reason */
	struct slice finish_server;  /* text: the server's own word, if it differs */
	struct slice output_check;   /* text: one of result_output_names; absent: its text was not checked */
	struct slice output_invalid; /* text: why its text is not valid, or the check undecided */
	struct slice answer_check;   /* text: one of result_check_names; absent: its answer is not checked */
	struct slice judged;         /* text: one of result_judged_names; absent: it is no canary, or failed */
	struct slice compared;       /* text: one of result_compared_names; absent: no earlier answer to it is known */
	struct slice other_mark;     /* text: the mark of another canary in its answer */
	struct slice other_finish;   /* text: the finish reason of the earlier answer, if it differs */
	int64_t differs_at_token, differs_at_char; /* the equal part of both answers */
	int64_t loop_bytes;                        /* the end of the answer that repeats a piece; absent: none does */
	struct slice slo;                          /* map: the request's own objectives */
	struct slice tags;                         /* map or list, from the trace */
	struct slice edge_ns, edge_tokens;   /* lists: when stages began and ended during the answer; tokens until then */
	struct slice event_ns, event_tokens; /* lists; --events */
	struct slice event_kinds;            /* list of texts; absent: all are "text" */
	struct slice other_ns, other_kinds;  /* lists: the events that are no content events, and "close" */
	struct slice text, reasoning;        /* texts; --text */
};

/* Kinds of body lines, as result_reader_next returns them. */
enum result_line { RESULT_END = 0, RESULT_ROW = 1, RESULT_HISTOGRAM = 2, RESULT_SAMPLE = 3, RESULT_WINDOW = 4 };

struct result_reader;

int result_reader_open(struct result_reader **reader, const char *path, struct ipf_error *err);
/* The same of an input opened with stream_reader_open_input, which it takes over, also if it fails. */
int result_reader_begin(struct result_reader **reader, struct stream_reader *input, struct ipf_error *err);
/* The kind of the next line: RESULT_ROW fills *result; for a histogram, a sample or a window
 * *line is the whole line. RESULT_END
 * at the end; -1. Valid until the next call. */
int result_reader_next(struct result_reader *reader, struct result *result, struct slice *line, struct ipf_error *err);
/* Parses the line of a row with `doc`, to which *result then belongs. -1: it is no row. */
int result_parse(struct jdoc *doc, struct slice line, struct result *result, struct ipf_error *err);
struct stream_reader *result_reader_stream(struct result_reader *reader);
void result_reader_close(struct result_reader *reader);

/* Whether ipf-fire disconnected on purpose (--cancel). Such a request is neither a success nor a failure: no share,
 * latency or objective counts it. */
bool result_hung_up(const struct result *result);
/* Whether a part of it is not in the capture that observed it: the same holds for it. */
bool result_unseen(const struct result *result);
/* One of the two. */
bool result_uncounted(const struct result *result);

/* Why a response was not streamed, so it has no first token and no gaps. */
/* The contradictions of the counts of tokens (`doubt`). */
enum result_doubt {
	RESULT_NO_DOUBT,
	RESULT_USAGE_BELOW_EVENTS,  /* usage counts fewer output tokens than there are content events */
	RESULT_USAGE_ABOVE_CONTENT, /* … more than there are bytes of content, or tokens asked for */
	RESULT_CACHED_ABOVE_INPUT,  /* more tokens of the prompt were cached than it has */
	RESULT_DOUBTS
};
extern const char *const result_doubt_names[RESULT_DOUBTS]; /* as in the row; "": none */
enum result_doubt result_doubt(const struct result *result);

enum result_not_streamed {
	RESULT_STREAMED, /* or not known */
	RESULT_STREAM_IGNORED,
	RESULT_STREAM_NOT_ASKED,
	RESULT_NO_STREAMING, /* the API has no streamed responses */
	RESULT_NOT_STREAMED_COUNT,
};
extern const char *const result_not_streamed_names[RESULT_NOT_STREAMED_COUNT]; /* as in the row; NULL: streamed */
enum result_not_streamed result_not_streamed(const struct result *result);

/* The findings of --check-output in the text of an answer. */
enum result_output {
	OUTPUT_VALID,
	OUTPUT_NOT_JSON,
	OUTPUT_FENCED, /* JSON in a Markdown fence */
	OUTPUT_EMPTY,
	OUTPUT_SCHEMA,    /* JSON, but not by the schema */
	OUTPUT_UNDECIDED, /* the check reached a limit */
	OUTPUT_COUNT,
};
extern const char *const result_output_names[OUTPUT_COUNT]; /* as in the row */
/* OUTPUT_COUNT: its text was not checked. */
enum result_output result_output_check(const struct result *result);

/* The checks of answers: a kind of canary (lib/canary), or a repeated request. */
enum result_check {
	RESULT_CHECK_COPY,
	RESULT_CHECK_RECALL,
	RESULT_CHECK_ARITHMETIC,
	RESULT_CHECK_JSON,
	RESULT_CHECK_LIST,
	RESULT_CHECK_REPEAT,
	RESULT_CHECKS
};
extern const char *const result_check_names[RESULT_CHECKS]; /* as in the row */
/* RESULT_CHECKS: its answer is not checked. The latencies of a checked request count nowhere. */
enum result_check result_check(const struct result *result);
enum result_judged { RESULT_RIGHT, RESULT_WRONG, RESULT_UNDECIDED, RESULT_JUDGEMENTS };
extern const char *const result_judged_names[RESULT_JUDGEMENTS];
enum result_judged result_judged(const struct result *result); /* RESULT_JUDGEMENTS: not judged */
/* With the first answer to the same request. NEAR_TIE: at the first difference both tokens were nearly as likely.
 * CLEAR: they were not. DIFFERS: log probabilities are not known. */
enum result_compared { RESULT_SAME, RESULT_DIFFERS, RESULT_NEAR_TIE, RESULT_CLEAR, RESULT_COMPARISONS };
extern const char *const result_compared_names[RESULT_COMPARISONS];
enum result_compared result_compared(const struct result *result); /* RESULT_COMPARISONS: not compared */

/* Removes its latencies, as of a checked request. */
void result_forget_latencies(struct result *result);

/* Sets all fields to absent. */
void result_init(struct result *result);
/* Renders a row as a body line into `line`, which is cleared first. */
void result_write(const struct result *result, struct buffer *line);

#endif
