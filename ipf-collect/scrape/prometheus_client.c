#include "scrape/prometheus_client.h"

#include "cli/interrupt.h"
#include "clock.h"
#include "scrape/bearer.h"
#include "version.h"

#include <curl/curl.h>
#include <stdlib.h>
#include <string.h>

struct prometheus_client {
	CURL *curl;
	struct curl_slist *headers;
	struct bearer bearer;
	char *base; /* without a slash at the end */
	struct buffer url;
	struct buffer *body; /* of the request that is being made */
	bool too_large;
	char error[CURL_ERROR_SIZE];
};

static size_t take_body(char *bytes, size_t size, size_t count, void *data)
{
	struct prometheus_client *c = data;
	c->too_large = c->body->len + size * count > PROMETHEUS_BYTES_MAX;
	if (c->too_large)
		return 0;
	buffer_append(c->body, bytes, size * count);
	return c->body->failed ? 0 : size * count;
}

static int is_over(void *data, curl_off_t a, curl_off_t b, curl_off_t d, curl_off_t e)
{
	(void)data, (void)a, (void)b, (void)d, (void)e;
	return interrupted();
}

static bool set_options(struct prometheus_client *client, const struct scrape_options *o)
{
	CURL *c = client->curl;
	bool good = true;
#define SET(option, value) good &= curl_easy_setopt(c, option, value) == CURLE_OK
	SET(CURLOPT_PROTOCOLS_STR, "http,https");
	SET(CURLOPT_FOLLOWLOCATION, 0L);
	SET(CURLOPT_NOSIGNAL, 1L);
	SET(CURLOPT_TIMEOUT_MS, (long)((o->prometheus_timeout_ns + NS_PER_MS - 1) / NS_PER_MS));
	SET(CURLOPT_ACCEPT_ENCODING, "gzip");
	SET(CURLOPT_USERAGENT, "ipf-collect/" IPF_VERSION);
	SET(CURLOPT_ERRORBUFFER, client->error);
	SET(CURLOPT_HTTPHEADER, client->headers);
	SET(CURLOPT_WRITEFUNCTION, take_body);
	SET(CURLOPT_WRITEDATA, client);
	SET(CURLOPT_XFERINFOFUNCTION, is_over);
	SET(CURLOPT_NOPROGRESS, 0L);
	if (o->cacert)
		SET(CURLOPT_CAINFO, o->cacert);
	if (o->insecure) {
		SET(CURLOPT_SSL_VERIFYPEER, 0L);
		SET(CURLOPT_SSL_VERIFYHOST, 0L);
	}
#undef SET
	return good;
}

/* Paths are appended to it, so it ends before "?" and "#". */
static int check_url(const char *url, struct ipf_error *err)
{
	CURLU *u = curl_url();
	char *scheme = NULL, *host = NULL;
	bool good = u && curl_url_set(u, CURLUPART_URL, url, 0) == CURLUE_OK &&
	            curl_url_get(u, CURLUPART_SCHEME, &scheme, 0) == CURLUE_OK &&
	            (strcmp(scheme, "http") == 0 || strcmp(scheme, "https") == 0) &&
	            curl_url_get(u, CURLUPART_HOST, &host, 0) == CURLUE_OK && !strpbrk(url, "?#");
	curl_free(scheme);
	curl_free(host);
	curl_url_cleanup(u);
	return good ? 0
	            : ipf_error_set(err, IPF_USAGE,
	                            "--prometheus: expected a URL with http or https and no query, got \"%s\"", url);
}

int prometheus_client_open(struct prometheus_client **client, const struct scrape_options *options,
                           struct ipf_error *err)
{
	struct prometheus_client *c = calloc(1, sizeof *c);
	*client = c;
	if (!c)
		return ipf_error_memory(err);
	if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
		return ipf_error_set(err, IPF_SYSTEM, "libcurl cannot start");
	c->bearer.source = options->prometheus_bearer;
	if (check_url(options->prometheus, err) < 0 || bearer_read(&c->bearer, err) < 0)
		return -1;
	size_t len = strlen(options->prometheus);
	while (len && options->prometheus[len - 1] == '/')
		len--;
	c->base = strndup(options->prometheus, len);
	c->curl = curl_easy_init();
	c->headers = curl_slist_append(NULL, "Accept: application/json");
	if (!c->base || !c->curl || !c->headers || (c->bearer.header && !curl_slist_append(c->headers, c->bearer.header)))
		return ipf_error_memory(err);
	return set_options(c, options) ? 0 : ipf_error_memory(err);
}

void prometheus_client_close(struct prometheus_client *c)
{
	if (!c)
		return;
	curl_easy_cleanup(c->curl);
	curl_slist_free_all(c->headers);
	bearer_release(&c->bearer);
	buffer_release(&c->url);
	free(c->base);
	free(c);
}

void prometheus_client_param(const struct prometheus_client *c, const char *name, struct slice value,
                             struct buffer *params)
{
	char *escaped = curl_easy_escape(c->curl, value.data, (int)value.len);
	buffer_format(params, "%s%s=", params->len ? "&" : "", name);
	buffer_text(params, escaped ? escaped : "");
	params->failed |= !escaped;
	curl_free(escaped);
}

static int ask(struct prometheus_client *c, struct buffer *body, struct ipf_error *err)
{
	long status = 0;
	c->body = body;
	c->too_large = false;
	*c->error = '\0';
	buffer_clear(body);
	CURLcode code = curl_easy_perform(c->curl);
	curl_easy_getinfo(c->curl, CURLINFO_RESPONSE_CODE, &status);
	if (body->failed)
		return ipf_error_memory(err);
	if (c->too_large)
		return ipf_error_set(err, IPF_INPUT, "answer of more than %zu MiB", PROMETHEUS_BYTES_MAX >> 20);
	if (code == CURLE_ABORTED_BY_CALLBACK)
		return ipf_error_set(err, IPF_SYSTEM, "interrupted");
	if (code != CURLE_OK)
		return ipf_error_set(err, IPF_SYSTEM, "%s", *c->error ? c->error : curl_easy_strerror(code));
	if (status == 200)
		return 0;
	ipf_error_set(err, IPF_INPUT, "HTTP status %ld%s", status,
	              status >= 300 && status < 400 ? " (redirects are not followed)" : "");
	return 1;
}

static bool set_url(struct prometheus_client *c, const char *path, const struct buffer *params)
{
	buffer_clear(&c->url);
	buffer_text(&c->url, c->base);
	buffer_text(&c->url, path);
	if (params)
		buffer_format(&c->url, "?%s", params->data);
	return !c->url.failed && curl_easy_setopt(c->curl, CURLOPT_URL, c->url.data) == CURLE_OK;
}

int prometheus_client_get(struct prometheus_client *c, const char *path, const struct buffer *params,
                          struct buffer *body, struct ipf_error *err)
{
	if (params->failed || !set_url(c, path, params) || curl_easy_setopt(c->curl, CURLOPT_HTTPGET, 1L) != CURLE_OK)
		return ipf_error_memory(err);
	return ask(c, body, err);
}

int prometheus_client_post(struct prometheus_client *c, const char *path, const struct buffer *params,
                           struct buffer *body, struct ipf_error *err)
{
	if (params->failed || !set_url(c, path, NULL) ||
	    curl_easy_setopt(c->curl, CURLOPT_POSTFIELDSIZE, (long)params->len) != CURLE_OK ||
	    curl_easy_setopt(c->curl, CURLOPT_COPYPOSTFIELDS, params->data) != CURLE_OK)
		return ipf_error_memory(err);
	return ask(c, body, err);
}
