#include "http/http1_reader.h"

#include "header_field.h"
#include "json/bytes8.h"

#include <string.h>
#include <strings.h>

enum state {
	STATUS_LINE, /* or the request line */
	HEADER_LINE,
	BODY_LENGTH,
	BODY_CLOSE,
	CHUNK_SIZE, /* its first digit */
	CHUNK_DIGITS,
	CHUNK_SPACE, /* before a semicolon */
	CHUNK_EXTENSION,
	CHUNK_SIZE_LF,
	CHUNK_DATA,
	CHUNK_CR,
	CHUNK_LF,
	TRAILER_LINE,
	ENDED,
};

/* No method is longer (RFC 9110 has no limit; the longest registered one is UPDATEREDIRECTREF). */
enum { METHOD_MOST = 20 };

/* A piece on its way through the reader. */
struct piece {
	const char *bytes, *at, *end;
	const struct http1_sink *sink;
	void *data;
};

static enum http1_result malformed(struct http1_reader *r, const struct piece *p, const char *at, const char *why)
{
	r->offset += (uint64_t)(at - p->bytes);
	r->why = why;
	return HTTP1_MALFORMED;
}

void http1_begin(struct http1_reader *r, bool no_body)
{
	struct buffer line = r->line;
	buffer_clear(&line);
	*r = (struct http1_reader){.line = line, .no_body = no_body};
}

void http1_begin_request(struct http1_reader *r)
{
	http1_begin(r, false);
	r->is_request = true;
}

void http1_release(struct http1_reader *r)
{
	buffer_release(&r->line);
}

bool http1_lost(struct http1_reader *r, uint64_t len)
{
	const bool chunk = r->state == CHUNK_DATA;
	r->offset += len;
	if (r->state == BODY_CLOSE)
		return true;
	if ((r->state != BODY_LENGTH && !chunk) || len > r->left)
		return false;
	r->left -= len;
	if (!r->left)
		r->state = chunk ? CHUNK_CR : ENDED;
	return true;
}

enum http1_result http1_closed(const struct http1_reader *r)
{
	return r->state == BODY_CLOSE || r->state == ENDED ? HTTP1_COMPLETE : HTTP1_CUT;
}

/* ---- lines ---- */

/* Can this piece of a line belong to a status line? Asked before the line has an end, which the bytes of another
 * protocol need not have. `before`: bytes of the line in earlier pieces. */
static bool may_be_status_line(size_t before, const char *text, size_t len)
{
	static const char begin[] = "HTTP/1.";
	size_t rest = before < sizeof begin - 1 ? sizeof begin - 1 - before : 0;
	return memcmp(begin + sizeof begin - 1 - rest, text, len < rest ? len : rest) == 0;
}

/* The same for a request line: it begins with a method, in capital letters, or is empty. */
static bool may_be_request_line(struct slice before, const char *text, size_t len)
{
	const char first = before.len ? before.data[0] : len ? *text : '\0';
	if (before.len && memchr(before.data, ' ', before.len))
		return true;
	for (size_t i = 0; i < len; i++) {
		const size_t at = before.len + i;
		if (first == '\n' || (first == '\r' && at == 1))
			return text[i] == '\n';
		if (text[i] == ' ')
			return at > 0;
		if (at >= METHOD_MOST ||
		    !((text[i] >= 'A' && text[i] <= 'Z') || text[i] == '-' || (text[i] == '\r' && at == 0)))
			return false;
	}
	return true;
}

/* Finds the end of the line beginning in this piece or in r->line. HTTP1_COMPLETE: `line` is the line without its end;
 * it is in r->line if it came in pieces. */
static enum http1_result take_line(struct http1_reader *r, struct piece *p, struct slice *line)
{
	size_t len = (size_t)(p->end - p->at);
	const char *from = p->at, *lf = memchr(from, '\n', len);
	len = lf ? (size_t)(lf + 1 - from) : len;
	if (r->state == STATUS_LINE && !r->is_request && !may_be_status_line(r->line.len, from, len))
		return malformed(r, p, from, "no HTTP/1 status line");
	if (r->state == STATUS_LINE && r->is_request && !may_be_request_line(buffer_all(&r->line), from, len))
		return malformed(r, p, from, "no HTTP/1 request line");
	if (r->headers + r->line.len + len > HTTP1_HEADERS_MOST)
		return HTTP1_TOO_LARGE;
	p->at += len;
	*line = (struct slice){from, len};
	if (!lf || r->line.len) {
		buffer_append(&r->line, from, len);
		*line = buffer_all(&r->line);
	}
	if (r->line.failed)
		return HTTP1_NO_MEMORY;
	if (!lf)
		return HTTP1_MORE;
	r->headers += (uint32_t)line->len;
	line->len -= line->len > 1 && line->data[line->len - 2] == '\r' ? 2 : 1;
	return HTTP1_COMPLETE;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Returns NULL, or the fault. */
static const char *parse_status_line(struct http1_reader *r, const struct piece *p, struct slice line)
{
	const char *text = line.data;
	if (line.len < 12 || !is_digit(text[7]) || text[8] != ' ' || !is_digit(text[9]) || !is_digit(text[10]) ||
	    !is_digit(text[11]) || (line.len > 12 && text[12] != ' '))
		return "invalid status line";
	if (memchr(text, '\0', line.len) || memchr(text, '\r', line.len))
		return "control character in the status line";
	int status = (text[9] - '0') * 100 + (text[10] - '0') * 10 + (text[11] - '0');
	if (status < 100)
		return "status below 100";
	r->status = (uint16_t)status;
	r->http10 = text[7] == '0';
	r->state = HEADER_LINE;
	p->sink->status(p->data, status);
	return status == 101 && !r->may_upgrade ? "switching protocols without a request for it" : NULL;
}

/* The same for a request line: METHOD TARGET HTTP/1.1. An empty line before it is skipped. */
static const char *parse_request_line(struct http1_reader *r, const struct piece *p, struct slice line)
{
	static const char version[] = " HTTP/1.";
	const size_t tail = sizeof version; /* with the digit after it */
	const char *space = memchr(line.data, ' ', line.len);
	if (!line.len)
		return NULL;
	if (!space || space == line.data || line.len < tail || line.data + line.len - tail <= space ||
	    memcmp(line.data + line.len - tail, version, tail - 1) != 0 || !is_digit(line.data[line.len - 1]))
		return "invalid request line";
	const struct slice method = {line.data, (size_t)(space - line.data)};
	const struct slice target = {space + 1, (size_t)(line.data + line.len - tail - space - 1)};
	for (size_t i = 0; i < line.len - tail; i++)
		if ((unsigned char)line.data[i] < ' ' || line.data[i] == 0x7f || (line.data + i > space && line.data[i] == ' '))
			return "invalid character in the request line";
	r->http10 = line.data[line.len - 1] == '0';
	r->state = HEADER_LINE;
	p->sink->request(p->data, method, target);
	return NULL;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static struct slice trimmed(const char *text, const char *end)
{
	while (text < end && is_blank(*text))
		text++;
	while (text < end && is_blank(end[-1]))
		end--;
	return (struct slice){text, (size_t)(end - text)};
}

/* The next element of a list separated by commas; false: there is none. Elements may be empty. */
static bool next_element(struct slice *list, struct slice *element)
{
	if (!list->data)
		return false;
	const char *end = list->data + list->len, *comma = memchr(list->data, ',', list->len);
	*element = trimmed(list->data, comma ? comma : end);
	*list = comma ? (struct slice){comma + 1, (size_t)(end - comma - 1)} : (struct slice){0};
	return true;
}

static bool is_word(struct slice s, const char *word)
{
	return s.len == strlen(word) && !strncasecmp(s.data, word, s.len);
}

static const char *read_length(struct http1_reader *r, struct slice value)
{
	struct slice one;
	while (next_element(&value, &one)) {
		uint64_t length = 0;
		if (!one.len)
			return "empty Content-Length";
		for (size_t i = 0; i < one.len; i++) {
			if (!is_digit(one.data[i]))
				return "Content-Length is no number";
			if (length > (INT64_MAX - 9) / 10)
				return "Content-Length is too large";
			length = length * 10 + (uint64_t)(one.data[i] - '0');
		}
		if (r->has_length && length != r->left)
			return "several values of Content-Length";
		r->has_length = true;
		r->left = length;
	}
	return NULL;
}

static const char *read_coding(struct http1_reader *r, struct slice value)
{
	struct slice one;
	r->coded = true;
	while (next_element(&value, &one)) {
		if (!one.len)
			continue; /* RFC 9110 section 5.6.1.2 */
		if (!is_word(one, "chunked"))
			return "a Transfer-Encoding other than chunked";
		if (r->chunked)
			return "chunked twice";
		r->chunked = true;
	}
	return NULL;
}

static void read_connection(struct http1_reader *r, struct slice value)
{
	struct slice one;
	while (next_element(&value, &one))
		if (is_word(one, "close"))
			r->close = true;
		else if (is_word(one, "keep-alive"))
			r->keep_alive = true;
}

/* The message's framing by the header. Returns NULL, or the fault. */
static const char *read_framing(struct http1_reader *r, struct slice name, struct slice value)
{
	switch (name.len) {
	case 10:
		if (is_word(name, "connection"))
			read_connection(r, value);
		return NULL;
	case 14:
		return is_word(name, "content-length") ? read_length(r, value) : NULL;
	case 17:
		return is_word(name, "transfer-encoding") ? read_coding(r, value) : NULL;
	default:
		return NULL;
	}
}

/* The fault of a line not beginning with a header's name and a colon. */
static const char *odd_name(struct slice line)
{
	const char *colon = memchr(line.data, ':', line.len);
	if (is_blank(*line.data))
		return "folded header line";
	if (!colon)
		return "header line without a colon";
	return colon > line.data && is_blank(colon[-1]) ? "white space before a header's colon" : "invalid header name";
}

static bool has_odd_control(struct slice value)
{
	size_t i = 0;
	while (value.len - i >= 8 && !bytes8_control(bytes8_load(value.data + i)))
		i += 8;
	for (; i < value.len; i++)
		if (value.data[i] == '\0' || value.data[i] == '\r')
			return true;
	return false;
}

/* A header or trailer. Returns NULL, or the fault. */
static const char *parse_field(struct http1_reader *r, const struct piece *p, struct slice line)
{
	struct slice name = {line.data, header_name_length(line.data, line.len)};
	if (!name.len || name.len == line.len || name.data[name.len] != ':')
		return odd_name(line);
	struct slice value = trimmed(name.data + name.len + 1, line.data + line.len);
	if (has_odd_control(value))
		return "control character in a header";
	if (r->state == HEADER_LINE) {
		const char *why = read_framing(r, name, value);
		if (why)
			return why;
	}
	p->sink->header(p->data, name, value);
	return NULL;
}

/* ---- the parts of a response ---- */

static enum http1_result end(struct http1_reader *r)
{
	r->state = ENDED;
	r->keep = !r->close && (!r->http10 || r->keep_alive);
	return r->status == 101 ? HTTP1_UPGRADED : HTTP1_COMPLETE;
}

/* The headers have ended: sets the next state. RFC 9112 section 6.3. Returns NULL, or the fault. */
static const char *begin_body(struct http1_reader *r)
{
	if (r->coded && r->has_length)
		return "both Content-Length and Transfer-Encoding";
	if (r->coded && r->http10)
		return "Transfer-Encoding in a message of HTTP/1.0";
	if (r->coded && !r->chunked)
		return "a Transfer-Encoding other than chunked";
	if (r->is_request) {
		r->state = r->chunked ? CHUNK_SIZE : r->has_length && r->left ? BODY_LENGTH : ENDED;
	} else if (r->status == 101) {
		r->state = ENDED;
	} else if (r->status < 200) {
		if (++r->interim > HTTP1_INTERIM_MOST)
			return "too many interim responses";
		r->has_length = r->chunked = r->coded = r->keep_alive = false;
		r->left = 0;
		r->state = STATUS_LINE;
	} else if (r->no_body || r->status == 204 || r->status == 304 || (r->has_length && !r->left)) {
		r->state = ENDED;
	} else {
		r->state = r->chunked ? CHUNK_SIZE : r->has_length ? BODY_LENGTH : BODY_CLOSE;
	}
	return NULL;
}

/* Returns NULL, or the fault. */
static const char *parse_line(struct http1_reader *r, const struct piece *p, struct slice line)
{
	if (r->state == STATUS_LINE)
		return (r->is_request ? parse_request_line : parse_status_line)(r, p, line);
	if (line.len)
		return parse_field(r, p, line);
	if (r->state == HEADER_LINE)
		return begin_body(r);
	r->state = ENDED;
	return NULL;
}

/* A line of the head or of the trailers. */
static enum http1_result read_line(struct http1_reader *r, struct piece *p)
{
	const char *from = p->at;
	size_t before = r->line.len;
	struct slice line;
	enum http1_result result = take_line(r, p, &line);
	if (result == HTTP1_COMPLETE) {
		const char *why = parse_line(r, p, line);
		result = why ? malformed(r, p, from, why) : HTTP1_MORE;
		if (before)
			buffer_release(&r->line);
	}
	if (result == HTTP1_MALFORMED)
		r->offset -= before; /* which earlier pieces have added */
	return result;
}

/* Up to r->left bytes of the body. */
static enum http1_result read_body(struct http1_reader *r, struct piece *p, uint8_t next)
{
	const char *at = p->at;
	uint64_t there = (uint64_t)(p->end - at);
	size_t len = (size_t)(r->left < there ? r->left : there);
	p->at += len;
	r->left -= len;
	if (!r->left)
		r->state = next;
	return p->sink->body(p->data, at, len) ? HTTP1_MORE : HTTP1_STOPPED;
}

static enum http1_result read_until_close(struct piece *p)
{
	const char *at = p->at;
	p->at = p->end;
	return p->sink->body(p->data, at, (size_t)(p->end - at)) ? HTTP1_MORE : HTTP1_STOPPED;
}

static int hex_value(char c)
{
	if (is_digit(c))
		return c - '0';
	c |= 32;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* A byte of the line with a chunk's size. Returns NULL, or the fault. */
static const char *read_size(struct http1_reader *r, char c)
{
	int digit = hex_value(c);
	if (++r->chunk_line > HTTP1_CHUNK_LINE_MOST)
		return "line of a chunk is too long";
	if (r->state == CHUNK_EXTENSION) {
		if (c == '\r')
			r->state = CHUNK_SIZE_LF;
		return (c & 0xe0) == 0 && c != '\r' && c != '\t' ? "control character in a chunk extension" : NULL;
	}
	if (r->state != CHUNK_SPACE && digit >= 0) {
		if (r->left > UINT64_MAX >> 5)
			return "chunk size is too large";
		r->left = r->left << 4 | (uint64_t)digit;
		r->state = CHUNK_DIGITS;
	} else if (r->state == CHUNK_SIZE) {
		return "chunk size is no number";
	} else if (c == '\r' && r->state == CHUNK_DIGITS) {
		r->state = CHUNK_SIZE_LF;
	} else if (c == ';') {
		r->state = CHUNK_EXTENSION;
	} else if (is_blank(c)) {
		r->state = CHUNK_SPACE;
	} else {
		return "invalid character after a chunk size";
	}
	return NULL;
}

/* A chunk's size and the end of its line, which are nearly always all there and without more. false: they are not;
 * nothing has been read. */
static bool read_plain_size(struct http1_reader *r, struct piece *p)
{
	const char *at = p->at;
	uint64_t size = 0;
	int digit;
	for (; p->end - at > 2 && at - p->at < 8 && (digit = hex_value(*at)) >= 0; at++)
		size = size << 4 | (uint64_t)digit;
	if (at == p->at || p->end - at < 2 || at[0] != '\r' || at[1] != '\n')
		return false;
	r->left = size;
	r->state = size ? CHUNK_DATA : TRAILER_LINE;
	p->at = at + 2;
	return true;
}

static enum http1_result read_chunk_line(struct http1_reader *r, struct piece *p)
{
	while (p->at < p->end && r->state < CHUNK_SIZE_LF) {
		const char *why = read_size(r, *p->at);
		if (why)
			return malformed(r, p, p->at, why);
		p->at++;
	}
	return HTTP1_MORE;
}

static void begin_chunk(struct http1_reader *r)
{
	r->state = CHUNK_SIZE;
	r->left = r->chunk_line = 0;
}

static enum http1_result expect(struct http1_reader *r, struct piece *p, char c, const char *why)
{
	if (*p->at != c)
		return malformed(r, p, p->at, why);
	p->at++;
	switch (r->state) {
	case CHUNK_SIZE_LF:
		r->state = r->left ? CHUNK_DATA : TRAILER_LINE;
		break;
	case CHUNK_CR:
		r->state = CHUNK_LF;
		break;
	default:
		begin_chunk(r);
		break;
	}
	return HTTP1_MORE;
}

static enum http1_result step(struct http1_reader *r, struct piece *p)
{
	switch ((enum state)r->state) {
	case STATUS_LINE:
	case HEADER_LINE:
	case TRAILER_LINE:
		return read_line(r, p);
	case BODY_LENGTH:
		return read_body(r, p, ENDED);
	case BODY_CLOSE:
		return read_until_close(p);
	case CHUNK_SIZE:
		return read_plain_size(r, p) ? HTTP1_MORE : read_chunk_line(r, p);
	case CHUNK_DIGITS:
	case CHUNK_SPACE:
	case CHUNK_EXTENSION:
		return read_chunk_line(r, p);
	case CHUNK_SIZE_LF:
		return expect(r, p, '\n', "no LF after the CR of a chunk size");
	case CHUNK_DATA:
		return read_body(r, p, CHUNK_CR);
	case CHUNK_CR:
		if (p->end - p->at >= 2 && p->at[0] == '\r' && p->at[1] == '\n') {
			p->at += 2;
			begin_chunk(r);
			return HTTP1_MORE;
		}
		return expect(r, p, '\r', "chunk is longer than its size");
	case CHUNK_LF:
		return expect(r, p, '\n', "no LF after the CR of a chunk");
	case ENDED:
		break;
	}
	return end(r);
}

enum http1_result http1_read(struct http1_reader *r, const char *bytes, size_t len, size_t *used,
                             const struct http1_sink *sink, void *data)
{
	struct piece p = {bytes, bytes, bytes + len, sink, data};
	enum http1_result result = HTTP1_MORE;
	while (result == HTTP1_MORE && p.at < p.end)
		result = step(r, &p);
	if (result == HTTP1_MORE && r->state == ENDED)
		result = end(r);
	*used = (size_t)(p.at - bytes);
	if (result != HTTP1_MALFORMED)
		r->offset += *used;
	return result;
}
