#include "scrape/prometheus_client.h"

#include "cli/interrupt.h"
#include "http/http_handle.h"
#include "http/libcurl.h"
#include "scrape/bearer.h"

#include <stdlib.h>
#include <string.h>

struct prometheus_client {
	struct http_handle http;
	struct curl_slist *headers;
	struct bearer bearer;
	char *base; /* without a slash at the end */
	struct buffer url;
	struct buffer *body; /* the request being made */
};

static size_t take_body(char *bytes, size_t size, size_t count, void *data)
{
	struct prometheus_client *c = data;
	if (!http_handle_takes(&c->http, size * count))
		return 0;
	buffer_append(c->body, bytes, size * count);
	return c->body->failed ? 0 : size * count;
}

static int is_over(void *data, curl_off_t a, curl_off_t b, curl_off_t d, curl_off_t e)
{
	(void)data, (void)a, (void)b, (void)d, (void)e;
	return interrupted();
}

static int open_handle(struct prometheus_client *client, const struct scrape_options *o, struct ipf_error *err)
{
	const struct http_settings settings = {.url = client->base,
	                                       .timeout_ns = o->prometheus_timeout_ns,
	                                       .most_bytes = PROMETHEUS_BYTES_MAX,
	                                       .cacert = o->cacert,
	                                       .insecure = o->insecure};
	if (http_handle_open(&client->http, &settings, err) < 0)
		return -1;
	CURL *c = client->http.curl;
	bool good = true;
#define SET(option, value) good &= curl_easy_setopt(c, option, value) == CURLE_OK
	SET(CURLOPT_HTTPHEADER, client->headers);
	SET(CURLOPT_WRITEFUNCTION, take_body);
	SET(CURLOPT_WRITEDATA, client);
	SET(CURLOPT_XFERINFOFUNCTION, is_over);
	SET(CURLOPT_NOPROGRESS, 0L);
#undef SET
	return good ? 0 : ipf_error_memory(err);
}

/* Paths are appended to it, so it ends before "?" and "#". */
static int check_url(const char *url, struct ipf_error *err)
{
	CURLU *u = libcurl_url();
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
	if (libcurl_start(err) < 0)
		return -1;
	c->bearer.source = options->prometheus_bearer;
	if (check_url(options->prometheus, err) < 0 || bearer_read(&c->bearer, err) < 0)
		return -1;
	size_t len = strlen(options->prometheus);
	while (len && options->prometheus[len - 1] == '/')
		len--;
	c->base = strndup(options->prometheus, len);
	c->headers = curl_slist_append(NULL, "Accept: application/json");
	if (!c->base || !c->headers || (c->bearer.header && !curl_slist_append(c->headers, c->bearer.header)))
		return ipf_error_memory(err);
	return open_handle(c, options, err);
}

void prometheus_client_close(struct prometheus_client *c)
{
	if (!c)
		return;
	http_handle_close(&c->http);
	curl_slist_free_all(c->headers);
	bearer_release(&c->bearer);
	buffer_release(&c->url);
	free(c->base);
	free(c);
}

void prometheus_client_param(const struct prometheus_client *c, const char *name, struct slice value,
                             struct buffer *params)
{
	char *escaped = curl_easy_escape(c->http.curl, value.data, (int)value.len);
	buffer_format(params, "%s%s=", params->len ? "&" : "", name);
	buffer_text(params, escaped ? escaped : "");
	params->failed |= !escaped;
	curl_free(escaped);
}

static int ask(struct prometheus_client *c, struct buffer *body, struct ipf_error *err)
{
	c->body = body;
	buffer_clear(body);
	http_handle_begin(&c->http);
	CURLcode code = curl_easy_perform(c->http.curl);
	if (body->failed)
		return ipf_error_memory(err);
	if (code == CURLE_ABORTED_BY_CALLBACK)
		return ipf_error_set(err, IPF_SYSTEM, "interrupted");
	return http_handle_judge(&c->http, code, err);
}

static bool set_url(struct prometheus_client *c, const char *path, const struct buffer *params)
{
	buffer_clear(&c->url);
	buffer_text(&c->url, c->base);
	buffer_text(&c->url, path);
	if (params)
		buffer_format(&c->url, "?%s", params->data);
	return !c->url.failed && curl_easy_setopt(c->http.curl, CURLOPT_URL, c->url.data) == CURLE_OK;
}

int prometheus_client_get(struct prometheus_client *c, const char *path, const struct buffer *params,
                          struct buffer *body, struct ipf_error *err)
{
	if (params->failed || !set_url(c, path, params) || curl_easy_setopt(c->http.curl, CURLOPT_HTTPGET, 1L) != CURLE_OK)
		return ipf_error_memory(err);
	return ask(c, body, err);
}

int prometheus_client_post(struct prometheus_client *c, const char *path, const struct buffer *params,
                           struct buffer *body, struct ipf_error *err)
{
	if (params->failed || !set_url(c, path, NULL) ||
	    curl_easy_setopt(c->http.curl, CURLOPT_POSTFIELDSIZE, (long)params->len) != CURLE_OK ||
	    curl_easy_setopt(c->http.curl, CURLOPT_COPYPOSTFIELDS, params->data) != CURLE_OK)
		return ipf_error_memory(err);
	return ask(c, body, err);
}
