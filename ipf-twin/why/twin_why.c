#include "why/twin_why.h"

#include <math.h>
#include <stdlib.h>

const char *const why_latency_names[WHY_LATENCIES] = {"ttft", "e2e"};
const char *const why_part_names[WHY_PARTS] = {[WHY_CONNECT] = "connect",       [WHY_OVERHEAD] = "overhead",
                                               [WHY_QUEUE] = "queue",           [WHY_THROWN_OUT] = "thrown_out",
                                               [WHY_OWN_PROMPT] = "own_prompt", [WHY_OTHER_PROMPTS] = "other_prompts",
                                               [WHY_STEPS] = "steps",           [WHY_LATER_PROMPTS] = "later_prompts",
                                               [WHY_DECODING] = "decoding",     [WHY_UNEXPLAINED] = "unexplained"};

static void on_step(size_t replica, const struct batching_step *step, void *data)
{
	struct twin_why *w = data;
	const int64_t length_ns = step->end_ns - step->start_ns;
	(void)replica; /* a replay has one at a time */
	w->sums.prompts_ns += step->prefill_ns;
	w->sums.busy_ns += length_ns;
	w->sums.sequence_ns += (double)step->sequences * (double)length_ns;
}

static void on_move(const struct twin_answer *answer, int64_t at_ns, void *data)
{
	struct twin_why *w = data;
	const struct sequence *s = &answer->sequence;
	struct why_mark *mark = &w->marks[answer - w->replay.answers];
	if (s->state == SEQUENCE_RUNNING && s->produced == 0) {
		mark->before = w->sums;
		mark->let_in_ns = at_ns;
		mark->own_tokens = s->prompt_tokens - s->computed;
	} else if (s->state == SEQUENCE_WAITING && s->produced > 0 && mark->out_ns == IPF_ABSENT) {
		mark->out = w->sums;
		mark->out_ns = at_ns;
	}
}

/* Sequences beside one, in the steps since its mark. */
static double others_since(const struct twin_why *w, const struct why_sums *mark)
{
	const int64_t busy_ns = w->sums.busy_ns - mark->busy_ns;
	return busy_ns > 0 ? (w->sums.sequence_ns - mark->sequence_ns) / (double)busy_ns - 1 : NAN;
}

static void note_first(struct twin_why *w, int64_t i)
{
	const struct twin_answer *a = &w->replay.answers[i];
	struct why_mark *mark = &w->marks[i];
	struct why_request *to = &w->requests[i];
	const int64_t prompts_ns = w->sums.prompts_ns - mark->before.prompts_ns;
	const double own_ns = (double)mark->own_tokens * w->prompt_ns;
	to->ns[WHY_OVERHEAD] = a->arrives_ns - w->data->requests[i].start_ns;
	to->ns[WHY_QUEUE] = a->sequence.admitted_ns - a->arrives_ns;
	to->ns[WHY_THROWN_OUT] = to->thrown_out_ns = mark->let_in_ns - a->sequence.admitted_ns;
	to->ns[WHY_OWN_PROMPT] = own_ns < (double)prompts_ns ? (int64_t)own_ns : prompts_ns;
	to->ns[WHY_OTHER_PROMPTS] = prompts_ns - to->ns[WHY_OWN_PROMPT];
	to->ns[WHY_STEPS] = w->replay.now_ns - mark->let_in_ns - prompts_ns;
	to->others[WHY_TTFT] = others_since(w, &mark->before);
	mark->before = w->sums;
	mark->out_ns = IPF_ABSENT;
}

/* It had no part in the steps since it was thrown out, and the last one is lost to it as well. */
static void note_back(struct twin_why *w, int64_t i)
{
	struct why_mark *mark = &w->marks[i];
	w->requests[i].ns[WHY_THROWN_OUT] += w->replay.now_ns - mark->out_ns;
	mark->before.prompts_ns += w->sums.prompts_ns - mark->out.prompts_ns;
	mark->before.busy_ns += w->sums.busy_ns - mark->out.busy_ns;
	mark->before.sequence_ns += w->sums.sequence_ns - mark->out.sequence_ns;
	mark->out_ns = IPF_ABSENT;
}

static void note_last(struct twin_why *w, int64_t i)
{
	struct why_request *to = &w->requests[i];
	const int64_t out_ns = to->ns[WHY_THROWN_OUT] - to->thrown_out_ns;
	to->ns[WHY_LATER_PROMPTS] = w->sums.prompts_ns - w->marks[i].before.prompts_ns;
	to->ns[WHY_DECODING] = w->replay.now_ns - w->replay.first_ns[i] - out_ns - to->ns[WHY_LATER_PROMPTS];
	to->others[WHY_E2E] = others_since(w, &w->marks[i].before);
}

static void on_tokens(int64_t i, void *data)
{
	struct twin_why *w = data;
	const struct sequence *s = &w->replay.answers[i].sequence;
	if (s->produced == s->fresh)
		note_first(w, i);
	else if (w->marks[i].out_ns != IPF_ABSENT)
		note_back(w, i);
	if (s->produced >= s->output_tokens)
		note_last(w, i);
}

/* The same server without the variation between its steps. */
static struct twin without_noise(const struct twin *twin)
{
	struct twin even = *twin;
	twin_set(&even, TWIN_JITTER, 0, 0, 0);
	twin_set(&even, TWIN_PAUSE, 0, 0, 0);
	return even;
}

int twin_why_find(struct twin_why *w, const struct twin *twin, const struct twin_data *data, struct ipf_error *err)
{
	const struct twin even = without_noise(twin);
	const struct twin_replay_watch watch = {on_step, on_move, on_tokens, w};
	const size_t count = (size_t)data->request_count;
	*w = (struct twin_why){.data = data, .prompt_ns = 1e9 / twin_value(twin, TWIN_PREFILL)};
	if (twin_replay_begin(&w->replay, data, err) < 0)
		return -1;
	w->requests = calloc(count + 1, sizeof *w->requests);
	w->marks = calloc(count + 1, sizeof *w->marks);
	if (!w->requests || !w->marks)
		return ipf_error_memory(err);
	w->replay.watch = &watch;
	const int result = twin_replay_run(&w->replay, &even, err);
	w->replay.watch = NULL;
	for (size_t i = 0; i < count; i++)
		w->requests[i].ns[WHY_CONNECT] = data->requests[i].connect_ns;
	return result;
}

void twin_why_release(struct twin_why *w)
{
	if (w->data)
		twin_replay_end(&w->replay);
	free(w->requests);
	free(w->marks);
	*w = (struct twin_why){0};
}

bool twin_why_knows(const struct twin_why *w, int64_t i)
{
	return twin_replay_fits(&w->replay, i);
}

int64_t twin_why_measured_ns(const struct twin_why *w, int64_t i, enum why_latency of)
{
	const struct measured_request *r = &w->data->requests[i];
	return r->connect_ns + (of == WHY_TTFT ? r->first_ns : r->last_ns) - r->start_ns;
}

int64_t twin_why_ns(const struct twin_why *w, int64_t i, enum why_latency of, enum why_part part)
{
	const enum why_part end = of == WHY_TTFT ? WHY_LATER_PROMPTS : WHY_UNEXPLAINED;
	int64_t left_ns = twin_why_measured_ns(w, i, of);
	if (part == WHY_THROWN_OUT && of == WHY_TTFT)
		return w->requests[i].thrown_out_ns;
	if (part < WHY_UNEXPLAINED)
		return part < end ? w->requests[i].ns[part] : 0;
	for (enum why_part p = 0; p < end; p++)
		left_ns -= twin_why_ns(w, i, of, p);
	return left_ns;
}
