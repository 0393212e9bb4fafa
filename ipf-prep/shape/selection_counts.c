#include "shape/selection_counts.h"

#include "absent.h"

#include <string.h>

static void count_reason(struct reason *reasons, int *reason_count, const char *why, int64_t requests)
{
	int i = 0;
	while (i < *reason_count && strcmp(reasons[i].why, why) != 0)
		i++;
	if (i == REASONS_MAX)
		return;
	if (i == *reason_count)
		reasons[(*reason_count)++] = (struct reason){.why = why};
	reasons[i].count++;
	reasons[i].requests += requests;
}

void selection_counts_drop(struct selection_counts *counts, const char *why, int64_t requests)
{
	count_reason(counts->reasons, &counts->reason_count, why, requests);
}

void selection_counts_inexact(struct selection_counts *counts, const char *how)
{
	count_reason(counts->inexact, &counts->inexact_count, how, 1);
}

void selection_counts_print_inexact(const struct selection_counts *counts, FILE *to)
{
	for (int i = 0; i < counts->inexact_count; i++)
		fprintf(to, "ipf-prep: %lld request%s: %s\n", (long long)counts->inexact[i].count,
		        counts->inexact[i].count == 1 ? "" : "s", counts->inexact[i].why);
}

void selection_counts_too_long(struct selection_counts *counts, int64_t requests)
{
	if (counts->too_long++ == 0 || requests < counts->shortest_too_long)
		counts->shortest_too_long = requests;
}

void selection_counts_residual(struct selection_counts *counts, int64_t wanted, int64_t made)
{
	struct length_error *r = &counts->residual;
	int64_t off = made > wanted ? made - wanted : wanted - made;
	r->requests++;
	r->sum += off;
	r->max = off > r->max ? off : r->max;
	r->by_size[off < RESIDUALS_MAX ? off : RESIDUALS_MAX]++;
}

double residual_exact(const struct length_error *r)
{
	return (double)r->by_size[0] / (double)r->requests;
}

int64_t residual_p99(const struct length_error *r)
{
	int64_t within = 0, size = 0;
	while ((within += r->by_size[size]) * 100 < r->requests * 99)
		size++;
	return size < RESIDUALS_MAX ? size : r->max;
}

void residual_print(const struct length_error *r, FILE *to)
{
	if (r->requests)
		fprintf(to,
		        "ipf-prep: %lld prompts made or resized, %.4g %% of them to exactly the requested length "
		        "(difference in tokens: mean %.3g, p99 %lld, max %lld)\n",
		        (long long)r->requests, 100 * residual_exact(r), (double)r->sum / (double)r->requests,
		        (long long)residual_p99(r), (long long)r->max);
}

void selection_counts_print(const struct selection_counts *counts, int64_t records, int64_t bad, FILE *to)
{
	fprintf(to, "ipf-prep: %lld records read, %lld requests written", (long long)records, (long long)counts->requests);
	if (counts->units != counts->requests)
		fprintf(to, " in %lld sessions", (long long)counts->units);
	fputc('\n', to);
	for (int i = 0; i < counts->reason_count; i++)
		fprintf(to, "ipf-prep: left out: %lld (%s)\n", (long long)counts->reasons[i].count, counts->reasons[i].why);
	if (bad)
		fprintf(to, "ipf-prep: left out: %lld (bad records)\n", (long long)bad);
	if (counts->requests && counts->input_tokens != IPF_ABSENT && counts->output_tokens != IPF_ABSENT) {
		double n = (double)counts->requests;
		fprintf(to, "ipf-prep: tokens: %lld in (mean %.1f), %lld out (mean %.1f)\n", (long long)counts->input_tokens,
		        (double)counts->input_tokens / n, (long long)counts->output_tokens, (double)counts->output_tokens / n);
	}
	if (counts->unfitted)
		fprintf(to, "ipf-prep: %lld prompts were not cut or extended: they have no plain text message of the user\n",
		        (long long)counts->unfitted);
	if (counts->assumed)
		fprintf(to, "ipf-prep: %lld requests ask for %d output tokens, because the data has no length\n",
		        (long long)counts->assumed, OUTPUT_TOKENS_ASSUMED);
}
