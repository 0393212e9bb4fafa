/* capture: packets of production traffic, as tcpdump writes them.
 *
 * Origin: pcap and pcapng files (capture/packet_file.h). A request of an API of a model server is a request of the
 * trace, and with --records also a line of records, with the times at which its packets were captured.
 *
 *     arrival            when the first byte of the request came
 *     bodies             logged_exchange.h says what is read
 *     session            a header: --session-header, or one of session_headers; else, by growing messages
 *     hang-up            the client closed the connection before the end of the answer
 *
 * Requests whose own bytes are not all in the capture are not in the trace; whose answer is not whole, are. Everything
 * else that the capture has is counted by what it is.
 */
#include "absent.h"
#include "capture/capture.h"
#include "capture/packet_file.h"
#include "capture/prefix_sessions.h"
#include "capture/record_output.h"
#include "capture/traffic_counts.h"
#include "header_field.h"
#include "json/jout.h"
#include "memory_limit.h"
#include "redact.h"
#include "safe_text.h"
#include "sources/logged_exchange.h"
#include "api/response.h"
#include "stream/observed.h"
#include "stream/own_parts.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define BODIES_MOST  ((size_t)192 << 20) /* all exchanges in progress together */
#define SORTING_MOST ((size_t)128 << 20) /* by default: a machine with a capture often has other work */
#define PORTS_MOST   64

/* In the order in which they are tried. */
static const char *const session_headers[] = {"x-session-id", "x-session", "session-id", "session_id",
                                              "x-conversation-id"};

struct capture_state {
	const struct capture_settings *settings;
	struct capture *capture;
	struct tls_keys *keys; /* NULL: none were given */
	struct known_apis *apis;
	struct record_output *output; /* NULL: none, or no packet came yet */
	struct sink *sink;
	struct jdoc body; /* the request at hand */
	struct response response;
	struct record_parts parts;
	struct traffic_counts others; /* requests that are none of a known API, by method and path */
	struct prefix_sessions sessions;
	struct time_origin origin;
	int64_t requests;
	int64_t t0_unix_ns; /* the first packet's time; IPF_ABSENT: none came yet */
	char link[32];
	int64_t snaplen, dropped;
	json_t *files;
	uint16_t ports[PORTS_MOST];
};

/* ---- a request ---- */

static bool parse_body(struct capture_state *s, struct slice body)
{
	struct ipf_error ignored = {0};
	const bool parsed = body.len && jdoc_parse(&s->body, body.data, body.len, &ignored) == 0;
	ipf_error_clear(&ignored);
	return parsed && jdoc_type_of(&s->body, JDOC_ROOT) == JDOC_MAP;
}

/* A value that may be shown and stored: no URL or credential, no characters that a terminal would obey. */
static bool is_harmless(struct slice value)
{
	return value.len && safe_text_is_safe(value) && !memmem(value.data, value.len, "://", 3) &&
	       !redact_value_is_credential(value);
}

static struct slice session_of(const struct capture_state *s, const struct captured *x)
{
	struct slice value = {0};
	if (s->settings->session_header) {
		value = captured_header_value(&x->request, s->settings->session_header);
		return is_harmless(value) ? value : (struct slice){0};
	}
	for (size_t i = 0; i < sizeof session_headers / sizeof *session_headers && !value.len; i++)
		value = captured_header_value(&x->request, session_headers[i]);
	return is_harmless(value) ? value : (struct slice){0};
}

/* Was a stream requested? By the path, by the body, and where the body does not say, by the answer. */
static bool is_streamed(const struct capture_state *s, const struct captured *x, int api, bool has_body)
{
	static const char *const types[] = {"text/event-stream", "application/x-ndjson",
	                                    "application/vnd.amazon.eventstream"};
	const jdoc_id stream = has_body ? jdoc_get(&s->body, JDOC_ROOT, "stream") : JDOC_NONE;
	const struct slice type = captured_header_value(&x->answer, "content-type");
	if (known_apis_path_streams(s->apis, api, buffer_all(&x->target)))
		return true;
	if (jdoc_type_of(&s->body, stream) == JDOC_BOOL && has_body)
		return slice_is(jdoc_raw(&s->body, stream), "true");
	for (size_t i = 0; i < sizeof types / sizeof *types; i++)
		if (type.len >= strlen(types[i]) && memcmp(type.data, types[i], strlen(types[i])) == 0)
			return true;
	return false;
}

static struct request_facts facts_of(const struct capture_state *s, const struct captured *x, bool has_body)
{
	struct request_facts facts = {.api = -1, .session = session_of(s, x)};
	facts.api = known_apis_find(s->apis, buffer_all(&x->target), has_body ? &s->body : NULL);
	if (facts.api >= 0 && x->method.len &&
	    !slice_is(buffer_all(&x->method), api_method(known_apis_api(s->apis, facts.api))))
		facts.api = -1;
	if (facts.api < 0)
		return facts;
	const jdoc_id model = has_body ? jdoc_get(&s->body, JDOC_ROOT, "model") : JDOC_NONE;
	if (has_body && jdoc_type_of(&s->body, model) == JDOC_TEXT)
		facts.model = jdoc_raw(&s->body, model);
	facts.streamed = is_streamed(s, x, facts.api, has_body);
	return facts;
}

/* The headers to send again, as JSON; absent: none. */
static struct slice kept_headers(const struct capture_state *s, const struct captured *x)
{
	const struct string_list *names = &s->settings->keep_headers;
	struct buffer text = {0};
	struct jout w = {.out = &text};
	bool any = false;
	jout_begin_map(&w);
	for (size_t i = 0; i < names->count; i++) {
		const struct slice value = captured_header_value(&x->request, names->items[i]);
		if (!value.data || !header_value_is_valid(value.data))
			continue;
		jout_key(&w, names->items[i]);
		jout_string(&w, value);
		any = true;
	}
	jout_end_map(&w);
	if (any)
		return draft_take_buffer(&s->sink->draft, &text);
	buffer_release(&text);
	return (struct slice){0};
}

/* The latencies that the user saw, defined as in the results: from the start to content. -1: out of memory. */
static int recorded_of(struct capture_state *s, const struct captured *x, const struct request_facts *facts,
                       struct recorded_times *recorded, bool *whole, struct ipf_error *err)
{
	const struct response_options options = {0};
	const struct api *api = known_apis_api(s->apis, facts->api);
	struct record record;
	*recorded = RECORDED_TIMES_NONE;
	*whole = false;
	if (x->damage != DAMAGE_NONE || x->status < 200 || x->status > 299)
		return 0;
	if (captured_to_record(x, facts, api, x->start_ns, &s->parts, &record) < 0 ||
	    response_parse(&s->response, &record, api, &options, err) < 0)
		return ipf_error_memory(err);
	const struct response *r = &s->response;
	*whole = r->events_count && r->ended && !r->failed && !r->malformed;
	if (!*whole)
		return 0;
	recorded->e2e_ns = r->events[r->events_count - 1].t_ns;
	recorded->streamed = !r->whole;
	if (!r->whole)
		recorded->ttft_ns = r->events[0].t_ns;
	return 0;
}

/* By the header, else by the messages: whether others follow is only known at the end. */
static struct slice session_in_trace(struct capture_state *s, const struct captured *x,
                                     const struct request_facts *facts, bool has_body)
{
	struct draft *d = &s->sink->draft;
	const int64_t first = facts->session.data || !has_body ? IPF_ABSENT
	                                                       : prefix_sessions_of(&s->sessions, &s->body, x->number);
	if (first == IPF_ABSENT)
		return facts->session;
	d->may_be_alone = true;
	return draft_format(d, "c%lld", (long long)first);
}

/* Gives the request to the trace. */
static int take_request(struct capture_state *s, const struct captured *x, const struct request_facts *facts,
                        bool has_body, struct ipf_error *err)
{
	struct draft *d = &s->sink->draft;
	draft_reset(d);
	d->number = x->number + 1;
	struct recorded_times recorded;
	bool whole;
	if (!x->asked || s->settings->records_only || s->sink->full)
		return 0;
	if (recorded_of(s, x, facts, &recorded, &whole, err) < 0)
		return -1;
	const struct slice session = session_in_trace(s, x, facts, has_body);
	const bool failed = x->damage == DAMAGE_NONE && !whole &&
	                    ((x->status != IPF_ABSENT && x->status > 399) || (x->error && x->error != RECORD_HUNG_UP));
	const struct logged_exchange logged = {
		.request_name = "body",
		.response_name = "answer",
		.request_text = buffer_all(&x->request.body),
		.response_text = x->damage || x->answer.undecoded ? (struct slice){0} : buffer_all(&x->answer.body),
		.session = session,
		.id = draft_format(d, "c%lld", (long long)x->number),
		.start_ns = x->start_ns,
		.hang_up_ns = x->error == RECORD_HUNG_UP && !whole ? x->end_ns - x->start_ns : 0,
		.failed = failed,
		.headers = kept_headers(s, x),
		.recorded = &recorded,
		.response_cut = x->damage != DAMAGE_NONE,
	};
	return logged_exchange_take(&logged, &s->origin, s->sink, err);
}

static int take(struct capture_state *s, const struct captured *x, struct ipf_error *err)
{
	const bool has_body = parse_body(s, buffer_all(&x->request.body));
	const struct request_facts facts = facts_of(s, x, has_body);
	if (facts.api < 0 && x->target.len) {
		traffic_counts_add(&s->others, buffer_all(&x->method), buffer_all(&x->target));
		return s->others.failed ? ipf_error_memory(err) : 0;
	}
	s->requests++;
	if (s->output && record_output_put(s->output, x, &facts, err) < 0)
		return -1;
	return facts.api < 0 ? 0 : take_request(s, x, &facts, has_body, err);
}

static int on_ended(void *data, struct captured *x, struct ipf_error *err)
{
	struct capture_state *s = data;
	const int status = take(s, x, err);
	captured_free(x, capture_memory(s->capture));
	return status;
}

/* ---- the format ---- */

static int read_ports(struct capture_state *s, struct ipf_error *err)
{
	const struct string_list *list = &s->settings->ports;
	if (list->count > PORTS_MOST)
		return ipf_error_set(err, IPF_USAGE, "--port: expected at most %d, got %zu", PORTS_MOST, list->count);
	for (size_t i = 0; i < list->count; i++) {
		char *end;
		const unsigned long port = strtoul(list->items[i], &end, 10);
		if (!isdigit((unsigned char)*list->items[i]) || *end || port < 1 || port > 65535)
			return ipf_error_set(err, IPF_USAGE, "--port: expected a number from 1 to 65535, got \"%.100s\"",
			                     list->items[i]);
		s->ports[i] = (uint16_t)port;
	}
	return 0;
}

/* Headers that a trace may have. */
static int check_headers(const struct capture_settings *settings, struct ipf_error *err)
{
	const char *session = settings->session_header;
	if (session && redact_header_may_be_credential(session, strlen(session)))
		return ipf_error_set(err, IPF_USAGE, "--session-header: %s is a credential, which no stream has", session);
	if (session && !header_name_is_valid(session, strlen(session)))
		return ipf_error_set(err, IPF_USAGE, "--session-header: expected the name of a header, got \"%.100s\"",
		                     session);
	const struct string_list *names = &settings->keep_headers;
	for (size_t i = 0; i < names->count; i++) {
		const char *name = names->items[i];
		if (redact_header_may_be_credential(name, strlen(name)))
			return ipf_error_set(err, IPF_USAGE, "--keep-header: %s is a credential, which no trace has", name);
		if (!header_name_is_valid(name, strlen(name)) || own_header_is_of_transport(name))
			return ipf_error_set(err, IPF_USAGE, "--keep-header: a request of a trace cannot set \"%.100s\"", name);
	}
	return 0;
}

static int open_state(void *opened, const struct source_settings *settings, struct ipf_error *err)
{
	struct capture_state *s = opened;
	s->settings = settings->capture;
	s->snaplen = s->dropped = s->t0_unix_ns = IPF_ABSENT;
	memory_limit_default_at_most(SORTING_MOST);
	if (read_ports(s, err) < 0 || check_headers(s->settings, err) < 0 ||
	    known_apis_open(&s->apis, &s->settings->apis, err) < 0)
		return -1;
	if (s->settings->keylog && tls_keys_open(&s->keys, s->settings->keylog, err) < 0)
		return -1;
	const struct capture_options options = {.ended = on_ended,
	                                        .data = s,
	                                        .keys = s->keys,
	                                        .memory = BODIES_MOST,
	                                        .ports = s->ports,
	                                        .ports_count = s->settings->ports.count};
	s->capture = capture_new(&options);
	s->files = json_array();
	return s->capture && s->files ? 0 : ipf_error_memory(err);
}

/* The first packet of a file. */
static int begin_packets(struct capture_state *s, const struct source_record *record, struct ipf_error *err)
{
	const char *slash = strrchr(record->file, '/');
	snprintf(s->link, sizeof s->link, "%s", packet_file_link_name(record->packets));
	s->snaplen = packet_file_snaplen(record->packets);
	json_array_append_new(s->files, json_string(slash ? slash + 1 : record->file));
	if (s->t0_unix_ns == IPF_ABSENT)
		s->t0_unix_ns = record->packet->t_ns;
	if (s->output || !s->settings->records)
		return 0;
	return record_output_open(&s->output, s->settings, s->apis, record->packet->t_ns, record->live, err);
}

static int read_packet(void *opened, const struct source_record *record, struct sink *sink, struct ipf_error *err)
{
	struct capture_state *s = opened;
	s->sink = sink;
	if (record->line == 1 && begin_packets(s, record, err) < 0)
		return -1;
	if (!record->packet) {
		const int64_t dropped = packet_file_dropped(record->packets);
		if (dropped != IPF_ABSENT)
			s->dropped = dropped + (s->dropped == IPF_ABSENT ? 0 : s->dropped);
		return 0;
	}
	if (capture_packet(s->capture, packet_file_link(record->packets), record->packet, err) < 0)
		return -1;
	return s->output ? record_output_tick(s->output, record->packet->t_ns, err) : 0;
}

/* Everything the capture had and lacked. New; NULL: out of memory. */
static json_t *observed_json(const struct capture_state *s)
{
	const struct capture_counts *n = capture_counts(s->capture);
	const struct tcp_counts *t = capture_tcp_counts(s->capture);
	json_t *all = json_pack("{s:O, s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "files", s->files,
	                        "link", s->link, "packets", (json_int_t)n->packets, "bytes", (json_int_t)n->bytes,
	                        "cut_packets", (json_int_t)n->truncated, "other_packets", (json_int_t)n->other_packets,
	                        "broken_packets", (json_int_t)n->broken_packets, "backwards", (json_int_t)n->backwards,
	                        "backwards_ns", (json_int_t)n->backwards_ns, "lost_gaps", (json_int_t)t->lost_gaps,
	                        "lost_bytes", (json_int_t)t->lost_bytes, "exchanges", (json_int_t)n->exchanges, "requests",
	                        (json_int_t)s->requests);
	json_t *connections = json_object(), *damaged = json_object();
	if (!all || !connections || !damaged)
		return json_decref(all), json_decref(connections), json_decref(damaged), NULL;
	for (int i = 0; i < CAPTURE_PROTOCOLS; i++)
		if (n->connections[i])
			json_object_set_new(connections, capture_protocol_names[i], json_integer((json_int_t)n->connections[i]));
	for (int i = DAMAGE_NONE + 1; i < CAPTURE_DAMAGES; i++)
		if (n->damaged[i])
			json_object_set_new(damaged, capture_damage_names[i], json_integer((json_int_t)n->damaged[i]));
	json_object_set_new(all, "connections", connections);
	json_object_set_new(all, "damaged", damaged);
	if (s->snaplen != IPF_ABSENT)
		json_object_set_new(all, "snaplen", json_integer((json_int_t)s->snaplen));
	if (s->dropped != IPF_ABSENT)
		json_object_set_new(all, "dropped", json_integer((json_int_t)s->dropped));
	if (t->evicted)
		json_object_set_new(all, "evicted_connections", json_integer((json_int_t)t->evicted));
	if (capture_lost_fragments(s->capture))
		json_object_set_new(all, "lost_fragments", json_integer((json_int_t)capture_lost_fragments(s->capture)));
	json_object_set_new(all, "other_requests", traffic_counts_json(&s->others));
	return all;
}

/* Says what was seen, for people. */
static void say(const struct capture_state *s)
{
	const struct capture_counts *n = capture_counts(s->capture);
	int64_t damaged = 0;
	for (int i = DAMAGE_NONE + 1; i < CAPTURE_DAMAGES; i++)
		damaged += n->damaged[i];
	if (s->settings->quiet)
		return;
	fprintf(stderr, "ipf-prep: %lld requests in %lld packets", (long long)s->requests, (long long)n->packets);
	if (damaged)
		fprintf(stderr, "; %lld are damaged, as bytes of theirs are not in the capture", (long long)damaged);
	if (s->others.all)
		fprintf(stderr, "; %lld other requests", (long long)s->others.all);
	for (int i = CAPTURE_HTTP2_BEFORE; i < CAPTURE_PROTOCOLS; i++)
		if (n->connections[i])
			fprintf(stderr, "; %lld connections of %s", (long long)n->connections[i], capture_protocol_names[i]);
	fputc('\n', stderr);
}

static int finish(void *opened, struct sink *sink, struct ipf_error *err)
{
	struct capture_state *s = opened;
	s->sink = sink;
	if (capture_end(s->capture, err) < 0)
		return -1;
	say(s);
	if (!s->output)
		return 0;
	const struct capture_file_facts facts = {.cut = sink->cut};
	const int64_t last_ns = capture_counts(s->capture)->last_ns;
	struct record_output *output = s->output;
	s->output = NULL;
	json_t *observed = observed_json(s);
	if (!observed) {
		record_output_abandon(output);
		return ipf_error_memory(err);
	}
	return record_output_close(output, observed, &facts, last_ns, err);
}

/* The capture, by the t0 of its records: a comparison then knows whose trace a run replayed. */
static void describe(const void *opened, json_t *header)
{
	const struct capture_state *s = opened;
	if (s->t0_unix_ns != IPF_ABSENT)
		json_object_set_new(header, OBSERVED_MEMBER, json_pack("{s:I}", "t0_unix_ns", (json_int_t)s->t0_unix_ns));
}

static bool recognises(const struct sniff *sniff)
{
	static const char *const magic[] = {"\xa1\xb2\xc3\xd4", "\xd4\xc3\xb2\xa1", "\xa1\xb2\x3c\x4d", "\x4d\x3c\xb2\xa1",
	                                    "\x0a\x0d\x0d\x0a"};
	for (size_t i = 0; i < sizeof magic / sizeof *magic; i++)
		if (sniff->head.len >= 4 && memcmp(sniff->head.data, magic[i], 4) == 0)
			return true;
	return false;
}

static void close_state(void *opened)
{
	struct capture_state *s = opened;
	record_output_abandon(s->output);
	struct ipf_error ignored = {0};
	capture_free(s->capture);
	tls_keys_close(s->keys, &ignored);
	known_apis_close(s->apis);
	jdoc_release(&s->body);
	traffic_counts_release(&s->others);
	prefix_sessions_release(&s->sessions);
	response_release(&s->response);
	record_parts_release(&s->parts);
	json_decref(s->files);
}

const struct source_format source_capture = {
	.name = "capture",
	.about = "packets of production traffic (pcap, pcapng): arrivals, bodies, sessions, hang-ups; --records: all times",
	.kind = SOURCE_TRACE,
	.unit = UNIT_PACKET,
	.traits = HAS_TIMES | HAS_SESSIONS | GATHERS | HAS_PACKETS,
	.state_size = sizeof(struct capture_state),
	.open = open_state,
	.read_record = read_packet,
	.finish = finish,
	.describe = describe,
	.recognises = recognises,
	.close = close_state,
};
