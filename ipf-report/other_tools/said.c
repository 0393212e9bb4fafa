#include "other_tools/said.h"

#include "other_tools/seen_request.h"
#include "other_tools/weighted_values.h"
#include "memory.h"
#include "stats/histogram.h"
#include "stats/samples.h"

#include <math.h>
#include <string.h>

const char *const said_lacks[SAID_LACKS] = {
	"events without content are not in the results: ipf-collect --events keeps them",
	"it counts tokens with a tokenizer, which the results lack (ipf-collect --tokenizer): the next best count is used",
	"the tokens of each chunk are not known: each counts as one",
	"gaps between chunks are not in the results, which were collected with another --itl",
};

int said_choose(struct said *said, const char *list, struct ipf_error *err)
{
	said->any = true;
	for (const char *at = list;; at++) {
		size_t len = strcspn(at, ",");
		bool all = len == 3 && memcmp(at, "all", 3) == 0;
		const struct tool_rules *one = tool_rules_find((struct slice){at, len});
		for (int i = 0; i < TOOL_COUNT; i++)
			said->chosen[i] |= all || one == &tool_rules[i];
		if (!all && !one)
			return ipf_error_set(err, IPF_USAGE, "\"%.*s\" is no tool; tools: " TOOL_NAMES ", all", (int)len, at);
		at += len;
		if (!*at)
			return 0;
	}
}

/* ---- one tool ---- */

/* Its values, until all requests were seen. */
struct gathered {
	struct said_tool *tool;
	struct samples lists[TOOL_LATENCIES];            /* ms */
	struct weighted_values weighted[TOOL_LATENCIES]; /* instead, for TOOL_PERCENTILE_LEAST */
	struct histogram *gaps;                          /* ns; instead of the list of TOOL_ITL, if it is of gaps */
	int64_t begin_ns, end_ns;                        /* the window's, in the current part */
	double ns;                                       /* duration of the windows of the parts before it */
	int64_t sent;
};

static const struct tool_rules ours = {.chunks = 1u << EVENT_TEXT | 1u << EVENT_REASONING | 1u << EVENT_TOOL,
                                       .tpot = TOOL_TPOT_LAST_LESS_FIRST,
                                       .itl = TOOL_ITL_GAPS,
                                       .fails = TOOL_FAILS_ERROR | TOOL_FAILS_MALFORMED | TOOL_FAILS_EMPTY |
                                                TOOL_FAILS_NO_END,
                                       .two_chunks = false};

static const struct tool_rules *rules_of(const struct said_tool *tool)
{
	return tool->rules ? tool->rules : &ours;
}

static bool of_gaps(const struct tool_rules *rules)
{
	return rules->itl == TOOL_ITL_GAPS || rules->itl == TOOL_ITL_TOKENS;
}

static void add(struct gathered *g, enum tool_figure figure, double ns, double weight)
{
	if (rules_of(g->tool)->percentile == TOOL_PERCENTILE_LEAST)
		weighted_values_add(&g->weighted[figure], ns / 1e6, weight);
	else
		samples_add(&g->lists[figure], ns / 1e6);
}

static int64_t count_tokens(struct gathered *g, const struct seen_chunks *chunks, const struct row *row)
{
	const struct tool_rules *rules = g->tool->rules;
	enum tool_tokens source;
	if (!rules)
		return row_get(row, ROW_OUTPUT_TOKENS);
	int64_t tokens = tool_output_tokens(rules, &chunks->counts, &source);
	for (int i = 0; i < TOOL_TOKENS_MOST && rules->tokens[i] != source; i++)
		if (rules->tokens[i] == TOOL_TOKENS_TOKENIZER)
			g->tool->lacks |= SAID_NO_TOKENIZER;
	return tokens;
}

static void add_success(struct gathered *g, const struct seen_chunks *chunks, int64_t tokens, double waited_ns)
{
	const struct tool_rules *rules = rules_of(g->tool);
	const struct tool_times *t = &chunks->times;
	double itl = tool_request_itl(rules, t, tokens), known = tokens == IPF_ABSENT ? 0 : (double)tokens;
	add(g, TOOL_TTFT, tool_ttft(rules, t) + waited_ns, 1);
	add(g, TOOL_E2E, tool_e2e(rules, t) + waited_ns, 1);
	add(g, TOOL_TPOT, tool_tpot(rules, t, tokens), known);
	if (rules->itl == TOOL_ITL_REQUESTS || rules->itl == TOOL_ITL_REQUEST_WEIGHTS)
		add(g, TOOL_ITL, itl, rules->itl == TOOL_ITL_REQUESTS ? 1 : known - 1);
	else if (g->gaps && !seen_chunks_gaps(chunks, rules, g->gaps))
		g->tool->lacks |= SAID_NO_CHUNKS;
	g->tool->output_tokens += known;
}

/* The window of rates: from the start, or from when it was due, to the end of the request or of its content. */
static void widen(struct gathered *g, const struct row *row, const struct seen_chunks *chunks, bool success)
{
	enum tool_window window = rules_of(g->tool)->window;
	int64_t begin = window == TOOL_WINDOW_DUE && row->due_ns != IPF_ABSENT ? row->due_ns : row->start_ns;
	int64_t end = row->end_ns == IPF_ABSENT ? row->start_ns : row->end_ns;
	if (window == TOOL_WINDOW_CONTENT) {
		if (!success || isnan(chunks->times.last))
			return;
		end = row->start_ns + (int64_t)chunks->times.last;
	}
	g->begin_ns = g->begin_ns == IPF_ABSENT || begin < g->begin_ns ? begin : g->begin_ns;
	if (g->end_ns == IPF_ABSENT || end > g->end_ns || window == TOOL_WINDOW_DUE) /* rows are in the order of starts */
		g->end_ns = end;
}

static void add_request(struct gathered *g, const struct row *row, const struct seen_request *seen,
                        struct seen_chunks *chunks)
{
	const struct tool_rules *rules = rules_of(g->tool);
	seen_request_chunks(chunks, seen, rules);
	bool ok = g->tool->rules ? tool_success(rules, &chunks->outcome) : row->ok;
	if (!seen->complete && row->error >= 0 && chunks->times.chunks > 0 && !ok)
		g->tool->lacks |= SAID_NO_EVENTS;
	g->sent++;
	g->tool->ok += ok;
	g->tool->failed += !ok;
	widen(g, row, chunks, ok);
	if (!ok)
		return;
	bool waited = rules->from_due && row->due_ns != IPF_ABSENT;
	add_success(g, chunks, count_tokens(g, chunks, row), waited ? (double)(row->start_ns - row->due_ns) : 0);
	bool simple = rules->chunks == ours.chunks && rules->end != TOOL_END_LAST_EVENT;
	if (!seen->complete && !simple)
		g->tool->lacks |= SAID_NO_EVENTS;
}

static void end_part(struct gathered *g)
{
	if (g->begin_ns != IPF_ABSENT)
		g->ns += (double)(g->end_ns - g->begin_ns);
	g->begin_ns = g->end_ns = IPF_ABSENT;
}

/* ---- distributions ---- */

static struct said_latency of_weighted(struct weighted_values *v)
{
	struct weighted_summary s;
	struct said_latency none = {.mean = NAN, .std = NAN, .p50 = NAN, .p90 = NAN, .p99 = NAN};
	int64_t n = (int64_t)v->count;
	weighted_values_summarise(v, &s);
	return n == 0 ? none
	              : (struct said_latency){.n = n,
	                                      .mean = s.mean,
	                                      .std = sqrt(s.variance),
	                                      .p50 = s.percentile[WEIGHTED_P50],
	                                      .p90 = s.percentile[WEIGHTED_P50 + 2],
	                                      .p99 = s.percentile[WEIGHTED_P50 + 4]};
}

static struct said_latency of_list(struct samples *list, const struct tool_rules *rules)
{
	double mean = samples_mean(list), std = list->count ? samples_std(list) : NAN;
	return (struct said_latency){.n = (int64_t)list->count,
	                             .mean = list->count ? mean : NAN,
	                             .std = std,
	                             .p50 = tool_percentile(rules, list, 50),
	                             .p90 = tool_percentile(rules, list, 90),
	                             .p99 = tool_percentile(rules, list, 99)};
}

static struct said_latency of_histogram(const struct histogram *h)
{
	return (struct said_latency){.n = histogram_count(h),
	                             .mean = histogram_mean(h) / 1e6,
	                             .std = histogram_std(h) / 1e6,
	                             .p50 = histogram_percentile(h, 50) / 1e6,
	                             .p90 = histogram_percentile(h, 90) / 1e6,
	                             .p99 = histogram_percentile(h, 99) / 1e6};
}

/* The gaps of results without the times of events. */
static void merge_gaps(struct gathered *g, const struct run_data *run)
{
	if (strcmp(run_data_itl(run, 0), "gap") != 0) {
		g->tool->lacks |= SAID_NOT_GAPS;
		return;
	}
	for (int32_t i = 0; i < (int32_t)run->schedule.count; i++) {
		const struct histogram *one = run_data_gaps(run, i, -1);
		if (one && run->schedule.stages[i].measured)
			histogram_merge(g->gaps, one);
	}
}

static void finish(struct gathered *g, const struct run_data *run, bool events)
{
	struct said_tool *tool = g->tool;
	const struct tool_rules *rules = rules_of(tool);
	if (g->gaps && !events) { /* those of some requests are not enough */
		histogram_free(g->gaps);
		g->gaps = histogram_new();
		if (g->gaps)
			merge_gaps(g, run);
	}
	if (rules->itl == TOOL_ITL_TOKENS && !events)
		tool->lacks |= SAID_NO_EVENTS;
	for (int i = 0; i < TOOL_LATENCIES; i++)
		tool->latencies[i] = i == TOOL_ITL && g->gaps                     ? of_histogram(g->gaps)
		                     : rules->percentile == TOOL_PERCENTILE_LEAST ? of_weighted(&g->weighted[i])
		                                                                  : of_list(&g->lists[i], rules);
	for (int i = 0; i < TOOL_LATENCIES && rules->no_deviation; i++)
		tool->latencies[i].std = NAN;
	tool->seconds = g->ns > 0 ? g->ns / 1e9 : NAN;
	double counted = rules->sent_count ? (double)g->sent
	                                   : (double)tool->ok - (rules->window == TOOL_WINDOW_DUE ? 1 : 0);
	tool->requests_per_s = counted / tool->seconds;
	tool->output_per_s = tool->output_tokens / tool->seconds;
}

/* ---- all of them ---- */

static void gather_row(struct gathered *list, int count, const struct run_data *run, const struct row *row,
                       struct seen_request *seen, struct seen_chunks *chunks)
{
	struct result result;
	bool has_line = run->lines && run_data_line(run, row, &result);
	seen_request_read(seen, row, has_line ? &result : NULL);
	for (int i = 0; i < count; i++)
		add_request(&list[i], row, seen, chunks);
}

static bool is_counted(const struct run_data *run, const struct row *row)
{
	return row->start_ns != IPF_ABSENT && !verdict_uncounted(row->error) && run->schedule.stages[row->stage].measured;
}

/* Repeats ran one after another: each has a window of its own. Returns whether the rows have the times of events. */
static bool gather(struct gathered *list, int count, const struct run_data *run)
{
	struct seen_request seen = {0};
	struct seen_chunks chunks = {0};
	int passes = run->shards ? 1 : run->part_count;
	bool events = false, missing = false;
	for (int part = 0; part < passes; part++) {
		for (int64_t i = 0; i < run->row_count; i++) {
			const struct row *row = &run->rows[i];
			if (!is_counted(run, row) || (passes > 1 && row->part != part))
				continue;
			gather_row(list, count, run, row, &seen, &chunks);
			events |= seen.complete;
			missing |= row->ok && !seen.complete;
		}
		for (int k = 0; k < count; k++)
			end_part(&list[k]);
	}
	seen_request_release(&seen);
	seen_chunks_release(&chunks);
	return events && !missing;
}

static void take_ours(struct said_tool *tool, const struct figures *total)
{
	tool->requests_per_s = total->completed;
	tool->output_per_s = total->output_per_s;
	tool->seconds = total->window_s;
}

int said_build(struct said *said, const struct run_data *run, const struct run_figures *figures, struct ipf_error *err)
{
	struct gathered list[TOOL_COUNT + 1];
	int count = 0;
	list[count++] = (struct gathered){.tool = &said->ours};
	for (int i = 0; i < TOOL_COUNT; i++) {
		if (!said->chosen[i])
			continue;
		said->tools[said->count].rules = &tool_rules[i];
		list[count++] = (struct gathered){.tool = &said->tools[said->count++]};
	}
	for (int i = 0; i < count; i++) {
		list[i].begin_ns = list[i].end_ns = IPF_ABSENT;
		list[i].gaps = of_gaps(rules_of(list[i].tool)) ? histogram_new() : NULL;
	}
	bool events = gather(list, count, run);
	for (int i = 0; i < count; i++) {
		finish(&list[i], run, events);
		histogram_free(list[i].gaps);
		for (int k = 0; k < TOOL_LATENCIES; k++) {
			samples_release(&list[i].lists[k]);
			weighted_values_release(&list[i].weighted[k]);
		}
	}
	take_ours(&said->ours, &figures->total);
	return memory_ran_out() ? ipf_error_memory(err) : 0;
}
