/* --from sglang: the result file of SGLang's serving benchmark (--output-file, --output-details) of SGLang 0.5.23,
 * sglang/benchmark/serving.py: JSON Lines, each a run. ipf-exports(5) has a table of it. */
#include "imports/bench_run.h"

static const char *const notes[] = {
	"TTFT is the time to the first chunk with a text; ITL is a gap between such chunks, for some backends divided by the new "
	"tokens of the chunk.",
	"The file's E2E ends with the last chunk, which is the end mark, and its TPOT is (latency - TTFT) / (output tokens - 1). "
	"From requests, E2E is TTFT and all gaps, since the file does not have the latency of each.",
	"The file does not say when requests started or were due: rates are those that it states, over the time of the whole "
	"benchmark.",
	NULL};

static const struct flat_metric flat_metrics[] = {{"ttft", offsetof(struct stated_stage, start[METRIC_TTFT])},
                                                  {"tpot", offsetof(struct stated_stage, start[METRIC_TPOT])},
                                                  {"itl", offsetof(struct stated_stage, itl)},
                                                  {"e2e_latency", offsetof(struct stated_stage, start[METRIC_E2E])},
                                                  {NULL, 0}};

static const struct bench_number numbers[] = {
	{"max_concurrency", offsetof(struct bench_run, slots)},
	{"duration", offsetof(struct bench_run, duration)},
	{"completed", offsetof(struct bench_run, completed)},
	{"total_input_tokens", offsetof(struct bench_run, figures.input_total)},
	{"total_output_tokens", offsetof(struct bench_run, figures.output_total)},
	{"request_throughput", offsetof(struct bench_run, figures.completed)},
	{"input_throughput", offsetof(struct bench_run, figures.input_per_s)},
	{"output_throughput", offsetof(struct bench_run, figures.output_per_s)},
	{"total_throughput", offsetof(struct bench_run, figures.total_per_s)},
	{"concurrency", offsetof(struct bench_run, figures.in_flight_mean)},
	{"max_concurrent_requests", offsetof(struct bench_run, figures.in_flight_max)},
	{NULL, 0}};

static const struct bench_dialect dialect = {.metrics = flat_metrics, .numbers = numbers, .label = "tag"};

static bool recognises(const struct file_outline *outline)
{
	return file_outline_has(outline, "backend") && file_outline_has(outline, "request_rate") &&
	       file_outline_has(outline, "max_concurrency") && !file_outline_has(outline, "model_id") &&
	       (file_outline_has(outline, "dataset_name") || file_outline_has(outline, "random_input_len") ||
	        file_outline_has(outline, "median_e2e_latency_ms"));
}

static int read_sglang(struct import *in, struct ipf_error *err)
{
	return bench_runs_read(in, &dialect, err);
}

const struct importer import_sglang = {
	.tool = "SGLang bench_serving", .as_of = "0.5.23", .notes = notes, .recognises = recognises, .read = read_sglang};
