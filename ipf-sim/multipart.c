#include "multipart.h"

#include <string.h>
#include <strings.h>

#define BOUNDARY_MOST 70

/* The unread rest. */
struct rest {
	const char *at, *end;
};

static struct rest rest_of(struct slice s)
{
	const char *at = s.len ? s.data : "";
	return (struct rest){at, at + s.len};
}

static bool skip(struct rest *r, const char *text)
{
	size_t len = strlen(text);
	if ((size_t)(r->end - r->at) < len || memcmp(r->at, text, len) != 0)
		return false;
	r->at += len;
	return true;
}

static bool skip_any_case(struct rest *r, const char *text)
{
	size_t len = strlen(text);
	if ((size_t)(r->end - r->at) < len || strncasecmp(r->at, text, len) != 0)
		return false;
	r->at += len;
	return true;
}

static int boundary_of(struct slice type, char boundary[BOUNDARY_MOST + 5], struct ipf_error *err)
{
	struct rest r = rest_of(type);
	if (!skip_any_case(&r, "multipart/form-data; boundary="))
		return ipf_error_set(err, IPF_INPUT, "Content-Type: expected multipart/form-data; boundary=…");
	size_t len = (size_t)(r.end - r.at);
	if (len == 0 || len > BOUNDARY_MOST || memchr(r.at, '"', len) || memchr(r.at, ' ', len) || memchr(r.at, ';', len))
		return ipf_error_set(err, IPF_INPUT, "Content-Type: expected a boundary of 1 to 70 characters");
	memcpy(boundary, "\r\n--", 4);
	memcpy(boundary + 4, r.at, len);
	boundary[4 + len] = '\0';
	return 0;
}

/* A value in quotes; absent: it is none. */
static struct slice quoted(struct rest *r)
{
	const char *begin = r->at + 1, *end;
	if (!skip(r, "\"") || !(end = memchr(begin, '"', (size_t)(r->end - begin))))
		return (struct slice){0};
	r->at = end + 1;
	return (struct slice){begin, (size_t)(end - begin)};
}

static int read_head(struct rest *r, struct multipart_part *part, struct ipf_error *err)
{
	if (!skip_any_case(r, "Content-Disposition: form-data; name="))
		return ipf_error_set(err, IPF_INPUT, "a part without Content-Disposition: form-data");
	part->name = quoted(r);
	if (!part->name.data || (skip(r, "; filename=") && !(part->filename = quoted(r)).data))
		return ipf_error_set(err, IPF_INPUT, "a part without a name in quotes");
	if (!skip(r, "\r\n"))
		return ipf_error_set(err, IPF_INPUT, "the head of a part does not end");
	if (skip_any_case(r, "Content-Type: ")) {
		const char *end = memchr(r->at, '\r', (size_t)(r->end - r->at));
		part->type = (struct slice){r->at, end ? (size_t)(end - r->at) : 0};
		if (!end || !part->type.len)
			return ipf_error_set(err, IPF_INPUT, "a part with an empty type");
		r->at = end;
		if (!skip(r, "\r\n"))
			return ipf_error_set(err, IPF_INPUT, "the head of a part does not end");
	}
	return skip(r, "\r\n") ? 0 : ipf_error_set(err, IPF_INPUT, "a part with another header");
}

int multipart_read(struct multipart *form, struct slice content_type, struct slice body, struct ipf_error *err)
{
	char boundary[BOUNDARY_MOST + 5];
	struct rest r = rest_of(body);
	*form = (struct multipart){0};
	if (boundary_of(content_type, boundary, err) < 0)
		return -1;
	if (!skip(&r, boundary + 2))
		return ipf_error_set(err, IPF_INPUT, "the form does not begin with its boundary");
	while (!skip(&r, "--\r\n")) {
		if (form->count == MULTIPART_MOST || !skip(&r, "\r\n"))
			return ipf_error_set(err, IPF_INPUT, "the form has too many parts, or something behind a boundary");
		struct multipart_part *part = &form->parts[form->count];
		if (read_head(&r, part, err) < 0)
			return -1;
		const char *end = memmem(r.at, (size_t)(r.end - r.at), boundary, strlen(boundary));
		if (!end)
			return ipf_error_set(err, IPF_INPUT, "the form ends within a part");
		part->data = (struct slice){r.at, (size_t)(end - r.at)};
		r.at = end + strlen(boundary);
		form->count++;
	}
	return r.at == r.end ? 0 : ipf_error_set(err, IPF_INPUT, "something follows the form");
}

const struct multipart_part *multipart_find(const struct multipart *form, const char *name)
{
	for (size_t i = 0; i < form->count; i++)
		if (slice_is(form->parts[i].name, name))
			return &form->parts[i];
	return NULL;
}
