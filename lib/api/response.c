#include "api/response.h"

#include "absent.h"
#include "api/grpc_response.h"
#include "api/error_message.h"

#include <stdlib.h>
#include <string.h>

/* ---- when ---- */

/* The time of the read that brought the byte before `end`; reads are gone through once, since events come in order.
 * Kernel stamps are converted from another clock and may step back by a little; events never do. */
static int64_t time_of(struct response *a, const struct record *record, size_t end)
{
	while (a->read_end < end && a->read + 1 < record->reads_count)
		a->read_end += (size_t)record->reads[++a->read].bytes;
	int64_t t_ns = a->read < record->reads_count ? record->reads[a->read].t_ns : record->end_ns;
	if (t_ns > RESPONSE_TIME_MAX)
		t_ns = RESPONSE_TIME_MAX;
	if (t_ns > a->last_ns)
		a->last_ns = t_ns;
	return a->last_ns;
}

/* ---- content ---- */

struct gathering {
	struct buffer *out; /* NULL: only whether there is something */
	bool any;
};

static bool gather_node(const struct jdoc *doc, jdoc_id node, void *data)
{
	struct gathering *g = data;
	if (!jdoc_text_empty(doc, node)) {
		g->any = true;
		if (g->out)
			jdoc_text(doc, node, g->out);
	}
	return true;
}

/* The texts that the first pointer with any leads to; of all pointers where they are no alternatives. */
static bool gather(const struct jdoc *doc, const struct api_pointers *from, bool alternatives, struct buffer *out)
{
	struct gathering g = {.out = out};
	for (size_t i = 0; i < from->count && !(alternatives && g.any); i++)
		api_pointer_each(from->list[i], doc, JDOC_ROOT, gather_node, &g);
	return g.any;
}

/* Leaves of the text only what follows the mark, where it is there. */
static void only_after(struct buffer *piece, const char *mark)
{
	const char *found = piece->len ? memmem(piece->data, piece->len, mark, strlen(mark)) : NULL;
	if (found)
		buffer_consume(piece, (size_t)(found - piece->data) + strlen(mark));
}

/* Where the first `count` characters end. */
static size_t characters_end(struct slice text, int64_t count)
{
	size_t at = 0;
	for (; at < text.len && (count > 0 || (text.data[at] & 0xC0) == 0x80); at++)
		count -= (text.data[at] & 0xC0) != 0x80;
	return at;
}

/* Before the new text in `piece` comes what stays of the old. */
static void after_prefix(struct response *a, const struct api_response *response, const struct buffer *seen)
{
	int64_t count = 0;
	jdoc_to_int(&a->doc, api_pointers_first(&response->prefix_len, &a->doc, JDOC_ROOT, NULL), &count);
	size_t keep = characters_end(buffer_all(seen), count), len = a->piece.len;
	if (!buffer_reserve(&a->piece, keep))
		return;
	memmove(a->piece.data + keep, a->piece.data, len + 1);
	memcpy(a->piece.data, seen->data ? seen->data : "", keep);
	a->piece.len += keep;
}

static void cut_end(struct buffer *text, struct slice end)
{
	if (text->len >= end.len && !memcmp(text->data + text->len - end.len, end.data, end.len))
		text->len -= end.len;
}

/* The server took back the end of what it had said: a character that was not whole yet, most of the times. */
static void take_back(struct response *a, struct buffer *kept, struct slice lost)
{
	cut_end(&a->joined, lost);
	if (kept)
		cut_end(kept, lost);
	for (size_t i = a->events_count; i && a->events[i - 1].joined > a->joined.len; i--)
		a->events[i - 1].joined = a->joined.len;
}

/* Replaces what `piece` holds, the whole text so far, by what is new in it. */
static bool only_new(struct response *a, struct buffer *seen, struct buffer *kept)
{
	struct buffer *piece = &a->piece;
	size_t same = 0, least = piece->len < seen->len ? piece->len : seen->len;
	while (same < least && piece->data[same] == seen->data[same])
		same++;
	if (same < seen->len)
		take_back(a, kept, (struct slice){seen->data + same, seen->len - same});
	buffer_clear(seen);
	buffer_slice(seen, buffer_all(piece));
	buffer_consume(piece, same);
	return piece->len > 0;
}

/* One kind of content of the event: true where it has a character of it. */
static bool take_kind(struct response *a, const struct api_response *response, const struct response_options *options,
                      const struct api_pointers *from, struct buffer *seen, struct buffer *kept)
{
	bool cumulative = seen && response->text_mode != API_DELTA;
	bool is_text = seen == &a->seen_text, after = is_text && response->text_after;
	bool wanted = cumulative || after || options->tokens || options->keep_text;
	buffer_clear(&a->piece);
	bool any = gather(&a->doc, from, seen != NULL, wanted ? &a->piece : NULL);
	if (any && is_text && a->prompt_bytes) {
		buffer_consume(&a->piece, a->piece.len < a->prompt_bytes ? a->piece.len : a->prompt_bytes);
		any = a->piece.len > 0;
	}
	if (any && after) {
		only_after(&a->piece, response->text_after);
		any = a->piece.len > 0;
	}
	if (any && is_text && response->text_mode == API_PREFIX)
		after_prefix(a, response, seen);
	if (any && cumulative)
		any = only_new(a, seen, kept);
	if (any && options->tokens)
		buffer_slice(&a->joined, buffer_all(&a->piece));
	if (any && kept && options->keep_text)
		buffer_slice(kept, buffer_all(&a->piece));
	return any;
}

static int add_event(struct response *a, int64_t t_ns, int64_t usage_tokens, struct ipf_error *err)
{
	if (a->events_count == a->events_cap) {
		size_t cap = a->events_cap ? 2 * a->events_cap : 256;
		struct response_event *more = realloc(a->events, cap * sizeof *more);
		if (!more)
			return ipf_error_memory(err);
		a->events = more;
		a->events_cap = cap;
	}
	a->events[a->events_count++] = (struct response_event){
		.t_ns = t_ns, .usage_tokens = usage_tokens, .joined = a->joined.len};
	return 0;
}

/* ---- usage, finish, error, end ---- */

/* More is no count of tokens. */
#define TOKENS_MAX INT64_C(1000000000000)

static int64_t count_at(const struct jdoc *doc, jdoc_id node)
{
	int64_t count;
	return jdoc_to_int(doc, node, &count) && count >= 0 && count <= TOKENS_MAX ? count : IPF_ABSENT;
}

/* A count that the event has, into *to; answers it, IPF_ABSENT where it has none. */
static int64_t take_count(const struct jdoc *doc, const struct api_pointers *from, int64_t *to)
{
	int64_t count = from->sum ? IPF_ABSENT : count_at(doc, api_pointers_first(from, doc, JDOC_ROOT, NULL));
	for (size_t i = 0; from->sum && i < from->count; i++) {
		int64_t part = count_at(doc, api_pointer_first(from->list[i], doc, JDOC_ROOT));
		if (part != IPF_ABSENT)
			count = (count == IPF_ABSENT ? 0 : count) + part;
	}
	if (count != IPF_ABSENT)
		*to = count;
	return count;
}

/* A number or a truth value counts only where the descriptor has a word for it. */
static void take_finish(struct response *a, const struct api_response *response)
{
	jdoc_id node = api_pointers_first(&response->finish, &a->doc, JDOC_ROOT, NULL);
	bool is_text = !jdoc_text_empty(&a->doc, node);
	if (node == JDOC_NONE || (!is_text && !response->finish_words_count))
		return;
	buffer_clear(&a->piece);
	if (is_text)
		jdoc_text(&a->doc, node, &a->piece);
	else
		buffer_slice(&a->piece, jdoc_raw(&a->doc, node));
	const struct api_finish_word *word = response->finish_words, *end = word + response->finish_words_count;
	while (word < end && !slice_is(buffer_all(&a->piece), word->server))
		word++;
	if (word == end ? !is_text : !word->house)
		return;
	buffer_clear(&a->finish);
	buffer_clear(&a->finish_server);
	if (word == end) {
		buffer_slice(&a->finish, buffer_all(&a->piece));
	} else {
		buffer_text(&a->finish, word->house);
		if (strcmp(word->house, word->server) != 0)
			buffer_text(&a->finish_server, word->server);
	}
}

/* More is no duration: a hundred years. */
#define SERVER_TIME_MAX 3.2e18

static bool number_at(const struct jdoc *doc, const struct api_pointers *from, double *value)
{
	return jdoc_to_double(doc, api_pointers_first(from, doc, JDOC_ROOT, NULL), value);
}

/* Two points in time may be so far from zero that doubles no longer tell them apart. */
static bool span_at(const struct jdoc *doc, const struct api_timing *t, double *value)
{
	int64_t from, to;
	double begin, end;
	if (jdoc_to_int(doc, api_pointers_first(&t->at, doc, JDOC_ROOT, NULL), &to) &&
	    jdoc_to_int(doc, api_pointers_first(&t->from, doc, JDOC_ROOT, NULL), &from) && from >= 0 && to >= 0) {
		*value = (double)(to - from);
		return true;
	}
	bool both = number_at(doc, &t->at, &end) && number_at(doc, &t->from, &begin);
	*value = both ? end - begin : 0;
	return both;
}

static void keep_time(struct response *a, size_t which, double value, double unit_ns)
{
	double ns = value * unit_ns;
	if (ns >= 0 && ns < SERVER_TIME_MAX)
		a->server_ns[which] = (int64_t)(ns + 0.5);
}

static void take_times(struct response *a, const struct api_response *response)
{
	for (size_t i = 0; i < API_SERVER_TIMES; i++) {
		const struct api_timing *t = &response->times[i];
		double value;
		if (t->at.count && (t->from.count ? span_at(&a->doc, t, &value) : number_at(&a->doc, &t->at, &value)))
			keep_time(a, i, value, t->unit_ns);
	}
}

/* ---- what stands in headers ---- */

static bool header_number(const struct jdoc *doc, const char *name, double *value)
{
	struct buffer text = {0};
	char *end = NULL;
	if (!name)
		return false;
	jdoc_text(doc, jdoc_get(doc, JDOC_ROOT, name), &text);
	if (text.len && strchr("0123456789", *text.data))
		*value = strtod(text.data, &end);
	bool good = end && !*end;
	buffer_release(&text);
	return good;
}

static void header_count(const struct jdoc *doc, const struct api_pointers *from, int64_t *to)
{
	double value;
	if (*to == IPF_ABSENT && header_number(doc, from->header, &value) && value <= (double)TOKENS_MAX)
		*to = (int64_t)value;
}

static int take_headers(struct response *a, const struct record *record, const struct api_response *response,
                        struct ipf_error *err)
{
	struct ipf_error ignored = {0};
	double value;
	if (!record->headers.data)
		return 0;
	if (jdoc_parse(&a->doc, record->headers.data, record->headers.len, &ignored) < 0)
		return ignored.kind == IPF_SYSTEM ? ipf_error_set(err, IPF_SYSTEM, "%s", ignored.text) : 0;
	header_count(&a->doc, &response->input_tokens, &a->input_tokens);
	header_count(&a->doc, &response->output_tokens, &a->output_tokens);
	header_count(&a->doc, &response->reasoning_tokens, &a->reasoning_tokens);
	header_count(&a->doc, &response->cached_tokens, &a->cached_tokens);
	for (size_t i = 0; i < API_SERVER_TIMES; i++)
		if (a->server_ns[i] == IPF_ABSENT && header_number(&a->doc, response->times[i].at.header, &value))
			keep_time(a, i, value, response->times[i].unit_ns);
	return 0;
}

/* null, false and "" stand for "no error", as some servers write in every event. */
static bool says_something(const struct jdoc *doc, jdoc_id node)
{
	return !jdoc_is_null(doc, node) && !slice_is(jdoc_raw(doc, node), "false") &&
	       !slice_is(jdoc_raw(doc, node), "\"\"");
}

static bool take_error(struct response *a, const struct api_response *response)
{
	for (size_t i = 0; i < response->error.count; i++) {
		const struct api_pointer *pointer = response->error.list[i];
		jdoc_id node = api_pointer_first(pointer, &a->doc, JDOC_ROOT);
		if (node == JDOC_NONE || (!api_pointer_conditional(pointer) && !says_something(&a->doc, node)))
			continue;
		if (!a->failed)
			error_message_of(&a->doc, api_pointer_conditional(pointer) ? JDOC_ROOT : node, &a->error_text);
		return a->failed = true;
	}
	return false;
}

static void take_end(struct response *a, const struct api_response *response)
{
	for (size_t i = 0; i < response->end_when.count && !a->ended; i++) {
		const struct api_pointer *pointer = response->end_when.list[i];
		jdoc_id node = api_pointer_first(pointer, &a->doc, JDOC_ROOT);
		a->ended = node != JDOC_NONE &&
		           (api_pointer_conditional(pointer) || !slice_is(jdoc_raw(&a->doc, node), "false"));
	}
}

static void malformed(struct response *a, const char *what, struct slice data)
{
	if (a->malformed)
		return;
	a->malformed = true;
	buffer_text(&a->malformed_text, what);
	buffer_text(&a->malformed_text, data.len ? ": " : "");
	error_message_plain(data, 100, &a->malformed_text);
}

/* ---- an event ---- */

static int take_content(struct response *a, const struct record *record, const struct api_response *response,
                        const struct response_options *options, const struct framing_event *event,
                        struct ipf_error *err)
{
	bool reasoning = take_kind(a, response, options, &response->reasoning, &a->seen_reasoning, &a->reasoning);
	bool text = take_kind(a, response, options, &response->text, &a->seen_text, &a->text);
	bool tools = take_kind(a, response, options, &response->tools, NULL, NULL);
	bool data = response->data.count && api_pointers_first(&response->data, &a->doc, JDOC_ROOT, NULL) != JDOC_NONE;
	int64_t usage = take_count(&a->doc, &response->output_tokens, &a->output_tokens);
	take_count(&a->doc, &response->input_tokens, &a->input_tokens);
	take_count(&a->doc, &response->reasoning_tokens, &a->reasoning_tokens);
	take_count(&a->doc, &response->cached_tokens, &a->cached_tokens);
	take_finish(a, response);
	take_end(a, response);
	if (response->has_times)
		take_times(a, response);
	if (!reasoning && !text && !tools && !data)
		return 0;
	int64_t t_ns = time_of(a, record, event->end);
	if (text && a->first_text_ns == IPF_ABSENT)
		a->first_text_ns = t_ns;
	return add_event(a, t_ns, usage, err);
}

/* A name that the descriptor calls an error: whatever the data says, JSON or not, is the message. */
static void take_error_event(struct response *a, struct slice data)
{
	if (!a->failed)
		error_message_of_body(&a->doc, data, &a->error_text);
	a->failed = true;
}

/* The JSON of an event. False where there is none, or nothing more to say of it. */
static bool document(struct response *a, const struct framing_event *event, struct slice *data, struct ipf_error *err)
{
	struct ipf_error why = {0};
	*data = a->protobuf ? (struct slice){0} : framing_trim(event->data);
	if (!a->protobuf)
		return data->len > 0;
	if (event->pending) {
		a->torn = true;
		return false;
	}
	if (grpc_response_message(a->protobuf, a->message, event, &a->json, &why) < 0) {
		if (why.kind == IPF_SYSTEM)
			*err = why;
		else
			malformed(a, why.text, (struct slice){0});
		return false;
	}
	*data = buffer_all(&a->json);
	return true;
}

/* What follows the end mark is no part of the answer any more, but an error there still is one. */
static int take_event(struct response *a, const struct record *record, const struct api_response *response,
                      const struct response_options *options, const struct framing_event *event, struct ipf_error *err)
{
	struct ipf_error why = {0};
	struct slice data;
	bool some = document(a, event, &data, err);
	if (response->error_event && slice_is(event->name, response->error_event)) {
		take_error_event(a, data);
		return 0;
	}
	if (!some)
		return err->kind ? -1 : 0;
	if (response->end_data && slice_is(data, response->end_data)) {
		a->ended = true;
		return 0;
	}
	if (jdoc_parse(&a->doc, data.data, data.len, &why) < 0) {
		if (why.kind == IPF_SYSTEM)
			return ipf_error_set(err, IPF_SYSTEM, "%s", why.text);
		/* an event without its end in a stream without its end is the cut, not nonsense */
		if (event->pending && a->framing.kind != FRAMING_JSON)
			a->torn = true;
		else if (!a->ended && !event->bare)
			malformed(a, "expected JSON in an event", data);
		return 0;
	}
	if (take_error(a, response) || a->ended || jdoc_is_null(&a->doc, JDOC_ROOT))
		return 0;
	enum jdoc_type type = jdoc_type_of(&a->doc, JDOC_ROOT);
	if (event->bare || (type != JDOC_MAP && !(type == JDOC_LIST && a->framing.kind == FRAMING_JSON))) {
		if (!event->bare)
			malformed(a, "expected a JSON map in an event", data);
		return 0;
	}
	return take_content(a, record, response, options, event, err);
}

/* ---- a body ---- */

static bool begins_like_events(struct slice body)
{
	static const char *const begins[] = {"data:", "event:", "id:", "retry:", ":"};
	for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
		if (body.len >= strlen(begins[i]) && !memcmp(body.data, begins[i], strlen(begins[i])))
			return true;
	return false;
}

/* How the body is to be read: as was asked for, unless the server plainly did the other thing. *framing says how it is
 * cut. */
static const struct api_response *choose(struct response *a, const struct record *record, const struct api *api,
                                         enum framing_kind *framing)
{
	const struct api_response *asked = api_response(api, record->streamed),
							  *other = api_response(api, !record->streamed);
	struct slice body = framing_trim(record->body);
	struct ipf_error ignored = {0};
	if (!asked) {
		asked = other;
		other = NULL;
	}
	*framing = asked->framing;
	if (asked->framing == FRAMING_SSE && body.len && strchr("{[", *body.data) &&
	    jdoc_parse(&a->doc, body.data, body.len, &ignored) == 0) {
		*framing = FRAMING_JSON;
		return other && other->framing == FRAMING_JSON ? other : asked;
	}
	if (asked->framing == FRAMING_JSON && other && other->framing == FRAMING_SSE && begins_like_events(body)) {
		*framing = FRAMING_SSE;
		return other;
	}
	return asked;
}

/* gRPC's own end mark, beside which the descriptor may have another. */
static void take_status(struct response *a, const struct record *record, const struct api_response *response)
{
	struct buffer why = {0};
	int64_t status = grpc_response_status(&a->doc, record, &why);
	a->no_status = status == IPF_ABSENT;
	a->ended = status == 0 && (a->ended || !response->end_when.count);
	if (status > 0 && !a->failed) {
		a->late = status == 4;
		buffer_slice(&a->error_text, buffer_all(&why));
	}
	a->failed |= status != IPF_ABSENT && status != 0;
	buffer_release(&why);
}

/* What the messages around the contents said. */
static void take_envelope(struct response *a)
{
	if (a->envelope.error.len && !a->failed)
		buffer_slice(&a->error_text, buffer_all(&a->envelope.error));
	a->failed |= a->envelope.error.len > 0;
	a->torn |= a->envelope.torn;
	if (a->envelope.broken && !a->failed)
		malformed(a, "expected messages of an event stream", (struct slice){0});
}

/* What is left to say when all events have been read. */
static void conclude(struct response *a, const struct record *record, const struct api_response *response,
                     enum framing_kind framing, size_t events)
{
	struct slice body = framing_trim(record->body);
	bool clean = record->error == RECORD_OK;
	if (response->envelope)
		take_envelope(a);
	if (framing == FRAMING_GRPC)
		take_status(a, record, response);
	if (framing == FRAMING_JSON && body.len && !a->ended && !a->failed && clean)
		malformed(a, "expected an answer", body);
	else if (framing == FRAMING_SSE && !events && a->framing.unknown && !a->failed)
		malformed(a, "expected server-sent events", body);
	if (response->end_at_eof && clean && !a->torn && body.len && !a->failed)
		a->ended = true;
}

static void begin(struct response *a, const struct record *record)
{
	struct buffer *buffers[] = {&a->finish,     &a->finish_server,  &a->joined, &a->text,      &a->reasoning,
	                            &a->error_text, &a->malformed_text, &a->piece,  &a->seen_text, &a->seen_reasoning};
	for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++)
		buffer_clear(buffers[i]);
	for (size_t i = 0; i < API_SERVER_TIMES; i++)
		a->server_ns[i] = IPF_ABSENT;
	a->events_count = 0;
	a->response = NULL;
	a->parsed = a->ended = a->failed = a->no_status = a->late = a->malformed = a->prompt_inside = a->torn = false;
	a->first_text_ns = a->input_tokens = a->output_tokens = a->reasoning_tokens = a->cached_tokens = IPF_ABSENT;
	a->read = 0;
	a->read_end = record->reads_count ? (size_t)record->reads[0].bytes : 0;
	a->last_ns = -RESPONSE_TIME_MAX;
}

static bool out_of_memory(const struct response *a)
{
	return a->finish.failed || a->finish_server.failed || a->joined.failed || a->text.failed || a->reasoning.failed ||
	       a->error_text.failed || a->malformed_text.failed || a->piece.failed || a->seen_text.failed ||
	       a->seen_reasoning.failed || a->framing.many.failed;
}

int response_parse(struct response *a, const struct record *record, const struct api *api,
                   const struct response_options *options, struct ipf_error *err)
{
	struct framing_event event;
	enum framing_kind framing;
	size_t events = 0;
	begin(a, record);
	if (record->status == IPF_ABSENT)
		return 0;
	if (record->status < 200 || record->status > 299) {
		error_message_of_body(&a->doc, record->body, &a->error_text);
		return 0;
	}
	a->parsed = true;
	const struct api_response *response = choose(a, record, api, &framing);
	a->response = response;
	a->cut = framing;
	a->protobuf = framing == FRAMING_GRPC ? api_protobuf(api) : NULL;
	a->message = a->protobuf ? api_response_type(api, response == api_response(api, true)) : -1;
	bool repeats = response->text_mode == API_CUMULATIVE_WITH_PROMPT;
	a->prompt_inside = repeats && record->prompt_bytes == IPF_ABSENT;
	a->prompt_bytes = repeats && !a->prompt_inside ? (size_t)record->prompt_bytes : 0;
	a->no_text = !response->text.count;
	struct slice body = record->body;
	if (response->envelope) {
		if (envelope_open(&a->envelope, record->body, err) < 0)
			return -1;
		body = buffer_all(&a->envelope.inside);
	}
	framing_begin(&a->framing, framing, body);
	while (framing_next(&a->framing, &event)) {
		if (response->envelope)
			event.end = envelope_end(&a->envelope, event.end);
		events += !event.bare;
		if (event.pending && record->error != RECORD_OK && framing != FRAMING_JSON) {
			a->torn = true;
			continue;
		}
		if (take_event(a, record, response, options, &event, err) < 0)
			return -1;
	}
	conclude(a, record, response, framing, events);
	if (response->has_headers && take_headers(a, record, response, err) < 0)
		return -1;
	return out_of_memory(a) ? ipf_error_memory(err) : 0;
}

void response_release(struct response *a)
{
	struct buffer *buffers[] = {&a->finish,     &a->finish_server,  &a->joined, &a->text,      &a->reasoning,
	                            &a->error_text, &a->malformed_text, &a->piece,  &a->seen_text, &a->seen_reasoning,
	                            &a->json};
	for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++)
		buffer_release(buffers[i]);
	framing_release(&a->framing);
	envelope_release(&a->envelope);
	jdoc_release(&a->doc);
	free(a->events);
}
