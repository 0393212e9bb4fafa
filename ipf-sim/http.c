#include "http.h"

#include "clock.h"

#include <string.h>
#include <strings.h>
#include <time.h>

static enum http_result bad(struct http_request *r, int status, const char *why)
{
	r->status = status;
	r->why = why;
	return HTTP_BAD;
}

static bool token_char(unsigned char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       (c && strchr("!#$%&'*+-.^_`|~", c));
}

static bool is_token(struct slice s)
{
	for (size_t i = 0; i < s.len; i++)
		if (!token_char((unsigned char)s.data[i]))
			return false;
	return s.len > 0;
}

static struct slice trimmed(struct slice s)
{
	while (s.len && (*s.data == ' ' || *s.data == '\t'))
		s.data++, s.len--;
	while (s.len && (s.data[s.len - 1] == ' ' || s.data[s.len - 1] == '\t'))
		s.len--;
	return s;
}

static bool same_word(struct slice s, const char *word)
{
	return s.len == strlen(word) && strncasecmp(s.data, word, s.len) == 0;
}

/* Is the word one of a list with commas? */
static bool has_word(struct slice list, const char *word)
{
	while (list.len) {
		const char *comma = memchr(list.data, ',', list.len);
		size_t n = comma ? (size_t)(comma - list.data) : list.len;
		if (same_word(trimmed((struct slice){list.data, n}), word))
			return true;
		n += comma != NULL;
		list.data += n;
		list.len -= n;
	}
	return false;
}

/* The next line of the head, without its end; false at the end of the text. */
static bool take_line(struct slice *text, struct slice *line)
{
	const char *end = text->len ? memchr(text->data, '\n', text->len) : NULL;
	if (!end)
		return false;
	line->data = text->data;
	line->len = (size_t)(end - text->data);
	text->len -= line->len + 1;
	text->data = end + 1;
	if (line->len && line->data[line->len - 1] == '\r')
		line->len--;
	return true;
}

static bool parse_request_line(struct http_request *r, struct slice line)
{
	const char *space = memchr(line.data, ' ', line.len);
	if (!space)
		return false;
	r->method = (struct slice){line.data, (size_t)(space - line.data)};
	struct slice rest = {space + 1, line.len - r->method.len - 1};
	if (rest.len < 10 || memcmp(rest.data + rest.len - 9, " HTTP/1.", 8) != 0)
		return false;
	r->minor = rest.data[rest.len - 1] - '0';
	if (r->minor < 0 || r->minor > 9 || !is_token(r->method))
		return false;
	struct slice target = {rest.data, rest.len - 9};
	for (size_t i = 0; i < target.len; i++)
		if ((unsigned char)target.data[i] <= ' ' || target.data[i] == 127)
			return false;
	if (target.len > 7 && strncasecmp(target.data, "http://", 7) == 0) {
		const char *slash = memchr(target.data + 7, '/', target.len - 7);
		if (!slash)
			return false;
		target.len -= (size_t)(slash - target.data);
		target.data = slash;
	}
	if (*target.data != '/' && !slice_is(target, "*"))
		return false;
	const char *query = memchr(target.data, '?', target.len);
	if (query)
		target.len = (size_t)(query - target.data);
	r->path = target;
	return true;
}

static bool parse_header(struct http_request *r, struct slice line)
{
	const char *colon = memchr(line.data, ':', line.len);
	if (!colon || r->header_count == HTTP_MOST_HEADERS)
		return false;
	struct http_header h = {.name = {line.data, (size_t)(colon - line.data)}};
	h.value = trimmed((struct slice){colon + 1, line.len - h.name.len - 1});
	if (!is_token(h.name))
		return false;
	for (size_t i = 0; i < h.value.len; i++)
		if (((unsigned char)h.value.data[i] < ' ' && h.value.data[i] != '\t') || h.value.data[i] == 127)
			return false;
	r->headers[r->header_count++] = h;
	return true;
}

/* -1: not a plain decimal number, or too many digits to be one. */
static int64_t parse_length(struct slice s)
{
	int64_t value = 0;
	if (s.len == 0 || s.len > 15)
		return -1;
	for (size_t i = 0; i < s.len; i++) {
		if (s.data[i] < '0' || s.data[i] > '9')
			return -1;
		value = value * 10 + (s.data[i] - '0');
	}
	return value;
}

static enum http_result understand_headers(struct http_request *r)
{
	int64_t length = -1;
	bool chunked = false, host = false;
	r->keep_alive = r->minor >= 1;
	for (size_t i = 0; i < r->header_count; i++) {
		struct slice name = r->headers[i].name, value = r->headers[i].value;
		if (same_word(name, "content-length")) {
			int64_t n = parse_length(value);
			if (n < 0 || (length >= 0 && n != length))
				return bad(r, 400, "a Content-Length other than one number");
			length = n;
		} else if (same_word(name, "transfer-encoding")) {
			if (!same_word(value, "chunked") || chunked)
				return bad(r, 501, "a Transfer-Encoding other than chunked");
			chunked = true;
		} else if (same_word(name, "host")) {
			if (host)
				return bad(r, 400, "two Host headers");
			host = true;
		} else if (same_word(name, "connection")) {
			if (has_word(value, "close"))
				r->keep_alive = false;
			else if (has_word(value, "keep-alive"))
				r->keep_alive = true;
		} else if (same_word(name, "expect")) {
			if (!same_word(value, "100-continue"))
				return bad(r, 417, "an Expect other than 100-continue");
			r->expects_continue = r->minor >= 1;
		}
	}
	if (r->minor >= 1 && !host)
		return bad(r, 400, "no Host header");
	if (chunked && length >= 0)
		return bad(r, 400, "both Content-Length and Transfer-Encoding");
	if (length >= 0 && (uint64_t)length > r->body_limit)
		return bad(r, 413, "the body is too large");
	r->left = length > 0 ? (uint64_t)length : 0;
	r->state = chunked ? HTTP_IN_SIZE : r->left ? HTTP_IN_BODY : HTTP_AT_END;
	if (r->state == HTTP_AT_END)
		r->expects_continue = false;
	return HTTP_MORE;
}

static enum http_result parse_head(struct http_request *r)
{
	struct slice text = buffer_all(&r->head), line;
	if (r->head.failed)
		return bad(r, 500, "memory ran out");
	if (!take_line(&text, &line) || !parse_request_line(r, line))
		return bad(r, 400, "not a request line of HTTP/1.x");
	while (take_line(&text, &line) && line.len)
		if (!parse_header(r, line))
			return bad(r, 400, "a header line that is none");
	return understand_headers(r);
}

/* Moves bytes up to and with the next newline into the head buffer. True: the newline was there. */
static bool gather_line(struct http_request *r, const char **data, size_t *len)
{
	const char *end = memchr(*data, '\n', *len);
	size_t n = end ? (size_t)(end - *data) + 1 : *len;
	buffer_append(&r->head, *data, n);
	*data += n;
	*len -= n;
	return end != NULL;
}

static bool ends_in_blank_line(const struct buffer *head)
{
	const char *end = head->data + head->len;
	return (head->len >= 2 && memcmp(end - 2, "\n\n", 2) == 0) || (head->len >= 3 && memcmp(end - 3, "\n\r\n", 3) == 0);
}

static enum http_result feed_head(struct http_request *r, const char **data, size_t *len)
{
	/* An empty line before a request is forgiven (RFC 9112, 2.2). */
	while (r->head.len == 0 && *len && (**data == '\r' || **data == '\n'))
		++*data, --*len;
	while (*len) {
		bool line = gather_line(r, data, len);
		if (r->head.len > r->head_limit)
			return bad(r, 431, "the request's head is too large");
		if (line && ends_in_blank_line(&r->head))
			return parse_head(r);
	}
	return HTTP_MORE;
}

static int hex_digit(char c)
{
	return c >= '0' && c <= '9'   ? c - '0'
	       : c >= 'a' && c <= 'f' ? c - 'a' + 10
	       : c >= 'A' && c <= 'F' ? c - 'A' + 10
	                              : -1;
}

static enum http_result feed_size(struct http_request *r, const char **data, size_t *len)
{
	while (*len) {
		char c = *(*data)++;
		--*len;
		if (c == '\n') {
			if (r->column == 0)
				return bad(r, 400, "a chunk without a size");
			r->column = 0;
			r->state = r->left ? HTTP_IN_CHUNK : HTTP_IN_TRAILER;
			return HTTP_MORE;
		}
		int digit = hex_digit(c);
		/* The column counts the digits; past them, in an extension or white space, it is SIZE_MAX. */
		if (digit >= 0 && r->column < 15) {
			r->left = r->left * 16 + (uint64_t)digit;
			r->column++;
		} else if (r->column == SIZE_MAX || (r->column > 0 && (c == ';' || c == '\r' || c == ' ' || c == '\t'))) {
			r->column = SIZE_MAX;
		} else {
			return bad(r, 400, "a chunk size other than a number");
		}
		if (r->left > r->body_limit || r->body.len + r->left > r->body_limit)
			return bad(r, 413, "the body is too large");
	}
	return HTTP_MORE;
}

static void feed_bytes(struct http_request *r, const char **data, size_t *len)
{
	size_t n = *len < r->left ? *len : (size_t)r->left;
	buffer_append(&r->body, *data, n);
	*data += n;
	*len -= n;
	r->left -= n;
}

static enum http_result feed_line_end(struct http_request *r, const char **data, size_t *len)
{
	char c = *(*data)++;
	--*len;
	if (c == '\n') {
		r->state = HTTP_IN_SIZE;
		return HTTP_MORE;
	}
	return c == '\r' ? HTTP_MORE : bad(r, 400, "a chunk longer than its size");
}

/* Trailers are read over: nobody asks for them. */
static enum http_result feed_trailer(struct http_request *r, const char **data, size_t *len)
{
	while (*len) {
		char c = *(*data)++;
		--*len;
		if (++r->left > r->head_limit)
			return bad(r, 431, "the trailers are too large");
		if (c == '\r')
			continue;
		if (c != '\n') {
			r->column++;
			continue;
		}
		if (r->column == 0) {
			r->state = HTTP_AT_END;
			return HTTP_MORE;
		}
		r->column = 0;
	}
	return HTTP_MORE;
}

static enum http_result feed_some(struct http_request *r, const char **data, size_t *len)
{
	switch (r->state) {
	case HTTP_IN_HEAD:
		return feed_head(r, data, len);
	case HTTP_IN_BODY:
		feed_bytes(r, data, len);
		if (r->left == 0)
			r->state = HTTP_AT_END;
		return HTTP_MORE;
	case HTTP_IN_SIZE:
		return feed_size(r, data, len);
	case HTTP_IN_CHUNK:
		feed_bytes(r, data, len);
		if (r->left == 0)
			r->state = HTTP_AFTER_CHUNK;
		return HTTP_MORE;
	case HTTP_AFTER_CHUNK:
		return feed_line_end(r, data, len);
	case HTTP_IN_TRAILER:
		return feed_trailer(r, data, len);
	case HTTP_AT_END:
		break;
	}
	return HTTP_WHOLE;
}

enum http_result http_feed(struct http_request *r, const char *data, size_t len, size_t *used)
{
	const char *at = data;
	size_t left = len;
	enum http_result result = HTTP_MORE;
	while (left && result == HTTP_MORE && r->state != HTTP_AT_END)
		result = feed_some(r, &at, &left);
	*used = len - left;
	if (result == HTTP_MORE && r->body.failed)
		return bad(r, 500, "memory ran out");
	return result == HTTP_MORE && r->state == HTTP_AT_END ? HTTP_WHOLE : result;
}

bool http_take_continue(struct http_request *r)
{
	bool wanted = r->expects_continue && r->state != HTTP_IN_HEAD && r->state != HTTP_AT_END && r->body.len == 0;
	if (r->state != HTTP_IN_HEAD)
		r->expects_continue = false;
	return wanted;
}

bool http_begun(const struct http_request *r)
{
	return r->head.len > 0;
}

struct slice http_header(const struct http_request *r, const char *name)
{
	for (size_t i = 0; i < r->header_count; i++)
		if (same_word(r->headers[i].name, name))
			return r->headers[i].value;
	return (struct slice){0};
}

void http_next(struct http_request *r)
{
	if (r->body.cap > 16384)
		buffer_release(&r->body);
	buffer_clear(&r->body);
	buffer_clear(&r->head);
	r->method = r->path = (struct slice){0};
	r->header_count = 0;
	r->state = HTTP_IN_HEAD;
	r->left = 0;
	r->column = 0;
	r->expects_continue = false;
	r->status = 0;
	r->why = NULL;
}

void http_release(struct http_request *r)
{
	buffer_release(&r->head);
	buffer_release(&r->body);
}

void http_write_date(struct buffer *out, const char *name, int64_t offset_ns)
{
	static const char *const days[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
	static const char *const months[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
	                                     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
	time_t now = (time_t)((clock_wall() + offset_ns) / NS_PER_S);
	struct tm t;
	if (gmtime_r(&now, &t))
		buffer_format(out, "%s: %s, %02d %s %d %02d:%02d:%02d GMT\r\n", name, days[t.tm_wday], t.tm_mday,
		              months[t.tm_mon], t.tm_year + 1900, t.tm_hour, t.tm_min, t.tm_sec);
}

const char *http_reason(int status)
{
	switch (status) {
	case 200:
		return "OK";
	case 307:
		return "Temporary Redirect";
	case 400:
		return "Bad Request";
	case 401:
		return "Unauthorized";
	case 404:
		return "Not Found";
	case 405:
		return "Method Not Allowed";
	case 408:
		return "Request Timeout";
	case 413:
		return "Content Too Large";
	case 417:
		return "Expectation Failed";
	case 429:
		return "Too Many Requests";
	case 431:
		return "Request Header Fields Too Large";
	case 500:
		return "Internal Server Error";
	case 501:
		return "Not Implemented";
	case 502:
		return "Bad Gateway";
	case 503:
		return "Service Unavailable";
	case 504:
		return "Gateway Timeout";
	default:
		return status < 500 ? "Refused" : "Failed";
	}
}
