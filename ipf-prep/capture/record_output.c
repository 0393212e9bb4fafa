#include "capture/record_output.h"

#include "absent.h"
#include "array.h"
#include "clock.h"
#include "stream/observed.h"
#include "stream/provenance.h"

#include <stdlib.h>
#include <string.h>

enum { SERVERS_MOST = 4096 };

struct record_output {
	const struct capture_settings *settings;
	const struct known_apis *apis;
	int64_t t0_unix_ns;
	bool live;
	struct stream_writer *writer; /* NULL: the header has not been written */
	struct buffer held;           /* lines until then, each with its newline */
	int64_t first_held_ns;
	int *places; /* known APIs in the header, by their order there */
	int places_count, places_cap;
	struct packet_end *servers;
	size_t servers_count, servers_cap, last_server;
	int64_t late_servers; /* exchanges */
	struct record_parts parts;
	struct buffer line;
};

int record_output_open(struct record_output **out, const struct capture_settings *settings,
                       const struct known_apis *apis, int64_t t0_unix_ns, bool live, struct ipf_error *err)
{
	struct record_output *o = *out = calloc(1, sizeof *o);
	if (!o)
		return ipf_error_memory(err);
	o->settings = settings;
	o->apis = apis;
	o->t0_unix_ns = t0_unix_ns;
	o->live = live;
	o->first_held_ns = IPF_ABSENT;
	return 0;
}

/* The place of an API in the header; -1: out of memory. */
static int place_of_api(struct record_output *o, int api)
{
	for (int i = 0; i < o->places_count; i++)
		if (o->places[i] == api)
			return i;
	if (!array_room(o->places, o->places_cap, o->places_count + 1))
		return -1;
	o->places[o->places_count] = api;
	return o->places_count++;
}

/* ---- the header ---- */

static json_t *api_list(const struct record_output *o)
{
	json_t *list = json_array();
	for (int i = 0; i < o->places_count; i++)
		json_array_append(list, api_json(known_apis_api(o->apis, o->places[i])));
	return list;
}

static json_t *server_list(const struct record_output *o)
{
	json_t *list = json_array();
	for (size_t i = 0; i < o->servers_count; i++)
		json_array_append_new(list, json_string(packet_end_name(&o->servers[i]).text));
	return list;
}

static int set_members(struct record_output *o, json_t *header)
{
	char t0[32];
	clock_format(o->t0_unix_ns, t0);
	json_t *apis = api_list(o), *servers = server_list(o), *name = provenance_run_name(o->settings->records);
	int bad = json_object_set_new(header, "t0", json_string(t0));
	bad |= json_object_set_new(header, "t0_unix_ns", json_integer((json_int_t)o->t0_unix_ns));
	bad |= json_object_set_new(header, "clock", json_string("capture"));
	bad |= name ? json_object_set_new(header, "name", name) : 0;
	if (json_array_size(apis)) {
		bad |= json_object_set(header, "api", json_array_get(apis, 0));
		if (json_array_size(apis) > 1)
			bad |= json_object_set(header, "apis", apis);
	}
	if (json_array_size(servers))
		bad |= json_object_set(header, "targets", servers);
	bad |= json_object_set_new(header, "stages",
	                           json_pack("[{s:s, s:s, s:i, s:i, s:i}]", "name", "observed", "kind", "observed",
	                                     "begin_ns", 0, "arrivals", 0, "first_n", 0));
	bad |= json_object_set_new(header, OBSERVED_MEMBER, json_pack("{s:s}", "by", "capture"));
	json_decref(apis);
	json_decref(servers);
	return bad;
}

static int write_held(struct record_output *o, struct ipf_error *err)
{
	for (size_t at = 0; at < o->held.len;) {
		const char *line = o->held.data + at, *end = memchr(line, '\n', o->held.len - at);
		buffer_append(stream_writer_begin_line(o->writer), line, (size_t)(end - line));
		if (stream_writer_end_line(o->writer, err) < 0)
			return -1;
		at += (size_t)(end - line) + 1;
	}
	buffer_release(&o->held);
	return o->live ? stream_writer_flush(o->writer, err) : 0;
}

/* Other APIs than those seen may come after the header: it has all. */
static int place_others(struct record_output *o)
{
	for (int i = 0; i < known_apis_count(o->apis); i++)
		if (place_of_api(o, i) < 0)
			return -1;
	return 0;
}

static int begin(struct record_output *o, bool ended, struct ipf_error *err)
{
	if ((!ended || !o->places_count) && place_others(o) < 0)
		return ipf_error_memory(err);
	struct provenance p = {
		.tool = "ipf-prep", .argv = json_incref(o->settings->argv), .reproducible = o->settings->reproducible};
	json_t *header = stream_header("records", &p);
	if (!header || set_members(o, header)) {
		json_decref(header);
		return ipf_error_memory(err);
	}
	const int status = stream_writer_open(&o->writer, o->settings->records, header, err);
	json_decref(header);
	return status < 0 ? -1 : write_held(o, err);
}

/* ---- lines ---- */

static int64_t place_of_server(struct record_output *o, const struct packet_end *server)
{
	if (o->last_server < o->servers_count && memcmp(&o->servers[o->last_server], server, sizeof *server) == 0)
		return (int64_t)o->last_server;
	for (size_t i = 0; i < o->servers_count; i++)
		if (memcmp(&o->servers[i], server, sizeof *server) == 0) {
			o->last_server = i;
			return (int64_t)i;
		}
	if (o->writer || o->servers_count == SERVERS_MOST ||
	    !array_room(o->servers, o->servers_cap, o->servers_count + 1)) {
		o->late_servers++;
		return IPF_ABSENT;
	}
	o->servers[o->servers_count] = *server;
	return (int64_t)o->servers_count++;
}

static int put_line(struct record_output *o, int64_t t_ns, struct ipf_error *err)
{
	if (o->writer) {
		if (stream_writer_line(o->writer, &o->line, err) < 0)
			return -1;
		return o->live ? stream_writer_flush(o->writer, err) : 0;
	}
	buffer_slice(&o->held, buffer_all(&o->line));
	buffer_byte(&o->held, '\n');
	if (o->first_held_ns == IPF_ABSENT)
		o->first_held_ns = t_ns;
	if (o->held.failed || o->line.failed)
		return ipf_error_memory(err);
	return o->held.len > RECORD_OUTPUT_HELD ? begin(o, false, err) : 0;
}

int record_output_put(struct record_output *o, const struct captured *x, const struct request_facts *facts,
                      struct ipf_error *err)
{
	struct record record;
	const int place = facts->api < 0 ? 0 : place_of_api(o, facts->api);
	if (place < 0)
		return ipf_error_memory(err);
	const struct api *api = facts->api < 0 ? NULL : known_apis_api(o->apis, facts->api);
	if (captured_to_record(x, facts, api, o->t0_unix_ns, &o->parts, &record) < 0)
		return ipf_error_memory(err);
	record.target = place_of_server(o, &x->server);
	record.api = place > 0 ? place : IPF_ABSENT;
	record_write(&record, &o->line);
	return put_line(o, x->end_ns, err);
}

int record_output_tick(struct record_output *o, int64_t t_ns, struct ipf_error *err)
{
	if (!o->live || o->writer || o->first_held_ns == IPF_ABSENT || t_ns - o->first_held_ns < RECORD_OUTPUT_WAIT_NS)
		return 0;
	return begin(o, false, err);
}

/* ---- the end ---- */

static void release(struct record_output *o)
{
	record_parts_release(&o->parts);
	buffer_release(&o->line);
	buffer_release(&o->held);
	free(o->places);
	free(o->servers);
	free(o);
}

int record_output_close(struct record_output *o, json_t *observed, const struct capture_file_facts *file,
                        int64_t last_ns, struct ipf_error *err)
{
	if (!o->writer && begin(o, true, err) < 0) {
		json_decref(observed);
		record_output_abandon(o);
		return -1;
	}
	if (o->late_servers)
		json_object_set_new(observed, "late_servers", json_integer((json_int_t)o->late_servers));
	json_t *extra = json_pack("{s:o, s:[{s:i, s:I}]}", OBSERVED_MEMBER, observed, "stages", "begin_ns", 0, "end_ns",
	                          (json_int_t)(last_ns - o->t0_unix_ns));
	if (extra && file->cut)
		json_object_set_new(extra, "incomplete", json_sprintf("the capture ends early: %s", file->cut));
	const int status = extra ? stream_writer_close(o->writer, extra, err) : ipf_error_memory(err);
	release(o);
	return status;
}

void record_output_abandon(struct record_output *o)
{
	if (!o)
		return;
	stream_writer_abandon(o->writer);
	release(o);
}
