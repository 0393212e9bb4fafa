#include "input/download.h"

#include "absent.h"
#include "clock.h"
#include "json/jdoc.h"
#include "cli/options.h"
#include "cli/units.h"
#include "version.h"

#include <curl/curl.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define HOPS_MAX        10
#define CONNECT_SECONDS 20L
#define QUIET_SECONDS   60L /* without a byte: the connection is given up */

/* One request of the way. */
struct hop {
	struct download *d;
	CURL *curl;
	bool body;            /* this answer is the file */
	int64_t from, length; /* where the answer begins, and its bytes; length IPF_ABSENT */
	int64_t retry_s;
	char location[4096];
	char words[64]; /* "Not Found" */
	int failure;    /* errno of a write */
	int64_t got;
};

struct place {
	char scheme[16], host[256], port[16];
};

static bool place_of(const char *url, struct place *p)
{
	char *scheme = NULL, *host = NULL, *port = NULL;
	CURLU *u = curl_url();
	bool good = u && !curl_url_set(u, CURLUPART_URL, url, 0) && !curl_url_get(u, CURLUPART_SCHEME, &scheme, 0) &&
	            !curl_url_get(u, CURLUPART_HOST, &host, 0) &&
	            !curl_url_get(u, CURLUPART_PORT, &port, CURLU_DEFAULT_PORT) && strlen(scheme) < sizeof p->scheme &&
	            strlen(host) < sizeof p->host && strlen(port) < sizeof p->port;
	if (good) {
		strcpy(p->scheme, scheme);
		strcpy(p->host, host);
		strcpy(p->port, port);
	}
	curl_free(scheme);
	curl_free(host);
	curl_free(port);
	curl_url_cleanup(u);
	return good;
}

static bool is_here(const struct place *p)
{
	return strcmp(p->host, "localhost") == 0 || strncmp(p->host, "127.", 4) == 0 || strcmp(p->host, "[::1]") == 0;
}

static bool same_place(const struct place *a, const struct place *b)
{
	return strcmp(a->scheme, b->scheme) == 0 && strcasecmp(a->host, b->host) == 0 && strcmp(a->port, b->port) == 0;
}

/* ---- what comes ---- */

static bool header_is(const char *line, size_t len, const char *name, char *value, size_t cap)
{
	size_t n = strlen(name);
	if (len <= n || strncasecmp(line, name, n) != 0 || line[n] != ':')
		return false;
	line += n + 1;
	len -= n + 1;
	while (len && strchr(" \t", *line)) {
		line++;
		len--;
	}
	while (len && strchr(" \t\r\n", line[len - 1]))
		len--;
	snprintf(value, cap, "%.*s", (int)(len < cap ? len : 0), line);
	return true;
}

static size_t take_header(char *line, size_t size, size_t count, void *data)
{
	struct hop *h = data;
	size_t len = size * count;
	char value[4096];
	if (len > 5 && strncmp(line, "HTTP/", 5) == 0) { /* a new answer */
		const char *space = memchr(line, ' ', len),
				   *words = space ? memchr(space + 1, ' ', len - (size_t)(space + 1 - line)) : NULL;
		h->length = IPF_ABSENT;
		h->from = 0;
		h->words[0] = h->location[0] = '\0';
		h->d->mark[0] = '\0';
		if (words)
			snprintf(h->words, sizeof h->words, "%.*s", (int)strcspn(words + 1, "\r\n"), words + 1);
	} else if (header_is(line, len, "etag", value, sizeof value)) {
		/* a weak one does not say that the bytes are the same */
		if (value[0] == '"' && strlen(value) < MARK_MAX)
			strcpy(h->d->mark, value);
	} else if (header_is(line, len, "location", value, sizeof value)) {
		strcpy(h->location, value);
	} else if (header_is(line, len, "content-length", value, sizeof value)) {
		h->length = strtoll(value, NULL, 10);
	} else if (header_is(line, len, "content-range", value, sizeof value)) {
		h->from = strncmp(value, "bytes ", 6) == 0 ? strtoll(value + 6, NULL, 10) : -1;
	} else if (header_is(line, len, "retry-after", value, sizeof value)) {
		h->retry_s = strtoll(value, NULL, 10);
	}
	return len;
}

/* The first bytes of the file: it goes on where it ended, or begins anew. */
static bool begin_body(struct hop *h)
{
	struct download *d = h->d;
	curl_easy_getinfo(h->curl, CURLINFO_RESPONSE_CODE, &d->status);
	if (d->status == 206 && h->from != d->had)
		return false;
	if (d->status == 200 && d->had > 0) {
		d->had = 0;
		if (ftruncate(d->fd, 0) < 0 || lseek(d->fd, 0, SEEK_SET) < 0) {
			h->failure = errno;
			return false;
		}
	}
	d->size = h->length == IPF_ABSENT ? IPF_ABSENT : d->had + h->length;
	h->body = true;
	return true;
}

static size_t record_fields_body(char *bytes, size_t size, size_t count, void *data)
{
	struct hop *h = data;
	struct download *d = h->d;
	size_t len = size * count, put = 0;
	curl_easy_getinfo(h->curl, CURLINFO_RESPONSE_CODE, &d->status);
	if (d->status != 200 && d->status != 206)
		return len; /* what a page says about an error is of no use here */
	if (!h->body && !begin_body(h))
		return 0;
	while (put < len) {
		ssize_t n = write(d->fd, bytes + put, len - put);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			h->failure = errno;
			return 0;
		}
		put += (size_t)n;
		d->had += n;
		h->got += n;
	}
	int64_t now;
	if (d->progress && d->progress->on && progress_due(d->progress, now = clock_now())) {
		char had[32], all[32];
		progress_show(d->progress, "%s: %sB of %sB", strrchr(d->url, '/') + 1, format_count((double)d->had, had),
		              d->size > 0 ? format_count((double)d->size, all) : "?");
	}
	return len;
}

/* ---- what is asked ---- */

static struct curl_slist *headers_for(const struct download *d, bool own_host)
{
	char line[MARK_MAX + 4096];
	struct curl_slist *list = curl_slist_append(NULL, "Accept: */*");
	if (d->token && own_host) {
		snprintf(line, sizeof line, "Authorization: Bearer %s", d->token);
		list = curl_slist_append(list, line);
	}
	if (d->unless && *d->unless) {
		snprintf(line, sizeof line, "If-None-Match: %s", d->unless);
		list = curl_slist_append(list, line);
	}
	if (d->had > 0) {
		snprintf(line, sizeof line, "If-Range: %s", d->part_mark);
		list = curl_slist_append(list, line);
		snprintf(line, sizeof line, "Range: bytes=%lld-", (long long)d->had);
		list = curl_slist_append(list, line);
	}
	return list;
}

static CURLcode ask(struct hop *h, const char *url, bool own_host, const struct place *place, char why[CURL_ERROR_SIZE])
{
	CURL *c = h->curl;
	struct curl_slist *headers = headers_for(h->d, own_host);
	curl_easy_reset(c);
	curl_easy_setopt(c, CURLOPT_URL, url);
	curl_easy_setopt(c, CURLOPT_PROTOCOLS_STR, "https,http");
	curl_easy_setopt(c, CURLOPT_USERAGENT, "ipf-prep/" IPF_VERSION);
	curl_easy_setopt(c, CURLOPT_HTTPHEADER, headers);
	curl_easy_setopt(c, CURLOPT_HEADERFUNCTION, take_header);
	curl_easy_setopt(c, CURLOPT_HEADERDATA, h);
	curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, record_fields_body);
	curl_easy_setopt(c, CURLOPT_WRITEDATA, h);
	curl_easy_setopt(c, CURLOPT_ERRORBUFFER, why);
	curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(c, CURLOPT_CONNECTTIMEOUT, CONNECT_SECONDS);
	curl_easy_setopt(c, CURLOPT_LOW_SPEED_LIMIT, 1L);
	curl_easy_setopt(c, CURLOPT_LOW_SPEED_TIME, QUIET_SECONDS);
	if (is_here(place))
		curl_easy_setopt(c, CURLOPT_NOPROXY, "*");
	why[0] = '\0';
	CURLcode code = curl_easy_perform(c);
	curl_easy_getinfo(c, CURLINFO_RESPONSE_CODE, &h->d->status);
	curl_slist_free_all(headers);
	return code;
}

static int refuse(const struct download *d, const struct hop *h, struct ipf_error *err)
{
	char more[128] = "";
	if (d->status == 401 || d->status == 403)
		snprintf(more, sizeof more, "%s",
		         d->token                      ? " (with the token of HF_TOKEN)"
		         : strncmp(d->url, "https", 5) ? ""
		                                       : " (is a token wanted? hf:// takes HF_TOKEN)");
	else if ((d->status == 429 || d->status == 503) && h->retry_s > 0)
		snprintf(more, sizeof more, " (try again in %lld s)", (long long)h->retry_s);
	return ipf_error_at(err, IPF_SYSTEM, d->url, 0, "the server answered %ld%s%s%s", d->status, h->words[0] ? " " : "",
	                    h->words, more);
}

/* An answer has come whole, or failed to. 1: go on at *next. */
static int judge(struct hop *h, CURLcode code, const char *why, char **next, struct ipf_error *err)
{
	struct download *d = h->d;
	if (h->failure)
		return ipf_error_errno(err, h->failure, d->url, "cannot keep what comes");
	if (code == CURLE_WRITE_ERROR)
		return ipf_error_at(err, IPF_SYSTEM, d->url, 0,
		                    "the server answered with another part of the file than was asked for");
	if (code != CURLE_OK) {
		d->unreached = d->status == 0;
		if (d->had > 0 && h->body)
			return ipf_error_at(err, IPF_SYSTEM, d->url, 0, "cut after %lld bytes of %lld: %s", (long long)d->had,
			                    (long long)d->size, *why ? why : curl_easy_strerror(code));
		return ipf_error_at(err, IPF_SYSTEM, d->url, 0, "%s", *why ? why : curl_easy_strerror(code));
	}
	if (d->status == 304)
		return 0;
	if (d->status >= 300 && d->status < 400 && h->location[0]) {
		char *url = NULL;
		curl_easy_getinfo(h->curl, CURLINFO_REDIRECT_URL, &url);
		*next = url ? strdup(url) : NULL;
		return *next
		           ? 1
		           : ipf_error_at(err, IPF_SYSTEM, d->url, 0, "led on to what is no address: \"%.200s\"", h->location);
	}
	if (d->status != 200 && d->status != 206)
		return refuse(d, h, err);
	if (!h->body && !begin_body(h)) /* an empty file */
		return ipf_error_at(err, IPF_SYSTEM, d->url, 0,
		                    "the server answered with another part of the file than was asked for");
	d->whole = true;
	return 0;
}

static int check_place(const char *url, const struct download *d, const struct place *before, struct place *place,
                       struct ipf_error *err)
{
	if (!place_of(url, place))
		return ipf_error_at(err, IPF_USAGE, d->url, 0, "no address of a server");
	if (strcmp(place->scheme, "https") != 0 && (strcmp(place->scheme, "http") != 0 || !is_here(place)))
		return ipf_error_at(err, before ? IPF_SYSTEM : IPF_USAGE, d->url, 0,
		                    "%s%s; only https is taken, and http from this machine", before ? "led on to " : "",
		                    place->scheme);
	if (before && strcmp(before->scheme, "https") == 0 && strcmp(place->scheme, "https") != 0)
		return ipf_error_at(err, IPF_SYSTEM, d->url, 0, "led on from https to %s", place->scheme);
	return 0;
}

int download_run(struct download *d, struct ipf_error *err)
{
	struct place own = {0}, place;
	char why[CURL_ERROR_SIZE];
	char *url = strdup(d->url);
	int status = url ? check_place(url, d, NULL, &own, err) : ipf_error_memory(err);
	CURL *curl = status == 0 ? curl_easy_init() : NULL;
	if (status == 0 && !curl)
		status = ipf_error_memory(err);
	d->status = 0;
	d->size = IPF_ABSENT;
	d->whole = d->unreached = false;
	place = own;
	int hops = 0;
	for (bool on = status == 0; on; hops++) {
		struct hop hop = {.d = d, .curl = curl, .length = IPF_ABSENT};
		char *next = NULL;
		CURLcode code = ask(&hop, url, same_place(&place, &own), &place, why);
		status = judge(&hop, code, why, &next, err);
		on = status == 1;
		if (!on)
			break;
		free(url);
		url = next;
		struct place before = place;
		status = check_place(url, d, &before, &place, err);
		if (status == 0 && hops == HOPS_MAX)
			status = ipf_error_at(err, IPF_SYSTEM, d->url, 0, "led on more than %d times", HOPS_MAX);
		on = status == 0;
	}
	curl_easy_cleanup(curl);
	free(url);
	return status;
}
