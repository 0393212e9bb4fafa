/* The output formats, a file each. A format renders a report into a buffer, which commands/write_report.c writes. One
 * showing each request hands the buffer over in pieces, so a million requests need no memory:
 *
 *     for each request: … && report_output_spill(report->output, out)
 *
 * A new format is a file format_NAME.c that defines `const struct report_format format_NAME`, an entry in the list
 * below, and a section in ipf-report-export(1), or in ipf-report(1) if it is for people.
 */
#ifndef REPORT_FORMAT_H
#define REPORT_FORMAT_H

#include "buffer.h"
#include "json_report/report.h"

/* All formats: identifier in C, and name; the first is the default. Those that people read; ipf's own for other
 * programs, which `-f` and `ipf-report export` have; and those of other tools, which only `ipf-report export` has.
 * --help and the shell completion use these lists. */
#define REPORT_FORMATS_READ(FORMAT)                                                                                    \
	FORMAT(text, "text")                                                                                               \
	FORMAT(md, "md")                                                                                                   \
	FORMAT(html, "html")
#define REPORT_FORMATS_OWN(FORMAT)                                                                                     \
	FORMAT(json, "json")                                                                                               \
	FORMAT(csv, "csv")                                                                                                 \
	FORMAT(requests_csv, "requests-csv")                                                                               \
	FORMAT(requests_jsonl, "requests-jsonl")                                                                           \
	FORMAT(junit, "junit")                                                                                             \
	FORMAT(prometheus, "prometheus")                                                                                   \
	FORMAT(openmetrics, "openmetrics")                                                                                 \
	FORMAT(sql, "sql")                                                                                                 \
	FORMAT(parquet, "parquet")
#define REPORT_FORMATS_OF_TOOLS(FORMAT)                                                                                \
	FORMAT(vllm, "vllm")                                                                                               \
	FORMAT(vllm_detailed, "vllm-detailed")                                                                             \
	FORMAT(sglang, "sglang")                                                                                           \
	FORMAT(sglang_detailed, "sglang-detailed")                                                                         \
	FORMAT(aiperf, "aiperf")                                                                                           \
	FORMAT(aiperf_jsonl, "aiperf-jsonl")                                                                               \
	FORMAT(aiperf_csv, "aiperf-csv")                                                                                   \
	FORMAT(genai_perf, "genai-perf")                                                                                   \
	FORMAT(genai_perf_csv, "genai-perf-csv")                                                                           \
	FORMAT(inference_perf, "inference-perf")                                                                           \
	FORMAT(inference_perf_requests, "inference-perf-requests")                                                         \
	FORMAT(lpg, "lpg")                                                                                                 \
	FORMAT(inference_benchmarker, "inference-benchmarker")                                                             \
	FORMAT(guidellm, "guidellm")                                                                                       \
	FORMAT(genai_bench, "genai-bench")                                                                                 \
	FORMAT(benchmark_report, "benchmark-report")                                                                       \
	FORMAT(benchmark_report_0_2, "benchmark-report-0.2")                                                               \
	FORMAT(inferencex, "inferencex")                                                                                   \
	FORMAT(mlperf, "mlperf")

#define REPORT_FORMATS(FORMAT) REPORT_FORMATS_READ(FORMAT) REPORT_FORMATS_OWN(FORMAT) REPORT_FORMATS_OF_TOOLS(FORMAT)

struct report_format {
	/* Appends the report. When memory runs out, the buffer's `failed` is set. */
	void (*render)(const struct report *report, struct buffer *out);
	/* The tool whose definitions it has: `run` of the report is then its view (other_tools/tool_view.h). NULL: ipf's.
	 * Needs run->lines. */
	const struct tool_rules *tool;
	bool predicted;  /* says of a run a twin predicted it; for others, a line on standard error does */
	bool lines;      /* needs run->lines */
	bool sections;   /* is for people, who choose sections */
	bool groups;     /* shows the groups of --by */
	bool all_groups; /* shows each model and target if there are several, also without --by */
	bool plots;      /* has plots: needs `plot_data` of the report */
	bool drawn;      /* … and `plots` */
	bool requests;   /* shows requests: a run of which only figures are known has none to show */
	bool binary;     /* not for a terminal */
	bool times;      /* … and needs to know when they started */
};

#define REPORT_FORMAT_DECLARE(id_, name_) extern const struct report_format format_##id_;
REPORT_FORMATS(REPORT_FORMAT_DECLARE)

extern const struct report_format *const report_formats[];
extern const char *const report_format_names[]; /* in the same order; NULL ends them */
extern const char *const report_own_names[];    /* those of -f, the first ones */
extern const char *const report_export_names[]; /* those of `ipf-report export` */
extern const char *const parquet_table_names[]; /* the values of --table; NULL ends them */

#define REPORT_FORMAT_TEXT(id_, name_) " " name_
/* " text md html json" */
#define REPORT_FORMAT_CHOICES REPORT_FORMATS_READ(REPORT_FORMAT_TEXT) REPORT_FORMATS_OWN(REPORT_FORMAT_TEXT)

#endif
