/* --from guidellm: benchmarks.json of GuideLLM 0.8.1 (src/guidellm/benchmark/schemas, src/guidellm/schemas), each of
 * whose benchmarks becomes a stage. ipf-exports(5) has a table of it. */
#include "imports/distributions.h"
#include "imports/import.h"

#include "absent.h"

#include <math.h>
#include <string.h>

static const char *const notes[] = {
	"TTFT is the time to the first iteration with tokens. E2E ends with the last one; the end of a request is later.",
	"Its inter_token_latency is (last token - first token) / (output tokens - 1) of a request, and is shown as TPOT; its "
	"time_per_output_token is the whole latency / output tokens, and is shown as NTPOT of a file of figures. Gaps between "
	"tokens are not in the file.",
	"With a rate, a request is due at its targeted start. Figures that are stated are those of successful requests, "
	"and "
	"latencies end with the request.",
	NULL};

struct benchmark {
	struct buffer raw, name;
	struct jdoc doc;
	struct stated_stage figures;
	struct import_stage stage;
	bool scheduled; /* requests have a time at which they are due */
	int number;     /* the stage's; -1: not begun */
	int64_t rows;
	double duration, *base_s;
};

static bool recognises(const struct file_outline *outline)
{
	return file_outline_has(outline, "metadata.guidellm_version") || file_outline_has(outline, "benchmarks[].type_");
}

/* ---- the run ---- */

static void put_strategy(struct benchmark *b, jdoc_id strategy)
{
	static const struct {
		const char *type, *kind;
		bool scheduled;
	} kinds[] = {{"constant", "constant", true},  {"async", "constant", true},      {"poisson", "poisson", true},
	             {"concurrent", "closed", false}, {"synchronous", "closed", false}, {"throughput", "burst", false},
	             {"trace", "replay", true}};
	jdoc_id type = jdoc_get(&b->doc, strategy, "type_");
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (jdoc_text_is(&b->doc, type, kinds[i].type)) {
			b->stage.kind = kinds[i].kind;
			b->scheduled = kinds[i].scheduled;
		}
	b->stage.rate = distribution_number(&b->doc, strategy, "rate");
	double streams = distribution_number(&b->doc, strategy, "streams");
	b->stage.slots = streams > 0 ? import_count(streams) : jdoc_text_is(&b->doc, type, "synchronous") ? 1 : 0;
}

static int read_config(struct import *in, struct benchmark *b, struct ipf_error *err)
{
	if (import_value(in, &b->raw, &b->doc, err) < 0)
		return -1;
	jdoc_id backend = jdoc_get(&b->doc, JDOC_ROOT, "backend"), name = jdoc_get(&b->doc, JDOC_ROOT, "name");
	put_strategy(b, jdoc_get(&b->doc, JDOC_ROOT, "strategy"));
	import_fact(in->records, "model", jdoc_raw(&b->doc, jdoc_get(&b->doc, backend, "model")));
	import_fact(in->records, "target", jdoc_raw(&b->doc, jdoc_get(&b->doc, backend, "target")));
	if (jdoc_type_of(&b->doc, name) == JDOC_TEXT) {
		buffer_clear(&b->name);
		jdoc_text(&b->doc, name, &b->name);
		b->stage.name = b->name.data;
	}
	return 0;
}

static int begin_stage(struct import *in, struct benchmark *b, struct ipf_error *err)
{
	if (b->number < 0)
		b->number = import_stage(in, &b->stage, err);
	return b->number;
}

/* ---- requests ---- */

/* A time in seconds since the epoch; IPF_ABSENT. */
static int64_t moment(const struct benchmark *b, jdoc_id map, const char *key)
{
	double s = distribution_number(&b->doc, map, key);
	return import_ns(s - *b->base_s, 1e9);
}

static int64_t tokens(const struct benchmark *b, const char *key)
{
	return import_count(distribution_number(&b->doc, JDOC_ROOT, key));
}

static void put_success(const struct benchmark *b, jdoc_id timings, struct result *row)
{
	int64_t last_ns = moment(b, timings, "last_token_iteration");
	row->ttft_ns = import_ns(distribution_number(&b->doc, JDOC_ROOT, "time_to_first_token_ms"), 1e6);
	row->ttfa_ns = import_ns(distribution_number(&b->doc, JDOC_ROOT, "time_to_first_output_token_ms"), 1e6);
	row->tpot_ns = import_ns(distribution_number(&b->doc, JDOC_ROOT, "inter_token_latency_ms"), 1e6);
	row->stream_ns = import_ns(distribution_number(&b->doc, JDOC_ROOT, "request_latency"), 1e9);
	row->e2e_ns = last_ns == IPF_ABSENT ? row->stream_ns : last_ns - row->start_ns;
	row->output_tokens = tokens(b, "output_tokens");
	row->cached_tokens = tokens(b, "cached_tokens");
	row->events = import_count(distribution_number(&b->doc, timings, "token_iterations"));
	if (row->output_tokens < 2) /* GuideLLM has 0 there */
		row->tpot_ns = IPF_ABSENT;
}

static int put_request(struct import *in, struct benchmark *b, struct slice list, struct ipf_error *err)
{
	struct ipf_error ignored = {0};
	struct result row;
	jdoc_id info = jdoc_get(&b->doc, JDOC_ROOT, "info"), timings = jdoc_get(&b->doc, info, "timings");
	double start_s = distribution_number(&b->doc, JDOC_ROOT, "request_start_time");
	if (isnan(start_s))
		start_s = distribution_number(&b->doc, timings, "request_start");
	if (isnan(start_s))
		return 0; /* it was never sent */
	if (isnan(*b->base_s)) {
		*b->base_s = start_s;
		import_began(in, start_s > 1e9 && start_s < 4e9 ? (int64_t)llround(start_s * 1e9) : IPF_ABSENT);
	}
	result_init(&row);
	row.stage = begin_stage(in, b, err);
	row.ok = slice_is(list, "successful");
	row.start_ns = import_ns(start_s - *b->base_s, 1e9);
	row.end_ns = moment(b, JDOC_ROOT, "request_end_time");
	if (b->scheduled)
		row.due_ns = row.ready_ns = moment(b, timings, "targeted_start");
	row.input_tokens = tokens(b, "prompt_tokens");
	jdoc_get_raw(&b->doc, JDOC_ROOT, "request_id", JDOC_TEXT, &row.id, &ignored);
	jdoc_get_raw(&b->doc, info, "conversation_id", JDOC_TEXT, &row.session, &ignored);
	if (jdoc_get_uint(&b->doc, info, "turn_index", &row.turn, &ignored) < 0)
		row.turn = IPF_ABSENT;
	if (row.ok) {
		put_success(b, timings, &row);
	} else {
		row.error_kind = slice_of(slice_is(list, "incomplete") ? "\"cancelled\"" : "\"other\"");
		jdoc_get_raw(&b->doc, info, "error", JDOC_TEXT, &row.error_text, &ignored);
	}
	import_derive(&row, 0, 0, 0);
	b->rows++;
	if (row.stage < 0)
		return -1;
	return row.start_ns == IPF_ABSENT
	           ? json_pull_wrong(&in->json, err, "request_start_time: %g is far from that of the first request",
	                             start_s)
	           : import_row(in, &row, err);
}

/* {"successful": [], "incomplete": [], "errored": [], "total": null} */
static int read_requests(struct import *in, struct benchmark *b, struct ipf_error *err)
{
	struct slice key;
	char list[24];
	int got = json_pull_enter(&in->json, JDOC_MAP, err);
	while (got >= 0 && (got = json_pull_member(&in->json, &key, err)) == 1) {
		int type = json_pull_type(&in->json, err);
		snprintf(list, sizeof list, "%.*s", (int)(key.len < 20 ? key.len : 20), key.data);
		if (type != JDOC_LIST || strcmp(list, "total") == 0) {
			got = type < 0 ? -1 : json_pull_skip(&in->json, err);
			continue;
		}
		got = json_pull_enter(&in->json, JDOC_LIST, err);
		while (got >= 0 && (got = json_pull_element(&in->json, err)) == 1) {
			got = import_value(in, &b->raw, &b->doc, err);
			if (got == 0)
				got = put_request(in, b, slice_of(list), err);
		}
	}
	return got;
}

/* ---- figures ---- */

static const struct {
	const char *key;
	size_t offset; /* a summary's */
	double unit;
} summaries[] = {{"request_latency", offsetof(struct stated_stage, start[METRIC_E2E]), 1e3},
                 {"time_to_first_token_ms", offsetof(struct stated_stage, start[METRIC_TTFT]), 1},
                 {"time_to_first_output_token_ms", offsetof(struct stated_stage, start[METRIC_TTFA]), 1},
                 {"inter_token_latency_ms", offsetof(struct stated_stage, start[METRIC_TPOT]), 1},
                 {"time_per_output_token_ms", offsetof(struct stated_stage, start[METRIC_NTPOT]), 1},
                 {"prompt_token_count", offsetof(struct stated_stage, input), 1},
                 {"output_token_count", offsetof(struct stated_stage, output), 1}};
static const struct {
	const char *key;
	size_t offset; /* a double's */
} means[] = {{"requests_per_second", offsetof(struct stated_stage, completed)},
             {"request_concurrency", offsetof(struct stated_stage, in_flight_mean)},
             {"prompt_tokens_per_second", offsetof(struct stated_stage, input_per_s)},
             {"output_tokens_per_second", offsetof(struct stated_stage, output_per_s)},
             {"tokens_per_second", offsetof(struct stated_stage, total_per_s)}};

static int read_metrics(struct import *in, struct benchmark *b, struct ipf_error *err)
{
	if (import_value(in, &b->raw, &b->doc, err) < 0)
		return -1;
	const struct jdoc *doc = &b->doc;
	jdoc_id totals = jdoc_get(doc, JDOC_ROOT, "request_totals");
	for (size_t i = 0; i < sizeof summaries / sizeof *summaries; i++)
		distribution_read((struct stated_summary *)((char *)&b->figures + summaries[i].offset), doc,
		                  jdoc_get(doc, jdoc_get(doc, JDOC_ROOT, summaries[i].key), "successful"), summaries[i].unit);
	for (size_t i = 0; i < sizeof means / sizeof *means; i++)
		*(double *)((char *)&b->figures + means[i].offset) = distribution_number(
			doc, jdoc_get(doc, jdoc_get(doc, JDOC_ROOT, means[i].key), "successful"), "mean");
	b->figures.ok = import_count(distribution_number(doc, totals, "successful"));
	b->figures.failed = import_count(distribution_number(doc, totals, "errored"));
	return 0;
}

static int put_figures(struct import *in, struct benchmark *b, struct ipf_error *err)
{
	struct stated_stage *to = begin_stage(in, b, err) < 0 ? NULL : import_figures(in, b->number, err);
	if (!to)
		return -1;
	b->figures.window_s = b->duration;
	b->figures.offered = b->stage.rate;
	*to = b->figures;
	import_lasted(in, b->duration);
	return 0;
}

static int read_benchmark(struct import *in, struct benchmark *b, struct ipf_error *err)
{
	struct slice key;
	int got = json_pull_enter(&in->json, JDOC_MAP, err);
	while (got >= 0 && (got = json_pull_member(&in->json, &key, err)) == 1) {
		bool config = slice_is(key, "config") || slice_is(key, "args");
		if (slice_is(key, "duration"))
			got = json_pull_number(&in->json, &b->duration, err);
		else if (slice_is(key, "metrics"))
			got = read_metrics(in, b, err);
		else if (slice_is(key, "requests"))
			got = read_requests(in, b, err);
		else
			got = config ? read_config(in, b, err) : json_pull_skip(&in->json, err);
	}
	if (got == 0 && b->rows == 0)
		got = put_figures(in, b, err);
	return got;
}

static int read_benchmarks(struct import *in, struct ipf_error *err)
{
	double base_s = NAN;
	int got = json_pull_enter(&in->json, JDOC_LIST, err);
	while (got >= 0 && (got = json_pull_element(&in->json, err)) == 1) {
		struct benchmark b = {.number = -1, .duration = NAN, .base_s = &base_s, .stage = {.rate = NAN}};
		stated_stage_init(&b.figures);
		got = read_benchmark(in, &b, err);
		buffer_release(&b.raw);
		buffer_release(&b.name);
		jdoc_release(&b.doc);
	}
	return got;
}

static int read_metadata(struct import *in, struct ipf_error *err)
{
	struct buffer raw = {0};
	struct jdoc doc = {0};
	int bad = import_value(in, &raw, &doc, err);
	if (bad == 0)
		import_fact(in->facts, "version", jdoc_raw(&doc, jdoc_get(&doc, JDOC_ROOT, "guidellm_version")));
	jdoc_release(&doc);
	buffer_release(&raw);
	return bad;
}

static int read_guidellm(struct import *in, struct ipf_error *err)
{
	struct slice key;
	int got = json_pull_enter(&in->json, JDOC_MAP, err);
	while (got >= 0 && (got = json_pull_member(&in->json, &key, err)) == 1)
		got = slice_is(key, "benchmarks") ? read_benchmarks(in, err)
		      : slice_is(key, "metadata") ? read_metadata(in, err)
		                                  : json_pull_skip(&in->json, err);
	return got;
}

const struct importer import_guidellm = {
	.tool = "GuideLLM", .as_of = "0.8.1", .notes = notes, .recognises = recognises, .read = read_guidellm};
