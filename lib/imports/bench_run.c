#include "imports/bench_run.h"

#include "absent.h"

#include <math.h>
#include <string.h>

static int read_text(struct import *in, bool label, struct bench_run *run, struct ipf_error *err)
{
	if (json_pull_value(&in->json, &run->raw, err) < 0)
		return -1;
	if (label) {
		struct ipf_error ignored = {0};
		struct jdoc doc = {0};
		buffer_clear(&run->label);
		if (jdoc_parse(&doc, run->raw.data, run->raw.len, &ignored) == 0 && jdoc_type_of(&doc, JDOC_ROOT) == JDOC_TEXT)
			jdoc_text(&doc, JDOC_ROOT, &run->label);
		jdoc_release(&doc);
	} else {
		import_fact(in->records, "model", buffer_all(&run->raw));
	}
	return 0;
}

static int read_number(struct import *in, double *value, struct ipf_error *err)
{
	return json_pull_number(&in->json, value, err) < 0 ? -1 : 1;
}

/* "inf" or Infinity (NAN), "trace" for a replay, or a number. */
static int read_rate(struct import *in, struct bench_run *run, struct ipf_error *err)
{
	int type = json_pull_type(&in->json, err);
	if (type == JDOC_TEXT) {
		int bad = json_pull_value(&in->json, &run->raw, err);
		run->replay = bad == 0 && slice_is(buffer_all(&run->raw), "\"trace\"");
		return bad;
	}
	return type < 0 ? -1 : json_pull_number(&in->json, &run->rate, err);
}

/* 1: a member with a known number; 0: another one; -1. */
static int read_figure(struct import *in, const struct bench_dialect *dialect, struct slice key, struct bench_run *run,
                       struct ipf_error *err)
{
	double value;
	for (const struct bench_number *n = dialect->numbers; n->key; n++)
		if (slice_is(key, n->key))
			return read_number(in, (double *)((char *)run + n->offset), err);
	if (key.len < 4 || memcmp(key.data + key.len - 3, "_ms", 3) != 0)
		return 0;
	/* --metadata may have any value */
	int type = json_pull_type(&in->json, err);
	if (type != JDOC_NUMBER)
		return type < 0 ? -1 : 0;
	if (read_number(in, &value, err) < 0)
		return -1;
	flat_figure(&run->figures, dialect->metrics, key, value);
	return 1;
}

static int read_members(struct import *in, const struct bench_dialect *dialect, struct bench_run *run,
                        struct ipf_error *err)
{
	struct slice key;
	int got = json_pull_enter(&in->json, JDOC_MAP, err);
	while (got >= 0 && (got = json_pull_member(&in->json, &key, err)) == 1) {
		int taken = bench_lists_member(&run->lists, in, key, err);
		if (taken == 0)
			taken = read_figure(in, dialect, key, run, err);
		if (taken != 0) {
			got = taken;
			continue;
		}
		if (slice_is(key, "request_rate"))
			got = read_rate(in, run, err);
		else if (slice_is(key, dialect->label) || (dialect->model && slice_is(key, dialect->model)))
			got = read_text(in, slice_is(key, dialect->label), run, err);
		else
			got = json_pull_skip(&in->json, err);
	}
	return got;
}

/* A rate that is infinite leaves the pace to the slots, if there are any. */
static const char *kind_of(const struct bench_run *run)
{
	if (run->replay)
		return "replay";
	if (run->rate > 0)
		return isnan(run->burstiness) || run->burstiness == 1 ? "poisson" : "gamma";
	return run->slots > 0 ? "closed" : "burst";
}

static int put_figures(struct import *in, int stage, struct bench_run *run, struct ipf_error *err)
{
	struct stated_stage *figures = import_figures(in, stage, err);
	if (!figures)
		return -1;
	run->figures.ok = import_count(run->completed);
	run->figures.failed = import_count(run->failed);
	run->figures.window_s = run->duration;
	run->figures.offered = run->rate > 0 ? run->rate : NAN;
	*figures = run->figures;
	import_lasted(in, run->duration);
	return 0;
}

/* A file can have several runs, one after the other: where one begins by its clock, if that is after the last one. */
struct place {
	int64_t from_ns, end_ns; /* from_ns is IPF_ABSENT if there is none yet */
};

static void put_in_place(struct place *place, struct bench_lists *lists)
{
	int64_t first_ns = bench_lists_first_start(lists), after_ns = 0;
	if (place->from_ns != IPF_ABSENT && first_ns != IPF_ABSENT)
		after_ns = first_ns - place->from_ns;
	lists->from_ns = first_ns;
	lists->begin_ns = place->end_ns;
	if (after_ns >= place->end_ns && after_ns - place->end_ns < INT64_C(86400000000000))
		lists->begin_ns = after_ns;
	if (place->from_ns == IPF_ABSENT)
		place->from_ns = first_ns;
}

static int put_run(struct import *in, struct bench_run *run, struct place *place, struct ipf_error *err)
{
	bool rows = bench_lists_there(&run->lists), times = bench_lists_first_start(&run->lists) != IPF_ABSENT;
	int stage = import_stage(in,
	                         &(struct import_stage){.name = run->label.data,
	                                                .kind = kind_of(run),
	                                                .rate = run->rate,
	                                                .slots = run->slots > 0 ? import_count(run->slots) : 0},
	                         err);
	if (stage < 0 || ((!rows || !times) && put_figures(in, stage, run, err) < 0))
		return -1;
	if (!rows)
		return 0;
	put_in_place(place, &run->lists);
	int bad = bench_lists_rows(&run->lists, in, stage, err);
	place->end_ns = run->lists.end_ns;
	if (bad == 0 && run->completed >= 0 && (double)run->lists.ok_count != run->completed)
		verdict_note(in->run->verdict, VERDICT_SERVER, VERDICT_DOUBTFUL,
		             "the file counts %.0f completed requests, and its lists have %lld", run->completed,
		             (long long)run->lists.ok_count);
	return bad;
}

int bench_runs_read(struct import *in, const struct bench_dialect *dialect, struct ipf_error *err)
{
	struct place place = {.from_ns = IPF_ABSENT};
	int got;
	while ((got = json_pull_document(&in->json, err)) == 1) {
		struct bench_run run = {
			.rate = NAN, .burstiness = NAN, .slots = NAN, .duration = NAN, .completed = NAN, .failed = NAN};
		stated_stage_init(&run.figures);
		got = read_members(in, dialect, &run, err);
		if (got >= 0)
			got = put_run(in, &run, &place, err);
		bench_lists_release(&run.lists);
		buffer_release(&run.label);
		buffer_release(&run.raw);
		if (got < 0)
			return -1;
	}
	return got;
}
