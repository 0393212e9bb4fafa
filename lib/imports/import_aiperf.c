/* --from aiperf: profile_export_aiperf.json (figures) and profile_export.jsonl (requests) of AIPerf 0.13.0
 * (export_models.py, schema 1.0 to 1.5; record_models.py). ipf-exports(5) has a table of them. */
#include "imports/tagged_figures.h"

#include "absent.h"

#include <math.h>
#include <string.h>

static const char *const notes[] = {
	"TTFT is the time to the first response with content; TTFA to the first that is not reasoning.",
	"Its inter_token_latency is (latency - TTFT) / (output tokens - 1) of a request, and is shown as TPOT; its "
	"inter_chunk_latency is a gap between responses, and is shown as ITL.",
	"E2E ends with the last response with content.",
	"A request is due when AIPerf issued its credit. Rates that are stated are over the time from the first start to the last "
	"response.",
	NULL};

/* ---- figures ---- */

static int read_version(struct import *in, struct ipf_error *err)
{
	struct buffer raw = {0};
	int bad = json_pull_value(&in->json, &raw, err);
	if (bad == 0)
		import_fact(in->facts, "version", buffer_all(&raw));
	buffer_release(&raw);
	return bad;
}

/* Model and target, of one each. */
static int read_config(struct import *in, struct ipf_error *err)
{
	struct ipf_error ignored = {0};
	struct buffer raw = {0};
	struct jdoc doc = {0};
	int bad = json_pull_value(&in->json, &raw, err);
	if (bad == 0 && jdoc_parse(&doc, raw.data, raw.len, &ignored) == 0) {
		jdoc_id endpoint = jdoc_get(&doc, JDOC_ROOT, "endpoint"), urls = jdoc_get(&doc, endpoint, "urls"),
				models = jdoc_get(&doc, jdoc_get(&doc, JDOC_ROOT, "models"), "items");
		if (jdoc_count(&doc, models) == 1)
			import_fact(in->records, "model", jdoc_raw(&doc, jdoc_get(&doc, jdoc_at(&doc, models, 0), "name")));
		if (jdoc_count(&doc, urls) == 1)
			import_fact(in->records, "target", jdoc_raw(&doc, jdoc_at(&doc, urls, 0)));
	}
	jdoc_release(&doc);
	buffer_release(&raw);
	return bad;
}

static int read_other(struct import *in, struct slice key, struct ipf_error *err)
{
	return slice_is(key, "aiperf_version") ? read_version(in, err)
	       : slice_is(key, "input_config") ? read_config(in, err)
	                                       : json_pull_skip(&in->json, err);
}

static int read_figures(struct import *in, struct ipf_error *err)
{
	struct stated_stage figures;
	if (tagged_figures_read(&figures, in, read_other, err) < 0)
		return -1;
	if (figures.failed == IPF_ABSENT && figures.ok != IPF_ABSENT) /* written only if a request failed */
		figures.failed = 0;
	if (figures.failed > 0) /* effective_latency has failures among its values, also those of a few ms */
		figures.due_e2e.has = false;
	return tagged_figures_put(&figures, in, err);
}

/* ---- requests ---- */

struct lines {
	struct jdoc doc;
	struct buffer raw, events;
	int stages[2]; /* the benchmark's, and the warm-ups'; -1: not begun */
	int64_t base_ns;
};

/* Nanoseconds of a metric; IPF_ABSENT. */
static int64_t time_of(const struct jdoc *doc, jdoc_id all, const char *tag)
{
	jdoc_id metric = jdoc_get(doc, all, tag);
	double value;
	if (!jdoc_to_double(doc, jdoc_get(doc, metric, "value"), &value))
		return IPF_ABSENT;
	return import_ns(value, tagged_unit_ms(doc, jdoc_get(doc, metric, "unit")) * 1e6);
}

static int64_t count_of(const struct jdoc *doc, jdoc_id all, const char *tag)
{
	double value;
	return jdoc_to_double(doc, jdoc_get(doc, jdoc_get(doc, all, tag), "value"), &value) ? import_count(value)
	                                                                                    : IPF_ABSENT;
}

static int64_t moment_of(const struct lines *l, jdoc_id metadata, const char *key)
{
	return import_moment(&l->doc, jdoc_get(&l->doc, metadata, key), l->base_ns);
}

/* The stage of a line, which begins with its first one. */
static int stage_of(struct import *in, struct lines *l, jdoc_id metadata, struct ipf_error *err)
{
	bool warmup = jdoc_text_is(&l->doc, jdoc_get(&l->doc, metadata, "benchmark_phase"), "warmup");
	int *stage = &l->stages[warmup];
	if (*stage < 0)
		*stage = import_stage(in, &(struct import_stage){.name = warmup ? "warmup" : "profiling", .warmup = warmup},
		                      err);
	return *stage;
}

static void put_gaps(struct import *in, struct lines *l, jdoc_id all, struct result *row)
{
	jdoc_id metric = jdoc_get(&l->doc, all, "inter_chunk_latency"), list = jdoc_get(&l->doc, metric, "value");
	double unit_ns = tagged_unit_ms(&l->doc, jdoc_get(&l->doc, metric, "unit")) * 1e6, value, sum_ns = 0, most_ns = 0;
	int64_t gaps = 0,
			first_ns = row->start_ns == IPF_ABSENT || row->ttft_ns == IPF_ABSENT ? 0 : row->start_ns + row->ttft_ns;
	if (jdoc_type_of(&l->doc, list) != JDOC_LIST || row->ttft_ns == IPF_ABSENT) {
		import_derive(row, 0, 0, 0);
		return;
	}
	buffer_clear(&l->events);
	buffer_format(&l->events, "[%lld", (long long)first_ns);
	for (struct jdoc_each e = jdoc_each(&l->doc, list); jdoc_step(&e);) {
		if (!jdoc_to_double(&l->doc, e.value, &value) || import_ns(sum_ns + value * unit_ns, 1) == IPF_ABSENT ||
		    value < 0)
			continue;
		gaps++;
		sum_ns += value * unit_ns;
		most_ns = fmax(most_ns, value * unit_ns);
		import_gap(in, (int)row->stage, import_ns(value, unit_ns));
		buffer_format(&l->events, ",%lld", (long long)(first_ns + import_ns(sum_ns, 1)));
	}
	buffer_byte(&l->events, ']');
	row->events = gaps + 1;
	row->event_ns = buffer_all(&l->events);
	import_derive(row, gaps, sum_ns, import_ns(most_ns, 1));
}

static void put_error(const struct lines *l, jdoc_id error, jdoc_id metadata, struct result *row)
{
	bool cancelled = false;
	struct ipf_error ignored = {0};
	int64_t code;
	jdoc_get_bool(&l->doc, metadata, "was_cancelled", &cancelled, &ignored);
	row->ok = jdoc_is_null(&l->doc, error) && !cancelled;
	if (row->ok)
		return;
	struct slice type;
	if (jdoc_to_int(&l->doc, jdoc_get(&l->doc, error, "code"), &code) && code >= 100 && code < 600)
		row->status = code;
	row->error_kind = slice_of(cancelled ? "\"cancelled\"" : row->status >= 400 ? "\"http-status\"" : "\"other\"");
	if (jdoc_get_raw(&l->doc, error, "type", JDOC_TEXT, &type, &ignored) == 1 &&
	    verdict_kind_of(type) != VERDICT_OTHER && verdict_kind_of(type) != VERDICT_HUNG_UP)
		row->error_kind = type; /* as we write it */
	jdoc_get_raw(&l->doc, error, "message", JDOC_TEXT, &row->error_text, &ignored);
}

static int put_row(struct import *in, struct lines *l, struct ipf_error *err)
{
	struct ipf_error ignored = {0};
	struct result row;
	jdoc_id metadata = jdoc_get(&l->doc, JDOC_ROOT, "metadata"), all = jdoc_get(&l->doc, JDOC_ROOT, "metrics"),
			error = jdoc_get(&l->doc, JDOC_ROOT, "error");
	result_init(&row);
	if (l->base_ns == 0 && jdoc_to_int(&l->doc, jdoc_get(&l->doc, metadata, "request_start_ns"), &l->base_ns))
		import_began(in, l->base_ns);
	row.stage = stage_of(in, l, metadata, err);
	if (row.stage < 0)
		return -1;
	if (jdoc_type_of(&l->doc, all) != JDOC_MAP)
		return json_pull_wrong(&in->json, err, "metrics: expected an object for each request");
	row.start_ns = moment_of(l, metadata, "request_start_ns");
	row.end_ns = moment_of(l, metadata, "request_end_ns");
	row.due_ns = row.ready_ns = moment_of(l, metadata, "credit_issued_ns");
	if (row.start_ns == IPF_ABSENT)
		return json_pull_wrong(&in->json, err, "metadata.request_start_ns: expected a time in ns");
	jdoc_get_raw(&l->doc, metadata, "x_request_id", JDOC_TEXT, &row.id, &ignored);
	/* a conversation of the dataset can be had several times */
	if (jdoc_get_raw(&l->doc, metadata, "x_correlation_id", JDOC_TEXT, &row.session, &ignored) != 1)
		jdoc_get_raw(&l->doc, metadata, "conversation_id", JDOC_TEXT, &row.session, &ignored);
	if (jdoc_get_uint(&l->doc, metadata, "turn_index", &row.turn, &ignored) < 0)
		row.turn = IPF_ABSENT;
	put_error(l, error, metadata, &row);
	row.input_tokens = count_of(&l->doc, all, row.ok ? "input_sequence_length" : "error_isl");
	if (row.ok) {
		row.ttft_ns = time_of(&l->doc, all, "time_to_first_token");
		row.ttst_ns = time_of(&l->doc, all, "time_to_second_token");
		row.ttfa_ns = time_of(&l->doc, all, "time_to_first_output_token");
		row.e2e_ns = time_of(&l->doc, all, "request_latency");
		row.output_tokens = count_of(&l->doc, all, "output_sequence_length");
		row.reasoning_tokens = count_of(&l->doc, all, "reasoning_token_count");
		row.cached_tokens = count_of(&l->doc, all, "usage_prompt_cache_read_tokens");
		put_gaps(in, l, all, &row);
	}
	return import_row(in, &row, err);
}

static int read_requests(struct import *in, struct ipf_error *err)
{
	struct lines l = {.stages = {-1, -1}};
	int got;
	while ((got = json_pull_document(&in->json, err)) == 1) {
		got = import_value(in, &l.raw, &l.doc, err);
		if (got < 0 || (got = put_row(in, &l, err)) < 0)
			break;
	}
	buffer_release(&l.raw);
	buffer_release(&l.events);
	jdoc_release(&l.doc);
	return got;
}

static bool has_requests(const struct file_outline *outline)
{
	return file_outline_has(outline, "metadata.request_start_ns") && file_outline_has(outline, "metrics");
}

static bool recognises(const struct file_outline *outline)
{
	return file_outline_has(outline, "aiperf_version") || has_requests(outline) ||
	       (file_outline_has(outline, "schema_version") && file_outline_has(outline, "request_latency.unit"));
}

static int read_aiperf(struct import *in, struct ipf_error *err)
{
	return has_requests(&in->outline) ? read_requests(in, err) : read_figures(in, err);
}

const struct importer import_aiperf = {
	.tool = "AIPerf", .as_of = "0.13.0", .notes = notes, .recognises = recognises, .read = read_aiperf};
