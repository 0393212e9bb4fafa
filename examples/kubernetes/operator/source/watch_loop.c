#include "watch_loop.h"

#include "cli/interrupt.h"
#include "clock.h"
#include "kinds/benchmark_job.h"
#include "kinds/benchmark_status.h"
#include "memory.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STORES = 3, POLL_MS = 1000 };

struct loop {
	struct operator_state op;
	struct object_store *stores[STORES];
	char said[STORES][800]; /* the last error of each, which is told once */
	CURLM *multi;
	struct backoff backoff; /* the passes' */
	int64_t pass_at_ns;     /* 0: when something changes */
};

static int open_loop(struct loop *l, const struct operator_settings *settings, struct ipf_error *err)
{
	static const char group[] = "/apis/operator.ipf/v1alpha1/namespaces";
	struct operator_state *op = &l->op;

	*l = (struct loop){.op = {.settings = settings}, .stores = {&op->benchmarks, &op->schedules, &op->jobs}};
	snprintf(op->benchmarks_path, PATH_SIZE, "%s/%s/benchmarks", group, settings->namespace);
	snprintf(op->schedules_path, PATH_SIZE, "%s/%s/benchmarkschedules", group, settings->namespace);
	snprintf(op->jobs_path, PATH_SIZE, "/apis/batch/v1/namespaces/%s/jobs", settings->namespace);
	snprintf(op->core_path, PATH_SIZE, "/api/v1/namespaces/%s", settings->namespace);
	backoff_init(&l->backoff, (uint64_t)clock_wall() ^ (uint64_t)getpid());
	l->multi = curl_multi_init();
	if (!l->multi)
		return ipf_error_memory(err);
	if (api_open(&op->api, &settings->api, err) < 0 ||
	    store_open(&op->benchmarks, &(struct store_kind){.path = op->benchmarks_path}, &op->api, err) < 0 ||
	    store_open(&op->schedules, &(struct store_kind){.path = op->schedules_path}, &op->api, err) < 0)
		return -1;
	return store_open(
		&op->jobs,
		&(struct store_kind){.path = op->jobs_path, .selector = LABEL_MANAGED "=" MANAGER, .without_spec = true},
		&op->api, err);
}

static void close_loop(struct loop *l)
{
	for (int i = 0; i < STORES; i++)
		store_close(l->stores[i], l->multi);
	api_close(&l->op.api);
	free(l->op.image);
	curl_multi_cleanup(l->multi);
}

/* An error of a store is told when it comes and when it has gone, not each time it is met. */
static void tell(struct loop *l, int i)
{
	struct object_store *s = l->stores[i];
	if (s->error.kind != IPF_OK && strcmp(l->said[i], s->error.text) != 0) {
		snprintf(l->said[i], sizeof l->said[i], "%s", s->error.text);
		operator_say("GET", s->kind.path, "%s; trying again", s->error.text);
	} else if (s->error.kind == IPF_OK && s->watching && *l->said[i]) {
		l->said[i][0] = '\0';
		operator_say("GET", s->kind.path, "is there again");
	}
}

static void finish_transfers(struct loop *l)
{
	CURLMsg *message;
	int left;
	while ((message = curl_multi_info_read(l->multi, &left))) {
		char *store = NULL;
		CURLcode result = message->data.result;
		if (message->msg == CURLMSG_DONE &&
		    curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &store) == CURLE_OK)
			store_finished((struct object_store *)(void *)store, l->multi, result, clock_now());
	}
}

static void pass(struct loop *l)
{
	struct operator_state *op = &l->op;
	op->now_s = clock_wall() / NS_PER_S;
	rfc3339(op->now_s, op->now);
	op->again = false;
	op->wake_s = 0;
	for (int i = 0; i < STORES; i++)
		l->stores[i]->changed = false;
	if (operator_find_image(op)) {
		reconcile_benchmarks(op);
		reconcile_schedules(op);
	}
	if (op->again) {
		l->pass_at_ns = clock_now() + backoff_next(&l->backoff);
		return;
	}
	backoff_reset(&l->backoff);
	l->pass_at_ns = op->wake_s ? clock_now() + (op->wake_s - op->now_s) * NS_PER_S : 0;
}

/* Is a pass due? Changes wait as long as the backoff of a failed pass lasts. */
static bool is_due(const struct loop *l, bool listed, bool changed)
{
	if (l->op.again)
		return listed && clock_now() >= l->pass_at_ns;
	return listed && (changed || (l->pass_at_ns && clock_now() >= l->pass_at_ns));
}

/* Until the next attempt or pass, and a second at most: a signal may come just before. */
static int poll_ms(const struct loop *l)
{
	int64_t now_ns = clock_now(), left_ns = POLL_MS * NS_PER_MS;
	for (int i = 0; i < STORES; i++)
		if (!l->stores[i]->watching && l->stores[i]->retry_at_ns - now_ns < left_ns)
			left_ns = l->stores[i]->retry_at_ns - now_ns;
	if (l->pass_at_ns && l->pass_at_ns - now_ns < left_ns)
		left_ns = l->pass_at_ns - now_ns;
	return left_ns > 0 ? (int)(left_ns / NS_PER_MS) + 1 : 0;
}

static void turn(struct loop *l, struct health *health)
{
	bool listed = true, changed = false;
	int running;

	for (int i = 0; i < STORES && !interrupted(); i++) {
		tell(l, i); /* before the error gives way to the next attempt */
		store_step(l->stores[i], l->multi, clock_now());
	}
	curl_multi_perform(l->multi, &running);
	finish_transfers(l);
	for (int i = 0; i < STORES; i++) {
		listed &= l->stores[i]->listed;
		changed |= l->stores[i]->changed;
	}
	health_beat(health, listed);
	if (!interrupted() && is_due(l, listed, changed))
		pass(l);
	else if (!interrupted())
		curl_multi_poll(l->multi, NULL, 0, poll_ms(l), NULL);
}

int watch_loop_run(const struct operator_settings *settings, struct health *health, struct ipf_error *err)
{
	struct loop loop;
	int result = open_loop(&loop, settings, err);

	while (result == 0 && !interrupted()) {
		turn(&loop, health);
		if (memory_ran_out()) /* Kubernetes starts it again, with all memory */
			result = ipf_error_memory(err);
	}
	close_loop(&loop);
	return result;
}
