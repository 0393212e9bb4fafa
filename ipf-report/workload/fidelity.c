#include "workload/fidelity.h"

#include "absent.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const fidelity_cause_names[FIDELITY_CAUSES] = {"unsent", "schedule", "slots",  "client", "causality",
                                                           "input",  "routing",  "failed", "output", "prefix"};

bool fidelity_is_server(enum fidelity_cause cause)
{
	return cause >= FIDELITY_FAILED;
}

/* The recorded times of a stage, on the clock of the run. */
struct stage_clock {
	int64_t at_first, due_first, at_last, due_last; /* IPF_ABSENT: nothing was timed */
	double speed;
};

struct replay {
	struct fidelity *f;
	const struct workload *w;
	const struct cache_truth *cache;
	const struct run_data *run;
	struct stage_clock *clocks; /* for each stage */
	double moved_sum_ms;
	double sums[FIDELITY_CAUSES]; /* sums for means */
};

static bool is_replayed(const struct run_data *run, int64_t stage)
{
	if (stage < 0 || (size_t)stage >= run->schedule.count)
		return false;
	const struct schedule_stage *s = &run->schedule.stages[stage];
	return s->measured && s->kind && strcmp(s->kind, "replay") == 0;
}

/* ---- the record, in the time of the run ---- */

static void find_clocks(struct replay *p)
{
	const struct run_data *run = p->run;
	for (size_t i = 0; i < run->schedule.count; i++)
		p->clocks[i] = (struct stage_clock){IPF_ABSENT, IPF_ABSENT, IPF_ABSENT, IPF_ABSENT, NAN};
	for (int64_t i = 0; i < p->w->started_count; i++) {
		const struct row *row = p->w->started[i];
		const struct workload_request *r = workload_request_of(p->w, row);
		if (!r || !is_replayed(run, row->stage) || r->parents > 0 || r->at_ns == IPF_ABSENT ||
		    row->due_ns == IPF_ABSENT)
			continue;
		struct stage_clock *c = &p->clocks[row->stage];
		int64_t due = workload_time(run, row, row->due_ns);
		if (c->at_first == IPF_ABSENT || r->at_ns < c->at_first) {
			c->at_first = r->at_ns;
			c->due_first = due;
		}
		if (c->at_last == IPF_ABSENT || r->at_ns > c->at_last) {
			c->at_last = r->at_ns;
			c->due_last = due;
		}
	}
	for (size_t i = 0; i < run->schedule.count; i++) {
		struct stage_clock *c = &p->clocks[i];
		if (c->at_first == IPF_ABSENT)
			continue;
		/* requests that were all recorded at the same time show no speed */
		bool spans = c->at_last > c->at_first && c->due_last > c->due_first;
		c->speed = run->schedule.stages[i].speed > 0 ? run->schedule.stages[i].speed
		           : spans ? ((double)c->at_last - (double)c->at_first) / (double)(c->due_last - c->due_first)
		                   : 1;
		p->f->speed = isnan(p->f->speed) ? c->speed : p->f->speed;
	}
}

/* When it was recorded, in the time of the run; IPF_ABSENT. */
static int64_t recorded_ns(const struct stage_clock *c, const struct workload_request *r)
{
	if (r->at_ns == IPF_ABSENT || c->at_first == IPF_ABSENT)
		return IPF_ABSENT;
	return c->due_first + llround(fmin(((double)r->at_ns - (double)c->at_first) / c->speed, ROW_TIME_MOST));
}

/* When the last of those it follows ended; IPF_ABSENT: it follows none that was sent. */
static int64_t parents_end_ns(const struct replay *p, const struct workload_request *r)
{
	int64_t last = IPF_ABSENT;
	for (uint32_t i = 0; i < r->parents; i++) {
		int64_t line = p->w->parents[r->first_parent + i];
		const struct row *parent = line >= 0 && line < p->w->count ? p->w->row_of[line] : NULL;
		if (!parent || parent->end_ns == IPF_ABSENT)
			continue;
		int64_t end = workload_time(p->run, parent, parent->end_ns);
		last = end > last ? end : last;
	}
	return last;
}

/* When it should have started: at its recorded time, and not before its parents have ended and its wait is over. */
static int64_t expected_ns(struct replay *p, const struct stage_clock *c, const struct workload_request *r,
                           int64_t *after_ns)
{
	int64_t recorded = recorded_ns(c, r), wait = r->wait_ns == IPF_ABSENT ? 0 : r->wait_ns;
	*after_ns = parents_end_ns(p, r);
	if (*after_ns == IPF_ABSENT)
		return recorded;
	int64_t follows = *after_ns + llround(fmin((double)wait / (isnan(c->speed) ? 1 : c->speed), ROW_TIME_MOST));
	p->f->followers++;
	if (recorded != IPF_ABSENT && follows > recorded + FIDELITY_TOLERANCE_NS) {
		p->f->moved++;
		p->moved_sum_ms += (double)(follows - recorded) / 1e6;
	}
	return recorded != IPF_ABSENT && recorded > follows ? recorded : follows;
}

/* ---- the shares of a request ---- */

struct request_loss {
	double value;                  /* the product of the shares */
	double lacks[FIDELITY_CAUSES]; /* the lack of its shares, by cause */
};

static void lose(struct request_loss *l, enum fidelity_cause cause, double share)
{
	l->lacks[cause] += 1 - share;
}

static void judge_time(struct replay *p, const struct row *row, const struct workload_request *r,
                       struct request_loss *l)
{
	const struct stage_clock *c = &p->clocks[row->stage];
	int64_t after, expected = expected_ns(p, c, r, &after);
	int64_t start = workload_time(p->run, row, row->start_ns);
	if (after != IPF_ABSENT && start < after) {
		l->value = 0;
		lose(l, FIDELITY_CAUSALITY, 0);
		return;
	}
	int64_t off = expected == IPF_ABSENT ? 0 : start > expected ? start - expected : expected - start;
	if (off <= FIDELITY_TOLERANCE_NS)
		return;
	double share = (double)FIDELITY_HALF_NS / (double)(FIDELITY_HALF_NS + off - FIDELITY_TOLERANCE_NS);
	const int64_t slots[] = {row_get(row, METRIC_SLOT_WAIT), row_get(row, ROW_POOL_WAIT_NS)};
	int64_t client = row_get(row, METRIC_CLIENT_LAG), held = 0, left = off;
	for (int i = 0; i < 2; i++)
		held += slots[i] > 0 ? slots[i] : 0;
	held = held < left ? held : left;
	left -= held;
	client = client < 0 ? 0 : client < left ? client : left;
	left -= client;
	const struct {
		enum fidelity_cause cause;
		int64_t ns;
	} parts[] = {{FIDELITY_SLOTS, held}, {FIDELITY_CLIENT, client}, {FIDELITY_SCHEDULE, left}};
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
		lose(l, parts[i].cause, 1 - (1 - share) * (double)parts[i].ns / (double)off);
		p->sums[parts[i].cause] += parts[i].ns > 0 ? (double)parts[i].ns / 1e6 : 0;
	}
	l->value *= share;
}

static void judge_length(struct replay *p, enum fidelity_cause cause, int64_t recorded, int64_t got,
                         struct request_loss *l)
{
	if (recorded <= 0 || got == IPF_ABSENT || got < 0)
		return;
	double share = got < recorded ? (double)got / (double)recorded : (double)recorded / (double)got;
	*(cause == FIDELITY_INPUT ? &p->f->input_known : &p->f->output_known) = true;
	if (got == recorded)
		return;
	lose(l, cause, share);
	l->value *= share;
	p->sums[cause] += (double)got / (double)recorded;
}

/* Parts of blocks are as recorded. */
static void judge_prefix(struct replay *p, int64_t request, const struct row *row, struct request_loss *l)
{
	const struct cache_bounds *b = &p->cache->bounds[request];
	int64_t found = cache_truth_found(p->run, row);
	if (p->cache->absent || found == IPF_ABSENT || !b->exact || b->prompt <= 0)
		return;
	p->f->prefix_known = true;
	int64_t missing = b->least - found - ((p->cache->server_block ? p->cache->server_block : PROMPT_BLOCK) - 1);
	if (missing <= 0)
		return;
	/* this replica cannot find blocks of others */
	int64_t elsewhere = b->least - b->least_here;
	elsewhere = elsewhere < missing ? elsewhere : missing;
	double share = 1 - (double)missing / (double)b->prompt;
	lose(l, FIDELITY_ROUTING, 1 - (double)elsewhere / (double)b->prompt);
	lose(l, FIDELITY_PREFIX, 1 - (double)(missing - elsewhere) / (double)b->prompt);
	l->value *= share < 0 ? 0 : share;
}

static struct request_loss judge(struct replay *p, int64_t request, const struct row *row)
{
	struct request_loss l = {.value = 1};
	const struct workload_request *r = workload_request_of(p->w, row);
	if (!row->ok) {
		l.value = 0;
		lose(&l, FIDELITY_FAILED, 0);
		return l;
	}
	if (!r)
		return l;
	judge_time(p, row, r, &l);
	judge_length(p, FIDELITY_INPUT, r->input_tokens, row_get(row, ROW_INPUT_USAGE), &l);
	judge_length(p, FIDELITY_OUTPUT, r->output_tokens, row_get(row, ROW_OUTPUT_TOKENS), &l);
	judge_prefix(p, request, row, &l);
	return l;
}

/* ---- all of them ---- */

static void note_worst(struct fidelity *f, const struct row *row, const struct request_loss *l)
{
	int at = f->worst_count;
	enum fidelity_cause most = FIDELITY_UNSENT;
	while (at > 0 && f->worst[at - 1].value > l->value)
		at--;
	if (at == FIDELITY_WORST)
		return;
	for (enum fidelity_cause c = 0; c < FIDELITY_CAUSES; c++)
		most = l->lacks[c] > l->lacks[most] ? c : most;
	f->worst_count += f->worst_count < FIDELITY_WORST;
	for (int i = f->worst_count - 1; i > at; i--)
		f->worst[i] = f->worst[i - 1];
	f->worst[at] = (struct fidelity_request){row->n, row_get(row, ROW_REQ), l->value, most};
}

static void add(struct replay *p, const struct row *row, const struct request_loss *l)
{
	double lacks = 0;
	p->f->requests++;
	p->f->value += l->value;
	for (int c = 0; c < FIDELITY_CAUSES; c++)
		lacks += l->lacks[c];
	if (l->value >= 1 || lacks <= 0)
		return;
	for (int c = 0; c < FIDELITY_CAUSES; c++)
		if (l->lacks[c] > 0) {
			p->f->causes[c].loss += (1 - l->value) * l->lacks[c] / lacks;
			p->f->causes[c].requests++;
		}
	note_worst(p->f, row, l);
}

/* Requests of the schedule without a row with a start: each is lost. A run ended on purpose lacks none. */
static void add_unsent(struct replay *p)
{
	const struct run_data *run = p->run;
	for (size_t i = 0; i < run->schedule.count; i++) {
		int64_t scheduled = 0, started = 0;
		if (!is_replayed(run, (int64_t)i))
			continue;
		for (int k = 0; k < run->part_count; k++) {
			int64_t own = run->parts[k].loads[i].arrivals;
			if (own == IPF_ABSENT || run->parts[k].stopped_ns != IPF_ABSENT)
				return;
			scheduled = run->one_schedule ? (own > scheduled ? own : scheduled) : scheduled + own;
		}
		for (int64_t k = 0; k < p->w->started_count; k++)
			started += p->w->started[k]->stage == (int32_t)i;
		if (scheduled <= started || scheduled > ROW_COUNT_MOST)
			continue;
		p->f->causes[FIDELITY_UNSENT].loss += (double)(scheduled - started);
		p->f->causes[FIDELITY_UNSENT].requests += scheduled - started;
		p->f->requests += scheduled - started;
	}
}

static const char *find_absent(const struct workload *w, const struct run_data *run)
{
	bool any = false, repeated = false;
	for (int64_t i = 0; i < w->started_count; i++) {
		const struct row *row = w->started[i];
		int64_t req = row_get(row, ROW_REQ);
		if (!is_replayed(run, row->stage) || req < 0 || req >= w->count)
			continue;
		any = true;
		repeated |= w->row_of[req] != row;
	}
	return !any       ? "no measured stage replays requests of the trace"
	       : repeated ? "requests were sent several times"
	                  : NULL;
}

static void finish(struct replay *p)
{
	struct fidelity *f = p->f;
	double n = f->requests > 0 ? (double)f->requests : 1;
	f->value /= n;
	f->moved_ms = f->moved > 0 ? p->moved_sum_ms / (double)f->moved : NAN;
	for (enum fidelity_cause c = 0; c < FIDELITY_CAUSES; c++) {
		bool has_mean = c >= FIDELITY_SCHEDULE && c != FIDELITY_CAUSALITY && c != FIDELITY_FAILED &&
		                c != FIDELITY_PREFIX && c != FIDELITY_ROUTING;
		f->causes[c].loss /= n;
		f->causes[c].mean = has_mean && f->causes[c].requests > 0 ? p->sums[c] / (double)f->causes[c].requests : NAN;
	}
}

int fidelity_find(struct fidelity *f, const struct workload *w, const struct cache_truth *cache,
                  const struct run_data *run, struct ipf_error *err)
{
	*f = (struct fidelity){.speed = NAN, .absent = find_absent(w, run)};
	struct replay p = {.f = f, .w = w, .cache = cache, .run = run};
	if (f->absent)
		return 0;
	p.clocks = calloc(run->schedule.count + 1, sizeof *p.clocks);
	if (!p.clocks)
		return ipf_error_memory(err);
	find_clocks(&p);
	for (int64_t i = 0; i < w->started_count; i++) {
		const struct row *row = w->started[i];
		if (!is_replayed(run, row->stage) || verdict_uncounted(row->error))
			continue;
		struct request_loss l = judge(&p, i, row);
		add(&p, row, &l);
	}
	add_unsent(&p);
	finish(&p);
	free(p.clocks);
	return 0;
}
