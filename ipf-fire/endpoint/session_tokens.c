#include "endpoint/session_tokens.h"

#include "hash_index.h"
#include "header_field.h"
#include "stream/own_parts.h"
#include "text_hash.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct session_token {
	uint64_t session; /* a hash of its name */
	char *value;
};

struct session_tokens {
	const char *header;
	bool cookies;
	struct memory_use *memory;
	pthread_mutex_t lock;       /* protects the members below */
	struct session_token *list; /* hash_index.h */
	size_t size;
	struct session_tokens_counts counts;
};

int session_tokens_check(const char *header, struct ipf_error *err)
{
	struct jdoc doc = {0};
	struct ipf_error why = {0};
	char map[300];
	if (!header_name_is_valid(header, strlen(header)) || strlen(header) > 200)
		return ipf_error_set(err, IPF_USAGE, "--session-header: expected the name of a header, got \"%s\"", header);
	if (strcasecmp(header, "set-cookie") == 0)
		return 0;
	snprintf(map, sizeof map, "{\"%s\":\"x\"}", header);
	if (jdoc_parse(&doc, map, strlen(map), &why) == 0 && own_headers_check(&doc, JDOC_ROOT, &why) < 0)
		ipf_error_set(err, IPF_USAGE, "--session-header: %s", why.text);
	jdoc_release(&doc);
	return err->kind ? -1 : 0;
}

struct session_tokens *session_tokens_new(const char *header, struct memory_use *memory)
{
	struct session_tokens *t = calloc(1, sizeof *t);
	if (!t)
		return NULL;
	t->header = header;
	t->cookies = strcasecmp(header, "set-cookie") == 0;
	t->memory = memory;
	pthread_mutex_init(&t->lock, NULL);
	if (hash_index_room(t->list, t->size, 1))
		return t;
	session_tokens_free(t);
	return NULL;
}

void session_tokens_free(struct session_tokens *t)
{
	if (!t)
		return;
	for (size_t i = 0; t->list && i < t->size; i++)
		free(t->list[i].value);
	free(t->list);
	pthread_mutex_destroy(&t->lock);
	free(t);
}

static struct session_token *make(struct session_tokens *t, uint64_t session)
{
	struct session_token *found = hash_index_find(t->list, t->size, session);
	if (found->session)
		return found;
	if (t->counts.sessions == SESSION_TOKENS_MOST || !hash_index_room(t->list, t->size, (size_t)t->counts.sessions + 2))
		return NULL;
	found = hash_index_find(t->list, t->size, session);
	found->session = session;
	t->counts.sessions++;
	return found;
}

/* The cookies so far, with this one in place of an earlier one of its name: "a=1; b=2". */
static void put_cookie(const char *before, struct slice cookie, struct buffer *to)
{
	const char *equals = memchr(cookie.data, '=', cookie.len);
	size_t name = equals ? (size_t)(equals + 1 - cookie.data) : cookie.len;
	for (const char *at = before; at && *at;) {
		size_t len = strcspn(at, ";");
		if (len < name || memcmp(at, cookie.data, name) != 0) {
			buffer_append(to, at, len);
			buffer_text(to, "; ");
		}
		at += len;
		at += strspn(at, "; ");
	}
	buffer_slice(to, cookie);
}

static void keep(struct session_tokens *t, struct session_token *to, struct slice value)
{
	struct buffer text = {0};
	if (t->cookies)
		put_cookie(to->value, value, &text);
	else
		buffer_slice(&text, value);
	buffer_byte(&text, '\0');
	if (text.failed || text.len > SESSION_TOKEN_MOST || !header_value_is_valid(text.data)) {
		buffer_release(&text);
		return;
	}
	memory_use_add(t->memory, (int64_t)text.cap - (to->value ? (int64_t)strlen(to->value) + 1 : 0));
	free(to->value);
	to->value = text.data;
	t->counts.given++;
}

void session_tokens_note(struct session_tokens *t, struct slice session, struct slice name, struct slice value)
{
	if (!session.data || name.len != strlen(t->header) || strncasecmp(name.data, t->header, name.len) != 0)
		return;
	const char *attributes = t->cookies ? memchr(value.data, ';', value.len) : NULL;
	if (attributes)
		value.len = (size_t)(attributes - value.data);
	if (!value.len || memchr(value.data, '\0', value.len))
		return;
	pthread_mutex_lock(&t->lock);
	struct session_token *to = make(t, text_hash_mixed(session) | 1);
	if (to)
		keep(t, to, value);
	pthread_mutex_unlock(&t->lock);
}

bool session_tokens_line(struct session_tokens *t, struct slice session, struct buffer *line)
{
	buffer_clear(line);
	if (!session.data)
		return false;
	pthread_mutex_lock(&t->lock);
	const struct session_token *found = hash_index_find(t->list, t->size, text_hash_mixed(session) | 1);
	if (found->value) {
		buffer_text(line, t->cookies ? "Cookie" : t->header);
		buffer_text(line, ": ");
		buffer_text(line, found->value);
		t->counts.returned += !line->failed;
	}
	pthread_mutex_unlock(&t->lock);
	return line->len && !line->failed;
}

struct session_tokens_counts session_tokens_counts(struct session_tokens *t)
{
	pthread_mutex_lock(&t->lock);
	struct session_tokens_counts counts = t->counts;
	pthread_mutex_unlock(&t->lock);
	return counts;
}
