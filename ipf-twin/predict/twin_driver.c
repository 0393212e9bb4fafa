#include "predict/twin_driver.h"

#include "absent.h"
#include "batching/kv_cache.h"
#include "cli/interrupt.h"
#include "cli/units.h"
#include "clock.h"
#include "dispatch/dispatch.h"
#include "stream/schedule.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HELD_BYTES  (INT64_C(32) << 20) /* requests read and not started, before reading stops */
#define LOOK_EVERY  1024                /* moments between looks at signals and the progress line */
#define INPUT_MS    50                  /* between looks at signals while the schedule is awaited */
#define ANSWERED_NS NS_PER_MS           /* a refusal takes this long, or else a closed loop of them would not end */
#define LEAST_NS    NS_PER_US           /* … nor one of requests cancelled at once */

/* A replica's requests in flight. */
struct twin_load {
	int64_t sequences, tokens;
};

struct twin_driver {
	struct twin_driver_options o;
	struct dispatch *dispatch;
	struct deadline_heap deadlines; /* for all in flight */
	struct twin_load *loads;
	struct twin_request *spare;
	struct buffer line;
	struct twin_scratch scratch;
	bool *lane_ended;
	size_t lanes;
	int64_t now_ns, grace_end_ns, held_bytes, bytes;
	bool cache;                                         /* prefixes are */
	int64_t draft_tokens;                               /* a step's for each sequence */
	char no_token[96], not_answered[96], too_large[96]; /* error texts of the records */
	struct twin_driver_result result;
	struct ipf_error error; /* after which the run ends at once */
};

static struct sender_counters *counters_of(struct twin_driver *d)
{
	return &d->o.counters->senders[0];
}

/* Starts nothing more. */
static void stop(struct twin_driver *d)
{
	if (d->grace_end_ns != INT64_MAX)
		return;
	dispatch_stop(d->dispatch);
	d->grace_end_ns = d->now_ns + d->o.options->run.grace_ns;
}

/* It goes on with nothing: in flight or not, requests take too much memory. */
static void stop_full(struct twin_driver *d)
{
	char text[32];
	stop(d);
	d->grace_end_ns = d->now_ns;
	if (!*d->result.stopped)
		snprintf(d->result.stopped, sizeof d->result.stopped, "stopped: requests in flight exceed %s (--memory)",
		         format_size(d->o.memory_most, text));
}

static void count_bytes(struct twin_driver *d, struct twin_request *q, int64_t more)
{
	q->counted += more;
	d->bytes += more;
	if (d->bytes > d->o.memory_most)
		stop_full(d);
}

static void release(struct twin_driver *d, struct twin_request *q)
{
	d->bytes -= q->counted;
	twin_request_recycle(&d->spare, q);
}

static int64_t held_bytes(const struct twin_request *q)
{
	return q->follows ? 0 : q->counted;
}

/* ---- records ---- */

static int write_part(void *data, size_t bytes)
{
	struct twin_driver *d = data;
	(void)bytes;
	return stream_writer_within_line(d->o.writer, &d->error);
}

static void write_record(struct twin_driver *d, const struct twin_request *q)
{
	const struct twin_record_options how = {
		.target = d->o.options->replicas.most > 1 && q->answer.replica != TWIN_NO_REPLICA ? (int64_t)q->answer.replica
	                                                                                      : IPF_ABSENT,
		.cache = d->cache,
		.draft_tokens = d->draft_tokens,
	};
	struct record record;
	if (d->error.kind)
		return;
	if (!twin_request_record(q, &how, &d->scratch, &record)) {
		ipf_error_memory(&d->error);
		return;
	}
	counter_count(&counters_of(d)->bytes, (int64_t)record.body.len);
	if (record_append(&record, stream_writer_begin_line(d->o.writer), write_part, d) == 0)
		stream_writer_end_line(d->o.writer, &d->error);
}

/* The client's own actions are no failure of the server. */
static void tally(struct twin_driver *d, const struct twin_request *q, const char *message)
{
	if (q->error == RECORD_OK)
		failure_tally_add(d->o.failures, slice_of("http-status"), q->status, slice_of(message));
	else if (q->error != RECORD_CANCELLED)
		failure_tally_add(d->o.failures, slice_of(record_error_name(q->error)), q->status, slice_of(q->error_text));
}

static void count(struct twin_driver *d, const struct twin_request *q, bool failed)
{
	struct sender_counters *c = counters_of(d);
	if (!arrival_reader_schedule(d->o.arrivals)->stages[q->stage].measured) {
		counter_count(&c->unmeasured_done, 1);
		counter_count(&c->unmeasured_failed, failed);
	}
	counter_count(&c->done, 1);
	counter_count(&c->failed, failed);
	counter_count(&c->failed_by[q->error], failed);
	counter_count(&c->reads, (int64_t)q->events_count);
}

/* It is in nobody's hands: how it ended, and why. */
static void end_request(struct twin_driver *d, struct twin_request *q, enum record_error error, const char *why)
{
	bool failed = error != RECORD_HUNG_UP && (error != RECORD_OK || q->status != 200);
	deadline_heap_remove(&d->deadlines, &q->deadline);
	q->end_ns = d->now_ns;
	q->error = error;
	if (error != RECORD_OK)
		snprintf(q->error_text, sizeof q->error_text, "%s", why);
	if (q->answer.replica != TWIN_NO_REPLICA) {
		d->loads[q->answer.replica].sequences -= !q->refused;
		d->loads[q->answer.replica].tokens -= q->held;
		balance_ended(d->o.balance, q->answer.replica);
	}
	count(d, q, failed);
	if (failed)
		tally(d, q, why);
	dispatch_ended(d->dispatch, q->ticket, d->now_ns);
	write_record(d, q);
	release(d, q);
	if (d->grace_end_ns == INT64_MAX && stop_rule_reached(&d->o.options->run.stop_on, d->o.counters, d->result.stopped))
		stop(d);
}

/* ---- reading ---- */

/* The schedule may come through a pipe. False: a signal came first. */
static bool await_input(struct twin_driver *d)
{
	struct pollfd input = {.events = POLLIN};
	while (!stream_reader_ready(arrival_reader_stream(d->o.arrivals), &input.fd))
		if (interrupted() || poll(&input, 1, INPUT_MS) > 0)
			break;
	return !interrupted();
}

/* The part before the fault is run. */
static void end_input(struct twin_driver *d, const struct ipf_error *bad)
{
	if (bad->kind == IPF_SYSTEM)
		d->error = *bad;
	else if (!d->result.run.input.kind)
		d->result.run.input = *bad;
	for (size_t i = 0; i < d->lanes; i++)
		d->lane_ended[i] = true;
}

/* The record has the lengths given to the twin, if they are not those of the trace. */
static void ask_scaled(const struct twin *twin, struct twin_request *q)
{
	if (twin->times[TWIN_INPUT] != 1 && q->input_tokens != IPF_ABSENT)
		q->input_tokens = q->answer.sequence.prompt_tokens;
	if (twin->times[TWIN_OUTPUT] != 1 && q->output_tokens != IPF_ABSENT)
		q->output_tokens = q->answer.sequence.output_tokens;
}

static struct twin_request *make_request(struct twin_driver *d, const struct arrival_request *a, struct ipf_error *err)
{
	struct twin_request *q = twin_request_take(&d->spare);
	struct slice model = d->o.model              ? slice_of(d->o.model)
	                     : a->request.model.data ? a->request.model
	                                             : slice_of(d->o.fallback);
	if (q && twin_request_describe(q, a, model)) {
		if (twin_prompt_read(d->o.prompts, a, model, &q->answer, err) == 0) {
			ask_scaled(d->o.twin, q);
			return q;
		}
	} else {
		ipf_error_memory(err);
	}
	twin_request_free(q);
	return NULL;
}

/* False: the lane has nothing for now, or has ended. */
static bool read_one(struct twin_driver *d, size_t lane)
{
	struct arrival_request a;
	struct ipf_error err = {0};
	if (!lane && !await_input(d))
		return false;
	int got = arrival_reader_next(d->o.arrivals, lane, &a, &err);
	struct twin_request *q = got == 1 ? make_request(d, &a, &err) : NULL;
	d->lane_ended[lane] |= got == 0;
	if (err.kind)
		end_input(d, &err);
	if (!q)
		return false;
	count_bytes(d, q, twin_request_bytes(q));
	if (dispatch_add(d->dispatch, &a.arrival, q, &d->result.run.error) < 0) {
		release(d, q);
		stop(d);
		return false;
	}
	d->held_bytes += held_bytes(q);
	while (dispatch_upcoming(d->dispatch))
		; /* everything is ready at once */
	return true;
}

/* Reads as far ahead as the dispatcher wants. False: nothing was read. */
static bool fetch(struct twin_driver *d)
{
	bool some = false;
	for (size_t i = 0; i < d->lanes; i++) {
		int64_t stage = arrival_reader_lane_stage(d->o.arrivals, i);
		while (!d->lane_ended[i] && d->held_bytes < HELD_BYTES && !d->error.kind &&
		       dispatch_wants(d->dispatch, stage, d->now_ns) && read_one(d, i))
			some = true;
		if (i == 0 && d->lane_ended[0])
			dispatch_finish(d->dispatch);
	}
	return some;
}

static void drop(struct twin_driver *d)
{
	for (struct twin_request *q; (q = dispatch_dropped(d->dispatch));) {
		d->held_bytes -= held_bytes(q);
		/* a cycle stage always has more ready than it needs */
		d->result.run.unstarted += !arrival_reader_schedule(d->o.arrivals)->stages[q->stage].cycle;
		release(d, q);
	}
}

/* ---- when the client gives up ---- */

struct giving_up {
	int64_t at_ns;
	enum record_error error;
	const char *why;
};

static void give_up_at(struct giving_up *g, const struct twin_request *q, int64_t after_ns, enum record_error error,
                       const char *why)
{
	int64_t at = q->start_ns + (after_ns < LEAST_NS ? LEAST_NS : after_ns);
	if (at >= g->at_ns)
		return;
	*g = (struct giving_up){at, error, why};
}

/* In the order in which a run against a server looks at them. */
static struct giving_up giving_up_of(const struct twin_driver *d, const struct twin_request *q)
{
	const struct run_options *o = &d->o.options->run;
	struct giving_up g = {.at_ns = INT64_MAX, .why = ""};
	int cancel = cancels_find(&d->o.cancels, q->n);
	if (o->first_token_timeout_ns && !q->events_count)
		give_up_at(&g, q, o->first_token_timeout_ns, RECORD_TIMEOUT, d->no_token);
	if (cancel >= 0)
		give_up_at(&g, q, d->o.cancels.list[cancel].after_ns, RECORD_HUNG_UP, "simulated client disconnect (--cancel)");
	if (o->timeout_ns)
		give_up_at(&g, q, o->timeout_ns, RECORD_TIMEOUT, d->not_answered);
	if (q->hang_up_ns != IPF_ABSENT && !d->o.cancels.no_recorded)
		give_up_at(&g, q, q->hang_up_ns, RECORD_HUNG_UP, "the recorded client disconnected then");
	return g;
}

static void refuse(struct twin_driver *d, struct twin_request *q)
{
	char message[160];
	const struct sequence *s = &q->answer.sequence;
	snprintf(message, sizeof message, "%lld input and %lld output tokens exceed the KV cache of the twin, %lld tokens",
	         (long long)s->prompt_tokens, (long long)s->output_tokens, (long long)twin_server_room(d->o.server));
	if (!twin_request_refuse(q, d->now_ns, 400, message))
		ipf_error_memory(&d->error);
	end_request(d, q, RECORD_OK, message);
}

static struct twin_request *request_of(struct deadline_entry *deadline)
{
	return (struct twin_request *)((char *)deadline - offsetof(struct twin_request, deadline));
}

static void expire(struct twin_driver *d)
{
	for (struct deadline_entry *first;
	     (first = deadline_heap_first(&d->deadlines)) && first->at_ns <= d->now_ns && !d->error.kind;) {
		struct twin_request *q = request_of(first);
		if (q->refused) {
			refuse(d, q);
			continue;
		}
		const struct giving_up g = giving_up_of(d, q);
		twin_server_cancel(d->o.server, &q->answer);
		end_request(d, q, g.error, g.why);
	}
}

static void cancel_all(struct twin_driver *d, const char *why)
{
	for (struct deadline_entry *first; (first = deadline_heap_first(&d->deadlines));) {
		struct twin_request *q = request_of(first);
		if (!q->refused)
			twin_server_cancel(d->o.server, &q->answer);
		end_request(d, q, RECORD_CANCELLED, why);
	}
}

/* ---- starting ---- */

static bool fits(const struct twin_driver *d, const struct sequence *s)
{
	int64_t all;
	return !__builtin_add_overflow(s->prompt_tokens, s->output_tokens, &all) && all <= twin_server_room(d->o.server);
}

/* When it ends without an answer. */
static int64_t deadline_of(const struct twin_driver *d, const struct twin_request *q)
{
	int64_t overhead = (int64_t)twin_value(d->o.twin, TWIN_OVERHEAD);
	return q->refused ? d->now_ns + (overhead < ANSWERED_NS ? ANSWERED_NS : overhead) : giving_up_of(d, q).at_ns;
}

/* The one of the replicas that are ready which answers. */
static size_t choose(struct twin_answer *answer, void *data)
{
	struct twin_driver *d = data;
	const struct twin_request *q = (struct twin_request *)answer;
	size_t replica = balance_choose(d->o.balance, q->session);
	struct twin_load *load = &d->loads[replica];
	load->sequences += !q->refused;
	if (load->sequences > d->result.most_sequences)
		d->result.most_sequences = load->sequences;
	return replica;
}

static void send_request(struct twin_driver *d, struct twin_request *q)
{
	bool ready = twin_server_replicas(d->o.server)->ready > 0;
	q->answer.replica = ready ? choose(&q->answer, d) : TWIN_NO_REPLICA;
	q->answer.sequence.draws = (uint64_t)q->n;
	counter_count(&counters_of(d)->started, 1);
	if (!q->refused)
		twin_server_send(d->o.server, &q->answer, d->now_ns);
}

static void start(struct twin_driver *d, const struct dispatch_start *s)
{
	struct twin_request *q = s->data;
	d->held_bytes -= held_bytes(q);
	q->ticket = s->ticket;
	q->due_ns = s->due_ns;
	q->ready_ns = s->ready_ns;
	q->slot_ns = s->slot_ns;
	q->start_ns = d->now_ns;
	q->refused = !fits(d, &q->answer.sequence);
	q->deadline.order = q->n;
	if (deadline_heap_set(&d->deadlines, &q->deadline, deadline_of(d, q))) {
		send_request(d, q);
		return;
	}
	ipf_error_memory(&d->error);
	dispatch_ended(d->dispatch, s->ticket, d->now_ns);
	release(d, q);
}

/* Before a stage with a cold cache: the reset takes no time here. */
static bool pass_gate(struct twin_driver *d)
{
	if (dispatch_gate(d->dispatch) < 0)
		return false;
	twin_server_reset_caches(d->o.server);
	dispatch_open_gate(d->dispatch, d->now_ns);
	return true;
}

static void start_due(struct twin_driver *d)
{
	struct dispatch_start s;
	do {
		while (!d->error.kind && dispatch_next(d->dispatch, d->now_ns, &s)) {
			start(d, &s);
			while (dispatch_upcoming(d->dispatch))
				;
		}
	} while (fetch(d) || pass_gate(d));
	drop(d);
}

/* ---- answers ---- */

static void note_load(struct twin_driver *d, struct twin_request *q)
{
	const struct sequence *s = &q->answer.sequence;
	struct twin_load *load = &d->loads[q->answer.replica];
	int64_t more = s->prompt_tokens + s->produced - q->held;
	q->held += more;
	load->tokens += more;
	if (load->tokens / KV_BLOCK > d->result.most_kv_blocks)
		d->result.most_kv_blocks = load->tokens / KV_BLOCK;
	if (q->events_count == 1 && s->prompt_tokens - s->cached_tokens > d->result.most_step_tokens)
		d->result.most_step_tokens = s->prompt_tokens - s->cached_tokens;
}

static void on_tokens(struct twin_answer *answer, void *data)
{
	struct twin_driver *d = data;
	struct twin_request *q = (struct twin_request *)answer;
	const struct sequence *s = &answer->sequence;
	if (!twin_request_tokens(q, d->now_ns))
		ipf_error_memory(&d->error);
	note_load(d, q);
	count_bytes(d, q, sizeof *q->events);
	if (s->produced == s->output_tokens) {
		end_request(d, q, RECORD_OK, "");
	} else if (twin_request_answer_bytes(q) > d->o.options->run.max_answer) {
		twin_server_cancel(d->o.server, answer);
		end_request(d, q, RECORD_TOO_LARGE, d->too_large);
	} else if (q->events_count == 1 && d->o.options->run.first_token_timeout_ns) {
		deadline_heap_set(&d->deadlines, &q->deadline, giving_up_of(d, q).at_ns); /* only moves it */
	}
}

/* ---- replicas coming and go ---- */

/* As a scrape of a cluster's metrics would have it. */
static void write_replicas(struct twin_driver *d)
{
	const struct replicas *r = twin_server_replicas(d->o.server);
	buffer_clear(&d->line);
	buffer_format(&d->line,
	              "{\"sample\":\"server\",\"t_ns\":%lld,\"target\":\"replicas\",\"server\":\"twin\",\"gauges\":{"
	              "\"replicas_ready\":%lld,\"replicas_desired\":%lld}}",
	              (long long)d->now_ns, (long long)r->ready, (long long)r->desired);
	if (!d->error.kind)
		stream_writer_line(d->o.writer, &d->line, &d->error);
}

static void note_replicas(void *data)
{
	struct twin_driver *d = data;
	for (size_t i = 0; i < (size_t)d->o.options->replicas.most; i++)
		balance_set_in(d->o.balance, i, twin_server_is_ready(d->o.server, i));
	write_replicas(d);
}

/* ---- the course of a run ---- */

static void look_around(struct twin_driver *d)
{
	if (interrupted() && !d->result.run.signals) {
		d->result.run.signals = 1;
		stop(d);
	}
	counter_set(&d->o.counters->in_flight, dispatch_in_flight(d->dispatch));
	counter_set(&d->o.counters->waiting, dispatch_waiting(d->dispatch));
	d->o.show(d->o.data, d->now_ns);
}

/* When something happens next; INT64_MAX: never. All starting now has started. */
static int64_t next_moment(const struct twin_driver *d)
{
	const struct deadline_entry *first = deadline_heap_first(&d->deadlines);
	int64_t wake = dispatch_wake(d->dispatch), server = twin_server_wake(d->o.server);
	int64_t next = wake <= d->now_ns ? INT64_MAX : wake;
	if (server < next)
		next = server;
	if (first && first->at_ns < next)
		next = first->at_ns;
	return d->grace_end_ns < next && first ? d->grace_end_ns : next;
}

static void go_on(struct twin_driver *d, int64_t next)
{
	d->now_ns = next > d->now_ns ? next : d->now_ns;
	if (twin_server_wake(d->o.server) <= d->now_ns)
		twin_server_run(d->o.server, d->now_ns, on_tokens, d);
	if (twin_server_failed(d->o.server))
		ipf_error_memory(&d->error);
	expire(d);
	if (d->grace_end_ns <= d->now_ns)
		cancel_all(d, *d->result.stopped ? d->result.stopped : "cancelled: grace period expired");
}

int twin_driver_run(struct twin_driver *d, struct twin_driver_result *result, struct ipf_error *err)
{
	struct run_result *r = &d->result.run;
	size_t count = arrival_reader_schedule(d->o.arrivals)->count;
	const bool vary = replicas_vary(&d->o.options->replicas);
	if (vary)
		note_replicas(d);
	for (int64_t i = 0; !d->error.kind; i++) {
		if (i % LOOK_EVERY == 0 || interrupted())
			look_around(d);
		start_due(d);
		if (dispatch_done(d->dispatch))
			break;
		int64_t next = next_moment(d);
		if (next == INT64_MAX && d->grace_end_ns != INT64_MAX)
			break;
		if (next == INT64_MAX)
			stop(d);
		else
			go_on(d, next);
	}
	look_around(d);
	if (vary)
		write_replicas(d);
	r->stage_begin_ns = calloc(count + 1, sizeof *r->stage_begin_ns);
	r->stage_end_ns = calloc(count + 1, sizeof *r->stage_end_ns);
	for (size_t i = 0; r->stage_begin_ns && r->stage_end_ns && i < count; i++)
		dispatch_stage_times(d->dispatch, (int64_t)i, &r->stage_begin_ns[i], &r->stage_end_ns[i]);
	d->result.end_ns = d->now_ns;
	*result = d->result;
	result->run.cut_sessions = dispatch_cut_sessions(d->dispatch);
	result->run.stopped = *result->stopped ? result->stopped : NULL;
	if (d->error.kind)
		*err = d->error;
	return err->kind ? -1 : 0;
}

/* ---- making and freeing ---- */

static void name_limits(struct twin_driver *d)
{
	const struct run_options *o = &d->o.options->run;
	char text[32];
	snprintf(d->no_token, sizeof d->no_token, "no first token within %s",
	         format_duration(o->first_token_timeout_ns, text));
	snprintf(d->not_answered, sizeof d->not_answered, "not answered within %s", format_duration(o->timeout_ns, text));
	snprintf(d->too_large, sizeof d->too_large, "the answer exceeds %s (--max-answer)",
	         format_size(o->max_answer, text));
}

int twin_driver_open(struct twin_driver **driver, const struct twin_driver_options *options, struct ipf_error *err)
{
	struct twin_driver *d = *driver = calloc(1, sizeof *d);
	if (!d)
		return ipf_error_memory(err);
	d->o = *options;
	d->grace_end_ns = INT64_MAX;
	name_limits(d);
	d->lanes = arrival_reader_lanes(options->arrivals);
	d->lane_ended = calloc(d->lanes, sizeof *d->lane_ended);
	d->loads = calloc((size_t)options->options->replicas.most, sizeof *d->loads);
	d->dispatch = dispatch_new(arrival_reader_schedule(options->arrivals));
	twin_server_scale(options->server, &(struct twin_scaling){.changed = note_replicas, .choose = choose, .data = d});
	d->cache = twin_value(options->twin, TWIN_PREFIX_CACHE) > 0.5;
	d->draft_tokens = (int64_t)twin_value(options->twin, TWIN_DRAFT_TOKENS);
	return d->lane_ended && d->loads && d->dispatch ? 0 : ipf_error_memory(err);
}

void twin_driver_close(struct twin_driver *d)
{
	if (!d)
		return;
	for (struct deadline_entry *first; (first = deadline_heap_first(&d->deadlines));) {
		struct twin_request *q = request_of(first);
		deadline_heap_remove(&d->deadlines, first);
		if (!q->refused)
			twin_server_cancel(d->o.server, &q->answer);
		if (d->dispatch)
			dispatch_ended(d->dispatch, q->ticket, d->now_ns);
		twin_request_free(q);
	}
	if (d->dispatch) {
		dispatch_stop(d->dispatch);
		drop(d);
	}
	dispatch_free(d->dispatch);
	twin_requests_free(&d->spare);
	deadline_heap_release(&d->deadlines);
	buffer_release(&d->line);
	twin_scratch_release(&d->scratch);
	free(d->lane_ended);
	free(d->loads);
	free(d);
}
