#include "http/http_handle.h"

#include "clock.h"
#include "http/authorities.h"
#include "http/libcurl.h"
#include "loopback.h"
#include "version.h"

static bool set_options(struct http_handle *h, const struct http_settings *s)
{
	CURL *c = h->curl;
	bool good = true;
#define SET(option, value) good &= curl_easy_setopt(c, option, value) == CURLE_OK
	SET(CURLOPT_URL, s->url);
	SET(CURLOPT_PROTOCOLS_STR, "http,https");
	SET(CURLOPT_FOLLOWLOCATION, 0L);
	SET(CURLOPT_NOSIGNAL, 1L);
	SET(CURLOPT_TIMEOUT_MS, (long)((s->timeout_ns + NS_PER_MS - 1) / NS_PER_MS));
	SET(CURLOPT_ACCEPT_ENCODING, "gzip");
	SET(CURLOPT_USERAGENT, "ipf/" IPF_VERSION);
	SET(CURLOPT_ERRORBUFFER, h->error);
	if (url_is_loopback(s->url))
		SET(CURLOPT_NOPROXY, "*");
	authorities_apply(c, s->cacert);
	if (s->insecure) {
		SET(CURLOPT_SSL_VERIFYPEER, 0L);
		SET(CURLOPT_SSL_VERIFYHOST, 0L);
	}
#undef SET
	return good;
}

int http_handle_open(struct http_handle *h, const struct http_settings *settings, struct ipf_error *err)
{
	*h = (struct http_handle){.curl = curl_easy_init(), .most_bytes = settings->most_bytes};
	return h->curl && set_options(h, settings) ? 0 : ipf_error_memory(err);
}

void http_handle_close(struct http_handle *h)
{
	curl_easy_cleanup(h->curl);
	h->curl = NULL;
}

void http_handle_begin(struct http_handle *h)
{
	h->bytes = 0;
	h->error[0] = '\0';
}

bool http_handle_takes(struct http_handle *h, size_t len)
{
	h->bytes += len;
	return h->bytes <= h->most_bytes;
}

long http_handle_status(const struct http_handle *h)
{
	long status = 0;
	curl_easy_getinfo(h->curl, CURLINFO_RESPONSE_CODE, &status);
	return status;
}

/* The status first: who takes no body of another one ends the transfer by an error. */
int http_handle_judge(const struct http_handle *h, CURLcode result, struct ipf_error *err)
{
	long status = http_handle_status(h);
	if (h->bytes > h->most_bytes)
		return ipf_error_set(err, IPF_INPUT, "answer of more than %zu MiB", h->most_bytes >> 20);
	if (status && status != 200) {
		ipf_error_set(err, IPF_INPUT, "HTTP status %ld%s", status,
		              status >= 300 && status < 400 ? " (redirects are not followed)" : "");
		return 1;
	}
	if (result != CURLE_OK)
		return ipf_error_set(err, IPF_SYSTEM, "%s", libcurl_why(result, h->error));
	return 0;
}
