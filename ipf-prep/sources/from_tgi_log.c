/* tgi-log: the log of a server of Hugging Face's text-generation-inference, as JSON.
 *
 * Origin: --json-output of text-generation-inference 3.3 (router/src/logging.rs and server.rs; the same members since
 * 1.0). JSON Lines, of which the end of a generation or a stream is a request:
 *
 *     {"timestamp": "2026-01-30T10:15:04.512345Z", "level": "INFO", "message": "Success",
 *      "target": "text_generation_router::server", "filename": "router/src/server.rs", "line_number": 432,
 *      "span": {"inference_time": "1.5s", "parameters": "GenerateParameters { …, adapter_id: None }",
 *               "queue_time": "53.1µs", "seed": "None", "time_per_token": "15ms", "total_time": "1.501s",
 *               "validation_time": "420.3µs", "name": "generate_stream"}, "spans": […]}
 *
 *     timestamp                       the end; less total_time, the recorded latency, the arrival
 *     inference_time, time_per_token  their ratio is the number of tokens of the answer
 *     parameters                      adapter_id is the model to request; chats and completions may lack it
 *
 * The line has neither the prompt nor its length, and no session: --input-tokens makes prompts. Requests failing have
 * no such line. All other lines are unusable.
 */
#include "absent.h"
#include "clock.h"
#include "sources/record_fields.h"
#include "sources/recorded_times.h"
#include "sources/sniff.h"
#include "cli/times.h"

#include <string.h>

/* A duration as Rust prints it: 1.5s, 12.25ms, 420.3µs or 900ns. -1 if it is something else, or above a year. */
static int parse_duration(struct slice text, int64_t *ns)
{
	static const struct {
		const char *name;
		int64_t ns;
	} units[] = {{"s", NS_PER_S}, {"ms", NS_PER_MS}, {"µs", NS_PER_US}, {"ns", 1}};
	size_t len = 0;
	while (len < text.len && ((text.data[len] >= '0' && text.data[len] <= '9') || text.data[len] == '.'))
		len++;
	for (size_t i = 0; i < sizeof units / sizeof *units; i++)
		if (slice_is((struct slice){text.data + len, text.len - len}, units[i].name))
			return time_from_number((struct slice){text.data, len}, units[i].ns, ns) == 0 && *ns <= NS_PER_YEAR ? 0
			                                                                                                    : -1;
	return -1;
}

static int need_rust_duration(struct draft *d, const struct jdoc *j, jdoc_id span, const char *key, int64_t *ns,
                              struct ipf_error *err)
{
	struct slice text;
	if (need_text(d, j, span, key, &text, err) < 0)
		return -1;
	return !text.data || parse_duration(text, ns) == 0
	           ? 0
	           : jdoc_expected(j, jdoc_get(j, span, key), key, "a duration of at most a year, such as 12.5ms", err);
}

/* The name of the adapter in the parameters; quotes within a string of theirs are escaped. Absent if there is none. */
static struct slice adapter_of(struct slice parameters)
{
	static const char before[] = "adapter_id: Some(\"";
	const char *at = parameters.len ? memmem(parameters.data, parameters.len, before, strlen(before)) : NULL;
	if (!at)
		return (struct slice){0};
	at += strlen(before);
	size_t left = parameters.len - (size_t)(at - parameters.data);
	const char *end = memchr(at, '"', left);
	return end && end > at ? (struct slice){at, (size_t)(end - at)} : (struct slice){0};
}

static int read_success(struct log_state *s, const struct jdoc *j, jdoc_id span, struct sink *sink,
                        struct ipf_error *err)
{
	struct draft *d = &sink->draft;
	struct slice parameters;
	int64_t end_ns, total_ns = 0, inference_ns = 0, token_ns = 0;
	struct draft_request *r = draft_request(d);
	if (!r)
		return 0;
	if (need_time(j, JDOC_ROOT, "timestamp", NS_PER_S, &end_ns, err) < 0 ||
	    need_rust_duration(d, j, span, "total_time", &total_ns, err) < 0 ||
	    need_rust_duration(d, j, span, "inference_time", &inference_ns, err) < 0 ||
	    need_rust_duration(d, j, span, "time_per_token", &token_ns, err) < 0 ||
	    field_text(d, j, span, "parameters", &parameters, err) < 0)
		return -1;
	if (!s->drawn) {
		sink->unusable(sink, "no length of the prompt in the log (--input-tokens makes some)");
		return 0;
	}
	r->input_tokens = LOG_TOKENS_DRAWN;
	r->output_tokens = token_ns > 0 ? (inference_ns + token_ns / 2) / token_ns : IPF_ABSENT;
	r->model = adapter_of(parameters);
	r->at_ns = since_origin(&s->origin, end_ns - total_ns);
	recorded_times_set_possible(r, &(struct recorded_times){.ttft_ns = IPF_ABSENT, .e2e_ns = total_ns});
	return sink->take(sink, d, err);
}

static int read_record(void *opened, const struct source_record *record, struct sink *sink, struct ipf_error *err)
{
	const struct jdoc *j = record->json;
	if (need_object(j, JDOC_ROOT, "record", err) < 0)
		return -1;
	jdoc_id span = jdoc_get(j, JDOC_ROOT, "span");
	if (jdoc_text_is(j, jdoc_get(j, JDOC_ROOT, "message"), "Success") && jdoc_get(j, span, "total_time") != JDOC_NONE)
		return read_success(opened, j, span, sink, err);
	sink->no_request(sink, "not the end of a request");
	return 0;
}

static bool recognises(const struct sniff *sniff)
{
	return sniff_members(sniff, "timestamp level target") && sniff_text(sniff, "\"target\":\"text_generation_");
}

const struct source_format source_tgi_log = {
	.name = "tgi-log",
	.about = "log of text-generation-inference as JSON: arrivals and output lengths; --input-tokens makes prompts",
	.kind = SOURCE_TRACE,
	.unit = UNIT_JSON,
	.ignored = "/span/seed", /* the server draws it */
	.traits = HAS_TIMES | GATHERS | MAKES_TEXT,
	.filled = "prose of the length drawn by --input-tokens",
	.state_size = sizeof(struct log_state),
	.open = log_open,
	.read_record = read_record,
	.recognises = recognises,
};
