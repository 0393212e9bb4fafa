/* The tool calls of a simulated answer: their number, and the text of each of their tokens.
 *
 *     call_plan_make(&plan, &wishes);
 *     call_plan_at(&plan, t, &call, &piece);              // token t of those that calls consist of, from 0
 *     call_plan_piece(&plan, call, piece, &arguments);    // piece 0 is the name, the others are arguments
 *     call_plan_release(&plan);
 *
 * A request may list the calls its answer would have had (`sim_calls`: [["find", {"q": 1}], …]): they are given then,
 * and mode `tools` leaves out, adds and reorders some of them, as another model would. Without a list they are made: of
 * the tools the request offers, in turn, and with as many tokens as the answer has.
 */
#ifndef SIM_CALL_PLAN_H
#define SIM_CALL_PLAN_H

#include "modes.h"

struct planned_call {
	struct buffer name;      /* as it stands in a JSON string */
	struct buffer arguments; /* given: as they are; made: empty */
	int64_t tokens;          /* its name is one */
	uint64_t start;          /* the seed of generated arguments, see json_text.h */
};

/* Zero-initialise. */
struct call_plan {
	struct planned_call *list;
	size_t count;
	int64_t tokens; /* all calls' tokens */
	bool mixed;     /* their pieces come in turn, not one call after the other */
};

struct call_wishes {
	const struct mode *mode; /* MODE_TOOLS */
	struct slice given;      /* "sim_calls"; absent: none */
	struct slice names;      /* the request's tools, each with a NUL after it; empty: "find" */
	int64_t tokens;          /* tokens of calls to make */
	uint64_t start;          /* the seed of their text */
	uint64_t seed, fingerprint;
};

/* Is this a list of pairs of a name and a map? */
bool call_plan_is_list(const struct jdoc *doc, jdoc_id node);
/* -1: out of memory. */
int call_plan_make(struct call_plan *plan, const struct call_wishes *wishes);
/* Tokens beyond the last one belong to the last call. */
void call_plan_at(const struct call_plan *plan, int64_t token, size_t *call, int64_t *piece);
/* Appends a piece of the arguments as it stands in a JSON string; nothing for piece 0, or beyond the last one. */
void call_plan_piece(const struct call_plan *plan, size_t call, int64_t piece, struct buffer *to);
void call_plan_release(struct call_plan *plan);

#endif
