#include "verdict/client_health.h"

#include "absent.h"
#include "array.h"
#include "verdict/verdict_limits.h"

#include <math.h>
#include <stdlib.h>

/* ---- the seconds of a part ---- */

static int by_time(const void *a, const void *b)
{
	const struct client_second *x = a, *y = b;
	return (x->t_ns > y->t_ns) - (x->t_ns < y->t_ns);
}

/* The share of a core used in the time before line i: as reported for the busiest thread, else from the difference of
 * the running totals. The first line has no predecessor, so its total is used only if it is the only line. */
static double cpu_of(const struct client_health *h, size_t i)
{
	const struct client_second *s = &h->seconds[i];
	int64_t before_ns = i > 0 ? s[-1].t_ns : 0;
	double before_s = i > 0 ? s[-1].send_s : h->seconds_count == 1 ? 0 : NAN;
	if (!isnan(s->cpu))
		return s->cpu;
	return !isnan(before_s) && s->t_ns > before_ns
	           ? fmax(0, (s->send_s - before_s) / ((double)(s->t_ns - before_ns) / 1e9))
	           : NAN;
}

static void fold_totals(struct client_totals *to, const struct client_totals *from)
{
	to->started += from->started;
	to->no_files += from->no_files;
	to->syn_retransmits += from->syn_retransmits;
	to->kernel_timestamps += from->kernel_timestamps;
	to->rejected_timestamps += from->rejected_timestamps;
	to->clock_steps += from->clock_steps;
}

/* Adds the current part. Only lines between the first start and the last end of its measured requests count. */
static void add_part(struct client_health *h, int64_t first_start_ns, int64_t last_end_ns, struct client_values *to)
{
	if (h->seconds_count > 1)
		qsort(h->seconds, h->seconds_count, sizeof *h->seconds, by_time);
	for (size_t i = 0; i < h->seconds_count; i++) {
		const struct client_second *s = &h->seconds[i];
		int64_t before_ns = i > 0 ? s[-1].t_ns : 0;
		if (first_start_ns == IPF_ABSENT || s->t_ns <= first_start_ns || before_ns >= last_end_ns)
			continue;
		double cpu = isnan(s->cpu) && isnan(s->send_s) ? NAN : cpu_of(h, i);
		samples_add(&to->cpu, cpu);
		samples_add(&to->wait, s->wait);
		samples_add(&to->loop_ms, s->loop_ms);
		samples_add(&to->delay_ms, s->delay_ms);
		samples_add(&to->full, s->full);
	}
	fold_totals(&to->totals, &h->part_totals);
}

void client_health_end_part(struct client_health *h, int64_t first_start_ns, int64_t last_end_ns)
{
	add_part(h, first_start_ns, last_end_ns, &h->ended);
	h->seconds_count = 0;
	h->part_totals = (struct client_totals){0};
}

static bool values_failed(const struct client_values *v)
{
	return v->cpu.failed || v->wait.failed || v->loop_ms.failed || v->delay_ms.failed || v->full.failed;
}

bool client_health_failed(const struct client_health *h)
{
	return h->failed || values_failed(&h->ended);
}

static void values_release(struct client_values *v)
{
	samples_release(&v->cpu);
	samples_release(&v->wait);
	samples_release(&v->loop_ms);
	samples_release(&v->delay_ms);
	samples_release(&v->full);
}

void client_health_release(struct client_health *h)
{
	free(h->seconds);
	values_release(&h->ended);
	jdoc_release(&h->doc);
}

/* ---- a line ---- */

#define NUMBER_MOST 1e12 /* sums of such numbers stay finite */

static int get_double(const struct jdoc *doc, const char *map, const char *key, double *to, struct ipf_error *err)
{
	jdoc_id node = jdoc_get(doc, jdoc_get(doc, JDOC_ROOT, map), key);
	double value;
	char name[64];
	if (jdoc_type_of(doc, node) != JDOC_NUMBER)
		return 0;
	if (!jdoc_to_double(doc, node, &value) || fabs(value) > NUMBER_MOST) {
		snprintf(name, sizeof name, "%s.%s", map, key);
		return jdoc_expected(doc, node, name, "a number of at most 1e12", err);
	}
	if (value >= 0)
		*to = value;
	return 0;
}

static void get_ms(const struct jdoc *doc, const char *map, const char *key, double *to)
{
	int64_t ns;
	if (jdoc_to_int(doc, jdoc_get(doc, jdoc_get(doc, JDOC_ROOT, map), key), &ns))
		*to = (double)ns / 1e6;
}

/* Counts only grow, so the greatest is the last. */
static void get_count(const struct jdoc *doc, jdoc_id map, const char *key, int64_t *to)
{
	int64_t count;
	if (jdoc_to_int(doc, jdoc_get(doc, map, key), &count) && verdict_valid_count(count) && count > *to)
		*to = count;
}

int client_health_line(struct client_health *h, struct slice line, struct ipf_error *err)
{
	struct ipf_error ignored = {0};
	if (!line.data || jdoc_parse(&h->doc, line.data, line.len, &ignored) < 0)
		return 0;
	const struct jdoc *doc = &h->doc;
	struct client_second s = {.send_s = NAN, .cpu = NAN, .wait = NAN, .loop_ms = NAN, .delay_ms = NAN, .full = NAN};
	if (!jdoc_to_int(doc, jdoc_get(doc, JDOC_ROOT, "t_ns"), &s.t_ns) || !verdict_valid_time(s.t_ns))
		return 0;
	h->lines++;
	if (get_double(doc, "cpu", "send", &s.send_s, err) < 0 || get_double(doc, "cpu", "most", &s.cpu, err) < 0 ||
	    get_double(doc, "run_queue", "most", &s.wait, err) < 0 ||
	    get_double(doc, "fullness", "record", &s.full, err) < 0)
		return -1;
	get_ms(doc, "loop_lag_ns", "max", &s.loop_ms);
	get_ms(doc, "delay_ns", "p99", &s.delay_ms);
	jdoc_id timestamps = jdoc_get(doc, JDOC_ROOT, "stamps");
	get_count(doc, JDOC_ROOT, "started", &h->part_totals.started);
	get_count(doc, JDOC_ROOT, "starved", &h->part_totals.no_files);
	get_count(doc, JDOC_ROOT, "syn_retransmits", &h->part_totals.syn_retransmits);
	get_count(doc, timestamps, "kernel", &h->part_totals.kernel_timestamps);
	get_count(doc, timestamps, "rejected", &h->part_totals.rejected_timestamps);
	get_count(doc, timestamps, "clock_steps", &h->part_totals.clock_steps);
	if (!array_room(h->seconds, h->seconds_cap, h->seconds_count + 1)) {
		h->failed = true;
		return ipf_error_memory(err);
	}
	h->seconds[h->seconds_count++] = s;
	return 0;
}

/* ---- judging ---- */

/* Over the seconds: the 95th percentile, which is judged, and the maximum. */
struct worst_seconds {
	double p95, most;
};

static struct worst_seconds worst_of(struct samples *s)
{
	return (struct worst_seconds){samples_percentile(s, 95), samples_percentile(s, 100)};
}

static bool judge_processor(struct client_values *v, struct verdict_check *check)
{
	char a[32], b[32];
	json_t *f = check->figures;
	bool ok = true;
	if (v->cpu.count > 0) {
		double mean = samples_mean(&v->cpu);
		struct worst_seconds cpu = worst_of(&v->cpu);
		ok = verdict_figure(f, "cpu_mean", mean) && verdict_figure(f, "cpu_p95", cpu.p95) &&
		     verdict_figure(f, "cpu_max", cpu.most);
		verdict_check_add(check, verdict_above(cpu.p95, VERDICT_CPU_DOUBTFUL, VERDICT_CPU_INVALID),
		                  "the sending thread used %s of a core, %s in the busiest second%s", verdict_percent(mean, a),
		                  verdict_percent(cpu.most, b),
		                  cpu.p95 > VERDICT_CPU_DOUBTFUL ? " (more --threads, or shards on several machines)" : "");
	}
	if (v->wait.count > 0) {
		double mean = samples_mean(&v->wait);
		struct worst_seconds wait = worst_of(&v->wait);
		ok = ok && verdict_figure(f, "run_queue_mean", mean) && verdict_figure(f, "run_queue_p95", wait.p95) &&
		     verdict_figure(f, "run_queue_max", wait.most);
		if (wait.p95 > VERDICT_WAIT_MENTIONED)
			verdict_check_add(check, verdict_above(wait.p95, VERDICT_WAIT_DOUBTFUL, VERDICT_WAIT_INVALID),
			                  "the sending thread waited for a core %s of the time, %s in the worst second%s",
			                  verdict_percent(mean, a), verdict_percent(wait.most, b),
			                  wait.p95 > VERDICT_WAIT_DOUBTFUL
			                      ? ": this machine was busy, another process used the core (stop it, or start "
			                        "ipf-fire on another machine)"
			                      : "");
	}
	return ok;
}

static bool judge_lateness(struct client_values *v, struct verdict_check *check)
{
	char a[32];
	json_t *f = check->figures;
	bool ok = true;
	if (v->loop_ms.count > 0) {
		struct worst_seconds loop = worst_of(&v->loop_ms);
		ok = verdict_figure(f, "loop_lag_p95_ms", loop.p95) && verdict_figure(f, "loop_lag_max_ms", loop.most);
		verdict_check_add(check, verdict_above(loop.p95, VERDICT_LOOP_DOUBTFUL_MS, VERDICT_LOOP_INVALID_MS),
		                  "the event loop was at most %s late%s", verdict_duration(loop.most, a),
		                  loop.p95 > VERDICT_LOOP_DOUBTFUL_MS ? ": this machine was busy, or suspended" : "");
	}
	if (v->delay_ms.count > 0) {
		struct worst_seconds delay = worst_of(&v->delay_ms);
		ok = ok && verdict_figure(f, "delay_p95_ms", delay.p95) && verdict_figure(f, "delay_max_ms", delay.most);
		verdict_check_add(
			check, verdict_above(delay.p95, VERDICT_DELAY_DOUBTFUL_MS, VERDICT_DELAY_INVALID_MS),
			"in 95 %% of the seconds, the client read 99 %% of the data within %s of the kernel timestamps%s",
			verdict_duration(delay.p95, a),
			delay.p95 > VERDICT_DELAY_DOUBTFUL_MS ? " (more --threads, or a less busy machine)" : "");
	}
	return ok;
}

static bool judge_shortages(struct client_values *v, struct verdict_check *check)
{
	json_t *f = check->figures;
	const struct client_totals *t = &v->totals;
	char a[32];
	double most = worst_of(&v->full).most; /* NAN: no line has it */
	bool ok = verdict_figure(f, "record_queue_max", most);
	if (most > VERDICT_FULL_DOUBTFUL)
		verdict_check_add(check, VERDICT_DOUBTFUL, "the record queue was %s full", verdict_percent(most, a));
	if (t->no_files > 0) {
		bool many = (double)t->no_files > VERDICT_NO_FILES_INVALID * (double)t->started;
		verdict_check_add(check, many ? VERDICT_INVALID : VERDICT_DOUBTFUL,
		                  "%s request%s could not be sent: too many open files (raise ulimit -n)",
		                  VERDICT_NUMBER(t->no_files), verdict_plural(t->no_files));
		ok = ok && verdict_count(f, "out_of_files", t->no_files);
	}
	/* no fault of the client: its users would have waited as well */
	if (t->syn_retransmits > 0) {
		verdict_check_add(check, VERDICT_OK, "%s connection%s had to send a SYN again",
		                  VERDICT_NUMBER(t->syn_retransmits), verdict_plural(t->syn_retransmits));
		ok = ok && verdict_count(f, "syn_retransmits", t->syn_retransmits);
	}
	if (t->kernel_timestamps + t->rejected_timestamps > 0) {
		double rejected = (double)t->rejected_timestamps / (double)(t->kernel_timestamps + t->rejected_timestamps);
		ok = ok && verdict_figure(f, "stamps_rejected", rejected) && verdict_count(f, "clock_steps", t->clock_steps);
		if (rejected > VERDICT_REJECTED_DOUBTFUL)
			verdict_check_add(check, VERDICT_DOUBTFUL,
			                  "%s of the kernel timestamps were implausible; ipf-fire's own were used instead",
			                  verdict_percent(rejected, a));
	}
	return ok;
}

static void add_samples(struct samples *to, const struct samples *from)
{
	for (size_t i = 0; i < from->count; i++)
		samples_add(to, from->values[i]);
}

/* The ended parts, and the current one as if it had: in values of its own, since it goes on. */
static void add_all(struct client_health *h, int64_t first_start_ns, int64_t last_end_ns, struct client_values *to)
{
	add_samples(&to->cpu, &h->ended.cpu);
	add_samples(&to->wait, &h->ended.wait);
	add_samples(&to->loop_ms, &h->ended.loop_ms);
	add_samples(&to->delay_ms, &h->ended.delay_ms);
	add_samples(&to->full, &h->ended.full);
	to->totals = h->ended.totals;
	add_part(h, first_start_ns, last_end_ns, to);
}

bool client_health_judge(struct client_health *h, int64_t first_start_ns, int64_t last_end_ns,
                         struct verdict_check *check)
{
	struct client_values all = {0};
	add_all(h, first_start_ns, last_end_ns, &all);
	bool ok = !values_failed(&all) && verdict_count(check->figures, "client_samples", h->lines) &&
	          judge_processor(&all, check) && judge_lateness(&all, check) && judge_shortages(&all, check);
	if (all.cpu.count == 0 && all.loop_ms.count == 0)
		verdict_check_add(check, VERDICT_DOUBTFUL, "the client reported no samples of its CPU and loop lag");
	values_release(&all);
	return ok;
}
