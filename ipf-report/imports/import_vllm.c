/* --from vllm: the result file of `vllm bench serve` (--save-result, --append-result, --save-detailed) of vLLM 0.33.0,
 * vllm/benchmarks/serve.py. A document is a run, and becomes a stage. ipf-imports(5) has a table of it. */
#include "imports/bench_lists.h"
#include "imports/flat_figures.h"

#include "absent.h"

#include <math.h>
#include <string.h>

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

static bool recognises(const struct json_outline *outline)
{
	return json_outline_has(outline, "model_id") && json_outline_has(outline, "num_prompts") &&
	       json_outline_has(outline, "request_rate");
}

/* One document. */
struct run_of_vllm {
	struct bench_lists lists;
	struct stated_stage figures;
	struct buffer label, raw;
	double rate, burstiness, slots, duration, completed, failed;
};

static const struct {
	const char *key;
	size_t offset;
} numbers[] = {
	{"burstiness", offsetof(struct run_of_vllm, burstiness)},
	{"max_concurrency", offsetof(struct run_of_vllm, slots)},
	{"duration", offsetof(struct run_of_vllm, duration)},
	{"completed", offsetof(struct run_of_vllm, completed)},
	{"failed", offsetof(struct run_of_vllm, failed)},
	{"total_input_tokens", offsetof(struct run_of_vllm, figures.input_total)},
	{"total_output_tokens", offsetof(struct run_of_vllm, figures.output_total)},
	{"request_throughput", offsetof(struct run_of_vllm, figures.completed)},
	{"output_throughput", offsetof(struct run_of_vllm, figures.output_per_s)},
	{"input_throughput", offsetof(struct run_of_vllm, figures.input_per_s)},
	{"total_token_throughput", offsetof(struct run_of_vllm, figures.total_per_s)},
	{"max_concurrent_requests", offsetof(struct run_of_vllm, figures.in_flight_max)},
};

static int read_text(struct import *in, struct slice key, struct run_of_vllm *run, struct ipf_error *err)
{
	if (json_pull_value(&in->json, &run->raw, err) < 0)
		return -1;
	if (slice_is(key, "label")) {
		struct ipf_error ignored = {0};
		struct jdoc doc = {0};
		buffer_clear(&run->label);
		if (jdoc_parse(&doc, run->raw.data, run->raw.len, &ignored) == 0 && jdoc_type_of(&doc, JDOC_ROOT) == JDOC_TEXT)
			jdoc_text(&doc, JDOC_ROOT, &run->label);
		jdoc_release(&doc);
	} else {
		import_fact(in->records, "model", buffer_all(&run->raw));
	}
	return 0;
}

static int read_number(struct import *in, double *value, struct ipf_error *err)
{
	return json_pull_number(&in->json, value, err) < 0 ? -1 : 1;
}

/* "inf", or a number. */
static int read_rate(struct import *in, struct run_of_vllm *run, struct ipf_error *err)
{
	int type = json_pull_type(&in->json, err);
	if (type == JDOC_TEXT)
		return json_pull_skip(&in->json, err);
	return type < 0 ? -1 : json_pull_number(&in->json, &run->rate, err);
}

/* 1: a member with a number that is known; 0: another one; -1. */
static int read_figure(struct import *in, struct slice key, struct run_of_vllm *run, struct ipf_error *err)
{
	double value;
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
		if (slice_is(key, numbers[i].key))
			return read_number(in, (double *)((char *)run + numbers[i].offset), err);
	if (key.len < 4 || memcmp(key.data + key.len - 3, "_ms", 3) != 0)
		return 0;
	/* of --metadata comes anything */
	int type = json_pull_type(&in->json, err);
	if (type != JDOC_NUMBER)
		return type < 0 ? -1 : 0;
	if (read_number(in, &value, err) < 0)
		return -1;
	flat_figure(&run->figures, flat_metrics, key, value);
	return 1;
}

static int read_members(struct import *in, struct run_of_vllm *run, struct ipf_error *err)
{
	struct slice key;
	int got = json_pull_enter(&in->json, JDOC_MAP, err);
	while (got >= 0 && (got = json_pull_member(&in->json, &key, err)) == 1) {
		int taken = bench_lists_member(&run->lists, in, key, err);
		if (taken == 0)
			taken = read_figure(in, key, run, err);
		if (taken != 0) {
			got = taken;
			continue;
		}
		if (slice_is(key, "request_rate"))
			got = read_rate(in, run, err);
		else if (slice_is(key, "label") || slice_is(key, "model_id"))
			got = read_text(in, key, run, err);
		else
			got = json_pull_skip(&in->json, err);
	}
	return got;
}

/* A rate that is infinite leaves the pace to the slots, if there are any. */
static const char *kind_of(const struct run_of_vllm *run)
{
	if (run->rate > 0 && isfinite(run->rate))
		return isnan(run->burstiness) || run->burstiness == 1 ? "poisson" : "gamma";
	return run->slots > 0 ? "closed" : "burst";
}

static int put_figures(struct import *in, int stage, struct run_of_vllm *run, struct ipf_error *err)
{
	struct stated_stage *figures = import_figures(in, stage, err);
	if (!figures)
		return -1;
	run->figures.ok = import_count(run->completed);
	run->figures.failed = import_count(run->failed);
	run->figures.window_s = run->duration;
	run->figures.offered = run->rate > 0 && isfinite(run->rate) ? run->rate : NAN;
	*figures = run->figures;
	import_lasted(in, run->duration);
	return 0;
}

/* A file can have several runs, one after the other: where one begins by its clock, if that is after the last one. */
struct place {
	int64_t from_ns, end_ns; /* IPF_ABSENT: there is none yet */
};

static void put_in_place(struct place *place, struct bench_lists *lists)
{
	int64_t first_ns = bench_lists_first_start(lists);
	if (place->from_ns == IPF_ABSENT || first_ns == IPF_ABSENT || first_ns - place->from_ns < place->end_ns ||
	    first_ns - place->from_ns - place->end_ns > INT64_C(86400000000000)) {
		lists->from_ns = first_ns;
		lists->begin_ns = place->end_ns;
		if (place->from_ns == IPF_ABSENT)
			place->from_ns = first_ns;
		return;
	}
	lists->from_ns = first_ns;
	lists->begin_ns = first_ns - place->from_ns;
}

static int put_run(struct import *in, struct run_of_vllm *run, struct place *place, struct ipf_error *err)
{
	bool rows = bench_lists_there(&run->lists);
	if (rows)
		put_in_place(place, &run->lists);
	int stage = import_stage(in,
	                         &(struct import_stage){.name = run->label.data,
	                                                .kind = kind_of(run),
	                                                .rate = run->rate,
	                                                .slots = run->slots > 0 ? import_count(run->slots) : 0,
	                                                .begin_ns = rows ? run->lists.begin_ns : 0},
	                         err);
	if (stage < 0)
		return -1;
	bool times = rows && bench_lists_first_start(&run->lists) != IPF_ABSENT;
	if (!times && put_figures(in, stage, run, err) < 0)
		return -1;
	if (!rows)
		return 0;
	int bad = bench_lists_rows(&run->lists, in, stage, err);
	place->end_ns = run->lists.end_ns;
	if (bad == 0 && run->completed >= 0 && (double)run->lists.ok_count != run->completed)
		verdict_note(in->run->verdict, VERDICT_SERVER, VERDICT_DOUBTFUL,
		             "the file counts %.0f completed requests, and its lists have %lld", run->completed,
		             (long long)run->lists.ok_count);
	return bad;
}

static int read_vllm(struct import *in, struct ipf_error *err)
{
	struct place place = {.from_ns = IPF_ABSENT};
	int got;
	while ((got = json_pull_document(&in->json, err)) == 1) {
		struct run_of_vllm run = {
			.rate = NAN, .burstiness = NAN, .slots = NAN, .duration = NAN, .completed = NAN, .failed = NAN};
		stated_stage_init(&run.figures);
		got = read_members(in, &run, err);
		if (got >= 0)
			got = put_run(in, &run, &place, err);
		bench_lists_release(&run.lists);
		buffer_release(&run.label);
		buffer_release(&run.raw);
		if (got < 0)
			return -1;
	}
	return got;
}

const struct importer import_vllm = {
	.tool = "vLLM bench serve", .as_of = "0.33.0", .notes = notes, .recognises = recognises, .read = read_vllm};
