#include "run/client_stats.h"

#include "absent.h"
#include "clock.h"
#include "json/jout.h"

#include <stdlib.h>
#include <time.h>

/* One of the histograms of thread_stats: the part read of each thread's, and the sums over all threads. */
struct delay_view {
	struct delay_histogram_seen *seen;
	struct delay_histogram_sum now, whole; /* since the last line; of the run */
};

struct client_stats {
	struct client_stats_options o;
	struct delay_view lag, loop, delay;
	struct run_queue *send_queues, record_queue, render_queue;
	int64_t *wakes, *ready;                       /* as of the last line */
	double cpu[THREADS_MOST], wait[THREADS_MOST]; /* likewise, seconds */
	int64_t line_ns;                              /* the time of the last line */
};

/* ---- processor time ---- */

static double cpu_seconds(pthread_t thread)
{
	clockid_t id;
	struct timespec t;
	if (pthread_getcpuclockid(thread, &id) || clock_gettime(id, &t))
		return 0;
	return (double)t.tv_sec + (double)(t.tv_nsec / 1000) / 1e6;
}

static double seconds(int64_t ns)
{
	return ns == IPF_ABSENT ? 0 : (double)(ns / NS_PER_US) / 1e6;
}

static void read_sender_times(struct client_stats *c, double *cpu, double *wait)
{
	for (size_t i = 0; i < c->o.senders; i++) {
		int64_t ended = counter_get(&c->o.stats[i]->cpu_ns);
		cpu[i] = ended ? seconds(ended) : cpu_seconds(c->o.send[i]);
		wait[i] = seconds(run_queue_look(&c->send_queues[i], counter_get(&c->o.stats[i]->thread)));
	}
}

static void write_member_double(struct jout *w, const char *key, double value)
{
	jout_key(w, key);
	jout_double(w, value);
}

/* ---- opening and closing ---- */

struct client_stats *client_stats_new(const struct client_stats_options *options)
{
	struct client_stats *c = calloc(1, sizeof *c);
	if (!c)
		return NULL;
	c->o = *options;
	size_t senders = options->senders;
	c->lag.seen = calloc(senders, sizeof *c->lag.seen);
	c->loop.seen = calloc(senders, sizeof *c->loop.seen);
	c->delay.seen = calloc(senders, sizeof *c->delay.seen);
	c->send_queues = calloc(senders, sizeof *c->send_queues);
	c->wakes = calloc(senders, sizeof *c->wakes);
	c->ready = calloc(senders, sizeof *c->ready);
	if (c->lag.seen && c->loop.seen && c->delay.seen && c->send_queues && c->wakes && c->ready) {
		c->line_ns = clock_now();
		read_sender_times(c, c->cpu, c->wait);
		return c;
	}
	client_stats_free(c);
	return NULL;
}

void client_stats_free(struct client_stats *c)
{
	if (!c)
		return;
	for (size_t i = 0; c->send_queues && i < c->o.senders; i++)
		run_queue_close(&c->send_queues[i]);
	run_queue_close(&c->record_queue);
	run_queue_close(&c->render_queue);
	free(c->lag.seen);
	free(c->loop.seen);
	free(c->delay.seen);
	free(c->send_queues);
	free(c->wakes);
	free(c->ready);
	free(c);
}

/* ---- processor time, written ---- */

/* The sum over the sending threads, and each if there are several; and the share of the busiest in the time since the
 * last line. */
static void write_senders(const struct client_stats *c, struct jout *w, const double *each, double *before, int64_t now)
{
	double sum = 0, most = 0, passed = (double)(now - c->line_ns) / 1e9;
	for (size_t i = 0; i < c->o.senders; i++) {
		sum += each[i];
		if (each[i] - before[i] > most)
			most = each[i] - before[i];
		before[i] = each[i];
	}
	if (passed > 0)
		write_member_double(w, "most", most / passed);
	jout_key(w, "send");
	jout_double(w, sum);
	if (c->o.senders < 2)
		return;
	jout_key(w, "senders");
	jout_begin_list(w);
	for (size_t i = 0; i < c->o.senders; i++)
		jout_double(w, each[i]);
	jout_end_list(w);
}

static void write_cpu(struct client_stats *c, struct jout *w, const double *each, int64_t now)
{
	jout_key(w, "cpu");
	jout_begin_map(w);
	write_senders(c, w, each, c->cpu, now);
	write_member_double(w, "record", cpu_seconds(pthread_self()));
	write_member_double(w, "render", cpu_seconds(c->o.render));
	jout_end_map(w);
}

/* Writes nothing if the system does not report it. */
static void write_run_queue(struct client_stats *c, struct jout *w, const double *each, int64_t now)
{
	int64_t record = run_queue_look(&c->record_queue, thread_number());
	if (record == IPF_ABSENT)
		return;
	jout_key(w, "run_queue");
	jout_begin_map(w);
	write_senders(c, w, each, c->wait, now);
	write_member_double(w, "record", seconds(record));
	write_member_double(w, "render",
	                    seconds(run_queue_look(&c->render_queue, counter_get(&c->o.counters->render_thread))));
	jout_end_map(w);
}

/* ---- times ---- */

static void add(struct delay_histogram_sum *to, const struct delay_histogram_sum *from)
{
	for (size_t i = 0; i < DELAY_HISTOGRAM_BUCKETS; i++)
		to->counts[i] += from->counts[i];
	to->count += from->count;
	to->near += from->near;
	if (from->most_ns > to->most_ns)
		to->most_ns = from->most_ns;
}

static void read_delays(const struct client_stats *c, struct delay_view *v, size_t at)
{
	v->now = (struct delay_histogram_sum){0};
	for (size_t i = 0; i < c->o.senders; i++)
		delay_histogram_since((struct delay_histogram *)((char *)c->o.stats[i] + at), &v->seen[i], &v->now);
	add(&v->whole, &v->now);
}

/* `whole`: with the tail and the share near zero. */
static void write_delays(struct jout *w, const char *key, const struct delay_histogram_sum *sum, bool whole)
{
	if (!sum->count)
		return;
	jout_key(w, key);
	jout_begin_map(w);
	jout_member_int(w, "count", sum->count);
	jout_member_int(w, "p50", delay_histogram_percentile(sum, 50));
	jout_member_int(w, "p99", delay_histogram_percentile(sum, 99));
	if (whole)
		jout_member_int(w, "p999", delay_histogram_percentile(sum, 99.9));
	jout_member_int(w, "max", sum->most_ns);
	if (whole)
		write_member_double(w, "within_1ms", (double)sum->near / (double)sum->count);
	jout_end_map(w);
}

/* ---- queues ---- */

static void write_ready(struct client_stats *c, struct jout *w)
{
	int64_t wakes = 0, ready = 0, most = 0;
	for (size_t i = 0; i < c->o.senders; i++) {
		struct thread_stats *t = c->o.stats[i];
		int64_t of_wakes = counter_get(&t->wakes), of_ready = counter_get(&t->ready);
		wakes += of_wakes - c->wakes[i];
		ready += of_ready - c->ready[i];
		c->wakes[i] = of_wakes;
		c->ready[i] = of_ready;
		int64_t one = atomic_exchange(&t->ready_most, 0);
		if (one > most)
			most = one;
	}
	if (!wakes)
		return;
	jout_key(w, "ready");
	jout_begin_map(w);
	write_member_double(w, "mean", (double)ready / (double)wakes);
	jout_member_int(w, "max", most);
	jout_end_map(w);
}

static void write_fullness(const struct client_stats *c, struct jout *w)
{
	double most = 0;
	const struct run_counters *g = c->o.counters;
	int64_t room = counter_get(&g->ahead_room), ahead = counter_get(&g->rendered) - counter_get(&g->fetched);
	for (size_t i = 0; i < c->o.senders; i++) {
		double full = (double)queue_count(c->o.queues[i]) / (double)queue_room(c->o.queues[i]);
		if (full > most)
			most = full;
	}
	jout_key(w, "fullness");
	jout_begin_map(w);
	write_member_double(w, "render", room ? (double)ahead / (double)room : 0);
	write_member_double(w, "record", most);
	jout_end_map(w);
}

static int64_t sum_of(const struct client_stats *c, size_t at)
{
	int64_t sum = 0;
	for (size_t i = 0; i < c->o.senders; i++)
		sum += counter_get((const atomic_llong *)((const char *)c->o.stats[i] + at));
	return sum;
}

#define SUM(member_) sum_of(c, offsetof(struct thread_stats, member_))

static void write_timestamps(const struct client_stats *c, struct jout *w)
{
	if (!c->o.kernel_timestamps)
		return;
	jout_key(w, "stamps");
	jout_begin_map(w);
	jout_member_int(w, "kernel", SUM(stamped));
	jout_member_int(w, "none", SUM(without));
	jout_member_int(w, "rejected", SUM(rejected));
	jout_member_int(w, "clock_steps", SUM(steps));
	jout_end_map(w);
}

/* ---- the line ---- */

static void write_totals(const struct client_stats *c, struct jout *w, int64_t now)
{
	const struct run_counters *g = c->o.counters;
	/* failed first: it counts in done, and both go on meanwhile */
	int64_t failed = counters_failed(g), done = counters_sum(g, done);
	jout_member_int(w, "t_ns", now - c->o.zero_ns);
	jout_member_int(w, "in_flight", counter_get(&g->in_flight));
	jout_member_int(w, "waiting", counter_get(&g->waiting) + counters_sum(g, pool_waiting));
	jout_member_int(w, "due", counter_get(&g->due));
	jout_member_int(w, "started", counters_sum(g, started));
	jout_member_int(w, "done", done);
	jout_member_int(w, "failed", failed);
	jout_member_int(w, "starved", SUM(starved));
	jout_member_int(w, "syn_retransmits", SUM(syn_retransmits));
	jout_member_int(w, "unrendered", SUM(unrendered));
	jout_member_int(w, "bytes", counters_sum(g, bytes));
	jout_member_int(w, "reads", counters_sum(g, reads));
}

void client_stats_line(struct client_stats *c, int64_t now, struct server_dates *dates, struct buffer *line)
{
	const struct run_counters *g = c->o.counters;
	struct jout w = {.out = line};
	buffer_clear(line);
	read_delays(c, &c->lag, offsetof(struct thread_stats, lag));
	read_delays(c, &c->loop, offsetof(struct thread_stats, loop));
	read_delays(c, &c->delay, offsetof(struct thread_stats, delay));
	jout_begin_map(&w);
	jout_key(&w, "client");
	jout_begin_map(&w);
	write_totals(c, &w, now);
	double cpu[THREADS_MOST], wait[THREADS_MOST];
	read_sender_times(c, cpu, wait);
	write_cpu(c, &w, cpu, now);
	write_run_queue(c, &w, wait, now);
	c->line_ns = now;
	write_delays(&w, "client_lag_ns", &c->lag.now, true);
	write_delays(&w, "delay_ns", &c->delay.now, false);
	jout_key(&w, "loop_lag_ns");
	jout_begin_map(&w);
	if (c->loop.now.count)
		jout_member_int(&w, "p99", delay_histogram_percentile(&c->loop.now, 99));
	jout_member_int(&w, "max", c->loop.now.most_ns);
	jout_end_map(&w);
	write_ready(c, &w);
	write_timestamps(c, &w);
	jout_member_int(&w, "queue", counters_unrecorded(g));
	jout_member_int(&w, "queue_bytes", counters_unrecorded_bytes(g));
	write_fullness(c, &w);
	server_dates_write(dates, &w);
	jout_end_map(&w);
	jout_end_map(&w);
}

json_t *client_stats_whole(const struct client_stats *c)
{
	struct buffer text = {0};
	struct jout w = {.out = &text};
	jout_begin_map(&w);
	write_delays(&w, "client_lag_ns", &c->lag.whole, true);
	write_delays(&w, "delay_ns", &c->delay.whole, true);
	write_delays(&w, "loop_lag_ns", &c->loop.whole, true);
	write_timestamps(c, &w);
	jout_end_map(&w);
	json_t *whole = text.failed ? NULL : json_loadb(text.data, text.len, 0, NULL);
	buffer_release(&text);
	return whole;
}
