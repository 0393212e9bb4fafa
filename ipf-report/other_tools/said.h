/* The reports of other tools about the same run (`ipf-report --as`): the figures of each by its own definitions
 * (other_tools/tool_rules.h), beside ours, with the uncertain ones marked.
 *
 *     struct said said = {0};
 *     said_choose(&said, "vllm,aiperf", &err);             // once for each --as
 *     said_build(&said, run, figures, &err);               // run with its lines, for results with `--events`
 *     for (int i = 0; i < said.count; i++) … said.tools[i].latencies[TOOL_TTFT].p99 …
 *     said_release(&said);
 *
 * A run is all requests of measured stages that started, without those ipf-fire disconnected on purpose. A value the
 * tool does not report, or an unknown one, is NAN.
 */
#ifndef REPORT_SAID_H
#define REPORT_SAID_H

#include "other_tools/tool_rules.h"
#include "figures/figures.h"

/* In milliseconds. */
struct said_latency {
	int64_t n;
	double mean, std, p50, p90, p99;
};

/* The deviations from the tool, because the results lack the values. */
enum {
	SAID_NO_EVENTS = 1,    /* which other events came, and when: `ipf-collect --events` */
	SAID_NO_TOKENIZER = 2, /* it counts with a tokenizer: `ipf-collect --tokenizer` */
	SAID_NO_CHUNKS = 4,    /* the tokens of each chunk */
	SAID_NOT_GAPS = 8,     /* the results were collected with another --itl than gap */
};

struct said_tool {
	const struct tool_rules *rules; /* NULL: ipf's own figures */
	struct said_latency latencies[TOOL_LATENCIES];
	double requests_per_s, output_per_s, seconds; /* seconds: the time for both */
	int64_t ok, failed;
	double output_tokens; /* the successes' */
	unsigned lacks;       /* SAID_NO_EVENTS | … */
};

struct said {
	bool chosen[TOOL_COUNT];
	struct said_tool ours, tools[TOOL_COUNT]; /* those chosen, in the order of enum tool */
	int count;
	bool any; /* --as was given */
};

/* Adds a list of names, or "all". -1: one of them is no tool. */
int said_choose(struct said *said, const char *list, struct ipf_error *err);
int said_build(struct said *said, const struct run_data *run, const struct run_figures *figures, struct ipf_error *err);

/* A sentence for each bit of `lacks`. */
enum { SAID_LACKS = 4 };
extern const char *const said_lacks[SAID_LACKS];

#endif
