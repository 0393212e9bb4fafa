/* Requests read, kept and left out, and why: for -v and for the trailer. */
#ifndef PREP_SELECTION_COUNTS_H
#define PREP_SELECTION_COUNTS_H

#include "error.h"
#include "shape/arrival_pace.h"
#include "shape/prompt_repeats.h"
#include "shape/prompt_reuse.h"

#include <stdint.h>
#include <stdio.h>

#define REASONS_MAX 32

/* The output tokens to request if neither the data nor the user gives a number. */
#define OUTPUT_TOKENS_ASSUMED 128

#define RESIDUALS_MAX 64 /* tokens; larger differences are counted together */

/* By how many tokens prompts differ from the wanted lengths. */
struct length_error {
	int64_t requests, sum, max;
	int64_t by_size[RESIDUALS_MAX + 1];
};

/* Requests whose answers are checked (checked_requests.h). The canaries are in none of the other counts. */
struct checked_counts {
	int64_t canaries, repeats;
	int64_t input_tokens, output_tokens; /* the canaries' tokens; IPF_ABSENT: more than can be counted */
};

struct selection_counts {
	int64_t units; /* written sessions and single requests */
	int64_t requests;
	int64_t input_tokens, output_tokens; /* IPF_ABSENT: more than can be counted */
	int64_t assumed;                     /* requests with OUTPUT_TOKENS_ASSUMED */
	int64_t shift_ns;                    /* by which all arrivals were moved, so the first is at 0 */
	int64_t unfitted;                    /* requests whose prompt cannot be cut or extended */
	int64_t too_long;                    /* sessions of more requests than room for -n */
	int64_t shortest_too_long;           /* the requests of the shortest of them */
	struct arrival_pace pace;
	struct prompt_repeats repeats;
	struct prompt_reuse reuse;
	struct checked_counts checked;
	struct length_error residual; /* prompts made or fitted with a model's tokenizer */
	struct reason {
		const char *why; /* a literal */
		int64_t count;   /* sessions and single requests */
		int64_t requests;
	} reasons[REASONS_MAX];
	int reason_count;
	struct reason inexact[REASONS_MAX]; /* parts of requests unlike the record */
	int inexact_count;
};

/* Counts a session or a single request left out. `why` must be a literal. */
void selection_counts_drop(struct selection_counts *counts, const char *why, int64_t requests);
/* Counts a request unlike its record. `how` must be a literal. */
void selection_counts_inexact(struct selection_counts *counts, const char *how);
/* Counts a session not fitting into -n as a whole. */
void selection_counts_too_long(struct selection_counts *counts, int64_t requests);
/* Counts a prompt of `made` tokens for which `wanted` were wanted. */
void selection_counts_residual(struct selection_counts *counts, int64_t wanted, int64_t made);
/* The share of prompts (0 to 1) without a difference, and the 99th percentile of the differences, in tokens. There must
 * be a prompt. */
double residual_exact(const struct length_error *r);
int64_t residual_p99(const struct length_error *r);
/* Prints a line if there is a prompt. */
void residual_print(const struct length_error *r, FILE *to);
/* Prints a line for each way in which requests are not as they were recorded. */
void selection_counts_print_inexact(const struct selection_counts *counts, FILE *to);
void selection_counts_print(const struct selection_counts *counts, int64_t records, int64_t bad, FILE *to);

#endif
