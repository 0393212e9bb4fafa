/* Was the client the limit? What its lines tell of each second, and what follows. */
#include "absent.h"
#include "verdict/verdict_private.h"

#include <math.h>
#include <stdlib.h>

/* ---- gathering ---- */

static int by_time(const void *a, const void *b)
{
	const struct verdict_second *x = a, *y = b;
	return (x->t_ns > y->t_ns) - (x->t_ns < y->t_ns);
}

/* The share of a core in the time before line i. Those that are told for the busiest thread are that; else the
 * difference of the running totals: the first line has none before it and only tells something where it is the only
 * one. */
static double cpu_of(const struct verdict *v, size_t i)
{
	const struct verdict_second *s = &v->seconds[i];
	int64_t before_ns = i > 0 ? s[-1].t_ns : 0;
	double before_s = i > 0 ? s[-1].send_s : v->seconds_count == 1 ? 0 : NAN;
	if (!isnan(s->cpu))
		return s->cpu;
	return !isnan(before_s) && s->t_ns > before_ns
	           ? fmax(0, (s->send_s - before_s) / ((double)(s->t_ns - before_ns) / 1e9))
	           : NAN;
}

static void fold_totals(struct verdict_totals *to, const struct verdict_totals *from)
{
	to->started += from->started;
	to->starved += from->starved;
	to->stamped += from->stamped;
	to->rejected += from->rejected;
	to->clock_steps += from->clock_steps;
}

/* Client lines count from the first start of a measured request to the last end of one. */
void verdict_fold_client(struct verdict *v)
{
	if (v->seconds_count > 1)
		qsort(v->seconds, v->seconds_count, sizeof *v->seconds, by_time);
	for (size_t i = 0; i < v->seconds_count; i++) {
		const struct verdict_second *s = &v->seconds[i];
		int64_t before_ns = i > 0 ? s[-1].t_ns : 0;
		if (v->first_start == IPF_ABSENT || s->t_ns <= v->first_start || before_ns >= v->last_end)
			continue;
		double cpu = isnan(s->cpu) && isnan(s->send_s) ? NAN : cpu_of(v, i);
		samples_add(&v->cpu, cpu);
		samples_add(&v->wait, s->wait);
		samples_add(&v->loop_ms, s->loop_ms);
		samples_add(&v->delay_ms, s->delay_ms);
		samples_add(&v->full, s->full);
	}
	v->seconds_count = 0;
	fold_totals(&v->totals, &v->part_totals);
	v->part_totals = (struct verdict_totals){0};
}

bool verdict_client_failed(const struct verdict *v)
{
	return v->cpu.failed || v->wait.failed || v->loop_ms.failed || v->delay_ms.failed || v->full.failed;
}

void verdict_client_release(struct verdict *v)
{
	free(v->seconds);
	samples_release(&v->cpu);
	samples_release(&v->wait);
	samples_release(&v->loop_ms);
	samples_release(&v->delay_ms);
	samples_release(&v->full);
}

/* ---- a line ---- */

static void get_double(const struct jdoc *doc, const char *map, const char *key, double *to)
{
	jdoc_id node = jdoc_get(doc, jdoc_get(doc, JDOC_ROOT, map), key);
	double value;
	if (jdoc_to_double(doc, node, &value) && value >= 0)
		*to = value;
}

static void get_ms(const struct jdoc *doc, const char *map, const char *key, double *to)
{
	int64_t ns;
	if (jdoc_to_int(doc, jdoc_get(doc, jdoc_get(doc, JDOC_ROOT, map), key), &ns))
		*to = (double)ns / 1e6;
}

/* Counts grow: the greatest is the last. */
static void get_count(const struct jdoc *doc, jdoc_id map, const char *key, int64_t *to)
{
	int64_t count;
	if (jdoc_to_int(doc, jdoc_get(doc, map, key), &count) && verdict_countable(count) && count > *to)
		*to = count;
}

void verdict_client(struct verdict *v, struct slice client)
{
	struct ipf_error ignored = {0};
	if (!client.data || jdoc_parse(&v->doc, client.data, client.len, &ignored) < 0)
		return;
	const struct jdoc *doc = &v->doc;
	struct verdict_second s = {.send_s = NAN, .cpu = NAN, .wait = NAN, .loop_ms = NAN, .delay_ms = NAN, .full = NAN};
	if (!jdoc_to_int(doc, jdoc_get(doc, JDOC_ROOT, "t_ns"), &s.t_ns) || !verdict_sane(s.t_ns))
		return;
	v->client_lines++;
	get_double(doc, "cpu", "send", &s.send_s);
	get_double(doc, "cpu", "most", &s.cpu);
	get_double(doc, "run_queue", "most", &s.wait);
	get_double(doc, "fullness", "record", &s.full);
	get_ms(doc, "loop_lag_ns", "max", &s.loop_ms);
	get_ms(doc, "delay_ns", "p99", &s.delay_ms);
	jdoc_id stamps = jdoc_get(doc, JDOC_ROOT, "stamps");
	get_count(doc, JDOC_ROOT, "started", &v->part_totals.started);
	get_count(doc, JDOC_ROOT, "starved", &v->part_totals.starved);
	get_count(doc, stamps, "kernel", &v->part_totals.stamped);
	get_count(doc, stamps, "rejected", &v->part_totals.rejected);
	get_count(doc, stamps, "clock_steps", &v->part_totals.clock_steps);
	if (v->seconds_count == v->seconds_cap) {
		size_t cap = v->seconds_cap ? 2 * v->seconds_cap : 64;
		struct verdict_second *seconds = realloc(v->seconds, cap * sizeof *seconds);
		if (!seconds) {
			v->failed = true;
			return;
		}
		v->seconds = seconds;
		v->seconds_cap = cap;
	}
	v->seconds[v->seconds_count++] = s;
}

/* ---- judging ---- */

/* Over the seconds: the 95th percentile, which is judged, and the greatest. */
struct worst {
	double p95, most;
};

static struct worst worst_of(struct samples *s)
{
	return (struct worst){samples_percentile(s, 95), samples_percentile(s, 100)};
}

static bool judge_processor(struct verdict *v, struct verdict_check *check)
{
	char a[32], b[32];
	json_t *f = check->figures;
	bool ok = true;
	if (v->cpu.count > 0) {
		double mean = samples_mean(&v->cpu);
		struct worst cpu = worst_of(&v->cpu);
		ok = verdict_figure(f, "cpu_mean", mean) && verdict_figure(f, "cpu_p95", cpu.p95) &&
		     verdict_figure(f, "cpu_max", cpu.most);
		verdict_say(check, verdict_above(cpu.p95, VERDICT_CPU_DOUBTFUL, VERDICT_CPU_INVALID),
		            "the sending thread used %s of a core, %s in the busiest second", verdict_percent(mean, a),
		            verdict_percent(cpu.most, b));
	}
	if (v->wait.count > 0) {
		double mean = samples_mean(&v->wait);
		struct worst wait = worst_of(&v->wait);
		ok = ok && verdict_figure(f, "run_queue_mean", mean) && verdict_figure(f, "run_queue_p95", wait.p95) &&
		     verdict_figure(f, "run_queue_max", wait.most);
		if (wait.p95 > VERDICT_WAIT_SAID)
			verdict_say(check, verdict_above(wait.p95, VERDICT_WAIT_DOUBTFUL, VERDICT_WAIT_INVALID),
			            "it waited for one for %s of the time, %s in the worst second", verdict_percent(mean, a),
			            verdict_percent(wait.most, b));
	}
	return ok;
}

static bool judge_lateness(struct verdict *v, struct verdict_check *check)
{
	char a[32];
	json_t *f = check->figures;
	bool ok = true;
	if (v->loop_ms.count > 0) {
		struct worst loop = worst_of(&v->loop_ms);
		ok = verdict_figure(f, "loop_lag_p95_ms", loop.p95) && verdict_figure(f, "loop_lag_max_ms", loop.most);
		verdict_say(check, verdict_above(loop.p95, VERDICT_LOOP_DOUBTFUL_MS, VERDICT_LOOP_INVALID_MS),
		            "its loop was %s late at most", verdict_duration(loop.most, a));
	}
	if (v->delay_ms.count > 0) {
		struct worst delay = worst_of(&v->delay_ms);
		ok = ok && verdict_figure(f, "delay_p95_ms", delay.p95) && verdict_figure(f, "delay_max_ms", delay.most);
		verdict_say(check, verdict_above(delay.p95, VERDICT_DELAY_DOUBTFUL_MS, VERDICT_DELAY_INVALID_MS),
		            "it read what came within %s of the kernel's stamps (p99)", verdict_duration(delay.p95, a));
	}
	return ok;
}

static bool judge_shortages(struct verdict *v, struct verdict_check *check)
{
	json_t *f = check->figures;
	const struct verdict_totals *t = &v->totals;
	char a[32];
	bool ok = true;
	if (v->full.count > 0) {
		double most = worst_of(&v->full).most;
		ok = verdict_figure(f, "record_queue_max", most);
		if (most > VERDICT_FULL_DOUBTFUL)
			verdict_say(check, VERDICT_DOUBTFUL, "the queue of what is to be written was %s full",
			            verdict_percent(most, a));
	}
	if (t->starved > 0) {
		bool many = (double)t->starved > VERDICT_STARVED_INVALID * (double)t->started;
		verdict_say(check, many ? VERDICT_INVALID : VERDICT_DOUBTFUL,
		            "%lld request%s could not be sent: out of open files (ulimit -n)", (long long)t->starved,
		            verdict_plural(t->starved));
		ok = ok && verdict_count(f, "out_of_files", t->starved);
	}
	if (t->stamped + t->rejected > 0) {
		double rejected = (double)t->rejected / (double)(t->stamped + t->rejected);
		ok = ok && verdict_figure(f, "stamps_rejected", rejected) && verdict_count(f, "clock_steps", t->clock_steps);
		if (rejected > VERDICT_REJECTED_DOUBTFUL)
			verdict_say(check, VERDICT_DOUBTFUL,
			            "%s of the kernel's stamps could not be: those times are our own clock's",
			            verdict_percent(rejected, a));
	}
	return ok;
}

bool verdict_judge_client(struct verdict *v, struct verdict_check *check)
{
	char a[32];
	bool ok = verdict_count(check->figures, "client_samples", v->client_lines) && judge_processor(v, check) &&
	          judge_lateness(v, check) && judge_shortages(v, check);
	if (v->cpu.count == 0 && v->loop_ms.count == 0)
		verdict_say(check, VERDICT_DOUBTFUL, "the client left no samples of its CPU and loop lag");
	if (v->events > 0) {
		double share = (double)v->coalesced / (double)v->events;
		if (share > VERDICT_COALESCED_DOUBTFUL)
			verdict_say(check, VERDICT_DOUBTFUL,
			            "%s of the content events came several to a read: do not trust ITL, TPOT and stalls",
			            verdict_percent(share, a));
		ok = ok && verdict_figure(check->figures, "coalesced", share);
	}
	return ok;
}
