/* What was read, kept and left out, and why: for -v. */
#ifndef PREP_TALLY_H
#define PREP_TALLY_H

#include "error.h"

#include <stdint.h>
#include <stdio.h>

#define REASONS_MAX 32

/* How long an answer is taken to be where neither the data nor the user says so. */
#define OUTPUT_TOKENS_ASSUMED 128

struct tally {
	int64_t units;     /* conversations and lone requests that were written */
	int64_t requests;
	int64_t input_tokens, output_tokens;
	int64_t assumed;   /* requests whose output length is an assumption */
	int64_t unshaped;  /* requests whose prompt could not be made to the drawn length */
	struct reason {
		const char *why; /* a literal */
		int64_t count;
	} reasons[REASONS_MAX];
	int reason_count;
};

void tally_drop(struct tally *tally, const char *why, int64_t count);
void tally_print(const struct tally *tally, int64_t records, int64_t bad, FILE *to);

#endif
