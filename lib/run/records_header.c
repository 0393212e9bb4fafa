#include "run/records_header.h"

#include "absent.h"
#include "clock.h"
#include "run/host.h"
#include "stream/provenance.h"

#include <stdlib.h>

static int set_times(json_t *header, const struct records_about *a)
{
	const struct run_options *o = a->run;
	char t0[32];
	clock_format(a->wall_ns, t0);
	int bad = json_object_set_new(header, "t0", json_string(t0));
	bad |= json_object_set_new(header, "t0_unix_ns", json_integer(a->wall_ns));
	bad |= json_object_set_new(header, "clock", json_string(a->clock));
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

static int set_requests(json_t *header, const struct records_about *a)
{
	const struct cancels *cancels = &a->run->cancels;
	int bad = json_object_set(header, "api", api_json(a->api));
	if (a->model)
		bad |= json_object_set_new(header, "model", json_string(a->model));
	if (cancels->count || cancels->no_recorded)
		bad |= json_object_set_new(header, "cancel", cancels->no_recorded ? json_pack("[s]", "none") : json_array());
	for (size_t i = 0; i < cancels->count; i++)
		bad |= json_array_append_new(json_object_get(header, "cancel"), json_string(cancels->list[i].text));
	bad |= json_object_set_new(header, "streamed", json_boolean(a->streamed));
	return bad | json_object_set_new(header, "history", json_string(history_names[a->run->history]));
}

/* Which part of the schedule this is. */
static int set_shard(json_t *header, struct arrival_reader *arrivals)
{
	json_t *shard = json_object_get(stream_reader_header(arrival_reader_stream(arrivals)), "shard");
	return json_is_object(shard) ? json_object_set(header, "shard", shard) : 0;
}

json_t *records_header(const struct records_about *a)
{
	struct provenance p = {
		.tool = a->tool,
		.argv = a->argv,
		.from = json_pack("[O, O]", stream_reader_header(arrival_reader_stream(a->arrivals)),
	                      arrival_reader_trace_header(a->arrivals)),
		.reproducible = a->common->reproducible,
	};
	json_t *header = stream_header("records", &p);
	if (!header)
		return NULL;
	/* with a warm-up, the stages are not those of the schedule's own header */
	int bad = a->warm ? schedule_to_header(arrival_reader_schedule(a->arrivals), header)
	                  : set_shard(header, a->arrivals);
	bad |= a->common->reproducible ? 0 : json_object_set_new(header, "host", host_json());
	json_t *name = a->run->name ? json_string(a->run->name) : provenance_run_name(a->common->output);
	bad |= name ? json_object_set_new(header, "name", name) : 0;
	bad |= set_requests(header, a);
	bad |= set_times(header, a);
	if (bad) {
		json_decref(header);
		return NULL;
	}
	return header;
}

static json_t *stages_json(const struct schedule *schedule, const struct run_result *result)
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

static json_t *incomplete_json(const struct run_result *result, int64_t started)
{
	const struct ipf_error *bad = &result->input;
	if (bad->kind)
		return json_sprintf("%s%s%s", bad->file, bad->file[0] ? ": " : "", bad->text);
	if (result->memory_full)
		return json_string("stopped: records could not be written as fast as requests ended");
	if (result->stopped)
		return json_string(result->stopped);
	return result->signals ? json_sprintf("interrupted: %lld requests were started", (long long)started) : NULL;
}

json_t *records_trailer(struct arrival_reader *arrivals, const struct run_result *result, int64_t started)
{
	json_t *end = json_object(), *why = incomplete_json(result, started);
	json_object_set_new(end, "from", arrival_reader_from(arrivals));
	json_object_set_new(end, "stages", stages_json(arrival_reader_schedule(arrivals), result));
	if (result->cut_sessions > 0)
		json_object_set_new(end, "cut_sessions", json_integer(result->cut_sessions));
	if (why)
		json_object_set_new(end, "incomplete", why);
	if (result->signals)
		json_object_set_new(end, "interrupted", json_true());
	return end;
}
