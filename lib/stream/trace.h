/* Reads and writes the request trace: the requests to send. See ipf-trace(5).
 *
 *     if (trace_reader_open(&reader, path, &err) < 0) …
 *     while ((got = trace_reader_next(reader, &request, &err)) == 1) …
 *     trace_reader_close(reader);
 *
 * Every slice holds JSON verbatim (a text with its quotes), so it can be passed on without being decoded. An absent
 * slice has data == NULL; an absent integer is IPF_ABSENT.
 */
#ifndef IPF_TRACE_H
#define IPF_TRACE_H

#include "json/jdoc.h"
#include "stream/stream.h"

struct trace_request {
	struct slice id;               /* text; unique in the trace */
	struct slice messages;         /* list of chat messages {"role","content",…}; or … */
	struct slice prompt;           /* text; or … */
	struct slice prompt_token_ids; /* list of integers; or … */
	struct slice inputs;           /* list of texts, or of lists of token ids, that one request carries: exactly one of
	                                * the four is present */
	struct slice query;            /* text the inputs are ranked for */
	int64_t inputs_count;          /* the length of `inputs`; absent without them. Parsing sets it. */
	int64_t input_tokens;     /* the whole prompt's as sent, earlier turns included; all inputs', each with the query */
	int64_t output_tokens;    /* the requested length of the answer */
	int64_t at_ns;            /* the recorded arrival, from the beginning of the trace */
	struct slice session;     /* text */
	int64_t turn;             /* place in the session, from 0 */
	int64_t wait_ns;          /* from the end of the previous turn, or of the last parent, to this request */
	int64_t hang_up_ns;       /* from the start to when the recorded client disconnected; absent: it did not */
	int64_t recorded_ttft_ns; /* in production, from the start to the first token; at most the next one */
	int64_t recorded_e2e_ns;  /* in production, from the start to the end of the answer */
	struct slice parents;     /* list of ids that must end first; absent: a turn waits for the previous turn */
	struct slice model;       /* text */
	struct slice tools;       /* list, in the form of the chat API */
	struct slice response_format;  /* map, in the form of the chat API */
	struct slice tags;             /* map or list: passed through */
	struct slice blocks;           /* map: the recorded ids of blocks that prompts share: {"tokens":512,"ids":[…]} */
	struct slice slo;              /* map: this request's own objectives */
	struct slice media;            /* list of maps: the images, audio and video of the messages */
	struct slice headers;          /* map of texts: of this request alone, see own_parts.h */
	struct slice body;             /* map: members of its body, the same */
	struct slice answer;           /* text: the recorded answer, which the next turn's context contains */
	struct slice answer_token_ids; /* list of integers: the same, of a request with prompt_token_ids */
	int64_t answer_tokens;         /* its length; absent without it. Parsing sets it. */
	bool context_session;          /* "context":"session": the prompt has only the new messages since the previous
	                                * turn */
};

struct trace_reader;

int trace_reader_open(struct trace_reader **reader, const char *path, struct ipf_error *err);
/* 1: the next request, its slices valid until the next call; 0: the end; -1: err names file, line, field and value. */
int trace_reader_next(struct trace_reader *reader, struct trace_request *request, struct ipf_error *err);
int trace_reader_rewind(struct trace_reader *reader, struct ipf_error *err);
struct stream_reader *trace_reader_stream(struct trace_reader *reader); /* borrowed; for header, counts, digest */
void trace_reader_close(struct trace_reader *reader);

/* Parses a body line with `doc`, to which *request then belongs. `lengths_only`: requests have lengths instead of
 * prompts. -1: it is no request of a trace; err names field and value. */
int trace_request_parse(struct jdoc *doc, struct slice line, bool lengths_only, struct trace_request *request,
                        struct ipf_error *err);

/* Renders a request as a body line into `line`, which is cleared first. */
void trace_request_write(const struct trace_request *request, struct buffer *line);
/* The prompt in whichever form the request has it; absent: only its length is known. */
struct slice trace_prompt(const struct trace_request *request);
/* The recorded answer in whichever form the request has it; absent: there is none. */
struct slice trace_answer(const struct trace_request *request);
/* Are its inputs texts, rather than lists of token ids? false: it has none. */
bool trace_inputs_are_texts(const struct trace_request *request);
/* Refuses a request with `inputs`, for features of one prompt only. -1: the error `inputs: WHY`. */
int trace_refuse_inputs(const struct trace_request *request, const char *why, struct ipf_error *err);
/* Whether `parents` names any request. */
bool trace_has_parents(const struct trace_request *request);
/* Sets all fields to absent. */
void trace_request_init(struct trace_request *request);

#endif
