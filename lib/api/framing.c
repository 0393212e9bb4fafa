#include "api/framing.h"

#include "protobuf/grpc_wire.h"

#include <string.h>

const char *const framing_names[] = {"sse", "ndjson", "json", "json-sequence", "grpc", "bytes", NULL};

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static size_t bom_length(struct slice body)
{
	return body.len >= 3 && !memcmp(body.data, "\xEF\xBB\xBF", 3) ? 3 : 0;
}

bool framing_begins_like_events(struct slice body)
{
	static const char *const begins[] = {"data:", "event:", "id:", "retry:", ":"};
	for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
		if (body.len >= strlen(begins[i]) && !memcmp(body.data, begins[i], strlen(begins[i])))
			return true;
	return false;
}

struct slice framing_trim(struct slice body)
{
	size_t from = body.len ? bom_length(body) : 0, to = body.len;
	while (from < to && is_space(body.data[from]))
		from++;
	while (to > from && is_space(body.data[to - 1]))
		to--;
	return (struct slice){body.data ? body.data + from : NULL, to - from};
}

/* ---- lines ---- */

/* The line at f->at without its terminator; advances past it. False: nothing is left. *ended: was there a terminator?
 */
static bool next_line(struct framing *f, struct slice *line, bool *ended)
{
	const char *text = f->body.data;
	size_t len = f->body.len;
	if (f->at >= len)
		return false;
	if (f->newline < f->at || f->newline == 0) {
		const char *lf = memchr(text + f->at, '\n', len - f->at);
		f->newline = lf ? (size_t)(lf - text) : len;
	}
	size_t stop = f->newline;
	*line = (struct slice){text + f->at, stop - f->at};
	if (f->kind == FRAMING_SSE && (f->cr < f->at || f->cr == 0)) {
		const char *found = memchr(text + f->at, '\r', len - f->at);
		f->cr = found ? (size_t)(found - text) : len;
	}
	bool cr = f->kind == FRAMING_SSE && f->cr < stop;
	if (cr)
		stop = f->cr;
	line->len = stop - f->at;
	*ended = stop < len;
	f->at = stop + (stop < len);
	if (cr && f->at < len && text[f->at] == '\n')
		f->at++;
	return true;
}

/* ---- objects over several lines ---- */

/* Whether a line is the first of a pretty-printed object: it goes on after a brace, a bracket or a comma. */
static bool opens_object(struct slice line)
{
	while (line.len && is_space(line.data[line.len - 1]))
		line.len--;
	return line.len && strchr("{[,", line.data[line.len - 1]);
}

/* The length of the object that `text` begins with. 0: it is incomplete; *looked is how far that was seen. Strings have
 * no line breaks, and no line begins like a field of SSE. */
static size_t object_length(struct slice text, size_t *looked)
{
	size_t depth = 0, i = 0;
	bool in_text = false;
	for (; i < text.len; i++) {
		char c = text.data[i];
		if (c == '"')
			in_text = !in_text;
		else if (in_text && c == '\\')
			i++;
		else if ((c == '\n' || c == '\r') &&
		         (in_text || framing_begins_like_events((struct slice){text.data + i + 1, text.len - i - 1})))
			break;
		else if (!in_text && c == '{')
			depth++;
		else if (!in_text && c == '}' && --depth == 0)
			return i + 1;
	}
	*looked = i < text.len ? i : text.len;
	return 0;
}

/* The object of several lines beginning in `line`, which was just read, and skips it. False: there is none. */
static bool take_object(struct framing *f, struct slice line, struct slice *object)
{
	size_t skipped = 0, from = (size_t)(line.data - f->body.data), looked = 0;
	while (skipped < line.len && strchr(" \t[,", line.data[skipped]))
		skipped++;
	if (skipped == line.len || line.data[skipped] != '{' || from < f->no_object_to || !opens_object(line))
		return false;
	struct slice rest = {line.data + skipped, f->body.len - from - skipped}, last;
	size_t length = object_length(rest, &looked);
	bool ended;
	if (!length) {
		f->no_object_to = from + skipped + looked;
		return false;
	}
	*object = (struct slice){rest.data, length};
	f->at = (size_t)(rest.data - f->body.data) + length;
	next_line(f, &last, &ended);
	return true;
}

/* ---- server-sent events ---- */

static void add_data(struct framing *f, struct slice value)
{
	if (f->lines++ == 0) {
		f->data = value;
		return;
	}
	if (f->lines == 2) {
		buffer_clear(&f->many);
		buffer_slice(&f->many, f->data);
	}
	buffer_byte(&f->many, '\n');
	buffer_slice(&f->many, value);
}

/* Adds a line to the event; true if the line is an event by itself. */
static bool add_line(struct framing *f, struct slice line)
{
	const char *colon = memchr(line.data, ':', line.len);
	struct slice field = {line.data, colon ? (size_t)(colon - line.data) : line.len}, value = {line.data + line.len, 0};
	if (colon) {
		value = (struct slice){colon + 1, line.len - field.len - 1};
		if (value.len && *value.data == ' ')
			value = (struct slice){value.data + 1, value.len - 1};
	}
	if (slice_is(field, "data")) {
		add_data(f, value);
	} else if (slice_is(field, "event")) {
		f->name = value;
	} else if (slice_is(field, "error")) {
		f->name = field;
		add_data(f, value);
	} else if (*line.data == '{') {
		return true;
	} else if (field.len && !slice_is(field, "id") && !slice_is(field, "retry")) {
		f->unknown++;
		f->loose_end = f->lines ? (size_t)(line.data - f->body.data) + line.len : 0;
	}
	return false;
}

/* The data of an event, of which the lines after the first may lack "data:". */
static struct slice event_data(const struct framing *f)
{
	size_t from = f->lines == 1 && f->loose_end ? (size_t)(f->data.data - f->body.data) : 0, looked;
	if (from && f->data.len && *f->data.data == '{' && opens_object(f->data) &&
	    object_length((struct slice){f->data.data, f->loose_end - from}, &looked))
		return (struct slice){f->data.data, f->loose_end - from};
	return f->lines > 1 ? buffer_all(&f->many) : f->data;
}

/* Hands out the event (also a name without data: `event: error` alone says enough); false if it is empty. */
static bool dispatch(struct framing *f, struct framing_event *event, bool pending)
{
	bool any = f->lines > 0 || f->name.data;
	*event = (struct framing_event){.name = f->name, .end = f->at, .pending = pending};
	event->data = f->lines == 1 && !f->loose_end ? f->data : event_data(f);
	f->name = f->data = (struct slice){0};
	f->lines = f->loose_end = 0;
	return any;
}

static bool next_sse(struct framing *f, struct framing_event *event)
{
	struct slice line, object;
	bool ended;
	while (next_line(f, &line, &ended)) {
		const bool field = line.len && *line.data >= 'a' && *line.data <= 'z'; /* as nearly every line */
		if (!f->lines && line.len && !field && take_object(f, line, &object)) {
			*event = (struct framing_event){.data = object, .end = f->at, .bare = true};
			return true;
		}
		if (line.len && add_line(f, line)) {
			*event = (struct framing_event){.data = line, .end = f->at, .pending = !ended, .bare = true};
			return true;
		}
		if (!line.len && dispatch(f, event, false))
			return true;
	}
	return dispatch(f, event, true);
}

/* ---- NDJSON, JSON, gRPC ---- */

static bool next_ndjson(struct framing *f, struct framing_event *event)
{
	struct slice line, object;
	bool ended;
	while (next_line(f, &line, &ended)) {
		line = framing_trim(line);
		if (line.len && take_object(f, line, &object)) {
			*event = (struct framing_event){.data = object, .end = f->at};
			return true;
		}
		if (line.len) {
			*event = (struct framing_event){.data = line, .end = f->at, .pending = !ended};
			return true;
		}
	}
	return false;
}

static bool is_separator(char c)
{
	return is_space(c) || c == ',' || c == '[' || c == ']' || c == '\0' || c == '\x1e';
}

/* The end of the object beginning at `from`; the body's length and false if it is incomplete. */
static bool object_end(struct slice body, size_t from, size_t *end)
{
	size_t depth = 0;
	bool in_text = false;
	for (size_t i = from; i < body.len; i++) {
		char c = body.data[i];
		if (c == '"')
			in_text = !in_text;
		else if (in_text && c == '\\')
			i++;
		else if (!in_text && c == '{')
			depth++;
		else if (!in_text && c == '}' && --depth == 0) {
			*end = i + 1;
			return true;
		}
	}
	*end = body.len;
	return false;
}

static bool next_object(struct framing *f, struct framing_event *event)
{
	while (f->at < f->body.len && is_separator(f->body.data[f->at]))
		f->at++;
	if (f->at == f->body.len)
		return false;
	size_t from = f->at;
	bool ended;
	struct slice line;
	if (f->body.data[from] == '{')
		ended = object_end(f->body, from, &f->at);
	else
		next_line(f, &line, &ended); /* not an object: up to the end of the line */
	*event = (struct framing_event){.data = {f->body.data + from, f->at - from}, .end = f->at, .pending = !ended};
	return true;
}

enum framing_kind framing_of_objects(struct slice body)
{
	size_t end, second;
	body = framing_trim(body);
	if (!body.len || *body.data != '{' || !object_end(body, 0, &end))
		return FRAMING_JSON;
	for (second = end; second < body.len && is_separator(body.data[second]); second++)
		;
	if (second == body.len || body.data[second] != '{')
		return FRAMING_JSON;
	bool lines = !memchr(body.data, '\n', end) && memchr(body.data + end, '\n', second - end);
	return lines ? FRAMING_NDJSON : FRAMING_JSON_SEQUENCE;
}

/* After an invalid prefix nothing more can be cut into messages. */
static bool next_message(struct framing *f, struct framing_event *event)
{
	size_t next = f->body.len;
	*event = (struct framing_event){0};
	if (f->done || f->at >= f->body.len)
		return false;
	int got = grpc_frame(f->body, f->at, &event->compressed, &event->data, &next);
	if (got <= 0) {
		event->data = (struct slice){f->body.data + f->at, f->body.len - f->at};
		event->pending = got == 0;
		event->bare = got < 0;
		f->done = true;
	}
	event->end = f->at = next;
	return true;
}

static bool next_whole(struct framing *f, struct framing_event *event)
{
	struct slice all = framing_trim(f->body);
	if (f->done || !all.len)
		return false;
	f->done = true;
	*event = (struct framing_event){.data = all, .end = f->body.len, .pending = true};
	return true;
}

void framing_begin(struct framing *f, enum framing_kind kind, struct slice body)
{
	*f = (struct framing){
		.kind = kind, .body = body, .at = body.len && kind != FRAMING_GRPC ? bom_length(body) : 0, .many = f->many};
}

bool framing_next(struct framing *f, struct framing_event *event)
{
	switch (f->kind) {
	case FRAMING_SSE:
		return next_sse(f, event);
	case FRAMING_NDJSON:
		return next_ndjson(f, event);
	case FRAMING_JSON_SEQUENCE:
		return next_object(f, event);
	case FRAMING_JSON:
		return next_whole(f, event);
	case FRAMING_GRPC:
		return next_message(f, event);
	case FRAMING_BYTES:
		break;
	}
	return false;
}

void framing_release(struct framing *f)
{
	buffer_release(&f->many);
}
