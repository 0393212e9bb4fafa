#include "answer.h"

#include "clock.h"
#include "dialect.h"
#include "frame.h"
#include "http.h"
#include "logprobs.h"
#include "request_metrics.h"
#include "json/jout.h"

#include <string.h>

#define CREATED         1700000000 /* a constant, so equal requests get equal bytes */
#define DIED            "\"message\":\"the engine died\",\"type\":\"InternalServerError\",\"param\":null,\"code\":500"
#define SHORT_OF_LENGTH 100000000 /* a stream's Content-Length when it is to fall short */

static const struct mode *find(const struct answer *a, enum mode_kind kind)
{
	return modes_find(a->modes, kind);
}

/* ---- the parts of chunks and bodies ---- */

static void write_opening(struct answer *a)
{
	struct jout w = {.out = &a->opening};
	const char *object = a->ask->chat ? (a->whole ? "chat.completion" : "chat.completion.chunk") : "text_completion";
	buffer_format(&a->opening, "{\"id\":\"%s-%016llx\",\"object\":\"%s\",\"created\":%d,\"model\":",
	              a->ask->chat ? "chatcmpl" : "cmpl",
	              (unsigned long long)(a->seed * UINT64_C(0x100000001b3) + a->number), object, CREATED);
	jout_string0(&w, a->model);
	buffer_text(&a->opening, ",\"choices\":[");
}

void answer_init(struct answer *a)
{
	const struct dialect *d = a->ask->dialect;
	a->whole = !a->ask->stream || (find(a, MODE_WHOLE) && !(d && !d->whole));
	if (find(a, MODE_EMPTY))
		a->output_tokens = 0;
	bool usage = a->ask->include_usage && !find(a, MODE_NO_USAGE);
	a->usage_last = usage && find(a, MODE_USAGE_IN_LAST);
	a->usage_apart = usage && !a->usage_last;
	if (find(a, MODE_SPLIT))
		rng_init(&a->cuts, a->seed, "split", a->number);
	a->script.fingerprint = a->ask->fingerprint;
	write_opening(a);
}

void answer_release(struct answer *a)
{
	buffer_release(&a->opening);
	buffer_release(&a->text);
	buffer_release(&a->reasoning);
	buffer_release(&a->arguments);
	buffer_release(&a->ids);
	buffer_release(&a->so_far);
	call_plan_release(&a->calls);
	answer_script_release(&a->script);
	buffer_release(&a->event);
	buffer_release(&a->json);
}

/* The first token of tool calls; those after it are names and arguments. INT64_MAX: there is no call. */
static int64_t tool_begin(const struct answer *a)
{
	const struct mode *tools = find(a, MODE_TOOLS);
	if (!tools || !a->calls.count)
		return INT64_MAX;
	return tools->after > answer_reasoning_tokens(a) ? tools->after : answer_reasoning_tokens(a);
}

static void write_usage(struct answer *a, int64_t output_tokens)
{
	const struct mode *off = find(a, MODE_USAGE_OFF);
	int64_t output = output_tokens + (off ? off->tokens : 0), reasoning = answer_reasoning_tokens(a);
	buffer_format(&a->json, "{\"prompt_tokens\":%lld,\"total_tokens\":%lld,\"completion_tokens\":%lld",
	              (long long)a->prompt_tokens, (long long)(a->prompt_tokens + output), (long long)output);
	if (!find(a, MODE_NO_DETAILS))
		buffer_format(&a->json, ",\"prompt_tokens_details\":{\"cached_tokens\":%lld}", (long long)a->cached_tokens);
	if (reasoning)
		buffer_format(&a->json, ",\"completion_tokens_details\":{\"reasoning_tokens\":%lld}",
		              (long long)(reasoning < output ? reasoning : output));
	buffer_byte(&a->json, '}');
}

static const char *finish_of(const struct answer *a)
{
	return a->output_tokens > tool_begin(a) ? "tool_calls" : a->finish;
}

int answer_plan_calls(struct answer *a)
{
	const struct mode *tools = find(a, MODE_TOOLS), *reasoning = find(a, MODE_REASONING);
	if (!tools || !a->ask->chat || find(a, MODE_EMPTY))
		return 0;
	const int64_t before = reasoning && reasoning->tokens > tools->after ? reasoning->tokens : tools->after;
	const struct call_wishes wishes = {.mode = tools,
	                                   .given = a->ask->calls.len ? buffer_all(&a->ask->calls) : (struct slice){0},
	                                   .names = buffer_all(&a->ask->tools),
	                                   .tokens = a->output_tokens - before,
	                                   .start = answer_start(a->seed, a->ask->fingerprint),
	                                   .seed = a->seed,
	                                   .fingerprint = a->ask->fingerprint};
	if (call_plan_make(&a->calls, &wishes) < 0)
		return -1;
	if (wishes.given.data && a->calls.count)
		a->output_tokens = before + a->calls.tokens;
	return 0;
}

/* ---- chunks ---- */

static void begin_chunk(struct answer *a)
{
	buffer_clear(&a->json);
	buffer_slice(&a->json, buffer_all(&a->opening));
	buffer_text(&a->json, "{\"index\":0,");
	if (a->ask->chat)
		buffer_text(&a->json, find(a, MODE_ROLE_EACH) ? "\"delta\":{\"role\":\"assistant\"," : "\"delta\":{");
}

static void write_prompt_ids(struct answer *a)
{
	struct jout w = {.out = &a->json};
	uint32_t id;
	a->prompt_ids_sent = true;
	buffer_text(&a->json, ",\"prompt_token_ids\":");
	jout_begin_list(&w);
	for (size_t at = 0; at + sizeof id <= a->ask->tokens.len; at += sizeof id) {
		memcpy(&id, a->ask->tokens.data + at, sizeof id);
		jout_int(&w, id);
	}
	jout_end_list(&w);
}

/* Behind the finish reason: the ids of the choice; behind the list of choices: those of a chat's prompt. */
static void write_choice_end(struct answer *a, bool content)
{
	if (a->ask->return_ids && content) {
		buffer_text(&a->json, ",\"token_ids\":[");
		buffer_slice(&a->json, buffer_all(&a->ids));
		buffer_byte(&a->json, ']');
		if (!a->ask->chat && !a->prompt_ids_sent)
			write_prompt_ids(a);
	}
	buffer_text(&a->json, "}]");
	if (a->ask->return_ids && a->ask->chat && !a->prompt_ids_sent)
		write_prompt_ids(a);
}

/* Members the delta doesn't have otherwise. */
static void write_nulls(struct answer *a)
{
	bool alone = a->json.data && a->json.data[a->json.len - 1] == '{';
	buffer_format(&a->json, "%s\"refusal\":null", alone ? "\"content\":null," : ",");
	if (!find(a, MODE_REASONING))
		buffer_text(&a->json, ",\"reasoning\":null,\"reasoning_content\":null");
	if (!find(a, MODE_TOOLS))
		buffer_text(&a->json, ",\"tool_calls\":null");
}

/* The delta's members are written; `finish` NULL: not yet. */
static void end_chunk(struct answer *a, const char *finish, bool with_usage, bool content)
{
	const struct mode *pad = find(a, MODE_PAD) ? find(a, MODE_PAD) : find(a, MODE_ENDLESS);
	struct buffer *json = &a->json;
	if (json->data && json->data[json->len - 1] == ',')
		json->len--;
	if (find(a, MODE_NULLS) && a->ask->chat)
		write_nulls(a);
	buffer_text(json, a->ask->chat ? "},\"logprobs\":" : ",\"logprobs\":");
	logprobs_write(a, a->sent, content && a->part == PART_TEXT ? a->pending : 0);
	buffer_text(json, ",\"finish_reason\":");
	if (finish)
		buffer_format(json, "\"%s\"", finish);
	else
		buffer_text(json, "null");
	write_choice_end(a, content);
	if (finish) {
		request_metrics_dynamo(a);
		request_metrics_sglext(a);
	}
	if (with_usage || ((find(a, MODE_USAGE_EACH) || a->ask->continuous_usage) && !find(a, MODE_NO_USAGE))) {
		buffer_text(json, ",\"usage\":");
		write_usage(a, a->sent + a->pending);
		if (with_usage)
			request_metrics_vllm(a);
	} else if (find(a, MODE_USAGE_NULL)) {
		buffer_text(json, ",\"usage\":null");
	}
	if (pad) {
		buffer_text(json, ",\"pad\":\"");
		char *room = buffer_reserve(json, (size_t)pad->bytes);
		if (room) {
			memset(room, '.', (size_t)pad->bytes);
			json->len += (size_t)pad->bytes;
		}
		buffer_byte(json, '"');
	}
	buffer_byte(json, '}');
	frame_event(a, buffer_all(json), content, finish && !a->usage_apart && find(a, MODE_NO_DONE));
}

static void send_role(struct answer *a)
{
	a->role_sent = true;
	begin_chunk(a);
	buffer_text(&a->json, find(a, MODE_ROLE_EACH) ? "\"content\":\"\"" : "\"role\":\"assistant\",\"content\":\"\"");
	end_chunk(a, NULL, false, false);
}

static void send_empty(struct answer *a)
{
	begin_chunk(a);
	buffer_text(&a->json, a->ask->chat ? "\"content\":\"\"" : "\"text\":\"\"");
	end_chunk(a, NULL, false, false);
}

static void write_call(struct answer *a, size_t call, bool named, struct slice arguments)
{
	buffer_format(&a->json, "{\"index\":%zu,", call);
	if (named) {
		buffer_format(&a->json, "\"id\":\"call_%llu", (unsigned long long)a->number);
		if (call)
			buffer_format(&a->json, "_%zu", call);
		buffer_format(&a->json, "\",\"type\":\"function\",\"function\":{\"name\":\"%s\",",
		              a->calls.list[call].name.data);
	} else {
		buffer_text(&a->json, "\"function\":{");
	}
	buffer_text(&a->json, "\"arguments\":\"");
	buffer_slice(&a->json, arguments);
	buffer_text(&a->json, "\"}}");
}

/* The pending part is of one call. */
static void write_tool_delta(struct answer *a)
{
	size_t call;
	int64_t piece;
	call_plan_at(&a->calls, a->sent - tool_begin(a), &call, &piece);
	buffer_text(&a->json, "\"tool_calls\":[");
	write_call(a, call, piece == 0, buffer_all(&a->arguments));
	buffer_byte(&a->json, ']');
}

static void write_all_calls(struct answer *a)
{
	buffer_text(&a->json, "\"tool_calls\":[");
	for (size_t i = 0; i < a->calls.count; i++) {
		buffer_clear(&a->arguments);
		for (int64_t piece = 1; piece < a->calls.list[i].tokens; piece++)
			call_plan_piece(&a->calls, i, piece, &a->arguments);
		if (i)
			buffer_byte(&a->json, ',');
		write_call(a, i, true, buffer_all(&a->arguments));
	}
	buffer_byte(&a->json, ']');
}

/* Everything that is pending, as one event. */
static void send_pending(struct answer *a, const char *finish)
{
	if (!a->pending)
		return;
	begin_chunk(a);
	if (a->part == PART_TOOL) {
		write_tool_delta(a);
	} else {
		const char *field = a->part == PART_REASONING ? find(a, MODE_REASONING)->field
		                    : a->ask->chat            ? "content"
		                                              : "text";
		buffer_format(&a->json, "\"%s\":\"", field);
		buffer_slice(&a->json, buffer_all(a->part == PART_REASONING ? &a->reasoning : &a->text));
		buffer_byte(&a->json, '"');
	}
	end_chunk(a, finish, finish && a->usage_last, true);
	a->sent += a->pending;
	a->pending = 0;
	buffer_clear(&a->text);
	buffer_clear(&a->reasoning);
	buffer_clear(&a->arguments);
	buffer_clear(&a->ids);
}

static void add_token(struct answer *a, int64_t k)
{
	int64_t tool = tool_begin(a);
	uint64_t start = answer_start(a->seed, a->ask->fingerprint);
	if (k < answer_reasoning_tokens(a)) {
		a->part = PART_REASONING;
		buffer_text(&a->reasoning, token_text_at(answer_words(a->modes), start, k).json);
	} else if (k >= tool) {
		size_t call;
		int64_t piece;
		a->part = PART_TOOL;
		call_plan_at(&a->calls, k - tool, &call, &piece);
		call_plan_piece(&a->calls, call, piece, &a->arguments);
	} else {
		a->part = PART_TEXT;
		buffer_text(&a->text, answer_text_at(a, k).json);
	}
	if (a->ask->return_ids)
		buffer_format(&a->ids, "%s%u", a->ids.len ? "," : "", (unsigned)answer_id_at(a, k));
	a->pending++;
}

/* ---- streamed answers ---- */

static void write_date(struct outbox *out)
{
	if (out->date_offset_ns)
		http_write_date(&out->bytes, "Date", *out->date_offset_ns);
}

static const char *stream_type(const struct answer *a)
{
	const struct dialect *d = a->ask->dialect;
	return d && d->framing == DIALECT_LINES ? "application/x-ndjson" : "text/event-stream; charset=utf-8";
}

/* The end of the head: whether the connection is kept. */
static void write_connection(struct answer *a)
{
	const struct mode *kept = find(a, MODE_KEEP_ALIVE);
	if (!a->keep_alive)
		buffer_text(&a->out->bytes, "Connection: close\r\n");
	else if (kept)
		buffer_format(&a->out->bytes, "Keep-Alive: timeout=%lld, max=%lld\r\n", (long long)(kept->delay_ns / NS_PER_S),
		              (long long)kept->max);
	buffer_text(&a->out->bytes, "\r\n");
}

void answer_head(struct answer *a)
{
	struct buffer *out = &a->out->bytes;
	const struct mode *late = find(a, MODE_ROLE_LATE);
	if (find(a, MODE_INTERIM))
		buffer_text(out, "HTTP/1.1 103 Early Hints\r\nLink: </style.css>; rel=preload\r\n\r\n");
	if (a->whole)
		return;
	buffer_format(out, "HTTP/1.%d 200 OK\r\nServer: ipf-sim\r\nContent-Type: %s\r\nCache-Control: no-cache\r\n",
	              find(a, MODE_HTTP10) ? 0 : 1, stream_type(a));
	write_date(a->out);
	if (find(a, MODE_LENGTH_SHORT))
		buffer_format(out, "Content-Length: %d\r\n", SHORT_OF_LENGTH);
	else if (!find(a, MODE_HTTP10))
		buffer_text(out, "Transfer-Encoding: chunked\r\n");
	if (a->request_id.data)
		buffer_format(out, "X-Request-Id: %.*s\r\n", (int)a->request_id.len, a->request_id.data);
	write_connection(a);
	if (a->ask->dialect)
		return;
	if (!a->ask->chat || late || find(a, MODE_ROLE_NEVER))
		a->role_sent = !late || !a->ask->chat;
	if (late && !late->after && a->ask->chat)
		send_role(a);
	for (int64_t i = 0; late && i < late->events; i++)
		send_empty(a);
	if (a->role_early && !a->role_sent && !late)
		send_role(a);
}

static void send_error_event(struct answer *a, const struct mode *error)
{
	static const char openai[] = "{\"error\":{" DIED "}}", vllm[] = "{\"object\":\"error\"," DIED "}";
	if (error->form == FORM_EVENT)
		frame_named_event(a, "error", slice_of(openai), false);
	else
		frame_event(a, slice_of(error->form == FORM_VLLM ? vllm : openai), false, false);
	if (error->done)
		frame_event(a, slice_of("[DONE]"), false, true);
	frame_end(a);
}

const struct mode *answer_now(struct answer *a, enum mode_kind kind)
{
	const struct mode *mode = find(a, kind);
	if (!mode || a->shown >> kind & 1 || a->sent < (mode->after < a->output_tokens ? mode->after : a->output_tokens))
		return NULL;
	a->shown |= UINT64_C(1) << kind;
	return mode;
}

static void send_broken_events(struct answer *a)
{
	if (answer_now(a, MODE_MALFORMED))
		frame_event(a, slice_of("{\"id\":\"broken\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"bro"), false,
		            false);
	if (answer_now(a, MODE_BAD_UTF8)) {
		begin_chunk(a);
		buffer_text(&a->json, a->ask->chat ? "\"content\":\"\xff\xfe\"" : "\"text\":\"\xff\xfe\"");
		end_chunk(a, NULL, false, false);
	}
}

static enum answer_next look_for_trouble(struct answer *a)
{
	const struct mode *error = answer_now(a, MODE_ERROR_INBAND), *cut = answer_now(a, MODE_CUT),
					  *reset = answer_now(a, MODE_RESET);
	const struct mode *late = answer_now(a, MODE_ROLE_LATE);
	if (late && late->after && !a->role_sent)
		send_role(a);
	send_broken_events(a);
	if (error) {
		send_error_event(a, error);
		return ANSWER_WHOLE;
	}
	if (cut && !cut->finish) {
		a->out->corked = false;
		if (cut->bytes)
			frame_partial(a,
			              slice_of("{\"id\":\"cut\",\"object\":\"chat.completion.chunk\",\"created\":1700000000,"
			                       "\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Lorem ipsum\"}}]}"),
			              (size_t)cut->bytes);
		if (cut->terminator)
			frame_end(a);
		return ANSWER_CUT;
	}
	if (reset && reset->after_given) {
		a->out->corked = false;
		outbox_hold(a->out, reset->pause_ns);
		return ANSWER_RESET;
	}
	return ANSWER_ON;
}

/* The end after the last token: the finish, the usage and the end mark. */
static enum answer_next end_stream(struct answer *a)
{
	const struct mode *late = find(a, MODE_LATE_END), *cut = find(a, MODE_CUT);
	bool done = !find(a, MODE_NO_DONE);
	if (late) {
		outbox_hold(a->out, late->pause_ns);
		a->out->corked = false;
	}
	if (!a->finished) {
		begin_chunk(a);
		if (!a->ask->chat)
			buffer_text(&a->json, "\"text\":\"\"");
		end_chunk(a, finish_of(a), a->usage_last, false);
	}
	if (cut) {
		if (cut->terminator)
			frame_end(a);
		a->out->corked = false;
		return ANSWER_CUT;
	}
	if (a->usage_apart) {
		buffer_clear(&a->json);
		buffer_slice(&a->json, buffer_all(&a->opening));
		buffer_text(&a->json, "],\"usage\":");
		write_usage(a, a->output_tokens);
		request_metrics_vllm(a);
		buffer_byte(&a->json, '}');
		frame_event(a, buffer_all(&a->json), false, !done);
	}
	if (done)
		frame_event(a, slice_of("[DONE]"), false, true);
	frame_end(a);
	return find(a, MODE_HTTP10) || find(a, MODE_LENGTH_SHORT) ? ANSWER_CUT : ANSWER_WHOLE;
}

/* Does the next token belong to another call? */
static bool is_last_of_call(const struct answer *a, int64_t k)
{
	size_t call, next;
	int64_t piece, begin = tool_begin(a);
	if (k < begin || a->calls.count < 2)
		return false;
	call_plan_at(&a->calls, k - begin, &call, &piece);
	call_plan_at(&a->calls, k + 1 - begin, &next, &piece);
	return call != next;
}

static enum answer_next stream_token(struct answer *a, int64_t k)
{
	const struct mode *multi = find(a, MODE_MULTI);
	bool last = k + 1 >= a->output_tokens;
	if (k == 0) {
		if (!a->role_sent && !find(a, MODE_ROLE_LATE))
			send_role(a);
		enum answer_next next = look_for_trouble(a);
		if (next != ANSWER_ON || a->output_tokens == 0)
			return next != ANSWER_ON ? next : end_stream(a);
	}
	add_token(a, k);
	/* Reasoning, text and each tool call never share an event. */
	bool part_ends = k + 1 == answer_reasoning_tokens(a) || k + 1 == tool_begin(a) || is_last_of_call(a, k);
	if ((a->pending >= (multi ? multi->tokens : 1) && !a->more) || last || part_ends) {
		a->finished = last && find(a, MODE_FINISH_IN_LAST);
		send_pending(a, a->finished ? finish_of(a) : NULL);
		enum answer_next next = look_for_trouble(a);
		if (next != ANSWER_ON)
			return next;
	}
	return last ? end_stream(a) : ANSWER_ON;
}

/* ---- whole answers ---- */

void answer_plain(struct outbox *out, int status, const char *type, const char *more, struct slice body,
                  bool keep_alive)
{
	buffer_format(&out->bytes, "HTTP/1.1 %d %s\r\nServer: ipf-sim\r\nContent-Type: %s\r\nContent-Length: %zu\r\n%s%s",
	              status, http_reason(status), type, body.len, more ? more : "",
	              keep_alive ? "" : "Connection: close\r\n");
	write_date(out);
	buffer_text(&out->bytes, "\r\n");
	buffer_slice(&out->bytes, body);
}

static const char *error_type(int status)
{
	switch (status) {
	case 401:
		return "AuthenticationError";
	case 404:
		return "NotFoundError";
	case 429:
		return "RateLimitError";
	default:
		return status >= 500 ? "InternalServerError" : "BadRequestError";
	}
}

void answer_error(struct outbox *out, int status, const char *more, const char *text, const char *param,
                  bool keep_alive)
{
	struct buffer body = {0};
	struct jout w = {.out = &body};
	jout_begin_map(&w);
	jout_key(&w, "error");
	jout_begin_map(&w);
	jout_key(&w, "message");
	jout_string0(&w, text);
	jout_key(&w, "type");
	jout_string0(&w, error_type(status));
	jout_key(&w, "param");
	if (param && *param)
		jout_string0(&w, param);
	else
		jout_null(&w);
	jout_key(&w, "code");
	jout_int(&w, status);
	jout_end_map(&w);
	jout_end_map(&w);
	answer_plain(out, status, "application/json", more, buffer_all(&body), keep_alive);
	buffer_release(&body);
}

static void write_message(struct answer *a)
{
	const struct mode *reasoning = find(a, MODE_REASONING);
	bool call = a->output_tokens > tool_begin(a);
	buffer_text(&a->json, "\"message\":{\"role\":\"assistant\",");
	if (reasoning && a->reasoning.len) {
		buffer_format(&a->json, "\"%s\":\"", reasoning->field);
		buffer_slice(&a->json, buffer_all(&a->reasoning));
		buffer_text(&a->json, "\",");
	}
	if (call && !a->text.len) {
		buffer_text(&a->json, "\"content\":null");
	} else {
		buffer_text(&a->json, "\"content\":\"");
		buffer_slice(&a->json, buffer_all(&a->text));
		buffer_byte(&a->json, '"');
	}
	if (call) {
		buffer_byte(&a->json, ',');
		write_all_calls(a);
	}
	buffer_byte(&a->json, '}');
}

static void write_whole_body(struct answer *a)
{
	buffer_clear(&a->json);
	if (find(a, MODE_ERROR_INBAND)) {
		buffer_text(&a->json, "{\"error\":{" DIED "}}");
		return;
	}
	if (find(a, MODE_BAD_UTF8))
		buffer_text(&a->text, "\xff\xfe");
	buffer_slice(&a->json, buffer_all(&a->opening));
	buffer_text(&a->json, "{\"index\":0,");
	if (a->ask->chat) {
		write_message(a);
	} else {
		buffer_text(&a->json, "\"text\":\"");
		buffer_slice(&a->json, buffer_all(&a->text));
		buffer_byte(&a->json, '"');
	}
	buffer_text(&a->json, ",\"logprobs\":");
	int64_t reasoning = answer_reasoning_tokens(a), tool = tool_begin(a);
	logprobs_write(a, reasoning, (tool < a->output_tokens ? tool : a->output_tokens) - reasoning);
	buffer_format(&a->json, ",\"finish_reason\":\"%s\"", finish_of(a));
	write_choice_end(a, true);
	if (!find(a, MODE_NO_USAGE)) {
		buffer_text(&a->json, ",\"usage\":");
		write_usage(a, a->output_tokens);
	}
	request_metrics_vllm(a);
	request_metrics_dynamo(a);
	request_metrics_sglext(a);
	/* Broken JSON: its last brace is missing. */
	if (!find(a, MODE_MALFORMED))
		buffer_byte(&a->json, '}');
}

static enum answer_next send_whole(struct answer *a)
{
	const struct mode *cut = find(a, MODE_CUT), *reset = find(a, MODE_RESET), *lacking = find(a, MODE_LENGTH_SHORT);
	struct buffer *out = &a->out->bytes;
	bool old = find(a, MODE_HTTP10);
	write_whole_body(a);
	struct slice body = buffer_all(&a->json);
	buffer_format(out, "HTTP/1.%d 200 OK\r\nServer: ipf-sim\r\nContent-Type: application/json\r\n", old ? 0 : 1);
	write_date(a->out);
	if (!old)
		buffer_format(out, "Content-Length: %zu\r\n", body.len + (lacking ? (size_t)lacking->bytes : 0));
	if (a->request_id.data)
		buffer_format(out, "X-Request-Id: %.*s\r\n", (int)a->request_id.len, a->request_id.data);
	write_connection(a);
	if (cut || reset)
		body.len /= 2;
	buffer_slice(out, body);
	a->out->first_content = a->out->last_content = outbox_end(a->out);
	if (reset)
		outbox_hold(a->out, reset->pause_ns);
	return reset ? ANSWER_RESET : cut || lacking || old ? ANSWER_CUT : ANSWER_WHOLE;
}

enum answer_next answer_token(struct answer *a, int64_t k)
{
	if (a->ask->dialect)
		return dialect_token(a, k);
	if (!a->whole)
		return stream_token(a, k);
	if (a->output_tokens > 0)
		add_token(a, k);
	return k + 1 >= a->output_tokens ? send_whole(a) : ANSWER_ON;
}
