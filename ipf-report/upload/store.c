#include "upload/store.h"

#include "absent.h"
#include "aws/sigv4.h"
#include "cli/units.h"
#include "clock.h"
#include "http/http_handle.h"
#include "http/libcurl.h"
#include "loopback.h"
#include "redact.h"
#include "safe_text.h"
#include "upload/store_address.h"
#include "upload/xml_reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define CONNECT_MS         10000L
#define SILENCE_SECONDS    300L /* to complete an upload takes a store minutes */
#define PAUSE_FIRST_NS     (NS_PER_S / 4)
#define PAUSE_MOST_NS      (4 * NS_PER_S)
#define RETRY_AFTER_MOST_S 60

struct store {
	const struct upload_target *target;
	struct store_address address;
	struct signer *signer; /* NULL: there is a token */
	char *token;
	struct http_handle http;
	/* the request being sent */
	const struct store_request *request;
	struct store_answer *answer;
	int64_t sent, retry_after_ns;
	int read_errno;
	bool cut; /* the file has become shorter */
};

/* ---- requests ---- */

void store_escape(struct buffer *out, const char *text)
{
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;
		bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || strchr("-._~", c);
		if (plain)
			buffer_byte(out, (char)c);
		else
			buffer_format(out, "%%%02X", c);
	}
}

static void put_url(const struct store *s, const struct store_request *r, struct buffer *url)
{
	buffer_slice(url, buffer_all(&s->address.base));
	buffer_byte(url, '/');
	for (const char *part = r->key ? r->key : ""; *part;) {
		size_t len = strcspn(part, "/");
		char *own = strndup(part, len);
		store_escape(url, own ? own : "");
		url->failed |= !own;
		free(own);
		part += len;
		if (*part == '/') {
			buffer_byte(url, '/');
			part++;
		}
	}
	if (r->query)
		buffer_format(url, "?%s", r->query);
}

static void show_progress(const struct store *s)
{
	const struct store_request *r = s->request;
	char sent[32], all[32];
	if (!r->progress || !r->progress->on || !progress_due(r->progress, clock_now()))
		return;
	progress_show(r->progress, "%s  %s of %s uploaded", shown(r->name).text, format_size(r->offset + s->sent, sent),
	              format_size(r->name_bytes, all));
}

static size_t send_body(char *to, size_t size, size_t count, void *data)
{
	struct store *s = data;
	const struct store_request *r = s->request;
	size_t room = size * count;
	int64_t all = r->fd >= 0 ? r->bytes : (int64_t)r->body.len;
	size_t len = all - s->sent < (int64_t)room ? (size_t)(all - s->sent) : room;
	ssize_t got = (ssize_t)len;
	if (r->fd < 0)
		memcpy(to, r->body.data + s->sent, len);
	else
		do
			got = pread(r->fd, to, len, r->offset + s->sent);
		while (got < 0 && errno == EINTR);
	if (got < 0)
		s->read_errno = errno;
	s->cut = got == 0 && len;
	if (got < 0 || s->cut)
		return CURL_READFUNC_ABORT;
	s->sent += got;
	show_progress(s);
	return (size_t)got;
}

static int seek_body(void *data, curl_off_t offset, int origin)
{
	struct store *s = data;
	s->sent = offset;
	return origin == SEEK_SET ? CURL_SEEKFUNC_OK : CURL_SEEKFUNC_FAIL;
}

/* ---- responses ---- */

static size_t receive_body(char *bytes, size_t size, size_t count, void *data)
{
	struct store *s = data;
	size_t len = size * count;
	if (!http_handle_takes(&s->http, len))
		return 0;
	buffer_append(&s->answer->body, bytes, len);
	return len;
}

/* The value of a header with this name, without quotes. */
static bool value_of(const char *line, size_t len, const char *name, char value[STORE_TEXT])
{
	size_t at = strlen(name);
	if (len <= at || line[at] != ':' || strncasecmp(line, name, at) != 0)
		return false;
	at++;
	while (at < len && strchr(" \t\"", line[at]))
		at++;
	while (len > at && strchr(" \t\"\r\n", line[len - 1]))
		len--;
	snprintf(value, STORE_TEXT, "%.*s", (int)(len - at), line + at);
	return true;
}

static int64_t number_of(const char *text)
{
	return *text && strspn(text, "0123456789") == strlen(text) && strlen(text) < 19 ? strtoll(text, NULL, 10)
	                                                                                : IPF_ABSENT;
}

static size_t receive_header(char *line, size_t size, size_t count, void *data)
{
	struct store *s = data;
	struct store_answer *a = s->answer;
	size_t len = size * count;
	char value[STORE_TEXT];
	if (value_of(line, len, "ETag", value))
		strcpy(a->etag, value);
	else if (value_of(line, len, "X-Amz-Bucket-Region", value))
		strcpy(a->region, value);
	else if (value_of(line, len, "X-Amz-Checksum-Sha256", value))
		strcpy(a->sha256, value);
	else if (value_of(line, len, "X-Amz-Checksum-Algorithm", value))
		a->sha256_kept = strcasecmp(value, "SHA256") == 0;
	else if (value_of(line, len, "X-Amz-Server-Side-Encryption", value))
		a->encrypted |= strcmp(value, "AES256") != 0;
	else if (value_of(line, len, "X-Amz-Server-Side-Encryption-Customer-Algorithm", value))
		a->encrypted = true;
	else if (value_of(line, len, "Content-Length", value))
		a->bytes = number_of(value);
	else if (value_of(line, len, "Retry-After", value) && number_of(value) != IPF_ABSENT) {
		int64_t seconds = number_of(value);
		s->retry_after_ns = (seconds < RETRY_AFTER_MOST_S ? seconds : RETRY_AFTER_MOST_S) * NS_PER_S;
	}
	return len;
}

struct error_text {
	struct store_answer *answer;
	bool error;
};

static void take_error(void *data, const char *element, const char *text)
{
	struct error_text *e = data;
	struct store_answer *a = e->answer;
	if (strcmp(element, "Code") == 0)
		snprintf(a->code, sizeof a->code, "%s", text);
	else if (strcmp(element, "Message") == 0)
		snprintf(a->message, sizeof a->message, "%s", text);
	else if (strcmp(element, "Region") == 0)
		snprintf(a->region, sizeof a->region, "%s", text);
	e->error = strcmp(element, "Error") == 0;
}

/* An error is an XML document whose last element to end is Error; S3 sends one also with status 200, when it finds out
 * later. */
static void read_error(struct store_answer *a)
{
	struct error_text e = {a, false};
	char region[STORE_TEXT];
	strcpy(region, a->region);
	if (!a->body.len || xml_read(buffer_all(&a->body), take_error, &e) < 0 || !e.error) {
		a->code[0] = a->message[0] = '\0';
		strcpy(a->region, region);
	} else if (a->status == 200) {
		a->status = 500;
	}
}

/* ---- opening ---- */

static bool set_options(struct store *s)
{
	CURL *c = s->http.curl;
	bool good = true;
#define SET(option, value) good &= curl_easy_setopt(c, option, value) == CURLE_OK
	SET(CURLOPT_CONNECTTIMEOUT_MS, CONNECT_MS);
	SET(CURLOPT_LOW_SPEED_LIMIT, 1L);
	SET(CURLOPT_LOW_SPEED_TIME, SILENCE_SECONDS);
	SET(CURLOPT_ACCEPT_ENCODING, NULL); /* the digests are those of the bytes as they are */
	SET(CURLOPT_PATH_AS_IS, 1L);        /* as it was signed */
	SET(CURLOPT_READFUNCTION, send_body);
	SET(CURLOPT_READDATA, s);
	SET(CURLOPT_SEEKFUNCTION, seek_body);
	SET(CURLOPT_SEEKDATA, s);
	SET(CURLOPT_WRITEFUNCTION, receive_body);
	SET(CURLOPT_WRITEDATA, s);
	SET(CURLOPT_HEADERFUNCTION, receive_header);
	SET(CURLOPT_HEADERDATA, s);
#undef SET
	return good;
}

/* A token of Google, or its HMAC keys, which sign as those of Amazon do. */
static int find_google(struct store *s, struct signer_source *from, struct ipf_error *err)
{
	const char *token = getenv("CLOUDSDK_AUTH_ACCESS_TOKEN");
	if (!token || !*token)
		token = getenv("GOOGLE_OAUTH_ACCESS_TOKEN");
	*from = (struct signer_source){.service = "s3",
	                               .id_name = "GS_ACCESS_KEY_ID",
	                               .secret_name = "GS_SECRET_ACCESS_KEY",
	                               .region = s->address.region,
	                               .use = "gs:// needs it, with GS_SECRET_ACCESS_KEY, or an access token in "
	                                      "CLOUDSDK_AUTH_ACCESS_TOKEN"};
	if (!token || !*token)
		return 0;
	if (strpbrk(token, "\r\n"))
		return ipf_error_set(err, IPF_USAGE, "CLOUDSDK_AUTH_ACCESS_TOKEN: the token has several lines, expected one");
	if (strncmp(s->address.base.data, "https:", 6) != 0 && !url_is_loopback(s->address.base.data))
		return ipf_error_set(err, IPF_USAGE,
		                     "STORAGE_EMULATOR_HOST: a token is sent over https only, or to this machine");
	return (s->token = strdup(token)) ? 0 : ipf_error_memory(err);
}

static int find_credentials(struct store *s, struct ipf_error *err)
{
	struct signer_source from = signer_aws("s3", NULL);
	from.region = s->address.region;
	from.use = "--upload s3:// requires it to sign requests";
	if (s->target->kind == STORE_GCS && find_google(s, &from, err) < 0)
		return -1;
	return s->token ? 0 : signer_new(&s->signer, &from, err);
}

int store_open(struct store **store, const struct upload_target *target, struct ipf_error *err)
{
	struct store *s = *store = calloc(1, sizeof *s);
	if (!s)
		return ipf_error_memory(err);
	if (libcurl_start(err) < 0)
		return -1;
	s->target = target;
	if (store_address_find(target, &s->address, err) < 0 || find_credentials(s, err) < 0)
		return -1;
	/* the time limit is one of silence: a part may take long */
	const struct http_settings settings = {.url = s->address.base.data, .most_bytes = STORE_ANSWER_MOST};
	return http_handle_open(&s->http, &settings, err) == 0 && set_options(s) ? 0 : ipf_error_memory(err);
}

void store_close(struct store *s)
{
	if (!s)
		return;
	http_handle_close(&s->http);
	signer_free(s->signer);
	if (s->token)
		explicit_bzero(s->token, strlen(s->token));
	free(s->token);
	store_address_release(&s->address);
	free(s);
}

const struct upload_target *store_target(const struct store *s)
{
	return s->target;
}

/* ---- sending ---- */

static struct curl_slist *headers_for(const struct store *s, const struct store_request *r, const char *url)
{
	struct buffer line = {0};
	struct curl_slist *list = NULL;
	const struct signed_request request = {.method = r->method,
	                                       .url = url,
	                                       .body = r->body,
	                                       .body_sha256 = r->fd >= 0 ? r->sha256 : NULL,
	                                       .headers = r->headers,
	                                       .now = time(NULL)};
	if (!s->token)
		return signer_headers(s->signer, &request);
	buffer_format(&line, "Authorization: Bearer %s", s->token);
	bool good = !line.failed && (list = curl_slist_append(NULL, line.data));
	for (const struct curl_slist *own = r->headers; own && good; own = own->next)
		good = curl_slist_append(list, own->data);
	if (line.data)
		explicit_bzero(line.data, line.len);
	buffer_release(&line);
	if (!good) {
		curl_slist_free_all(list);
		list = NULL;
	}
	return list;
}

static bool set_request(struct store *s, const struct store_request *r, const char *url, struct curl_slist *headers)
{
	CURL *c = s->http.curl;
	bool head = strcmp(r->method, "HEAD") == 0, get = strcmp(r->method, "GET") == 0, good = true;
	curl_off_t bytes = r->fd >= 0 ? r->bytes : (curl_off_t)r->body.len;
#define SET(option, value) good &= curl_easy_setopt(c, option, value) == CURLE_OK
	SET(CURLOPT_NOBODY, 0L);
	SET(CURLOPT_UPLOAD, head || get ? 0L : 1L);
	SET(CURLOPT_HTTPGET, get ? 1L : 0L);
	SET(CURLOPT_NOBODY, head ? 1L : 0L);
	SET(CURLOPT_CUSTOMREQUEST, head || get ? NULL : r->method);
	SET(CURLOPT_INFILESIZE_LARGE, head || get ? -1 : bytes);
	SET(CURLOPT_URL, url);
	SET(CURLOPT_HTTPHEADER, headers);
#undef SET
	return good;
}

static void begin(struct store *s, const struct store_request *r, struct store_answer *a)
{
	struct buffer body = a->body;
	buffer_clear(&body);
	*a = (struct store_answer){.body = body, .bytes = IPF_ABSENT};
	s->request = r;
	s->answer = a;
	s->sent = s->retry_after_ns = 0;
	s->read_errno = 0;
	s->cut = false;
	http_handle_begin(&s->http);
}

/* One time: 0: an answer; 1: none; -1: out of memory. The signature is made now, because it is valid only for minutes.
 */
static int send_once(struct store *s, const struct store_request *r, struct store_answer *a, CURLcode *result)
{
	struct buffer url = {0};
	begin(s, r, a);
	put_url(s, r, &url);
	struct curl_slist *headers = url.failed ? NULL : headers_for(s, r, url.data);
	bool ready = headers && set_request(s, r, url.data, headers);
	*result = ready ? curl_easy_perform(s->http.curl) : CURLE_OUT_OF_MEMORY;
	curl_easy_setopt(s->http.curl, CURLOPT_HTTPHEADER, NULL);
	curl_slist_free_all(headers);
	buffer_release(&url);
	if (!ready || a->body.failed)
		return -1;
	a->status = http_handle_status(&s->http);
	/* who answers before the body has come closes the connection, and is right about the request */
	if (*result != CURLE_OK && !(a->status >= 400 && (*result == CURLE_SEND_ERROR || *result == CURLE_RECV_ERROR)))
		return 1;
	read_error(a);
	return 0;
}

/* Can the same request succeed later? */
static bool can_pass(const struct store_answer *a, int answered, CURLcode result)
{
	if (answered != 0)
		return result != CURLE_WRITE_ERROR && result != CURLE_ABORTED_BY_CALLBACK &&
		       result != CURLE_PEER_FAILED_VERIFICATION && result != CURLE_URL_MALFORMAT;
	return a->status == 429 || (a->status >= 500 && a->status != 501) || strcmp(a->code, "RequestTimeout") == 0;
}

static void pause_for(int64_t ns)
{
	const struct timespec t = {ns / NS_PER_S, ns % NS_PER_S};
	clock_nanosleep(CLOCK_MONOTONIC, 0, &t, NULL);
}

int store_send(struct store *s, const struct store_request *r, struct store_answer *a, struct ipf_error *err)
{
	int64_t pause_ns = PAUSE_FIRST_NS;
	for (int tries = 1;; tries++) {
		CURLcode result;
		int answered = send_once(s, r, a, &result);
		if (answered < 0)
			return ipf_error_memory(err);
		if (s->read_errno)
			return ipf_error_errno(err, s->read_errno, r->name, "cannot read");
		if (s->cut)
			return ipf_error_at(err, IPF_SYSTEM, r->name, 0, "has become shorter while it was uploaded");
		bool again = can_pass(a, answered, result);
		if (!again && answered == 0)
			return 0;
		if (again && tries < STORE_TRIES) {
			pause_for(pause_ns > s->retry_after_ns ? pause_ns : s->retry_after_ns);
			pause_ns = pause_ns * 2 < PAUSE_MOST_NS ? pause_ns * 2 : PAUSE_MOST_NS;
			continue;
		}
		if (answered == 0)
			return 0;
		const char *why = result == CURLE_WRITE_ERROR ? "the response is too long" : libcurl_why(result, s->http.error);
		return again ? ipf_error_set(err, IPF_SYSTEM, "%s (tried %d times)", shown(why).text, tries)
		             : ipf_error_set(err, IPF_SYSTEM, "%s", shown(why).text);
	}
}

void store_answer_release(struct store_answer *a)
{
	buffer_release(&a->body);
}

int store_refusal(const struct store *s, const struct store_answer *a, const char *key, struct ipf_error *err)
{
	struct buffer url = {0}, said = {0};
	upload_target_url(s->target, key, &url);
	if (*a->code)
		buffer_format(&said, " %s", shown(a->code).text);
	if (*a->message && !(s->signer && signer_is_repeated(s->signer, slice_of(a->message))) &&
	    !(s->token && strstr(a->message, s->token)))
		buffer_format(&said, ": %s", shown(a->message).text);
	if (*a->region && strcmp(a->region, s->address.region) != 0 && (a->status == 400 || a->status / 100 == 3))
		buffer_format(&said, " (the bucket is in another region: set AWS_REGION=%s)", shown(a->region).text);
	ipf_error_set(err, IPF_SYSTEM, "%s: HTTP status %ld%s", shown(url.data ? url.data : "").text, a->status,
	              said.data ? said.data : "");
	buffer_release(&url);
	buffer_release(&said);
	return -1;
}
