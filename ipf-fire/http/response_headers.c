#include "http/response_headers.h"

#include "absent.h"
#include "json/jout.h"
#include "redact.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* How much of a response header is recorded. */
enum kept { KEPT_NOT, KEPT_NAME, KEPT_VALUE };

static enum kept kept(const struct string_list *names, struct slice name)
{
	enum kept kept = KEPT_NOT;
	for (size_t i = 0; i < names->count; i++)
		if (!strcmp(names->items[i], "*"))
			kept = redact_header_is_public(name.data, name.len) ? KEPT_VALUE : kept > KEPT_NAME ? kept : KEPT_NAME;
		else if (strlen(names->items[i]) == name.len && !strncasecmp(names->items[i], name.data, name.len))
			return redact_header_is_credential(name.data, name.len) ? KEPT_NAME : KEPT_VALUE;
	return kept;
}

static void keep(struct job *job, struct slice name, struct slice value)
{
	char member[128 + 4];
	struct jout w = {.out = &job->headers};
	size_t len = 0;
	if (name.len + 4 > sizeof member || job->headers_count == RESPONSE_HEADERS_MOST)
		return;
	member[len++] = '"';
	for (size_t i = 0; i < name.len; i++)
		member[len++] = (char)(name.data[i] >= 'A' && name.data[i] <= 'Z' ? name.data[i] | 32 : name.data[i]);
	member[len++] = '"';
	member[len++] = ':';
	if (job->headers.len && memmem(job->headers.data, job->headers.len, member, len))
		return; /* keep the first of several headers with the same name */
	if (job->headers.len)
		buffer_byte(&job->headers, ',');
	buffer_append(&job->headers, member, len);
	jout_string(&w, value);
	job->headers_count++;
}

/* The value of a header without the secrets of URLs in it. */
static void keep_value(struct job *job, struct slice name, struct slice value)
{
	struct buffer clean = {0};
	char *text = value.len && memmem(value.data, value.len, "://", 3) ? slice_dup(value) : NULL;
	if (text) {
		redact_value(text, &clean);
		value = clean.failed ? slice_of(REDACTED) : buffer_all(&clean);
	}
	keep(job, name, value);
	buffer_release(&clean);
	free(text);
}

static bool is_named(struct slice name, const char *as)
{
	return name.len == strlen(as) && !strncasecmp(name.data, as, name.len);
}

/* Where a redirect leads, without the query of a URL without a host. */
static void keep_location(struct job *job, struct slice value)
{
	struct buffer clean = {0};
	size_t len = 0;
	while (len < value.len && value.data[len] != '?' && value.data[len] != '#')
		len++;
	if (memmem(value.data, value.len, "://", 3) || len == value.len) {
		keep_value(job, slice_of("location"), value);
		return;
	}
	buffer_append(&clean, value.data, len);
	buffer_text(&clean, "?" REDACTED);
	keep(job, slice_of("location"), clean.failed ? slice_of(REDACTED) : buffer_all(&clean));
	buffer_release(&clean);
}

void response_headers_note(struct job *job, const struct string_list *names, struct slice name, struct slice value)
{
	if (job->status >= 300 && job->status < 400 && is_named(name, "location"))
		keep_location(job, value);
	else if (is_named(name, "content-encoding"))
		keep(job, name, value);
	enum kept how = names->count ? kept(names, name) : KEPT_NOT;
	if (how == KEPT_NAME)
		keep(job, name, slice_of(REDACTED));
	else if (how == KEPT_VALUE)
		keep_value(job, name, value);
}

void response_headers_date(struct job *job, struct date_cache *cache, struct slice value, int64_t t_ns)
{
	if (value.len != HTTP_DATE_LENGTH || job->date_s != IPF_ABSENT)
		return;
	if (memcmp(value.data, cache->text, HTTP_DATE_LENGTH) != 0) {
		cache->date_s = http_date_parse(value);
		memcpy(cache->text, value.data, HTTP_DATE_LENGTH);
	}
	job->date_s = cache->date_s;
	job->date_ns = t_ns;
}

void response_headers_forget(struct job *job)
{
	buffer_clear(&job->headers);
	job->headers_count = 0;
	job->date_s = IPF_ABSENT;
	job->asked = (struct retry_after){0};
}
