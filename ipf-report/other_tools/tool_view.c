#include "other_tools/tool_view.h"

#include "other_tools/seen_request.h"
#include "memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The columns a view has of its own. */
static const int changed[] = {METRIC_TTFT, METRIC_TTST,      METRIC_E2E,       METRIC_STREAM,
                              ROW_EVENTS,  ROW_INPUT_TOKENS, ROW_OUTPUT_TOKENS};
enum { CHANGED = sizeof changed / sizeof *changed };
_Static_assert(CHANGED == sizeof((struct tool_view *)0)->columns / sizeof(int64_t *), "a list for each");

struct building {
	struct tool_view *view;
	const struct tool_rules *rules;
	struct seen_request seen;
	struct seen_chunks chunks;
	bool events, missing; /* rows with the times of all events; successes without */
	int no_content;       /* the index of the kind of such a failure */
};

static int64_t whole(double ns)
{
	return isnan(ns) ? IPF_ABSENT : (int64_t)ns;
}

static int allocate(struct tool_view *view, const struct run_data *run)
{
	size_t count = (size_t)run->row_count, stages = run->schedule.count;
	view->rows = malloc((count ? count : 1) * sizeof *view->rows);
	view->pooled = calloc(stages ? stages : 1, sizeof *view->pooled);
	bool bad = !view->rows || !view->pooled;
	for (int i = 0; i < CHANGED; i++) {
		view->columns[i] = malloc((count ? count : 1) * sizeof **view->columns);
		bad |= !view->columns[i];
		view->run.columns.list[changed[i]] = (struct column_values){.wide = view->columns[i]};
	}
	for (size_t i = 0; i < stages && !bad; i++) {
		view->pooled[i] = (struct pooled_gaps){.kind = GAPS, .stage = (int32_t)i, .model = -1, .gaps = histogram_new()};
		bad |= !view->pooled[i].gaps;
	}
	view->run.rows = view->rows;
	view->run.pooled = view->pooled;
	view->run.pooled_count = view->pooled ? (int)stages : 0;
	return bad ? -1 : 0;
}

static void tally(struct building *b, const struct row *row, const struct result *result)
{
	struct failure_tally *failures = &b->view->run.failures;
	if (!b->view->run.schedule.stages[row->stage].measured || verdict_uncounted(row->error))
		return;
	if (row->error == b->no_content && (!result || result->ok))
		failure_tally_add(failures, slice_of(verdict_kinds[b->no_content]), result ? result->status : IPF_ABSENT,
		                  slice_of("no chunk that counts as a token"));
	else if (result)
		failure_tally_add_row(failures, result);
	else
		failure_tally_add(failures, (struct slice){0}, IPF_ABSENT, (struct slice){0});
}

static void set(const struct row *row, int column, int64_t value)
{
	row->columns->list[column].wide[row->at] = value;
}

static void put_row(struct building *b, const struct row *from, struct row *row)
{
	const struct tool_rules *rules = b->rules;
	const struct seen_chunks *c = &b->chunks;
	bool last_event = rules->end == TOOL_END_LAST_EVENT, ok = tool_success(rules, &c->outcome);
	int64_t second = b->seen.complete && c->count > 1 ? (int64_t)(c->list[1].ns - c->list[0].ns)
	                 : b->seen.complete               ? IPF_ABSENT
	                                                  : row_get(row, METRIC_TTST);
	if (ok != row->ok)
		row->error = ok ? -1 : (int8_t)b->no_content;
	row->ok = ok;
	row->columns = &b->view->run.columns;
	set(row, METRIC_TTFT, whole(c->times.first));
	set(row, METRIC_TTST, second);
	set(row, METRIC_E2E, whole(c->times.last));
	set(row, METRIC_STREAM, whole(last_event ? c->times.event : c->times.end));
	set(row, ROW_EVENTS, b->seen.complete ? c->times.chunks : c->counts.chunks);
	if (rules->tokens[0] == TOOL_TOKENS_TOKENIZER && row_get(from, ROW_INPUT_TOKENIZER) != IPF_ABSENT)
		set(row, ROW_INPUT_TOKENS, row_get(from, ROW_INPUT_TOKENIZER));
	else
		set(row, ROW_INPUT_TOKENS, row_get(from, ROW_INPUT_TOKENS));
	set(row, ROW_OUTPUT_TOKENS, tool_output_tokens(rules, &c->counts, NULL));
	if (ok && b->seen.complete)
		seen_chunks_gaps(c, rules, b->view->pooled[row->stage].gaps);
}

static void add_row(struct building *b, const struct run_data *run, const struct row *from, struct row *to)
{
	struct result result;
	bool has_line = run->lines && run_data_line(run, from, &result);
	*to = *from;
	seen_request_read(&b->seen, from, has_line ? &result : NULL);
	seen_request_chunks(&b->chunks, &b->seen, b->rules);
	b->events |= b->seen.complete;
	b->missing |= from->ok && !b->seen.complete;
	put_row(b, from, to);
	if (!to->ok)
		tally(b, to, has_line ? &result : NULL);
}

/* Without the events of each success, gaps are those of the results, if they are gaps. */
static void take_gaps(struct tool_view *view, const struct run_data *run)
{
	for (int i = 0; i < view->run.pooled_count; i++) {
		const struct histogram *one = run_data_gaps(run, i, -1);
		histogram_free(view->pooled[i].gaps);
		view->pooled[i].gaps = histogram_new();
		if (view->pooled[i].gaps && one && strcmp(run_data_itl(run, 0), "gap") == 0)
			histogram_merge(view->pooled[i].gaps, one);
	}
}

int tool_view_build(struct tool_view *view, const struct run_data *run, const struct tool_rules *rules,
                    struct ipf_error *err)
{
	struct building b = {.view = view, .rules = rules};
	*view = (struct tool_view){.run = *run};
	view->run.columns.rules = rules;
	view->run.failures = (struct failure_tally){0};
	if (allocate(view, run) < 0) {
		tool_view_release(view);
		return ipf_error_memory(err);
	}
	while (b.no_content < VERDICT_OTHER && strcmp(verdict_kinds[b.no_content], "malformed") != 0)
		b.no_content++;
	for (int64_t i = 0; i < run->row_count; i++)
		add_row(&b, run, &run->rows[i], &view->rows[i]);
	failure_tally_sort(&view->run.failures);
	if (!b.events || b.missing)
		take_gaps(view, run);
	seen_request_release(&b.seen);
	seen_chunks_release(&b.chunks);
	return 0;
}

void tool_view_release(struct tool_view *view)
{
	for (int i = 0; view->pooled && i < view->run.pooled_count; i++)
		histogram_free(view->pooled[i].gaps);
	for (int i = 0; i < CHANGED; i++)
		free(view->columns[i]);
	free(view->rows);
	free(view->pooled);
	*view = (struct tool_view){0};
}
