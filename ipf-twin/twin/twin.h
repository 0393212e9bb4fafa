/* A twin: a model server as known from runs against it, as the parameters of a model of continuous batching
 * (batching/batching.h). ipf-twin(1) describes the file.
 *
 *     struct twin twin;
 *     if (twin_read(&twin, path, &err) == 0) … twin.p[TWIN_STEP_BASE].value …
 *     twin_release(&twin);
 *
 * A step of n sequences that computes p tokens of prompts, after c tokens of context, takes
 *
 *     step_base + n × step_per_sequence + c × step_per_context_token + w × step_per_waiting + p / prefill_tokens_per_s
 *
 * while w requests wait, times a random factor of mean 1, whose logarithm has the standard deviation `step_jitter`. A
 * parameter that the runs cannot show is not known: its value is NAN, and `why` says why, and which load would show it.
 */
#ifndef IPF_TWIN_H
#define IPF_TWIN_H

#include "balance_kind.h"
#include "batching/batching.h"
#include "error.h"
#include "stream/predicted.h"

#include <jansson.h>

/* Identifier, name in the file, least and greatest value, the substitute for an unknown one, meaning. Times are in
 * nanoseconds. */
#define TWIN_PARAMETERS(P)                                                                                             \
	P(STEP_BASE, "step_base_ns", 0, 1e12, 0, "a step takes at least so long")                                          \
	P(STEP_SEQUENCE, "step_per_sequence_ns", 0, 1e12, 0, "and this for each sequence in it")                           \
	P(STEP_CONTEXT, "step_per_context_token_ns", 0, 1e9, 0, "and this for each token of their contexts")               \
	P(STEP_WAITING, "step_per_waiting_ns", 0, 1e9, 0, "and this for each request that waits")                          \
	P(PREFILL, "prefill_tokens_per_s", 1e-3, 1e12, 1e12, "speed at which prompts are computed")                        \
	P(STEP_TOKENS, TWIN_NAME_STEP_TOKENS, 1, 1e9, 1e9, "most tokens that a step computes")                             \
	P(SEQUENCES, TWIN_NAME_SEQUENCES, 1, 1 << 20, 1 << 20, "most sequences in a step")                                 \
	P(KV_BLOCKS, TWIN_NAME_KV_BLOCKS, 1, 1 << 24, 1 << 20, "size of the KV cache, in blocks of 16 tokens")             \
	P(PREFIX_CACHE, "prefix_cache", 0, 1, 0, "1: prompts that begin alike are computed once; 0: not")                  \
	P(DRAFT_TOKENS, "draft_tokens", 0, BATCHING_MOST_DRAFT, 0, "tokens that a step drafts for each sequence")          \
	P(DRAFT_ACCEPTED, "draft_accepted", 0, 1, 0, "how likely it is that the next of them is accepted")                 \
	P(JITTER, "step_jitter", 0, 2, 0, "standard deviation of the logarithm of a step's length")                        \
	P(PAUSE, "pause_ns", 0, 1e12, 0, "mean length of a pause between steps")                                           \
	P(PAUSE_EVERY, "pause_every_ns", 1e6, 1e15, 1e15, "mean time between two pauses")                                  \
	P(OVERHEAD, "overhead_ns", 0, 1e12, 0, "what a request takes besides: network, parsing, a first wait")

#define TWIN_PARAMETER_ID(id_, name_, least_, most_, without_, about_) TWIN_##id_,
enum twin_parameter_id { TWIN_PARAMETERS(TWIN_PARAMETER_ID) TWIN_PARAMETER_COUNT };

extern const char *const twin_parameter_names[TWIN_PARAMETER_COUNT];

struct twin_parameter {
	double value;     /* NAN: not known */
	double low, high; /* holds the truth in 95 % of cases */
	double at_least;  /* a bound for an unknown one: it is at least this; NAN */
	bool assumed;     /* by twin_assume */
	char why[192];    /* for an unknown one: why, and which load would show it */
};

/* How far the runs it was fitted from are from its predictions for them: the relative error of a percentile. */
struct twin_error {
	double p50, p99; /* NAN: not known */
};

/* Further assumptions: factors for the lengths of the prompts and the answers of the load. */
enum twin_length { TWIN_INPUT, TWIN_OUTPUT, TWIN_LENGTHS };
extern const char *const twin_length_names[TWIN_LENGTHS]; /* "input_tokens", "output_tokens" */

/* The same at one load: that of a stage of the runs. */
struct twin_level {
	double in_flight; /* requests, on average */
	struct twin_error errors[TWIN_ERROR_COUNT];
};
#define TWIN_LEVELS 32 /* at most; those of more stages are of the first ones */

struct twin {
	struct twin_parameter p[TWIN_PARAMETER_COUNT];
	double times[TWIN_LENGTHS];                 /* by twin_assume; 1 */
	struct twin_error errors[TWIN_ERROR_COUNT]; /* for all runs together */
	struct twin_level levels[TWIN_LEVELS];
	int level_count;
	enum balance_kind balancing; /* several servers'; BALANCE_KINDS: not known */
	double balancing_share;      /* the choices explained beyond chance */
	int64_t requests, steps;     /* that it was fitted from */
	bool by_spans;               /* its steps could not be told apart: fitted to the time of whole answers */
	json_t *from;                /* a list of the runs; NULL: unknown */
	char *model;                 /* the server's model; NULL: unknown */
};

/* Nothing is known of it. */
void twin_init(struct twin *twin);
void twin_release(struct twin *twin);

void twin_set(struct twin *twin, enum twin_parameter_id id, double value, double low, double high);
/* Not known; `why` with the load that would tell. at_least may be NAN. */
void twin_set_unknown(struct twin *twin, enum twin_parameter_id id, double at_least, const char *why);
/* The value, or the substitute for an unknown one. */
double twin_value(const struct twin *twin, enum twin_parameter_id id);

/* Changes a parameter: `text` is NAME=VALUE, or NAME=xFACTOR for a multiple of the fitted one. Or it changes the load:
 * input_tokens=xFACTOR, output_tokens=xFACTOR. -1: IPF_USAGE names its fault. */
int twin_assume(struct twin *twin, const char *text, struct ipf_error *err);

/* Reads a file. -1: IPF_INPUT names its fault; the twin needs no release then. */
int twin_read(struct twin *twin, const char *path, struct ipf_error *err);
/* The members of the file behind its first ones ("ipf", "version", "tool"). -1: out of memory. */
int twin_to_json(const struct twin *twin, json_t *to);

/* Adds "error" and "levels", as in the file's member "fit". -1: out of memory. */
int twin_errors_to_json(const struct twin *twin, json_t *to);

/* The options of an engine of this kind. */
struct batching_options twin_engine(const struct twin *twin, uint64_t seed);

#endif
