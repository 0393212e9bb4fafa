#include "requests/arrival_reader.h"

#include "absent.h"
#include "array.h"
#include "requests/request_copies.h"
#include "requests/trace_cursor.h"
#include "requests/warmup.h"
#include "stream/provenance.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* An arrival of a cycle stage. */
struct cycle_arrival {
	int64_t req, copy, at_ns, wait_ns, session_requests, line;
	size_t after, after_count; /* in the lane's `after` */
};

/* A copy of the trace, which is read independently of the others. */
struct trace_copy {
	struct trace_cursor *cursor; /* NULL: not needed so far, or not in the last two stages */
	int64_t stage;               /* the last returned request's */
};

struct lane {
	int64_t stage;
	struct trace_copy copies[SCHEDULE_COPIES + 1];
	int64_t copy; /* the last returned request's */
	/* Cycle stages only. */
	struct cycle_arrival *cycle;
	size_t count, cap;
	int64_t *after; /* as counts from the stage's first_n */
	size_t after_used, after_cap;
	int64_t *after_now; /* the last returned arrival's */
	int64_t returned;   /* arrivals so far */
};

struct arrival_reader {
	struct schedule_reader *schedule_reader;
	const struct schedule *schedule;
	struct warmup *warmup; /* NULL: none */
	const char *trace;
	struct lane *lanes;
	size_t lanes_count;
	bool ended;         /* lane 0 has read the whole schedule */
	int64_t last_stage; /* the last line's */
	json_t *trace_header, *trace_from;
	int64_t requests; /* in the trace */
	struct ipf_error cut;
	bool (*wanted)(const void *data, int64_t n); /* NULL: all are */
	const void *wanted_data;
	int64_t wanted_count;
};

/* ---- opening ---- */

/* The schedule has the digest of the trace's lines: reads all of them. */
static int check_trace(struct arrival_reader *r, struct ipf_error *err)
{
	struct stat st;
	struct stream_reader *stream;
	struct slice line;
	struct ipf_error why = {0};
	int got;
	if (!strcmp(r->trace, "-"))
		return ipf_error_set(err, IPF_USAGE, "--trace: expected a file, since it is read several times, got \"-\"");
	if (stat(r->trace, &st) < 0)
		return ipf_error_errno(err, errno, r->trace, "cannot open");
	if (!S_ISREG(st.st_mode))
		return ipf_error_at(err, IPF_INPUT, r->trace, 0, "not a regular file: a trace is read several times");
	if (stream_reader_open(&stream, r->trace, "trace", err) < 0)
		return -1;
	while ((got = stream_reader_next(stream, &line, &why)) == 1)
		;
	if (got < 0 && why.kind == IPF_CUT) {
		r->cut = why;
		got = 0;
	} else if (got < 0) {
		*err = why;
	}
	if (got == 0 && r->schedule->trace_sha256[0] &&
	    strcmp(r->schedule->trace_sha256, stream_reader_sha256(stream)) != 0)
		got = ipf_error_at(err, IPF_INPUT, r->trace, 0,
		                   "not the trace that the schedule was made for: its digest is %.12s…, expected %.12s…",
		                   stream_reader_sha256(stream), r->schedule->trace_sha256);
	else if (got == 0 && !stream_reader_lines(stream))
		got = ipf_error_at(err, IPF_INPUT, r->trace, 0, "the trace has no requests");
	r->requests = stream_reader_lines(stream);
	r->trace_header = json_incref(stream_reader_header(stream));
	r->trace_from = provenance_stream(stream);
	stream_reader_close(stream);
	return got;
}

static int make_lanes(struct arrival_reader *r, struct ipf_error *err)
{
	const struct schedule *s = r->schedule;
	r->lanes = calloc(s->count + 1, sizeof *r->lanes);
	if (!r->lanes)
		return ipf_error_memory(err);
	r->lanes[r->lanes_count++].stage = -1;
	for (size_t i = 0; i < s->count; i++) {
		if (!s->stages[i].cycle)
			continue;
		if (!s->stages[i].closed || s->stages[i].end_ns == IPF_ABSENT)
			return ipf_error_at(err, IPF_INPUT, stream_reader_name(arrival_reader_stream(r)), 1,
			                    "stages[%zu].cycle: only a closed stage with an end can cycle",
			                    i - (r->warmup != NULL));
		r->lanes[r->lanes_count++].stage = (int64_t)i;
	}
	return 0;
}

int arrival_reader_open(struct arrival_reader **reader, const char *schedule, const char *trace, int64_t warm,
                        struct ipf_error *err)
{
	*reader = NULL;
	struct arrival_reader *r = calloc(1, sizeof *r);
	if (!r)
		return ipf_error_memory(err);
	if (schedule_reader_open(&r->schedule_reader, schedule, err) == 0) {
		r->schedule = schedule_reader_header(r->schedule_reader);
		r->trace = trace ? trace : r->schedule->trace_file;
		int bad = r->trace ? check_trace(r, err)
		                   : ipf_error_set(err, IPF_USAGE, "--trace is required: the schedule does not name its trace");
		if (bad == 0 && warm && (bad = warmup_open(&r->warmup, r->schedule, r->trace, warm, err)) == 0)
			r->schedule = warmup_schedule(r->warmup);
		if (bad == 0 && make_lanes(r, err) == 0) {
			*reader = r;
			return 0;
		}
	}
	arrival_reader_close(r);
	return -1;
}

void arrival_reader_close(struct arrival_reader *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->lanes_count; i++) {
		for (int k = 0; k <= SCHEDULE_COPIES; k++)
			trace_cursor_close(r->lanes[i].copies[k].cursor);
		free(r->lanes[i].cycle);
		free(r->lanes[i].after);
		free(r->lanes[i].after_now);
	}
	free(r->lanes);
	json_decref(r->trace_header);
	json_decref(r->trace_from);
	warmup_close(r->warmup);
	schedule_reader_close(r->schedule_reader);
	free(r);
}

void arrival_reader_only(struct arrival_reader *r, bool (*wanted)(const void *data, int64_t n), const void *data,
                         int64_t count)
{
	r->wanted = wanted;
	r->wanted_data = data;
	r->wanted_count = count;
}

const struct schedule *arrival_reader_schedule(const struct arrival_reader *r)
{
	return r->schedule;
}

int64_t arrival_reader_planned(const struct arrival_reader *r)
{
	const struct schedule *s = arrival_reader_schedule(r);
	int64_t sum = 0;
	for (size_t i = 0; i < s->count; i++)
		sum += s->stages[i].cycle ? 0 : s->stages[i].arrivals;
	return r->wanted ? r->wanted_count : sum;
}

const char *arrival_reader_trace(const struct arrival_reader *r)
{
	return r->trace;
}

struct stream_reader *arrival_reader_stream(struct arrival_reader *r)
{
	return schedule_reader_stream(r->schedule_reader);
}

json_t *arrival_reader_trace_header(const struct arrival_reader *r)
{
	return r->trace_header;
}

json_t *arrival_reader_from(struct arrival_reader *r)
{
	json_t *from = json_array();
	if (json_array_append_new(from, provenance_stream(arrival_reader_stream(r))) < 0 ||
	    json_array_append(from, r->trace_from) < 0) {
		json_decref(from);
		return NULL;
	}
	return from;
}

const struct ipf_error *arrival_reader_cut(const struct arrival_reader *r)
{
	return &r->cut;
}

size_t arrival_reader_lanes(const struct arrival_reader *r)
{
	return r->lanes_count;
}

int64_t arrival_reader_lane_stage(const struct arrival_reader *r, size_t lane)
{
	return r->lanes[lane].stage;
}

/* ---- cycle stages ---- */

static struct lane *lane_of(struct arrival_reader *r, int64_t stage)
{
	for (size_t i = 1; i < r->lanes_count; i++)
		if (r->lanes[i].stage == stage)
			return &r->lanes[i];
	return NULL;
}

static int add_to_cycle(struct arrival_reader *r, struct lane *lane, const struct schedule_arrival *a,
                        struct ipf_error *err)
{
	int64_t first = r->schedule->stages[lane->stage].first_n;
	if (a->n != first + (int64_t)lane->count)
		return ipf_error_set(err, IPF_INPUT, "n: expected %lld, since a cycle stage has no gaps, got %lld",
		                     (long long)first + (long long)lane->count, (long long)a->n);
	if (!array_room(lane->cycle, lane->cap, lane->count + 1) ||
	    !array_room(lane->after, lane->after_cap, lane->after_used + a->after_count))
		return ipf_error_memory(err);
	lane->cycle[lane->count++] = (struct cycle_arrival){.req = a->req,
	                                                    .copy = a->copy,
	                                                    .at_ns = a->at_ns,
	                                                    .wait_ns = a->wait_ns,
	                                                    .session_requests = a->session_requests,
	                                                    .after = lane->after_used,
	                                                    .after_count = a->after_count,
	                                                    .line = stream_reader_line(arrival_reader_stream(r))};
	for (size_t i = 0; i < a->after_count; i++) {
		if (a->after[i] < first)
			return ipf_error_set(err, IPF_INPUT, "after: n %lld is not of the same stage", (long long)a->after[i]);
		lane->after[lane->after_used++] = a->after[i] - first;
	}
	return 0;
}

/* With salt each round has the next copy; after the last one it begins again with the requests themselves. The round
 * before needs its cursor no more. */
static int64_t copy_of_round(const struct arrival_reader *r, struct lane *lane, int64_t copy, int64_t round)
{
	if (!r->schedule->stages[lane->stage].salt)
		return copy;
	int64_t now = (copy + round) % (SCHEDULE_COPIES + 1);
	if (now != lane->copy) {
		trace_cursor_close(lane->copies[lane->copy].cursor);
		lane->copies[lane->copy].cursor = NULL;
	}
	return now;
}

static int next_of_cycle(struct arrival_reader *r, struct lane *lane, struct schedule_arrival *a, int64_t *line,
                         struct ipf_error *err)
{
	if (!r->ended && r->last_stage <= lane->stage)
		return 2;
	if (!lane->count)
		return 0;
	if (!lane->after_now && !(lane->after_now = malloc((lane->after_used + 1) * sizeof *lane->after_now)))
		return ipf_error_memory(err);
	const int64_t first = r->schedule->stages[lane->stage].first_n, once = r->schedule->stages[lane->stage].once,
				  again = (int64_t)lane->count - once;
	if (again < 1)
		return 0;
	/* the first `once` lines come in the first round only */
	const int64_t round = lane->returned < once ? 0 : (lane->returned - once) / again, before = round * again;
	const struct cycle_arrival *t = &lane->cycle[lane->returned - before];
	*a = (struct schedule_arrival){.n = first + lane->returned,
	                               .at_ns = round ? IPF_ABSENT : t->at_ns,
	                               .req = t->req,
	                               .copy = copy_of_round(r, lane, t->copy, round),
	                               .stage = lane->stage,
	                               .after = lane->after_now,
	                               .after_count = t->after_count,
	                               .wait_ns = t->wait_ns,
	                               .session_requests = t->session_requests};
	for (size_t i = 0; i < t->after_count; i++)
		lane->after_now[i] = first + before + lane->after[t->after + i];
	*line = t->line;
	lane->returned++;
	return 1;
}

/* ---- lane 0: the schedule ---- */

static int next_of_schedule(struct arrival_reader *r, struct schedule_arrival *a, int64_t *line, struct ipf_error *err)
{
	while (!r->ended) {
		struct ipf_error why = {0};
		int got = schedule_reader_next(r->schedule_reader, a, &why);
		if (got < 0 && why.kind == IPF_CUT) {
			if (!r->cut.kind)
				r->cut = why;
			got = 0;
		}
		if (got <= 0) {
			r->ended = true;
			if (got < 0)
				*err = why;
			return got;
		}
		*line = stream_reader_line(arrival_reader_stream(r));
		a->stage += r->warmup != NULL;
		r->last_stage = a->stage;
		if (r->wanted && !r->wanted(r->wanted_data, a->n))
			continue;
		struct lane *lane = lane_of(r, a->stage);
		if (!lane)
			return 1;
		if (add_to_cycle(r, lane, a, err) < 0) {
			ipf_error_place(err, stream_reader_name(arrival_reader_stream(r)), *line);
			return -1;
		}
	}
	return 0;
}

/* Closes inputs that the stage before did not use either: with --new-prompts, each stage has a copy of its own. */
static void close_unused(struct lane *lane, int64_t stage)
{
	for (int k = 0; k <= SCHEDULE_COPIES; k++)
		if (lane->copies[k].stage < stage - 1) {
			trace_cursor_close(lane->copies[k].cursor);
			lane->copies[k].cursor = NULL;
		}
}

static struct trace_cursor *cursor_of(struct arrival_reader *r, struct lane *lane, const struct schedule_arrival *a,
                                      struct ipf_error *err)
{
	struct trace_copy *copy = &lane->copies[a->copy];
	lane->copy = a->copy;
	if (!copy->cursor) {
		close_unused(lane, a->stage);
		trace_cursor_open(&copy->cursor, r->trace, a->copy, err);
	}
	copy->stage = a->stage;
	return copy->cursor;
}

int arrival_reader_next(struct arrival_reader *r, size_t index, struct arrival_request *to, struct ipf_error *err)
{
	struct lane *lane = &r->lanes[index];
	int64_t line = 0;
	int got;
	to->context = (struct slice){0};
	if (!index && r->warmup && (got = warmup_next(r->warmup, &to->arrival, &to->request, err)) != 0)
		return got;
	got = index ? next_of_cycle(r, lane, &to->arrival, &line, err) : next_of_schedule(r, &to->arrival, &line, err);
	if (got != 1)
		return got;
	struct trace_cursor *cursor = cursor_of(r, lane, &to->arrival, err);
	if (!cursor)
		return -1;
	/* a schedule made without a trace counts up: the trace is repeated */
	if (r->schedule->trace_requests == IPF_ABSENT)
		to->arrival.req %= r->requests;
	got = trace_cursor_get(cursor, to->arrival.req, &to->request, &to->context, err);
	if (got == 1 && to->arrival.copy && !request_copier_can(&to->request))
		return ipf_error_at(err, IPF_INPUT, stream_reader_name(arrival_reader_stream(r)), line,
		                    "copy: request %lld of the trace has token ids, which cannot be copied",
		                    (long long)to->arrival.req);
	if (got != 0)
		return got;
	return ipf_error_at(err, IPF_INPUT, stream_reader_name(arrival_reader_stream(r)), line,
	                    "req: %lld: the trace has %lld%s requests", (long long)to->arrival.req,
	                    (long long)trace_cursor_count(cursor), trace_cursor_cut(cursor) ? " good" : "");
}

struct deferred_request *arrival_reader_defer(const struct arrival_reader *r, size_t lane)
{
	return trace_cursor_defer(r->lanes[lane].copies[r->lanes[lane].copy].cursor);
}
