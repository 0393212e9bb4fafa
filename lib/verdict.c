/* Gathering what the verdict needs; verdict_judge.c draws the conclusions. */
#include "verdict_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const verdict_kinds[VERDICT_KINDS] = {"connect", "tls",       "timeout",   "reset",     "http-status",
                                                  "in-band", "cut",       "malformed", "cancelled", "other"};

struct verdict *verdict_new(void)
{
	struct verdict *v = calloc(1, sizeof *v);
	if (!v)
		return NULL;
	v->lag = histogram_new();
	v->client_lag = histogram_new();
	v->slot_wait = histogram_new();
	v->first_start = v->last_end = IPF_ABSENT;
	if (v->lag && v->client_lag && v->slot_wait)
		return v;
	verdict_free(v);
	return NULL;
}

void verdict_free(struct verdict *v)
{
	if (!v)
		return;
	for (size_t i = 0; i < v->count; i++)
		free(v->stages[i].name);
	free(v->stages);
	free(v->seconds);
	histogram_free(v->lag);
	histogram_free(v->client_lag);
	histogram_free(v->slot_wait);
	samples_release(&v->cpu);
	samples_release(&v->loop_ms);
	jdoc_release(&v->doc);
	for (size_t i = 0; i < VERDICT_QUESTIONS; i++)
		json_decref(v->finding.checks[i].figures);
	free(v);
}

static bool stages_grow(struct verdict *v, size_t count)
{
	if (count <= v->count)
		return true;
	struct verdict_stage *stages = realloc(v->stages, count * sizeof *stages);
	if (!stages)
		return false;
	v->stages = stages;
	for (; v->count < count; v->count++)
		stages[v->count] = (struct verdict_stage){.measured = true,
		                                          .due_first = IPF_ABSENT,
		                                          .due_last = IPF_ABSENT,
		                                          .start_first = IPF_ABSENT,
		                                          .start_last = IPF_ABSENT};
	return true;
}

static void fold_stage(struct verdict_stage *stage)
{
	if (stage->due_first != IPF_ABSENT) {
		stage->due_span += stage->due_last - stage->due_first;
		stage->start_span += stage->start_last - stage->start_first;
	}
	stage->due_first = stage->due_last = stage->start_first = stage->start_last = IPF_ABSENT;
}

static int by_time(const void *a, const void *b)
{
	const struct verdict_second *x = a, *y = b;
	return (x->t_ns > y->t_ns) - (x->t_ns < y->t_ns);
}

/* Client lines count from the first start of a measured request to the last end of one. The CPU figures are running totals:
 * the first line has none before it and only tells something where it is the only one. */
static void fold_seconds(struct verdict *v)
{
	if (v->seconds_count > 1)
		qsort(v->seconds, v->seconds_count, sizeof *v->seconds, by_time);
	for (size_t i = 0; i < v->seconds_count; i++) {
		const struct verdict_second *s = &v->seconds[i];
		int64_t before_ns = i > 0 ? s[-1].t_ns : 0;
		double before_s = i > 0 ? s[-1].send_s : v->seconds_count == 1 ? 0 : NAN;
		if (v->first_start == IPF_ABSENT || s->t_ns <= v->first_start || before_ns >= v->last_end)
			continue;
		if (!isnan(s->loop_ms))
			samples_add(&v->loop_ms, s->loop_ms);
		if (!isnan(s->send_s) && !isnan(before_s) && s->t_ns > before_ns)
			samples_add(&v->cpu, fmax(0, (s->send_s - before_s) / ((double)(s->t_ns - before_ns) / 1e9)));
	}
	v->seconds_count = 0;
}

void verdict_fold(struct verdict *v)
{
	for (size_t i = 0; i < v->count; i++)
		fold_stage(&v->stages[i]);
	fold_seconds(v);
	v->first_start = v->last_end = IPF_ABSENT;
}

/* What is known and within 30 years: differences never overflow. */
static bool sane(int64_t ns)
{
	return ns >= -INT64_C(1000000000000000000) && ns <= INT64_C(1000000000000000000);
}

/* Known, and no sum of them overflows. */
static bool countable(int64_t count)
{
	return count >= 0 && count <= INT64_C(1000000000000);
}

int verdict_part(struct verdict *v, const struct schedule *plan)
{
	verdict_fold(v);
	v->parts++;
	size_t count = plan ? plan->count : 0;
	if (!stages_grow(v, count)) {
		v->failed = true;
		return -1;
	}
	for (size_t i = 0; i < count; i++) {
		struct verdict_stage *stage = &v->stages[i];
		const struct schedule_stage *from = &plan->stages[i];
		if (!stage->name && !(stage->name = strdup(from->name ? from->name : ""))) {
			v->failed = true;
			return -1;
		}
		stage->measured = from->measured;
		stage->closed = from->closed;
		stage->cycle = from->cycle;
		stage->scheduled += countable(from->arrivals) ? from->arrivals : 0;
		/* a shard's schedule says what all shards have to do */
		int64_t most = from->all_arrivals > from->arrivals ? from->all_arrivals : from->arrivals;
		if (most > stage->scheduled_most && countable(most))
			stage->scheduled_most = most;
	}
	return 0;
}

void verdict_shards(struct verdict *v)
{
	v->shards = true;
}

static void span(int64_t *first, int64_t *last, int64_t at)
{
	if (*first == IPF_ABSENT || at < *first)
		*first = at;
	if (*last == IPF_ABSENT || at > *last)
		*last = at;
}

size_t verdict_kind_of(struct slice kind)
{
	for (size_t i = 0; i + 1 < VERDICT_KINDS; i++) {
		size_t len = strlen(verdict_kinds[i]);
		if (kind.len == len + 2 && memcmp(kind.data + 1, verdict_kinds[i], len) == 0)
			return i;
	}
	return VERDICT_KINDS - 1;
}

static void row_times(struct verdict *v, struct verdict_stage *stage, const struct result *row)
{
	if (!sane(row->start_ns))
		return;
	stage->started++;
	span(&v->first_start, &v->last_end, row->start_ns);
	if (sane(row->end_ns))
		span(&v->first_start, &v->last_end, row->end_ns);
	if (row->client_lag_ns != IPF_ABSENT)
		histogram_add(v->client_lag, row->client_lag_ns, 1);
	if (row->slot_wait_ns != IPF_ABSENT)
		histogram_add(v->slot_wait, row->slot_wait_ns, 1);
	if (!sane(row->due_ns))
		return;
	stage->timed++;
	span(&stage->due_first, &stage->due_last, row->due_ns);
	span(&stage->start_first, &stage->start_last, row->start_ns);
	histogram_add(v->lag, row->start_ns - row->due_ns, 1);
	if (row->slot_wait_ns != IPF_ABSENT && row->slot_wait_ns > VERDICT_SLOT_WAIT_NS)
		stage->waited++;
}

void verdict_row(struct verdict *v, const struct result *row)
{
	if (row->stage < 0 || row->stage > 1000000)
		return;
	if (!stages_grow(v, (size_t)row->stage + 1)) {
		v->failed = true;
		return;
	}
	struct verdict_stage *stage = &v->stages[row->stage];
	if (!stage->measured)
		return;
	v->rows++;
	row_times(v, stage, row);
	if (!row->ok) {
		v->errors[verdict_kind_of(row->error_kind)]++;
		v->stale += row->stale;
		return;
	}
	v->ok++;
	stage->ok++;
	if (countable(row->events) && countable(row->coalesced)) {
		v->events += row->events;
		v->coalesced += row->coalesced;
	}
	if (countable(row->asked_output_tokens) && countable(row->output_tokens)) {
		v->asked_rows++;
		v->as_asked += row->asked_output_tokens == row->output_tokens;
		v->asked_tokens += row->asked_output_tokens;
		v->got_tokens += row->output_tokens;
	}
}

void verdict_client(struct verdict *v, struct slice client)
{
	struct ipf_error ignored = {0};
	if (!client.data || jdoc_parse(&v->doc, client.data, client.len, &ignored) < 0)
		return;
	struct verdict_second s = {.send_s = NAN, .loop_ms = NAN};
	int64_t loop_ns;
	if (!jdoc_to_int(&v->doc, jdoc_get(&v->doc, JDOC_ROOT, "t_ns"), &s.t_ns) || !sane(s.t_ns))
		return;
	v->client_lines++;
	jdoc_to_double(&v->doc, jdoc_get(&v->doc, jdoc_get(&v->doc, JDOC_ROOT, "cpu"), "send"), &s.send_s);
	if (jdoc_to_int(&v->doc, jdoc_get(&v->doc, jdoc_get(&v->doc, JDOC_ROOT, "loop_lag_ns"), "max"), &loop_ns))
		s.loop_ms = (double)loop_ns / 1e6;
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

void verdict_incomplete(struct verdict *v, const char *why)
{
	size_t len = strlen(v->missing);
	snprintf(v->missing + len, sizeof v->missing - len, "%s%s", len ? "; " : "", why);
}
