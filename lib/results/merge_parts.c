#include "absent.h"
#include "results/merge_parts.h"
#include "stats/sort_numbers.h"
#include "safe_text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The sort key of rows. Only these are moved until the order is known. */
struct row_key {
	int32_t stage, part;
	int64_t start_ns, n;
	int64_t from; /* the index of the row */
};

static int by_stage_and_start(const void *a, const void *b)
{
	const struct row_key *x = a, *y = b;
	if (x->stage != y->stage)
		return x->stage < y->stage ? -1 : 1;
	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	if (x->part != y->part)
		return x->part < y->part ? -1 : 1;
	return (x->n > y->n) - (x->n < y->n);
}

/* Puts rows[keys[i].from] at i, for all i: along each cycle of the permutation, with one row set aside. */
static void move_rows(struct row *rows, struct row_key *keys, int64_t count)
{
	for (int64_t i = 0; i < count; i++) {
		if (keys[i].from == i)
			continue;
		struct row aside = rows[i];
		int64_t to = i;
		for (int64_t from; (from = keys[to].from) != i; to = from) {
			rows[to] = rows[from];
			keys[to].from = to;
		}
		rows[to] = aside;
		keys[to].from = to;
	}
}

static struct row_key key_of(const struct row *rows, int64_t i)
{
	return (struct row_key){rows[i].stage, rows[i].part, rows[i].start_ns, rows[i].n, i};
}

static bool in_order(const struct run_data *run)
{
	for (int64_t i = 1; i < run->row_count; i++) {
		struct row_key before = key_of(run->rows, i - 1), key = key_of(run->rows, i);
		if (by_stage_and_start(&before, &key) > 0)
			return false;
	}
	return true;
}

static int sort_rows(struct run_data *run, struct ipf_error *err)
{
	if (in_order(run))
		return 0;
	struct row_key *keys = malloc((size_t)run->row_count * sizeof *keys);
	if (!keys)
		return ipf_error_memory(err);
	for (int64_t i = 0; i < run->row_count; i++)
		keys[i] = key_of(run->rows, i);
	qsort(keys, (size_t)run->row_count, sizeof *keys, by_stage_and_start);
	move_rows(run->rows, keys, run->row_count);
	free(keys);
	return 0;
}

/* Is no arrival in two parts? -1: out of memory. */
static int disjoint(const struct run_data *run, struct ipf_error *err)
{
	int64_t *all = malloc((size_t)(run->row_count + 1) * sizeof *all);
	if (!all)
		return ipf_error_memory(err);
	for (int64_t i = 0; i < run->row_count; i++)
		all[i] = run->rows[i].n;
	sort_integers(all, (size_t)run->row_count);
	int answer = 1;
	for (int64_t i = 1; i < run->row_count && answer; i++)
		answer = all[i] != all[i - 1];
	free(all);
	return answer;
}

/* Did any two parts run at the same time, by the wall clock? A part without requests has no length. -1: not known. */
static int overlapping(const struct run_data *run)
{
	int answer = 0;
	for (int i = 0; i < run->part_count; i++)
		for (int k = 0; k < i; k++) {
			const struct run_part *a = &run->parts[i], *b = &run->parts[k];
			if (a->t0_ns == IPF_ABSENT || b->t0_ns == IPF_ABSENT)
				return -1;
			answer |= a->t0_ns <= b->t0_ns + b->last_ns && b->t0_ns <= a->t0_ns + a->last_ns;
		}
	return answer;
}

/* Judges whether all shards are there, and whether they began together. */
static int judge_shards(struct run_data *run, struct ipf_error *err)
{
	struct buffer text = {0};
	int64_t last, spread_ns = shard_set_spread_ns(&run->shard_set, &last), length_ns = 0;
	char spread[32];
	if (run->parts[0].predicted)
		spread_ns = 0; /* all begin at 0 of their virtual time */
	else if (run->spread_ns > spread_ns) {
		spread_ns = run->spread_ns;
		last = run->last_shard;
	}
	for (int i = 0; i < run->part_count; i++)
		length_ns = run->parts[i].last_ns > length_ns ? run->parts[i].last_ns : length_ns;
	if (shard_set_missing(&run->shard_set) > 0) {
		shard_set_describe_missing(&run->shard_set, &text);
		if (!text.failed)
			verdict_note(run->verdict, VERDICT_LOAD, VERDICT_INVALID, "%s: these are the figures of a part of the run",
			             text.data);
	}
	if (spread_ns > VERDICT_SPREAD_DOUBTFUL_NS && (double)spread_ns > VERDICT_SPREAD_DOUBTFUL * (double)length_ns)
		verdict_note(run->verdict, VERDICT_LOAD, VERDICT_DOUBTFUL,
		             "the shards began %s apart, shard %lld last: their load was not that of the schedule",
		             verdict_duration((double)spread_ns / 1e6, spread), (long long)last);
	bool failed = text.failed;
	buffer_release(&text);
	return failed ? ipf_error_memory(err) : 0;
}

/* Requests of a run ipf-fire recorded and that count twice make the figures wrong, whatever else holds. */
static void judge_repeated_parts(struct run_data *run)
{
	for (int i = 1; i < run->part_count; i++) {
		const struct run_part *other = run_data_find_duplicate(run, i);
		if (other && (run->parts[i].t0_ns != IPF_ABSENT || run->parts[i].predicted))
			verdict_note(run->verdict, VERDICT_LOAD, VERDICT_INVALID,
			             "%s has requests of the same records as %s: they count twice", shown(run->parts[i].name).text,
			             shown(other->name).text);
	}
}

/* Finds whether the parts are shards: they ran at the same time or, if the time is not known, they are by their
 * schedules or no arrival is in two of them. */
static int find_shards(struct run_data *run, struct ipf_error *err)
{
	if (judge_shards(run, err) < 0)
		return -1;
	judge_repeated_parts(run);
	if (run->part_count < 2)
		return 0;
	if (run->shard_set.of) {
		run->shards = overlapping(run) != 0;
		return 0;
	}
	int apart = disjoint(run, err), together = overlapping(run);
	if (apart < 0)
		return -1;
	run->one_schedule = apart;
	run->shards = together < 0 ? apart : together;
	if (run->one_schedule)
		verdict_shards(run->verdict);
	return 0;
}

/* A twin that predicted a part had no request of the others. */
static void judge_predicted_apart(struct run_data *run)
{
	bool apart = run->shards;
	for (int i = 0; i < run->part_count; i++)
		apart |= json_array_size(json_object_get(run->parts[i].header, "from")) > 1;
	if (run->parts[0].predicted && apart)
		verdict_predicted_apart(run->verdict);
}

/* Windows of shards are merged by their clocks. A difference is reported; nothing is corrected by it. */
static void judge_clocks(struct run_data *run)
{
	json_t *clocks = run_data_clocks(run);
	json_t *every = json_object_get(json_object_get(run->parts[0].header, "series"), "every_ns");
	int client;
	struct clock_offset o = clock_offsets_worst(clocks, &client);
	if (json_is_integer(every))
		verdict_clocks(run->verdict, o.low_ns, o.high_ns, json_integer_value(every));
	json_decref(clocks);
}

/* Adds stages that rows refer to but no schedule has. */
static int name_stages(struct run_data *run, struct ipf_error *err)
{
	size_t count = run->schedule.count;
	if (run->row_count > 0 && (size_t)run->rows[run->row_count - 1].stage + 1 > count)
		count = (size_t)run->rows[run->row_count - 1].stage + 1;
	if (count == run->schedule.count)
		return 0;
	struct schedule_stage *stages = realloc(run->schedule.stages, count * sizeof *stages);
	if (!stages)
		return ipf_error_memory(err);
	run->schedule.stages = stages;
	while (run->schedule.count < count) {
		char name[32];
		snprintf(name, sizeof name, "stage %zu", run->schedule.count);
		struct schedule_stage *stage = &stages[run->schedule.count];
		*stage = (struct schedule_stage){.name = strdup(name),
		                                 .kind = strdup("unknown"),
		                                 .spec = strdup(""),
		                                 .begin_ns = IPF_ABSENT,
		                                 .end_ns = IPF_ABSENT,
		                                 .slots = IPF_ABSENT,
		                                 .arrivals = IPF_ABSENT,
		                                 .rate = NAN,
		                                 .measured = true};
		run->schedule.count++;
		if (!stage->name || !stage->kind || !stage->spec)
			return ipf_error_memory(err);
	}
	return 0;
}

/* The load of two repeats is the same, up to rounding. */
static bool same_load(const struct stage_load *a, const struct stage_load *b)
{
	bool rates = isnan(a->rate) || isnan(b->rate) ? isnan(a->rate) == isnan(b->rate)
	                                              : fabs(a->rate - b->rate) <= 0.01 * fabs(a->rate);
	return rates && a->slots == b->slots;
}

/* Repeats ipf-fire recorded with other loads than the first: figures of all of them are those of no load. Shards of a
 * schedule that ran one after another have each their share. */
static void judge_repeated_load(struct run_data *run, size_t stage)
{
	struct schedule_stage *schedule = &run->schedule.stages[stage];
	const struct run_part *first = &run->parts[0], *other = first;
	for (int i = 1; i < run->part_count && other == first; i++)
		if (!same_load(&first->loads[stage], &run->parts[i].loads[stage]))
			other = &run->parts[i];
	if (other == first || run->shard_set.of || json_object_get(first->header, "imported"))
		return;
	schedule->slots = IPF_ABSENT;
	schedule->rate = NAN;
	verdict_note(run->verdict, VERDICT_LOAD, VERDICT_DOUBTFUL,
	             "%s has another load than %s in stage %s: the figures of both together describe neither",
	             shown(other->name).text, shown(first->name).text, shown(schedule->name).text);
}

/* Gives the stages the load of all parts. Those of different schedules have no stage in common. */
static void join_loads(struct run_data *run)
{
	if (run->any_schedules)
		return;
	for (size_t s = 0; s < run->schedule.count; s++) {
		if (!run->shards) {
			judge_repeated_load(run, s);
			continue;
		}
		struct stage_load sum = run->parts[0].loads[s];
		for (int i = 1; i < run->part_count; i++)
			stage_load_add(&sum, &run->parts[i].loads[s]);
		run->schedule.stages[s].slots = sum.slots;
		run->schedule.stages[s].rate = sum.rate;
	}
}

/* The first start and the last end of a part's requests in a stage; IPF_ABSENT. */
static void extent(const struct run_data *run, int32_t stage, int part, int64_t *first, int64_t *last)
{
	int64_t count;
	const struct row *rows = run_data_stage_rows(run, stage, &count);
	*first = *last = IPF_ABSENT;
	for (int64_t i = 0; i < count; i++) {
		if (rows[i].part != part || rows[i].start_ns == IPF_ABSENT)
			continue;
		if (*first == IPF_ABSENT)
			*first = rows[i].start_ns;
		if (rows[i].end_ns != IPF_ABSENT && rows[i].end_ns > *last)
			*last = rows[i].end_ns;
	}
}

/* When a stage began, as ipf-fire recorded it: "begin_ns" of its first client, "last_begin_ns" of its last one;
 * IPF_ABSENT. */
static int64_t seen_begin(const struct run_part *part, size_t stage, const char *key)
{
	json_t *begin = json_object_get(json_array_get(part->stages, stage), key);
	const int64_t most = INT64_C(1000000000000000000);
	bool sane = json_is_integer(begin) && json_integer_value(begin) > -most && json_integer_value(begin) < most;
	return sane ? json_integer_value(begin) : IPF_ABSENT;
}

/* Sets the windows of a part. A stage without a planned end lasts until its last request has ended, and the time of the
 * schedule stops meanwhile: the next stages are later by that much, unless their real beginning was recorded. An
 * incomplete part has no information on the time after its last line, and one that was ended on purpose none on the
 * time after that. */
static void set_windows(const struct run_data *run, int part_index)
{
	struct run_part *part = &run->parts[part_index];
	int64_t shift = 0;
	for (size_t s = 0; s < run->schedule.count; s++) {
		const struct schedule_stage *stage = &run->schedule.stages[s];
		struct stage_window *w = &part->windows[s];
		int64_t first, last;
		extent(run, (int32_t)s, part_index, &first, &last);
		int64_t begin = seen_begin(part, s, "begin_ns"), last_begin = seen_begin(part, s, "last_begin_ns");
		if (begin == IPF_ABSENT)
			begin = stage->begin_ns == IPF_ABSENT ? first : stage->begin_ns + shift;
		*w = (struct stage_window){.begin_ns = begin,
		                           .end_ns = IPF_ABSENT,
		                           .drain_ns = IPF_ABSENT,
		                           .length_ns = IPF_ABSENT,
		                           .counted = stage->end_ns == IPF_ABSENT};
		if (w->begin_ns == IPF_ABSENT)
			continue;
		if (w->counted) {
			w->end_ns = last > w->begin_ns ? last : w->begin_ns;
			if (stage->begin_ns != IPF_ABSENT)
				shift += w->end_ns - w->begin_ns;
		} else {
			w->length_ns = stage->end_ns - stage->begin_ns;
			w->end_ns = (last_begin > w->begin_ns ? last_begin : w->begin_ns) + w->length_ns;
		}
		if (part->incomplete[0] && w->end_ns > part->last_ns)
			w->end_ns = part->last_ns;
		if (part->stopped_ns != IPF_ABSENT && w->end_ns > part->stopped_ns)
			w->end_ns = part->stopped_ns;
		if (w->end_ns <= w->begin_ns)
			w->begin_ns = w->end_ns = IPF_ABSENT;
		w->drain_ns = last != IPF_ABSENT && last > w->end_ns ? last : w->end_ns;
	}
}

int merge_parts(struct run_data *run, struct ipf_error *err)
{
	failure_tally_sort(&run->failures);
	failure_tally_sort(&run->invalid_outputs);
	if (sort_rows(run, err) < 0 || find_shards(run, err) < 0)
		return -1;
	judge_predicted_apart(run);
	join_loads(run);
	if (name_stages(run, err) < 0)
		return -1;
	judge_clocks(run);
	for (int i = 0; i < run->part_count; i++) {
		run->parts[i].windows = calloc(run->schedule.count + 1, sizeof *run->parts[i].windows);
		if (!run->parts[i].windows)
			return ipf_error_memory(err);
		set_windows(run, i);
		client_delays_prepare(&run->parts[i].delays);
		if (run->parts[i].delays.failed)
			return ipf_error_memory(err);
	}
	return 0;
}
