#include "verdict/failure_tally.h"

#include "absent.h"
#include "json/jdoc.h"
#include "safe_text.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GAP      "\xe2\x80\xa6"
#define KEPT     64 /* entries for texts; the rest is for kinds and status codes */
#define ID_LEN   12
#define ID_DIGIT 4

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '-';
}

/* Is it a number with at most two letters of a unit, an address or an id? `quoted`: a name, which is neither. */
static bool differs(const char *word, size_t len, bool quoted)
{
	size_t digits = 0, letters = 0;
	for (size_t i = 0; i < len; i++) {
		digits += isdigit((unsigned char)word[i]) != 0;
		letters += isalpha((unsigned char)word[i]) != 0;
	}
	if (quoted || !digits)
		return false;
	return (isdigit((unsigned char)word[0]) && letters <= 2 && letters + digits == len) ||
	       (len >= ID_LEN && digits >= ID_DIGIT);
}

/* Copies the text, with a gap for each word that differs between requests for the same reason. */
static void make_key(const char *text, char key[FAILURE_TEXT])
{
	size_t to = 0;
	for (const char *at = text; *at && to + 4 < FAILURE_TEXT;) {
		size_t len = 0;
		while (is_word(at[len]))
			len++;
		bool quoted = at > text && strchr("\"'`/.", at[-1]) && !(at - text > 1 && at[-1] == '.' && isdigit(at[-2]));
		if (len && differs(at, len, quoted)) {
			memcpy(key + to, GAP, 3);
			to += 3;
			at += len;
			/* the rest of an address, a time or a decimal number, and its unit */
			while (strchr(".:,", *at) && *at && isdigit((unsigned char)at[1]))
				at += 1 + strspn(at + 1, "0123456789");
			for (len = 0; isalpha((unsigned char)at[len]);)
				len++;
			at += len <= 2 && !is_word(at[len]) ? len : 0;
			continue;
		}
		for (len += !len; len && to + 1 < FAILURE_TEXT; len--)
			key[to++] = *at++;
	}
	key[to] = '\0';
}

static struct failure *find(struct failure_tally *t, const char *kind, int64_t status, const char *key)
{
	for (int i = 0; i < t->count; i++) {
		struct failure *f = &t->list[i];
		if (f->status == status && !strcmp(f->kind, kind) && !strcmp(f->key, key))
			return f;
	}
	return NULL;
}

void failure_tally_add(struct failure_tally *t, struct slice kind, int64_t status, struct slice text)
{
	struct failure new = {.status = status};
	safe_text(new.kind, sizeof new.kind, kind);
	safe_text(new.text, sizeof new.text, text);
	make_key(new.text, new.key);
	t->all++;
	struct failure *f = find(t, new.kind, status, new.key);
	if (!f && t->count >= KEPT) {
		new.text[0] = new.key[0] = '\0';
		f = find(t, new.kind, status, "");
	}
	if (!f && t->count == FAILURES_MOST) {
		t->others++;
		return;
	}
	if (!f) {
		f = &t->list[t->count++];
		*f = new;
	} else if (strcmp(f->text, new.text) != 0) {
		memcpy(f->text, f->key, sizeof f->text);
	}
	f->count++;
}

/* Appends the characters of a JSON text; absent: nothing. */
static void decode(struct jdoc *doc, struct slice text, struct buffer *out)
{
	struct ipf_error ignored = {0};
	if (text.data && jdoc_parse(doc, text.data, text.len, &ignored) == 0)
		jdoc_text(doc, JDOC_ROOT, out);
}

int failure_tally_add_json(struct failure_tally *t, struct slice json_kind, int64_t status, struct slice json_text)
{
	struct jdoc doc = {0};
	struct buffer kind = {0}, text = {0};
	decode(&doc, json_kind, &kind);
	decode(&doc, json_text, &text);
	failure_tally_add(t, buffer_all(&kind), status, buffer_all(&text));
	int bad = kind.failed || text.failed ? -1 : 0;
	buffer_release(&kind);
	buffer_release(&text);
	jdoc_release(&doc);
	return bad;
}

int failure_tally_add_row(struct failure_tally *t, const struct result *row)
{
	return failure_tally_add_json(t, row->error_kind, row->status, row->error_text);
}

static int by_count(const void *a, const void *b)
{
	const struct failure *x = a, *y = b;
	int order = strcmp(x->kind, y->kind);
	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	if (order == 0 && x->status != y->status)
		return x->status < y->status ? -1 : 1;
	return order ? order : strcmp(x->key, y->key);
}

void failure_tally_sort(struct failure_tally *t)
{
	qsort(t->list, (size_t)t->count, sizeof *t->list, by_count);
}

const struct failure *failure_tally_most(const struct failure_tally *t)
{
	const struct failure *most = t->count ? &t->list[0] : NULL;
	for (int i = 1; i < t->count; i++)
		if (by_count(&t->list[i], most) < 0)
			most = &t->list[i];
	return most;
}

char *failure_describe(const struct failure *f, char *text, size_t size)
{
	char what[40];
	snprintf(what, sizeof what, "%s", f->kind);
	if (f->status != IPF_ABSENT && (!strcmp(f->kind, "http-status") || f->status / 100 != 2))
		snprintf(what, sizeof what, "%lld", (long long)f->status);
	snprintf(text, size, "%s \xc3\x97%lld%s%s", what, (long long)f->count, f->text[0] ? ": " : "", f->text);
	return text;
}

/* "273 in-band, 1 reset": of a sorted list. */
static void sum_up_kinds(const struct failure_tally *t, struct buffer *out)
{
	const char *between = "";
	for (int i = 0; i < t->count; i++) {
		int64_t count = 0;
		bool before = false;
		for (int k = 0; k < t->count; k++) {
			bool same = !strcmp(t->list[k].kind, t->list[i].kind);
			before |= same && k < i;
			count += same ? t->list[k].count : 0;
		}
		if (before)
			continue;
		buffer_format(out, "%s%lld %s", between, (long long)count, t->list[i].kind);
		between = ", ";
	}
}

void failure_tally_sum_up(struct failure_tally *t, int64_t requests, const char *failed, struct buffer *out)
{
	char most[FAILURE_TEXT + 80];
	if (!t->all)
		return;
	failure_tally_sort(t);
	if (t->all < requests)
		buffer_format(out, "%lld of ", (long long)t->all);
	else
		buffer_text(out, requests == 1 ? "the " : "all ");
	buffer_format(out, "%lld request%s %s (", (long long)requests, requests == 1 ? "" : "s", failed);
	sum_up_kinds(t, out);
	buffer_format(out, "): %s%s", t->all < requests && t->count > 1 ? "most often " : "",
	              failure_describe(&t->list[0], most, sizeof most));
	const char *hint = failure_hint(&t->list[0]);
	if (hint)
		buffer_format(out, " (%s)", hint);
}

/* ---- hints ---- */

static bool has(const struct failure *f, const char *part)
{
	return strcasestr(f->text, part) != NULL;
}

static const char *hint_of_status(const struct failure *f)
{
	switch (f->status) {
	case 301:
	case 302:
	case 303:
	case 307:
	case 308:
		return has(f, "no Location") ? "ipf-fire --probe shows where to" : "redirects are not followed";
	case 401:
	case 403:
		return "--key-env or --key-file gives the API key";
	case 404:
		return has(f, "model") ? "-m names the model" : "check the path of --url, and --api";
	case 400:
	case 422:
		return has(f, "model") && (has(f, "not exist") || has(f, "not found")) ? "-m names the model" : NULL;
	case 405:
		return "check the path of --url, and --api";
	case 413:
		return "the prompts are too long for this server";
	case 429:
		return "a lower rate, or fewer users";
	case 502:
	case 503:
	case 504:
		return has(f, "load") || has(f, "start") ? "--wait-ready waits until the model is loaded"
		                                         : "--wait-ready waits until the server is ready; or a lower rate";
	default:
		return NULL;
	}
}

static const char *hint_of_connection(const struct failure *f)
{
	if (has(f, "open files") || has(f, "cannot open a socket"))
		return "raise ulimit -n, or fewer connections";
	if (has(f, "resolve"))
		return "check the host name of --url, or --resolve";
	if (has(f, "refused") || has(f, "connect to server"))
		return "check the host and port of --url; --wait-ready waits for the server";
	return NULL;
}

/* Trusting a certificate helps only if trust is missing. */
static const char *hint_of_tls(const struct failure *f)
{
	if (has(f, "wrong version number") || has(f, "packet length too long") || has(f, "connection timeout"))
		return "the server may speak http, not https";
	if (has(f, "does not match") || has(f, "no alternative certificate") || has(f, "mismatch"))
		return "the certificate is for another host: name that one in --url, with --resolve if needed; --insecure does not "
			   "check it";
	if (has(f, "expired") || has(f, "not yet valid"))
		return "check the clocks; --insecure does not check the certificate";
	if (has(f, "certificate required") || has(f, "handshake failure"))
		return "--cert and --key give a client certificate";
	return has(f, "certificate") || has(f, "verif") ? "--cacert trusts its certificate, --insecure does not check it"
	                                                : NULL;
}

const char *failure_hint(const struct failure *f)
{
	if (!strcmp(f->kind, "http-status"))
		return hint_of_status(f);
	if (!strcmp(f->kind, "connect"))
		return hint_of_connection(f);
	if (!strcmp(f->kind, "tls"))
		return hint_of_tls(f);
	if (!strcmp(f->kind, "reset"))
		return has(f, "kept connection") ? "--connections fresh avoids kept connections" : NULL;
	if (!strcmp(f->kind, "timeout"))
		return has(f, "first token") ? "--first-token-timeout, or a lower rate" : "--timeout, or a lower rate";
	if (!strcmp(f->kind, "too-large"))
		return has(f, "--memory") ? "more --memory, or fewer requests at once" : NULL;
	if (!strcmp(f->kind, "in-band") && has(f, "model") && (has(f, "not exist") || has(f, "not found")))
		return "-m names the model";
	return NULL;
}
