#include "formats/text_said.h"

#include "definitions/said.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The columns: where the numbers end. */
static const int ends[] = {30, 40, 50, 60, 70, 80};
enum { LABEL = 2, RULE = 6 };

static const char *const titles[TOOL_FIGURES] = {
	[TOOL_TTFT] = "Time to first token, ms",    [TOOL_ITL] = "Inter-token latency, ms",
	[TOOL_TPOT] = "Time per output token, ms",  [TOOL_E2E] = "Latency of a request, ms",
	[TOOL_THROUGHPUT] = "Throughput",           [TOOL_OUTPUT_TOKENS] = "Output tokens",
	[TOOL_FAILURES] = "Successes and failures",
};

static void heads(struct layout *l, enum tool_figure figure)
{
	static const char *const of_latency[] = {"mean", "p50", "p90", "p99", "std", "of"};
	static const char *const of_rate[] = {"requests/s", "tokens/s", "over, s"};
	static const char *const of_tokens[] = {"all", "a request"};
	static const char *const of_requests[] = {"ok", "failed"};
	const char *const *names = figure < TOOL_LATENCIES        ? of_latency
	                           : figure == TOOL_THROUGHPUT    ? of_rate
	                           : figure == TOOL_OUTPUT_TOKENS ? of_tokens
	                                                          : of_requests;
	int count = figure < TOOL_LATENCIES ? 6 : figure == TOOL_THROUGHPUT ? 3 : 2;
	layout_end_line(l);
	layout_text(l, STRONG, titles[figure]);
	for (int i = 0; i < count; i++)
		layout_right(l, ends[i], FAINT, names[i]);
	layout_end_line(l);
}

static void number(struct layout *l, int column, double value)
{
	char text[40];
	layout_right(l, ends[column], PLAIN, show_narrow_number(value, 9, text));
}

static void count(struct layout *l, int column, int64_t value)
{
	char text[40];
	layout_right(l, ends[column], PLAIN, show_narrow_count(value, 9, text));
}

static void numbers(struct layout *l, const struct said_tool *t, enum tool_figure figure)
{
	const struct said_latency *d = &t->latencies[figure < TOOL_LATENCIES ? figure : 0];
	if (figure < TOOL_LATENCIES) {
		const double values[] = {d->mean, d->p50, d->p90, d->p99, d->std};
		for (int i = 0; i < 5; i++)
			number(l, i, values[i]);
		count(l, 5, d->n);
	} else if (figure == TOOL_THROUGHPUT) {
		number(l, 0, t->requests_per_s);
		number(l, 1, t->output_per_s);
		number(l, 2, t->seconds);
	} else if (figure == TOOL_OUTPUT_TOKENS) {
		number(l, 0, t->output_tokens);
		number(l, 1, t->ok ? t->output_tokens / (double)t->ok : NAN);
	} else {
		count(l, 0, t->ok);
		count(l, 1, t->failed);
	}
}

static void show_tool(struct layout *l, const struct said_tool *t, enum tool_figure figure)
{
	char rule[400];
	const char *name = t->rules->figures[figure].name;
	layout_to(l, LABEL);
	layout_text(l, PLAIN, t->rules->name);
	if (name)
		numbers(l, t, figure);
	layout_end_line(l);
	snprintf(rule, sizeof rule, "%s%s%s", name && strcmp(name, "-") != 0 ? name : "",
	         name && strcmp(name, "-") != 0 ? ": " : "", t->rules->figures[figure].rule);
	layout_to(l, RULE);
	layout_wrapped(l, RULE, FAINT, rule);
}

static void show_figure(struct layout *l, const struct said *said, enum tool_figure figure)
{
	heads(l, figure);
	layout_to(l, LABEL);
	layout_text(l, PLAIN, "ipf");
	numbers(l, &said->ours, figure);
	layout_end_line(l);
	for (int i = 0; i < said->count; i++)
		show_tool(l, &said->tools[i], figure);
}

/* What the tools of a list lack, each sentence once. */
static void show_lacks(struct layout *l, const struct said *said)
{
	for (int i = 0; i < SAID_LACKS; i++) {
		char names[200] = "";
		for (int k = 0; k < said->count; k++)
			if (said->tools[k].lacks >> i & 1)
				join(names, sizeof names, ", ", said->tools[k].rules->name, "");
		if (!names[0])
			continue;
		layout_to(l, LABEL);
		layout_format(l, WARN, "%s: ", names);
		layout_wrapped(l, RULE, PLAIN, said_lacks[i]);
	}
}

void text_said(struct layout *l, const struct report *report)
{
	const struct said *said = report->said;
	char text[400];
	if (!said || !said->any)
		return;
	layout_heading(l, "What other tools would have said");
	layout_end_line(l);
	for (int i = 0; i < said->count; i++) {
		const struct tool_rules *r = said->tools[i].rules;
		layout_to(l, LABEL);
		layout_text(l, PLAIN, r->name);
		layout_to(l, 18);
		snprintf(text, sizeof text, "%s %s (%s)", r->tool, r->version, r->source);
		layout_wrapped(l, 18, PLAIN, text);
	}
	show_lacks(l, said);
	for (int i = 0; i < TOOL_FIGURES; i++)
		show_figure(l, said, (enum tool_figure)i);
}
