#include "requests/warmup.h"

#include "absent.h"
#include "requests/trace_cursor.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct warmup {
	struct schedule schedule; /* with its own list of stages */
	struct trace_cursor *cursor;
	const char *trace;
	char spec[32];
	int64_t count, given, req;
};

static const char *name_of(const struct schedule *s)
{
	for (size_t i = 0; i < s->count; i++)
		if (!strcmp(s->stages[i].name, "warm"))
			return "--warm";
	return "warm";
}

static int add_stage(struct warmup *w, const struct schedule *s, struct ipf_error *err)
{
	w->schedule = *s;
	w->schedule.stages = malloc((s->count + 1) * sizeof *s->stages);
	if (!w->schedule.stages)
		return ipf_error_memory(err);
	if (s->count)
		memcpy(w->schedule.stages + 1, s->stages, s->count * sizeof *s->stages);
	w->schedule.count = s->count + 1;
	snprintf(w->spec, sizeof w->spec, "--warm %lld", (long long)w->count);
	w->schedule.stages[0] = (struct schedule_stage){
		.name = (char *)name_of(s),
		.kind = (char *)"warm",
		.spec = w->spec,
		.end_ns = IPF_ABSENT,
		.slots = 1,
		.arrivals = w->count,
		.rate = NAN,
		.first_n = SCHEDULE_WARMUP_FIRST_N + (s->shards ? (s->shard - 1) * WARMUP_MOST : 0),
	};
	return 0;
}

int warmup_open(struct warmup **warmup, const struct schedule *schedule, const char *trace, int64_t count,
                struct ipf_error *err)
{
	*warmup = NULL;
	struct warmup *w = calloc(1, sizeof *w);
	if (!w)
		return ipf_error_memory(err);
	w->trace = trace;
	w->count = count;
	if (add_stage(w, schedule, err) == 0 && trace_cursor_open(&w->cursor, trace, 0, err) == 0) {
		*warmup = w;
		return 0;
	}
	warmup_close(w);
	return -1;
}

void warmup_close(struct warmup *w)
{
	if (!w)
		return;
	trace_cursor_close(w->cursor);
	free(w->schedule.stages);
	free(w);
}

const struct schedule *warmup_schedule(const struct warmup *w)
{
	return &w->schedule;
}

/* Does it depend on no earlier request? */
static bool is_independent(const struct trace_request *q, struct slice context)
{
	return !trace_has_parents(q) && !context.len && q->turn <= 0;
}

int warmup_next(struct warmup *w, struct schedule_arrival *arrival, struct trace_request *request,
                struct ipf_error *err)
{
	struct slice context;
	int got = w->given < w->count;
	while (got == 1 && (got = trace_cursor_get(w->cursor, w->req, request, &context, err)) >= 0) {
		if (!got && !w->given)
			return ipf_error_at(err, IPF_INPUT, w->trace, 0,
			                    "--warm requires a request that does not wait for another");
		int64_t req = got ? w->req : -1;
		w->req = req + 1;
		if (req >= 0 && is_independent(request, context)) {
			request->session = (struct slice){0};
			*arrival = (struct schedule_arrival){
				.n = w->schedule.stages[0].first_n + w->given++, .at_ns = 0, .req = req, .wait_ns = IPF_ABSENT};
			return 1;
		}
		got = 1;
	}
	return got;
}
