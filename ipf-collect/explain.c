#include "explain.h"

#include "absent.h"
#include "api/end_mark.h"
#include "api/error_message.h"
#include "api/grpc_response.h"
#include "array.h"
#include "cli/text_output.h"
#include "collect_sandbox.h"
#include "cli/units.h"
#include "record_inputs.h"
#include "safe_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EVENTS_SHOWN 24
#define PATHS_MOST   100
#define EXAMPLE      44 /* characters shown of a value */

/* The roles of a pointer; used as bit numbers. */
enum pointer_role {
	TEXT,
	REASONING,
	TOOLS,
	DATA,
	FINISH,
	ERROR,
	END,
	INPUT_TOKENS,
	OUTPUT_TOKENS,
	REASONING_TOKENS,
	CACHED_TOKENS,
	TOKEN_IDS,
	DETAILS,
	SERVER = DETAILS + API_DETAILS,
	ROLES
};
static const char *const role_names[ROLES] = {
	"text",
	"reasoning",
	"tools",
	"data",
	"finish",
	"error",
	"end",
	"usage.input_tokens",
	"usage.output_tokens",
	"usage.reasoning_tokens",
	"usage.cached_tokens",
	"token_ids",
	"usage.cached_tokens_device",
	"usage.cached_tokens_host",
	"usage.cached_tokens_disk",
	"usage.cached_tokens_remote",
	"usage.cache_write_tokens",
	"usage.image_tokens",
	"usage.audio_tokens",
	"usage.output_audio_tokens",
	"usage.spec_drafts",
	"usage.spec_draft_tokens",
	"usage.spec_accepted_tokens",
	"server",
};

/* A path in the events at which values were found. */
struct event_path {
	char *name;
	char example[EXAMPLE * 4 + 8];
	int64_t times;
	unsigned roles;
};

struct explain {
	FILE *to;
	struct api *api;
	struct response response;
	struct measure measure;
	struct token_counter *tokens;
	struct jdoc doc;
	unsigned *roles; /* for each node of the current event */
	size_t roles_cap;
	unsigned role; /* set by mark() */
	struct event_path paths[PATHS_MOST];
	size_t paths_count;
	struct buffer path, value, message;
	unsigned seen;     /* all roles found so far */
	const char *where; /* which responses are shown; NULL: all */
	int64_t shown;
};

/* ---- roles of nodes ---- */

static bool mark(const struct jdoc *doc, jdoc_id node, void *data)
{
	struct explain *x = data;
	if (!jdoc_is_null(doc, node))
		x->roles[node] |= 1u << x->role;
	return true;
}

static void mark_all(struct explain *x, const struct api_pointers *from, enum pointer_role role)
{
	x->role = role;
	for (size_t i = 0; i < from->count; i++)
		api_pointer_each(from->list[i], &x->doc, JDOC_ROOT, mark, x);
	if (from->sum)
		mark_all(x, from->sum, role);
}

static int mark_roles(struct explain *x, const struct api_response *r, struct ipf_error *err)
{
	const struct api_pointers *const all[] = {
		&r->text,          &r->reasoning, &r->tools,        &r->data,          &r->finish,
		&r->error,         &r->end_when,  &r->input_tokens, &r->output_tokens, &r->reasoning_tokens,
		&r->cached_tokens, &r->token_ids};
	if (!array_room(x->roles, x->roles_cap, x->doc.count))
		return ipf_error_memory(err);
	memset(x->roles, 0, x->doc.count * sizeof *x->roles);
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		mark_all(x, all[i], (enum pointer_role)i);
	for (size_t i = 0; i < API_DETAILS; i++)
		mark_all(x, &r->details[i], (enum pointer_role)(DETAILS + i));
	for (size_t i = 0; i < API_SERVER_TIMES; i++) {
		mark_all(x, &r->times[i].at, SERVER);
		mark_all(x, &r->times[i].from, SERVER);
	}
	jdoc_id error = error_message_member(&x->doc, JDOC_ROOT);
	if (error != JDOC_NONE && error != JDOC_ROOT)
		x->roles[error] |= 1u << ERROR;
	return 0;
}

/* ---- values ---- */

static void note(struct explain *x, jdoc_id node, unsigned roles)
{
	size_t i = 0;
	while (i < x->paths_count && strcmp(x->paths[i].name, x->path.data) != 0)
		i++;
	if (i == PATHS_MOST)
		return;
	struct event_path *p = &x->paths[i];
	if (i == x->paths_count) {
		*p = (struct event_path){.name = strdup(x->path.data)};
		if (!p->name)
			return;
		x->paths_count++;
		buffer_clear(&x->value);
		error_message_plain(jdoc_raw(&x->doc, node), EXAMPLE, &x->value);
		bool cut = jdoc_raw(&x->doc, node).len > x->value.len + 4;
		snprintf(p->example, sizeof p->example, "%s%s", x->value.data ? x->value.data : "", cut ? "…" : "");
	}
	p->times++;
	p->roles |= roles;
	x->seen |= roles;
}

static void append_key(struct explain *x, jdoc_id key)
{
	struct slice raw = jdoc_raw(&x->doc, key);
	buffer_byte(&x->path, '/');
	for (size_t i = 1; i + 1 < raw.len; i++) {
		if (raw.data[i] == '~' || raw.data[i] == '/')
			buffer_text(&x->path, raw.data[i] == '~' ? "~0" : "~1");
		else
			buffer_byte(&x->path, raw.data[i]);
	}
}

/* Notes every value that is not an object or array, or that has a role itself. */
static void walk(struct explain *x, jdoc_id node)
{
	enum jdoc_type type = jdoc_type_of(&x->doc, node);
	bool inner = (type == JDOC_MAP || type == JDOC_LIST) && !x->roles[node];
	if (!inner) {
		note(x, node, x->roles[node]);
		return;
	}
	for (struct jdoc_each e = jdoc_each(&x->doc, node); jdoc_step(&e);) {
		size_t before = x->path.len;
		if (e.key == JDOC_NONE)
			buffer_text(&x->path, "/*");
		else
			append_key(x, e.key);
		if (!x->path.failed)
			walk(x, e.value);
		x->path.len = before;
		x->path.data[before] = '\0';
	}
}

static void show_roles(FILE *to, unsigned roles)
{
	bool first = true;
	for (size_t i = 0; i < ROLES; i++)
		if (roles >> i & 1) {
			fprintf(to, "%s%s", first ? "" : ", ", role_names[i]);
			first = false;
		}
	if (first)
		fputs("(unused)", to);
}

/* Its field numbers and type on the wire. */
static void show_wire_place(struct explain *x, const char *name)
{
	if (!x->response.protobuf || !*name)
		return;
	buffer_clear(&x->value);
	protobuf_field_path(x->response.protobuf, x->response.message, name, &x->value);
	fprintf(x->to, "  (%s)", shown_slice(buffer_all(&x->value)).text);
}

static void show_paths(struct explain *x)
{
	fprintf(x->to, "  values, and their use in %s\n", shown(api_name(x->api)).text);
	for (size_t i = 0; i < x->paths_count; i++) {
		const struct event_path *p = &x->paths[i];
		fprintf(x->to, "    %s  %s  (%lld×)  ", *p->name ? shown(p->name).text : "(whole event)",
		        shown(p->example).text, (long long)p->times);
		show_roles(x->to, p->roles);
		show_wire_place(x, p->name);
		fputc('\n', x->to);
	}
	if (x->paths_count == PATHS_MOST)
		fputs("    and more\n", x->to);
}

/* ---- events ---- */

static void show_time(struct explain *x, const struct record *record, size_t end)
{
	char text[32];
	size_t until = 0, i = 0;
	while (i < record->reads_count && (until += (size_t)record->reads[i].bytes) < end)
		i++;
	int64_t t_ns = i < record->reads_count ? record->reads[i].t_ns : record->end_ns;
	fprintf(x->to, "    %-9s ",
	        t_ns == IPF_ABSENT || record->start_ns == IPF_ABSENT ? "" : format_duration(t_ns - record->start_ns, text));
}

static void show_value(struct explain *x, jdoc_id node, enum pointer_role role)
{
	buffer_clear(&x->value);
	error_message_plain(jdoc_raw(&x->doc, node), EXAMPLE, &x->value);
	fprintf(x->to, " %s %s", role_names[role], shown_slice(buffer_all(&x->value)).text);
}

/* Roles whose value says the response goes on, such as NOT_FINISHED. */
static unsigned not_yet(const struct explain *x)
{
	const struct api_response *r = x->response.format;
	const struct api_finish_word *word;
	bool end = end_mark_find(r, x->response.protobuf, &x->doc) != JDOC_NONE,
		 finish = end_mark_finish(r, x->response.protobuf, &x->doc, &word) != JDOC_NONE;
	return (end ? 0 : 1u << END) | (finish ? 0 : 1u << FINISH);
}

/* Values found by the descriptor in the event; nulls and empty strings do not count. */
static bool show_found(struct explain *x)
{
	bool any = false;
	unsigned goes_on = not_yet(x);
	for (jdoc_id node = 0; node < x->doc.count; node++)
		for (size_t role = 0; role < ROLES; role++)
			if (x->roles[node] >> role & 1 && !slice_is(jdoc_raw(&x->doc, node), "\"\"")) {
				show_value(x, node, (enum pointer_role)role);
				fputs(goes_on >> role & 1 ? " (not yet)" : "", x->to);
				any = true;
			}
	return any;
}

static int show_event(struct explain *x, const struct record *record, const struct framing_event *event, size_t number,
                      struct ipf_error *err)
{
	const struct api_response *r = x->response.format;
	struct ipf_error why = {0};
	struct slice data = framing_trim(event->data);
	if (x->response.protobuf) {
		bool good = !event->pending &&
		            grpc_response_message(x->response.protobuf, x->response.message, event, &x->message, &why) == 0;
		data = good ? buffer_all(&x->message) : slice_of(event->pending ? "incomplete" : why.text);
	}
	bool json = data.len && jdoc_parse(&x->doc, data.data, data.len, &why) == 0;
	if (json && mark_roles(x, r, err) < 0)
		return -1;
	if (json) {
		buffer_clear(&x->path);
		buffer_text(&x->path, "");
		walk(x, JDOC_ROOT);
	}
	if (number >= EVENTS_SHOWN)
		return 0;
	show_time(x, record, event->end);
	if (number > x->response.end_event)
		fputs(" after the end mark:", x->to);
	if (event->bare && x->response.framing.kind == FRAMING_SSE)
		fputs(" outside of the events:", x->to);
	if (event->name.data)
		fprintf(x->to, " event %s:", shown_slice(event->name).text);
	if (r->end_data && slice_is(data, r->end_data)) {
		fputs(" end mark", x->to);
	} else if (!json) {
		buffer_clear(&x->value);
		error_message_plain(data, EXAMPLE, &x->value);
		fprintf(x->to, x->response.protobuf ? " invalid message: %s" : " not JSON: %s",
		        x->value.len ? shown_slice(buffer_all(&x->value)).text : "(nothing)");
	} else if (!show_found(x)) {
		fputs(" nothing used by the descriptor", x->to);
	}
	fputc('\n', x->to);
	return 0;
}

static void show_audio(struct explain *x)
{
	const struct response *r = &x->response;
	char length[32];
	fprintf(x->to, "    %zu read%s with audio", r->events_count, r->events_count == 1 ? "" : "s");
	if (r->audio_ns != IPF_ABSENT)
		fprintf(x->to, " of %s", format_duration(r->audio_ns, length));
	fputc('\n', x->to);
}

/* The recorded headers of the response. */
static void show_headers(struct explain *x, struct slice headers)
{
	struct ipf_error ignored = {0};
	if (!headers.data || jdoc_parse(&x->doc, headers.data, headers.len, &ignored) < 0)
		return;
	for (struct jdoc_each e = jdoc_each(&x->doc, JDOC_ROOT); jdoc_step(&e);) {
		buffer_clear(&x->value);
		jdoc_text(&x->doc, e.key, &x->value);
		buffer_text(&x->value, ": ");
		jdoc_text(&x->doc, e.value, &x->value);
		fprintf(x->to, "  header %s\n", shown_slice(buffer_all(&x->value)).text);
	}
}

static int show_events(struct explain *x, const struct record *record, struct ipf_error *err)
{
	struct framing f = {0};
	struct framing_event event;
	size_t count = 0;
	int result = 0;
	fprintf(x->to, "  events (framing %s)\n", framing_names[x->response.framing.kind]);
	bool wrapped = x->response.format->envelope;
	if (wrapped)
		fprintf(x->to, "  inside an Amazon event stream of %zu bytes\n", record->body.len);
	envelope_rewind(&x->response.envelope);
	framing_begin(&f, x->response.framing.kind, wrapped ? buffer_all(&x->response.envelope.payload) : record->body);
	while (result == 0 && framing_next(&f, &event)) {
		if (wrapped)
			event.end = envelope_end(&x->response.envelope, event.end);
		result = show_event(x, record, &event, count++, err);
	}
	framing_release(&f);
	if (count > EVENTS_SHOWN)
		fprintf(x->to, "    … %zu more\n", count - EVENTS_SHOWN);
	if (x->response.framing.kind == FRAMING_BYTES)
		show_audio(x);
	else if (!count)
		fputs("    none\n", x->to);
	return result;
}

/* ---- result ---- */

static void show_count(struct explain *x, const char *what, int64_t value)
{
	if (value != IPF_ABSENT)
		fprintf(x->to, ", %s %lld", what, (long long)value);
}

/* The server's figures about its work: cached tokens, drafts, times. */
static void show_reported(struct explain *x)
{
	const struct response *r = &x->response;
	const char *separator = "  reported: ";
	char text[32];
	if (r->cached_tokens != IPF_ABSENT) {
		fprintf(x->to, "%scached_tokens %lld", separator, (long long)r->cached_tokens);
		separator = ", ";
	}
	for (size_t i = 0; i < API_DETAILS; i++) {
		if (r->details[i] == IPF_ABSENT)
			continue;
		fprintf(x->to, "%s%s %lld", separator, api_detail_names[i], (long long)r->details[i]);
		separator = ", ";
	}
	for (size_t i = 0; i < API_SERVER_TIMES; i++) {
		if (r->server_ns[i] == IPF_ABSENT)
			continue;
		fprintf(x->to, "%s%s %s", separator, api_server_time_names[i], format_duration(r->server_ns[i], text));
		separator = ", ";
	}
	if (*separator == ',')
		fputc('\n', x->to);
}

static void show_text(FILE *to, const char *name, struct slice text)
{
	if (!text.data)
		return;
	fprintf(to, "  %s: ", name);
	safe_text_write(to, text);
	fputc('\n', to);
}

static void show_id(struct explain *x, const char *name, struct slice id)
{
	if (id.data)
		fprintf(x->to, "  %s: %s\n", name, shown_slice(id).text);
}

static void show_row(struct explain *x, const struct result *row)
{
	char text[32];
	if (row->ok)
		fputs("  result: ok", x->to);
	else
		fprintf(x->to, "  result: %s, %s", shown_slice(row->error_kind).text, shown_slice(row->error_text).text);
	show_count(x, "content events", row->events);
	show_count(x, "of these after the end mark", row->after_end);
	show_count(x, "events with text that the descriptor does not read", row->unread_events);
	show_count(x, "output tokens", row->output_tokens);
	if (row->tokens_source.data)
		fprintf(x->to, " from %s", shown_slice(row->tokens_source).text);
	show_count(x, "input tokens", row->input_tokens_usage);
	show_count(x, "inputs", row->inputs);
	show_count(x, "results", row->outputs);
	if (row->not_streamed.data)
		fprintf(x->to, ", not streamed (%.*s): no TTFT", (int)row->not_streamed.len, row->not_streamed.data);
	if (row->ttft_ns != IPF_ABSENT)
		fprintf(x->to, ", TTFT %s", format_duration(row->ttft_ns, text));
	if (row->finish.data)
		fprintf(x->to, ", finish %s", shown_slice(row->finish).text);
	if (row->finish_server.data)
		fprintf(x->to, " (server: %s)", shown_slice(row->finish_server).text);
	fputc('\n', x->to);
	show_id(x, "response_id", row->response_id);
	show_id(x, "request_id", row->request_id);
	show_reported(x);
	show_text(x->to, "text", row->text);
	show_text(x->to, "reasoning", row->reasoning);
}

static bool describes_count(const struct api_pointers *from)
{
	return from->count > 0 || from->header || from->sum;
}

/* Members that the descriptor does not describe, or describes but does not find. */
static void show_missing(struct explain *x, const struct result *row)
{
	const struct api_response *r = x->response.format;
	const struct {
		enum pointer_role role;
		bool described, found;
	} all[] = {
		{TEXT, r->text.count > 0, (x->seen >> TEXT & 1) || row->text.len > 0},
		{FINISH, r->finish.count > 0, x->response.finish.len > 0},
		{INPUT_TOKENS, describes_count(&r->input_tokens), x->response.input_tokens != IPF_ABSENT},
		{OUTPUT_TOKENS, describes_count(&r->output_tokens), x->response.output_tokens != IPF_ABSENT},
		{END, true, x->response.ended},
	};
	if (r->end_at_usage && x->response.ended && x->response.end_event == SIZE_MAX)
		fputs("  no end mark: complete by its finish reason and its count of tokens\n", x->to);
	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		if (!all[i].described && !(all[i].role == TEXT && r->data.count))
			fprintf(x->to, "  missing: the descriptor has no %s\n", role_names[all[i].role]);
		else if (all[i].described && !all[i].found)
			fprintf(x->to, "  missing: no %s found where the descriptor looks for it\n", role_names[all[i].role]);
	}
}

/* ---- which responses are shown ---- */

static const char *const conditions[] = {"failed", "ok", "failed=", "id="};

int explain_where_check(const char *where, struct ipf_error *err)
{
	for (size_t i = 0; i < sizeof conditions / sizeof *conditions; i++) {
		size_t len = strlen(conditions[i]);
		bool valued = conditions[i][len - 1] == '=';
		if (valued ? strncmp(where, conditions[i], len) == 0 && where[len] : strcmp(where, conditions[i]) == 0)
			return 0;
	}
	return ipf_error_set(err, IPF_USAGE, "--where: expected failed, ok, failed=KIND or id=ID, got \"%s\"", where);
}

/* Is it this text, or the JSON string of it? */
static bool says(struct slice text, const char *wanted)
{
	if (text.len >= 2 && *text.data == '"')
		text = (struct slice){text.data + 1, text.len - 2};
	return slice_is(text, wanted);
}

/* Does a row meet the condition? */
static bool is_wanted(const struct explain *x, const struct result *row)
{
	if (!x->where || strcmp(x->where, row->ok ? "ok" : "failed") == 0)
		return true;
	const char *value = strchr(x->where, '=');
	if (!value)
		return false;
	if (x->where[0] == 'f')
		return !row->ok && says(row->error_kind, value + 1);
	return says(row->id, value + 1) || says(row->response_id, value + 1) || says(row->request_id, value + 1);
}

static int explain_record(struct explain *x, const struct record *record, struct ipf_error *err)
{
	const struct response_options response_options = {.tokens = x->tokens, .keep_text = true};
	const struct measure_options measure_options = {.stall_ns = IPF_ABSENT, .keep_text = true, .tokens = x->tokens};
	struct result row;
	for (size_t i = 0; i < x->paths_count; i++)
		free(x->paths[i].name);
	x->paths_count = 0;
	x->seen = 0;
	if (response_parse(&x->response, record, x->api, &response_options, err) < 0 ||
	    measure_row(&x->measure, record, &x->response, &measure_options, &row, err) < 0)
		return -1;
	if (!is_wanted(x, &row))
		return 0;
	x->shown++;
	fprintf(x->to, "request %lld of %s: ", (long long)record->n, shown(api_name(x->api)).text);
	if (record->status == IPF_ABSENT)
		fputs("no response\n", x->to);
	else
		fprintf(x->to, "status %lld, %zu bytes in %zu reads\n", (long long)record->status, record->body.len,
		        record->reads_count);
	show_headers(x, record->headers);
	bool read = x->response.parsed && !x->response.compressed;
	if (read) {
		if (show_events(x, record, err) < 0)
			return -1;
		show_paths(x);
	}
	show_row(x, &row);
	if (read && !x->response.other_framing)
		show_missing(x, &row);
	return 0;
}

/* ---- the run ---- */

static int explain_input(struct explain *x, const char *path, const char *api, struct ipf_error *bad,
                         struct ipf_error *err)
{
	struct record_reader *reader;
	struct record record;
	struct slice client;
	int got = record_reader_open(&reader, path, bad) < 0 ? -1 : record_input_open_api(reader, api, &x->api, bad);
	while (got >= 0 && (got = record_reader_next(reader, &record, &client, bad)) > 0)
		if (got == 1 && explain_record(x, &record, err) < 0)
			break;
	record_reader_close(reader);
	api_close(x->api);
	x->api = NULL;
	return err->kind ? -1 : 0;
}

static void release(struct explain *x)
{
	for (size_t i = 0; i < x->paths_count; i++)
		free(x->paths[i].name);
	free(x->roles);
	response_release(&x->response);
	measure_release(&x->measure);
	token_counter_close(x->tokens);
	jdoc_release(&x->doc);
	buffer_release(&x->path);
	buffer_release(&x->value);
	buffer_release(&x->message);
	free(x);
}

int explain_run(const struct collect_options *options, const struct operands *records, struct ipf_error *err)
{
	struct text_output out;
	struct explain *x = calloc(1, sizeof *x);
	struct ipf_error bad = {0};
	if (!x)
		return ipf_error_memory(err);
	if (text_output_open(&out, options->common.output, err) < 0) {
		release(x);
		return -1;
	}
	x->to = out.to;
	x->where = options->where;
	if ((!options->tokenizer || open_token_counter(&x->tokens, options, err) == 0) &&
	    collect_sandbox_enter(options, records, err) == 0 && collect_sandbox_close_files(options, err) == 0)
		for (int i = 0; i < (records->count ? records->count : 1) && !out.failed; i++)
			if (explain_input(x, records->count ? records->items[i] : NULL, options->api, &bad, err) < 0)
				break;
	if (x->where && x->shown == 0 && !err->kind && !bad.kind)
		fprintf(x->to, "no response is %s\n", x->where);
	text_output_close(&out, err);
	release(x);
	if (!err->kind)
		*err = bad;
	return err->kind ? -1 : 0;
}
