/* Figures as AIPerf and genai-perf write them: a member for each metric, which is an object with "unit", "avg", "p50",
 * …
 *
 *     static const struct tagged_metric known[] = {TAGGED_SUMMARY("time_to_first_token", start[METRIC_TTFT]),
 *                                                  TAGGED_VALUE("request_throughput", completed), {0}};
 *     for each member: got = tagged_figure(stage, known, key, in, err);       // 1: one of them; 0: not read
 */
#ifndef REPORT_TAGGED_FIGURES_H
#define REPORT_TAGGED_FIGURES_H

#include "imports/import.h"

struct tagged_metric {
	const char *tag;
	size_t offset; /* in struct stated_stage: of a struct stated_summary, a double, or an int64_t */
	enum tagged_kind { TAG_SUMMARY, TAG_VALUE, TAG_COUNT } kind;
};
#define TAGGED_SUMMARY(tag_, member_)                                                                                  \
	{                                                                                                                  \
		tag_, offsetof(struct stated_stage, member_), TAG_SUMMARY                                                      \
	}
#define TAGGED_VALUE(tag_, member_)                                                                                    \
	{                                                                                                                  \
		tag_, offsetof(struct stated_stage, member_), TAG_VALUE                                                        \
	}
#define TAGGED_COUNT(tag_, member_)                                                                                    \
	{                                                                                                                  \
		tag_, offsetof(struct stated_stage, member_), TAG_COUNT                                                        \
	}

/* Times become milliseconds, those of values seconds, by the "unit" of the metric. */
int tagged_figure(struct stated_stage *stage, const struct tagged_metric *known, struct slice key, struct import *in,
                  struct ipf_error *err);
/* Milliseconds of a time in this unit; 1 for what is no time. */
double tagged_unit_ms(const struct jdoc *doc, jdoc_id unit);

#endif
