#include "draft/arrivals.h"

#include "absent.h"
#include "sort/sort_key.h"
#include "stats/rng.h"

/* Numbers in ascending order, each with a second one. */
struct number_list {
	struct record_sorter sorter;
	struct buffer key;
};

static int add_number(struct number_list *list, int64_t number, int64_t with, struct ipf_error *err)
{
	int64_t record[] = {number, with};
	buffer_clear(&list->key);
	sort_key_number(&list->key, number);
	return list->key.failed ? ipf_error_memory(err)
	                        : record_sorter_add(&list->sorter, buffer_all(&list->key),
	                                            (struct slice){(const char *)record, sizeof record}, err);
}

static int next_number(struct number_list *list, int64_t *number, int64_t *with, struct ipf_error *err)
{
	const struct sorted_record *record;
	int got = record_sorter_next(&list->sorter, &record, err);
	if (got > 0) {
		memcpy(number, sorted_record_bytes(record).data, sizeof *number);
		memcpy(with, sorted_record_bytes(record).data + sizeof *number, sizeof *with);
	}
	return got;
}

static void release_numbers(struct number_list *list)
{
	record_sorter_release(&list->sorter);
	buffer_release(&list->key);
}

/* ---- drafts ---- */

/* Lists the timestamps, each with its index in the order of the data. */
static int list_timestamps(struct draft_sorter *drafts, struct number_list *timestamps, struct draft *d,
                           struct ipf_error *err)
{
	int64_t index = 0;
	int got = draft_sorter_begin(drafts, err);
	while (got == 0 && (got = draft_sorter_next(drafts, NULL, 0, d, err)) > 0) {
		got = 0;
		for (size_t k = 0; k < d->count && got == 0; k++)
			if (d->requests[k].at_ns != IPF_ABSENT)
				got = add_number(timestamps, d->requests[k].at_ns, index++, err);
	}
	return got;
}

/* Hands the drafts over with their moves, which are in the order of the data. */
static int hand_over(struct draft_sorter *drafts, struct number_list *moves, struct draft *d, struct reorder *to,
                     struct ipf_error *err)
{
	int got = draft_sorter_begin(drafts, err);
	while (got == 0 && (got = draft_sorter_next(drafts, NULL, 0, d, err)) > 0) {
		int64_t index, move_ns;
		for (size_t k = 0; k < d->count; k++) {
			if (d->requests[k].at_ns == IPF_ABSENT)
				continue;
			if (next_number(moves, &index, &move_ns, err) <= 0)
				return -1;
			d->requests[k].at_ns += move_ns;
		}
		got = reorder_add(to, d, err);
	}
	return got;
}

/* ---- moves ---- */

/* The median distance between distinct successive timestamps; 0 if there are none. */
static int find_median(struct number_list *timestamps, int64_t *median, struct ipf_error *err)
{
	struct number_list steps = {0};
	int64_t at_ns, before_ns = 0, index;
	bool first = true;
	int got = record_sorter_sort(&timestamps->sorter, err);
	while (got == 0 && (got = next_number(timestamps, &at_ns, &index, err)) > 0) {
		got = !first && at_ns > before_ns ? add_number(&steps, at_ns - before_ns, 0, err) : 0;
		before_ns = at_ns;
		first = false;
	}
	*median = 0;
	if (got == 0)
		got = record_sorter_sort(&steps.sorter, err);
	for (uint64_t left = steps.sorter.records / 2 + 1; got == 0 && left > 0; left--)
		got = next_number(&steps, median, &index, err) < 0 ? -1 : 0;
	release_numbers(&steps);
	return got;
}

/* Draws a move for each of the `count` requests of a timestamp, behind those of all timestamps before. */
static int draw_moves(struct rng *rng, int64_t at_ns, int64_t step_ns, int64_t count, struct record_sorter *moves,
                      struct ipf_error *err)
{
	struct buffer key = {0};
	int status = 0;
	for (; count > 0 && status == 0; count--) {
		int64_t move_ns = step_ns > 0 ? (int64_t)rng_below(rng, (uint64_t)step_ns) : 0;
		buffer_clear(&key);
		sort_key_number(&key, at_ns);
		sort_key_number(&key, move_ns);
		status = key.failed ? ipf_error_memory(err)
		                    : record_sorter_add(moves, buffer_all(&key),
		                                        (struct slice){(const char *)&move_ns, sizeof move_ns}, err);
	}
	buffer_release(&key);
	return status;
}

static int draw_all_moves(struct number_list *timestamps, int64_t median, uint64_t seed, struct record_sorter *moves,
                          struct ipf_error *err)
{
	struct rng rng;
	int64_t at_ns = 0, next_ns = 0, index, count = 0;
	rng_init(&rng, seed, "dequantise", 0);
	int got = record_sorter_sort(&timestamps->sorter, err);
	while (got == 0 && (got = next_number(timestamps, &next_ns, &index, err)) > 0) {
		got = 0;
		if (count > 0 && next_ns > at_ns) {
			int64_t step_ns = next_ns - at_ns < median ? next_ns - at_ns : median;
			got = draw_moves(&rng, at_ns, step_ns, count, moves, err);
			count = 0;
		}
		at_ns = next_ns;
		count++;
	}
	return got < 0 ? -1 : draw_moves(&rng, at_ns, median, count, moves, err);
}

/* Timestamps and moves are in the same order: brings the moves into the order of the data. */
static int assign_moves(struct number_list *timestamps, struct record_sorter *moves, struct number_list *assigned,
                        struct ipf_error *err)
{
	const struct sorted_record *record;
	int64_t at_ns, index, move_ns;
	int got = record_sorter_sort(&timestamps->sorter, err) < 0 ? -1 : record_sorter_sort(moves, err);
	while (got == 0 && (got = next_number(timestamps, &at_ns, &index, err)) > 0) {
		if (record_sorter_next(moves, &record, err) <= 0)
			return -1;
		memcpy(&move_ns, sorted_record_bytes(record).data, sizeof move_ns);
		got = add_number(assigned, index, move_ns, err);
	}
	return got < 0 ? -1 : record_sorter_sort(&assigned->sorter, err);
}

int arrivals_dequantise(struct draft_sorter *drafts, uint64_t seed, struct reorder *to, struct ipf_error *err)
{
	struct number_list timestamps = {0}, assigned = {0};
	struct record_sorter moves = {0};
	struct draft d = {0};
	int64_t median;
	int status = list_timestamps(drafts, &timestamps, &d, err);
	if (status == 0)
		status = find_median(&timestamps, &median, err);
	if (status == 0)
		status = draw_all_moves(&timestamps, median, seed, &moves, err);
	if (status == 0)
		status = assign_moves(&timestamps, &moves, &assigned, err);
	release_numbers(&timestamps);
	record_sorter_release(&moves);
	if (status == 0)
		status = hand_over(drafts, &assigned, &d, to, err);
	release_numbers(&assigned);
	draft_release(&d);
	return status;
}
