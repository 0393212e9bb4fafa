/* --from inference-perf: summary_lifecycle_metrics.json, stage_N_lifecycle_metrics.json (figures) and
 * per_request_lifecycle_metrics.json (requests) of kubernetes-sigs/inference-perf at 7de5ef2
 * (inference_perf/reportgen/base.py). ipf-exports(5) has a table of them. */
#include "imports/distributions.h"
#include "imports/event_list.h"

#include "absent.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const notes[] = {
	"TTFT, time_per_output_token (shown as TPOT) and gaps are those of responses of at least two chunks; the tokens of a chunk "
	"beyond the first are gaps of 0 in its figures.",
	"Its request_latency, which is shown as E2E of a file of figures, ends with the response; so does its "
	"normalized_time_per_output_token (shown as NTPOT).",
	"Figures are those of successful requests. Rates are over the time from the first start to the last end, of failures too.",
	NULL};

static bool has_requests(const struct file_outline *outline)
{
	return file_outline_has(outline, "[].start_time") && file_outline_has(outline, "[].info");
}

static bool recognises(const struct file_outline *outline)
{
	return has_requests(outline) || (file_outline_has(outline, "load_summary") &&
	                                 (file_outline_has(outline, "successes") || file_outline_has(outline, "failures")));
}

/* ---- figures ---- */

struct summary {
	struct buffer raw;
	struct jdoc doc;
	struct stated_stage figures;
	double slots;
};

static void put_successes(struct summary *s)
{
	static const struct {
		const char *key;
		size_t offset;
	} latencies[] = {{"request_latency", offsetof(struct stated_stage, start[METRIC_E2E])},
	                 {"normalized_time_per_output_token", offsetof(struct stated_stage, start[METRIC_NTPOT])},
	                 {"time_per_output_token", offsetof(struct stated_stage, start[METRIC_TPOT])},
	                 {"time_to_first_token", offsetof(struct stated_stage, start[METRIC_TTFT])},
	                 {"inter_token_latency", offsetof(struct stated_stage, itl)}};
	const struct jdoc *doc = &s->doc;
	struct stated_stage *f = &s->figures;
	jdoc_id latency = jdoc_get(doc, JDOC_ROOT, "latency"), rates = jdoc_get(doc, JDOC_ROOT, "throughput"),
			input = jdoc_get(doc, JDOC_ROOT, "prompt_tokens"), output = jdoc_get(doc, JDOC_ROOT, "output_tokens");
	for (size_t i = 0; i < sizeof latencies / sizeof *latencies; i++)
		distribution_read((struct stated_summary *)((char *)f + latencies[i].offset), doc,
		                  jdoc_get(doc, latency, latencies[i].key), 1e3);
	distribution_read(&f->input, doc, jdoc_is_null(doc, input) ? jdoc_get(doc, JDOC_ROOT, "prompt_len") : input, 1);
	distribution_read(&f->output, doc, jdoc_is_null(doc, output) ? jdoc_get(doc, JDOC_ROOT, "output_len") : output, 1);
	f->input_total = distribution_number(doc, input, "total");
	f->output_total = distribution_number(doc, output, "total");
	f->ok = import_count(distribution_number(doc, JDOC_ROOT, "count"));
	f->completed = distribution_number(doc, rates, "requests_per_sec");
	f->input_per_s = distribution_number(doc, rates, "input_tokens_per_sec");
	f->output_per_s = distribution_number(doc, rates, "output_tokens_per_sec");
	f->total_per_s = distribution_number(doc, rates, "total_tokens_per_sec");
}

static int read_member(struct import *in, struct summary *s, struct slice key, struct ipf_error *err)
{
	bool load = slice_is(key, "load_summary"), successes = slice_is(key, "successes");
	if (slice_is(key, "benchmark_time_seconds"))
		return json_pull_number(&in->json, &s->figures.window_s, err);
	if (!load && !successes && !slice_is(key, "failures"))
		return json_pull_skip(&in->json, err);
	if (import_value(in, &s->raw, &s->doc, err) < 0)
		return -1;
	if (load) {
		distribution_read(&s->figures.start[METRIC_LAG], &s->doc, jdoc_get(&s->doc, JDOC_ROOT, "schedule_delay"), 1e3);
		s->figures.offered = distribution_number(&s->doc, JDOC_ROOT, "requested_rate");
		s->slots = distribution_number(&s->doc, JDOC_ROOT, "concurrency");
	} else if (successes) {
		put_successes(s);
	} else {
		s->figures.failed = import_count(distribution_number(&s->doc, JDOC_ROOT, "count"));
	}
	return 0;
}

static int read_summary(struct import *in, struct ipf_error *err)
{
	struct summary s = {.slots = NAN};
	struct slice key;
	struct stated_stage *to = NULL;
	stated_stage_init(&s.figures);
	int got = json_pull_enter(&in->json, JDOC_MAP, err);
	while (got >= 0 && (got = json_pull_member(&in->json, &key, err)) == 1)
		got = read_member(in, &s, key, err);
	if (got == 0) {
		struct import_stage stage = {.rate = s.figures.offered, .slots = s.slots > 0 ? import_count(s.slots) : 0};
		got = import_stage(in, &stage, err);
		to = got < 0 ? NULL : import_figures(in, got, err);
	}
	if (to) {
		*to = s.figures;
		import_lasted(in, s.figures.window_s);
	}
	buffer_release(&s.raw);
	jdoc_release(&s.doc);
	return to ? 0 : -1;
}

/* ---- requests ---- */

struct requests {
	struct buffer raw;
	struct event_list events;
	struct jdoc doc;
	int stage;
	double base_s; /* the first start, by the tool's clock */
};

/* The times of chunks, of which each has content. For a response in one piece, the tool has no TTFT. */
static void put_chunks(struct import *in, struct requests *r, jdoc_id list, struct result *row)
{
	double time;
	event_list_begin(&r->events);
	for (struct jdoc_each e = jdoc_each(&r->doc, list); jdoc_step(&e);) {
		int64_t ns = jdoc_to_double(&r->doc, e.value, &time) ? import_ns(time - r->base_s, 1e9) : IPF_ABSENT;
		if (ns != IPF_ABSENT)
			event_list_add(&r->events, in, (int)row->stage, ns);
	}
	event_list_put(&r->events, row);
	if (r->events.count == 1)
		row->ttft_ns = row->tpot_ns = IPF_ABSENT;
}

static void put_success(struct import *in, struct requests *r, jdoc_id info, struct result *row)
{
	const struct jdoc *doc = &r->doc;
	jdoc_id response = jdoc_get(doc, info, "response_metrics"), times = jdoc_get(doc, response, "chunk_times");
	if (jdoc_is_null(doc, response)) /* before there were modalities */
		response = info;
	if (jdoc_is_null(doc, times))
		times = jdoc_get(doc, response, "output_token_times");
	row->output_tokens = import_count(distribution_number(doc, response, "output_tokens"));
	if (row->end_ns != IPF_ABSENT)
		row->stream_ns = row->end_ns - row->start_ns;
	put_chunks(in, r, times, row);
	if (row->e2e_ns == IPF_ABSENT)
		row->e2e_ns = row->stream_ns;
	import_derive(row, 0, 0, 0);
}

/* {"error_type": "HTTP Error 503", "error_msg": "…"} */
static void put_failure(const struct jdoc *doc, jdoc_id error, struct result *row)
{
	static const char http[] = "\"HTTP Error ";
	struct ipf_error ignored = {0};
	struct slice type;
	row->error_kind = slice_of("\"other\"");
	jdoc_get_raw(doc, error, "error_msg", JDOC_TEXT, &row->error_text, &ignored);
	if (jdoc_get_raw(doc, error, "error_type", JDOC_TEXT, &type, &ignored) != 1)
		return;
	if (type.len > sizeof http - 1 && memcmp(type.data, http, sizeof http - 1) == 0) {
		long status = strtol(type.data + sizeof http - 1, NULL, 10); /* its quote ends it */
		if (status < 400 || status > 599)
			return;
		row->status = status;
		row->error_kind = slice_of("\"http-status\"");
	} else if (verdict_kind_of(type) != VERDICT_OTHER && verdict_kind_of(type) != VERDICT_HUNG_UP) {
		row->error_kind = type; /* as we write it */
	}
}

static int put_request(struct import *in, struct requests *r, struct ipf_error *err)
{
	const struct jdoc *doc = &r->doc;
	struct result row;
	jdoc_id info = jdoc_get(doc, JDOC_ROOT, "info"), error = jdoc_get(doc, JDOC_ROOT, "error"),
			text = jdoc_get(doc, jdoc_get(doc, info, "request_metrics"), "text");
	double start_s = distribution_number(doc, JDOC_ROOT, "start_time");
	if (isnan(r->base_s))
		r->base_s = start_s;
	result_init(&row);
	row.stage = r->stage;
	row.ok = jdoc_is_null(doc, error);
	row.start_ns = import_ns(start_s - r->base_s, 1e9);
	row.end_ns = import_ns(distribution_number(doc, JDOC_ROOT, "end_time") - r->base_s, 1e9);
	if (row.start_ns == IPF_ABSENT)
		return json_pull_wrong(&in->json, err, "start_time: expected seconds, near those of the first request");
	row.input_tokens = import_count(distribution_number(doc, jdoc_is_null(doc, text) ? info : text, "input_tokens"));
	if (row.ok)
		put_success(in, r, info, &row);
	else
		put_failure(doc, error, &row);
	return import_row(in, &row, err);
}

static int read_requests(struct import *in, struct ipf_error *err)
{
	struct requests r = {.base_s = NAN, .stage = import_stage(in, &(struct import_stage){0}, err)};
	int got = r.stage < 0 ? -1 : json_pull_enter(&in->json, JDOC_LIST, err);
	while (got >= 0 && (got = json_pull_element(&in->json, err)) == 1) {
		got = import_value(in, &r.raw, &r.doc, err);
		if (got == 0)
			got = put_request(in, &r, err);
	}
	buffer_release(&r.raw);
	event_list_release(&r.events);
	jdoc_release(&r.doc);
	return got;
}

static int read_inference_perf(struct import *in, struct ipf_error *err)
{
	return has_requests(&in->outline) ? read_requests(in, err) : read_summary(in, err);
}

const struct importer import_inference_perf = {.tool = "inference-perf",
                                               .as_of = "7de5ef2",
                                               .notes = notes,
                                               .recognises = recognises,
                                               .read = read_inference_perf};
