/* --from genai-perf: profile_export_genai_perf.json (figures) and profile_export.json (requests, which perf_analyzer
 * writes for it) of genai-perf, triton-inference-server/perf_analyzer at 263c5f6e
 * (genai_perf/export_data/json_exporter.py, genai_perf/profile_data_parser). ipf-exports(5) has a table of them. */
#include "imports/distributions.h"
#include "imports/event_list.h"
#include "imports/tagged_figures.h"

#include "absent.h"

#include <math.h>
#include <string.h>

static const char *const notes[] = {
	"TTFT is the time to the first response with content; E2E is the request_latency, to the last response.",
	"Its inter_token_latency is (latency - TTFT) / (output tokens - 1) of a request, and is shown as TPOT.",
	"Tokens of figures are those of its tokenizer; it does not count failures. Requests have the tokens that the server "
	"reported, if it did, and one without a response with content failed.",
	NULL};

static bool has_requests(const struct file_outline *outline)
{
	return file_outline_has(outline, "experiments[].experiment") || file_outline_has(outline, "experiments[].requests");
}

static bool recognises(const struct file_outline *outline)
{
	if (has_requests(outline))
		return true;
	return !file_outline_has(outline, "schema_version") &&
	       (file_outline_has(outline, "request_latency.unit") || file_outline_has(outline, "request_throughput.unit"));
}

static int read_figures(struct import *in, struct ipf_error *err)
{
	struct stated_stage figures;
	return tagged_figures_read(&figures, in, NULL, err) < 0 ? -1 : tagged_figures_put(&figures, in, err);
}

/* ---- requests ---- */

struct experiment {
	struct buffer raw, text;
	struct jdoc doc, answer; /* a request; one of its responses */
	struct event_list events;
	struct import_stage stage;
	int number; /* the stage's; -1: not begun */
	int64_t *base_ns;
};

static bool has_text(const struct jdoc *doc, jdoc_id map, const char *key)
{
	jdoc_id text = jdoc_get(doc, map, key);
	return jdoc_type_of(doc, text) == JDOC_TEXT && !jdoc_text_empty(doc, text);
}

/* Has one message of a stream content? Takes the server's count of tokens from it. */
static bool has_content(struct experiment *x, struct slice message, struct result *row)
{
	struct ipf_error ignored = {0};
	if (message.len > 6 && memcmp(message.data, "data: ", 6) == 0)
		message = (struct slice){message.data + 6, message.len - 6};
	if (jdoc_parse(&x->answer, message.data, message.len, &ignored) < 0)
		return false; /* the end mark, or a part of a message */
	const struct jdoc *doc = &x->answer;
	jdoc_id choice = jdoc_at(doc, jdoc_get(doc, JDOC_ROOT, "choices"), 0), delta = jdoc_get(doc, choice, "delta"),
			usage = jdoc_get(doc, JDOC_ROOT, "usage");
	if (!jdoc_is_null(doc, usage)) {
		row->output_tokens = import_count(distribution_number(doc, usage, "completion_tokens"));
		row->input_tokens = import_count(distribution_number(doc, usage, "prompt_tokens"));
	}
	return has_text(doc, choice, "text") || has_text(doc, delta, "content") ||
	       has_text(doc, delta, "reasoning_content") || has_text(doc, jdoc_get(doc, choice, "message"), "content") ||
	       has_text(doc, JDOC_ROOT, "text_output");
}

/* A response is all coming at once: one or several messages. For servers that are not asked over HTTP, it is a text. */
static bool is_content(struct experiment *x, jdoc_id output, struct result *row)
{
	jdoc_id response = jdoc_get(&x->doc, output, "response");
	bool content = false;
	if (jdoc_type_of(&x->doc, response) != JDOC_TEXT)
		return has_text(&x->doc, output, "text_output") ||
		       !jdoc_is_null(&x->doc, jdoc_get(&x->doc, output, "output_ids"));
	buffer_clear(&x->text);
	jdoc_text(&x->doc, response, &x->text);
	buffer_byte(&x->text, 0);
	for (const char *at = x->text.failed ? NULL : x->text.data; at && *at;) {
		const char *end = strstr(at, "\n\n");
		size_t len = end ? (size_t)(end - at) : strlen(at);
		content |= has_content(x, (struct slice){at, len}, row);
		at = end ? end + 2 : NULL;
	}
	return content;
}

static int put_request(struct import *in, struct experiment *x, struct ipf_error *err)
{
	struct result row;
	jdoc_id started = jdoc_get(&x->doc, JDOC_ROOT, "timestamp"),
			times = jdoc_get(&x->doc, JDOC_ROOT, "response_timestamps"),
			outputs = jdoc_get(&x->doc, JDOC_ROOT, "response_outputs");
	struct jdoc_each e = jdoc_each(&x->doc, times), output = jdoc_each(&x->doc, outputs);
	if (*x->base_ns == IPF_ABSENT) {
		if (!jdoc_to_int(&x->doc, started, x->base_ns) || *x->base_ns < 0)
			return json_pull_wrong(&in->json, err, "timestamp: expected a time in ns");
		import_began(in, *x->base_ns);
	}
	result_init(&row);
	row.stage = x->number;
	row.start_ns = import_moment(&x->doc, started, *x->base_ns);
	if (row.start_ns == IPF_ABSENT)
		return json_pull_wrong(&in->json, err, "timestamp: expected a time in ns, near that of the first request");
	event_list_begin(&x->events);
	while (jdoc_step(&e)) {
		int64_t ns = import_moment(&x->doc, e.value, *x->base_ns);
		bool content = !jdoc_step(&output) || is_content(x, output.value, &row);
		if (ns == IPF_ABSENT)
			continue;
		row.end_ns = ns;
		if (content)
			event_list_add(&x->events, in, x->number, ns);
	}
	row.ok = x->events.count > 0;
	if (row.ok) {
		if (row.end_ns != IPF_ABSENT)
			row.stream_ns = row.end_ns - row.start_ns;
		event_list_put(&x->events, &row);
	} else {
		row.output_tokens = IPF_ABSENT;
		row.error_kind = slice_of("\"other\"");
		row.error_text = slice_of("\"no response with content\"");
	}
	return import_row(in, &row, err);
}

static int begin_stage(struct import *in, struct experiment *x, struct ipf_error *err)
{
	if (x->number < 0)
		x->number = import_stage(in, &x->stage, err);
	return x->number < 0 ? -1 : 0;
}

/* {"mode": "concurrency", "value": 4} */
static int read_load(struct import *in, struct experiment *x, struct ipf_error *err)
{
	if (import_value(in, &x->raw, &x->doc, err) < 0)
		return -1;
	double value = distribution_number(&x->doc, JDOC_ROOT, "value");
	bool concurrency = jdoc_text_is(&x->doc, jdoc_get(&x->doc, JDOC_ROOT, "mode"), "concurrency");
	if (concurrency && value >= 1)
		x->stage = (struct import_stage){.kind = "closed", .slots = import_count(value)};
	else if (!concurrency)
		x->stage.rate = isnan(value) ? 0 : value;
	return 0;
}

static int read_requests(struct import *in, struct experiment *x, struct ipf_error *err)
{
	int got = begin_stage(in, x, err);
	if (got == 0)
		got = json_pull_enter(&in->json, JDOC_LIST, err);
	while (got >= 0 && (got = json_pull_element(&in->json, err)) == 1) {
		got = import_value(in, &x->raw, &x->doc, err);
		if (got == 0)
			got = put_request(in, x, err);
	}
	return got;
}

static int read_experiments(struct import *in, struct ipf_error *err)
{
	int64_t base_ns = IPF_ABSENT;
	struct slice key;
	int got = json_pull_enter(&in->json, JDOC_LIST, err);
	while (got >= 0 && (got = json_pull_element(&in->json, err)) == 1) {
		struct experiment x = {.number = -1, .base_ns = &base_ns};
		got = json_pull_enter(&in->json, JDOC_MAP, err);
		while (got >= 0 && (got = json_pull_member(&in->json, &key, err)) == 1)
			got = slice_is(key, "experiment") ? read_load(in, &x, err)
			      : slice_is(key, "requests") ? read_requests(in, &x, err)
			                                  : json_pull_skip(&in->json, err);
		buffer_release(&x.raw);
		buffer_release(&x.text);
		jdoc_release(&x.doc);
		jdoc_release(&x.answer);
		event_list_release(&x.events);
	}
	return got;
}

static int read_export(struct import *in, struct ipf_error *err)
{
	struct slice key;
	int got = json_pull_enter(&in->json, JDOC_MAP, err);
	while (got >= 0 && (got = json_pull_member(&in->json, &key, err)) == 1)
		got = slice_is(key, "experiments") ? read_experiments(in, err) : json_pull_skip(&in->json, err);
	return got;
}

static int read_genai_perf(struct import *in, struct ipf_error *err)
{
	return has_requests(&in->outline) ? read_export(in, err) : read_figures(in, err);
}

const struct importer import_genai_perf = {
	.tool = "genai-perf", .as_of = "263c5f6e", .notes = notes, .recognises = recognises, .read = read_genai_perf};
