#include "compare/observed_replay.h"

#include "hash_index.h"
#include "stream/observed.h"
#include "stream/provenance.h"

#include <stdlib.h>

/* The rows of one part of a run, by their number in the capture. */
struct captured_row {
	uint64_t key;
	struct row *row;
};

struct captured_rows {
	struct captured_row *table;
	size_t room, used;
	int64_t rows; /* those in the table, and those without a number, but not those with the number of another */
};

static struct row *find_row(const struct captured_rows *in, int64_t number)
{
	if (number == IPF_ABSENT || in->used == 0)
		return NULL;
	const struct captured_row *found = hash_index_find(in->table, in->room, hash_index_key((uint64_t)number));
	return found->row;
}

static int list_rows(struct captured_rows *to, struct run_data *run, int part, struct ipf_error *err)
{
	*to = (struct captured_rows){0};
	for (int64_t i = 0; i < run->row_count; i++) {
		struct row *row = &run->rows[i];
		const int64_t number = row_get(row, ROW_CAPTURED);
		if (row->part != part)
			continue;
		to->rows++;
		if (number == IPF_ABSENT)
			continue;
		if (!hash_index_room(to->table, to->room, to->used + 1))
			return ipf_error_memory(err);
		const uint64_t key = hash_index_key((uint64_t)number);
		struct captured_row *entry = hash_index_find(to->table, to->room, key);
		if (entry->key)
			to->rows--;
		else
			to->used++;
		*entry = (struct captured_row){.key = key, .row = row};
	}
	return 0;
}

/* Does the header of its trace name this capture? */
static bool is_of_capture(const struct run_part *replay, const struct run_part *observed)
{
	json_t *trace = provenance_find(replay->header, "trace");
	json_t *t0 = json_object_get(json_object_get(trace, OBSERVED_MEMBER), "t0_unix_ns");
	return observed->observed && !replay->observed && observed->t0_ns != IPF_ABSENT && json_is_integer(t0) &&
	       json_integer_value(t0) == observed->t0_ns;
}

/* One measured stage, replaying all of the trace as it was recorded. */
static bool is_whole_replay(const struct run_data *replay)
{
	const struct schedule_stage *stage = replay->schedule.stages;
	return !replay->shards && replay->schedule.count == 1 && stage->measured && stage->speed == 1 &&
	       !(stage->by && *stage->by) && stage->idle_max_ns == 0 && stage->copy == 0 && !stage->closed &&
	       stage->arrivals == replay->schedule.trace_requests;
}

/* The time in the capture at which the replay begins; IPF_ABSENT: their requests or times are not the same. */
static int64_t shift_between(const struct captured_rows *observed, const struct captured_rows *replay)
{
	int64_t shift = IPF_ABSENT, both = 0, seen = 0;
	const int64_t *after;
	for (size_t i = 0; i < observed->room; i++) {
		const struct row *capture = observed->table[i].row;
		const struct row *sent = capture ? find_row(replay, row_get(capture, ROW_CAPTURED)) : NULL;
		seen += capture && capture->error != VERDICT_UNSEEN;
		if (!capture || !sent)
			continue;
		both++;
		if (sent->due_ns == IPF_ABSENT || capture->start_ns == IPF_ABSENT || row_after(sent, &after) > 0)
			continue;
		if (shift == IPF_ABSENT)
			shift = capture->start_ns - sent->due_ns;
		const int64_t off = capture->start_ns - sent->due_ns - shift;
		if (off > REPLAY_TIMES_NS || off < -REPLAY_TIMES_NS)
			return IPF_ABSENT;
	}
	return both == replay->rows && (double)both >= REPLAY_SHARE_LEAST * (double)seen ? shift : IPF_ABSENT;
}

/* A request missing in the replay has the number of the one before it. */
static void take_numbers(struct run_data *run, int part, const struct captured_rows *replay)
{
	int64_t number = 0;
	for (int64_t i = 0; i < run->row_count; i++) {
		struct row *row = &run->rows[i];
		if (row->part != part)
			continue;
		const struct row *sent = find_row(replay, row_get(row, ROW_CAPTURED));
		if (sent)
			number = sent->n;
		row->n = number;
	}
}

static void take_window(struct run_part *observed, const struct run_part *replay, int64_t shift_ns)
{
	struct stage_window *to = &observed->windows[0];
	const struct stage_window *from = &replay->windows[0];
	const int64_t drain_ns = to->drain_ns;
	if (from->begin_ns == IPF_ABSENT || to->begin_ns == IPF_ABSENT)
		return;
	*to = *from;
	to->begin_ns += shift_ns;
	to->end_ns += shift_ns;
	to->drain_ns = drain_ns > to->end_ns ? drain_ns : to->end_ns;
}

static int join_parts(struct run_data *capture, int i, struct run_data *replay, int k, struct ipf_error *err)
{
	struct captured_rows observed = {0}, sent = {0};
	struct run_part *of_capture = &capture->parts[i], *of_replay = &replay->parts[k];
	if (!is_of_capture(of_replay, of_capture) || !is_whole_replay(replay) || capture->schedule.count != 1)
		return 0;
	int bad = list_rows(&observed, capture, i, err);
	if (bad == 0)
		bad = list_rows(&sent, replay, k, err);
	const int64_t shift = bad == 0 ? shift_between(&observed, &sent) : IPF_ABSENT;
	if (shift != IPF_ABSENT) {
		if (of_capture->capture_t0_ns == IPF_ABSENT) {
			take_numbers(capture, i, &sent);
			take_window(of_capture, of_replay, shift);
		}
		of_capture->capture_t0_ns = of_replay->capture_t0_ns = of_capture->t0_ns;
	}
	free(observed.table);
	free(sent.table);
	return bad;
}

int observed_replay_join(struct run_data *const runs[SIDES], struct ipf_error *err)
{
	for (int s = 0; s < SIDES; s++)
		for (int i = 0; i < runs[s]->part_count; i++)
			for (int k = 0; k < runs[1 - s]->part_count; k++)
				if (join_parts(runs[s], i, runs[1 - s], k, err) < 0)
					return -1;
	return 0;
}
