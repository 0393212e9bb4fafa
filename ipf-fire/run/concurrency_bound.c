#include "run/concurrency_bound.h"

#include "absent.h"
#include "stream/trace.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- counting ---- */

struct last_root {
	int64_t at_ns, count;
};

static void count_root(struct concurrency_bound *c, struct last_root *last, const struct schedule_arrival *a)
{
	c->roots++;
	c->pauses |= a->wait_ns != IPF_ABSENT && a->wait_ns > 0;
	last->count = a->at_ns != IPF_ABSENT && c->roots > 1 && a->at_ns == last->at_ns ? last->count + 1 : 1;
	last->at_ns = a->at_ns;
	if (last->count > c->at_once)
		c->at_once = last->count;
}

static bool count_all(struct concurrency_bound *bounds, struct last_root *lasts, size_t count,
                      struct schedule_reader *reader)
{
	struct schedule_arrival a;
	struct ipf_error why = {0};
	int got;
	while ((got = schedule_reader_next(reader, &a, &why)) == 1)
		if ((size_t)a.stage < count && !a.after_count)
			count_root(&bounds[a.stage], &lasts[a.stage], &a);
	return got == 0 || why.kind == IPF_CUT; /* the arrivals before a cut will be sent */
}

/* A path opening the file at its beginning, although it is open already; NULL: it is not a file. */
static const char *rereadable_path(const char *path)
{
	struct stat st;
	if (!path || !strcmp(path, "-"))
		return fstat(STDIN_FILENO, &st) == 0 && S_ISREG(st.st_mode) ? "/dev/stdin" : NULL;
	return stat(path, &st) == 0 && S_ISREG(st.st_mode) ? path : NULL;
}

void concurrency_bound_count(struct concurrency_bound *bounds, const struct schedule *s, size_t before,
                             const char *path)
{
	struct schedule_reader *reader = NULL;
	struct ipf_error why = {0};
	size_t count = s->count - before;
	struct last_root *lasts = calloc(count + 1, sizeof *lasts);
	memset(bounds, 0, s->count * sizeof *bounds);
	path = rereadable_path(path);
	if (path && lasts && schedule_reader_open(&reader, path, &why) == 0 &&
	    schedule_reader_header(reader)->count == count && count_all(bounds + before, lasts, count, reader))
		for (size_t i = before; i < s->count; i++)
			bounds[i].known = true;
	schedule_reader_close(reader);
	free(lasts);
}

bool concurrency_bound_independent(const char *trace)
{
	struct trace_reader *reader;
	struct trace_request q;
	struct ipf_error why = {0};
	int got;
	if (trace_reader_open(&reader, trace, &why) < 0)
		return false;
	while ((got = trace_reader_next(reader, &q, &why)) == 1 && !q.session.data && !trace_has_parents(&q))
		;
	trace_reader_close(reader);
	return got == 0 || (got < 0 && why.kind == IPF_CUT);
}

/* ---- judging ---- */

static int64_t smaller(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int64_t slots_of(const struct schedule_stage *stage)
{
	return stage->slots == IPF_ABSENT ? INT64_MAX : stage->slots;
}

/* Do its users have a request in flight at all times? */
static bool is_steady(const struct schedule_stage *stage, const struct concurrency_bound *c)
{
	return stage->cycle && c->known && c->roots && !c->pauses && !stage->pace_ns && !stage->sessions &&
	       stage->begin_ns + stage->rampup_ns < stage->end_ns;
}

static int64_t least_of_closed(const struct schedule *s, size_t i, const struct concurrency_bound *bounds,
                               bool independent)
{
	const struct schedule_stage *stage = &s->stages[i], *before = i && stage[-1].closed ? &stage[-1] : NULL;
	if (is_steady(stage, &bounds[i]) && (!before || is_steady(before, &bounds[i - 1])))
		return slots_of(stage);
	/* its users are those of the stage before, which may be pausing, and new ones */
	int64_t fresh = stage->rampup_ns ? 0 : slots_of(stage) - (before ? slots_of(before) : 0);
	int64_t roots = bounds[i].known ? bounds[i].roots : independent ? stage->arrivals : stage->arrivals > 0;
	/* a cycle starts again before its requests have ended */
	return fresh <= 0 ? 0 : stage->cycle && roots ? fresh : smaller(fresh, roots);
}

int64_t concurrency_bound_least(const struct schedule *s, size_t i, const struct concurrency_bound *bounds,
                                bool independent)
{
	const struct schedule_stage *stage = &s->stages[i];
	if (stage->closed)
		return least_of_closed(s, i, bounds, independent);
	int64_t at_once = bounds[i].known                                               ? bounds[i].at_once
	                  : independent && stage->kind && !strcmp(stage->kind, "burst") ? stage->arrivals
	                                                                                : 0;
	return smaller(slots_of(stage), at_once);
}

int64_t concurrency_bound_most(const struct schedule *s, size_t i, const struct concurrency_bound *bounds)
{
	const struct schedule_stage *stage = &s->stages[i];
	bool burst = !bounds[i].known && stage->kind && !strcmp(stage->kind, "burst");
	int64_t most = smaller(slots_of(stage), stage->cycle || !(stage->closed || burst) ? INT64_MAX : stage->arrivals);
	return most == INT64_MAX ? IPF_ABSENT : most;
}
