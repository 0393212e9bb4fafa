#include "delivery/push_report.h"

#include "clock.h"
#include "http/libcurl.h"
#include "push/push_sender.h"
#include "safe_text.h"

#include <curl/curl.h>
#include <stdlib.h>

enum { RUN_BYTES = 256 };

static int parse(const struct push_figures *figures, struct push_target targets[PUSH_TARGETS], struct buffer *key,
                 struct ipf_error *err)
{
	if (push_figures_parse(figures, targets, key, err) < 0)
		return -1;
	for (size_t i = 0; i < figures->targets.count; i++)
		if (targets[i].kind != PUSH_PUSHGATEWAY)
			return ipf_error_set(
				err, IPF_USAGE,
				"--push: a report goes to a Pushgateway (ipf-collect --push uses remote write), got \"%s\"",
				shown(figures->targets.items[i]).text);
	return 0;
}

int push_report_check(const struct push_figures *figures, struct ipf_error *err)
{
	struct push_target targets[PUSH_TARGETS];
	struct buffer key = {0};
	int status = parse(figures, targets, &key, err);
	push_credential_forget(&key);
	return status;
}

/* Until the request was taken or given up. Returns how often it was sent. */
static int run_transfers(struct push_sender *s, CURLM *multi)
{
	int tries = 0, running, left;
	while (s->queue.count && !s->failed) {
		CURLMsg *message;
		int64_t now_ns = clock_now(), pause_ns = s->resume_ns - now_ns;
		push_sender_start(s, multi, now_ns);
		curl_multi_perform(multi, &running);
		while ((message = curl_multi_info_read(multi, &left)))
			if (message->msg == CURLMSG_DONE) {
				push_sender_done(s, multi, message->data.result, clock_now());
				tries++;
			}
		if (s->queue.count)
			curl_multi_poll(multi, NULL, 0, s->queue.busy || pause_ns < 0 ? 100 : (int)(pause_ns / NS_PER_MS) + 1,
			                NULL);
	}
	return tries;
}

static int answer(const struct push_sender *s, int tries, struct ipf_error *err)
{
	if (s->failed)
		return ipf_error_memory(err);
	if (s->dropped)
		return ipf_error_set(err, IPF_SYSTEM, "--push %s: the figures have more than %zu MB", s->shown,
		                     PUSH_QUEUE_BYTES >> 20);
	if (s->sent)
		return 0;
	return tries > 1 ? ipf_error_set(err, IPF_SYSTEM, "--push %s: %s (tried %d times)", s->shown, s->error, tries)
	                 : ipf_error_set(err, IPF_SYSTEM, "--push %s: %s", s->shown, s->error);
}

static int send_to(struct push_sender *s, const char *run, const struct buffer *exposition, struct ipf_error *err)
{
	char name[RUN_BYTES];
	const struct metric_label labels[] = {{"job", "ipf-report"}, {"run", name}};
	struct push_request request = {.items = 1};
	CURLM *multi = curl_multi_init();
	if (!multi)
		return ipf_error_memory(err);
	safe_text(name, sizeof name, slice_of(run ? run : ""));
	buffer_slice(&request.body, buffer_all(exposition));
	s->tries_most = PUSH_REPORT_TRIES;
	push_sender_begin(s, labels, *name ? 2 : 1);
	push_sender_add(s, &request);
	int tries = run_transfers(s, multi), status = answer(s, tries, err);
	curl_multi_cleanup(multi);
	return status;
}

int push_report_send(const struct push_figures *figures, size_t target, const char *run,
                     const struct buffer *exposition, struct ipf_error *err)
{
	struct push_target targets[PUSH_TARGETS];
	struct buffer key = {0};
	struct push_sender *sender = calloc(1, sizeof *sender); /* large for a stack */
	int status = -1;
	if (!sender)
		ipf_error_memory(err);
	else if (libcurl_start(err) == 0 && parse(figures, targets, &key, err) == 0 &&
	         push_sender_init(sender, &targets[target], key.len ? key.data : "", err) == 0)
		status = send_to(sender, run, exposition, err);
	if (sender)
		push_sender_release(sender, NULL); /* nothing is in flight */
	free(sender);
	push_credential_forget(&key);
	return status;
}
