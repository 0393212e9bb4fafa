#include "api/answer_message.h"

#include "api/error_message.h"

#include <string.h>
#include <strings.h>

#define LOCATION_MOST 150 /* characters */

const char *const answer_id_headers[] = {"x-request-id", "request-id", "x-amzn-requestid", "apim-request-id", NULL};

bool answer_is_redirect(int64_t status)
{
	return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

/* The characters of a recorded header; nothing if it was not recorded. */
static void find_header(struct jdoc *doc, struct slice headers, const char *name, struct buffer *out)
{
	struct ipf_error ignored = {0};
	if (headers.data && memmem(headers.data, headers.len, name, strlen(name)) &&
	    jdoc_parse(doc, headers.data, headers.len, &ignored) == 0)
		jdoc_text(doc, jdoc_get(doc, JDOC_ROOT, name), out);
}

/* ---- compressed bodies ---- */

/* The encoding the first bytes show; NULL: none. */
static const char *encoding_of(struct slice body)
{
	if (body.len >= 3 && !memcmp(body.data, "\x1f\x8b\x08", 3))
		return "gzip";
	if (body.len >= 4 && !memcmp(body.data, "\x28\xb5\x2f\xfd", 4))
		return "zstd";
	return NULL;
}

bool answer_compressed(struct jdoc *doc, const struct answer_head *head, struct buffer *out)
{
	struct buffer named = {0};
	const char *seen = encoding_of(head->body);
	find_header(doc, head->headers, "content-encoding", &named);
	bool compressed = seen || (named.len && strcasecmp(named.data, "identity") != 0 && head->body.len &&
	                           !error_message_is_text(head->body));
	if (compressed && named.len) {
		buffer_text(out, "the body is compressed (Content-Encoding: ");
		error_message_plain(buffer_all(&named), 40, out);
		buffer_text(out, "), which was not requested");
	} else if (compressed) {
		buffer_format(out, "the body is compressed (%s, by its first bytes), which was not requested", seen);
	}
	buffer_release(&named);
	return compressed;
}

/* ---- redirects ---- */

/* The URL without query and fragment, which may have secrets and are no part of --url. */
static struct slice without_query(struct slice url)
{
	size_t len = 0;
	while (len < url.len && url.data[len] != '?' && url.data[len] != '#')
		len++;
	return (struct slice){url.data, len};
}

static bool begins(struct slice text, const char *with)
{
	return text.len >= strlen(with) && !strncasecmp(text.data, with, strlen(with));
}

/* Has the URL a path ending with a slash? --url ignores that slash. */
static bool ends_with_slash(struct slice url)
{
	const char *host = memmem(url.data, url.len, "//", 2);
	const char *path = host ? host + 2 : url.data;
	path = memchr(path, '/', url.len - (size_t)(path - url.data));
	return path && path + 1 < url.data + url.len && url.data[url.len - 1] == '/';
}

static void redirect_message(struct slice location, struct buffer *out)
{
	struct slice url = without_query(location);
	bool absolute = begins(url, "http://") || begins(url, "https://");
	buffer_text(out, "redirected to ");
	error_message_plain(url, LOCATION_MOST, out);
	if (ends_with_slash(url))
		buffer_text(out, ": use its path in an API descriptor (--api), as --url ignores the last slash");
	else if (absolute)
		buffer_text(out, ": use it as --url");
	else
		buffer_text(out, " on the same server: use it as the path of --url");
}

void answer_message(struct jdoc *doc, const struct answer_head *head, struct buffer *out)
{
	struct buffer location = {0};
	if (answer_is_redirect(head->status))
		find_header(doc, head->headers, "location", &location);
	if (location.len)
		redirect_message(buffer_all(&location), out);
	else if (answer_is_redirect(head->status))
		buffer_text(out, "redirected (no Location recorded)");
	else if (!answer_compressed(doc, head, out))
		error_message_of_body(doc, head->body, out);
	buffer_release(&location);
}
