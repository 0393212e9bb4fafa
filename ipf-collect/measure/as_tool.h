/* A row by the definitions of another tool (--definition): which chunks count as tokens, where the latency ends, who
 * counts the output tokens, the samples of inter-token latency, which answers are failures. The rules are in
 * other_tools/tool_rules.h.
 *
 *     measure_row(&m, record, response, &options, &row, &err);   // calls as_tool if options.definition is set
 *
 * Changed are ok and error; ttft, ttst, e2e, tpot, ntpot and the samples and the mean of inter-token latency; events,
 * which are then the counted chunks; output_tokens. All else keeps ipf's definition, such as itl_max and stalls.
 */
#ifndef COLLECT_AS_TOOL_H
#define COLLECT_AS_TOOL_H

#include "measure/measure.h"

/* `m` has the tokens of the content events, if these are known. -1: out of memory. */
int as_tool(struct measure *m, const struct record *record, const struct response *response,
            const struct tool_rules *rules, struct result *row, struct ipf_error *err);

#endif
