/* The rows of the option tables: an option of several commands has one name, one meaning and one sentence in --help.
 *
 *     static const struct option_spec specs[] = {ROW_STAGE, ROW_SLO, …};
 *
 * All of them fill a struct report_options.
 */
#ifndef REPORT_OPTION_ROWS_H
#define REPORT_OPTION_ROWS_H

#include "commands/report_options.h"
#include "formats/report_format.h"
#include "imports/import.h"
#include "plots/plots.h"

/* ---- output ---- */
#define ROW_BY                                                                                                         \
	OPTION_OFFERING(                                                                                                   \
		OPTION_PARSED, 0, "by", "GROUP", struct report_options, by, option_by, offer_grouping,                         \
		"show figures also for each model, target, replica, session, tag, tag=NAME, inputs, time=10s (window of "      \
		"time) or input-tokens=8 (bins of equal counts)")
#define ROW_PERCENTILES                                                                                                \
	OPTION_PARSED_BY(0, "percentiles", "LIST", struct report_options, figures.percentiles, option_percentiles,         \
	                 "percentiles to show, such as 50,90,99.9")
#define ROW_META                                                                                                       \
	OPTION_PARSED_BY(0, "meta", "KEY=VALUE", struct report_options, meta, option_meta,                                 \
	                 "note about the run, such as commit=5f3a9c1; repeatable")
#define ROW_CURVE                                                                                                      \
	OPTION(OPTION_FLAG, 0, "curve", NULL, struct report_options, curve,                                                \
	       "csv: the latency-throughput curve, a row for each measured stage")
#define ROW_TABLE                                                                                                      \
	OPTION_CHOICE_OF(0, "table", "requests|events|windows", struct report_options, table, parquet_table_names,         \
	                 "parquet: the table to write (default: requests)")
#define ROW_AS                                                                                                         \
	OPTION_OFFERING(OPTION_PARSED, 0, "as", "TOOLS", struct report_options, said, option_as, offer_tool,               \
	                "also show what other tools would have said of the run: " TOOL_NAMES ", or all")
#define ROW_PLOT_FORMAT                                                                                                \
	OPTION_CHOICE_OF(0, "plot-format", "svg|png|pdf", struct report_options, plot_format, plot_format_names,           \
	                 "format of the plots (default: svg)")

/* ---- input ---- */
#define ROW_FROM                                                                                                       \
	OPTION_CHOICE_OF(0, "from", "TOOL", struct report_options, from, importer_names,                                   \
	                 "the tool that wrote RESULTS (default: recognised by the content); tools:" IMPORTER_CHOICES)

/* ---- comparison ---- */
#define ROW_MIN_EFFECT                                                                                                 \
	{                                                                                                                  \
		.kind = OPTION_PARSED, .name = "min-effect", .argument = "SHARE",                                              \
		.offset = offsetof(struct report_options, min_effect), .parse = option_effect,                                 \
		.help = "the least change to count as a difference (default: 2%)"                                              \
	}
#define ROW_FAIL_IF                                                                                                    \
	OPTION(OPTION_LIST, 0, "fail-if", "CONDITION", struct report_options, fail_if,                                     \
	       "exit with status 4 if a figure changed beyond a limit, as in 'ttft.p99 > +5%'; repeatable")

#define ROW_UNDECIDED                                                                                                  \
	OPTION_CHOICE_OF(0, "undecided", "fail|pass", struct report_options, undecided, option_undecided_names,            \
	                 "result of a condition that noise leaves undecided (default: fail)")

#define ROW_AS_IS                                                                                                      \
	OPTION(OPTION_FLAG, 0, "as-is", NULL, struct report_options, as_is,                                                \
	       "compare runs although their declared states of the prefix cache differ")

/* ---- delivery ---- */
#define ROW_UPLOAD_OF(what_)                                                                                           \
	OPTION_UNSHAPING(OPTION_TEXT, 0, "upload", "URL", struct report_options, delivery.upload.url,                      \
	                 "also upload " what_                                                                              \
	                 " to s3://BUCKET/PATH or gs://BUCKET/PATH (a path ending in a slash is a folder)")
#define ROW_UPLOAD ROW_UPLOAD_OF("the output")
#define ROW_UPLOAD_FILE                                                                                                \
	OPTION_UNSHAPING(OPTION_LIST, 0, "upload-file", "FILE", struct report_options, delivery.upload.files,              \
	                 "with --upload: also upload FILE, such as the results, beside it; repeatable")
#define ROWS_PUSH                                                                                                      \
	OPTION_UNSHAPING(OPTION_LIST, 0, "push", "URL", struct report_options, delivery.push.targets,                      \
	                 "also send the figures to a Prometheus Pushgateway, as -f prometheus writes them; repeatable"),   \
		OPTION_UNSHAPING(OPTION_TEXT, 0, "push-key-env", "NAME", struct report_options, delivery.push.key.env,         \
	                     "environment variable with the key for --push: a token, or user:password"),                   \
		OPTION_UNSHAPING(OPTION_FILE, 0, "push-key-file", "FILE", struct report_options, delivery.push.key.file,       \
	                     "file with the key for --push, instead of a variable")

/* ---- evaluation ---- */
#define ROW_STAGE                                                                                                      \
	OPTION(OPTION_TEXT, 0, "stage", "NAME", struct report_options, stage,                                              \
	       "measure this stage only, also if it is a warm-up")
#define ROW_SLO                                                                                                        \
	OPTION_PARSED_BY(0, "slo", "LIST", struct report_options, slo, option_slo,                                         \
	                 "objectives: ttft=500ms,tpot=50ms for each request (goodput), p99:e2e=10s for a percentile")
#define ROW_WINDOW                                                                                                     \
	OPTION_CHOICE_OF(                                                                                                  \
		0, "window", "stage|drain|steady", struct report_options, figures.window, option_window_names,                 \
		"time over which rates are computed: the measured part of the stage, until its last request has ended, or "    \
		"its steady part (default: stage)")
#define ROW_ERRORS_AS_INF                                                                                              \
	OPTION(OPTION_FLAG, 0, "errors-as-inf", NULL, struct report_options, figures.errors_as_inf,                        \
	       "count failed requests as infinite in latency percentiles")
#define ROW_EARLY_STOPPING                                                                                             \
	OPTION(OPTION_FLAG, 0, "early-stopping", NULL, struct report_options, figures.early_stopping,                      \
	       "also show MLPerf's early-stopping estimates of percentiles")
#define ROW_PRICE                                                                                                      \
	OPTION_PARSED_BY(                                                                                                  \
		0, "price", "PRICE", struct report_options, price, option_price,                                               \
		"cost per token and request, at 2.5/h for the endpoint or 2.5/gpu/h; \"EUR 2.5/h\" names a currency")
#define ROW_ACCURACY                                                                                                   \
	OPTION(OPTION_DURATION, 0, "accuracy", "TIME", struct report_options, accuracy_ns,                                 \
	       "call figures DOUBTFUL if the client may have changed them by more than TIME")
#define ROWS_TRACE                                                                                                     \
	OPTION(OPTION_FILE, 0, "trace", "TRACE", struct report_options, trace,                                             \
	       "compare the run with its trace: how faithful a replay was, and a prefix cache's possible hits, "           \
	       "beside the server's"),                                                                                     \
		OPTION(OPTION_COUNT, 0, "cache-size", "TOKENS", struct report_options, cache_size,                             \
	           "with --trace: the possible hits of a cache of TOKENS as well"),                                        \
		OPTION(OPTION_COUNT, 0, "cache-block", "TOKENS", struct report_options, cache_block,                           \
	           "with --trace: the tokens of a block of the server's cache (default: as its metrics say, or 16)")
#define ROW_WHY                                                                                                        \
	OPTION(OPTION_FILE, 0, "why", "FILE", struct report_options, why,                                                  \
	       "show where the time of requests went: the output of ipf-twin why")
#define ROW_STRICT                                                                                                     \
	OPTION(OPTION_FLAG, 0, "strict", NULL, struct report_options, strict,                                              \
	       "exit with status 4 if the verdict is INVALID, or an objective on a percentile or --accuracy is missed")
#define ROWS_EVALUATION ROW_STAGE, ROW_SLO, ROW_WINDOW, ROW_ERRORS_AS_INF
/* All there is of a run, as a report and its formats for other programs have it. */
#define ROWS_EVALUATION_OF_ALL                                                                                         \
	ROWS_EVALUATION, ROW_EARLY_STOPPING, ROW_PRICE, ROW_ACCURACY, ROWS_TRACE, ROW_WHY, ROW_STRICT

#endif
