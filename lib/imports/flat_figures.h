/* Figures named in one key: "mean_ttft_ms", "median_tpot_ms", "std_itl_ms", "p99.9_e2el_ms".
 *
 *     static const struct flat_metric known[] = {{"ttft", offsetof(struct stated_stage, start[METRIC_TTFT])}, …, {0}};
 *     if (flat_figure(stage, known, key, value)) …              // it was one of them
 */
#ifndef IPF_FLAT_FIGURES_H
#define IPF_FLAT_FIGURES_H

#include "buffer.h"
#include "results/stated.h"

struct flat_metric {
	const char *name;
	size_t offset; /* a struct stated_summary's in struct stated_stage */
};

bool flat_figure(struct stated_stage *stage, const struct flat_metric *known, struct slice key, double value);

#endif
