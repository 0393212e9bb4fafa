#include "formats/md_said.h"

#include "definitions/said.h"

#include <math.h>
#include <string.h>

static const char *const heads[TOOL_FIGURES] = {
	[TOOL_TTFT] = "TTFT, ms | mean | p50 | p90 | p99 | std | of",
	[TOOL_ITL] = "ITL, ms | mean | p50 | p90 | p99 | std | of",
	[TOOL_TPOT] = "TPOT, ms | mean | p50 | p90 | p99 | std | of",
	[TOOL_E2E] = "E2E, ms | mean | p50 | p90 | p99 | std | of",
	[TOOL_THROUGHPUT] = "throughput | requests/s | tokens/s | over, s",
	[TOOL_OUTPUT_TOKENS] = "output tokens | all | a request",
	[TOOL_FAILURES] = "requests | ok | failed",
};

static int columns_of(enum tool_figure figure)
{
	return figure < TOOL_LATENCIES ? 6 : figure == TOOL_THROUGHPUT ? 3 : 2;
}

static void put_number(struct buffer *out, double value)
{
	if (isnan(value))
		buffer_text(out, "  |");
	else
		buffer_format(out, fabs(value) >= 1000 || value == round(value) ? " %.0f |" : " %.4g |", value);
}

static void put_numbers(struct buffer *out, const struct said_tool *t, enum tool_figure figure)
{
	const struct said_latency *d = &t->latencies[figure < TOOL_LATENCIES ? figure : 0];
	const double of_latency[] = {d->mean, d->p50, d->p90, d->p99, d->std, (double)d->n};
	const double of_rate[] = {t->requests_per_s, t->output_per_s, t->seconds};
	const double of_tokens[] = {t->output_tokens, t->ok ? t->output_tokens / (double)t->ok : NAN};
	const double of_requests[] = {(double)t->ok, (double)t->failed};
	const double *values = figure < TOOL_LATENCIES        ? of_latency
	                       : figure == TOOL_THROUGHPUT    ? of_rate
	                       : figure == TOOL_OUTPUT_TOKENS ? of_tokens
	                                                      : of_requests;
	for (int i = 0; i < columns_of(figure); i++)
		put_number(out, values[i]);
}

/* Rules are our own words, in which nothing has to be escaped but what would be markup. */
static void put_rule(struct buffer *out, const char *name, const char *rule)
{
	if (name && strcmp(name, "-") != 0)
		buffer_format(out, " `%s`:", name);
	buffer_byte(out, ' ');
	for (; *rule; rule++)
		if (strchr("*_<>|", *rule))
			buffer_format(out, "&#%d;", *rule);
		else
			buffer_byte(out, *rule);
	buffer_text(out, " |\n");
}

static void put_tool(struct buffer *out, const struct said_tool *t, enum tool_figure figure)
{
	const char *name = t->rules->figures[figure].name;
	buffer_format(out, "| %s |", t->rules->name);
	if (name)
		put_numbers(out, t, figure);
	else
		for (int i = 0; i < columns_of(figure); i++)
			buffer_text(out, "  |");
	put_rule(out, name, t->rules->figures[figure].rule);
}

static void put_figure(struct buffer *out, const struct said *said, enum tool_figure figure)
{
	buffer_format(out, "\n| %s | rule |\n| --- |", heads[figure]);
	for (int i = 0; i < columns_of(figure); i++)
		buffer_text(out, " ---: |");
	buffer_text(out, " --- |\n| ipf |");
	put_numbers(out, &said->ours, figure);
	buffer_text(out, "  |\n");
	for (int i = 0; i < said->count; i++)
		put_tool(out, &said->tools[i], figure);
}

void md_said(struct buffer *out, const struct report *report)
{
	const struct said *said = report->said;
	if (!said || !said->any)
		return;
	buffer_text(out, "<details><summary>What other tools would have said</summary>\n\n");
	for (int i = 0; i < said->count; i++) {
		const struct tool_rules *r = said->tools[i].rules;
		buffer_format(out, "- %s: %s %s (`%s`)\n", r->name, r->tool, r->version, r->source);
		for (int k = 0; k < SAID_LACKS; k++)
			if (said->tools[i].lacks >> k & 1)
				buffer_format(out, "  - %s\n", said_lacks[k]);
	}
	for (int i = 0; i < TOOL_FIGURES; i++)
		put_figure(out, said, (enum tool_figure)i);
	buffer_text(out, "\n</details>\n\n");
}
