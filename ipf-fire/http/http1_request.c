#include "http/http1_request.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- entries of the list ---- */

/* The text after the name: the value without white space around it. `empty`: the entry is "Name;". */
static struct slice value_of(const char *entry, bool *empty)
{
	const char *colon = strchr(entry, ':'), *semicolon = strchr(entry, ';');
	*empty = !colon && semicolon && !semicolon[1 + strspn(semicolon + 1, " \t")];
	if (!colon)
		return (struct slice){0};
	const char *value = colon + 1 + strspn(colon + 1, " \t");
	size_t len = strlen(value);
	while (len && strchr(" \t", value[len - 1]))
		len--;
	return (struct slice){value, len};
}

static bool has_name(const char *entry, const char *name)
{
	size_t len = strlen(name);
	return !strncasecmp(entry, name, len) && (entry[len] == ':' || entry[len] == ';');
}

/* The first entry with this name; NULL. */
static const char *find(const struct curl_slist *list, const char *name)
{
	for (; list; list = list->next)
		if (has_name(list->data, name))
			return list->data;
	return NULL;
}

/* ---- the head ---- */

static void add(struct buffer *head, const char *name, struct slice value)
{
	buffer_text(head, name);
	buffer_text(head, ": ");
	buffer_slice(head, value);
	buffer_text(head, "\r\n");
}

static void add_default(const struct http1_request *q, struct buffer *head, const char *name, struct slice value)
{
	if (value.data && !find(q->headers, name))
		add(head, name, value);
}

/* The list's own value, at the place where Host belongs. */
static void add_host(const struct http1_request *q, struct buffer *head)
{
	bool empty;
	const char *own = find(q->headers, "Host");
	struct slice value = own ? value_of(own, &empty) : q->host;
	if (value.len)
		add(head, "Host", value);
}

static void add_list(const struct http1_request *q, struct buffer *head)
{
	for (const struct curl_slist *each = q->headers; each; each = each->next) {
		bool empty;
		struct slice value = value_of(each->data, &empty);
		if (empty) {
			buffer_append(head, each->data, strcspn(each->data, ";"));
			buffer_text(head, ":\r\n");
		} else if (value.len && !has_name(each->data, "Host")) {
			buffer_text(head, each->data);
			buffer_text(head, "\r\n");
		}
	}
}

static bool is_chunked(const struct http1_request *q)
{
	bool empty;
	const char *own = find(q->headers, "Transfer-Encoding");
	struct slice value = own ? value_of(own, &empty) : (struct slice){0};
	return value.len == strlen("chunked") && !strncasecmp(value.data, "chunked", value.len);
}

/* A decimal number. */
static void add_number(struct buffer *head, uint64_t number)
{
	char digits[20];
	size_t at = sizeof digits;
	do
		digits[--at] = (char)('0' + number % 10);
	while (number /= 10);
	buffer_append(head, digits + at, sizeof digits - at);
}

void http1_request_begin(const struct http1_request *q, struct buffer *head)
{
	buffer_text(head, q->method);
	buffer_byte(head, ' ');
	buffer_slice(head, q->target);
	buffer_text(head, " HTTP/1.1\r\n");
	add_host(q, head);
	add_default(q, head, "Proxy-Authorization", q->proxy_authorization);
	add_default(q, head, "Authorization", q->authorization);
	add_default(q, head, "User-Agent", q->user_agent);
	add_default(q, head, "Accept", slice_of("*/*"));
	if (q->forwarded)
		add_default(q, head, "Proxy-Connection", slice_of("Keep-Alive"));
	add_list(q, head);
}

bool http1_request_frames_itself(const struct http1_request *q)
{
	return is_chunked(q) || find(q->headers, "Content-Length");
}

void http1_request_length(const char *method, uint64_t body_bytes, struct buffer *head)
{
	if (body_bytes || !strcmp(method, "POST") || !strcmp(method, "PUT") || !strcmp(method, "PATCH")) {
		buffer_append(head, "Content-Length: ", 16);
		add_number(head, body_bytes);
		buffer_append(head, "\r\n", 2);
	}
	buffer_append(head, "\r\n", 2);
}

struct slice http1_request_head(const struct http1_request *q, struct buffer *head)
{
	http1_request_begin(q, head);
	if (!http1_request_frames_itself(q)) {
		http1_request_length(q->method, q->body_bytes, head);
		return slice_of("");
	}
	buffer_text(head, "\r\n");
	if (!is_chunked(q))
		return slice_of("");
	if (q->body_bytes)
		buffer_format(head, "%" PRIx64 "\r\n", q->body_bytes);
	return slice_of(q->body_bytes ? "\r\n0\r\n\r\n" : "0\r\n\r\n");
}
