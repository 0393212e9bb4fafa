/* Completions in the window of a stage, whichever stage started them: a server that works off a backlog is busy. Tokens
 * count when they arrived, requests as edge_rule.h says.
 *
 *     struct completions all = {0}, own = {0};
 *     struct counted_rows of = {&run, -1, stage};
 *     completions_count(&all, &own, &of, rules);      // own: requests that the stage itself started
 *     … all.output_tokens / window_s …
 */
#ifndef REPORT_COMPLETIONS_H
#define REPORT_COMPLETIONS_H

#include "figures/edge_rule.h"
#include "results/run_data.h"

struct completions {
	int64_t ended, ended_ok;                                    /* requests ending in the window, well or not; well */
	double ok, inputs, good, images, audio_ns, output_audio_ns; /* for requests as they count */
	double input_tokens, output_tokens, good_output_tokens;
	double spread_tokens;       /* answers that crossed an edge at which the tokens so far are not known exactly */
	bool has_inputs;            /* some of the successful ones say how many inputs they had */
	bool has_input, has_output; /* there were tokens, or answers whose tokens are known */
	bool uncounted;             /* answers ended whose output tokens are not known */
};

/* Did a request end in the window of a stage (of all shards; of repeats, in its own run's), or until its last request
 * had ended (drain)? A moment at which one window ends and the next begins belongs to one of them. */
bool completions_has(const struct run_data *run, const struct row *row, int32_t stage, bool drain);

/* Whose rows count: of a part, -1 for all; and in the window of which stage, -1 for those of all measured ones. */
struct counted_rows {
	const struct run_data *run;
	int part;
	int32_t stage;
};

/* Adds the rows' completions in the window of a stage, and to `own` those of the stage's rows. */
void completions_count(struct completions *all, struct completions *own, const struct counted_rows *of,
                       const struct edge_rules *rules);

/* The same for the windows of all measured stages: everything once, however many of them overlap, and requests where
 * they ended. Fails only when memory runs out. */
int completions_count_all(struct completions *all, const struct counted_rows *of, const struct edge_rules *rules,
                          struct ipf_error *err);

/* Adds the completions of another window. */
void completions_add(struct completions *sum, const struct completions *more);

#endif
