/* --from vllm: the result file of `vllm bench serve` (--save-result, --append-result, --save-detailed) of vLLM 0.33.0,
 * vllm/benchmarks/serve.py. A document is a run, and becomes a stage. ipf-exports(5) has a table of it. */
#include "imports/bench_run.h"

static const char *const notes[] = {
	"TTFT is the time to the first chunk that has a choice, also with an empty text (completions), or with streamed output "
	"(chat).",
	"ITL is a gap between chunks, of which one can have several tokens; TPOT is (latency - TTFT) / (output tokens - 1) of "
	"successes with more than one token.",
	"E2E ends with the last chunk that has output, not with the end of the response; slot wait is the wait for "
	"--max-concurrency.",
	"Rates are over the time from the start of the benchmark until its last response. Times count from the start of a "
	"request: when it was due is not known.",
	NULL};

static const struct flat_metric flat_metrics[] = {
	{"ttft", offsetof(struct stated_stage, start[METRIC_TTFT])},
	{"tpot", offsetof(struct stated_stage, start[METRIC_TPOT])},
	{"itl", offsetof(struct stated_stage, itl)},
	{"e2el", offsetof(struct stated_stage, start[METRIC_E2E])},
	{"client_queue_time", offsetof(struct stated_stage, start[METRIC_SLOT_WAIT])},
	{"e2el_including_client_queue", offsetof(struct stated_stage, due_e2e)},
	{NULL, 0}};

static bool recognises(const struct file_outline *outline)
{
	return file_outline_has(outline, "model_id") && file_outline_has(outline, "num_prompts") &&
	       file_outline_has(outline, "request_rate");
}

static const struct bench_number numbers[] = {
	{"burstiness", offsetof(struct bench_run, burstiness)},
	{"max_concurrency", offsetof(struct bench_run, slots)},
	{"duration", offsetof(struct bench_run, duration)},
	{"completed", offsetof(struct bench_run, completed)},
	{"failed", offsetof(struct bench_run, failed)},
	{"total_input_tokens", offsetof(struct bench_run, figures.input_total)},
	{"total_output_tokens", offsetof(struct bench_run, figures.output_total)},
	{"request_throughput", offsetof(struct bench_run, figures.completed)},
	{"output_throughput", offsetof(struct bench_run, figures.output_per_s)},
	{"input_throughput", offsetof(struct bench_run, figures.input_per_s)},
	{"total_token_throughput", offsetof(struct bench_run, figures.total_per_s)},
	{"max_concurrent_requests", offsetof(struct bench_run, figures.in_flight_max)},
	{NULL, 0}};

static const struct bench_dialect dialect = {
	.metrics = flat_metrics, .numbers = numbers, .label = "label", .model = "model_id"};

static int read_vllm(struct import *in, struct ipf_error *err)
{
	return bench_runs_read(in, &dialect, err);
}

const struct importer import_vllm = {
	.tool = "vLLM bench serve", .as_of = "0.33.0", .notes = notes, .recognises = recognises, .read = read_vllm};
