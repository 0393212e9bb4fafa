#include "publish/push.h"

#include "clock.h"
#include "http/libcurl.h"
#include "metrics/metrics_text.h"
#include "publish/otlp_batches.h"
#include "publish/remote_write.h"
#include "push/push_sender.h"
#include "safe_text.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PUSH_TRIES       10       /* one request's */
#define PUSH_FINAL_TRIES 3        /* when the run has ended */
#define GATEWAY_LEAST_NS NS_PER_S /* the state at each second is enough for a target keeping only the latest */
#define GROUPING         3        /* labels: job, instance, run */

struct push {
	const struct push_options *options;
	struct live_metrics *metrics;
	struct otlp_batches *spans; /* NULL: none are sent */
	struct buffer authorization, otlp_authorization;
	struct push_sender senders[PUSH_TARGETS + 1];
	size_t count;
	CURLM *multi;
	pthread_t thread;
	bool started;
	char host[LIVE_TEXT], run[LIVE_TEXT];
	struct metric_label labels[GROUPING];
	size_t labels_count;
	struct live_figures figures; /* scratch of the thread */
	struct buffer request;       /* likewise */

	pthread_mutex_t lock; /* protects the members below */
	pthread_cond_t changed;
	bool begun, finishing;
	int64_t end_ns, wait_ns; /* when the run ended, and for how long the thread then waits; with `finishing` */
	char notices[PUSH_TARGETS + 1][1024]; /* failures to be reported; "" */
	bool noticed[PUSH_TARGETS + 1];
};

/* ---- the thread ---- */

static void add_gateway(struct push *p, struct push_sender *s)
{
	struct push_request request = {.items = 1};
	struct metrics_text text = metrics_text(&request.body, false);
	live_figures_walk(&p->figures, &text.sink);
	push_sender_add(s, &request);
}

static void add_write(struct push *p, struct push_sender *s, bool native)
{
	struct push_request request = {.items = 1, .native = native};
	buffer_clear(&p->request);
	struct remote_write w = remote_write(&p->request, p->labels, p->labels_count, clock_wall() / NS_PER_MS, native);
	live_figures_walk(&p->figures, &w.sink);
	remote_write_release(&w);
	if (p->request.failed)
		s->dropped++;
	else if (p->request.len) {
		remote_write_compress(buffer_all(&p->request), &request.body);
		push_sender_add(s, &request);
	}
}

/* Whether an interval of this target has ended; the next one begins then. */
static bool interval_ends(const struct push *p, struct push_sender *s, int64_t now_ns)
{
	int64_t every_ns = p->options->every_ns;
	bool ends = now_ns >= s->next_ns;
	if (s->target.kind == PUSH_PUSHGATEWAY && every_ns < GATEWAY_LEAST_NS)
		every_ns = GATEWAY_LEAST_NS;
	while (s->next_ns <= now_ns)
		s->next_ns = s->next_ns + every_ns > now_ns ? s->next_ns + every_ns : now_ns + every_ns;
	return ends;
}

/* Takes the figures for the targets whose time it is. */
static void take_figures(struct push *p, int64_t now_ns, bool final)
{
	bool read = false;
	for (size_t i = 0; i < p->count; i++) {
		struct push_sender *s = &p->senders[i];
		if (s->target.kind == PUSH_OTLP || (!interval_ends(p, s, now_ns) && !final))
			continue;
		if (!read && live_metrics_read(p->metrics, &p->figures) < 0)
			return;
		read = true;
		if (s->target.kind == PUSH_PUSHGATEWAY) {
			add_gateway(p, s);
			continue;
		}
		add_write(p, s, false);
		if (!s->no_native)
			add_write(p, s, true);
	}
}

/* A batch at a time: the others wait where the newest takes the place of the oldest. */
static void take_spans(struct push *p, int64_t now_ns, bool final)
{
	for (size_t i = 0; i < p->count; i++) {
		struct push_sender *s = &p->senders[i];
		struct push_request request;
		if (s->target.kind != PUSH_OTLP)
			continue;
		bool all = interval_ends(p, s, now_ns) || final;
		if (!s->queue.count && otlp_batches_take(p->spans, all, &request))
			push_sender_add(s, &request);
	}
}

static const char *option_of(const struct push_sender *s)
{
	return s->target.kind == PUSH_OTLP ? "otlp" : "push";
}

static void note_failure(struct push *p, const struct push_sender *s)
{
	size_t i = (size_t)(s - p->senders);
	if (!*s->error || p->noticed[i])
		return;
	pthread_mutex_lock(&p->lock);
	p->noticed[i] = true;
	snprintf(p->notices[i], sizeof p->notices[i], "--%s %s: %s", option_of(s), s->shown, s->error);
	pthread_mutex_unlock(&p->lock);
}

static void run_transfers(struct push *p)
{
	int running, left;
	CURLMsg *message;
	curl_multi_perform(p->multi, &running);
	while ((message = curl_multi_info_read(p->multi, &left))) {
		struct push_sender *s = NULL;
		if (message->msg != CURLMSG_DONE ||
		    curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&s) != CURLE_OK)
			continue;
		push_sender_done(s, p->multi, message->data.result, clock_now());
		note_failure(p, s);
	}
}

static int64_t spans_waiting(const struct push *p, const struct push_sender *s)
{
	int64_t waiting = 0, dropped;
	if (s->target.kind == PUSH_OTLP)
		otlp_batches_count(p->spans, &waiting, &dropped);
	return waiting;
}

/* When this target is waited for no longer; after the run's end. */
static int64_t deadline_of(const struct push *p, const struct push_sender *s)
{
	int64_t deadline_ns = p->end_ns + p->wait_ns, most_ns = p->end_ns + PUSH_SPANS_MOST_NS;
	if (s->target.kind == PUSH_OTLP && p->wait_ns && s->sent_ns + p->wait_ns > deadline_ns)
		deadline_ns = s->sent_ns + p->wait_ns < most_ns ? s->sent_ns + p->wait_ns : most_ns;
	return deadline_ns;
}

/* Whether nothing more can be sent in time; after the run's end. */
static bool is_settled(const struct push *p, const struct push_sender *s, int64_t now_ns)
{
	int64_t deadline_ns = deadline_of(p, s);
	if (s->failed || now_ns >= deadline_ns)
		return true;
	if (s->queue.count)
		return !s->queue.busy && s->resume_ns >= deadline_ns;
	return !spans_waiting(p, s);
}

static bool all_settled(const struct push *p, int64_t now_ns)
{
	for (size_t i = 0; i < p->count; i++)
		if (!is_settled(p, &p->senders[i], now_ns))
			return false;
	return true;
}

/* When the next thing is to be done. */
static int64_t next_event(const struct push *p, bool final, int64_t now_ns)
{
	int64_t next_ns = INT64_MAX;
	for (size_t i = 0; i < p->count; i++) {
		const struct push_sender *s = &p->senders[i];
		int64_t own_ns = INT64_MAX;
		if (final && is_settled(p, s, now_ns))
			continue;
		if (!final)
			own_ns = s->next_ns;
		else
			own_ns = s->queue.count ? deadline_of(p, s) : now_ns; /* there are spans to take */
		if (s->queue.count && !s->queue.busy && s->resume_ns < own_ns)
			own_ns = s->resume_ns;
		next_ns = own_ns < next_ns ? own_ns : next_ns;
	}
	return next_ns;
}

static void wait_until(struct push *p, int64_t next_ns)
{
	int64_t ms = (next_ns - clock_now()) / NS_PER_MS + 1;
	curl_multi_poll(p->multi, NULL, 0, ms < 0 ? 0 : ms > 60000 ? 60000 : (int)ms, NULL);
}

/* False: the run ended before it began. */
static bool wait_for_begin(struct push *p)
{
	pthread_mutex_lock(&p->lock);
	while (!p->begun && !p->finishing)
		pthread_cond_wait(&p->changed, &p->lock);
	bool begun = p->begun;
	pthread_mutex_unlock(&p->lock);
	return begun;
}

static void *run_thread(void *data)
{
	struct push *p = data;
	bool final = false;
	if (!wait_for_begin(p))
		return NULL;
	for (size_t i = 0; i < p->count; i++) {
		push_sender_begin(&p->senders[i], p->labels, p->labels_count);
		p->senders[i].next_ns = clock_now() + (p->senders[i].target.kind == PUSH_OTLP ? p->options->every_ns : 0);
	}
	for (;;) {
		pthread_mutex_lock(&p->lock);
		bool finishing = p->finishing;
		pthread_mutex_unlock(&p->lock);
		int64_t now_ns = clock_now();
		if (!final)
			take_figures(p, now_ns, finishing);
		take_spans(p, now_ns, finishing);
		for (size_t i = 0; i < p->count; i++) {
			p->senders[i].tries_most = finishing ? PUSH_FINAL_TRIES : PUSH_TRIES;
			/* a pause of the run's gives way to its end */
			if (finishing && !final && !p->senders[i].retry_after_ns)
				p->senders[i].resume_ns = now_ns;
			push_sender_start(&p->senders[i], p->multi, now_ns);
		}
		final = finishing;
		run_transfers(p);
		now_ns = clock_now();
		if (final && all_settled(p, now_ns))
			return NULL;
		wait_until(p, next_event(p, final, now_ns));
	}
}

/* ---- starting and stopping ---- */

static int check_spans(const struct push_options *options, struct push_target *target, struct buffer *authorization,
                       struct ipf_error *err)
{
	if (push_credential(&options->otlp_key, "--otlp", authorization, err) < 0)
		return -1;
	if (!options->otlp)
		return authorization->len ? ipf_error_set(err, IPF_USAGE, "--otlp-key-%s requires --otlp",
		                                          options->otlp_key.env ? "env" : "file")
		                          : 0;
	return push_target_parse_otlp(options->otlp, target, err) < 0
	           ? -1
	           : push_target_check_private(target, "--otlp", authorization, err);
}

int push_check(const struct push_options *options, struct ipf_error *err)
{
	struct buffer figures = {0}, spans = {0};
	struct push_target targets[PUSH_TARGETS], otlp;
	int status = push_figures_parse(&options->figures, targets, &figures, err) < 0
	                 ? -1
	                 : check_spans(options, &otlp, &spans, err);
	push_credential_forget(&figures);
	push_credential_forget(&spans);
	return status;
}

static int add_sender(struct push *p, const struct push_target *target, const struct buffer *authorization,
                      struct ipf_error *err)
{
	return push_sender_init(&p->senders[p->count++], target, authorization->len ? authorization->data : "", err);
}

static int add_senders(struct push *p, struct ipf_error *err)
{
	const struct push_options *o = p->options;
	struct push_target targets[PUSH_TARGETS], otlp;
	if (push_figures_parse(&o->figures, targets, &p->authorization, err) < 0 ||
	    check_spans(o, &otlp, &p->otlp_authorization, err) < 0)
		return -1;
	for (size_t i = 0; i < o->figures.targets.count; i++)
		if (add_sender(p, &targets[i], &p->authorization, err) < 0)
			return -1;
	if (!o->otlp)
		return 0;
	if (!(p->spans = otlp_batches_new()))
		return ipf_error_memory(err);
	return add_sender(p, &otlp, &p->otlp_authorization, err);
}

int push_start(struct push **push, const struct push_options *options, struct live_metrics *metrics,
               struct ipf_error *err)
{
	char host[LIVE_TEXT] = "";
	struct push *p = calloc(1, sizeof *p);
	*push = p;
	if (!p)
		return ipf_error_memory(err);
	p->options = options;
	p->metrics = metrics;
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->changed, NULL);
	/* before the thread: it is not safe beside other threads */
	if (libcurl_start(err) < 0)
		return -1;
	if (!(p->multi = curl_multi_init()))
		return ipf_error_memory(err);
	if (add_senders(p, err) < 0)
		return -1;
	if (gethostname(host, sizeof host - 1) < 0 || !*host)
		strcpy(host, "localhost");
	safe_text(p->host, sizeof p->host, slice_of(host));
	int failed = pthread_create(&p->thread, NULL, run_thread, p);
	if (failed)
		return ipf_error_errno(err, failed, NULL, "cannot start a thread");
	p->started = true;
	return 0;
}

void push_begin(struct push *p, const char *run)
{
	pthread_mutex_lock(&p->lock);
	safe_text(p->run, sizeof p->run, slice_of(run));
	p->labels[p->labels_count++] = (struct metric_label){"job", "ipf"};
	p->labels[p->labels_count++] = (struct metric_label){"instance", p->host};
	if (*p->run)
		p->labels[p->labels_count++] = (struct metric_label){"run", p->run};
	p->begun = true;
	pthread_cond_signal(&p->changed);
	pthread_mutex_unlock(&p->lock);
}

int push_begin_spans(struct push *p, const json_t *header, const struct schedule *schedule, const struct api *api,
                     bool live, struct ipf_error *err)
{
	return p->spans ? otlp_batches_begin(p->spans, header, schedule, api, live, err) : 0;
}

void push_span(struct push *p, const struct observation *seen)
{
	if (p->spans && otlp_batches_add(p->spans, seen))
		curl_multi_wakeup(p->multi);
}

/* Counts of the spans that were lost. */
static void note_lost_spans(struct push *p, struct push_sender *s)
{
	int64_t waiting, dropped;
	otlp_batches_count(p->spans, &waiting, &dropped);
	s->given_up += waiting;
	s->dropped += dropped;
	int64_t lost = s->given_up + s->dropped + s->rejected;
	if (waiting && !*s->error)
		strcpy(s->error, "no response in time");
	if (lost)
		snprintf(p->notices[s - p->senders], sizeof p->notices[0], "--otlp %s: %lld of %lld spans not delivered%s%s",
		         s->shown, (long long)lost, (long long)(lost + s->sent), *s->error ? ": " : "", s->error);
}

void push_finish(struct push *p, int64_t wait_ns)
{
	if (!p->started)
		return;
	pthread_mutex_lock(&p->lock);
	p->finishing = true;
	p->end_ns = clock_now();
	p->wait_ns = wait_ns;
	pthread_cond_signal(&p->changed);
	pthread_mutex_unlock(&p->lock);
	curl_multi_wakeup(p->multi);
	pthread_join(p->thread, NULL);
	p->started = false;
	/* the rest unsent at the deadline */
	for (size_t i = 0; i < p->count; i++) {
		struct push_sender *s = &p->senders[i];
		if (s->queue.count && !*s->error)
			strcpy(s->error, "no response in time");
		for (size_t k = 0; k < s->queue.count; k++)
			s->given_up += s->queue.requests[(s->queue.first + k) % PUSH_QUEUE].items;
		note_failure(p, s);
		if (s->target.kind == PUSH_OTLP)
			note_lost_spans(p, s);
	}
}

void push_free(struct push *p)
{
	if (!p)
		return;
	push_finish(p, 0);
	for (size_t i = 0; i < p->count; i++)
		push_sender_release(&p->senders[i], p->multi);
	curl_multi_cleanup(p->multi);
	live_figures_release(&p->figures);
	buffer_release(&p->request);
	otlp_batches_free(p->spans);
	push_credential_forget(&p->authorization);
	push_credential_forget(&p->otlp_authorization);
	pthread_cond_destroy(&p->changed);
	pthread_mutex_destroy(&p->lock);
	free(p);
}

/* ---- outcome ---- */

size_t push_count(const struct push *p)
{
	return p->count;
}

json_t *push_json(const struct push *p, size_t target)
{
	const struct push_sender *s = &p->senders[target];
	json_t *json = json_pack("{s:s}", option_of(s), s->shown);
	if (s->target.kind != PUSH_OTLP)
		json_object_set_new(json, "kind", json_string(push_kind_names[s->target.kind]));
	json_object_set_new(json, "sent", json_integer(s->sent));
	json_object_set_new(json, "failed", json_integer(s->given_up));
	if (s->dropped)
		json_object_set_new(json, "dropped", json_integer(s->dropped));
	if (s->rejected)
		json_object_set_new(json, "rejected", json_integer(s->rejected));
	if (s->target.kind == PUSH_REMOTE_WRITE)
		json_object_set_new(json, "native_histograms", json_boolean(!s->no_native));
	if (*s->error)
		json_object_set_new(json, "last_error", json_string(s->error));
	return json;
}

bool push_take_notice(struct push *p, struct buffer *line)
{
	bool found = false;
	pthread_mutex_lock(&p->lock);
	for (size_t i = 0; i < p->count && !found; i++) {
		if (!*p->notices[i])
			continue;
		buffer_text(line, p->notices[i]);
		p->notices[i][0] = '\0';
		found = true;
	}
	pthread_mutex_unlock(&p->lock);
	return found;
}
