/* Other servers' APIs: the places of a request's values, and how an answer is written. All are served at once, each
 * under its name: POST /tgi/generate_stream, POST /ollama/api/generate. Written from knowledge of the servers, and not
 * from lib/apis/, so the one can be held against the other.
 *
 * Part of generate_request.c (the request), routes.c (the path) and answer.c (the bytes).
 */
#ifndef SIM_DIALECT_H
#define SIM_DIALECT_H

#include "answer.h"

/* How events stand in a stream. */
enum dialect_framing { DIALECT_SSE, DIALECT_LINES, DIALECT_BARE };

struct dialect {
	const char *name;
	const char *stream_path, *whole_path; /* "*" is the model; NULL: no such answers */
	const char *ready;                    /* GET gives 200 once the model is there */
	const char *key_header;               /* NULL: Authorization: Bearer */
	enum dialect_framing framing;
	/* The places of the values in a request: names with dots between; ">" goes on in the JSON within a text. NULL:
	 * nowhere. */
	const char *prompt, *messages, *content, *ids, *system;
	const char *model, *max_tokens, *min_tokens, *ignore_eos;
	const char *stream; /* NULL: the path says */
	const char *forced; /* the ids of a given answer; an answer then lists its ids */
	/* Each appends its part to a->json and sends it (dialect_send), or appends a whole body. */
	void (*begin)(struct answer *a);
	void (*token)(struct answer *a, bool last);
	void (*end)(struct answer *a);
	void (*whole)(struct answer *a, struct buffer *headers);
	bool echoes; /* the prompt stands before the answer */
	bool chat;   /* it is OpenAI's chat completions, under another name */
};

/* The dialect whose path this is; *model is the text at the "*" (absent), *streamed the stream flag of the path. NULL:
 * none.
 */
const struct dialect *dialect_of_path(struct slice path, struct slice *model, bool *streamed);
/* Is this one's readiness route? */
bool dialect_is_ready_path(struct slice path);
const struct dialect *dialect_at(size_t i); /* NULL after the last */

/* answer_token for an answer in a dialect. */
enum answer_next dialect_token(struct answer *a, int64_t k);

/* Sends a->json as one event, under a name where there is one; `content`: it has text in it. */
void dialect_send(struct answer *a, const char *name, bool content, bool last);

extern const struct dialect dialects[]; /* dialect_table.c */

#endif
