/* envoy-access: Envoy's access log as JSON Lines, which has no bodies.
 *
 * Origin: a json_format of Envoy 1.40 naming its values as Envoy's documentation, Istio, Envoy Gateway and Envoy AI
 * Gateway do, or as examples/record/envoy.yaml. The first of several names with a value counts:
 *
 *     start_time, time, timestamp       the arrival
 *     response_code, status             0 (no response) or from 400 on: the request failed
 *     response_flags                    DC and DR: the client disconnected, after the duration; as in `cut` below: the
 *                                       answer was cut: the request failed
 *     duration, duration_ms             until the end, in milliseconds: the recorded latency
 *     token_latency_ttft                until the first token, in milliseconds, by Envoy AI Gateway. The time to the
 *                                       first byte (RESPONSE_DURATION) is that of the headers: it is not read
 *     session_id, session.id            the session
 *     path, x-envoy-origin-path         if it is known, it has to be that of a generation
 *     bytes_received, bytes_sent        of the bodies; become tags. A request without a body is left out
 *     gen_ai.request.model, genai_model_name, model
 *     gen_ai.usage.input_tokens, genai_tokens_input, input_tokens     lengths, which only an AI gateway knows
 *     gen_ai.usage.output_tokens, genai_tokens_output, output_tokens
 *
 * null, "" and "-" are no value; numbers may be strings. Sizes in bytes do not become lengths in tokens: without
 * lengths, --input-tokens makes some. Lines are in the order in which requests ended.
 */
#include "absent.h"
#include "clock.h"
#include "json/jout.h"
#include "sources/record_fields.h"
#include "sources/recorded_times.h"
#include "sources/sniff.h"
#include "token_count.h"

#include <string.h>

#define NAMES 4

/* The names of a member, the first of which counts. */
typedef const char *const access_names[NAMES];

static access_names times = {"start_time", "time", "timestamp"}, statuses = {"response_code", "status"},
					durations = {"duration", "duration_ms"}, sessions = {"session_id", "session.id"},
					paths = {"path", "x-envoy-origin-path"},
					models = {"gen_ai.request.model", "genai_model_name", "model"},
					inputs = {"gen_ai.usage.input_tokens", "genai_tokens_input", "input_tokens"},
					outputs = {"gen_ai.usage.output_tokens", "genai_tokens_output", "output_tokens"};

static jdoc_id value_of(const struct jdoc *j, const char *name)
{
	jdoc_id node = jdoc_get(j, JDOC_ROOT, name);
	return jdoc_is_null(j, node) || jdoc_text_is(j, node, "") || jdoc_text_is(j, node, "-") ? JDOC_NONE : node;
}

/* The first name with a value; or NULL. */
static const char *find(const struct jdoc *j, access_names names)
{
	for (size_t i = 0; i < NAMES && names[i]; i++)
		if (value_of(j, names[i]) != JDOC_NONE)
			return names[i];
	return NULL;
}

static int read_name(struct draft *d, const struct jdoc *j, access_names names, struct slice *name,
                     struct ipf_error *err)
{
	const char *found = find(j, names);
	*name = (struct slice){0};
	return found ? field_name(d, j, JDOC_ROOT, found, name, err) : 0;
}

/* A whole number of 0 or more, also as a string. Stays as it is if there is none. */
static int read_number(struct draft *d, const struct jdoc *j, const char *name, int64_t *number, struct ipf_error *err)
{
	jdoc_id node = name ? value_of(j, name) : JDOC_NONE;
	int64_t value = 0;
	if (node == JDOC_NONE)
		return 0;
	struct slice text = jdoc_type_of(j, node) == JDOC_TEXT ? draft_text(d, j, node) : jdoc_raw(j, node);
	for (size_t i = 0; i < text.len; i++) {
		if (text.data[i] < '0' || text.data[i] > '9' ||
		    !token_count_is_possible(value = value * 10 + text.data[i] - '0'))
			return jdoc_expected(j, node, name, "a whole number from 0 to 2^40", err);
	}
	*number = value;
	return 1;
}

/* Does the path of a request, without its query, end as those of generations do? */
static bool generates(struct slice path)
{
	static const char *const ends[] = {"completions", "/responses", "/messages", "/generate", "/generate_stream"};
	const char *query = path.len ? memchr(path.data, '?', path.len) : NULL;
	size_t len = query ? (size_t)(query - path.data) : path.len;
	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
		size_t end = strlen(ends[i]);
		if (len >= end && memcmp(path.data + len - end, ends[i], end) == 0)
			return true;
	}
	return false;
}

/* The client disconnected. */
static const char *const left[] = {"DC", "DR", NULL};
/* The client broke the protocol; the server closed, reset, was too slow or broke it; the stream was idle or too long
 * for Envoy; Envoy reset it. */
static const char *const cut[] = {"DPE", "UC", "UR", "UT", "UPE", "SI", "DT", "UMSDR", "LR", NULL};

/* Is one of the flags, which commas separate, one of these? */
static bool has_flag(struct slice flags, const char *const *wanted)
{
	for (size_t from = 0, to; from < flags.len; from = to + 1) {
		for (to = from; to < flags.len && flags.data[to] != ',';)
			to++;
		for (size_t i = 0; wanted[i]; i++)
			if (slice_is((struct slice){flags.data + from, to - from}, wanted[i]))
				return true;
	}
	return false;
}

/* The recorded latencies, of which an AI gateway knows that of the first token; a 0 is none, as of a whole answer. */
static int read_latencies(const struct jdoc *j, int64_t ms, struct draft_request *r, struct ipf_error *err)
{
	struct recorded_times recorded = RECORDED_TIMES_NONE;
	const char *const first = "token_latency_ttft";
	if (value_of(j, first) != JDOC_NONE && field_duration(j, JDOC_ROOT, first, NS_PER_MS, &recorded.ttft_ns, err) < 0)
		return -1;
	recorded.ttft_ns = recorded.ttft_ns > 0 ? recorded.ttft_ns : IPF_ABSENT;
	recorded.e2e_ns = ms != IPF_ABSENT && ms <= NS_PER_YEAR / NS_PER_MS ? ms * NS_PER_MS : IPF_ABSENT;
	recorded_times_set_possible(r, &recorded);
	return 0;
}

static struct slice make_tags(struct draft *d, int64_t received, int64_t sent)
{
	struct buffer out = {0};
	struct jout w = {.out = &out};
	jout_begin_map(&w);
	if (received != IPF_ABSENT)
		jout_member_int(&w, "bytes_received", received);
	if (sent != IPF_ABSENT)
		jout_member_int(&w, "bytes_sent", sent);
	jout_end_map(&w);
	return draft_take_buffer(d, &out);
}

/* Why a line is not a usable request; or NULL. */
static const char *read_kind(const struct log_state *s, struct slice path, int64_t received,
                             const struct draft_request *r)
{
	if (path.data && !generates(path))
		return "not the path of a generation";
	if (received == 0)
		return "no body";
	return r->input_tokens == IPF_ABSENT && !s->drawn ? "no length of the prompt (--input-tokens makes some)" : NULL;
}

static int read_record(void *opened, const struct source_record *record, struct sink *sink, struct ipf_error *err)
{
	struct log_state *s = opened;
	const struct jdoc *j = record->json;
	struct draft *d = &sink->draft;
	struct slice path, flags;
	int64_t ns, status = 200, received = IPF_ABSENT, sent = IPF_ABSENT, input = 0, ms = IPF_ABSENT;
	struct draft_request *r = draft_request(d);
	if (!r)
		return 0;
	if (need_object(j, JDOC_ROOT, "record", err) < 0)
		return -1;
	const char *time = find(j, times);
	if (need_time(j, JDOC_ROOT, time ? time : times[0], NS_PER_S, &ns, err) < 0 ||
	    read_number(d, j, find(j, statuses), &status, err) < 0 || read_number(d, j, find(j, durations), &ms, err) < 0 ||
	    read_number(d, j, "bytes_received", &received, err) < 0 || read_number(d, j, "bytes_sent", &sent, err) < 0 ||
	    read_number(d, j, find(j, inputs), &input, err) < 0 ||
	    read_number(d, j, find(j, outputs), &r->output_tokens, err) < 0 ||
	    read_name(d, j, models, &r->model, err) < 0 || read_name(d, j, sessions, &d->session, err) < 0 ||
	    read_name(d, j, paths, &path, err) < 0 || field_text(d, j, JDOC_ROOT, "response_flags", &flags, err) < 0)
		return -1;
	r->input_tokens = input > 0 ? input : IPF_ABSENT;
	const char *why = read_kind(s, path, received, r);
	if (why) {
		sink->unusable(sink, why);
		return 0;
	}
	if (r->input_tokens == IPF_ABSENT)
		r->input_tokens = LOG_TOKENS_DRAWN;
	if (ms > 0 && ms <= NS_PER_YEAR / NS_PER_MS && has_flag(flags, left))
		r->hang_up_ns = ms * NS_PER_MS;
	else
		r->failed = status == 0 || status >= 400 || has_flag(flags, cut) || has_flag(flags, left);
	if (read_latencies(j, ms, r, err) < 0)
		return -1;
	r->tags = make_tags(d, received, sent);
	r->at_ns = since_origin(&s->origin, ns);
	return sink->take(sink, d, err);
}

static bool recognises(const struct sniff *sniff)
{
	return sniff_members(sniff, "bytes_received bytes_sent") &&
	       (sniff_members(sniff, "start_time response_code duration") ||
	        sniff_members(sniff, "time status duration_ms"));
}

const struct source_format source_envoy_access = {
	.name = "envoy-access",
	.about = "Envoy's access log (JSON Lines): arrivals, sessions, failures; lengths if an AI gateway logs them",
	.kind = SOURCE_TRACE,
	.unit = UNIT_JSON,
	.traits = HAS_TIMES | HAS_SESSIONS | GATHERS | MAKES_TEXT,
	.filled = "prose of the logged length, or of the one drawn by --input-tokens",
	.state_size = sizeof(struct log_state),
	.open = log_open,
	.read_record = read_record,
	.recognises = recognises,
};
