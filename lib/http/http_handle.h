/* Handles of libcurl for servers beside the run: their metrics, a Prometheus, exporters of accelerators, targets of
 * --push and --otlp. Common settings are made here: http and https only, no redirects, a time limit, at most so many
 * bytes, TLS as the user wants it, no proxy for this machine, our name.
 *
 *     struct http_handle h = {0};
 *     if (http_handle_open(&h, &settings, &err) < 0) …
 *     curl_easy_setopt(h.curl, CURLOPT_WRITEFUNCTION, take_body);   // which asks http_handle_takes
 *     http_handle_begin(&h);
 *     if (http_handle_judge(&h, curl_easy_perform(h.curl), &err) != 0) …
 *     http_handle_close(&h);
 *
 * One transfer at a time; alone or with others in a multi handle. Memory: that of libcurl.
 */
#ifndef IPF_HTTP_HANDLE_H
#define IPF_HTTP_HANDLE_H

#include "error.h"

#include <curl/curl.h>
#include <stdbool.h>
#include <stdint.h>

struct http_settings {
	const char *url;    /* whether it is of this machine decides about proxies; set again if its path changes */
	int64_t timeout_ns; /* a whole transfer's */
	size_t most_bytes;  /* an answer's, when decompressed */
	const char *cacert; /* file; NULL: the system's */
	bool insecure;      /* certificates are not checked */
};

struct http_handle {
	CURL *curl; /* for the options the others have not */
	size_t bytes, most_bytes;
	char error[CURL_ERROR_SIZE];
};

/* -1: out of memory. The handle must stay where it is. */
int http_handle_open(struct http_handle *h, const struct http_settings *settings, struct ipf_error *err);
void http_handle_close(struct http_handle *h); /* may be called if it was not opened */
/* Before each transfer. */
void http_handle_begin(struct http_handle *h);
/* Counts bytes of the answer; false: they are too many, and the transfer is to end. */
bool http_handle_takes(struct http_handle *h, size_t len);
/* How a transfer ended. 0: with status 200; 1: with another one; -1: without an answer, or with too long a one. `err`
 * says why, without the URL. */
int http_handle_judge(const struct http_handle *h, CURLcode result, struct ipf_error *err);
long http_handle_status(const struct http_handle *h); /* 0: no answer */

#endif
