#include "figures/completions.h"

#include "absent.h"
#include "figures/measured_time.h"
#include "figures/token_times.h"

#include <stdlib.h>
#include <string.h>

static bool is_within(const struct stage_window *w, int64_t end_ns)
{
	return w->begin_ns != IPF_ABSENT && end_ns >= w->begin_ns &&
	       (end_ns < w->end_ns || (w->counted && end_ns == w->end_ns));
}

static bool has(const struct run_data *run, const struct row *row, int32_t stage, const struct stage_window *w,
                bool drain)
{
	if (w->begin_ns == IPF_ABSENT || row->end_ns == IPF_ABSENT)
		return false;
	if (drain)
		return row->end_ns <= w->drain_ns && (row->stage == stage || row->end_ns > w->begin_ns);
	if (!is_within(w, row->end_ns))
		return false;
	if (row->stage == stage || row->end_ns > w->begin_ns)
		return true;
	const struct stage_window own = run_data_part_window(run, row->part, row->stage);
	return !own.counted || own.end_ns != w->begin_ns; /* a counted one has its end, where the next one begins */
}

bool completions_has(const struct run_data *run, const struct row *row, int32_t stage, bool drain)
{
	const struct stage_window w = run_data_part_window(run, row->part, stage);
	return has(run, row, stage, &w, drain);
}

static struct time_span range_of(const struct row *row, int32_t stage, const struct edge_rule *rule)
{
	return (struct time_span){rule->begin_ns + (rule->taken && row->stage != stage), rule->end_ns};
}

static void count_request(struct completions *c, const struct row *row, double weight)
{
	const int64_t inputs = row_get(row, ROW_INPUTS);
	if (row->goodness == SLO_GOOD)
		c->good += weight;
	if (!row->ok)
		return;
	c->ok += weight;
	c->has_inputs |= inputs != IPF_ABSENT;
	c->inputs += inputs == IPF_ABSENT ? 0 : weight * (double)inputs;
	c->images += weight * (double)row_get_or_0(row, ROW_IMAGES);
	c->audio_ns += weight * (double)row_get_or_0(row, ROW_AUDIO_NS);
	c->output_audio_ns += weight * (double)row_get_or_0(row, ROW_OUTPUT_AUDIO_NS);
}

/* Tokens of successful answers, and of those ipf-fire cut off when the run was over. */
static void count_tokens(struct completions *c, const struct row *row, struct time_span range)
{
	const int64_t input = row_get(row, ROW_INPUT_TOKENS);
	const bool cut_off = row->error >= 0 && strcmp(verdict_kinds[row->error], "cancelled") == 0;
	if (!row->ok && !cut_off)
		return;
	const struct token_times t = token_times_of(row);
	if (input != IPF_ABSENT && t.first_ns >= range.begin_ns && t.first_ns < range.end_ns) {
		c->has_input = true;
		c->input_tokens += (double)input;
	}
	const double tokens = token_times_before(&t, range.end_ns) - token_times_before(&t, range.begin_ns);
	c->has_output |= tokens > 0;
	c->output_tokens += tokens;
	if (row->goodness == SLO_GOOD)
		c->good_output_tokens += tokens;
	if (!token_times_exact(&t, range.begin_ns) || !token_times_exact(&t, range.end_ns))
		c->spread_tokens += tokens;
}

static void count_ended(struct completions *c, const struct row *row)
{
	c->ended++;
	if (!row->ok)
		return;
	c->ended_ok++;
	c->has_input |= row_get(row, ROW_INPUT_TOKENS) != IPF_ABSENT;
	c->has_output |= row_get(row, ROW_OUTPUT_TOKENS) != IPF_ABSENT;
	c->uncounted |= row->source == SOURCE_NONE;
}

static double weight_of(const struct row *row, const struct edge_rule *rule, struct time_span range, bool ended)
{
	if (rule->counting == EDGE_SHARES)
		return edge_share(row, range.begin_ns, range.end_ns);
	if (rule->counting == EDGE_STARTS)
		return row->start_ns >= range.begin_ns && row->start_ns < range.end_ns ? 1 / rule->stretch : 0;
	return ended;
}

static bool is_in(struct time_span range, int64_t t_ns)
{
	return t_ns >= range.begin_ns && t_ns < range.end_ns;
}

static bool counts(const struct counted_rows *of, const struct row *row)
{
	return row->end_ns != IPF_ABSENT && (of->part < 0 || row->part == of->part);
}

void completions_count(struct completions *all, struct completions *own, const struct counted_rows *of,
                       const struct edge_rules *rules)
{
	const struct run_data *run = of->run;
	const int32_t stage = of->stage;
	for (int64_t i = 0; i < run->row_count; i++) {
		const struct row *row = &run->rows[i];
		const struct edge_rule *rule = edge_rule_of(rules, row->part, stage);
		if (!counts(of, row) || rule->begin_ns == IPF_ABSENT || row->end_ns < rule->begin_ns ||
		    row->start_ns >= rule->end_ns)
			continue;
		const struct time_span range = range_of(row, stage, rule);
		const bool ended = is_in(range, row->end_ns);
		const double weight = weight_of(row, rule, range, ended);
		for (int k = 0; k < (row->stage == stage ? 2 : 1); k++) {
			struct completions *c = k ? own : all;
			count_request(c, row, weight);
			count_tokens(c, row, range);
			if (ended)
				count_ended(c, row);
		}
	}
}

/* The windows of the measured stages of a part, joined. */
static size_t find_ranges(struct time_span *list, const struct run_data *run, int part, const struct edge_rules *rules)
{
	size_t count = 0;
	for (size_t s = 0; s < run->schedule.count; s++) {
		const struct edge_rule *rule = edge_rule_of(rules, part, (int32_t)s);
		if (run->schedule.stages[s].measured && rule->begin_ns != IPF_ABSENT)
			list[count++] = (struct time_span){rule->begin_ns + rule->taken, rule->end_ns};
	}
	return time_spans_join(list, count);
}

int completions_count_all(struct completions *all, const struct counted_rows *of, const struct edge_rules *rules,
                          struct ipf_error *err)
{
	const struct run_data *run = of->run;
	struct time_span *list = calloc(run->schedule.count + 1, sizeof *list);
	if (!list)
		return ipf_error_memory(err);
	for (int part = 0; part < (run->shards ? 1 : run->part_count); part++) {
		const size_t count = find_ranges(list, run, part, rules);
		for (int64_t i = 0; i < run->row_count; i++) {
			const struct row *row = &run->rows[i];
			if (!counts(of, row) || (!run->shards && row->part != part))
				continue;
			for (size_t k = 0; k < count && row->end_ns >= list[k].begin_ns; k++) {
				const bool ended = is_in(list[k], row->end_ns);
				count_request(all, row, ended);
				count_tokens(all, row, list[k]);
				if (ended)
					count_ended(all, row);
			}
		}
	}
	free(list);
	return 0;
}

void completions_add(struct completions *sum, const struct completions *more)
{
	sum->ended += more->ended;
	sum->ended_ok += more->ended_ok;
	sum->spread_tokens += more->spread_tokens;
	sum->ok += more->ok;
	sum->inputs += more->inputs;
	sum->has_inputs |= more->has_inputs;
	sum->input_tokens += more->input_tokens;
	sum->output_tokens += more->output_tokens;
	sum->good += more->good;
	sum->good_output_tokens += more->good_output_tokens;
	sum->images += more->images;
	sum->audio_ns += more->audio_ns;
	sum->output_audio_ns += more->output_audio_ns;
	sum->has_input |= more->has_input;
	sum->has_output |= more->has_output;
	sum->uncounted |= more->uncounted;
}
