#include "stream/record.h"

#include "absent.h"
#include "array.h"
#include "base64.h"
#include "json/bytes8.h"
#include "utf8.h"
#include "stream/fields.h"

#include <stdlib.h>
#include <string.h>

#define PART      ((size_t)128 * 1024) /* the parts of a line */
#define BODY_PART ((size_t)48 * 1024)  /* its body's; a multiple of 3, as base64 needs */

struct record_reader {
	struct stream_reader *stream;
	struct slice line;
	struct jdoc doc;
	struct jdoc_direct direct; /* the body and the reads, as our writers write them */
	struct record_read *reads;
	size_t reads_cap;
	struct buffer body, error_text;
};

#define INT(member_)    FIELD(FIELD_INT, struct record, member_)
#define UINT(member_)   FIELD(FIELD_UINT, struct record, member_)
#define TOKENS(member_) FIELD(FIELD_TOKENS, struct record, member_)
static const struct field fields[] = {
	REQUIRED_FIELD(FIELD_UINT, struct record, n),
	UINT(req),
	REQUIRED_FIELD(FIELD_UINT, struct record, stage),
	UINT(copy),
	FIELD(FIELD_TEXT, struct record, id),
	FIELD(FIELD_TEXT, struct record, session),
	UINT(session_requests),
	UINT(turn),
	UINT(continues),
	FIELD(FIELD_INTEGERS, struct record, after),
	FIELD(FIELD_TEXT, struct record, model),
	TOKENS(asked_input_tokens),
	TOKENS(asked_output_tokens),
	UINT(inputs),
	UINT(asked_outputs),
	FIELD(FIELD_MAP, struct record, slo),
	FIELD(FIELD_TAGS, struct record, tags),
	FIELD(FIELD_LIST, struct record, media),
	INT(due_ns),
	INT(ready_ns),
	INT(slot_ns),
	INT(pool_ns),
	INT(start_ns),
	INT(dns_ns),
	INT(connect_ns),
	INT(tls_ns),
	INT(connected_ns),
	INT(sent_ns),
	INT(left_ns),
	INT(first_byte_ns),
	INT(end_ns),
	INT(attempt_ns),
	FIELD(FIELD_LIST, struct record, attempts),
	UINT(api),
	UINT(target),
	UINT(status),
	UINT(retry_after_ns),
	FIELD(FIELD_MAP, struct record, headers),
	FIELD(FIELD_BOOL, struct record, streamed),
	UINT(request_bytes),
	UINT(prompt_bytes),
};
static const struct field connection_fields[] = {
	NAMED_FIELD("id", FIELD_UINT, struct record, connection, true),
	REQUIRED_FIELD(FIELD_BOOL, struct record, reused),
	UINT(http),
	UINT(stream_resets),
	UINT(stale_idle_ns),
	FIELD(FIELD_BOOL, struct record, resumed),
};
enum {
	FIELDS = sizeof fields / sizeof *fields,
	CONNECTION_FIELDS = sizeof connection_fields / sizeof *connection_fields,
};
const struct field_table record_fields = FIELD_TABLE(fields), record_connection_fields = FIELD_TABLE(connection_fields);

static const char *const error_names[] = {
	[RECORD_OK] = NULL,
	[RECORD_CONNECT] = "connect",
	[RECORD_TLS] = "tls",
	[RECORD_TIMEOUT] = "timeout",
	[RECORD_RESET] = "reset",
	[RECORD_CUT] = "cut",
	[RECORD_CANCELLED] = "cancelled",
	[RECORD_HUNG_UP] = "hung-up",
	[RECORD_PROTOCOL] = "malformed",
	[RECORD_TOO_LARGE] = "too-large",
	[RECORD_UNSEEN] = "unseen",
};
enum { ERRORS = sizeof error_names / sizeof *error_names };

const char *record_error_name(enum record_error error)
{
	return (size_t)error < ERRORS ? error_names[error] : NULL;
}

void record_init(struct record *record)
{
	*record = (struct record){0};
	fields_init(fields, FIELDS, record);
	fields_init(connection_fields, CONNECTION_FIELDS, record);
}

/* ---- writing ---- */

/* A line that may be taken out of its buffer while it is written. */
struct parts {
	struct buffer *out;
	size_t begin;                           /* the begin of the untold part */
	int (*grown)(void *data, size_t bytes); /* NULL: all of it stays in `out` */
	void *data;
	bool stopped;
};

static void hand_on(struct parts *p)
{
	if (!p->grown || p->stopped || p->out->len - p->begin < PART)
		return;
	p->stopped = p->grown(p->data, p->out->len - p->begin) < 0;
	p->begin = p->out->len;
}

static void write_reads(struct jout *w, const struct record *record, struct parts *parts)
{
	jout_key(w, "reads");
	jout_begin_list(w);
	for (size_t i = 0; i < record->reads_count && !parts->stopped; i++) {
		const struct record_read *r = &record->reads[i];
		jout_row(w, (const int64_t[JOUT_ROW]){r->t_ns, r->bytes, r->own_ns});
		hand_on(parts);
	}
	jout_end_list(w);
}

static bool is_odd_control(char c)
{
	return (unsigned char)c < 0x20 && c != '\t' && c != '\n' && c != '\r';
}

/* Is it text, and not so full of control characters, of which each becomes six bytes, that base64 is shorter? */
static bool written_as_text(struct slice body)
{
	size_t controls = 0, i = 0;
	if (!utf8_valid(body.data, body.len, NULL))
		return false;
	for (; body.len - i >= 8; i += 8)
		for (uint64_t marks = bytes8_control(bytes8_load(body.data + i)); marks; marks &= marks - 1)
			controls += is_odd_control(body.data[i + bytes8_first(marks)]);
	for (; i < body.len; i++)
		controls += is_odd_control(body.data[i]);
	return controls <= body.len / 16;
}

static void write_body(struct jout *w, struct slice body, struct parts *parts)
{
	bool text = written_as_text(body);
	jout_key(w, text ? "body" : "body_base64");
	jout_value(w, slice_of("\""));
	for (size_t at = 0; at < body.len && !parts->stopped; at += BODY_PART) {
		struct slice part = {body.data + at, body.len - at < BODY_PART ? body.len - at : BODY_PART};
		if (text)
			jout_escaped(w, part);
		else
			base64_encode(part, w->out);
		hand_on(parts);
	}
	buffer_byte(w->out, '"');
}

static void write_parts(const struct record *record, struct parts *parts)
{
	struct jout w = {.out = parts->out};
	jout_begin_map(&w);
	fields_write(fields, FIELDS, record, &w);
	if (record->connection != IPF_ABSENT) {
		jout_key(&w, "connection");
		jout_begin_map(&w);
		fields_write(connection_fields, CONNECTION_FIELDS, record, &w);
		jout_end_map(&w);
	}
	if (record->error != RECORD_OK) {
		jout_key(&w, "error");
		jout_begin_map(&w);
		jout_member_string(&w, "kind", slice_of(record_error_name(record->error)));
		jout_member_string(&w, "text", record->error_text);
		if (record->stale) {
			jout_key(&w, "stale");
			jout_bool(&w, true);
		}
		jout_end_map(&w);
	}
	if (record->reads_count)
		write_reads(&w, record, parts);
	if (record->body.data)
		write_body(&w, record->body, parts);
	jout_end_map(&w);
}

void record_write(const struct record *record, struct buffer *line)
{
	buffer_clear(line);
	record_append(record, line, NULL, NULL);
}

int record_append(const struct record *record, struct buffer *line, int (*grown)(void *data, size_t bytes), void *data)
{
	struct parts parts = {.out = line, .begin = line->len, .grown = grown, .data = data};
	write_parts(record, &parts);
	return parts.stopped ? -1 : 0;
}

/* ---- reading ---- */

struct record_reader *record_reader_new(void)
{
	struct record_reader *r = calloc(1, sizeof *r);
	if (r)
		r->direct = (struct jdoc_direct){.text_key = "body", .text = &r->body, .rows_key = "reads"};
	return r;
}

int record_reader_open(struct record_reader **reader, const char *path, struct ipf_error *err)
{
	*reader = NULL;
	struct record_reader *r = record_reader_new();
	if (!r)
		return ipf_error_memory(err);
	if (stream_reader_open(&r->stream, path, "records", err) < 0) {
		free(r);
		return -1;
	}
	*reader = r;
	return 0;
}

static int parse_error(struct record_reader *r, struct record *record, struct ipf_error *err)
{
	jdoc_id error = jdoc_get(&r->doc, JDOC_ROOT, "error"), kind = jdoc_get(&r->doc, error, "kind");
	record->error = RECORD_OK;
	record->stale = false;
	record->error_text = (struct slice){0};
	if (jdoc_is_null(&r->doc, error))
		return 0;
	for (size_t i = RECORD_CONNECT; i < ERRORS; i++)
		if (jdoc_text_is(&r->doc, kind, error_names[i]))
			record->error = (enum record_error)i;
	if (record->error == RECORD_OK)
		return jdoc_expected(&r->doc, jdoc_is_null(&r->doc, kind) ? error : kind, "error.kind",
		                     "a kind of error that ipf-records(5) lists", err);
	buffer_clear(&r->error_text);
	int got = jdoc_get_text(&r->doc, error, "text", &r->error_text, err);
	if (got < 0 || jdoc_get_bool(&r->doc, error, "stale", &record->stale, err) < 0)
		return -1;
	if (got == 1)
		record->error_text = buffer_all(&r->error_text);
	return 0;
}

/* Reads in another form than our writers'. */
static int read_nodes(struct record_reader *r, jdoc_id reads, struct ipf_error *err)
{
	struct record_read *to = r->reads;
	for (struct jdoc_each e = jdoc_each(&r->doc, reads); jdoc_step(&e); to++) {
		struct jdoc_each part = jdoc_each(&r->doc, e.value);
		bool good = jdoc_type_of(&r->doc, e.value) == JDOC_LIST && jdoc_step(&part) &&
		            jdoc_to_int(&r->doc, part.value, &to->t_ns) && jdoc_step(&part) &&
		            jdoc_to_int(&r->doc, part.value, &to->bytes) && to->bytes >= 0;
		to->own_ns = to->t_ns;
		if (good && jdoc_step(&part))
			good = jdoc_to_int(&r->doc, part.value, &to->own_ns);
		if (!good)
			return jdoc_expected(&r->doc, e.value, "reads", "[t_ns, bytes, own_ns] as integers", err);
	}
	return 0;
}

static int parse_reads(struct record_reader *r, struct record *record, struct ipf_error *err)
{
	jdoc_id reads = jdoc_get(&r->doc, JDOC_ROOT, "reads");
	if (!jdoc_is_null(&r->doc, reads) && jdoc_type_of(&r->doc, reads) != JDOC_LIST)
		return jdoc_expected(&r->doc, reads, "reads", "a list", err);
	size_t count = jdoc_count(&r->doc, reads);
	if (!array_room(r->reads, r->reads_cap, count))
		return ipf_error_memory(err);
	if (reads != JDOC_NONE && reads == r->direct.rows_node) {
		for (size_t i = 0; i < count; i++) {
			const int64_t *row = r->direct.rows[i];
			r->reads[i] = (struct record_read){.t_ns = row[0], .bytes = row[1], .own_ns = row[2]};
		}
	} else if (read_nodes(r, reads, err) < 0) {
		return -1;
	}
	record->reads = r->reads;
	record->reads_count = count;
	return 0;
}

static int decode_base64(struct slice raw, struct buffer *out, struct ipf_error *err)
{
	size_t len = raw.len - 2; /* without the quotes; "\/" is the only escape that base64 can have */
	char *text = malloc(len + 1);
	if (!text)
		return ipf_error_memory(err);
	size_t kept = 0;
	for (size_t i = 0; i < len; i++)
		if (raw.data[1 + i] != '\\')
			text[kept++] = raw.data[1 + i];
	int status = kept % 4 ? -1 : base64_decode((struct slice){text, kept}, out);
	free(text);
	return status < 0 ? ipf_error_set(err, IPF_INPUT, "body_base64: expected base64") : 0;
}

static int parse_body(struct record_reader *r, struct record *record, struct ipf_error *err)
{
	struct slice raw;
	jdoc_id body = jdoc_get(&r->doc, JDOC_ROOT, "body");
	bool was_read = body != JDOC_NONE && body == r->direct.text_node;
	record->body = (struct slice){0};
	if (!was_read)
		buffer_clear(&r->body);
	int text = was_read ? 1 : jdoc_get_text(&r->doc, JDOC_ROOT, "body", &r->body, err);
	int base64 = text == 0 ? jdoc_get_raw(&r->doc, JDOC_ROOT, "body_base64", JDOC_TEXT, &raw, err) : 0;
	if (text < 0 || base64 < 0 || (base64 == 1 && decode_base64(raw, &r->body, err) < 0))
		return -1;
	if (r->body.failed)
		return ipf_error_set(err, IPF_SYSTEM, "out of memory for a body");
	if (text == 1 || base64 == 1)
		record->body = buffer_all(&r->body);
	uint64_t sum = 0; /* wraps around if the numbers are nonsense */
	for (size_t i = 0; i < record->reads_count; i++)
		sum += (uint64_t)record->reads[i].bytes;
	if (sum != record->body.len)
		return ipf_error_set(err, IPF_INPUT, "reads: their sum is %llu bytes, but the body has %zu",
		                     (unsigned long long)sum, record->body.len);
	return 0;
}

int record_reader_parse(struct record_reader *r, struct slice line, struct record *record, struct slice *other,
                        struct ipf_error *err)
{
	r->line = line;
	if (jdoc_parse_direct(&r->doc, line.data, line.len, &r->direct, err) < 0)
		return -1;
	jdoc_id note = jdoc_get(&r->doc, JDOC_ROOT, "client");
	if (jdoc_type_of(&r->doc, note) == JDOC_MAP) {
		*other = jdoc_raw(&r->doc, note);
		return 2;
	}
	if (jdoc_type_of(&r->doc, jdoc_get(&r->doc, JDOC_ROOT, "sample")) == JDOC_TEXT) {
		*other = line;
		return 3;
	}
	jdoc_id connection = jdoc_get(&r->doc, JDOC_ROOT, "connection");
	if (fields_read(fields, FIELDS, record, &r->doc, JDOC_ROOT, err) < 0)
		return -1;
	fields_init(connection_fields, CONNECTION_FIELDS, record);
	if (!jdoc_is_null(&r->doc, connection) &&
	    fields_read(connection_fields, CONNECTION_FIELDS, record, &r->doc, connection, err) < 0)
		return -1;
	if (parse_error(r, record, err) < 0 || parse_reads(r, record, err) < 0 || parse_body(r, record, err) < 0)
		return -1;
	return 1;
}

int record_reader_next(struct record_reader *r, struct record *record, struct slice *other, struct ipf_error *err)
{
	struct slice line;
	int got = stream_reader_next(r->stream, &line, err);
	if (got == 1 && (got = record_reader_parse(r, line, record, other, err)) < 0)
		ipf_error_place(err, stream_reader_name(r->stream), stream_reader_line(r->stream));
	return got;
}

struct stream_reader *record_reader_stream(struct record_reader *r)
{
	return r->stream;
}

struct slice record_reader_line(const struct record_reader *r)
{
	return r->line;
}

void record_reader_close(struct record_reader *r)
{
	if (!r)
		return;
	stream_reader_close(r->stream);
	jdoc_release(&r->doc);
	buffer_release(&r->body);
	buffer_release(&r->error_text);
	free(r->direct.rows);
	free(r->reads);
	free(r);
}

bool record_history_is_live(const json_t *header)
{
	const char *history = json_string_value(json_object_get(header, "history"));
	return history && strncmp(history, "live", 4) == 0; /* "live-reasoning" as well */
}
