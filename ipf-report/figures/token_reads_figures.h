/* How many tokens came in a read, over requests: a sign from the outside of a server that drafts tokens. */
#ifndef REPORT_TOKEN_READS_FIGURES_H
#define REPORT_TOKEN_READS_FIGURES_H

#include "results/run_data.h"

enum { READ_SIZES = 8 };
extern const char *const read_size_names[READ_SIZES]; /* "1", "2", …, "8+" */

/* The reads with content after the first, of successful requests whose tokens are known. */
struct token_reads_figures {
	int64_t several;       /* reads of several tokens, and reads of requests of which only the mean is known */
	int64_t reads, tokens; /* the tokens after the first of each request */
	int64_t by_tokens[READ_SIZES];
	int64_t gap_one_ns, gap_several_ns; /* before reads of one token, of several; summed */
};

/* Adds a successful request. */
void token_reads_add(struct token_reads_figures *t, const struct row *row);
/* NAN where no read brought several tokens. */
double token_reads_mean(const struct token_reads_figures *t);
double token_reads_several_share(const struct token_reads_figures *t);
/* The mean gap before a read of several tokens, divided by the one before a read of a single token: about 1 if the
 * server makes several tokens in a step. NAN: there were fewer than READ_GAPS_LEAST of either. */
double token_reads_gap_ratio(const struct token_reads_figures *t);
enum { READ_GAPS_LEAST = 30 };

#endif
