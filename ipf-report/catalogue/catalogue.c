#include "catalogue/catalogue.h"

#include "absent.h"
#include "figures/figures.h"
#include "figures/share_interval.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* ---- values without a member of their own ---- */

static const char *token_source(const struct figures *f)
{
	int most = 0;
	for (int i = 0; i < SOURCES; i++)
		most = f->by_source[i] > f->by_source[most] ? i : most;
	return f->by_source[most] > 0 ? sources[most] : NULL;
}

/* Numbers under a condition. */
#define NUMBER_IF(name_, condition_, value_)                                                                           \
	static double name_(const struct figures *f)                                                                       \
	{                                                                                                                  \
		return (condition_) ? (double)(value_) : NAN;                                                                  \
	}
NUMBER_IF(started, !f->failures_unknown, f->started)
NUMBER_IF(failed, !f->failures_unknown, f->failed)
NUMBER_IF(coalesced, f->events > 0 && f->reads_known, f->coalesced)
NUMBER_IF(coalesced_share, f->events > 0 && f->reads_known, (double)f->coalesced / (double)f->events)
NUMBER_IF(stalls, f->events > 0 && f->stalls_known, f->stalls)
NUMBER_IF(stalled_requests, f->events > 0 && f->stalls_known, f->stalled)
NUMBER_IF(deadlines_met, f->deadlines > 0, f->deadlines_met)
NUMBER_IF(fluidity, f->deadlines > 0, (double)f->deadlines_met / (double)f->deadlines)
NUMBER_IF(good, f->judged > 0, f->good)
NUMBER_IF(spec_acceptance, f->spec_draft_tokens > 0, (double)f->spec_accepted_tokens / (double)f->spec_draft_tokens)
NUMBER_IF(spec_step, f->spec_drafts > 0, 1 + (double)f->spec_accepted_tokens / (double)f->spec_drafts)
NUMBER_IF(tokens_per_read, true, token_reads_mean(&f->token_reads))
NUMBER_IF(several_share, true, token_reads_several_share(&f->token_reads))
NUMBER_IF(gap_ratio, true, token_reads_gap_ratio(&f->token_reads))
NUMBER_IF(audio_s, f->audio_ns > 0, (double)f->audio_ns / 1e9)
NUMBER_IF(output_audio_s, f->output_audio_ns > 0, (double)f->output_audio_ns / 1e9)
NUMBER_IF(uninterrupted, f->played > 0, (double)f->played_on / (double)f->played)
NUMBER_IF(judged, f->judged > 0, f->judged)

/* An undecided text is neither valid nor invalid. */
static int64_t decided_outputs(const struct figures *f)
{
	int64_t sum = 0;
	for (int i = 0; i < OUTPUT_UNDECIDED; i++)
		sum += f->outputs[i];
	return sum;
}
NUMBER_IF(outputs_decided, decided_outputs(f) > 0, decided_outputs(f))
NUMBER_IF(outputs_valid, decided_outputs(f) > 0, f->outputs[OUTPUT_VALID])
NUMBER_IF(outputs_share, decided_outputs(f) > 0, (double)f->outputs[OUTPUT_VALID] / (double)decided_outputs(f))
NUMBER_IF(outputs_low, true, share_interval(f->outputs[OUTPUT_VALID], decided_outputs(f)).low)
NUMBER_IF(outputs_high, true, share_interval(f->outputs[OUTPUT_VALID], decided_outputs(f)).high)

/* Figures for the values of a tag. */
NUMBER_IF(fairness_groups, f->fairness.groups > 0, f->fairness.groups)
NUMBER_IF(fairness_goodput, f->fairness.groups > 0, f->fairness.goodput)
NUMBER_IF(fairness_tokens, f->fairness.groups > 0, f->fairness.output_tokens)

/* Figures for users beginning at the same moment. */
NUMBER_IF(together_ttft, f->together.requests > 0, f->together.ttft_p99_ms)
NUMBER_IF(together_e2e, f->together.requests > 0, f->together.e2e_p99_ms)

/* Figures for refused requests. */
NUMBER_IF(refused, f->refusals.refused > 0, f->refusals.refused)
NUMBER_IF(refused_share, f->refusals.refused > 0, (double)f->refusals.refused / (double)f->started)
NUMBER_IF(refusals, f->refusals.refusals > 0, f->refusals.refusals)
NUMBER_IF(retried, f->refusals.retried > 0, f->refusals.retried)
NUMBER_IF(retried_ok, f->refusals.retried > 0, f->refusals.retried_ok)
NUMBER_IF(attempts, f->refusals.retried > 0, f->refusals.attempts)
NUMBER_IF(waited_s, f->refusals.retried > 0, f->refusals.waited_ns / 1e9)
NUMBER_IF(waited_share, f->refusals.retried > 0 && f->refusals.in_all_ns > 0,
          f->refusals.waited_ns / f->refusals.in_all_ns)
NUMBER_IF(asked_answers, f->refusals.asked > 0, f->refusals.asked)
NUMBER_IF(asked_min, f->refusals.asked > 0, f->refusals.asked_min_ns / 1e6)
NUMBER_IF(asked_mean, f->refusals.asked > 0, f->refusals.asked_ns / (double)f->refusals.asked / 1e6)
NUMBER_IF(asked_max, f->refusals.asked > 0, f->refusals.asked_max_ns / 1e6)
NUMBER_IF(early_attempts, f->refusals.asked > 0 && f->refusals.retried > 0, f->refusals.early)

/* Figures for turns continuing the server's own answers. */
NUMBER_IF(history_turns, f->history.turns > 0, f->history.turns)
NUMBER_IF(compared_turns, f->history.compared > 0, f->history.compared)
NUMBER_IF(compared_tokens, f->history.compared > 0, f->history.compared_tokens)
NUMBER_IF(differing_turns, f->history.compared > 0, f->history.differing)
NUMBER_IF(differing_tokens, f->history.compared > 0, f->history.differing_tokens)
NUMBER_IF(differing_share, f->history.compared_tokens > 0,
          (double)f->history.differing_tokens / (double)f->history.compared_tokens)
NUMBER_IF(generated_tokens, f->history.generated_tokens > 0, f->history.generated_tokens)
NUMBER_IF(found_tokens, f->history.generated_tokens > 0, f->history.found_tokens)
NUMBER_IF(found_share, f->history.generated_tokens > 0,
          (double)f->history.found_tokens / (double)f->history.generated_tokens)
NUMBER_IF(read_generated, f->history.read_generated > 0, f->history.read_generated)
NUMBER_IF(read_tokens, f->history.read_generated > 0, f->history.read_tokens)

/* ---- the table ---- */

#define AT(member_) .offset = offsetof(struct figures, member_)
/* Path, unit, kind, definition. */
#define ROW(path_, unit_, kind_, definition_)                                                                          \
	.path = path_, .unit = unit_, .kind = KIND_##kind_, .definition = definition_
#define COLUMN(name_)        .column = name_
#define FAMILY(name_, help_) .family = name_, .help = help_
/* A distribution of times, in an object or in the block itself. */
#define TIMES(group_, name_, member_)                                                                                  \
	ROW(group_ name_ "_ms", "ms", DISTRIBUTION, name_), AT(member_), COLUMN(name_ "_ms"),                              \
		FAMILY("ipf_" name_ "_seconds", name_ ", as ipf-report definitions defines it.")
/* Rows of metric_rows.h. */
#define WAIT(id_, name_, label_, remark_, flags_) {TIMES("", #name_, start[METRIC_##id_])},
#define LATENCY(id_, name_, label_, remark_, flags_)                                                                   \
	{TIMES("latency/", #name_, start[METRIC_##id_]),                                                                   \
	 .due = (flags_)&METRIC_FROM_DUE ? offsetof(struct figures, due[METRIC_##id_]) : 0,                                \
	 .point = (flags_)&METRIC_IN_CURVE ? #name_ : NULL},
#define WITH_FAILURES(name_, index_)                                                                                   \
	ROW("latency_with_failures/" name_ "_ms", "ms", DISTRIBUTION, "with failures"), AT(with_failures[index_])

const struct catalogue_figure catalogue[] = {
	{ROW("name", "", TEXT, NULL), AT(name)},
	{ROW("kind", "", TEXT, NULL), AT(kind), COLUMN("kind")},
	{ROW("measured", "", FLAG, NULL), AT(measured), COLUMN("measured")},
	{ROW("window_s", "s", DURATION, "window"), AT(window_s), COLUMN("window_s"),
     FAMILY("ipf_window_seconds", "The time for rates.")},

	{ROW("requests/scheduled", "requests", COUNT, NULL), AT(scheduled), COLUMN("requests_scheduled"),
     FAMILY("ipf_requests_scheduled", "Requests in the schedule.")},
	{ROW("requests/started", "requests", COUNT, "start"), .number = started, COLUMN("requests_started")},
	{ROW("requests/ok", "requests", COUNT, NULL), AT(ok), COLUMN("requests_ok")},
	{ROW("requests/failed", "requests", COUNT, NULL), .number = failed, COLUMN("requests_failed"), .point = "failed"},
	{ROW("requests/empty", "requests", COUNT, "empty"), AT(empty), .positive = true},
	{ROW("requests/hung_up", "requests", COUNT, "hung-up"), AT(hung_up), .positive = true},
	{ROW("requests/unseen", "requests", COUNT, "unseen"), AT(unseen), .positive = true},
	{ROW("requests/cut", "requests", COUNT, "cut"), AT(cut), COLUMN("requests_cut")},
	{ROW("requests/errors", "requests", COUNTS, NULL), AT(errors), .names = verdict_kinds, .name_count = VERDICT_KINDS,
     COLUMN("errors")},
	{ROW("requests/stale_resets", "requests", COUNT, "reset"), AT(stale), .positive = true, COLUMN("stale_resets")},

	{ROW("rate/offered", "requests/s", RATE, "offered"), AT(offered), COLUMN("rate_offered"), .point = "offered_per_s",
     FAMILY("ipf_offered_requests_per_second", "Scheduled arrivals per second.")},
	{ROW("rate/achieved", "requests/s", RATE, "achieved"), AT(achieved), COLUMN("rate_achieved"),
     FAMILY("ipf_achieved_requests_per_second", "Starts per second.")},
	{ROW("rate/completed", "requests/s", RATE, "completed"), AT(completed), COLUMN("rate_completed"),
     .point = "completed_per_s", FAMILY("ipf_completed_requests_per_second", "Successful requests per second.")},
	{ROW("rate/completed_own", "requests/s", RATE, "completed_own"), AT(completed_own), COLUMN("rate_completed_own")},
	{ROW("rate/completed_counted", "requests/s", RATE, "completed_counted"), AT(completed_counted)},

	METRICS_OF_WAITS(WAIT)

		{ROW("throughput/requests_per_s", "requests/s", RATE, "completed"), AT(completed)},
	{ROW("throughput/inputs_per_s", "inputs/s", RATE, "inputs"), AT(inputs_per_s), COLUMN("inputs_per_s"),
     FAMILY("ipf_inputs_per_second", "Inputs of successful requests per second.")},
	{ROW("throughput/input_tokens_per_s", "tokens/s", RATE, "tokens_per_s"), AT(input_per_s),
     COLUMN("input_tokens_per_s"),
     FAMILY("ipf_input_tokens_per_second", "Input tokens of successful requests per second.")},
	{ROW("throughput/output_tokens_per_s", "tokens/s", RATE, "tokens_per_s"), AT(output_per_s),
     COLUMN("output_tokens_per_s"), .point = "output_tokens_per_s",
     FAMILY("ipf_output_tokens_per_second", "Output tokens of successful requests per second.")},
	{ROW("throughput/total_tokens_per_s", "tokens/s", RATE, "tokens_per_s"), AT(total_per_s),
     COLUMN("total_tokens_per_s")},
	{ROW("throughput/spread", "", SHARE, "tokens_per_s"), AT(tokens_spread)},
	{ROW("throughput/images_per_s", "images/s", RATE, "sent media"), AT(images_per_s)},
	{ROW("throughput/audio_s_per_s", "s/s", RATE, "sent media"), AT(audio_s_per_s)},
	{ROW("throughput/output_audio_s_per_s", "s/s", RATE, "received audio"), AT(output_audio_s_per_s)},
	{ROW("throughput/absent", "", TEXT, NULL), AT(no_throughput), COLUMN("throughput_absent")},

	{ROW("inputs", "inputs", DISTRIBUTION, "inputs"), AT(inputs), COLUMN("inputs")},
	{ROW("tool_calls", "calls", DISTRIBUTION, "tool_calls"), AT(tool_calls), COLUMN("tool_calls")},

	{ROW("tokens/input", "tokens", DISTRIBUTION, "input_tokens"), AT(input), COLUMN("input_tokens"),
     FAMILY("ipf_request_input_tokens", "Input tokens of a successful request.")},
	{ROW("tokens/output", "tokens", DISTRIBUTION, "output_tokens"), AT(output), COLUMN("output_tokens"),
     FAMILY("ipf_request_output_tokens", "Output tokens of a successful request.")},
	{ROW("tokens/reasoning", "tokens", DISTRIBUTION, "output_tokens"), AT(reasoning), COLUMN("reasoning_tokens")},
	{ROW("tokens/source", "", TEXT, "output_tokens"), .text = token_source, COLUMN("tokens_source")},
	{ROW("tokens/sources", "requests", GROUP, "output_tokens")},
	{ROW("tokens/asked_input", "tokens", DISTRIBUTION, "asked"), AT(asked_input)},
	{ROW("tokens/asked_output", "tokens", DISTRIBUTION, "asked"), AT(asked_output), COLUMN("asked_output_tokens")},
	{ROW("tokens/residual", "tokens", GROUP, "residual")},
	{ROW("tokens/finish_reasons", "requests", GROUP, NULL)},
	{ROW("tokens/cached_share", "", SHARE, "cached_share"), AT(cached_share), COLUMN("cached_share"),
     FAMILY("ipf_cached_input_tokens_ratio", "Share of the input tokens reported as cached by the server.")},
	{ROW("tokens/image", "tokens", COUNT, "media"), AT(image_tokens), .positive = true},
	{ROW("tokens/audio", "tokens", COUNT, "media"), AT(audio_tokens), .positive = true},
	{ROW("tokens/output_audio", "tokens", COUNT, "media"), AT(output_audio_tokens), .positive = true},
	{ROW("speculation/drafts", "drafts", COUNT, "speculation"), AT(spec_drafts), .positive = true},
	{ROW("speculation/draft_tokens", "tokens", COUNT, "speculation"), AT(spec_draft_tokens), .positive = true},
	{ROW("speculation/accepted_tokens", "tokens", COUNT, "speculation"), AT(spec_accepted_tokens), .positive = true},
	{ROW("speculation/acceptance", "", SHARE, "speculation"), .number = spec_acceptance, COLUMN("draft_acceptance"),
     FAMILY("ipf_draft_acceptance_ratio", "Share of the draft tokens reported as accepted by the server.")},
	{ROW("speculation/tokens_per_step", "tokens", NUMBER, "speculation"), .number = spec_step},
	{ROW("token_reads/tokens_per_read", "tokens", NUMBER, "tokens of a read"), .number = tokens_per_read,
     COLUMN("tokens_per_read")},
	{ROW("token_reads/several_share", "", SHARE, "tokens of a read"), .number = several_share},
	{ROW("token_reads/by_tokens", "reads", COUNTS, "tokens of a read"), AT(token_reads.by_tokens),
     .names = read_size_names, .name_count = READ_SIZES},
	{ROW("token_reads/gap_ratio", "", NUMBER, "tokens of a read"), .number = gap_ratio},
	{ROW("media/images", "images", COUNT, "sent media"), AT(images), .positive = true},
	{ROW("media/audio_clips", "clips", COUNT, "sent media"), AT(audio_clips), .positive = true},
	{ROW("media/video_clips", "clips", COUNT, "sent media"), AT(video_clips), .positive = true},
	{ROW("media/audio_s", "s", NUMBER, "sent media"), .number = audio_s},
	{ROW("media/output_audio_s", "s", NUMBER, "received audio"), .number = output_audio_s},
	{ROW("media/uninterrupted", "share", NUMBER, "received audio"), .number = uninterrupted},
	{ROW("media/bytes", "bytes", COUNT, "sent media"), AT(media_bytes), .positive = true},

	METRICS_OF_ANSWERS(LATENCY){TIMES("latency/", "itl", itl)},
	METRICS_OF_GAPS(LATENCY) METRICS_OF_ATTEMPTS(LATENCY) METRICS_OF_SERVERS(LATENCY)

		{WITH_FAILURES("ttft", WAITED_TTFT)},
	{WITH_FAILURES("ttfa", WAITED_TTFA)},
	{WITH_FAILURES("tpot", WAITED_TPOT)},
	{WITH_FAILURES("ntpot", WAITED_NTPOT)},
	{WITH_FAILURES("e2e", WAITED_E2E)},
	{ROW("early_stopping", "ms", GROUP, "early stopping")},
	{ROW("accuracy", "ms", GROUP, "accuracy")},

	{ROW("events/content", "events", COUNT, "content event"), AT(events), .positive = true},
	{ROW("events/coalesced", "events", COUNT, "coalesced"), .number = coalesced},
	{ROW("events/coalesced_share", "", SHARE, "coalesced"), .number = coalesced_share, COLUMN("coalesced_share")},
	{ROW("events/stalls", "gaps", COUNT, "stall"), .number = stalls, COLUMN("stalls")},
	{ROW("events/stalled_requests", "requests", COUNT, "stall"), .number = stalled_requests},
	{ROW("not_streamed", "requests", COUNTS, "not_streamed"), AT(not_streamed), .names = result_not_streamed_names,
     .name_count = RESULT_NOT_STREAMED_COUNT},
	{ROW("after_end/responses", "requests", COUNT, "after_end"), AT(went_on), .positive = true},
	{ROW("after_end/events", "events", COUNT, "after_end"), AT(after_end), .positive = true},
	{ROW("fluidity/deadlines", "tokens", COUNT, "fluidity"), AT(deadlines), .positive = true},
	{ROW("fluidity/met", "tokens", COUNT, "fluidity"), .number = deadlines_met},
	{ROW("fluidity/share", "", SHARE, "fluidity"), .number = fluidity},

	{ROW("output_check/valid", "requests", COUNT, "output_check"), .number = outputs_valid},
	{ROW("output_check/of", "requests", COUNT, "output_check"), .number = outputs_decided},
	{ROW("output_check/share", "", SHARE, "output_check"), .number = outputs_share, COLUMN("output_valid_share"),
     FAMILY("ipf_output_valid_ratio", "Valid share of the checked outputs.")},
	{ROW("output_check/low", "", SHARE, "output_check"), .number = outputs_low},
	{ROW("output_check/high", "", SHARE, "output_check"), .number = outputs_high},
	{ROW("output_check/faults", "requests", COUNTS, "output_check"), AT(outputs[OUTPUT_NOT_JSON]),
     .names = result_output_names + OUTPUT_NOT_JSON, .name_count = OUTPUT_COUNT - OUTPUT_NOT_JSON},

	{ROW("fairness/groups", "groups", COUNT, "fairness"), .number = fairness_groups},
	{ROW("fairness/goodput", "", SHARE, "fairness"), .number = fairness_goodput},
	{ROW("fairness/output_tokens", "", SHARE, "fairness"), .number = fairness_tokens},

	{ROW("refusals/requests", "requests", COUNT, "refusals"), .number = refused, COLUMN("requests_refused")},
	{ROW("refusals/share", "", SHARE, "refusals"), .number = refused_share},
	{ROW("refusals/answers", "answers", COUNT, "refusals"), .number = refusals},
	{ROW("refusals/retried", "requests", COUNT, "attempt"), .number = retried},
	{ROW("refusals/retried_ok", "requests", COUNT, "attempt"), .number = retried_ok},
	{ROW("refusals/attempts", "attempts", COUNT, "attempt"), .number = attempts, COLUMN("attempts"),
     FAMILY("ipf_attempts", "Requests sent, retries included.")},
	{ROW("refusals/waited_s", "s", NUMBER, "attempt"), .number = waited_s},
	{ROW("refusals/waited_share", "", SHARE, "attempt"), .number = waited_share, COLUMN("retry_wait_share")},
	{ROW("refusals/asked", "answers", COUNT, "retry-after"), .number = asked_answers},
	{ROW("refusals/asked_min_ms", "ms", NUMBER, "retry-after"), .number = asked_min},
	{ROW("refusals/asked_mean_ms", "ms", NUMBER, "retry-after"), .number = asked_mean},
	{ROW("refusals/asked_max_ms", "ms", NUMBER, "retry-after"), .number = asked_max},
	{ROW("refusals/early", "attempts", COUNT, "retry-after"), .number = early_attempts},

	{ROW("history/turns", "requests", COUNT, "history"), .number = history_turns},
	{ROW("history/compared_turns", "requests", COUNT, "history"), .number = compared_turns},
	{ROW("history/compared_tokens", "tokens", COUNT, "history"), .number = compared_tokens},
	{ROW("history/differing_turns", "requests", COUNT, "history"), .number = differing_turns},
	{ROW("history/differing_tokens", "tokens", COUNT, "history"), .number = differing_tokens},
	{ROW("history/differing_share", "", SHARE, "history"), .number = differing_share,
     COLUMN("history_differing_share")},
	{ROW("history/generated_tokens", "tokens", COUNT, "history"), .number = generated_tokens},
	{ROW("history/found_tokens", "tokens", COUNT, "history"), .number = found_tokens},
	{ROW("history/found_share", "", SHARE, "history"), .number = found_share, COLUMN("history_found_share"),
     FAMILY("ipf_history_found_ratio", "Share of generated tokens found in the prefix cache by later turns.")},
	{ROW("history/text_generated_tokens", "tokens", COUNT, "history"), .number = read_generated},
	{ROW("history/text_tokens", "tokens", COUNT, "history"), .number = read_tokens},

	{ROW("started_together/requests", "requests", COUNT, "started_together"), AT(together.requests), .positive = true},
	{ROW("started_together/ttft_p99_ms", "ms", DURATION, "started_together"), .number = together_ttft},
	{ROW("started_together/e2e_p99_ms", "ms", DURATION, "started_together"), .number = together_e2e},
	{ROW("in_flight/mean", "requests", NUMBER, "in_flight"), AT(in_flight_mean), COLUMN("in_flight_mean"),
     .point = "in_flight", FAMILY("ipf_requests_in_flight_mean", "Requests in flight, mean over time.")},
	{ROW("in_flight/max", "requests", NUMBER, "in_flight"), AT(in_flight_max), COLUMN("in_flight_max"),
     FAMILY("ipf_requests_in_flight_max", "Most requests in flight.")},
	{ROW("in_flight/begin", "requests", NUMBER, "completed"), AT(begin_in_flight)},
	{ROW("in_flight/end", "requests", NUMBER, "completed"), AT(end_in_flight)},
	{ROW("in_flight/little", "requests", NUMBER, "little"), AT(little), COLUMN("in_flight_little")},

	{ROW("goodput/requests_per_s", "requests/s", RATE, "goodput"), AT(goodput), COLUMN("goodput_requests_per_s"),
     .point = "goodput_per_s",
     FAMILY("ipf_goodput_requests_per_second", "Requests per second meeting every objective.")},
	{ROW("goodput/share", "", SHARE, "goodput"), AT(good_share), COLUMN("goodput_share"), .point = "good_share",
     FAMILY("ipf_goodput_ratio", "Share of the requests meeting every objective.")},
	{ROW("goodput/good", "requests", COUNT, "goodput"), .number = good},
	{ROW("goodput/of", "requests", COUNT, "goodput"), .number = judged},
	{ROW("goodput/left_out", "requests", COUNT, "goodput"), AT(left_out), .positive = true},
	{ROW("goodput/unmeasured", "requests", COUNT, "goodput"), AT(unmeasured), .positive = true},
	{ROW("goodput/objectives", "", LIST, "goodput"), COLUMN("slo")},
	{ROW("itl_by_position_ms", "ms", LIST, "itl_by_position")},
};
const size_t catalogue_count = sizeof catalogue / sizeof *catalogue;
static_assert(sizeof catalogue / sizeof *catalogue <= CATALOGUE_MOST, "the catalogue has more figures than fit");

const struct catalogue_figure *catalogue_find(const char *path)
{
	for (size_t i = 0; i < catalogue_count; i++) {
		size_t len = strlen(catalogue[i].path);
		if (strncmp(catalogue[i].path, path, len) == 0 && (!path[len] || path[len] == '/'))
			return &catalogue[i];
	}
	return NULL;
}

double catalogue_number(const struct catalogue_figure *figure, const struct figures *f)
{
	const void *at = (const char *)f + figure->offset;
	if (figure->number)
		return figure->number(f);
	if (figure->kind == KIND_FLAG)
		return *(const bool *)at;
	if (figure->kind == KIND_COUNT)
		return *(const int64_t *)at == IPF_ABSENT ? NAN : (double)*(const int64_t *)at;
	return *(const double *)at;
}

const int64_t *catalogue_counts(const struct catalogue_figure *figure, const struct figures *f)
{
	return (const int64_t *)((const char *)f + figure->offset);
}

const char *catalogue_text(const struct catalogue_figure *figure, const struct figures *f)
{
	return figure->text ? figure->text(f) : *(const char *const *)((const char *)f + figure->offset);
}

const struct metric_summary *catalogue_distribution(const struct catalogue_figure *figure, const struct figures *f)
{
	return (const struct metric_summary *)((const char *)f + figure->offset);
}

const struct metric_summary *catalogue_from_due(const struct catalogue_figure *figure, const struct figures *f)
{
	return (const struct metric_summary *)((const char *)f + figure->due);
}

/* The word of `order` that a path belongs to, from 0; SIZE_MAX: none. */
static size_t rank_of(const char *path, const char *order)
{
	size_t rank = SIZE_MAX, longest = 0;
	for (size_t i = 0; *order; i++) {
		size_t len = strcspn(order, " "), same = *order == '*' ? 0 : len;
		if (same >= longest && strncmp(path, order, same) == 0) {
			rank = i;
			longest = same;
		}
		order += len + (order[len] == ' ');
	}
	return rank;
}

size_t catalogue_sorted(const struct catalogue_figure *list[CATALOGUE_MOST], const char *order)
{
	size_t count = 0;
	for (size_t rank = 0; rank < CATALOGUE_MOST; rank++)
		for (size_t i = 0; i < catalogue_count; i++)
			if (rank_of(catalogue[i].path, order) == rank)
				list[count++] = &catalogue[i];
	return count;
}
