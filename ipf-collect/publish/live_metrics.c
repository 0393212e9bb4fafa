#include "publish/live_metrics.h"

#include "absent.h"
#include "clock.h"
#include "json/jdoc.h"
#include "safe_text.h"
#include "stream/predicted.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct live_metrics {
	pthread_mutex_t lock;        /* protects `now` */
	struct live_figures now;     /* written by one thread, which reads it without the lock */
	int64_t judged_ns;           /* by the clock */
	int64_t due, started, bytes; /* by the clients of earlier inputs */
	struct live_client last;     /* the last line of this input's */
	struct jdoc doc;
};

static const struct live_client no_client = {.in_flight = IPF_ABSENT,
                                             .waiting = IPF_ABSENT,
                                             .due = IPF_ABSENT,
                                             .started = IPF_ABSENT,
                                             .bytes = IPF_ABSENT,
                                             .busiest = NAN};

struct live_metrics *live_metrics_new(void)
{
	struct live_metrics *m = calloc(1, sizeof *m);
	if (!m)
		return NULL;
	pthread_mutex_init(&m->lock, NULL);
	m->now.start_unix_ns = m->now.run_ns = IPF_ABSENT;
	m->now.client = no_client;
	m->last = m->now.client;
	m->judged_ns = INT64_MIN;
	return m;
}

void live_metrics_free(struct live_metrics *m)
{
	if (!m)
		return;
	live_figures_release(&m->now);
	jdoc_release(&m->doc);
	pthread_mutex_destroy(&m->lock);
	free(m);
}

void live_figures_release(struct live_figures *figures)
{
	for (size_t i = 0; i < figures->stages_cap; i++)
		free(figures->stages[i]);
	free(figures->stages);
	*figures = (struct live_figures){0};
}

/* Makes room for so many stages. */
static bool stages_reserve(struct live_figures *f, size_t count)
{
	if (count <= f->stages_cap)
		return true;
	struct live_stage **stages = realloc(f->stages, count * sizeof(struct live_stage *));
	if (!stages)
		return false;
	f->stages = stages;
	while (f->stages_cap < count) {
		if (!(stages[f->stages_cap] = calloc(1, sizeof(struct live_stage))))
			return false;
		f->stages_cap++;
	}
	return true;
}

/* ---- from the inputs ---- */

static void add_label(char label[LIVE_TEXT], const char *text)
{
	if (!*label && text)
		safe_text(label, LIVE_TEXT, slice_of(text));
}

static bool stage_has_name(const struct live_figures *f, const char *name)
{
	for (size_t i = 0; i < f->stages_count; i++)
		if (strcmp(f->stages[i]->name, name) == 0)
			return true;
	return false;
}

/* Labels must differ: two stages with one name would be one series twice, which no Prometheus takes. */
static void name_stage(const struct live_figures *f, struct live_stage *stage, const char *name)
{
	char text[LIVE_TEXT - 16];
	safe_text(text, sizeof text, slice_of(name));
	snprintf(stage->name, sizeof stage->name, "%s", text);
	for (unsigned i = 2; stage_has_name(f, stage->name); i++)
		snprintf(stage->name, sizeof stage->name, "%s #%u", text, i);
}

/* The stage with this index, which is added with all before it; NULL: out of memory. Those without a name have their
 * number. The caller has the lock. */
static struct live_stage *stage_at(struct live_figures *f, int64_t index, const char *name)
{
	char number[24];
	size_t at = index < 0 || index > LIVE_STAGES ? LIVE_STAGES : (size_t)index;
	if (!stages_reserve(f, at + 1))
		return NULL;
	while (f->stages_count <= at) {
		struct live_stage *stage = f->stages[f->stages_count];
		snprintf(number, sizeof number, "%zu", f->stages_count);
		name_stage(f, stage, f->stages_count == LIVE_STAGES ? "other" : f->stages_count == at && name ? name : number);
		stage->scheduled = stage->input_tokens = stage->reasoning_tokens = stage->cached_tokens = IPF_ABSENT;
		f->stages_count++;
	}
	return f->stages[at];
}

/* Clients sharing a schedule have it each in their records; the schedules of shards add up. */
static bool add_stages(struct live_figures *f, const struct schedule *schedule, bool shared)
{
	for (size_t i = 0; i < schedule->count; i++) {
		const struct schedule_stage *from = &schedule->stages[i];
		struct live_stage *stage = stage_at(f, (int64_t)i, from->name);
		if (!stage)
			return false;
		if (from->cycle || !verdict_valid_count(from->arrivals))
			continue;
		if (stage->scheduled == IPF_ABSENT || (shared && from->arrivals > stage->scheduled))
			stage->scheduled = from->arrivals;
		else if (!shared)
			stage->scheduled += from->arrivals;
	}
	return true;
}

int live_metrics_begin_input(struct live_metrics *m, const json_t *header, const struct schedule *schedule, bool shared)
{
	const json_t *predicted = predicted_find((json_t *)header), *api = json_object_get(header, "api");
	const json_t *start = predicted ? NULL : json_object_get(header, "t0_unix_ns");
	pthread_mutex_lock(&m->lock);
	add_label(m->now.run, json_string_value(json_object_get(header, "name")));
	add_label(m->now.model, json_string_value(json_object_get(header, "model")));
	add_label(m->now.target, json_string_value(json_object_get(header, "target")));
	add_label(m->now.api, json_string_value(json_object_get(api, "name")));
	add_label(m->now.predicted, predicted ? predicted_by(predicted).text : NULL);
	if (json_is_integer(start) &&
	    (m->now.start_unix_ns == IPF_ABSENT || json_integer_value(start) < m->now.start_unix_ns))
		m->now.start_unix_ns = json_integer_value(start);
	bool good = add_stages(&m->now, schedule, shared);
	pthread_mutex_unlock(&m->lock);
	m->due += m->last.due == IPF_ABSENT ? 0 : m->last.due;
	m->started += m->last.started == IPF_ABSENT ? 0 : m->last.started;
	m->bytes += m->last.bytes == IPF_ABSENT ? 0 : m->last.bytes;
	m->last = no_client;
	return good ? 0 : -1;
}

/* ---- rows ---- */

static void add_count(int64_t *sum, int64_t count)
{
	if (count == IPF_ABSENT || count < 0)
		return;
	if (__builtin_add_overflow(*sum == IPF_ABSENT ? 0 : *sum, count, sum))
		*sum = INT64_MAX;
}

static void add_latency(struct live_stage *stage, enum live_latency which, int64_t value_ns)
{
	if (value_ns != IPF_ABSENT)
		live_histogram_add(&stage->latencies[which], value_ns, 1);
}

static void add_row(struct live_stage *stage, const struct observation *seen)
{
	const struct result *row = seen->row;
	stage->outcomes[row->ok ? (size_t)LIVE_OK : verdict_kind_of(row->error_kind)]++;
	add_count(&stage->input_tokens, row->input_tokens);
	add_count(row->ok ? &stage->output_tokens : &stage->failed_output_tokens, row->output_tokens);
	add_count(&stage->reasoning_tokens, row->reasoning_tokens);
	add_count(&stage->cached_tokens, row->cached_tokens);
	add_count(&stage->events, row->events);
	add_count(&stage->coalesced, row->coalesced);
	add_count(&stage->stalls, row->stalls);
	if (row->start_ns != IPF_ABSENT)
		add_latency(stage, LIVE_LAG, row->lag_ns);
	if (!row->ok)
		return;
	add_latency(stage, LIVE_TTFT, row->ttft_ns);
	add_latency(stage, LIVE_E2E, row->e2e_ns);
	for (size_t i = 0; i < seen->measure->samples_count; i++)
		live_histogram_add(&stage->latencies[LIVE_ITL], seen->measure->samples[i].value_ns,
		                   seen->measure->samples[i].count);
}

void live_metrics_row(struct live_metrics *m, const struct observation *seen)
{
	const struct result *row = seen->row;
	int64_t end_ns;
	pthread_mutex_lock(&m->lock);
	struct live_stage *stage = stage_at(&m->now, row->stage, NULL);
	if (stage)
		add_row(stage, seen);
	m->now.rows_started += row->start_ns != IPF_ABSENT;
	if (row->end_ns != IPF_ABSENT && !__builtin_add_overflow(row->end_ns, seen->offset_ns, &end_ns) &&
	    end_ns > m->now.run_ns)
		m->now.run_ns = end_ns;
	pthread_mutex_unlock(&m->lock);
}

/* ---- the client's lines ---- */

#define COUNT_MOST (INT64_C(1) << 53) /* a double, as Prometheus stores, has it exactly */

/* A count of the line; absent if it has none. */
static int64_t count_of(struct jdoc *doc, const char *key)
{
	struct ipf_error ignored = {0};
	int64_t value;
	return jdoc_get_int(doc, JDOC_ROOT, key, &value, &ignored) == 1 && value >= 0 && value <= COUNT_MOST ? value
	                                                                                                     : IPF_ABSENT;
}

static int64_t sum_of(int64_t before, int64_t now)
{
	return now == IPF_ABSENT ? IPF_ABSENT : before + now;
}

void live_metrics_client(struct live_metrics *m, struct slice client)
{
	struct ipf_error ignored = {0};
	double busiest = NAN;
	if (jdoc_parse(&m->doc, client.data, client.len, &ignored) < 0)
		return;
	jdoc_id cpu = jdoc_get(&m->doc, JDOC_ROOT, "cpu");
	if (cpu != JDOC_NONE)
		jdoc_to_double(&m->doc, jdoc_get(&m->doc, cpu, "most"), &busiest);
	m->last = (struct live_client){.in_flight = count_of(&m->doc, "in_flight"),
	                               .waiting = count_of(&m->doc, "waiting"),
	                               .due = count_of(&m->doc, "due"),
	                               .started = count_of(&m->doc, "started"),
	                               .bytes = count_of(&m->doc, "bytes"),
	                               .busiest = busiest};
	pthread_mutex_lock(&m->lock);
	m->now.client = m->last;
	m->now.client.due = sum_of(m->due, m->last.due);
	m->now.client.started = sum_of(m->started, m->last.started);
	m->now.client.bytes = sum_of(m->bytes, m->last.bytes);
	pthread_mutex_unlock(&m->lock);
}

/* ---- the verdict ---- */

/* `empty`: nothing is measured yet, so only the client can be judged. */
static void take_verdict(struct live_metrics *m, const struct verdict_finding *finding, bool finished, bool empty)
{
	pthread_mutex_lock(&m->lock);
	for (size_t i = 0; finding && i < VERDICT_QUESTIONS; i++) {
		m->now.judged[i] = finished || i == VERDICT_CLIENT || (i != VERDICT_LOAD && !empty);
		m->now.verdict[i] = finding->checks[i].status;
		m->now.judged[i] &= finding->checks[i].status != VERDICT_NOT_APPLICABLE;
	}
	m->now.finished = finished;
	pthread_mutex_unlock(&m->lock);
}

void live_metrics_judge(struct live_metrics *m, struct verdict *verdict, int64_t now_ns)
{
	if (m->judged_ns != INT64_MIN && now_ns < m->judged_ns + NS_PER_S)
		return;
	m->judged_ns = now_ns;
	take_verdict(m, verdict_judge(verdict), false, verdict_is_empty(verdict));
}

void live_metrics_finish(struct live_metrics *m, const struct verdict_finding *verdict)
{
	take_verdict(m, verdict, true, false);
}

/* ---- reading ---- */

static void copy_stage(struct live_stage *to, const struct live_stage *from)
{
	memcpy(to, from, offsetof(struct live_stage, latencies));
	for (size_t i = 0; i < LIVE_LATENCIES; i++)
		live_histogram_copy(&to->latencies[i], &from->latencies[i]);
}

int live_metrics_read(struct live_metrics *m, struct live_figures *into)
{
	pthread_mutex_lock(&m->lock);
	bool good = stages_reserve(into, m->now.stages_count);
	struct live_stage **stages = into->stages;
	size_t cap = into->stages_cap;
	for (size_t i = 0; good && i < m->now.stages_count; i++)
		copy_stage(stages[i], m->now.stages[i]);
	*into = m->now;
	pthread_mutex_unlock(&m->lock);
	into->stages = stages;
	into->stages_cap = cap;
	return good ? 0 : -1;
}
