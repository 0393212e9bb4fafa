/* What was read, kept and left out, and why: for -v. */
#ifndef PREP_TALLY_H
#define PREP_TALLY_H

#include "error.h"

#include <stdint.h>
#include <stdio.h>

#define REASONS_MAX 32

/* How long an answer is taken to be where neither the data nor the user says so. */
#define OUTPUT_TOKENS_ASSUMED 128

#define RESIDUALS_MAX 64 /* tokens; what is off by more counts as so much, but for the most */

/* How far prompts that were made are from the tokens that were asked for. */
struct residual {
	int64_t requests, sum, max;
	int64_t by_size[RESIDUALS_MAX + 1];
};

struct selection_counts {
	int64_t units; /* conversations and lone requests that were written */
	int64_t requests;
	int64_t input_tokens, output_tokens;
	int64_t assumed;          /* requests whose output length is an assumption */
	int64_t unshaped;         /* requests whose prompt could not be made to the drawn length */
	struct residual residual; /* of prompts made or brought to a length with a model's tokenizer */
	struct reason {
		const char *why; /* a literal */
		int64_t count;
	} reasons[REASONS_MAX];
	int reason_count;
};

void selection_counts_drop(struct selection_counts *tally, const char *why, int64_t count);
void selection_counts_residual(struct selection_counts *tally, int64_t asked, int64_t made);
/* The share that is exact, and the least that 99 % are not further off than. Of one request or more. */
double residual_exact(const struct residual *r);
int64_t residual_p99(const struct residual *r);
/* One line for standard error, where any prompt was made. */
void residual_print(const struct residual *r, FILE *to);
void selection_counts_print(const struct selection_counts *tally, int64_t records, int64_t bad, FILE *to);

#endif
