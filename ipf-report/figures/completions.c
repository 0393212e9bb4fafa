#include "figures/completions.h"

#include "absent.h"

static bool is_within(const struct stage_window *w, int64_t end_ns)
{
	return w->begin_ns != IPF_ABSENT && end_ns >= w->begin_ns &&
	       (end_ns < w->end_ns || (w->counted && end_ns == w->end_ns));
}

bool completions_has(const struct run_data *run, const struct row *row, int32_t stage, bool drain)
{
	const struct stage_window *windows = run->parts[row->part].windows, *w = &windows[stage], *own;
	if (w->begin_ns == IPF_ABSENT || row->end_ns == IPF_ABSENT)
		return false;
	if (drain)
		return row->end_ns <= w->drain_ns && (row->stage == stage || row->end_ns >= w->begin_ns);
	if (!is_within(w, row->end_ns))
		return false;
	own = &windows[row->stage]; /* which includes its end, if it is counted: so does the beginning of the next one */
	return row->stage == stage || row->end_ns > w->begin_ns || !own->counted || own->end_ns != w->begin_ns;
}

static void count(struct completions *c, const struct row *row)
{
	const int64_t input = row_get(row, ROW_INPUT_TOKENS), output = row_get(row, ROW_OUTPUT_TOKENS);
	c->ended++;
	if (row->goodness == SLO_GOOD) {
		c->good++;
		c->good_output_tokens += output == IPF_ABSENT ? 0 : (double)output;
	}
	if (!row->ok)
		return;
	c->ok++;
	c->has_input |= input != IPF_ABSENT;
	c->has_output |= output != IPF_ABSENT;
	c->uncounted |= row->source == SOURCE_NONE;
	c->input_tokens += input == IPF_ABSENT ? 0 : (double)input;
	c->output_tokens += output == IPF_ABSENT ? 0 : (double)output;
}

void completions_count(struct completions *all, struct completions *own, const struct run_data *run, int32_t stage,
                       bool drain)
{
	for (int64_t i = 0; i < run->row_count; i++) {
		const struct row *row = &run->rows[i];
		if (!completions_has(run, row, stage, drain))
			continue;
		count(all, row);
		if (row->stage == stage)
			count(own, row);
	}
}

void completions_add(struct completions *sum, const struct completions *more)
{
	sum->ended += more->ended;
	sum->ok += more->ok;
	sum->input_tokens += more->input_tokens;
	sum->output_tokens += more->output_tokens;
	sum->good += more->good;
	sum->good_output_tokens += more->good_output_tokens;
	sum->has_input |= more->has_input;
	sum->has_output |= more->has_output;
	sum->uncounted |= more->uncounted;
}
