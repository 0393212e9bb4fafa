/* The request trace: what is asked. See ipf-trace(5).
 *
 * Every slice holds JSON as it stands in the line (a text with its quotes), so that it can be passed on without being
 * decoded; absent slices have data == NULL, absent integers are IPF_ABSENT.
 */
#ifndef IPF_TRACE_H
#define IPF_TRACE_H

#include "json/jdoc.h"
#include "stream/stream.h"

struct trace_request {
	struct slice id;               /* text; unique in the trace */
	struct slice messages;         /* list: chat turns {"role","content",…}; or … */
	struct slice prompt;           /* text; or … */
	struct slice prompt_token_ids; /* list of integers: one of the three is there */
	int64_t input_tokens;          /* of the whole prompt as sent (with the earlier turns where context_session) */
	int64_t output_tokens;         /* what to ask for */
	int64_t at_ns;                 /* the recorded arrival, from the trace's beginning */
	struct slice session;          /* text */
	int64_t turn;                  /* 0-based within the session */
	int64_t wait_ns;               /* from the end of the previous turn (of the last parent) to this request */
	struct slice parents;          /* list of ids that must end first; without it a turn waits for the turn before */
	struct slice model;            /* text */
	struct slice tools;            /* list, as the chat API takes it */
	struct slice response_format;  /* map, as the chat API takes it */
	struct slice tags;             /* map or list: carried along */
	struct slice blocks;  /* map: what the prompt shares with others, by recorded ids: {"tokens":512,"ids":[…]} */
	struct slice slo;     /* map: this request's own objectives */
	struct slice answer;  /* text: the recorded answer (the next turn's context needs it) */
	bool context_session; /* "context":"session": messages are only what is new since the turn before */
};

struct trace_reader;

int trace_reader_open(struct trace_reader **reader, const char *path, struct ipf_error *err);
/* 1 and the next request (its slices are good until the next call); 0 at the end; -1 (err with file, line, field,
 * value). */
int trace_reader_next(struct trace_reader *reader, struct trace_request *request, struct ipf_error *err);
int trace_reader_rewind(struct trace_reader *reader, struct ipf_error *err);
struct stream_reader *trace_reader_stream(struct trace_reader *reader); /* borrowed: header, counts, digest */
void trace_reader_close(struct trace_reader *reader);

/* Renders a request as a body line into `line` (cleared first). */
void trace_request_write(const struct trace_request *request, struct buffer *line);
/* Does it name any? */
bool trace_has_parents(const struct trace_request *request);
/* All absent. */
void trace_request_init(struct trace_request *request);

#endif
