#include "shape/selection_counts.h"

#include <string.h>

void selection_counts_drop(struct selection_counts *tally, const char *why, int64_t count)
{
	int i = 0;
	while (i < tally->reason_count && strcmp(tally->reasons[i].why, why) != 0)
		i++;
	if (i == REASONS_MAX)
		return;
	if (i == tally->reason_count)
		tally->reasons[tally->reason_count++] = (struct reason){.why = why};
	tally->reasons[i].count += count;
}

void selection_counts_residual(struct selection_counts *tally, int64_t asked, int64_t made)
{
	struct residual *r = &tally->residual;
	int64_t off = made > asked ? made - asked : asked - made;
	r->requests++;
	r->sum += off;
	r->max = off > r->max ? off : r->max;
	r->by_size[off < RESIDUALS_MAX ? off : RESIDUALS_MAX]++;
}

double residual_exact(const struct residual *r)
{
	return (double)r->by_size[0] / (double)r->requests;
}

int64_t residual_p99(const struct residual *r)
{
	int64_t within = 0, size = 0;
	while ((within += r->by_size[size]) * 100 < r->requests * 99)
		size++;
	return size < RESIDUALS_MAX ? size : r->max;
}

void residual_print(const struct residual *r, FILE *to)
{
	if (r->requests)
		fprintf(
			to,
			"ipf-prep: %lld prompts made, %.4g %% of them with exactly the tokens asked for (off by: mean %.3g, p99 %lld, max %lld)\n",
			(long long)r->requests, 100 * residual_exact(r), (double)r->sum / (double)r->requests,
			(long long)residual_p99(r), (long long)r->max);
}

void selection_counts_print(const struct selection_counts *tally, int64_t records, int64_t bad, FILE *to)
{
	fprintf(to, "ipf-prep: %lld records read, %lld requests written", (long long)records, (long long)tally->requests);
	if (tally->units != tally->requests)
		fprintf(to, " in %lld sessions", (long long)tally->units);
	fputc('\n', to);
	for (int i = 0; i < tally->reason_count; i++)
		fprintf(to, "ipf-prep: left out: %lld (%s)\n", (long long)tally->reasons[i].count, tally->reasons[i].why);
	if (bad)
		fprintf(to, "ipf-prep: left out: %lld (bad)\n", (long long)bad);
	if (tally->requests) {
		double n = (double)tally->requests;
		fprintf(to, "ipf-prep: tokens: %lld in (mean %.1f), %lld out (mean %.1f)\n", (long long)tally->input_tokens,
		        (double)tally->input_tokens / n, (long long)tally->output_tokens, (double)tally->output_tokens / n);
	}
	if (tally->unshaped)
		fprintf(to, "ipf-prep: %lld prompts could not be cut or extended\n", (long long)tally->unshaped);
	if (tally->assumed)
		fprintf(to, "ipf-prep: %lld answers of unknown length are asked for with %d tokens\n",
		        (long long)tally->assumed, OUTPUT_TOKENS_ASSUMED);
}
