#include "verdict/verdict.h"

#include "absent.h"
#include "array.h"
#include "safe_text.h"
#include "seen_numbers.h"
#include "stats/histogram.h"
#include "stats/samples.h"
#include "token_count.h"
#include "stream/observed.h"
#include "verdict/capture_health.h"
#include "verdict/client_health.h"
#include "verdict/answer_health.h"
#include "verdict/warm_cache.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

struct verdict_stage {
	char *name;
	bool cold;                            /* the cache was reset before it; until its first row */
	bool measured, closed, cycle, copies; /* copies: requests that differ from each other may have the same `req` */
	int64_t copy;                         /* all its requests' (schedule.h) */
	int64_t repeated;                     /* successful requests whose prompt was sent before in this run */
	int64_t sent_before;                  /* lines with prompts the earlier runs of a search sent */
	int64_t scheduled, scheduled_most;    /* arrivals: of all parts together, of the largest part */
	int64_t started, ok, checked;         /* checked: successful ones whose answer is checked */
	int64_t timed, waited;                /* with a due time; of these, waited noticeably for a slot */
	int64_t due_first, due_last, start_first, start_last; /* the current part's; IPF_ABSENT */
	int64_t due_span, start_span;                         /* the ended parts' */
};

struct verdict {
	struct verdict_stage *stages;
	size_t count;
	int64_t parts;
	bool shards, failed, predicted, observed;
	json_t *capture; /* an observed run's: the counts of its capture; NULL: not known */

	int64_t rows, ok, checked, errors[VERDICT_KINDS], stale;
	int64_t rows_with_length, exact_length, requested_tokens, received_tokens;
	int64_t rows_with_input, asked_input, received_input; /* for those whose usage has a count */
	int64_t events, coalesced;
	int64_t stream_ignored;      /* successful whole responses although streaming was requested */
	int64_t streamed, one_event; /* streamed responses of several tokens; of these, with all of them in one event */
	int64_t unread, unread_of;   /* events with unread text; those and the content events */
	int64_t empty;               /* successful responses without content */
	int64_t after_end;           /* successful responses with content after their end mark */
	struct {
		int64_t rows, usage, events; /* contradictory counts of tokens: responses, and the counts of the first one */
	} doubts[RESULT_DOUBTS];
	int64_t hidden_rows, hidden_tokens;             /* successful responses with unsent tokens */
	int64_t early, short_stop, short_length;        /* ended for another reason; shorter than asked, by finish reason */
	struct histogram *lag, *client_lag, *slot_wait; /* ns */
	int64_t first_start, last_end;                  /* the current part's measured rows'; IPF_ABSENT */
	struct client_health client;

	struct seen_numbers seen; /* the requests of the trace sent successfully in this run */
	int64_t trace_requests, trace_repeated_prompts;
	struct warm_cache cache;
	struct answer_health answers;

	char incomplete[512]; /* why some of the run is missing; "" */
	int64_t stopped;      /* the stage in which the run was ended on purpose; INT64_MAX: none */
	struct verdict_note {
		enum verdict_question question;
		enum verdict_status status;
		char *text;
	} * notes;
	size_t notes_count;
	bool unknown[VERDICT_QUESTIONS]; /* cannot be judged; a note says why */
	struct verdict_finding finding;
};

const char *const verdict_kinds[VERDICT_KINDS] = {"connect",   "tls",    "timeout",   "reset",   "http-status",
                                                  "in-band",   "cut",    "malformed", "hung-up", "cancelled",
                                                  "too-large", "unseen", "other"};

struct verdict *verdict_new(void)
{
	struct verdict *v = calloc(1, sizeof *v);
	if (!v)
		return NULL;
	v->lag = histogram_new();
	v->client_lag = histogram_new();
	v->slot_wait = histogram_new();
	v->first_start = v->last_end = IPF_ABSENT;
	v->stopped = INT64_MAX;
	if (v->lag && v->client_lag && v->slot_wait)
		return v;
	verdict_free(v);
	return NULL;
}

void verdict_free(struct verdict *v)
{
	if (!v)
		return;
	for (size_t i = 0; i < v->count; i++)
		free(v->stages[i].name);
	free(v->stages);
	histogram_free(v->lag);
	histogram_free(v->client_lag);
	histogram_free(v->slot_wait);
	client_health_release(&v->client);
	seen_numbers_release(&v->seen);
	warm_cache_release(&v->cache);
	answer_health_release(&v->answers);
	for (size_t i = 0; i < v->notes_count; i++)
		free(v->notes[i].text);
	free(v->notes);
	json_decref(v->capture);
	for (size_t i = 0; i < VERDICT_QUESTIONS; i++)
		json_decref(v->finding.checks[i].figures);
	free(v);
}

static bool stages_grow(struct verdict *v, size_t count)
{
	if (count <= v->count)
		return true;
	struct verdict_stage *stages = realloc(v->stages, count * sizeof *stages);
	if (!stages)
		return false;
	v->stages = stages;
	for (; v->count < count; v->count++)
		stages[v->count] = (struct verdict_stage){.measured = true,
		                                          .due_first = IPF_ABSENT,
		                                          .due_last = IPF_ABSENT,
		                                          .start_first = IPF_ABSENT,
		                                          .start_last = IPF_ABSENT};
	return true;
}

static int64_t due_span_of(const struct verdict_stage *stage)
{
	return stage->due_span + (stage->due_first == IPF_ABSENT ? 0 : stage->due_last - stage->due_first);
}

static int64_t start_span_of(const struct verdict_stage *stage)
{
	return stage->start_span + (stage->due_first == IPF_ABSENT ? 0 : stage->start_last - stage->start_first);
}

static void end_stage_part(struct verdict_stage *stage)
{
	stage->due_span = due_span_of(stage);
	stage->start_span = start_span_of(stage);
	stage->due_first = stage->due_last = stage->start_first = stage->start_last = IPF_ABSENT;
}

/* A stage of shards spans all of them, as if one client had sent it; stages of repeats come after each other. */
static void end_part(struct verdict *v, bool shard)
{
	for (size_t i = 0; i < v->count && !shard; i++)
		end_stage_part(&v->stages[i]);
	client_health_end_part(&v->client, v->first_start, v->last_end);
	v->first_start = v->last_end = IPF_ABSENT;
}

int verdict_part(struct verdict *v, const struct schedule *schedule)
{
	end_part(v, schedule && schedule->shards > 0);
	v->parts++;
	warm_cache_part(&v->cache, schedule);
	if (!schedule || !schedule->shards) /* a repeat, or the first part */
		seen_numbers_release(&v->seen);
	if (schedule)
		v->trace_requests = schedule->trace_requests;
	if (schedule && schedule->trace_repeated_prompts > 0)
		v->trace_repeated_prompts = schedule->trace_repeated_prompts;
	size_t count = schedule ? schedule->count : 0;
	if (!stages_grow(v, count) || answer_health_part(&v->answers, schedule) < 0) {
		v->failed = true;
		return -1;
	}
	for (size_t i = 0; i < count; i++) {
		struct verdict_stage *stage = &v->stages[i];
		const struct schedule_stage *from = &schedule->stages[i];
		if (!stage->name && !(stage->name = strdup(from->name ? from->name : ""))) {
			v->failed = true;
			return -1;
		}
		stage->measured = from->measured;
		stage->closed = from->closed;
		stage->cycle = from->cycle;
		stage->cold = from->cold;
		stage->copies = schedule_has_copies(from);
		stage->copy = from->copy;
		stage->sent_before += from->sent_before;
		stage->scheduled += verdict_valid_count(from->arrivals) ? from->arrivals : 0;
		/* a shard's schedule also says how much all shards have to do */
		int64_t most = from->all_arrivals > from->arrivals ? from->all_arrivals : from->arrivals;
		if (most > stage->scheduled_most && verdict_valid_count(most))
			stage->scheduled_most = most;
	}
	return 0;
}

void verdict_several_clients(struct verdict *v)
{
	v->cache.shard = true;
}

void verdict_predicted(struct verdict *v)
{
	v->predicted = true;
}

bool verdict_is_predicted(const struct verdict *v)
{
	return v->predicted;
}

void verdict_observed(struct verdict *v, json_t *capture)
{
	v->observed = true;
	if (capture && !v->capture)
		v->capture = json_incref(capture);
}

void verdict_live_histories(struct verdict *v)
{
	v->cache.live = true;
}

void verdict_cache_known(struct verdict *v, double possible)
{
	v->cache.known = true;
	v->cache.possible = possible;
}

void verdict_cache_filled(struct verdict *v)
{
	v->cache.filled = true;
}

void verdict_cache_counters(struct verdict *v, double share)
{
	v->cache.counters = share;
	v->cache.counted = !isnan(share);
}

void verdict_shards(struct verdict *v)
{
	v->shards = true;
}

static void span(int64_t *first, int64_t *last, int64_t at)
{
	if (*first == IPF_ABSENT || at < *first)
		*first = at;
	if (*last == IPF_ABSENT || at > *last)
		*last = at;
}

size_t verdict_kind_of(struct slice kind)
{
	for (size_t i = 0; i + 1 < VERDICT_KINDS; i++) {
		size_t len = strlen(verdict_kinds[i]);
		if (kind.len == len + 2 && memcmp(kind.data + 1, verdict_kinds[i], len) == 0)
			return i;
	}
	return VERDICT_OTHER;
}

static void row_times(struct verdict *v, struct verdict_stage *stage, const struct result *row)
{
	if (!verdict_valid_time(row->start_ns))
		return;
	stage->started++;
	span(&v->first_start, &v->last_end, row->start_ns);
	if (verdict_valid_time(row->end_ns))
		span(&v->first_start, &v->last_end, row->end_ns);
	if (row->client_lag_ns != IPF_ABSENT)
		histogram_add(v->client_lag, row->client_lag_ns, 1);
	if (row->slot_wait_ns != IPF_ABSENT)
		histogram_add(v->slot_wait, row->slot_wait_ns, 1);
	if (!verdict_valid_time(row->due_ns))
		return;
	stage->timed++;
	span(&stage->due_first, &stage->due_last, row->due_ns);
	span(&stage->start_first, &stage->start_last, row->start_ns);
	histogram_add(v->lag, row->start_ns - row->due_ns, 1);
	if (row->slot_wait_ns != IPF_ABSENT && row->slot_wait_ns > VERDICT_SLOT_WAIT_NS)
		stage->waited++;
}

static void row_streaming(struct verdict *v, const struct result *row)
{
	enum result_not_streamed why = result_not_streamed(row);
	bool counted = row->tokens_source.data && !slice_is(row->tokens_source, "\"events\"");
	v->stream_ignored += why == RESULT_STREAM_IGNORED;
	if (why != RESULT_STREAMED || !counted || row->output_tokens <= VERDICT_ONE_EVENT_TOKENS)
		return;
	v->streamed++;
	v->one_event += row->events == 1;
}

bool verdict_usual_finish(struct slice reason)
{
	return slice_is(reason, "stop") || slice_is(reason, "length") || slice_is(reason, "tool_calls");
}

static void row_ends(struct verdict *v, const struct result *row)
{
	const bool length = slice_is(row->finish, "\"length\""), text = row->finish.len >= 2 && *row->finish.data == '"';
	const struct slice reason = text ? (struct slice){row->finish.data + 1, row->finish.len - 2} : row->finish;
	v->early += reason.data && !(text && verdict_usual_finish(reason));
	if (verdict_valid_count(row->asked_output_tokens) && verdict_valid_count(row->output_tokens) &&
	    row->output_tokens < row->asked_output_tokens)
		*(length ? &v->short_length : &v->short_stop) += 1;
}

static void row_unread(struct verdict *v, const struct result *row)
{
	if (!verdict_valid_count(row->events))
		return;
	const int64_t unread = verdict_valid_count(row->unread_events) ? row->unread_events : 0;
	v->unread += unread;
	v->unread_of += row->events + unread;
}

static void row_counts(struct verdict *v, const struct result *row)
{
	const enum result_doubt doubt = result_doubt(row);
	row_ends(v, row);
	if (verdict_valid_count(row->hidden_tokens) && row->hidden_tokens > 0) {
		v->hidden_rows++;
		v->hidden_tokens += row->hidden_tokens <= TOKENS_MAX ? row->hidden_tokens : 0;
	}
	if (doubt == RESULT_NO_DOUBT)
		return;
	if (v->doubts[doubt].rows++ == 0) {
		v->doubts[doubt].usage = row->output_tokens_usage;
		v->doubts[doubt].events = row->events;
	}
}

/* Was the prompt sent before in this run? Requests of ipf-fire --warm do not count: they always repeat the first ones.
 */
static void note_prompt(struct verdict *v, struct verdict_stage *stage, const struct result *row)
{
	if (stage->cold) {
		seen_numbers_release(&v->seen);
		warm_cache_reset(&v->cache);
		stage->cold = false;
	}
	const int64_t copy = row->copy != IPF_ABSENT && row->copy <= SCHEDULE_COPIES ? row->copy : stage->copy;
	const int64_t number = row->req == IPF_ABSENT ? -1 : schedule_prompt_number(row->req, copy, v->trace_requests);
	answer_health_row(&v->answers, row);
	if (number < 0 || stage->copies || result_check(row) != RESULT_CHECKS)
		return;
	v->cache.copies_sent |= UINT64_C(1) << copy;
	const bool warm = row->n >= SCHEDULE_WARMUP_FIRST_N;
	warm_cache_row(&v->cache, row, number, stage->measured && !warm);
	if (row->ok && !warm)
		stage->repeated += seen_numbers_add(&v->seen, number);
}

/* A usage reporting 0 does not know it. */
static void row_input(struct verdict *v, const struct result *row)
{
	if (!verdict_valid_count(row->asked_input_tokens) || !verdict_valid_count(row->input_tokens_usage) ||
	    row->input_tokens_usage == 0)
		return;
	int64_t asked = token_sum(v->asked_input, row->asked_input_tokens),
			received = token_sum(v->received_input, row->input_tokens_usage);
	if (asked == IPF_ABSENT || received == IPF_ABSENT)
		return;
	v->rows_with_input++;
	v->asked_input = asked;
	v->received_input = received;
}

void verdict_row(struct verdict *v, const struct result *row)
{
	if (row->stage < 0 || row->stage > 1000000)
		return;
	if (!stages_grow(v, (size_t)row->stage + 1)) {
		v->failed = true;
		return;
	}
	struct verdict_stage *stage = &v->stages[row->stage];
	note_prompt(v, stage, row);
	if (!stage->measured)
		return;
	v->rows++;
	row_times(v, stage, row);
	if (!row->ok) {
		v->errors[verdict_kind_of(row->error_kind)]++;
		v->stale += row->stale;
		return;
	}
	v->ok++;
	stage->ok++;
	stage->checked += result_check(row) < RESULT_CHECKS;
	v->checked += result_check(row) < RESULT_CHECKS;
	if (verdict_valid_count(row->events) && verdict_valid_count(row->coalesced)) {
		v->events += row->events;
		v->coalesced += row->coalesced;
	}
	v->after_end += row->after_end > 0;
	v->empty += row->events == 0;
	row_unread(v, row);
	row_streaming(v, row);
	if (result_check(row) != RESULT_CHECKS) /* their lengths are limits */
		return;
	row_input(v, row);
	row_counts(v, row);
	if (verdict_valid_count(row->asked_output_tokens) && verdict_valid_count(row->output_tokens)) {
		int64_t requested = token_sum(v->requested_tokens, row->asked_output_tokens);
		int64_t received = token_sum(v->received_tokens, row->output_tokens);
		if (requested == IPF_ABSENT || received == IPF_ABSENT)
			return;
		v->rows_with_length++;
		v->exact_length += row->asked_output_tokens == row->output_tokens;
		v->requested_tokens = requested;
		v->received_tokens = received;
	}
}

const struct answer_health *verdict_answers(const struct verdict *v)
{
	return &v->answers;
}

int verdict_client(struct verdict *v, struct slice client, struct ipf_error *err)
{
	return client_health_line(&v->client, client, err);
}

/* The words come from a file. */
int verdict_transport(struct verdict *v, const json_t *findings)
{
	size_t i;
	json_t *finding;
	json_array_foreach((json_t *)findings, i, finding)
	{
		const char *detail = json_string_value(json_object_get(finding, "detail"));
		if (!v->predicted && detail && json_is_true(json_object_get(finding, "doubt")))
			verdict_note(v, VERDICT_SERVER, VERDICT_DOUBTFUL, "%s", shown(detail).text);
	}
	return v->failed ? -1 : 0;
}

void verdict_incomplete(struct verdict *v, const char *why)
{
	size_t len = strlen(v->incomplete);
	snprintf(v->incomplete + len, sizeof v->incomplete - len, "%s%s", len ? "; " : "", why);
}

void verdict_stopped(struct verdict *v, int64_t stage)
{
	v->stopped = stage < v->stopped ? stage : v->stopped;
}

static bool is_stopped(const struct verdict *v, const struct verdict_stage *stage)
{
	return stage - v->stages >= v->stopped;
}

__attribute__((format(printf, 4, 0))) static void add_note(struct verdict *v, enum verdict_question question,
                                                           enum verdict_status status, const char *format,
                                                           va_list values)
{
	char text[sizeof v->finding.checks->detail];
	vsnprintf(text, sizeof text, format, values);
	char *copy = array_one_more(v->notes, v->notes_count) ? strdup(text) : NULL;
	if (copy)
		v->notes[v->notes_count++] = (struct verdict_note){question, status, copy};
	else
		v->failed = true;
}

void verdict_note(struct verdict *v, enum verdict_question question, enum verdict_status status, const char *format,
                  ...)
{
	va_list values;
	va_start(values, format);
	add_note(v, question, status, format, values);
	va_end(values);
}

void verdict_unknown(struct verdict *v, enum verdict_question question, const char *format, ...)
{
	va_list values;
	v->unknown[question] = true;
	va_start(values, format);
	add_note(v, question, VERDICT_UNKNOWN, format, values);
	va_end(values);
}

void verdict_clocks(struct verdict *v, int64_t low_ns, int64_t high_ns, int64_t window_ns)
{
	char a[32], b[32];
	if (v->predicted || low_ns == IPF_ABSENT)
		return;
	double middle = ((double)low_ns + (double)high_ns) / 2, bound = ((double)high_ns - (double)low_ns) / 2;
	if (bound > (double)window_ns || fabs(middle) > (double)window_ns)
		verdict_note(v, VERDICT_LOAD, VERDICT_DOUBTFUL,
		             "the clocks of two shards are %s apart (to within %s): their windows do not belong together",
		             verdict_duration(fabs(middle) / 1e6, a), verdict_duration(bound / 1e6, b));
}

void verdict_predicted_apart(struct verdict *v)
{
	verdict_note(v, VERDICT_LOAD, VERDICT_INVALID,
	             "the parts of the run were predicted apart: none of them met the load of the others");
}

/* ---- judging ---- */

const char *const verdict_question_names[VERDICT_NAMES] = {
	[VERDICT_LOAD] = "load_delivered",    [VERDICT_CLIENT] = "client_headroom", [VERDICT_SERVER] = "server_answers",
	[VERDICT_SAMPLES] = "enough_samples", [VERDICT_CAPTURE] = "capture",
};

static const struct {
	int question; /* or VERDICT_CAPTURE */
	const char *text;
} rules[] = {
	{VERDICT_LOAD,
     "DOUBTFUL if less than 99 % of the scheduled load of a measured stage was delivered, INVALID below 95 %. "
     "The delivered share is the started share of its requests, times the time over which they should "
     "have started / the time over which they did start (both at least 1 s)."},
	{VERDICT_LOAD, "DOUBTFUL if the client's own lateness (client_lag) exceeds 10 ms at p99, INVALID above 100 ms."},
	{VERDICT_LOAD, "DOUBTFUL if more than 1 % of the requests of open-loop stages waited longer than 1 ms for a slot: "
                   "this is not the client's fault, but the load was not delivered as scheduled. Starts delayed by "
                   "slots alone are DOUBTFUL, never INVALID."},
	{VERDICT_LOAD,
     "DOUBTFUL if part of the run is missing (a cut stream, a stopped run), INVALID "
     "without any measured request. A run ended by ipf-collect --until-stable is whole; the rest of its schedule "
     "does not count."},
	{VERDICT_LOAD,
     "INVALID if a shard with requests is missing from the schedule: the load was not as scheduled. DOUBTFUL if the "
     "shards began more than 100 ms, and more than 5 % of the run, apart. "
     "DOUBTFUL if a repeat had another rate, by more than 1 %, or another number of users or slots in a stage than the "
     "first one. DOUBTFUL if the results have a series, and the clocks of two shards are further apart than one of its "
     "windows, or this is not known to within a window. INVALID if a twin predicted shards of one run apart."},
	{VERDICT_CLIENT,
     "DOUBTFUL if in one second of twenty (p95) the sending thread used more than 80 % of a core (INVALID "
     "above 95 %), waited for a core for more than 10 % of the time (INVALID above 50 %), was more than 10 ms "
     "late for a socket or a request (loop lag; INVALID above 100 ms), or read data more than 10 ms after the "
     "kernel received it (delay at p99; INVALID above 100 ms). DOUBTFUL if the client reported no such "
     "samples."},
	{VERDICT_CLIENT,
     "DOUBTFUL if requests could not be sent because the client had too many open files, INVALID if these are "
     "more than 1 % of the started requests. DOUBTFUL if more than 1 % of the kernel timestamps were "
     "implausible, or if the record queue was more than 90 % full."},
	{VERDICT_CLIENT, "DOUBTFUL if more than 5 % of the content events shared their read with another one (coalesced): "
                     "inter-token figures then reflect the network's packets, not the server's steps."},
	{VERDICT_CLIENT, "N/A, not applicable, for a predicted run (ipf-twin predict): no client measured it."},
	{VERDICT_CAPTURE,
     "For an observed run (ipf-prep capture), in the place of client_headroom; load_delivered is N/A. DOUBTFUL if packets of "
     "more than 1 % of the requests are missing (INVALID above 10 %; those that began before the capture or ended after it "
     "do not count), if more than 1 % of the connections with bytes were not understood, if the capture dropped more than "
     "0.1 % of the packets by its own count, or if their clock goes back by more than 1 ms. UNKNOWN without the end of the "
     "records."},
	{VERDICT_CLIENT, "DOUBTFUL if the client may have changed a figure by more than ipf-report --accuracy allows."},
	{VERDICT_SERVER, "DOUBTFUL if more than 1 % of the requests failed, INVALID above 5 %. Requests cancelled by "
                     "ipf-fire at the end, and resets of kept-alive connections already closed by the server "
                     "(stale), are counted separately; more than 1 % cancelled is DOUBTFUL. Requests from which "
                     "ipf-fire disconnected on purpose do not count."},
	{VERDICT_SERVER,
     "DOUBTFUL if the content of more than 1 % of the successful responses went on after their end mark: "
     "the server or the API descriptor is wrong about where a response ends."},
	{VERDICT_SERVER,
     "DOUBTFUL if more than 1 % of the successful responses are empty: they have tokens perhaps, but no latency."},
	{VERDICT_SERVER, "DOUBTFUL if streaming was requested, but more than 1 % of the successful responses came as a "
                     "whole, or more than 5 % of the streamed ones of more than 8 tokens as a single event: the former "
                     "have no ttft, and the ttft of the latter is the time of the whole response."},
	{VERDICT_SERVER,
     "DOUBTFUL if the usage of more than 1 % of the successful responses contradicts their content: fewer output tokens "
     "than content events, more than bytes, or more cached input tokens than input tokens."},
	{VERDICT_SERVER,
     "DOUBTFUL if more than 1 % of the events of the successful responses have text of which the API descriptor reads "
     "nothing."},
	{VERDICT_SERVER,
     "DOUBTFUL if more than 1 % of the successful responses ended for another reason than stop, length or "
     "tool calls."},
	{VERDICT_SERVER, "DOUBTFUL if the output tokens of the successful requests differ by more than 10 % from those "
                     "requested, or their input tokens, as the server reports them, by more than 25 % and 64 tokens a "
                     "request from those of the trace."},
	{VERDICT_SERVER,
     "INVALID if the prefix cache was declared cold (ipf-fire --cache, or cache=cold of a stage), and the reset failed or "
     "the probe was still in the cache; DOUBTFUL if nothing verifies the reset, or if requests that were to fill the cache "
     "failed."},
	{VERDICT_SAMPLES,
     "OK with 459 successful requests or more in each measured stage (enough for its p99 at 99 % confidence), "
     "DOUBTFUL with fewer, INVALID with none; DOUBTFUL if a measured stage has no requests, or no successful one."},
	{VERDICT_SAMPLES,
     "DOUBTFUL if more than 1 % of the successful requests of a measured stage have a prompt sent before in this run "
     "or an earlier run of the search (those of ipf-fire --warm do not count), or if more than 1 % of the prompts of "
     "the "
     "trace repeat an earlier one and were not recorded so: a prefix cache makes them faster."},
	{VERDICT_SAMPLES,
     "DOUBTFUL if the server's prefix cache had more than 1 % of the prompt tokens that the run sent for the first "
     "time (ipf-report --trace): it was warm from earlier requests, or shared with others. Without --trace, each "
     "prompt counted once: if the cache had a larger share of the input tokens than the trace allows, by more than 1 "
     "% and what the comparison can be off by: a block of 16 tokens a request, a chat template of 64, or what the "
     "server counts more than the trace, in front of what is not shared, three standard errors of the estimate, and "
     "20 % of (what is shared x what is not) for tokens of uneven length. A repeat counts by itself: it finds what "
     "the one before has sent, unless the cache is emptied between."},
	{VERDICT_SAMPLES,
     "The same, over all requests, by the servers' own counters of the prefix cache, if they were sampled and the responses "
     "do not report cached tokens; prompts sent again may all be found. After a reset (cache=cold of a stage) "
     "prompts count as sent for the first time again. A cache filled on purpose (ipf-fire --cache warm) is DOUBTFUL if it "
     "had less than half of the tokens."},
	{VERDICT_SAMPLES, "DOUBTFUL if the requests that ended within the window of a measured stage are less than "
                      "50 % of those that it started."},
	{VERDICT_SAMPLES,
     "DOUBTFUL if the run was to end when stable (ipf-collect --until-stable) and came to its end before."},
};

const char *verdict_status_name(enum verdict_status status)
{
	static const char *const names[] = {"OK", "DOUBTFUL", "INVALID", "UNKNOWN", "N/A"};
	return names[status];
}

const char *verdict_rule(size_t i, const char **about)
{
	if (i >= sizeof rules / sizeof *rules)
		return NULL;
	*about = verdict_question_names[rules[i].question];
	return rules[i].text;
}

static double ms_of(const struct histogram *h, double p)
{
	return histogram_percentile(h, p) / 1e6;
}

static bool lateness_figures(json_t *to, const char *name, const struct histogram *h)
{
	if (histogram_count(h) == 0)
		return true;
	json_t *map = json_object();
	return json_object_set_new(to, name, map) == 0 && verdict_figure(map, "p50", ms_of(h, 50)) &&
	       verdict_figure(map, "p99", ms_of(h, 99)) && verdict_figure(map, "p99.9", ms_of(h, 99.9)) &&
	       verdict_figure(map, "max", (double)histogram_max(h) / 1e6);
}

static int64_t scheduled_of(const struct verdict *v, const struct verdict_stage *stage)
{
	return v->shards ? stage->scheduled_most : stage->scheduled;
}

/* The rate of the stage's starts as a share of the scheduled rate; 1 if they took no longer than scheduled. */
static double pace_of(const struct verdict_stage *stage)
{
	double planned = (double)due_span_of(stage), taken = (double)start_span_of(stage);
	double floor_ns = fmax(planned, 1e9);
	return taken > planned ? floor_ns / (floor_ns + taken - planned) : 1;
}

/* By its number if no schedule named it so far. */
static const char *name_of(const struct verdict *v, const struct verdict_stage *stage, char number[32])
{
	snprintf(number, 32, "stage %td", stage - v->stages);
	return stage->name ? stage->name : number;
}

struct stages_load {
	int64_t scheduled, started; /* for stages with a schedule */
	int64_t closed_loop;        /* started in stages without a schedule */
	int64_t stopped;            /* started in the stage in which the run was ended, if it had a schedule */
	int64_t timed, waited;      /* with a due time; of these, waited noticeably for a slot */
	double delivered;           /* the worst stage's; NAN */
};

static void judge_stage_load(const struct verdict *v, const struct verdict_stage *stage, struct verdict_check *check,
                             struct stages_load *load)
{
	load->timed += stage->timed;
	load->waited += stage->waited;
	int64_t scheduled = stage->cycle ? 0 : scheduled_of(v, stage);
	if (scheduled == 0) {
		load->closed_loop += stage->started;
		return;
	}
	const bool stopped = is_stopped(v, stage);
	load->scheduled += stopped ? 0 : scheduled;
	*(stopped ? &load->stopped : &load->started) += stage->started;
	double started = stopped ? 1 : (double)stage->started / (double)scheduled, pace = pace_of(stage);
	load->delivered = fmin(isnan(load->delivered) ? 1 : load->delivered, fmin(started, 1) * pace);
	char share[32], number[32];
	if (started < VERDICT_DELIVERED_DOUBTFUL)
		verdict_check_add(check, started < VERDICT_DELIVERED_INVALID ? VERDICT_INVALID : VERDICT_DOUBTFUL,
		                  "%s: only %s of %s scheduled requests were started", name_of(v, stage, number),
		                  VERDICT_NUMBER(stage->started), VERDICT_NUMBER(scheduled));
	if (pace >= VERDICT_DELIVERED_DOUBTFUL)
		return;
	bool slots = (double)stage->waited > VERDICT_SLOTS_DOUBTFUL * (double)stage->timed;
	verdict_check_add(check, slots || pace >= VERDICT_DELIVERED_INVALID ? VERDICT_DOUBTFUL : VERDICT_INVALID,
	                  "%s: started at %s of the scheduled pace%s", name_of(v, stage, number),
	                  verdict_percent(pace, share), slots ? ", held back by its slots" : "");
}

static bool judge_load(struct verdict *v, struct verdict_check *check)
{
	struct stages_load load = {.delivered = NAN};
	char a[32], b[32];
	if (v->observed) {
		verdict_check_add(check, VERDICT_NOT_APPLICABLE, "not applicable: observed, users sent the load");
		return true;
	}
	if (v->incomplete[0])
		verdict_check_add(check, VERDICT_DOUBTFUL, "part of the run is missing: %s", v->incomplete);
	if (v->rows == 0)
		verdict_check_add(check, VERDICT_INVALID, "no measured requests");
	for (size_t i = 0; i < v->count; i++)
		if (v->stages[i].measured)
			judge_stage_load(v, &v->stages[i], check, &load);
	if (load.stopped > 0)
		verdict_check_add(check, VERDICT_OK, "%s request%s until the run was ended on purpose",
		                  VERDICT_NUMBER(load.stopped), verdict_plural(load.stopped));
	double late = histogram_count(v->client_lag) ? ms_of(v->client_lag, 99) : 0;
	if (load.scheduled > 0 && load.started == load.scheduled)
		verdict_check_add(check, VERDICT_OK,
		                  load.started == 1 ? "the one scheduled request was started"
		                                    : "all %s scheduled requests were started",
		                  VERDICT_NUMBER(load.started));
	if (load.closed_loop > 0)
		verdict_check_add(check, VERDICT_OK, "%s request%s in closed loop", VERDICT_NUMBER(load.closed_loop),
		                  verdict_plural(load.closed_loop));
	if (histogram_count(v->client_lag) > 0 && !v->predicted)
		verdict_check_add(check, verdict_above(late, VERDICT_LATE_DOUBTFUL_MS, VERDICT_LATE_INVALID_MS),
		                  "the client was %s late at p99, %s at most%s", verdict_duration(late, a),
		                  verdict_duration((double)histogram_max(v->client_lag) / 1e6, b),
		                  late > VERDICT_LATE_DOUBTFUL_MS ? ": client_headroom may say why" : "");
	double waited = load.timed ? (double)load.waited / (double)load.timed : 0;
	if (load.waited > 0)
		verdict_check_add(check, verdict_above(waited, VERDICT_SLOTS_DOUBTFUL, INFINITY),
		                  "%s of the requests waited for a slot (p99 %s): a limit of the stage, not of the client",
		                  verdict_percent(waited, a), verdict_duration(ms_of(v->slot_wait, 99), b));
	json_t *f = check->figures;
	return (load.scheduled == 0 || verdict_count(f, "scheduled", load.scheduled)) &&
	       verdict_count(f, "started", load.started + load.closed_loop + load.stopped) &&
	       verdict_figure(f, "delivered", load.delivered) && lateness_figures(f, "lag_ms", v->lag) &&
	       lateness_figures(f, "client_lag_ms", v->client_lag) && lateness_figures(f, "slot_wait_ms", v->slot_wait) &&
	       (load.timed == 0 || verdict_figure(f, "waited_for_slot", waited));
}

static bool judge_client(struct verdict *v, struct verdict_check *check)
{
	char text[32];
	if (v->observed) {
		check->name = verdict_question_names[VERDICT_CAPTURE];
		return capture_health_judge(v->capture, v->rows, v->errors[VERDICT_UNSEEN], check);
	}
	if (v->predicted) {
		verdict_check_add(check, VERDICT_NOT_APPLICABLE, "not applicable: predicted");
		return true;
	}
	if (!client_health_judge(&v->client, v->first_start, v->last_end, check))
		return false;
	if (v->events == 0)
		return true;
	double share = (double)v->coalesced / (double)v->events;
	if (share > VERDICT_COALESCED_DOUBTFUL)
		verdict_check_add(check, VERDICT_DOUBTFUL,
		                  "%s of the content events shared a read: do not trust ITL, TPOT and stalls",
		                  verdict_percent(share, text));
	return verdict_figure(check->figures, "coalesced", share);
}

/* Such as "3 timeout, 1 cut". */
static void list_kinds(const struct verdict *v, char *text, size_t size)
{
	text[0] = 0;
	for (size_t i = 0; i < VERDICT_KINDS; i++) {
		size_t len = strlen(text);
		if (v->errors[i] > 0 && !verdict_uncounted((int64_t)i))
			snprintf(text + len, size - len, "%s%s %s", len ? ", " : "", VERDICT_NUMBER(v->errors[i]),
			         verdict_kinds[i]);
	}
}

static bool judge_errors(struct verdict *v, struct verdict_check *check)
{
	json_t *f = check->figures, *kinds = json_object();
	int64_t hung_up = v->errors[VERDICT_HUNG_UP], asked = v->rows - hung_up - v->errors[VERDICT_UNSEEN],
			failed = asked - v->ok, cancelled = v->errors[VERDICT_CANCELLED];
	int64_t theirs = failed - cancelled - v->stale;
	bool ok = verdict_count(f, "requests", v->rows) && verdict_count(f, "failed", failed);
	ok = json_object_set_new(f, "errors", kinds) == 0 && ok && (!hung_up || verdict_count(f, "hung_up", hung_up));
	for (size_t i = 0; ok && i < VERDICT_KINDS; i++)
		ok = v->errors[i] == 0 || verdict_uncounted((int64_t)i) || verdict_count(kinds, verdict_kinds[i], v->errors[i]);
	if (v->rows == 0) {
		verdict_check_add(check, VERDICT_INVALID, "no requests were sent");
		return ok;
	}
	char list[256], share[32];
	double rows = asked ? (double)asked : 1;
	list_kinds(v, list, sizeof list);
	if (failed == 0)
		verdict_check_add(check, VERDICT_OK, "no errors in %s request%s", VERDICT_NUMBER(asked), verdict_plural(asked));
	else
		verdict_check_add(check, verdict_above((double)theirs / rows, VERDICT_ERRORS_DOUBTFUL, VERDICT_ERRORS_INVALID),
		                  "%s of %s request%s failed (%s): %s", VERDICT_NUMBER(failed), VERDICT_NUMBER(asked),
		                  verdict_plural(asked), verdict_percent((double)failed / rows, share), list);
	if ((double)cancelled / rows > VERDICT_CANCELLED_DOUBTFUL)
		verdict_check_add(check, VERDICT_DOUBTFUL, "the client cancelled %s of the requests at the end of the run",
		                  verdict_percent((double)cancelled / rows, share));
	if (hung_up > 0)
		verdict_check_add(check, VERDICT_OK, "the client disconnected from %s more request%s%s",
		                  VERDICT_NUMBER(hung_up), verdict_plural(hung_up), v->observed ? "" : " on purpose");
	if (v->stale > 0)
		verdict_check_add(check, VERDICT_OK,
		                  "%s reset%s on kept-alive connections closed by the server "
		                  "(ipf-fire --connections fresh avoids them)",
		                  VERDICT_NUMBER(v->stale), verdict_plural(v->stale));
	return ok && verdict_figure(f, "error_share", (double)theirs / rows) && verdict_count(f, "stale_resets", v->stale);
}

static bool judge_ends(struct verdict *v, struct verdict_check *check)
{
	char share[32];
	if (v->after_end == 0)
		return true;
	double after = (double)v->after_end / (double)v->ok;
	verdict_check_add(check, verdict_above(after, VERDICT_AFTER_END_DOUBTFUL, INFINITY),
	                  "the content of %s response%s (%s) went on after the end mark", VERDICT_NUMBER(v->after_end),
	                  verdict_plural(v->after_end), verdict_percent(after, share));
	return verdict_count(check->figures, "after_end", v->after_end);
}

static bool judge_empty(struct verdict *v, struct verdict_check *check)
{
	char text[32];
	if (v->empty == 0)
		return true;
	double empty = (double)v->empty / (double)v->ok;
	verdict_check_add(check, verdict_above(empty, VERDICT_EMPTY_DOUBTFUL, INFINITY),
	                  "%s response%s (%s) %s complete, but empty", VERDICT_NUMBER(v->empty), verdict_plural(v->empty),
	                  verdict_percent(empty, text), v->empty == 1 ? "is" : "are");
	return verdict_count(check->figures, "empty", v->empty);
}

static bool judge_streaming(struct verdict *v, struct verdict_check *check)
{
	char text[32];
	json_t *f = check->figures;
	double ignored = (double)v->stream_ignored / (double)v->ok, /* NAN of none */
		lumped = (double)v->one_event / (double)v->streamed;
	if (v->stream_ignored > 0)
		verdict_check_add(check, verdict_above(ignored, VERDICT_NOT_STREAMED_DOUBTFUL, INFINITY),
		                  "streaming was requested, but %s response%s (%s) came as a whole and %s no TTFT",
		                  VERDICT_NUMBER(v->stream_ignored), verdict_plural(v->stream_ignored),
		                  verdict_percent(ignored, text), v->stream_ignored == 1 ? "has" : "have");
	if (lumped > VERDICT_ONE_EVENT_DOUBTFUL)
		verdict_check_add(check, VERDICT_DOUBTFUL,
		                  "%s of the streamed responses of more than %d tokens came as a single event: their TTFT is "
		                  "the time of the whole response",
		                  verdict_percent(lumped, text), VERDICT_ONE_EVENT_TOKENS);
	return (!v->stream_ignored || verdict_count(f, "stream_ignored", v->stream_ignored)) &&
	       (!v->one_event || verdict_figure(f, "single_event", lumped));
}

/* Counts of tokens that cannot all be true, and those without evidence in the events. */
static bool judge_counts(struct verdict *v, struct verdict_check *check)
{
	static const char *const texts[RESULT_DOUBTS] = {
		[RESULT_USAGE_BELOW_EVENTS] = "counts fewer output tokens than there are content events",
		[RESULT_USAGE_ABOVE_CONTENT] = "counts more output tokens than there are bytes of content",
		[RESULT_CACHED_ABOVE_INPUT] = "counts more cached input tokens than input tokens"};
	char share[32], first[64];
	bool ok = true;
	for (int i = RESULT_USAGE_BELOW_EVENTS; i < RESULT_DOUBTS; i++) {
		double part = (double)v->doubts[i].rows / (double)v->ok;
		if (!v->doubts[i].rows)
			continue;
		first[0] = '\0';
		if (i != RESULT_CACHED_ABOVE_INPUT)
			snprintf(first, sizeof first, ", the first %lld for %lld events", (long long)v->doubts[i].usage,
			         (long long)v->doubts[i].events);
		verdict_check_add(check, verdict_above(part, VERDICT_COUNTS_DOUBTFUL, INFINITY),
		                  "the usage of %s response%s (%s) %s%s", VERDICT_NUMBER(v->doubts[i].rows),
		                  verdict_plural(v->doubts[i].rows), verdict_percent(part, share), texts[i], first);
		ok = ok && verdict_count(check->figures, result_doubt_names[i], v->doubts[i].rows);
	}
	if (v->hidden_rows > 0)
		verdict_check_add(check, VERDICT_OK,
		                  "%s response%s generated tokens before the first event that were not sent, %.3g on average "
		                  "(reasoning): TPOT does not count them",
		                  VERDICT_NUMBER(v->hidden_rows), verdict_plural(v->hidden_rows),
		                  (double)v->hidden_tokens / (double)v->hidden_rows);
	return ok && (!v->hidden_rows || (verdict_count(check->figures, "hidden_tokens", v->hidden_tokens) &&
	                                  verdict_count(check->figures, "hidden_responses", v->hidden_rows)));
}

/* Text that no pointer of the descriptor reads: the answers may be longer, and begin earlier, than it says. */
static bool judge_unread(struct verdict *v, struct verdict_check *check)
{
	if (v->unread == 0)
		return true;
	verdict_check_add(check, verdict_above((double)v->unread / (double)v->unread_of, VERDICT_UNREAD_DOUBTFUL, INFINITY),
	                  "%s of %s events have text unread by the descriptor of the API (ipf-collect --explain)",
	                  VERDICT_NUMBER(v->unread), VERDICT_NUMBER(v->unread_of));
	return verdict_count(check->figures, "unread_events", v->unread);
}

static bool judge_reasons(struct verdict *v, struct verdict_check *check)
{
	char share[32];
	double early = (double)v->early / (double)v->ok;
	if (v->early == 0)
		return true;
	verdict_check_add(check, verdict_above(early, VERDICT_EARLY_DOUBTFUL, INFINITY),
	                  "%s response%s (%s) ended for another reason than stop or length", VERDICT_NUMBER(v->early),
	                  verdict_plural(v->early), verdict_percent(early, share));
	return verdict_count(check->figures, "ended_early", v->early);
}

static bool judge_lengths(struct verdict *v, struct verdict_check *check)
{
	if (v->rows_with_length == 0 || v->requested_tokens == 0)
		return true;
	double got = (double)v->received_tokens / (double)v->requested_tokens;
	char share[32];
	double off = fabs((double)(v->received_tokens - v->requested_tokens)),
		   least = VERDICT_LENGTH_DOUBTFUL * (double)v->requested_tokens;
	verdict_check_add(check, verdict_above(off, least, INFINITY), "outputs had %s of the requested tokens%s",
	                  verdict_percent(got, share),
	                  off <= least || got >= 1 ? ""
	                  : v->short_stop >= v->short_length
	                      ? ": they ended by themselves (ipf-fire --exact-output asks for all)"
	                      : ", although they ended at the limit (finish reason length)");
	json_t *f = check->figures;
	return verdict_count(f, "asked_output_tokens", v->requested_tokens) &&
	       verdict_count(f, "output_tokens", v->received_tokens) && verdict_figure(f, "output_share", got) &&
	       verdict_figure(f, "exactly_as_asked", (double)v->exact_length / (double)v->rows_with_length);
}

/* Checks the measured stages with successful responses, since each has its own percentiles. */
struct stages_samples {
	const struct verdict_stage *least; /* with the fewest; NULL: no response at all */
	int64_t stages, few;               /* few: with fewer than a p99 needs */
};

/* A checked answer is in no latency. */
static int64_t samples_in(const struct verdict_stage *stage)
{
	return stage->ok - stage->checked;
}

static struct stages_samples samples_of(const struct verdict *v, int64_t p99)
{
	struct stages_samples samples = {0};
	for (size_t i = 0; i < v->count; i++) {
		const struct verdict_stage *stage = &v->stages[i];
		if (!stage->measured || samples_in(stage) == 0)
			continue;
		samples.stages++;
		samples.few += samples_in(stage) < p99;
		if (!samples.least || samples_in(stage) < samples_in(samples.least))
			samples.least = stage;
	}
	return samples;
}

static void say_samples(const struct verdict *v, struct verdict_check *check, int64_t p90, int64_t p99)
{
	const struct stages_samples samples = samples_of(v, p99);
	char number[32], where[160] = "", of[96] = "";
	if (v->ok == v->checked)
		verdict_check_add(check, VERDICT_INVALID, "no successful response to measure");
	if (!samples.least)
		return;
	int64_t ok = samples_in(samples.least);
	if (samples.stages > 1 && samples.few > 0) {
		snprintf(where, sizeof where, " of %.120s", name_of(v, samples.least, number));
		snprintf(of, sizeof of, "; %s of %s stages have too few for p99", VERDICT_NUMBER(samples.few),
		         VERDICT_NUMBER(samples.stages));
	}
	if (samples.few == 0)
		verdict_check_add(check, VERDICT_OK,
		                  samples.stages > 1 ? "%s responses or more in each stage, enough for p99 (%s needed)"
		                                     : "%s responses, enough for p99 (%s needed)",
		                  VERDICT_NUMBER(ok), VERDICT_NUMBER(p99));
	else if (ok < p90)
		verdict_check_add(check, VERDICT_DOUBTFUL, "%s response%s%s: too few even for p90, which needs %s%s",
		                  VERDICT_NUMBER(ok), verdict_plural(ok), where, VERDICT_NUMBER(p90), of);
	else
		verdict_check_add(check, VERDICT_DOUBTFUL,
		                  "%s responses%s are enough for p90 but not for p99, which needs %s%s", VERDICT_NUMBER(ok),
		                  where, VERDICT_NUMBER(p99), of);
}

/* Prompts of another length than the trace says: its tokenizer is not the server's. */
static bool judge_input(struct verdict *v, struct verdict_check *check)
{
	if (v->rows_with_input == 0 || v->asked_input == 0)
		return true;
	double off = fabs((double)(v->received_input - v->asked_input)),
		   got = (double)v->received_input / (double)v->asked_input;
	char share[32];
	if (off > VERDICT_INPUT_DOUBTFUL * (double)v->asked_input &&
	    off > VERDICT_TEMPLATE_TOKENS * (double)v->rows_with_input)
		verdict_check_add(
			check, VERDICT_DOUBTFUL,
			"prompts had %s of the tokens in the trace: its counts are not those of the server's tokenizer "
			"(ipf-prep -t names it)",
			verdict_percent(got, share));
	return verdict_figure(check->figures, "input_share", got);
}

static bool judge_samples(struct verdict *v, struct verdict_check *check)
{
	json_t *f = check->figures, *empty = json_array();
	char number[32];
	int64_t p90 = (int64_t)samples_needed(90), p99 = (int64_t)samples_needed(99);
	bool ok = verdict_count(f, "samples", v->ok - v->checked) && verdict_count(f, "needed_p90", p90) &&
	          verdict_count(f, "needed_p99", p99);
	const struct verdict_stage *least = samples_of(v, p99).least;
	ok = ok && (!least || verdict_count(f, "samples_least", samples_in(least)));
	say_samples(v, check, p90, p99);
	for (size_t i = 0; ok && i < v->count; i++) {
		const struct verdict_stage *stage = &v->stages[i];
		if (!stage->measured || stage->ok > 0 || v->ok == 0 || (is_stopped(v, stage) && stage->started == 0))
			continue;
		const char *name = name_of(v, stage, number);
		verdict_check_add(check, VERDICT_DOUBTFUL, "%s has %s", name,
		                  scheduled_of(v, stage) > 0 ? "no successful response" : "no requests");
		ok = json_array_append_new(empty, json_string(name)) == 0;
	}
	ok = (json_array_size(empty) == 0 || json_object_set(f, "empty_stages", empty) == 0) && ok;
	json_decref(empty);
	return ok;
}

/* Successful requests whose prompts earlier runs of a search sent. How far a stage that cycles got in its lines, only
 * the results know; it begins with those that were not sent. */
static int64_t sent_by_earlier_runs(const struct verdict_stage *stage)
{
	int64_t different = stage->ok - stage->repeated,
			again = stage->cycle ? different - (stage->scheduled - stage->sent_before) : stage->sent_before;

	return stage->sent_before == 0 || again < 0 ? 0 : again < different ? again : different;
}

/* Prompts that repeat: their answers come faster from a server with a prefix cache, and are no samples of their own. */
static bool judge_repeats(struct verdict *v, struct verdict_check *check)
{
	int64_t repeated = 0, before = 0;
	bool many = false, many_before = false;
	for (size_t i = 0; i < v->count; i++)
		if (v->stages[i].measured) {
			repeated += v->stages[i].repeated;
			many |= (double)v->stages[i].repeated > VERDICT_REPEATS_DOUBTFUL * (double)v->stages[i].ok;
			int64_t again = sent_by_earlier_runs(&v->stages[i]);
			before += again;
			many_before |= (double)again > VERDICT_REPEATS_DOUBTFUL * (double)v->stages[i].ok;
		}
	if (many)
		verdict_check_add(check, VERDICT_DOUBTFUL,
		                  "%s of %s responses are to prompts sent before: a prefix cache makes them faster",
		                  VERDICT_NUMBER(repeated), VERDICT_NUMBER(v->ok));
	if (many_before)
		verdict_check_add(
			check, VERDICT_DOUBTFUL,
			"%s of %s responses are to prompts sent in earlier runs of the search: a prefix cache makes them faster",
			VERDICT_NUMBER(before), VERDICT_NUMBER(v->ok));
	if (v->trace_repeated_prompts > 0 &&
	    (double)v->trace_repeated_prompts > VERDICT_REPEATS_DOUBTFUL * (double)v->trace_requests)
		verdict_check_add(check, VERDICT_DOUBTFUL,
		                  "%s of %s prompts of the trace repeat an earlier one: a prefix cache makes them faster",
		                  VERDICT_NUMBER(v->trace_repeated_prompts), VERDICT_NUMBER(v->trace_requests));
	return (repeated == 0 || verdict_count(check->figures, "repeated_prompts", repeated)) &&
	       (before == 0 || verdict_count(check->figures, "prompts_of_earlier_runs", before)) &&
	       (v->trace_repeated_prompts == 0 ||
	        verdict_count(check->figures, "trace_repeated_prompts", v->trace_repeated_prompts));
}

static bool judge_question(struct verdict *v, enum verdict_question question, struct verdict_check *check)
{
	if (v->unknown[question]) {
		if (question == VERDICT_LOAD && v->incomplete[0])
			verdict_check_add(check, VERDICT_DOUBTFUL, "part of the run is missing: %s", v->incomplete);
		return true;
	}
	switch (question) {
	case VERDICT_LOAD:
		return judge_load(v, check);
	case VERDICT_CLIENT:
		return judge_client(v, check);
	case VERDICT_SERVER:
		return judge_errors(v, check) && judge_ends(v, check) && judge_empty(v, check) && judge_streaming(v, check) &&
		       judge_unread(v, check) && judge_reasons(v, check) && judge_counts(v, check) && judge_lengths(v, check) &&
		       judge_input(v, check) && answer_health_judge(&v->answers, check);
	default:
		return judge_samples(v, check) && judge_repeats(v, check) && warm_cache_judge(&v->cache, check);
	}
}

bool verdict_is_empty(const struct verdict *v)
{
	return v->rows == 0;
}

const struct verdict_finding *verdict_judge(struct verdict *v)
{
	if (v->failed || client_health_failed(&v->client) || v->seen.failed || v->cache.sent.failed ||
	    answer_health_failed(&v->answers))
		return NULL;
	struct verdict_finding *finding = &v->finding;
	for (size_t i = 0; i < VERDICT_QUESTIONS; i++) {
		json_decref(finding->checks[i].figures);
		finding->checks[i] = (struct verdict_check){.name = verdict_question_names[i], .figures = json_object()};
		if (!finding->checks[i].figures)
			return NULL;
	}
	for (size_t i = 0; i < v->notes_count; i++)
		verdict_check_add(&finding->checks[v->notes[i].question], v->notes[i].status, "%s", v->notes[i].text);
	for (enum verdict_question q = 0; q < VERDICT_QUESTIONS; q++)
		if (!judge_question(v, q, &finding->checks[q]))
			return NULL;
	finding->status = VERDICT_OK;
	for (size_t i = 0; i < VERDICT_QUESTIONS; i++)
		if (finding->checks[i].status != VERDICT_NOT_APPLICABLE)
			finding->status = verdict_worse(finding->status, finding->checks[i].status);
	return finding;
}

json_t *verdict_json(struct verdict *v)
{
	const struct verdict_finding *finding = verdict_judge(v);
	json_t *checks = json_array();
	json_t *verdict = finding
	                      ? json_pack("{s:s, s:O}", "status", verdict_status_name(finding->status), "checks", checks)
	                      : NULL;
	if (verdict && v->predicted && json_object_set_new(verdict, "predicted", json_true()) < 0) {
		json_decref(verdict);
		verdict = NULL;
	}
	if (verdict && v->observed && json_object_set_new(verdict, OBSERVED_MEMBER, json_true()) < 0) {
		json_decref(verdict);
		verdict = NULL;
	}
	for (size_t i = 0; verdict && i < VERDICT_QUESTIONS; i++) {
		const struct verdict_check *check = &finding->checks[i];
		json_t *one = json_pack("{s:s, s:s, s:s}", "name", check->name, "status", verdict_status_name(check->status),
		                        "detail", check->detail);
		json_t *cause = check->deciding > 0 ? json_stringn(check->detail, check->deciding) : NULL;
		if (!one || (cause && json_object_set_new(one, "cause", cause) < 0) ||
		    json_object_update_missing(one, check->figures) < 0 || json_array_append_new(checks, one) < 0) {
			json_decref(verdict);
			verdict = NULL;
		}
	}
	json_decref(checks);
	return verdict;
}

json_t *verdict_checks_json(const struct verdict_finding *finding)
{
	json_t *verdict = json_object(), *checks = json_array();
	json_object_set_new(verdict, "status", json_string(verdict_status_name(finding->status)));
	for (size_t i = 0; i < VERDICT_QUESTIONS; i++) {
		const struct verdict_check *check = &finding->checks[i];
		json_array_append_new(checks,
		                      json_pack("{s:s, s:s, s:s}", "name", check->name, "status",
		                                verdict_status_name(check->status), "detail", shown(check->detail).text));
	}
	json_object_set_new(verdict, "checks", checks);
	return verdict;
}
