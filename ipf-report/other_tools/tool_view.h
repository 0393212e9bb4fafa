/* A run as another tool would have seen it: the same requests, each with the values the tool counts. Formats of other
 * tools show such a view, so they and `ipf-report --as` have one definition of each figure (other_tools/tool_rules.h).
 *
 *     struct tool_view view;
 *     if (tool_view_build(&view, run, rules, &err) == 0) … &view.run …
 *     tool_view_release(&view);
 *
 * In a row of the view, `ok` is whether the tool counts it as a success; METRIC_TTFT and METRIC_E2E are the first and
 * the last chunk that counts, METRIC_TTST the second one from the first, METRIC_STREAM the last event or the end of the
 * response, whichever ends a latency of the tool; ROW_EVENTS counts the chunks, ROW_INPUT_TOKENS and ROW_OUTPUT_TOKENS
 * are the counts of tokens the tool has. Gaps of stages are those between the chunks, and the run's failures are those
 * of the tool. row_values.h has the figures. Values missing from the results are as in said.h.
 */
#ifndef REPORT_TOOL_VIEW_H
#define REPORT_TOOL_VIEW_H

#include "other_tools/tool_rules.h"
#include "results/run_data.h"

struct tool_view {
	struct run_data run; /* shares with the run all that is not changed */

	/* private */
	struct row *rows;
	int64_t *columns[7];
	struct pooled_gaps *pooled;
};

/* `run` with its lines outlives the view. -1: out of memory; nothing is to be released. */
int tool_view_build(struct tool_view *view, const struct run_data *run, const struct tool_rules *rules,
                    struct ipf_error *err);
void tool_view_release(struct tool_view *view);

#endif
