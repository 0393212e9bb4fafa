#include "figures/completions.h"

#include "absent.h"

#include <stdlib.h>

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
		return row->end_ns <= w->drain_ns && (row->stage == stage || row->end_ns >= w->begin_ns);
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

static void count(struct completions *c, const struct row *row)
{
	const int64_t input = row_get(row, ROW_INPUT_TOKENS), output = row_get(row, ROW_OUTPUT_TOKENS),
				  inputs = row_get(row, ROW_INPUTS);
	c->ended++;
	if (row->goodness == SLO_GOOD) {
		c->good++;
		c->good_output_tokens += (double)row_get_or_0(row, ROW_OUTPUT_TOKENS);
	}
	if (!row->ok)
		return;
	c->ok++;
	c->has_inputs |= inputs != IPF_ABSENT;
	c->inputs += inputs == IPF_ABSENT ? 0 : (double)inputs;
	c->has_input |= input != IPF_ABSENT;
	c->has_output |= output != IPF_ABSENT;
	c->uncounted |= row->source == SOURCE_NONE;
	c->input_tokens += input == IPF_ABSENT ? 0 : (double)input;
	c->output_tokens += output == IPF_ABSENT ? 0 : (double)output;
	c->images += (double)row_get_or_0(row, ROW_IMAGES);
	c->audio_ns += (double)row_get_or_0(row, ROW_AUDIO_NS);
	c->output_audio_ns += (double)row_get_or_0(row, ROW_OUTPUT_AUDIO_NS);
}

void completions_count(struct completions *all, struct completions *own, const struct run_data *run, int32_t stage,
                       bool drain)
{
	if (run->row_count == 0)
		return;
	const struct stage_window shared = run_data_part_window(run, 0, stage);
	for (int64_t i = 0; i < run->row_count; i++) {
		const struct row *row = &run->rows[i];
		const struct stage_window *w = run->shards ? &shared : &run->parts[row->part].windows[stage];
		if (!has(run, row, stage, w, drain))
			continue;
		count(all, row);
		if (row->stage == stage)
			count(own, row);
	}
}

/* The windows of the measured stages, one after the other, of each part; of shards only once. */
static struct stage_window *measured_windows(const struct run_data *run)
{
	const size_t stages = run->schedule.count, parts = run->shards ? 1 : (size_t)run->part_count;
	struct stage_window *list = calloc(parts * stages + 1, sizeof *list);
	for (size_t i = 0; list && i < parts * stages; i++) {
		list[i] = run_data_part_window(run, (int)(i / stages), (int32_t)(i % stages));
		if (!run->schedule.stages[i % stages].measured)
			list[i].begin_ns = IPF_ABSENT;
	}
	return list;
}

int completions_count_all(struct completions *all, const struct run_data *run, bool drain, struct ipf_error *err)
{
	const size_t stages = run->schedule.count;
	struct stage_window *windows = measured_windows(run);
	if (!windows)
		return ipf_error_memory(err);
	for (int64_t i = 0; i < run->row_count; i++) {
		const struct row *row = &run->rows[i];
		const struct stage_window *of_part = windows + (run->shards ? 0 : (size_t)row->part * stages);
		for (size_t s = 0; s < stages; s++)
			if (has(run, row, (int32_t)s, &of_part[s], drain)) {
				count(all, row);
				break;
			}
	}
	free(windows);
	return 0;
}

void completions_add(struct completions *sum, const struct completions *more)
{
	sum->ended += more->ended;
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
