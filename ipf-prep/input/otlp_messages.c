#include "input/otlp_messages.h"

#include "base64.h"
#include "json/jout.h"
#include "protobuf/protobuf_wire.h"
#include "stream/stream.h"

#include <string.h>
#include <zstd.h>
#include <zstd_errors.h>

#define DEPTH_MAX 100 /* depth of nested messages, as in other implementations */
#define PREFIX    ((size_t)4)

/* ---- OTLP ---- */

enum type {
	TRACES,
	RESOURCE_SPANS,
	SCOPE_SPANS,
	SPAN,
	EVENT,
	STATUS,
	LOGS,
	RESOURCE_LOGS,
	SCOPE_LOGS,
	LOG_RECORD,
	KEY_VALUE,
	ANY_VALUE,
	ARRAY,
	KEY_VALUES,
	OTHER
};

enum kind { TEXT, HEX, BASE64, FIXED, INTEGER, BOOLEAN, DOUBLE, MESSAGE, LIST };

static const struct field {
	enum type in;
	uint32_t number;
	const char *name;
	enum kind kind;
	enum type type; /* for a MESSAGE, or the messages of a LIST */
} fields[] = {
	{TRACES, 1, "resourceSpans", LIST, RESOURCE_SPANS},
	{RESOURCE_SPANS, 2, "scopeSpans", LIST, SCOPE_SPANS},
	{SCOPE_SPANS, 2, "spans", LIST, SPAN},
	{SPAN, 1, "traceId", HEX, OTHER},
	{SPAN, 2, "spanId", HEX, OTHER},
	{SPAN, 5, "name", TEXT, OTHER},
	{SPAN, 7, "startTimeUnixNano", FIXED, OTHER},
	{SPAN, 8, "endTimeUnixNano", FIXED, OTHER},
	{SPAN, 9, "attributes", LIST, KEY_VALUE},
	{SPAN, 11, "events", LIST, EVENT},
	{SPAN, 15, "status", MESSAGE, STATUS},
	{EVENT, 1, "timeUnixNano", FIXED, OTHER},
	{EVENT, 2, "name", TEXT, OTHER},
	{EVENT, 3, "attributes", LIST, KEY_VALUE},
	{STATUS, 3, "code", INTEGER, OTHER},
	{LOGS, 1, "resourceLogs", LIST, RESOURCE_LOGS},
	{RESOURCE_LOGS, 2, "scopeLogs", LIST, SCOPE_LOGS},
	{SCOPE_LOGS, 2, "logRecords", LIST, LOG_RECORD},
	{LOG_RECORD, 1, "timeUnixNano", FIXED, OTHER},
	{LOG_RECORD, 5, "body", MESSAGE, ANY_VALUE},
	{LOG_RECORD, 6, "attributes", LIST, KEY_VALUE},
	{LOG_RECORD, 9, "traceId", HEX, OTHER},
	{LOG_RECORD, 10, "spanId", HEX, OTHER},
	{LOG_RECORD, 11, "observedTimeUnixNano", FIXED, OTHER},
	{LOG_RECORD, 12, "eventName", TEXT, OTHER},
	{KEY_VALUE, 1, "key", TEXT, OTHER},
	{KEY_VALUE, 2, "value", MESSAGE, ANY_VALUE},
	{ANY_VALUE, 1, "stringValue", TEXT, OTHER},
	{ANY_VALUE, 2, "boolValue", BOOLEAN, OTHER},
	{ANY_VALUE, 3, "intValue", INTEGER, OTHER},
	{ANY_VALUE, 4, "doubleValue", DOUBLE, OTHER},
	{ANY_VALUE, 5, "arrayValue", MESSAGE, ARRAY},
	{ANY_VALUE, 6, "kvlistValue", MESSAGE, KEY_VALUES},
	{ANY_VALUE, 7, "bytesValue", BASE64, OTHER},
	{ARRAY, 1, "values", LIST, ANY_VALUE},
	{KEY_VALUES, 1, "values", LIST, KEY_VALUE},
};

enum { FIELDS = sizeof fields / sizeof *fields };

static enum wire_type wire_of(enum kind kind)
{
	return kind == FIXED || kind == DOUBLE ? WIRE_I64 : kind == INTEGER || kind == BOOLEAN ? WIRE_VARINT : WIRE_LEN;
}

/* The last occurrence of a field, which counts; false if there is none. */
static bool find(struct slice message, uint32_t number, struct wire_field *found)
{
	struct wire_field at;
	bool any = false;
	for (size_t i = 0; wire_next(message, &i, &at) > 0;)
		if (at.number == number) {
			*found = at;
			any = true;
		}
	return any;
}

/* The same messages are requests of spans, log records and metrics; the types of fields in every item show which. */
static enum type request_type(struct slice message)
{
	struct wire_field at = {0};
	size_t i = 0;
	bool found = find(message, 1, &at) && at.type == WIRE_LEN;
	for (int level = 0; level < 2; level++)
		found = found && find(at.data, 2, &at) && at.type == WIRE_LEN;
	struct slice item = at.data;
	while (found && wire_next(item, &i, &at) > 0) {
		if (at.type == WIRE_I64 && (at.number == 7 || at.number == 8))
			return TRACES;
		if (at.type != WIRE_LEN && at.number != 16 && (at.type == WIRE_I64 || at.number == 2 || at.number == 8))
			return LOGS;
	}
	return OTHER;
}

/* ---- to JSON ---- */

static void write_hex(struct slice bytes, struct jout *w)
{
	static const char digits[] = "0123456789abcdef";
	struct buffer text = {0};
	for (size_t i = 0; i < bytes.len; i++) {
		buffer_byte(&text, digits[(unsigned char)bytes.data[i] >> 4]);
		buffer_byte(&text, digits[(unsigned char)bytes.data[i] & 15]);
	}
	w->out->failed |= text.failed;
	jout_string(w, text.data ? buffer_all(&text) : slice_of(""));
	buffer_release(&text);
}

static void write_base64(struct slice bytes, struct jout *w)
{
	struct buffer text = {0};
	base64_encode(bytes, &text);
	w->out->failed |= text.failed;
	jout_string(w, text.data ? buffer_all(&text) : slice_of(""));
	buffer_release(&text);
}

static bool write_message(enum type type, struct slice message, int depth, struct jout *w);

static bool write_value(const struct field *f, const struct wire_field *at, int depth, struct jout *w)
{
	double number;
	if (at->type != wire_of(f->kind))
		return false;
	switch (f->kind) {
	case TEXT:
		jout_string(w, at->data.len > 0 ? at->data : slice_of(""));
		break;
	case HEX:
		write_hex(at->data, w);
		break;
	case BASE64:
		write_base64(at->data, w);
		break;
	case FIXED: /* no time exceeds a signed number */
		jout_int(w, at->value > INT64_MAX ? INT64_MAX : (int64_t)at->value);
		break;
	case INTEGER:
		jout_int(w, (int64_t)at->value);
		break;
	case BOOLEAN:
		jout_bool(w, at->value != 0);
		break;
	case DOUBLE:
		memcpy(&number, &at->value, sizeof number);
		jout_double(w, number);
		break;
	case MESSAGE:
	case LIST:
		return write_message(f->type, at->data, depth + 1, w);
	}
	return true;
}

static bool write_field(const struct field *f, struct slice message, int depth, struct jout *w)
{
	struct wire_field at;
	bool good = true;
	if (!find(message, f->number, &at))
		return true;
	jout_key(w, f->name);
	if (f->kind != LIST)
		return write_value(f, &at, depth, w);
	jout_begin_list(w);
	for (size_t i = 0; good && wire_next(message, &i, &at) > 0;)
		good = at.number != f->number || write_value(f, &at, depth, w);
	jout_end_list(w);
	return good;
}

/* false: it is malformed, or nested too deep. */
static bool write_message(enum type type, struct slice message, int depth, struct jout *w)
{
	struct wire_field at;
	size_t i = 0;
	int got;
	while ((got = wire_next(message, &i, &at)) > 0)
		;
	bool good = got == 0 && depth <= DEPTH_MAX;
	jout_begin_map(w);
	for (size_t k = 0; k < FIELDS && good; k++)
		if (fields[k].in == type)
			good = write_field(&fields[k], message, depth, w);
	jout_end_map(w);
	return good;
}

static int to_json(struct otlp_messages *m, struct slice message, struct ipf_error *err)
{
	struct jout w = {.out = &m->json};
	enum type type = request_type(message);
	buffer_clear(&m->json);
	bool good = write_message(type, message, 1, &w);
	if (type == OTHER) {
		buffer_clear(&m->json);
		buffer_format(&m->json, "{\"resourceMetrics\":[]}");
	}
	if (m->json.failed)
		return ipf_error_memory(err);
	return good ? 0 : ipf_error_set(err, IPF_INPUT, "expected a message of OTLP, found malformed bytes");
}

/* ---- the file ---- */

/* Is it the beginning of a request? Its first field is a message with field 2, the scopes. No text has such bytes. */
static bool begins_message(struct slice head)
{
	struct slice rest = head;
	uint64_t len = 0;
	size_t at = 1;
	if (head.len < 3 || head.data[0] != 0x0a)
		return false;
	for (unsigned shift = 0; at < head.len && shift < 35; shift += 7) {
		unsigned char byte = (unsigned char)head.data[at++];
		len |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			break;
	}
	rest = (struct slice){head.data + at, head.len - at < len ? head.len - at : (size_t)len};
	/* the resource, if it is there, and then the scopes */
	if (rest.len > 0 && rest.data[0] == 0x0a) {
		struct wire_field resource;
		size_t next = 0;
		if (wire_next(rest, &next, &resource) <= 0 || next >= rest.len)
			return false;
		return rest.data[next] == 0x12;
	}
	return rest.len > 0 && rest.data[0] == 0x12;
}

static bool is_zstd(struct slice message)
{
	return message.len >= 4 && memcmp(message.data, "\x28\xb5\x2f\xfd", 4) == 0;
}

/* Lengths from 144 MiB would begin with bytes that may begin a text. */
static bool begins_framed(struct slice head)
{
	if (head.len <= PREFIX || (unsigned char)head.data[0] > 8)
		return false;
	struct slice message = {head.data + PREFIX, head.len - PREFIX};
	static const char json[] = "{\"resource";
	return is_zstd(message) || begins_message(message) ||
	       (message.len >= sizeof json - 1 && memcmp(message.data, json, sizeof json - 1) == 0);
}

bool otlp_begins(struct slice head)
{
	return begins_message(head) || begins_framed(head);
}

/* Decompresses a message into m->unpacked. */
static int unpack(struct otlp_messages *m, struct slice packed, size_t limit, struct ipf_error *err)
{
	ZSTD_inBuffer in = {packed.data, packed.len, 0};
	size_t left = 1, room = ZSTD_DStreamOutSize();
	buffer_clear(&m->unpacked);
	if (!m->zstd && !(m->zstd = ZSTD_createDStream()))
		return ipf_error_memory(err);
	ZSTD_initDStream(m->zstd);
	while (left != 0 || in.pos < in.size) {
		char *to = buffer_reserve(&m->unpacked, room);
		if (!to)
			return ipf_error_memory(err);
		ZSTD_outBuffer out = {to, room, 0};
		left = ZSTD_decompressStream(m->zstd, &out, &in);
		if (ZSTD_getErrorCode(left) == ZSTD_error_memory_allocation)
			return ipf_error_memory(err);
		if (ZSTD_isError(left))
			return ipf_error_set(err, IPF_INPUT, "cannot decompress the message: %s", ZSTD_getErrorName(left));
		m->unpacked.len += out.pos;
		if (left != 0 && in.pos == in.size && out.pos == 0)
			return ipf_error_set(err, IPF_INPUT, "cannot decompress the message: its end is missing");
		if (m->unpacked.len > limit)
			return ipf_error_set(err, IPF_INPUT, "a message of more than %zu MiB; --max-line allows longer ones",
			                     limit >> 20);
	}
	return 0;
}

static size_t held(const struct otlp_messages *m)
{
	return m->window->end - m->window->begin;
}

/* Reads until the window has `want` bytes: 1; 0: the file ends before. */
static int fill(struct otlp_messages *m, size_t want, struct ipf_error *err)
{
	int got = 1;
	while (held(m) < want && (got = byte_window_more(m->window, err)) > 0)
		;
	return got;
}

/* Finds the next message in the window. */
static int next_message(struct otlp_messages *m, size_t limit, struct slice *message, struct ipf_error *err)
{
	size_t len = 0;
	int got = fill(m, m->framed ? PREFIX : SIZE_MAX, err);
	if (got < 0 || held(m) == 0)
		return got < 0 ? -1 : 0;
	m->number++;
	if (!m->framed) {
		m->given = held(m);
		*message = (struct slice){byte_window_at(m->window), held(m)};
		return 1;
	}
	for (size_t i = 0; i < PREFIX && got > 0; i++)
		len = len << 8 | (unsigned char)byte_window_at(m->window)[i];
	if (len > limit)
		return ipf_error_set(err, IPF_INPUT, "a message of %zu bytes: more than %zu MiB; --max-line allows longer ones",
		                     len, limit >> 20);
	if (got > 0)
		got = fill(m, PREFIX + len, err);
	if (got == 0)
		return ipf_error_set(err, IPF_CUT, "the file ends within a message");
	m->given = PREFIX + len;
	*message = (struct slice){byte_window_at(m->window) + PREFIX, len};
	return got;
}

int otlp_messages_next(struct otlp_messages *m, struct slice *json, struct ipf_error *err)
{
	size_t limit = stream_line_limit() ? stream_line_limit() : BYTE_WINDOW_MAX;
	struct slice message;
	m->window->binary = true;
	m->window->begin += m->given;
	m->given = 0;
	if (!m->begun) {
		m->begun = true;
		int got = fill(m, PREFIX + 1, err);
		if (got < 0) {
			m->broken = true;
			return -1;
		}
		m->framed = begins_framed((struct slice){byte_window_at(m->window), held(m)});
	}
	int got = next_message(m, limit, &message, err);
	m->broken = got < 0;
	if (got <= 0)
		return got;
	if (m->framed && is_zstd(message)) {
		if (unpack(m, message, limit, err) < 0)
			return -1;
		message = buffer_all(&m->unpacked);
	}
	if (message.len > 0 && *message.data == '{') {
		*json = message;
		return 1;
	}
	if (to_json(m, message, err) < 0)
		return -1;
	*json = buffer_all(&m->json);
	return 1;
}

void otlp_messages_release(struct otlp_messages *m)
{
	ZSTD_freeDStream(m->zstd);
	buffer_release(&m->unpacked);
	buffer_release(&m->json);
	*m = (struct otlp_messages){0};
}
