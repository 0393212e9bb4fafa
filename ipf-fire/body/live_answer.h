/* A server's answer as the assistant's message of a later turn, and the results of its tool calls.
 *
 * In a trace, an answer of tool calls is not the answer of its request but the first message of the next one, and the
 * results follow it, each with the id of its call. The server's own answer takes its place: its calls have other ids,
 * and perhaps another order, and there may be fewer or more. A call of this answer gets the result of the recorded call
 * with the same name and arguments, else of the first remaining one of the same name. Servers refuse a conversation in
 * which a call has no result or a result no call, so both are left out and counted. If then nothing of the answer is
 * left, or nothing of the turn, the recorded answer is used.
 *
 * With prompts of token ids, the answer is its ids, and the next turn's own follow them: the server finds its generated
 * tokens in its cache.
 *
 *     live_answer_take(&answer, &response, false);                            // after response_parse with keep_text
 *     how = live_answer_continue(&answer, &q, reasoning, &messages, &own, &counts);
 */
#ifndef IPF_LIVE_ANSWER_H
#define IPF_LIVE_ANSWER_H

#include "api/response.h"
#include "stream/trace.h"

/* Zero-initialise: there is none. */
struct live_answer {
	struct buffer text, reasoning; /* "": none */
	struct buffer ids;             /* its tokens': "12,7" */
	struct tool_calls calls;
};

struct live_answer_counts {
	int64_t calls;            /* answered with a result of the trace */
	int64_t calls_left_out;   /* calls of the server's answers without a result in the trace */
	int64_t results_left_out; /* the trace's: the server made no such call */
};

/* Moves the answer's parts out of the response: its token ids, or text and calls. false: it has none. */
bool live_answer_take(struct live_answer *a, struct response *response, bool ids);
bool live_answer_is_text(const struct live_answer *a); /* or ids: enough for any turn continuing it */
size_t live_answer_bytes(const struct live_answer *a); /* the memory it takes */
void live_answer_release(struct live_answer *a);

/* Does the request begin with a recorded answer? */
bool live_answer_recorded(const struct trace_request *q);

/* Appends the answer to the inside of a list of messages (or of ids, if the request's prompt is these), and sets `own`
 * to the list of the request's own messages following it. With `reasoning` its reasoning goes back as well
 * (`reasoning_content`). false: the recorded answer is to be used (it and its results are in `own`, if
 * live_answer_recorded), and nothing has been appended; also without memory. */
bool live_answer_continue(const struct live_answer *a, const struct trace_request *q, bool reasoning,
                          struct buffer *messages, struct buffer *own, struct live_answer_counts *counts);

#endif
