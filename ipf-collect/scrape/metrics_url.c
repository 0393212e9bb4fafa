#include "scrape/metrics_url.h"

#include "http/libcurl.h"

#include <curl/curl.h>
#include <string.h>

bool metrics_url_parse(struct metrics_url *url, const char *text)
{
	CURLU *u = libcurl_url();
	char *path = NULL;
	*url = (struct metrics_url){0};
	bool good = u && curl_url_set(u, CURLUPART_URL, text, 0) == CURLUE_OK &&
	            curl_url_get(u, CURLUPART_SCHEME, &url->scheme, 0) == CURLUE_OK &&
	            curl_url_get(u, CURLUPART_HOST, &url->host, 0) == CURLUE_OK &&
	            curl_url_get(u, CURLUPART_PORT, &url->port, CURLU_DEFAULT_PORT) == CURLUE_OK &&
	            curl_url_get(u, CURLUPART_PATH, &path, 0) == CURLUE_OK &&
	            (strcmp(path, "/") != 0 || curl_url_set(u, CURLUPART_PATH, "/metrics", 0) == CURLUE_OK) &&
	            curl_url_get(u, CURLUPART_URL, &url->whole, 0) == CURLUE_OK;
	curl_free(path);
	curl_url_cleanup(u);
	return good;
}

void metrics_url_release(struct metrics_url *url)
{
	curl_free(url->whole);
	curl_free(url->scheme);
	curl_free(url->host);
	curl_free(url->port);
}
