#include "push/push_sender.h"

#include "absent.h"
#include "clock.h"
#include "http/libcurl.h"
#include "push/otlp_response.h"
#include "redact.h"
#include "safe_text.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#define CONNECT_MS         5000L
#define TRANSFER_NS        (10 * NS_PER_S)
#define ANSWER_MOST        ((size_t)64 * 1024) /* a longer body is cut off */
#define PAUSE_FIRST_NS     (NS_PER_S / 4)
#define PAUSE_MOST_NS      (10 * NS_PER_S)
#define RETRY_AFTER_MOST_S 60

/* ---- responses ---- */

static size_t receive_body(char *data, size_t size, size_t count, void *context)
{
	struct push_sender *s = context;
	size_t len = size * count, room = sizeof s->answer - s->answer_len, kept = len < room ? len : room;
	memcpy(s->answer + s->answer_len, data, kept);
	s->answer_len += kept;
	return http_handle_takes(&s->http, len) ? len : 0;
}

static size_t receive_header(char *line, size_t size, size_t count, void *context)
{
	static const char name[] = "retry-after:";
	struct push_sender *s = context;
	size_t len = size * count, at = sizeof name - 1;
	char value[64];
	if (len <= at || len - at >= sizeof value || strncasecmp(line, name, at) != 0)
		return len;
	snprintf(value, sizeof value, "%.*s", (int)(len - at), line + at);
	char *text = value + strspn(value, " \t");
	text[strcspn(text, "\r\n")] = '\0';
	int64_t seconds = 0;
	if (*text && strspn(text, "0123456789") == strlen(text)) {
		seconds = strlen(text) > 6 ? RETRY_AFTER_MOST_S : strtol(text, NULL, 10);
	} else {
		time_t date = curl_getdate(text, NULL), now = time(NULL);
		seconds = date > now ? (int64_t)(date - now) : 0;
	}
	s->retry_after_ns = (seconds < RETRY_AFTER_MOST_S ? seconds : RETRY_AFTER_MOST_S) * NS_PER_S;
	return len;
}

static struct slice answer_of(const struct push_sender *s)
{
	return (struct slice){s->answer, s->answer_len};
}

static bool repeats_secret(const struct push_sender *s)
{
	return s->secret && *s->secret && memmem(s->answer, s->answer_len, s->secret, strlen(s->secret));
}

/* The response's body, in one line, unless it repeats the credential. */
static struct slice answer_line(const struct push_sender *s)
{
	struct slice text = {0};
	size_t len = 0;
	if (repeats_secret(s))
		return text;
	if (s->target.kind == PUSH_OTLP)
		text = otlp_status_message(answer_of(s));
	if (!text.len)
		text = answer_of(s);
	while (len < text.len && text.data[len] != '\n' && text.data[len] != '\r')
		len++;
	return (struct slice){text.data, len};
}

/* ---- setting up ---- */

static bool add_header(struct push_sender *s, const char *line)
{
	struct curl_slist *longer = curl_slist_append(s->headers, line);
	if (longer)
		s->headers = longer;
	return longer;
}

static bool add_headers(struct push_sender *s, const char *authorization)
{
	static const char *const common[] = {"Expect:", NULL},
							 *const text[] = {"Content-Type: text/plain; version=0.0.4; charset=utf-8", NULL},
							 *const write[] = {"Content-Type: application/x-protobuf", "Content-Encoding: snappy",
	                                           "X-Prometheus-Remote-Write-Version: 0.1.0", NULL},
							 *const spans[] = {"Content-Type: application/x-protobuf", NULL},
							 *const *const of_kind[] = {
								 [PUSH_PUSHGATEWAY] = text, [PUSH_REMOTE_WRITE] = write, [PUSH_OTLP] = spans};
	bool good = !*authorization || add_header(s, authorization);
	for (const char *const *line = common; good && *line; line++)
		good = add_header(s, *line);
	for (const char *const *line = of_kind[s->target.kind]; good && *line; line++)
		good = add_header(s, *line);
	return good;
}

static bool set_options(struct push_sender *s)
{
	CURL *c = s->http.curl;
	int bad = 0;
	bad |= curl_easy_setopt(c, CURLOPT_CONNECTTIMEOUT_MS, CONNECT_MS) != CURLE_OK;
	bad |= curl_easy_setopt(c, CURLOPT_HTTPHEADER, s->headers) != CURLE_OK;
	bad |= curl_easy_setopt(c, CURLOPT_CUSTOMREQUEST, s->target.kind == PUSH_PUSHGATEWAY ? "PUT" : "POST") != CURLE_OK;
	bad |= curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, receive_body) != CURLE_OK;
	bad |= curl_easy_setopt(c, CURLOPT_WRITEDATA, s) != CURLE_OK;
	bad |= curl_easy_setopt(c, CURLOPT_HEADERFUNCTION, receive_header) != CURLE_OK;
	bad |= curl_easy_setopt(c, CURLOPT_HEADERDATA, s) != CURLE_OK;
	bad |= curl_easy_setopt(c, CURLOPT_PRIVATE, s) != CURLE_OK;
	/* a name server that does not answer must not delay the end */
	bad |= curl_easy_setopt(c, CURLOPT_QUICK_EXIT, 1L) != CURLE_OK;
	return !bad;
}

int push_sender_init(struct push_sender *s, const struct push_target *target, const char *authorization,
                     struct ipf_error *err)
{
	struct buffer shown_url = {0};
	s->target = *target;
	const char *secret = strrchr(authorization, ' ');
	s->secret = secret ? secret + 1 : NULL;
	redact_url(s->target.url, &shown_url);
	safe_text(s->shown, sizeof s->shown, buffer_all(&shown_url));
	buffer_release(&shown_url);
	const struct http_settings settings = {.url = s->target.url, .timeout_ns = TRANSFER_NS, .most_bytes = ANSWER_MOST};
	if (http_handle_open(&s->http, &settings, err) < 0)
		return -1;
	return add_headers(s, authorization) && set_options(s) ? 0 : ipf_error_memory(err);
}

void push_sender_release(struct push_sender *s, CURLM *multi)
{
	if (s->http.curl && s->queue.busy)
		curl_multi_remove_handle(multi, s->http.curl);
	http_handle_close(&s->http);
	curl_slist_free_all(s->headers);
	push_queue_release(&s->queue);
	buffer_release(&s->url);
}

void push_sender_begin(struct push_sender *s, const struct metric_label *labels, size_t count)
{
	push_target_url(&s->target, labels, count, &s->url);
	s->failed |= s->url.failed;
}

/* ---- sending ---- */

void push_sender_add(struct push_sender *s, struct push_request *request)
{
	/* a Pushgateway keeps the latest figures only, so earlier ones need not be sent */
	while (s->target.kind == PUSH_PUSHGATEWAY && s->queue.count && !s->queue.busy)
		push_queue_pop(&s->queue);
	s->dropped += push_queue_put(&s->queue, request);
}

void push_sender_start(struct push_sender *s, CURLM *multi, int64_t now_ns)
{
	struct push_request *request = push_queue_first(&s->queue);
	while (request && request->native && s->no_native && !s->queue.busy) {
		push_queue_pop(&s->queue);
		request = push_queue_first(&s->queue);
	}
	if (!request || s->queue.busy || s->failed || now_ns < s->resume_ns)
		return;
	s->answer_len = 0;
	s->retry_after_ns = 0;
	http_handle_begin(&s->http);
	request->tries++;
	if (curl_easy_setopt(s->http.curl, CURLOPT_URL, s->url.data) != CURLE_OK ||
	    curl_easy_setopt(s->http.curl, CURLOPT_POSTFIELDS, request->body.data) != CURLE_OK ||
	    curl_easy_setopt(s->http.curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->body.len) != CURLE_OK ||
	    curl_multi_add_handle(multi, s->http.curl) != CURLM_OK)
		s->failed = true;
	else
		s->queue.busy = true;
}

static void note_error(struct push_sender *s, CURLcode result, long status)
{
	struct slice line = answer_line(s);
	if (result != CURLE_OK && !(result == CURLE_WRITE_ERROR && status >= 300))
		snprintf(s->error, sizeof s->error, "%.300s",
		         result == CURLE_OPERATION_TIMEDOUT ? "no response in time"
		         : result == CURLE_WRITE_ERROR      ? "the response is too long"
		                                            : shown(libcurl_why(result, s->http.error)).text);
	else
		snprintf(s->error, sizeof s->error, "HTTP status %ld%s%s", status, line.len ? ": " : "",
		         shown_slice(line).text);
	redact_message(s->error, sizeof s->error);
}

/* Can the same request succeed later? The specification of OTLP lists the statuses. A response too long will be the
 * same again. */
static bool can_pass(const struct push_sender *s, CURLcode result, long status)
{
	if (result != CURLE_OK)
		return result != CURLE_WRITE_ERROR;
	if (s->target.kind == PUSH_OTLP)
		return status == 429 || (status >= 502 && status <= 504);
	return status == 429 || status >= 500;
}

/* The first request is given up, or sent again after a pause. */
static void retry_later(struct push_sender *s, bool again, int64_t now_ns)
{
	struct push_request *request = push_queue_first(&s->queue);
	int64_t pause_ns = PAUSE_FIRST_NS;
	for (int i = 0; i < s->failures && pause_ns < PAUSE_MOST_NS; i++)
		pause_ns *= 2;
	pause_ns = pause_ns < PAUSE_MOST_NS ? pause_ns : PAUSE_MOST_NS;
	s->failures++;
	s->queue.busy = false;
	if (!again || request->tries >= s->tries_most) {
		s->given_up += request->items;
		push_queue_pop(&s->queue);
	}
	pause_ns += pause_ns / 4 * (now_ns / NS_PER_US % 256) / 256; /* keeps clients from coming back all at once */
	if (again)
		s->resume_ns = now_ns + (pause_ns > s->retry_after_ns ? pause_ns : s->retry_after_ns);
}

/* A target of spans can refuse some of a request it takes. They are not sent again, as the specification says. */
static void note_partial_success(struct push_sender *s, int64_t items)
{
	struct otlp_partial_success partial = otlp_partial_success(answer_of(s));
	if (!partial.rejected)
		return;
	if (repeats_secret(s))
		partial.message = (struct slice){0};
	int64_t rejected = partial.rejected < items ? partial.rejected : items;
	s->rejected += rejected;
	s->sent -= rejected;
	snprintf(s->error, sizeof s->error, "%lld spans rejected%s%s", (long long)rejected, partial.message.len ? ": " : "",
	         shown_slice(partial.message).text);
	redact_message(s->error, sizeof s->error);
}

void push_sender_done(struct push_sender *s, CURLM *multi, CURLcode result, int64_t now_ns)
{
	struct push_request *request = push_queue_first(&s->queue);
	long status = http_handle_status(&s->http);
	curl_multi_remove_handle(multi, s->http.curl);
	if (result == CURLE_OK && status >= 200 && status < 300) {
		s->sent += request->items;
		s->sent_ns = now_ns;
		s->failures = 0;
		if (s->target.kind == PUSH_OTLP)
			note_partial_success(s, request->items);
		push_queue_pop(&s->queue);
		return;
	}
	if (request->native && result == CURLE_OK && status >= 400 && status <= 501 && status != 429) {
		s->no_native = true; /* the classic ones say whether the target fails in other ways */
		push_queue_pop(&s->queue);
		return;
	}
	note_error(s, result, status);
	retry_later(s, can_pass(s, result, status), now_ns);
}
