/* An answer's bytes, as the server's API has them, and as its modes bend them. Knows of no sockets and no clocks: it
 * writes to an outbox.
 *
 *     answer_head(&a);                       // a streamed answer begins
 *     switch (answer_token(&a, k)) …         // once for every token; the last one ends the answer
 *     answer_release(&a);
 */
#ifndef SIM_ANSWER_H
#define SIM_ANSWER_H

#include "answer_script.h"
#include "call_plan.h"
#include "generate_request.h"
#include "outbox.h"
#include "stats/rng.h"
#include "token_text.h"

enum answer_next {
	ANSWER_ON,    /* more is to come */
	ANSWER_WHOLE, /* the response is complete */
	ANSWER_CUT,   /* close the connection after the part written */
	ANSWER_RESET, /* reset it */
};

struct answer {
	/* Set by the caller. */
	const struct generate_request *ask;
	const struct modes *modes;
	struct outbox *out;
	const char *model;
	struct slice request_id; /* X-Request-Id's value, sent back; absent */
	bool keep_alive;
	bool role_early; /* the role chunk goes out with the head, not with the first token */
	uint64_t seed, number;
	int64_t prompt_tokens, cached_tokens, output_tokens;
	/* When the request arrived, its computing began, its first token was there, and now: as the server tells it. */
	int64_t arrival_ns, begun_ns, first_ns, now_ns;
	const char *finish; /* "length" or "stop" */
	bool more;          /* the step made the token after this one as well: one event has both */
	/* The engine's state of the request, and its speculation; NULL: none. For request_metrics.h. */
	const struct sequence *work;
	const struct batching_spec *spec;
	bool tiers, storage; /* the engine has tiers below the device; storage among them */
	bool metrics;        /* the answer has a server's metrics of the request, where that server would say them */
	/* Its own. */
	bool whole;                  /* one JSON body */
	struct call_plan calls;      /* set by answer_plan_calls */
	struct answer_script script; /* its text; the caller may write it before answer_init */
	int64_t cut_tokens;          /* under load, it ends after these; 0: it does not. See answer_faults.h */
	bool wrong_decided;
	unsigned faults;         /* enum answer_fault */
	int64_t sent, pending;   /* tokens */
	int64_t events, written; /* all events; those with text, for coalescing */
	bool usage_last;         /* the usage goes into the chunk that finishes */
	bool usage_apart;        /* it has a chunk of its own */
	bool finished;           /* that chunk was sent */
	uint64_t shown;          /* a bit for each mode that shows once and has */
	enum { PART_TEXT, PART_REASONING, PART_TOOL } part;
	bool role_sent;
	struct buffer opening;                    /* how every chunk begins */
	struct buffer text, reasoning, arguments; /* whole: all of it; streamed: the pending part */
	struct buffer ids;                        /* the same of its tokens, if they are asked for: "7,12" */
	bool prompt_ids_sent;
	struct buffer so_far; /* a dialect's: the whole answer until now */
	struct buffer event, json;
	struct rng cuts;
};

/* Which tools it calls. With calls the request lists, they decide its length. To be called before answer_init, with
 * `ask`, `modes`, `seed` and `output_tokens` set. -1: out of memory. */
int answer_plan_calls(struct answer *a);
void answer_init(struct answer *a); /* after the caller's members are set */

/* ---- answer_text.c ---- */

struct answer_piece {
	const char *json; /* as it stands in a JSON string */
	struct slice bytes;
};
/* Token `k` of the answer, if it is one of its text: in mode json, that fills all of the answer but its reasoning. */
struct answer_piece answer_text_at(const struct answer *a, int64_t k);
/* Its id: that of its text, or the request's own. */
uint32_t answer_id_at(const struct answer *a, int64_t k);
/* The candidates for token k by their probability: rank 0 is the token itself. */
struct answer_piece answer_candidate_at(const struct answer *a, int64_t k, int64_t rank);
int64_t answer_reasoning_tokens(const struct answer *a);
enum token_text answer_words(const struct modes *modes);
/* Where the text begins, for token_text_at. */
uint64_t answer_start(uint64_t seed, uint64_t fingerprint);

/* ---- writing ---- */

/* The status line and head of a streamed answer, and the events sent with it. Nothing for a whole one. */
void answer_head(struct answer *a);
enum answer_next answer_token(struct answer *a, int64_t k);
void answer_release(struct answer *a);

/* Is it now, after so many tokens, that the mode shows? Each does so once; one that comes after more tokens than there
 * are, after the last. NULL: no. */
const struct mode *answer_now(struct answer *a, enum mode_kind kind);

/* A whole response of another kind. `more` has further header lines, each with its CR LF, or NULL. */
void answer_plain(struct outbox *out, int status, const char *type, const char *more, struct slice body,
                  bool keep_alive);
/* {"error":{…}} as OpenAI's servers say it. */
void answer_error(struct outbox *out, int status, const char *more, const char *text, const char *param,
                  bool keep_alive);

#endif
