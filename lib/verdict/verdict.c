/* Gathering what the verdict needs of requests (verdict_client.c: of the client itself); verdict_judge.c draws the
 * conclusions. */
#include "absent.h"
#include "verdict/verdict_private.h"

#include <stdlib.h>
#include <string.h>

const char *const verdict_kinds[VERDICT_KINDS] = {"connect",     "tls",       "timeout", "reset",
                                                  "http-status", "in-band",   "cut",     "malformed",
                                                  "hung-up",     "cancelled", "other"};

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
	histogram_free(v->lag);
	histogram_free(v->client_lag);
	histogram_free(v->slot_wait);
	verdict_client_release(v);
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

void verdict_fold(struct verdict *v)
{
	for (size_t i = 0; i < v->count; i++)
		fold_stage(&v->stages[i]);
	verdict_fold_client(v);
	v->first_start = v->last_end = IPF_ABSENT;
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
		stage->scheduled += verdict_countable(from->arrivals) ? from->arrivals : 0;
		/* a shard's schedule says what all shards have to do */
		int64_t most = from->all_arrivals > from->arrivals ? from->all_arrivals : from->arrivals;
		if (most > stage->scheduled_most && verdict_countable(most))
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
	return VERDICT_OTHER;
}

static void row_times(struct verdict *v, struct verdict_stage *stage, const struct result *row)
{
	if (!verdict_sane(row->start_ns))
		return;
	stage->started++;
	span(&v->first_start, &v->last_end, row->start_ns);
	if (verdict_sane(row->end_ns))
		span(&v->first_start, &v->last_end, row->end_ns);
	if (row->client_lag_ns != IPF_ABSENT)
		histogram_add(v->client_lag, row->client_lag_ns, 1);
	if (row->slot_wait_ns != IPF_ABSENT)
		histogram_add(v->slot_wait, row->slot_wait_ns, 1);
	if (!verdict_sane(row->due_ns))
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
	if (verdict_countable(row->events) && verdict_countable(row->coalesced)) {
		v->events += row->events;
		v->coalesced += row->coalesced;
	}
	if (verdict_countable(row->asked_output_tokens) && verdict_countable(row->output_tokens)) {
		v->asked_rows++;
		v->as_asked += row->asked_output_tokens == row->output_tokens;
		v->asked_tokens += row->asked_output_tokens;
		v->got_tokens += row->output_tokens;
	}
}

void verdict_incomplete(struct verdict *v, const char *why)
{
	size_t len = strlen(v->missing);
	snprintf(v->missing + len, sizeof v->missing - len, "%s%s", len ? "; " : "", why);
}
