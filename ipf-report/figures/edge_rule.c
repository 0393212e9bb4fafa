#include "figures/edge_rule.h"

#include "absent.h"
#include "figures/token_times.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Below this share of the count, a bias is none a reader would see. */
#define BIAS_LEAST 0.02
/* A line needs so many requests, of which nearly all ended, and a slope known this well. */
enum { LINE_FEWEST = 20 };
#define UNFINISHED_MOST  0.02
#define SLOPE_ERROR_MOST 0.1

struct edge_rules {
	const struct run_data *run;
	struct edge_rule *list;
	size_t stages;
};

/* The points of a stage, and sums for the line: x is the start, y the latency. */
struct edge_sums {
	double n, x, y, xx, xy, yy, ended_ok, shares, started, unfinished;
};

double edge_share(const struct row *row, int64_t begin_ns, int64_t end_ns)
{
	const struct token_times t = token_times_of(row);
	if (t.first_ns < t.last_ns && t.tokens > 0)
		return (token_times_before(&t, end_ns) - token_times_before(&t, begin_ns)) / t.tokens;
	if (row->start_ns == IPF_ABSENT || row->end_ns <= row->start_ns)
		return row->end_ns >= begin_ns && row->end_ns < end_ns;
	const int64_t from_ns = row->start_ns > begin_ns ? row->start_ns : begin_ns,
				  to_ns = row->end_ns < end_ns ? row->end_ns : end_ns;
	return to_ns > from_ns ? (double)(to_ns - from_ns) / (double)(row->end_ns - row->start_ns) : 0;
}

/* Latencies count from the begin of the window, so sums of squares stay exact. */
static void add_start(struct edge_sums *s, const struct row *row, int64_t begin_ns)
{
	const double x = (double)(row->start_ns - begin_ns) / 1e9, y = (double)(row->end_ns - row->start_ns) / 1e9;
	s->started++;
	if (!row->ok) {
		s->unfinished += row->error >= 0 && strcmp(verdict_kinds[row->error], "cancelled") == 0;
		return;
	}
	s->n++;
	s->x += x;
	s->y += y;
	s->xx += x * x;
	s->xy += x * y;
	s->yy += y * y;
}

static void look(struct edge_rule *rule, struct edge_sums *s, const struct row *row)
{
	if (row->start_ns == IPF_ABSENT || row->end_ns == IPF_ABSENT || row->end_ns < rule->begin_ns ||
	    row->start_ns >= rule->end_ns)
		return;
	rule->begin_in_flight += row->start_ns < rule->begin_ns && row->end_ns > rule->begin_ns;
	rule->end_in_flight += row->start_ns < rule->end_ns && row->end_ns >= rule->end_ns;
	s->ended_ok += row->ok && row->end_ns > rule->begin_ns && row->end_ns < rule->end_ns;
	if (row->ok)
		s->shares += edge_share(row, rule->begin_ns, rule->end_ns);
	if (row->start_ns >= rule->begin_ns && row->start_ns < rule->end_ns)
		add_start(s, row, rule->begin_ns);
}

/* The slope of the line, if it is known well enough; else NAN. */
static double slope_of(const struct edge_sums *s)
{
	const double xx = s->xx - s->x * s->x / s->n, xy = s->xy - s->x * s->y / s->n, yy = s->yy - s->y * s->y / s->n;
	if (s->n < LINE_FEWEST || s->unfinished > UNFINISHED_MOST * s->started || !(xx > 0))
		return NAN;
	const double slope = xy / xx, error = sqrt(fmax(yy - slope * xy, 0) / (s->n - 2) / xx);
	return error <= SLOPE_ERROR_MOST ? slope : NAN;
}

/* Users are there or not, so one of them is no chance; arrivals vary by the root of their number. */
static bool differs(const struct edge_rule *rule, bool closed)
{
	const double difference = fabs((double)(rule->end_in_flight - rule->begin_in_flight)),
				 both = (double)(rule->end_in_flight + rule->begin_in_flight);
	return both > 0 && difference >= (closed ? 1 : 2) * sqrt(both);
}

static void decide(struct edge_rule *rule, const struct edge_sums *s, const struct schedule_stage *stage)
{
	double counted = s->shares;
	rule->stretch = 1;
	rule->biased = differs(rule, stage->closed) &&
	               fabs((double)(rule->end_in_flight - rule->begin_in_flight)) > BIAS_LEAST * s->ended_ok;
	if (!rule->biased || s->ended_ok == 0) /* without an answer there is no rate to correct */
		return;
	const bool shares = stage->closed || rule->end_in_flight < rule->begin_in_flight;
	if (!shares) {
		/* nothing more can end than there was */
		const double slope = slope_of(s);
		if (isnan(slope))
			return;
		rule->stretch = fmax(1 + slope, s->n / (s->n + (double)rule->begin_in_flight));
		counted = s->n / rule->stretch;
	}
	if (counted > 0 && fabs(counted - s->ended_ok) > BIAS_LEAST * s->ended_ok)
		rule->counting = shares ? EDGE_SHARES : EDGE_STARTS;
	rule->biased = rule->counting != EDGE_ENDS;
}

static void find(struct edge_rules *r, int part, int32_t stage)
{
	const struct run_data *run = r->run;
	struct edge_rule *rule = &r->list[(size_t)part * r->stages + (size_t)stage];
	struct edge_sums sums = {0};
	if (rule->begin_ns == IPF_ABSENT)
		return;
	for (int64_t i = 0; i < run->row_count; i++)
		if (run->shards || run->rows[i].part == part)
			look(rule, &sums, &run->rows[i]);
	decide(rule, &sums, &run->schedule.stages[stage]);
}

/* A window lasting until a request has ended includes that moment. */
static void set_windows(struct edge_rules *r, int part, bool drain)
{
	struct edge_rule *rules = &r->list[(size_t)part * r->stages];
	for (size_t s = 0; s < r->stages; s++) {
		const struct stage_window w = run_data_part_window(r->run, part, (int32_t)s);
		rules[s] = (struct edge_rule){.begin_ns = w.begin_ns, .end_ns = IPF_ABSENT, .stretch = 1};
		if (w.begin_ns != IPF_ABSENT)
			rules[s].end_ns = drain ? w.drain_ns + 1 : w.end_ns + w.counted;
	}
	for (size_t s = 0; s < r->stages; s++)
		for (size_t other = 0; other < r->stages && rules[s].begin_ns != IPF_ABSENT; other++)
			rules[s].taken |= other != s && rules[other].end_ns == rules[s].begin_ns + 1;
}

struct edge_rules *edge_rules_new(const struct run_data *run, bool drain)
{
	const int parts = run->shards ? 1 : run->part_count;
	struct edge_rules *r = calloc(1, sizeof *r);
	if (!r)
		return NULL;
	*r = (struct edge_rules){.run = run, .stages = run->schedule.count};
	r->list = calloc((size_t)parts * r->stages + 1, sizeof *r->list);
	if (!r->list) {
		free(r);
		return NULL;
	}
	for (int part = 0; part < parts; part++) {
		set_windows(r, part, drain);
		for (size_t s = 0; s < r->stages && !drain; s++)
			find(r, part, (int32_t)s);
	}
	return r;
}

const struct edge_rule *edge_rule_of(const struct edge_rules *r, int part, int32_t stage)
{
	return &r->list[(r->run->shards ? 0 : (size_t)part) * r->stages + (size_t)stage];
}

void edge_rules_free(struct edge_rules *r)
{
	if (!r)
		return;
	free(r->list);
	free(r);
}
