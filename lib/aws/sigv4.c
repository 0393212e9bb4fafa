#include "aws/sigv4.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define HASH 32

#define HEADERS_MOST 16 /* that are signed */

struct signer {
	char *id, *secret, *token, *region, *service;
	bool s3;
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

/* `use` NULL: it may be missing. */
static int take(const char *name, const char *use, char **to, struct ipf_error *err)
{
	const char *value = getenv(name);
	if (!value || !*value)
		return use ? ipf_error_set(err, IPF_USAGE, "%s is not set in the environment: %s", name, use) : 0;
	if (strpbrk(value, "\r\n"))
		return ipf_error_set(err, IPF_USAGE, "%s: the key has several lines, expected one", name);
	*to = strdup(value);
	return *to ? 0 : ipf_error_memory(err);
}

struct signer_source signer_aws(const char *service, const char *url)
{
	return (struct signer_source){.service = service,
	                              .id_name = "AWS_ACCESS_KEY_ID",
	                              .secret_name = "AWS_SECRET_ACCESS_KEY",
	                              .token_name = "AWS_SESSION_TOKEN",
	                              .url = url,
	                              .use = "this API requires it to sign requests"};
}

int signer_new(struct signer **signer, const struct signer_source *from, struct ipf_error *err)
{
	struct signer *s = *signer = calloc(1, sizeof *s);
	if (!s || !(s->service = strdup(from->service)) || (from->region && !(s->region = strdup(from->region))))
		return ipf_error_memory(err);
	s->s3 = strcmp(from->service, "s3") == 0;
	if (take(from->id_name, from->use, &s->id, err) < 0 || take(from->secret_name, from->use, &s->secret, err) < 0 ||
	    (from->token_name && take(from->token_name, NULL, &s->token, err) < 0) ||
	    (!s->region && take("AWS_REGION", NULL, &s->region, err) < 0) ||
	    (!s->region && take("AWS_DEFAULT_REGION", NULL, &s->region, err) < 0))
		return -1;
	if (!s->region && from->url)
		s->region = region_of(from->url);
	return s->region
	           ? 0
	           : ipf_error_set(
					 err, IPF_USAGE,
					 "AWS_REGION is not set in the environment, and the host of the URL does not contain the region");
}

bool signer_is_repeated(const struct signer *s, struct slice text)
{
	return text.len && (memmem(text.data, text.len, s->secret, strlen(s->secret)) ||
	                    (s->token && memmem(text.data, text.len, s->token, strlen(s->token))));
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
static bool append_resource(struct buffer *out, const char *method, const char *url, bool s3, struct slice *host)
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
	append_escaped(out, path_len ? path : "/", path_len ? path_len : 1, s3 ? "/%" : "/");
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

/* ---- the headers ---- */

static bool add(struct curl_slist **list, const char *name, const char *value)
{
	struct buffer line = {0};
	buffer_format(&line, "%s: %s", name, value);
	struct curl_slist *longer = line.failed ? NULL : curl_slist_append(*list, line.data);
	if (line.data)
		explicit_bzero(line.data, line.len);
	buffer_release(&line);
	if (longer)
		*list = longer;
	return longer;
}

static int by_name(const void *a, const void *b)
{
	const char *x = *(const char *const *)a, *y = *(const char *const *)b;
	size_t x_len = strcspn(x, ":"), y_len = strcspn(y, ":");
	int order = strncasecmp(x, y, x_len < y_len ? x_len : y_len);
	return order ? order : (x_len > y_len) - (x_len < y_len);
}

static void append_lower(struct buffer *out, const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		buffer_byte(out, text[i] >= 'A' && text[i] <= 'Z' ? (char)(text[i] | 0x20) : text[i]);
}

/* The headers as they are signed, sorted, and the names of all of them. */
static bool append_headers(struct buffer *out, const struct curl_slist *list, struct buffer *names)
{
	const char *lines[HEADERS_MOST];
	size_t count = 0;
	for (; list; list = list->next) {
		if (count == HEADERS_MOST)
			return false;
		lines[count++] = list->data;
	}
	qsort(lines, count, sizeof *lines, by_name);
	for (size_t i = 0; i < count; i++) {
		size_t name_len = strcspn(lines[i], ":");
		const char *value = lines[i] + name_len + 1;
		append_lower(out, lines[i], name_len);
		buffer_format(out, ":%s\n", value + strspn(value, " "));
		if (i)
			buffer_byte(names, ';');
		append_lower(names, lines[i], name_len);
	}
	return !out->failed && !names->failed;
}

/* All headers signed. The host is the first: it is signed, but libcurl sends it. */
static struct curl_slist *list_headers(const struct signer *s, const struct signed_request *r, struct slice host,
                                       const char *timestamp, const char *body_sha256)
{
	struct curl_slist *list = NULL;
	char *host_name = slice_dup(host);
	bool good = host_name && add(&list, "Host", host_name) && add(&list, "X-Amz-Date", timestamp) &&
	            (!s->token || add(&list, "X-Amz-Security-Token", s->token)) &&
	            (!s->s3 || add(&list, "X-Amz-Content-Sha256", body_sha256));
	for (const struct curl_slist *own = r->headers; own && good; own = own->next) {
		struct curl_slist *longer = curl_slist_append(list, own->data);
		good = longer != NULL;
	}
	free(host_name);
	if (good)
		return list;
	curl_slist_free_all(list);
	return NULL;
}

/* In place of the host, the first header. */
static bool put_authorization(const struct signer *s, struct curl_slist *list, const char *date, const char *names,
                              const unsigned char hash[HASH])
{
	struct buffer line = {0};
	buffer_format(&line,
	              "Authorization: AWS4-HMAC-SHA256 Credential=%s/%s/%s/%s/aws4_request, SignedHeaders=%s, Signature=",
	              s->id, date, s->region, s->service, names);
	append_hex(&line, hash);
	char *text = line.failed ? NULL : strdup(line.data);
	buffer_release(&line);
	if (!text)
		return false;
	free(list->data);
	list->data = text;
	return true;
}

static bool body_hash(const struct signed_request *r, struct buffer *hex)
{
	unsigned char hash[HASH];
	if (r->body_sha256)
		buffer_text(hex, r->body_sha256);
	else if (sha256(r->body.data ? r->body.data : "", r->body.len, hash))
		append_hex(hex, hash);
	return hex->len && !hex->failed;
}

struct curl_slist *signer_headers(const struct signer *s, const struct signed_request *r)
{
	struct buffer request = {0}, text = {0}, names = {0}, body_sha256 = {0};
	struct curl_slist *list = NULL;
	unsigned char hash[HASH], key[HASH];
	char timestamp[24], date[9];
	struct slice host;
	struct tm tm;
	bool good = gmtime_r(&r->now, &tm) && strftime(timestamp, sizeof timestamp, "%Y%m%dT%H%M%SZ", &tm);
	snprintf(date, sizeof date, "%.8s", timestamp);
	good = good && append_resource(&request, r->method, r->url, s->s3, &host) && derive(s, date, key) &&
	       body_hash(r, &body_sha256) && (list = list_headers(s, r, host, timestamp, body_sha256.data)) &&
	       append_headers(&request, list, &names);
	if (good) {
		buffer_format(&request, "\n%s\n%s", names.data, body_sha256.data);
		good = append_string_to_sign(s, &text, timestamp, &request) && hmac(key, HASH, buffer_all(&text), hash) &&
		       put_authorization(s, list, date, names.data, hash);
	}
	if (!good) {
		curl_slist_free_all(list);
		list = NULL;
	}
	explicit_bzero(key, sizeof key);
	if (request.data)
		explicit_bzero(request.data, request.len);
	buffer_release(&request);
	buffer_release(&text);
	buffer_release(&names);
	buffer_release(&body_sha256);
	return list;
}
