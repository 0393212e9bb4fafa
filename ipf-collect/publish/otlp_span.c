#include "publish/otlp_span.h"

#include "absent.h"
#include "protobuf/protobuf_wire.h"
#include "publish/otlp_attributes.h"
#include "safe_text.h"
#include "span_ids.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

/* opentelemetry.proto.trace.v1 */
enum {
	SPAN_TRACE = 1,
	SPAN_ID = 2,
	SPAN_NAME = 5,
	SPAN_KIND = 6,
	SPAN_START = 7,
	SPAN_END = 8,
	SPAN_ATTRIBUTES = 9,
	SPAN_EVENTS = 11,
	SPAN_STATUS = 15,
};
enum { KIND_CLIENT = 3 };
enum { EVENT_TIME = 1, EVENT_NAME = 2 };
enum { STATUS_MESSAGE = 2, STATUS_CODE = 3, STATUS_ERROR = 2 };

/* Integers of the row: under the conventions' name if they have one, otherwise under ours, after "ipf.". */
static const struct {
	const char *key;
	size_t offset;
} row_integers[] = {
#define OWN(member_)                                                                                                   \
	{                                                                                                                  \
		"ipf." #member_, offsetof(struct result, member_)                                                              \
	}
	{"gen_ai.usage.output_tokens", offsetof(struct result, output_tokens)},
	{"gen_ai.usage.reasoning.output_tokens", offsetof(struct result, reasoning_tokens)},
	{"gen_ai.usage.cache_read.input_tokens", offsetof(struct result, cached_tokens)},
	{"gen_ai.usage.cache_creation.input_tokens", offsetof(struct result, cache_write_tokens)},
	OWN(n),
	OWN(req),
	OWN(turn),
	OWN(due_ns),
	OWN(lag_ns),
	OWN(slot_wait_ns),
	OWN(pool_wait_ns),
	OWN(client_lag_ns),
	OWN(ttfb_ns),
	OWN(ttft_ns),
	OWN(ttfa_ns),
	OWN(e2e_ns),
	OWN(tpot_ns),
	OWN(itl_mean_ns),
	OWN(itl_max_ns),
	OWN(stalls),
	OWN(events),
	OWN(coalesced),
	OWN(asked_input_tokens),
	OWN(asked_output_tokens),
	OWN(server_queue_ns),
	OWN(server_prefill_ns),
	OWN(server_ttft_ns),
	OWN(server_decode_ns),
	OWN(server_total_ns),
#undef OWN
};

/* A time of the run since the epoch; IPF_ABSENT: unknown, or before 1970 or after 2262. */
static int64_t unix_time(const struct otlp_run *run, int64_t t_ns)
{
	int64_t sum_ns;
	if (t_ns == IPF_ABSENT || __builtin_add_overflow(run->t0_unix_ns, t_ns, &sum_ns) || sum_ns < 0)
		return IPF_ABSENT;
	return sum_ns;
}

static void put_time(struct buffer *out, uint32_t number, int64_t unix_ns)
{
	wire_tag(out, number, WIRE_I64);
	wire_fixed(out, (uint64_t)unix_ns, 8);
}

static void put_event(const struct otlp_run *run, const char *name, int64_t t_ns, struct buffer *out)
{
	int64_t unix_ns = unix_time(run, t_ns);
	if (unix_ns == IPF_ABSENT)
		return;
	size_t event = wire_open(out, SPAN_EVENTS);
	put_time(out, EVENT_TIME, unix_ns);
	wire_string(out, EVENT_NAME, slice_of(name));
	wire_close(out, event);
}

static void put_events(const struct otlp_run *run, const struct observation *seen, struct buffer *out)
{
	const struct response *r = seen->response;
	put_event(run, "ipf.first_byte", seen->record->first_byte_ns, out);
	if (r->whole || !r->events_count)
		return;
	put_event(run, "ipf.first_token", r->events[0].t_ns, out);
	put_event(run, "ipf.last_token", r->events[r->events_count - 1].t_ns, out);
}

static void put_identity(const struct otlp_run *run, const struct result *row, struct buffer *out)
{
	struct span_ids ids = span_ids(slice_of(run->id), row->n, row->session);
	wire_string(out, SPAN_TRACE, (struct slice){(const char *)ids.trace, sizeof ids.trace});
	wire_string(out, SPAN_ID, (struct slice){(const char *)ids.span, sizeof ids.span});
	size_t name = wire_open(out, SPAN_NAME);
	buffer_text(out, run->operation);
	if (row->model.data) {
		buffer_byte(out, ' ');
		otlp_json_text(row->model, out);
	}
	wire_close(out, name);
	wire_uint(out, SPAN_KIND, KIND_CLIENT);
}

/* From the start to the first data of the stream. */
static double time_to_first_chunk(const struct observation *seen)
{
	const struct record *record = seen->record;
	if (!seen->response->parsed || seen->response->whole || !record->reads_count || record->start_ns == IPF_ABSENT)
		return NAN;
	return (double)(record->reads[0].t_ns - record->start_ns) / 1e9;
}

static void put_server(const struct otlp_run *run, const struct result *row, struct buffer *out)
{
	size_t target = row->target == IPF_ABSENT ? 0 : (size_t)row->target;
	if (target >= run->targets_count || !run->targets[target].address)
		return;
	otlp_put_text(out, SPAN_ATTRIBUTES, "server.address", slice_of(run->targets[target].address));
	otlp_put_int(out, SPAN_ATTRIBUTES, "server.port", run->targets[target].port);
}

static void put_stage(const struct otlp_run *run, const struct result *row, struct buffer *out)
{
	char number[24];
	snprintf(number, sizeof number, "%lld", (long long)row->stage);
	bool named = row->stage >= 0 && (size_t)row->stage < run->schedule->count;
	otlp_put_text(out, SPAN_ATTRIBUTES, "ipf.stage", slice_of(named ? run->schedule->stages[row->stage].name : number));
}

static void put_attributes(const struct otlp_run *run, const struct observation *seen, struct buffer *out)
{
	const struct result *row = seen->row;
	otlp_put_text(out, SPAN_ATTRIBUTES, "gen_ai.operation.name", slice_of(run->operation));
	otlp_put_text(out, SPAN_ATTRIBUTES, "gen_ai.provider.name", slice_of(run->provider));
	otlp_put_json_text(out, SPAN_ATTRIBUTES, "gen_ai.request.model", row->model);
	otlp_put_json_text(out, SPAN_ATTRIBUTES, "gen_ai.conversation.id", row->session);
	if (seen->record->streamed)
		otlp_put_true(out, SPAN_ATTRIBUTES, "gen_ai.request.stream");
	put_server(run, row, out);
	otlp_put_int(out, SPAN_ATTRIBUTES, "http.response.status_code", seen->record->status);
	otlp_put_double(out, SPAN_ATTRIBUTES, "gen_ai.response.time_to_first_chunk", time_to_first_chunk(seen));
	/* the trace does not say how many tokens a failed request would have used */
	if (row->ok || seen->response->input_tokens != IPF_ABSENT)
		otlp_put_int(out, SPAN_ATTRIBUTES, "gen_ai.usage.input_tokens", row->input_tokens);
	otlp_put_json_list(out, SPAN_ATTRIBUTES, "gen_ai.response.finish_reasons", row->finish);
	otlp_put_json_text(out, SPAN_ATTRIBUTES, "gen_ai.response.id", row->response_id);
	put_stage(run, row, out);
	otlp_put_json_text(out, SPAN_ATTRIBUTES, "ipf.id", row->id);
	otlp_put_json_text(out, SPAN_ATTRIBUTES, "ipf.tokens_source", row->tokens_source);
	for (size_t i = 0; i < sizeof row_integers / sizeof *row_integers; i++) {
		int64_t value;
		memcpy(&value, (const char *)row + row_integers[i].offset, sizeof value);
		otlp_put_int(out, SPAN_ATTRIBUTES, row_integers[i].key, value);
	}
}

/* A request the client aborted on purpose is neither a success nor a failure. */
static void put_outcome(const struct observation *seen, struct buffer *out)
{
	const struct result *row = seen->row;
	char why[512];
	if (row->ok)
		otlp_put_text(out, SPAN_ATTRIBUTES, "ipf.outcome", slice_of("ok"));
	else
		otlp_put_json_text(out, SPAN_ATTRIBUTES, "ipf.outcome", row->error_kind);
	if (row->ok || result_uncounted(row))
		return;
	otlp_put_json_text(out, SPAN_ATTRIBUTES, "error.type", row->error_kind);
	size_t status = wire_open(out, SPAN_STATUS);
	if (seen->record->error != RECORD_OK && seen->record->error_text.len) {
		safe_text(why, sizeof why, seen->record->error_text);
		wire_string(out, STATUS_MESSAGE, slice_of(why));
	}
	wire_uint(out, STATUS_CODE, STATUS_ERROR);
	wire_close(out, status);
}

bool otlp_span_write(const struct otlp_run *run, const struct observation *seen, struct buffer *out)
{
	int64_t start_ns = unix_time(run, seen->row->start_ns), end_ns = unix_time(run, seen->row->end_ns);
	if (start_ns == IPF_ABSENT)
		return false;
	size_t span = wire_open(out, OTLP_SCOPE_SPAN);
	put_identity(run, seen->row, out);
	put_time(out, SPAN_START, start_ns);
	put_time(out, SPAN_END, end_ns == IPF_ABSENT || end_ns < start_ns ? start_ns : end_ns);
	put_attributes(run, seen, out);
	put_events(run, seen, out);
	put_outcome(seen, out);
	wire_close(out, span);
	return true;
}
