#include "hub/download.h"

#include "absent.h"
#include "clock.h"
#include "http/libcurl.h"
#include "loopback.h"
#include "json/jdoc.h"
#include "cli/options.h"
#include "cli/units.h"
#include "http/authorities.h"
#include "redact.h"
#include "version.h"

#include <curl/curl.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

#define HOPS_MAX        10
#define COUNT_MAX       (INT64_C(1) << 60) /* larger numbers of a server count as this */
#define DAY_SECONDS     86400
#define CONNECT_SECONDS 20L
#define SILENCE_SECONDS 60                    /* without a byte of the file */
#define SIZE_MOST       (INT64_C(1024) << 30) /* a server may send without an end */

/* One request: redirects need several. */
struct hop {
	struct download *d;
	CURL *curl;
	bool own;             /* from the server the token is for */
	bool body;            /* this response is the file */
	int64_t from, length; /* where in the file the body begins; its bytes, or IPF_ABSENT */
	int64_t retry_s;
	char location[4096];
	char reason[64]; /* "Not Found" */
	int failure;     /* errno of a write */
	int64_t got;
	int64_t heard_ns; /* when the request began, or the last bytes of the file came */
};

struct server_address {
	char scheme[16], host[256], port[16];
};

static bool server_of(const char *url, struct server_address *p)
{
	*p = (struct server_address){0};
	char *scheme = NULL, *host = NULL, *port = NULL;
	CURLU *u = libcurl_url();
	bool good = u && !curl_url_set(u, CURLUPART_URL, url, CURLU_NON_SUPPORT_SCHEME) &&
	            !curl_url_get(u, CURLUPART_SCHEME, &scheme, 0) && strlen(scheme) < sizeof p->scheme;
	if (good) /* known, even if it is none of ours, for the message */
		strcpy(p->scheme, scheme);
	good = good && !curl_url_get(u, CURLUPART_HOST, &host, 0) &&
	       !curl_url_get(u, CURLUPART_PORT, &port, CURLU_DEFAULT_PORT) && strlen(host) < sizeof p->host &&
	       strlen(port) < sizeof p->port;
	if (good) {
		strcpy(p->host, host);
		strcpy(p->port, port);
	}
	curl_free(scheme);
	curl_free(host);
	curl_free(port);
	curl_url_cleanup(u);
	return good;
}

static bool same_server(const struct server_address *a, const struct server_address *b)
{
	return strcmp(a->scheme, b->scheme) == 0 && strcasecmp(a->host, b->host) == 0 && strcmp(a->port, b->port) == 0;
}

/* ---- the response ---- */

/* A number of digits only, at most COUNT_MAX; IPF_ABSENT if it is none. */
static int64_t digits(const char *text)
{
	int64_t n = 0;
	if (!*text || text[strspn(text, "0123456789")])
		return IPF_ABSENT;
	for (; *text; text++) {
		if (n > (COUNT_MAX - 9) / 10)
			return COUNT_MAX;
		n = n * 10 + (*text - '0');
	}
	return n;
}

/* Seconds until the time that Retry-After gives, which is a number of seconds or a date; IPF_ABSENT if it is neither.
 */
static int64_t retry_after(const char *value)
{
	int64_t seconds = digits(value);
	time_t date = seconds == IPF_ABSENT ? curl_getdate(value, NULL) : -1, now = time(NULL);
	return date > now ? (int64_t)(date - now) : seconds;
}

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

/* Without W/ and quotes. */
static void copy_mark(char to[MARK_MAX], char *value)
{
	size_t len = strlen(value);
	if (strncmp(value, "W/", 2) == 0) {
		value += 2;
		len -= 2;
	}
	if (len >= 2 && value[0] == '"' && value[len - 1] == '"') {
		value[len - 1] = '\0';
		value++;
	}
	snprintf(to, MARK_MAX, "%s", strlen(value) < MARK_MAX ? value : "");
}

/* The first of several responses with headers about the file counts: the next ones are a redirect's target.
 */
static void receive_hub_header(struct hub_headers *hub, const char *line, size_t len)
{
	char value[4096];
	if (header_is(line, len, "etag", value, sizeof value))
		copy_mark(hub->etag, value);
	else if (header_is(line, len, "x-linked-etag", value, sizeof value) && !hub->linked[0])
		copy_mark(hub->linked, value);
	else if (header_is(line, len, "x-linked-size", value, sizeof value) && hub->linked_size == IPF_ABSENT)
		hub->linked_size = digits(value);
	else if (header_is(line, len, "x-repo-commit", value, sizeof value) && !hub->commit[0])
		snprintf(hub->commit, sizeof hub->commit, "%.127s", value);
	else if (header_is(line, len, "x-error-code", value, sizeof value))
		snprintf(hub->error_code, sizeof hub->error_code, "%.63s", value);
	else if (header_is(line, len, "x-error-message", value, sizeof value))
		snprintf(hub->error_message, sizeof hub->error_message, "%.255s", value);
}

static size_t receive_header(char *line, size_t size, size_t count, void *data)
{
	struct hop *h = data;
	size_t len = size * count;
	char value[4096];
	if (h->own)
		receive_hub_header(&h->d->hub, line, len);
	if (len > 5 && strncmp(line, "HTTP/", 5) == 0) { /* a new response */
		const char *space = memchr(line, ' ', len),
				   *reason = space ? memchr(space + 1, ' ', len - (size_t)(space + 1 - line)) : NULL;
		h->length = IPF_ABSENT;
		h->from = 0;
		h->reason[0] = h->location[0] = '\0';
		h->d->mark[0] = '\0';
		if (reason)
			snprintf(h->reason, sizeof h->reason, "%.*s", (int)strcspn(reason + 1, "\r\n"), reason + 1);
	} else if (header_is(line, len, "etag", value, sizeof value)) {
		/* a weak one does not mean the bytes are the same */
		if (value[0] == '"' && strlen(value) < MARK_MAX)
			strcpy(h->d->mark, value);
	} else if (header_is(line, len, "location", value, sizeof value)) {
		strcpy(h->location, value);
	} else if (header_is(line, len, "content-length", value, sizeof value)) {
		h->length = digits(value);
	} else if (header_is(line, len, "content-range", value, sizeof value)) {
		char *dash = strchr(value, '-');
		if (dash)
			*dash = '\0';
		h->from = strncmp(value, "bytes ", 6) == 0 ? digits(value + 6) : IPF_ABSENT;
	} else if (header_is(line, len, "retry-after", value, sizeof value)) {
		h->retry_s = retry_after(value);
	}
	return len;
}

/* The first bytes of the file: it is resumed, or begins anew. */
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

static int64_t size_most(const struct download *d)
{
	return d->limit > 0 ? d->limit : SIZE_MOST;
}

static int64_t silence_most(const struct download *d)
{
	return d->silence_ns ? d->silence_ns : SILENCE_SECONDS * NS_PER_S;
}

/* Called about each second, and whenever bytes come. */
static int is_silent(void *data, curl_off_t all, curl_off_t now, curl_off_t sent_all, curl_off_t sent)
{
	const struct hop *h = data;
	(void)all, (void)now, (void)sent_all, (void)sent;
	return clock_now() - h->heard_ns > silence_most(h->d);
}

static size_t receive_body(char *bytes, size_t size, size_t count, void *data)
{
	struct hop *h = data;
	struct download *d = h->d;
	size_t len = size * count, put = 0;
	curl_easy_getinfo(h->curl, CURLINFO_RESPONSE_CODE, &d->status);
	if (d->status != 200 && d->status != 206)
		return len; /* the text of an error page is ignored */
	if (!h->body && !begin_body(h))
		return 0;
	h->heard_ns = clock_now();
	if ((int64_t)len > size_most(d) - d->had) {
		d->over = true;
		return 0;
	}
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
	if (d->progress && d->progress->on && progress_due(d->progress, clock_now())) {
		char had[32], all[32];
		size_t url_len = strcspn(d->url, "?#");
		const char *slash = memrchr(d->url, '/', url_len), *name = slash ? slash + 1 : d->url;
		progress_show(d->progress, "%.*s  %sB of %sB", (int)(d->url + url_len - name), name,
		              format_count((double)d->had, had), d->size > 0 ? format_count((double)d->size, all) : "?");
	}
	return len;
}

/* ---- the request ---- */

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
		if (!d->resume) {
			snprintf(line, sizeof line, "If-Range: %s", d->part_mark);
			list = curl_slist_append(list, line);
		}
		snprintf(line, sizeof line, "Range: bytes=%lld-", (long long)d->had);
		list = curl_slist_append(list, line);
	}
	return list;
}

static CURLcode request(struct hop *h, const char *url, const struct server_address *server, char why[CURL_ERROR_SIZE])
{
	CURL *c = h->curl;
	struct curl_slist *headers = headers_for(h->d, h->own);
	curl_easy_reset(c);
	curl_easy_setopt(c, CURLOPT_URL, url);
	curl_easy_setopt(c, CURLOPT_PROTOCOLS_STR, "https,http");
	curl_easy_setopt(c, CURLOPT_NOBODY, h->d->head ? 1L : 0L);
	curl_easy_setopt(c, CURLOPT_USERAGENT, "ipf/" IPF_VERSION);
	curl_easy_setopt(c, CURLOPT_HTTPHEADER, headers);
	curl_easy_setopt(c, CURLOPT_HEADERFUNCTION, receive_header);
	curl_easy_setopt(c, CURLOPT_HEADERDATA, h);
	curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, receive_body);
	curl_easy_setopt(c, CURLOPT_WRITEDATA, h);
	curl_easy_setopt(c, CURLOPT_ERRORBUFFER, why);
	curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L);
	authorities_apply(c, NULL);
	curl_easy_setopt(c, CURLOPT_CONNECTTIMEOUT, CONNECT_SECONDS);
	curl_easy_setopt(c, CURLOPT_TIMEOUT, (long)DAY_SECONDS);
	curl_easy_setopt(c, CURLOPT_NOPROGRESS, 0L);
	curl_easy_setopt(c, CURLOPT_XFERINFOFUNCTION, is_silent);
	curl_easy_setopt(c, CURLOPT_XFERINFODATA, h);
	h->heard_ns = clock_now();
	if (host_is_loopback(server->host))
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
		         d->token ? " (with the token of HF_TOKEN)"
		         : strncmp(d->url, "https", 5)
		             ? ""
		             : " (for a private file of the Hugging Face hub, set HF_TOKEN and use hf://)");
	else if ((d->status == 429 || d->status == 503) && h->retry_s > DAY_SECONDS)
		snprintf(more, sizeof more, " (try again in more than a day)");
	else if ((d->status == 429 || d->status == 503) && h->retry_s > 0)
		snprintf(more, sizeof more, " (try again in %lld s)", (long long)h->retry_s);
	else if (d->status == 304)
		snprintf(more, sizeof more, " to a request for the whole file: is a cache in between?");
	return ipf_error_at(err, IPF_SYSTEM, d->url, 0, "the server responded %ld%s%s%s", d->status,
	                    h->reason[0] ? " " : "", h->reason, more);
}

static int malformed_redirect(const struct download *d, const char *location, struct ipf_error *err)
{
	struct buffer shown = {0};
	redact_url(location, &shown);
	ipf_error_at(err, IPF_SYSTEM, d->url, 0, "redirected to a malformed address: \"%.200s\"",
	             shown.data ? shown.data : "");
	buffer_release(&shown);
	return -1;
}

/* The response is complete, or failed. 0: done; 1: redirected to *next; -1. */
static int judge(struct hop *h, CURLcode code, const char *why, char **next, struct ipf_error *err)
{
	struct download *d = h->d;
	if (h->failure)
		return ipf_error_errno(err, h->failure, d->url, "cannot write the download");
	if (d->over)
		return ipf_error_at(err, IPF_SYSTEM, d->url, 0, "the file is larger than %lld bytes", (long long)size_most(d));
	if (code == CURLE_WRITE_ERROR)
		return ipf_error_at(err, IPF_SYSTEM, d->url, 0, "the server sent another part of the file than requested");
	if (code != CURLE_OK) {
		char silent[64], wait[32];
		snprintf(silent, sizeof silent, "no byte of the file for %s", format_duration(silence_most(d), wait));
		why = code == CURLE_ABORTED_BY_CALLBACK ? silent : libcurl_why(code, why);
		d->unreached = d->status == 0;
		if (d->had > 0 && h->body)
			return ipf_error_at(err, IPF_SYSTEM, d->url, 0, "cut off after %lld of %lld bytes: %s", (long long)d->had,
			                    (long long)d->size, why);
		return ipf_error_at(err, IPF_SYSTEM, d->url, 0, "%s", why);
	}
	if (d->status == 304 && d->unless && *d->unless)
		return 0;
	if (d->status >= 300 && d->status < 400 && h->location[0]) {
		char *url = NULL;
		curl_easy_getinfo(h->curl, CURLINFO_REDIRECT_URL, &url);
		*next = url ? strdup(url) : NULL;
		return *next ? 1 : malformed_redirect(d, h->location, err);
	}
	if (d->status != 200 && d->status != 206)
		return refuse(d, h, err);
	if (d->head) {
		d->size = h->length;
		return 0;
	}
	if (!h->body && !begin_body(h)) /* the file is empty */
		return ipf_error_at(err, IPF_SYSTEM, d->url, 0, "the server sent another part of the file than requested");
	d->whole = true;
	return 0;
}

static int check_server(const char *url, const struct download *d, const struct server_address *before,
                        struct server_address *server, struct ipf_error *err)
{
	enum ipf_error_kind kind = before ? IPF_SYSTEM : IPF_USAGE; /* a server's answer is no wrong usage */
	bool good = server_of(url, server), plain = strcmp(server->scheme, "http") == 0;
	bool ours = plain || strcmp(server->scheme, "https") == 0;
	if (!good && (ours || !server->scheme[0]))
		return ipf_error_at(err, kind, d->url, 0, "%s address", before ? "redirected to a malformed" : "malformed");
	if (!ours || (plain && !host_is_loopback(server->host)))
		return ipf_error_at(err, kind, d->url, 0, "%s%s: only https is supported, and http for this machine",
		                    before ? "redirected to " : "", server->scheme);
	if (before && strcmp(before->scheme, "https") == 0 && strcmp(server->scheme, "https") != 0)
		return ipf_error_at(err, IPF_SYSTEM, d->url, 0, "redirected from https to %s", server->scheme);
	return 0;
}

int download_run(struct download *d, struct ipf_error *err)
{
	struct server_address own = {0}, server;
	char why[CURL_ERROR_SIZE];
	char *url = strdup(d->url);
	int status = url ? check_server(url, d, NULL, &own, err) : ipf_error_memory(err);
	CURL *curl = status == 0 ? curl_easy_init() : NULL;
	if (status == 0 && !curl)
		status = ipf_error_memory(err);
	d->status = 0;
	d->size = IPF_ABSENT;
	d->whole = d->unreached = d->over = false;
	d->hub = (struct hub_headers){.linked_size = IPF_ABSENT};
	server = own;
	int hops = 0;
	for (bool on = status == 0; on; hops++) {
		struct hop hop = {.d = d, .curl = curl, .length = IPF_ABSENT, .own = same_server(&server, &own)};
		char *next = NULL;
		CURLcode code = request(&hop, url, &server, why);
		status = judge(&hop, code, why, &next, err);
		on = status == 1;
		if (!on)
			break;
		free(url);
		url = next;
		struct server_address before = server;
		status = check_server(url, d, &before, &server, err);
		if (status == 0 && hops == HOPS_MAX)
			status = ipf_error_at(err, IPF_SYSTEM, d->url, 0, "redirected more than %d times", HOPS_MAX);
		on = status == 0 && !(d->head && !same_server(&server, &own));
	}
	curl_easy_cleanup(curl);
	free(url);
	return status;
}
