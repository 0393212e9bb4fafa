#include "publish/push.h"

#include "clock.h"
#include "publish/metrics_text.h"
#include "publish/push_sender.h"
#include "publish/remote_write.h"
#include "safe_text.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define GATEWAY_LEAST_NS NS_PER_S /* the state at each second is enough for what keeps only the latest */
#define GROUPING         3        /* labels: job, instance, run */

struct push {
	const struct push_options *options;
	struct live_metrics *metrics;
	struct buffer authorization;
	struct push_sender senders[PUSH_TARGETS];
	size_t count;
	CURLM *multi;
	pthread_t thread;
	bool started;
	char host[LIVE_TEXT], run[LIVE_TEXT];
	struct metric_label labels[GROUPING];
	size_t labels_count;
	struct live_figures figures; /* scratch of the thread */
	struct buffer request;       /* likewise */

	pthread_mutex_t lock; /* of what follows */
	pthread_cond_t changed;
	bool begun, finishing;
	int64_t deadline_ns;             /* after which the thread gives up; with `finishing` */
	char notices[PUSH_TARGETS][800]; /* of first failures, to be reported; "" */
	bool noticed[PUSH_TARGETS];
};

/* ---- the thread ---- */

static void add_gateway(struct push *p, struct push_sender *s)
{
	struct push_request request = {0};
	struct metrics_text text = metrics_text(&request.body, false);
	live_figures_walk(&p->figures, &text.sink);
	push_sender_add(s, &request);
}

static void add_write(struct push *p, struct push_sender *s, bool native)
{
	struct push_request request = {.native = native};
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

/* Takes the figures for the targets whose time it is. */
static void take_figures(struct push *p, int64_t now_ns, bool final)
{
	bool read = false;
	for (size_t i = 0; i < p->count; i++) {
		struct push_sender *s = &p->senders[i];
		int64_t every_ns = p->options->every_ns;
		if (s->target.kind == PUSH_PUSHGATEWAY && every_ns < GATEWAY_LEAST_NS)
			every_ns = GATEWAY_LEAST_NS;
		if (!final && now_ns < s->next_ns)
			continue;
		while (s->next_ns <= now_ns)
			s->next_ns = s->next_ns + every_ns > now_ns ? s->next_ns + every_ns : now_ns + every_ns;
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

static void note_failure(struct push *p, const struct push_sender *s)
{
	size_t i = (size_t)(s - p->senders);
	if (!*s->error || p->noticed[i])
		return;
	pthread_mutex_lock(&p->lock);
	p->noticed[i] = true;
	snprintf(p->notices[i], sizeof p->notices[i], "--push %s: %s", s->shown, s->error);
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

/* When the next thing is to be done. */
static int64_t next_event(const struct push *p, bool final, int64_t deadline_ns)
{
	int64_t next_ns = INT64_MAX;
	for (size_t i = 0; i < p->count; i++) {
		const struct push_sender *s = &p->senders[i];
		if (!final && s->next_ns < next_ns)
			next_ns = s->next_ns;
		if (s->queue.count && !s->queue.busy && s->resume_ns < next_ns)
			next_ns = s->resume_ns;
	}
	return final && deadline_ns < next_ns ? deadline_ns : next_ns;
}

static bool all_sent(const struct push *p, int64_t deadline_ns)
{
	for (size_t i = 0; i < p->count; i++) {
		const struct push_sender *s = &p->senders[i];
		/* what may be sent only after the deadline will not be */
		if (!s->failed && s->queue.count && (s->queue.busy || s->resume_ns < deadline_ns))
			return false;
	}
	return true;
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
		p->senders[i].next_ns = clock_now();
	}
	for (;;) {
		pthread_mutex_lock(&p->lock);
		bool finishing = p->finishing;
		int64_t deadline_ns = p->deadline_ns, now_ns = clock_now();
		pthread_mutex_unlock(&p->lock);
		if (!final)
			take_figures(p, now_ns, finishing);
		for (size_t i = 0; i < p->count; i++) {
			p->senders[i].final = finishing;
			/* a pause of the run's gives way to its end */
			if (finishing && !final && !p->senders[i].retry_after_ns)
				p->senders[i].resume_ns = now_ns;
			push_sender_start(&p->senders[i], p->multi, now_ns);
		}
		final = finishing;
		run_transfers(p);
		if (final && (all_sent(p, deadline_ns) || clock_now() >= deadline_ns))
			return NULL;
		wait_until(p, next_event(p, final, deadline_ns));
	}
}

/* ---- starting and stopping ---- */

static int check_credential(const struct push_options *options, struct buffer *authorization, struct ipf_error *err)
{
	struct push_target target;
	if (push_credential(options->key_env, options->key_file, authorization, err) < 0)
		return -1;
	for (size_t i = 0; i < options->targets.count; i++) {
		if (push_target_parse(options->targets.items[i], &target, err) < 0)
			return -1;
		if (authorization->len && !push_target_is_private(&target))
			return ipf_error_set(err, IPF_USAGE,
			                     "--push: a key is sent over https only, or to this machine, got \"%s\"",
			                     shown(target.url).text);
	}
	if (authorization->len && !options->targets.count)
		return ipf_error_set(err, IPF_USAGE, "--push-key-%s requires --push", options->key_env ? "env" : "file");
	if (options->targets.count > PUSH_TARGETS)
		return ipf_error_set(err, IPF_USAGE, "--push: at most %d targets, got %zu", PUSH_TARGETS,
		                     options->targets.count);
	return 0;
}

int push_check(const struct push_options *options, struct ipf_error *err)
{
	struct buffer authorization = {0};
	int status = check_credential(options, &authorization, err);
	buffer_release(&authorization);
	return status;
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
	if (check_credential(options, &p->authorization, err) < 0)
		return -1;
	/* before the thread: it is not safe beside other threads */
	if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK || !(p->multi = curl_multi_init()))
		return ipf_error_memory(err);
	for (size_t i = 0; i < options->targets.count; i++) {
		p->count++;
		if (push_sender_init(&p->senders[i], options->targets.items[i],
		                     p->authorization.len ? p->authorization.data : "", err) < 0)
			return -1;
	}
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

void push_finish(struct push *p, int64_t wait_ns)
{
	if (!p->started)
		return;
	pthread_mutex_lock(&p->lock);
	p->finishing = true;
	p->deadline_ns = clock_now() + wait_ns;
	pthread_cond_signal(&p->changed);
	pthread_mutex_unlock(&p->lock);
	curl_multi_wakeup(p->multi);
	pthread_join(p->thread, NULL);
	p->started = false;
	/* what the deadline left unsent */
	for (size_t i = 0; i < p->count; i++) {
		struct push_sender *s = &p->senders[i];
		if (s->queue.count && !*s->error)
			strcpy(s->error, "no response in time");
		s->given_up += (int64_t)s->queue.count;
		note_failure(p, s);
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
	if (p->authorization.data)
		explicit_bzero(p->authorization.data, p->authorization.len);
	buffer_release(&p->authorization);
	pthread_cond_destroy(&p->changed);
	pthread_mutex_destroy(&p->lock);
	free(p);
}

/* ---- what became of it ---- */

size_t push_count(const struct push *p)
{
	return p->count;
}

json_t *push_json(const struct push *p, size_t target)
{
	const struct push_sender *s = &p->senders[target];
	json_t *json = json_pack("{s:s, s:s, s:I, s:I}", "push", s->shown, "kind", push_kind_names[s->target.kind], "sent",
	                         (json_int_t)s->sent, "failed", (json_int_t)s->given_up);
	if (s->dropped)
		json_object_set_new(json, "dropped", json_integer(s->dropped));
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
