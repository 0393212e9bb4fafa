/* The requests of coding agents' own logs: their times, their recorded lengths, and which earlier prompt each
 * continues.
 *
 * A prompt at least as long as the one that it continues contains all of it. If the context was replaced, or the prompt
 * is shorter, their common part is the part read from the server's cache. A prompt continuing none has its cached
 * beginning, the agent's instructions and tools, in common with the others of its model. Prompts are made of pieces
 * accordingly (prompt_pieces.h), each of the recorded length. agent_chains.h describes the waits.
 *
 *     bool is_new;
 *     struct agent_request *r = agent_log_request(&log, key, &is_new);
 *     if (r && is_new) …
 *     return agent_log_finish(&log, drop_agents, sink, err);
 *     agent_log_release(&log);
 */
#ifndef PREP_AGENT_LOG_H
#define PREP_AGENT_LOG_H

#include "sources/agent_chains.h"
#include "sources/prompt_pieces.h"

#define NO_AGENT_REQUEST SIZE_MAX

struct agent_request {
	size_t chain; /* its index in `chains`; NO_CHAIN: a copy in another log, which is not sent but may be continued */
	bool sub_agent;
	int64_t start_ns, end_ns;
	int64_t input_tokens, cached_tokens, output_tokens; /* cached: of the input */
	int64_t tool_calls;
	size_t model;        /* the number of its name; NO_NUMBER: not known */
	size_t continues;    /* the earlier request whose prompt it continues; NO_AGENT_REQUEST */
	bool replaced;       /* part of that prompt was replaced, by a summary or by an earlier state */
	int64_t kept_tokens; /* for agent_log_finish: how many of its tokens are from earlier prompts */
	size_t root;         /* the first request of those it continues, or itself */
};

struct agent_log {
	struct agent_chains chains;
	struct name_numbers keys, models;
	struct agent_request *requests; /* by the number of the key; a later one may continue an earlier one */
	size_t count, cap;
	size_t *path; /* scratch space */
	size_t path_cap;
	struct prompt_pieces pieces;
	bool failed; /* out of memory; stays set */
};

/* The request of this key, made if there is none; valid until the next one. NULL when out of memory. */
struct agent_request *agent_log_request(struct agent_log *log, struct slice key, bool *is_new);
/* Its number, for `continues`. */
size_t agent_log_number(const struct agent_log *log, const struct agent_request *r);
/* A request whose end is set begins with the input coming at this time, but not before the end of its predecessor, nor
 * after its own. */
void agent_log_begin(const struct agent_log *log, struct agent_request *r, int64_t input_ns);
/* The number of a model's name; NO_NUMBER for an absent one. */
size_t agent_log_model(struct agent_log *log, struct slice name);
/* Sets the recorded lengths, if they are possible. 0 or -1. */
int agent_log_set_lengths(struct agent_request *r, int64_t input, int64_t cached, int64_t output,
                          struct ipf_error *err);
/* Refuses names unfit to be shown, either of which may be absent. 0 or -1. */
int agent_log_check_names(struct slice session, struct slice model, struct ipf_error *err);
/* Hands over all requests, those of sub-agents unless `drop_agents`. 0 or -1. */
int agent_log_finish(struct agent_log *log, bool drop_agents, struct sink *sink, struct ipf_error *err);
void agent_log_release(struct agent_log *log);

#endif
