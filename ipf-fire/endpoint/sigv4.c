#include "endpoint/sigv4.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HASH 32

struct signer {
	char *id, *secret, *token, *region, *service;
};

/* ---- keys and region ---- */

/* "us-east-1" in "https://runtime.sagemaker.us-east-1.amazonaws.com/…". */
static char *region_of(const char *url)
{
	const char *host = strstr(url, "://"), *end = host ? strstr(host, ".amazonaws.com") : NULL, *begin = end;
	if (!host || !end || (size_t)(end - host) > strcspn(host + 3, "/?:") + 3)
		return NULL;
	while (begin > host && begin[-1] != '.' && begin[-1] != '/')
		begin--;
	return begin < end ? strndup(begin, (size_t)(end - begin)) : NULL;
}

static int take(const char *name, bool optional, char **to, struct ipf_error *err)
{
	const char *value = getenv(name);
	if (!value || !*value)
		return optional
		           ? 0
		           : ipf_error_set(err, IPF_USAGE,
		                           "%s is not set in the environment: this API requires it to sign requests", name);
	if (strpbrk(value, "\r\n"))
		return ipf_error_set(err, IPF_USAGE, "%s: the key has several lines, expected one", name);
	*to = strdup(value);
	return *to ? 0 : ipf_error_memory(err);
}

int signer_new(struct signer **signer, const char *service, const char *url, struct ipf_error *err)
{
	struct signer *s = *signer = calloc(1, sizeof *s);
	if (!s || !(s->service = strdup(service)))
		return ipf_error_memory(err);
	if (take("AWS_ACCESS_KEY_ID", false, &s->id, err) < 0 ||
	    take("AWS_SECRET_ACCESS_KEY", false, &s->secret, err) < 0 ||
	    take("AWS_SESSION_TOKEN", true, &s->token, err) < 0 || take("AWS_REGION", true, &s->region, err) < 0 ||
	    (!s->region && take("AWS_DEFAULT_REGION", true, &s->region, err) < 0))
		return -1;
	if (!s->region)
		s->region = region_of(url);
	return s->region
	           ? 0
	           : ipf_error_set(
					 err, IPF_USAGE,
					 "AWS_REGION is not set in the environment, and the host of the URL does not contain the region");
}

static void forget(char *text)
{
	if (text)
		explicit_bzero(text, strlen(text));
	free(text);
}

void signer_free(struct signer *s)
{
	if (!s)
		return;
	forget(s->secret);
	forget(s->token);
	free(s->id);
	free(s->region);
	free(s->service);
	explicit_bzero(s, sizeof *s);
	free(s);
}

/* ---- the canonical request ---- */

static void append_hex(struct buffer *out, const unsigned char hash[HASH])
{
	for (size_t i = 0; i < HASH; i++)
		buffer_format(out, "%02x", hash[i]);
}

static bool sha256(const void *data, size_t len, unsigned char hash[HASH])
{
	unsigned size = HASH;
	return EVP_Digest(data, len, hash, &size, EVP_sha256(), NULL) == 1;
}

static bool hmac(const void *key, size_t key_len, struct slice text, unsigned char hash[HASH])
{
	unsigned size = HASH;
	unsigned char result[HASH];
	if (!HMAC(EVP_sha256(), key, (int)key_len, (const unsigned char *)text.data, text.len, result, &size))
		return false;
	memcpy(hash, result, HASH);
	return true;
}

static void append_escaped(struct buffer *out, const char *text, size_t len, const char *beside)
{
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)text[i];
		bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
		             (c && strchr("-._~", c)) || (c && strchr(beside, c));
		if (plain)
			buffer_byte(out, (char)c);
		else
			buffer_format(out, "%%%02X", c);
	}
}

static int by_bytes(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The parameters sorted, each with its "="; they are escaped already. */
static bool append_query(struct buffer *out, const char *query)
{
	char *parts[64], *copy = strdup(query), *rest = copy, *part;
	size_t count = 0;
	while (copy && count < sizeof parts / sizeof *parts && (part = strsep(&rest, "&")))
		parts[count++] = part;
	bool whole = copy && !rest;
	qsort(parts, count, sizeof *parts, by_bytes);
	for (size_t i = 0; i < count; i++)
		buffer_format(out, "%s%s%s", i ? "&" : "", parts[i], strchr(parts[i], '=') ? "" : "=");
	free(copy);
	return whole;
}

/* The method, the path (escaped once more, as all services except S3 require) and the query. `host` is set to the host
 * as it is sent. */
static bool append_resource(struct buffer *out, const char *method, const char *url, struct slice *host)
{
	const char *begin = strstr(url, "://"), *at, *path, *query;
	if (!begin)
		return false;
	begin += 3;
	size_t len = strcspn(begin, "/?#");
	at = memrchr(begin, '@', len);
	*host = at ? (struct slice){at + 1, len - (size_t)(at + 1 - begin)} : (struct slice){begin, len};
	const char *usual = !strncmp(url, "https:", 6) ? ":443" : ":80"; /* libcurl does not send the default port */
	if (host->len > strlen(usual) && !strncmp(host->data + host->len - strlen(usual), usual, strlen(usual)))
		host->len -= strlen(usual);
	path = begin + len;
	size_t path_len = strcspn(path, "?#");
	buffer_format(out, "%s\n", method);
	append_escaped(out, path_len ? path : "/", path_len ? path_len : 1, "/");
	buffer_byte(out, '\n');
	query = path[path_len] == '?' ? path + path_len + 1 : "";
	bool good = !*query || append_query(out, query);
	buffer_byte(out, '\n');
	return good;
}

/* The signing key of a day. */
static bool derive(const struct signer *s, const char date[9], unsigned char key[HASH])
{
	struct buffer first = {0};
	buffer_format(&first, "AWS4%s", s->secret);
	bool good = !first.failed && hmac(first.data, first.len, slice_of(date), key) &&
	            hmac(key, HASH, slice_of(s->region), key) && hmac(key, HASH, slice_of(s->service), key) &&
	            hmac(key, HASH, slice_of("aws4_request"), key);
	if (first.data)
		explicit_bzero(first.data, first.len);
	buffer_release(&first);
	return good;
}

/* The string to sign; it contains only the hash of the request. */
static bool append_string_to_sign(const struct signer *s, struct buffer *out, const char *timestamp,
                                  const struct buffer *request)
{
	unsigned char hash[HASH];
	if (request->failed || !sha256(request->data, request->len, hash))
		return false;
	buffer_format(out, "AWS4-HMAC-SHA256\n%s\n%.8s/%s/%s/aws4_request\n", timestamp, timestamp, s->region, s->service);
	append_hex(out, hash);
	return !out->failed;
}

static struct curl_slist *add_header(struct curl_slist *list, bool *good, const char *name, const struct buffer *value)
{
	struct buffer line = {0};
	buffer_format(&line, "%s: %s", name, value->data);
	struct curl_slist *longer = line.failed || value->failed ? NULL : curl_slist_append(list, line.data);
	buffer_release(&line);
	*good &= longer != NULL;
	return longer ? longer : list;
}

struct curl_slist *signer_headers(const struct signer *s, const char *method, const char *url, struct slice body,
                                  time_t now)
{
	static const char names[] = "host;x-amz-date", with_token[] = "host;x-amz-date;x-amz-security-token";
	struct buffer request = {0}, text = {0}, value = {0};
	struct curl_slist *list = NULL;
	unsigned char hash[HASH], key[HASH];
	char timestamp[24], date[9];
	struct slice host;
	struct tm tm;
	bool good = gmtime_r(&now, &tm) && strftime(timestamp, sizeof timestamp, "%Y%m%dT%H%M%SZ", &tm);
	snprintf(date, sizeof date, "%.8s", timestamp);
	good = good && append_resource(&request, method, url, &host) && derive(s, date, key) &&
	       sha256(body.data ? body.data : "", body.len, hash);
	if (good) {
		buffer_format(&request, "host:%.*s\nx-amz-date:%s\n", (int)host.len, host.data, timestamp);
		if (s->token)
			buffer_format(&request, "x-amz-security-token:%s\n", s->token);
		buffer_format(&request, "\n%s\n", s->token ? with_token : names);
		append_hex(&request, hash);
		good = append_string_to_sign(s, &text, timestamp, &request) && hmac(key, HASH, buffer_all(&text), hash);
	}
	if (good) {
		buffer_format(&value,
		              "AWS4-HMAC-SHA256 Credential=%s/%s/%s/%s/aws4_request, SignedHeaders=%s, Signature=", s->id, date,
		              s->region, s->service, s->token ? with_token : names);
		append_hex(&value, hash);
		list = add_header(list, &good, "Authorization", &value);
		buffer_clear(&value);
		buffer_text(&value, timestamp);
		list = add_header(list, &good, "X-Amz-Date", &value);
		buffer_clear(&value);
		buffer_text(&value, s->token ? s->token : "");
		if (s->token)
			list = add_header(list, &good, "X-Amz-Security-Token", &value);
	}
	if (!good) {
		curl_slist_free_all(list);
		list = NULL;
	}
	explicit_bzero(key, sizeof key);
	if (request.data)
		explicit_bzero(request.data, request.len);
	if (value.data)
		explicit_bzero(value.data, value.cap);
	buffer_release(&request);
	buffer_release(&text);
	buffer_release(&value);
	return list;
}
