/* Sends requests to one target of --push or --otlp over HTTP, one after another: the failures to repeat, when, and the
 * outcome. Belongs to one thread, whose curl multi handle carries the transfers of all targets.
 *
 *     push_sender_begin(&s, labels, count);
 *     push_sender_add(&s, &request);
 *     push_sender_start(&s, multi, now_ns);               // begins the transfer that is due, if any
 *     push_sender_done(&s, multi, result, now_ns);        // curl says that it has ended
 */
#ifndef IPF_PUSH_SENDER_H
#define IPF_PUSH_SENDER_H

#include "http/http_handle.h"
#include "push/push_queue.h"
#include "push/push_target.h"

#define PUSH_ANSWER 4096

struct push_sender {
	struct push_target target;
	struct buffer url;
	char shown[256];    /* the URL without secrets */
	const char *secret; /* the credential as it is sent, borrowed; NULL */
	struct http_handle http;
	struct curl_slist *headers;
	struct push_queue queue;
	int64_t next_ns;                           /* when figures are taken for it */
	int64_t resume_ns;                         /* nothing is sent before this */
	int failures;                              /* in a row */
	int tries_most;                            /* one request's; to be set by the caller */
	bool no_native;                            /* the target refused native histograms */
	bool failed;                               /* out of memory */
	int64_t sent, given_up, dropped, rejected; /* items of requests, see push_queue.h */
	int64_t sent_ns;                           /* when the last one was sent; 0: none */
	char error[512];                           /* the last one; "" */
	char answer[PUSH_ANSWER];                  /* the beginning of a response's body */
	size_t answer_len;
	int64_t retry_after_ns;
};

/* `authorization`: a header, "" for none; borrowed, as the target's other texts. -1: out of memory. */
int push_sender_init(struct push_sender *s, const struct push_target *target, const char *authorization,
                     struct ipf_error *err);
void push_sender_release(struct push_sender *s, CURLM *multi);

/* The URL to send to. */
void push_sender_begin(struct push_sender *s, const struct metric_label *labels, size_t count);
void push_sender_add(struct push_sender *s, struct push_request *request); /* takes the body */
void push_sender_start(struct push_sender *s, CURLM *multi, int64_t now_ns);
void push_sender_done(struct push_sender *s, CURLM *multi, CURLcode result, int64_t now_ns);

#endif
