#include "catalogue/figure_list.h"

/* clang-format off */
#define LATENCY(name_, label_, metric_)                                                                                \
	{name_ ".mean", name_, label_ " mean", "ms", FIGURE_MEAN, metric_, 0, true, true},                                 \
	{name_ ".p50", name_, label_ " p50", "ms", FIGURE_PERCENTILE, metric_, 50, true, true},                            \
	{name_ ".p90", name_, label_ " p90", "ms", FIGURE_PERCENTILE, metric_, 90, true, false},                           \
	{name_ ".p99", name_, label_ " p99", "ms", FIGURE_PERCENTILE, metric_, 99, true, true}

const struct compared_figure compared_figures[COMPARED_FIGURES] = {
	LATENCY("ttft", "TTFT", METRIC_TTFT),
	{"itl.mean", "itl", "ITL mean", "ms", FIGURE_GAPS_MEAN, METRIC_COUNT, 0, true, true},
	{"itl.p50", "itl", "ITL p50", "ms", FIGURE_GAPS, METRIC_COUNT, 50, true, false},
	{"itl.p90", "itl", "ITL p90", "ms", FIGURE_GAPS, METRIC_COUNT, 90, true, false},
	{"itl.p99", "itl", "ITL p99", "ms", FIGURE_GAPS, METRIC_COUNT, 99, true, false},
	LATENCY("tpot", "TPOT", METRIC_TPOT),
	LATENCY("e2e", "E2E", METRIC_E2E),
	LATENCY("attempt_ttft", "TTFT of the last attempt", METRIC_ATTEMPT_TTFT),
	LATENCY("attempt_e2e", "E2E of the last attempt", METRIC_ATTEMPT_E2E),
	{"requests", "requests", "requests", "per s", FIGURE_REQUESTS, METRIC_COUNT, 0, false, true},
	{"output_tokens", "output_tokens", "output tokens", "per s", FIGURE_OUTPUT, METRIC_COUNT, 0, false, true},
	{"inputs", "inputs", "inputs", "per s", FIGURE_INPUTS, METRIC_COUNT, 0, false, true},
	{"goodput", "goodput", "goodput", "per s", FIGURE_GOOD, METRIC_COUNT, 0, false, true},
	{"failures", "failures", "failures", "", FIGURE_FAILURES, METRIC_COUNT, 0, true, true},
	{"refused", "refused", "refused", "", FIGURE_REFUSED, METRIC_COUNT, 0, true, false},
	{"valid", "valid", "valid outputs", "", FIGURE_VALID, METRIC_COUNT, 0, false, true},
	{"cached", "cached", "cached input tokens", "", FIGURE_CACHED, METRIC_COUNT, 0, false, true},
};
/* clang-format on */
