#include "run/arrival_reader.h"

#include "absent.h"
#include "body/trace_cursor.h"
#include "run/warmup.h"
#include "stream/provenance.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* An arrival of a cycle stage. */
struct turn {
	int64_t req, copy, at_ns, wait_ns, line;
	size_t after, after_count; /* in the lane's `after`, as counts from first_n */
};

struct lane {
	int64_t stage;
	struct trace_cursor **pickers; /* by the copy; NULL: not needed so far */
	int64_t copy;                  /* of the last one given */
	int64_t pickers_count;
	/* Cycle stages only. */
	struct turn *turns;
	size_t count, cap;
	int64_t *after, *after_now;
	size_t after_used, after_cap;
	int64_t k; /* how often it has given one */
};

struct arrival_reader {
	struct schedule_reader *reader;
	const struct schedule *schedule;
	struct warmup *warm; /* NULL: nothing goes before the schedule */
	const char *trace;
	struct lane *lanes;
	size_t lanes_count;
	bool ended;     /* lane 0 has read all of the schedule */
	int64_t passed; /* the stage of the last line read */
	json_t *trace_header, *trace_from;
	int64_t requests; /* of the trace */
	struct ipf_error cut;
};

/* ---- opening ---- */

/* The digest that the schedule was made for is of the trace's lines, so all of them are read. */
static int check_trace(struct arrival_reader *p, struct ipf_error *err)
{
	struct stat st;
	struct stream_reader *stream;
	struct slice line;
	struct ipf_error why = {0};
	int got;
	if (!strcmp(p->trace, "-"))
		return ipf_error_set(err, IPF_USAGE, "--trace: it has to be a file: it is read more than once");
	if (stat(p->trace, &st) < 0)
		return ipf_error_errno(err, errno, p->trace, "cannot open");
	if (!S_ISREG(st.st_mode))
		return ipf_error_at(err, IPF_INPUT, p->trace, 0, "not a file: a trace is read more than once");
	if (stream_reader_open(&stream, p->trace, "trace", err) < 0)
		return -1;
	while ((got = stream_reader_next(stream, &line, &why)) == 1)
		;
	if (got < 0 && why.kind == IPF_CUT) {
		p->cut = why;
		got = 0;
	} else if (got < 0) {
		*err = why;
	}
	if (got == 0 && p->schedule->trace_sha256[0] &&
	    strcmp(p->schedule->trace_sha256, stream_reader_sha256(stream)) != 0)
		got = ipf_error_at(err, IPF_INPUT, p->trace, 0,
		                   "not the trace that the schedule was made for: its digest is %.12s…, expected %.12s…",
		                   stream_reader_sha256(stream), p->schedule->trace_sha256);
	else if (got == 0 && !stream_reader_lines(stream))
		got = ipf_error_at(err, IPF_INPUT, p->trace, 0, "empty: a trace of no requests");
	p->requests = stream_reader_lines(stream);
	p->trace_header = json_incref(stream_reader_header(stream));
	p->trace_from = provenance_stream(stream);
	stream_reader_close(stream);
	return got;
}

static int make_lanes(struct arrival_reader *p, struct ipf_error *err)
{
	const struct schedule *s = p->schedule;
	p->lanes = calloc(s->count + 1, sizeof *p->lanes);
	if (!p->lanes)
		return ipf_error_memory(err);
	p->lanes[p->lanes_count++].stage = -1;
	for (size_t i = 0; i < s->count; i++) {
		if (!s->stages[i].cycle)
			continue;
		if (!s->stages[i].closed || s->stages[i].end_ns == IPF_ABSENT)
			return ipf_error_at(err, IPF_INPUT, stream_reader_name(arrival_reader_stream(p)), 1,
			                    "stages[%zu].cycle: only a closed stage that has an end goes round",
			                    i - (p->warm != NULL));
		p->lanes[p->lanes_count++].stage = (int64_t)i;
	}
	return 0;
}

int arrival_reader_open(struct arrival_reader **plan, const char *schedule, const char *trace, int64_t warm,
                        struct ipf_error *err)
{
	*plan = NULL;
	struct arrival_reader *p = calloc(1, sizeof *p);
	if (!p)
		return ipf_error_memory(err);
	p->trace = trace;
	if (schedule_reader_open(&p->reader, schedule, err) == 0) {
		p->schedule = schedule_reader_header(p->reader);
		int bad = check_trace(p, err);
		if (bad == 0 && warm && (bad = warmup_open(&p->warm, p->schedule, trace, warm, err)) == 0)
			p->schedule = warmup_schedule(p->warm);
		if (bad == 0 && make_lanes(p, err) == 0) {
			*plan = p;
			return 0;
		}
	}
	arrival_reader_close(p);
	return -1;
}

void arrival_reader_close(struct arrival_reader *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->lanes_count; i++) {
		for (int64_t k = 0; k < p->lanes[i].pickers_count; k++)
			trace_cursor_close(p->lanes[i].pickers[k]);
		free(p->lanes[i].pickers);
		free(p->lanes[i].turns);
		free(p->lanes[i].after);
		free(p->lanes[i].after_now);
	}
	free(p->lanes);
	json_decref(p->trace_header);
	json_decref(p->trace_from);
	warmup_close(p->warm);
	schedule_reader_close(p->reader);
	free(p);
}

const struct schedule *arrival_reader_schedule(const struct arrival_reader *p)
{
	return p->schedule;
}

struct stream_reader *arrival_reader_stream(struct arrival_reader *p)
{
	return schedule_reader_stream(p->reader);
}

json_t *arrival_reader_trace_header(const struct arrival_reader *p)
{
	return p->trace_header;
}

json_t *arrival_reader_from(struct arrival_reader *p)
{
	json_t *from = json_array();
	if (json_array_append_new(from, provenance_stream(arrival_reader_stream(p))) < 0 ||
	    json_array_append(from, p->trace_from) < 0) {
		json_decref(from);
		return NULL;
	}
	return from;
}

const struct ipf_error *arrival_reader_cut(const struct arrival_reader *p)
{
	return &p->cut;
}

size_t arrival_reader_lanes(const struct arrival_reader *p)
{
	return p->lanes_count;
}

int64_t arrival_reader_lane_stage(const struct arrival_reader *p, size_t lane)
{
	return p->lanes[lane].stage;
}

/* ---- cycle stages ---- */

static struct lane *lane_of(struct arrival_reader *p, int64_t stage)
{
	for (size_t i = 1; i < p->lanes_count; i++)
		if (p->lanes[i].stage == stage)
			return &p->lanes[i];
	return NULL;
}

static int keep_turn(struct arrival_reader *p, struct lane *lane, const struct schedule_arrival *a,
                     struct ipf_error *err)
{
	int64_t first = p->schedule->stages[lane->stage].first_n;
	if (a->n != first + (int64_t)lane->count)
		return ipf_error_set(err, IPF_INPUT, "n: %lld: expected %lld: a stage that goes round has no gaps",
		                     (long long)a->n, (long long)first + (long long)lane->count);
	if (lane->count == lane->cap) {
		size_t cap = lane->cap ? 2 * lane->cap : 256;
		struct turn *turns = realloc(lane->turns, cap * sizeof *turns);
		if (!turns)
			return ipf_error_memory(err);
		lane->turns = turns;
		lane->cap = cap;
	}
	if (lane->after_used + a->after_count > lane->after_cap) {
		size_t cap = 2 * (lane->after_used + a->after_count);
		int64_t *after = realloc(lane->after, cap * sizeof *after);
		if (!after)
			return ipf_error_memory(err);
		lane->after = after;
		lane->after_cap = cap;
	}
	lane->turns[lane->count++] = (struct turn){.req = a->req,
	                                           .copy = a->copy,
	                                           .at_ns = a->at_ns,
	                                           .wait_ns = a->wait_ns,
	                                           .after = lane->after_used,
	                                           .after_count = a->after_count,
	                                           .line = stream_reader_line(arrival_reader_stream(p))};
	for (size_t i = 0; i < a->after_count; i++) {
		if (a->after[i] < first)
			return ipf_error_set(err, IPF_INPUT, "after: %lld: not of the same stage", (long long)a->after[i]);
		lane->after[lane->after_used++] = a->after[i] - first;
	}
	return 0;
}

static int next_turn(struct arrival_reader *p, struct lane *lane, struct schedule_arrival *a, int64_t *line,
                     struct ipf_error *err)
{
	if (!p->ended && p->passed <= lane->stage)
		return 2;
	if (!lane->count)
		return 0;
	if (!lane->after_now && !(lane->after_now = malloc((lane->after_used + 1) * sizeof *lane->after_now)))
		return ipf_error_memory(err);
	const struct turn *t = &lane->turns[(size_t)lane->k % lane->count];
	int64_t round = lane->k - lane->k % (int64_t)lane->count, first = p->schedule->stages[lane->stage].first_n;
	*a = (struct schedule_arrival){.n = first + lane->k,
	                               .at_ns = round ? IPF_ABSENT : t->at_ns,
	                               .req = t->req,
	                               .copy = t->copy,
	                               .stage = lane->stage,
	                               .after = lane->after_now,
	                               .after_count = t->after_count,
	                               .wait_ns = t->wait_ns};
	for (size_t i = 0; i < t->after_count; i++)
		lane->after_now[i] = first + round + lane->after[t->after + i];
	*line = t->line;
	lane->k++;
	return 1;
}

/* ---- lane 0 ---- */

static int next_line(struct arrival_reader *p, struct schedule_arrival *a, int64_t *line, struct ipf_error *err)
{
	while (!p->ended) {
		struct ipf_error why = {0};
		int got = schedule_reader_next(p->reader, a, &why);
		if (got < 0 && why.kind == IPF_CUT) {
			if (!p->cut.kind)
				p->cut = why;
			got = 0;
		}
		if (got <= 0) {
			p->ended = true;
			if (got < 0)
				*err = why;
			return got;
		}
		*line = stream_reader_line(arrival_reader_stream(p));
		a->stage += p->warm != NULL;
		p->passed = a->stage;
		struct lane *lane = lane_of(p, a->stage);
		if (!lane)
			return 1;
		if (keep_turn(p, lane, a, err) < 0) {
			ipf_error_place(err, stream_reader_name(arrival_reader_stream(p)), *line);
			return -1;
		}
	}
	return 0;
}

/* Each copy of the trace is read at a pace of its own. */
static struct trace_cursor *picker_of(struct arrival_reader *p, struct lane *lane, int64_t copy, struct ipf_error *err)
{
	if (copy >= lane->pickers_count) {
		struct trace_cursor **grown = realloc(lane->pickers, (size_t)(copy + 1) * sizeof *grown);
		if (!grown) {
			ipf_error_memory(err);
			return NULL;
		}
		lane->pickers = grown;
		while (lane->pickers_count <= copy)
			grown[lane->pickers_count++] = NULL;
	}
	lane->copy = copy;
	if (!lane->pickers[copy])
		trace_cursor_open(&lane->pickers[copy], p->trace, copy, err);
	return lane->pickers[copy];
}

int arrival_reader_next(struct arrival_reader *p, size_t index, struct planned *to, struct ipf_error *err)
{
	struct lane *lane = &p->lanes[index];
	int64_t line = 0;
	int got;
	to->context = (struct slice){0};
	if (!index && p->warm && (got = warmup_next(p->warm, &to->arrival, &to->request, err)) != 0)
		return got;
	got = index ? next_turn(p, lane, &to->arrival, &line, err) : next_line(p, &to->arrival, &line, err);
	if (got != 1)
		return got;
	struct trace_cursor *picker = picker_of(p, lane, to->arrival.copy, err);
	if (!picker)
		return -1;
	/* made without a trace, a schedule counts up, and means it round and round */
	if (p->schedule->trace_requests == IPF_ABSENT)
		to->arrival.req %= p->requests;
	got = trace_cursor_get(picker, to->arrival.req, &to->request, &to->context, err);
	if (got == 1 && to->arrival.copy && to->request.prompt_token_ids.data)
		return ipf_error_at(err, IPF_INPUT, stream_reader_name(arrival_reader_stream(p)), line,
		                    "copy: request %lld of the trace is made of "
		                    "prompt_token_ids: a copy of it could not begin differently",
		                    (long long)to->arrival.req);
	if (got != 0)
		return got;
	return ipf_error_at(err, IPF_INPUT, stream_reader_name(arrival_reader_stream(p)), line,
	                    "req: %lld: the trace has %lld%s requests", (long long)to->arrival.req,
	                    (long long)trace_cursor_count(picker), trace_cursor_cut(picker) ? " good" : "");
}

struct deferred_request *arrival_reader_draft(const struct arrival_reader *p, size_t lane)
{
	return trace_cursor_draft(p->lanes[lane].pickers[p->lanes[lane].copy]);
}
