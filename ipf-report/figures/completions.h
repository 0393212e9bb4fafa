/* The requests that ended in the window of a stage. What ends in a window is the throughput of that time, whichever
 * stage started it: a server that works off a backlog is busy.
 *
 *     struct completions all = {0}, own = {0};
 *     completions_count(&all, &own, &run, stage, drain);      // own: those that the stage itself started
 *     … all.ok / window_s …
 */
#ifndef REPORT_COMPLETIONS_H
#define REPORT_COMPLETIONS_H

#include "results/run_data.h"

struct completions {
	int64_t ended; /* well or not */
	double ok, inputs, input_tokens, output_tokens, good, good_output_tokens, images, audio_ns, output_audio_ns;
	bool has_inputs;            /* some of the successful ones say how many inputs they had */
	bool has_input, has_output; /* tokens of some of the successful ones are known */
	bool uncounted;             /* there are successful ones whose output tokens are not known */
};

/* Did a request end in the window of a stage (of all shards; of repeats, in that of its own run), or until its last
 * request had ended (drain)? A moment at which one window ends and the next begins belongs to one of them. */
bool completions_has(const struct run_data *run, const struct row *row, int32_t stage, bool drain);

/* Adds the rows of the run that ended in the window of a stage, and to `own` those of them that are of the stage. */
void completions_count(struct completions *all, struct completions *own, const struct run_data *run, int32_t stage,
                       bool drain);

/* Adds the rows that ended in the window of any measured stage: each once, however many of these windows overlap. Fails
 * only when memory runs out. */
int completions_count_all(struct completions *all, const struct run_data *run, bool drain, struct ipf_error *err);

/* Adds the completions of another window. */
void completions_add(struct completions *sum, const struct completions *more);

#endif
