#include "run/records_header.h"

#include "absent.h"
#include "clock.h"
#include "run/calibration.h"
#include "run/system_clock.h"
#include "stream/provenance.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

static json_t *limits_json(void)
{
	struct rlimit files;
	if (getrlimit(RLIMIT_NOFILE, &files) < 0 || files.rlim_cur == RLIM_INFINITY)
		return json_object();
	return json_pack("{s:I}", "files", (json_int_t)files.rlim_cur);
}

static int set_times(json_t *header, const struct records_header_options *h)
{
	const struct fire_options *o = h->options;
	char t0[32];
	clock_format(h->wall_ns, t0);
	int bad = json_object_set_new(header, "t0", json_string(t0));
	bad |= json_object_set_new(header, "t0_unix_ns", json_integer(h->wall_ns));
	bad |= json_object_set_new(header, "clock", json_string(h->clock));
	if (o->timeout_ns)
		bad |= json_object_set_new(header, "timeout_ns", json_integer(o->timeout_ns));
	if (o->first_token_timeout_ns)
		bad |= json_object_set_new(header, "first_token_timeout_ns", json_integer(o->first_token_timeout_ns));
	bad |= json_object_set_new(header, "max_answer_bytes", json_integer(o->max_answer));
	return bad | json_object_set_new(header, "grace_ns", json_integer(o->grace_ns));
}

int records_header_targets(json_t *header, const char *const *names, size_t count, enum balance_kind balance)
{
	struct buffer all = {0};
	json_t *list = json_array();
	int bad = 0;
	for (size_t i = 0; i < count; i++) {
		buffer_text(&all, i ? ", " : "");
		buffer_text(&all, names[i]);
		bad |= json_array_append_new(list, json_string(names[i]));
	}
	bad |= all.failed || json_object_set_new(header, "target", json_stringn(all.data ? all.data : "", all.len));
	if (count > 1) {
		bad |= json_object_set(header, "targets", list);
		bad |= json_object_set_new(header, "balance", json_string(balance_names[balance]));
	}
	json_decref(list);
	buffer_release(&all);
	return bad ? -1 : 0;
}

static int set_endpoint(json_t *header, const struct records_network *n)
{
	const char **names = calloc(n->endpoint->count, sizeof *names);
	for (size_t i = 0; names && i < n->endpoint->count; i++)
		names[i] = n->endpoint->targets[i].shown;
	int bad = names ? records_header_targets(header, names, n->endpoint->count, n->options->balance) : -1;
	free(names);
	return bad;
}

/* The network path, if it is not the default. */
static int set_network_path(json_t *header, const struct network_path *path)
{
	int bad = 0;
	if (path->o.unix_socket)
		bad |= json_object_set_new(header, "unix_socket", json_string(path->o.unix_socket));
	if (path->o.proxy)
		bad |= json_object_set_new(header, "proxy", json_string(path->proxy_shown));
	if (path->o.bind)
		bad |= json_object_set_new(header, "bind", json_string(path->o.bind));
	if (path->o.dns_each)
		bad |= json_object_set_new(header, "dns", json_string("each"));
	return bad;
}

static int set_requests(json_t *header, const struct records_header_options *h)
{
	const struct fire_options *o = h->options;
	int bad = json_object_set(header, "api", api_json(h->api));
	if (h->model)
		bad |= json_object_set_new(header, "model", json_string(h->model));
	if (o->cancels.count || o->cancels.no_recorded)
		bad |= json_object_set_new(header, "cancel", o->cancels.no_recorded ? json_pack("[s]", "none") : json_array());
	for (size_t i = 0; i < o->cancels.count; i++)
		bad |= json_array_append_new(json_object_get(header, "cancel"), json_string(o->cancels.list[i].text));
	if (o->retry.most)
		bad |= json_object_set_new(header, "retry", retry_rule_json(&o->retry));
	bad |= json_object_set_new(header, "streamed", json_boolean(h->streamed));
	return bad | json_object_set_new(header, "history", json_string(history_names[o->history]));
}

/* What is sent, and on which connections. */
static int set_sending(json_t *header, const struct records_network *n)
{
	const struct fire_options *o = n->options;
	int bad = 0;
	if (*n->run_id)
		bad |= json_object_set_new(header, "run_id", json_string(n->run_id));
	if (json_object_size(n->params))
		bad |= json_object_set(header, "params", n->params);
	bad |= json_object_set_new(header, "exact_output", json_boolean(o->exact_output));
	bad |= json_object_set_new(header, "connections", json_string(o->connections.text));
	if (o->connections.policy.open_ahead)
		bad |= json_object_set_new(header, "open_ahead", json_true());
	if (o->connect_timeout_ns)
		bad |= json_object_set_new(header, "connect_timeout_ns", json_integer(o->connect_timeout_ns));
	bad |= json_object_set_new(header, "limits", limits_json());
	return bad | json_object_set_new(header, "http", json_string(http_version_names[o->connections.policy.http]));
}

int records_header_network(json_t *header, const struct records_network *n)
{
	return set_endpoint(header, n) | set_network_path(header, n->path) | set_sending(header, n) ? -1 : 0;
}

/* Which part of the schedule this is. */
static int set_shard(json_t *header, struct arrival_reader *arrivals)
{
	json_t *shard = json_object_get(stream_reader_header(arrival_reader_stream(arrivals)), "shard");
	return json_is_object(shard) ? json_object_set(header, "shard", shard) : 0;
}

json_t *records_header(const struct records_header_options *h)
{
	const struct fire_options *o = h->options;
	struct provenance p = {
		.tool = "ipf-fire",
		.argv = h->argv,
		.from = json_pack("[O, O]", stream_reader_header(arrival_reader_stream(h->arrivals)),
	                      arrival_reader_trace_header(h->arrivals)),
		.reproducible = o->common.reproducible,
	};
	json_t *header = stream_header("records", &p);
	if (!header)
		return NULL;
	/* with a warm-up, the stages are not those of the schedule's own header */
	int bad = o->warm ? schedule_to_header(arrival_reader_schedule(h->arrivals), header)
	                  : set_shard(header, h->arrivals);
	bad |= o->common.reproducible ? 0 : json_object_set_new(header, "host", host_json());
	json_t *name = o->name ? json_string(o->name) : provenance_run_name(o->common.output);
	bad |= name ? json_object_set_new(header, "name", name) : 0;
	bad |= set_requests(header, h);
	bad |= set_times(header, h);
	if (h->continuation && h->continuation->on)
		bad |= json_object_set_new(header, "continues", continuation_json(h->continuation, h->wall_ns));
	if (bad) {
		json_decref(header);
		return NULL;
	}
	return header;
}

static json_t *stages_json(const struct schedule *schedule, const struct engine_result *result)
{
	json_t *stages = json_array();
	if (!result->stage_begin_ns || !result->stage_end_ns)
		return stages;
	for (size_t i = 0; i < schedule->count; i++) {
		json_t *stage = json_object();
		if (result->stage_begin_ns[i] != IPF_ABSENT)
			json_object_set_new(stage, "begin_ns", json_integer(result->stage_begin_ns[i]));
		if (result->stage_end_ns[i] != IPF_ABSENT)
			json_object_set_new(stage, "end_ns", json_integer(result->stage_end_ns[i]));
		json_array_append_new(stages, stage);
	}
	return stages;
}

static json_t *history_json(const struct history *history)
{
	struct history_counts c = history_counts(history);
	const struct live_answer_counts *calls = &c.calls;
	json_t *all = json_pack("{s:I, s:I, s:I, s:I}", "live", (json_int_t)c.live, "recorded", (json_int_t)c.recorded,
	                        "left_out", (json_int_t)c.left_out, "server", (json_int_t)c.server);
	if (calls->calls || calls->calls_left_out || calls->results_left_out)
		json_object_set_new(all, "tools",
		                    json_pack("{s:I, s:I, s:I}", "calls", (json_int_t)calls->calls, "calls_left_out",
		                              (json_int_t)calls->calls_left_out, "results_left_out",
		                              (json_int_t)calls->results_left_out));
	return all;
}

json_t *records_trailer(struct arrival_reader *arrivals, const struct engine_result *result,
                        const struct run_counters *counters, const struct history *history, const struct ipf_error *bad,
                        json_t *client)
{
	json_t *end = json_object(), *why = NULL;
	json_object_set_new(end, "from", arrival_reader_from(arrivals));
	json_object_set_new(end, "stages", stages_json(arrival_reader_schedule(arrivals), result));
	if (client) {
		json_t *system = system_clock_json();
		if (system)
			json_object_set_new(client, "system_clock", system);
		json_object_set_new(end, "client", client);
	}
	if (history) {
		json_object_set_new(end, "history", history_json(history));
	}
	if (result->cut_sessions > 0)
		json_object_set_new(end, "cut_sessions", json_integer(result->cut_sessions));
	if (bad->kind)
		why = json_sprintf("%s%s%s", bad->file, bad->file[0] ? ": " : "", bad->text);
	else if (result->memory_full)
		why = json_string("stopped: records could not be written as fast as requests ended");
	else if (result->stopped)
		why = json_string(result->stopped);
	else if (result->signals)
		why = json_sprintf("interrupted: %lld requests were started", (long long)counters_sum(counters, started));
	if (why)
		json_object_set_new(end, "incomplete", why);
	if (result->signals)
		json_object_set_new(end, "interrupted", json_true());
	return end;
}

void records_trailer_tokens(json_t *end, struct session_tokens *tokens)
{
	struct session_tokens_counts c = session_tokens_counts(tokens);
	json_object_set_new(end, "session_tokens",
	                    json_pack("{s:I, s:I, s:I}", "sessions", (json_int_t)c.sessions, "given", (json_int_t)c.given,
	                              "returned", (json_int_t)c.returned));
}
