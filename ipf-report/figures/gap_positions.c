#include "figures/gap_positions.h"

static bool is_in(const struct run_data *run, int32_t stage, size_t s)
{
	return stage >= 0 ? (int32_t)s == stage : run->schedule.stages[s].measured;
}

/* Does the selection have gaps, and are the positions of all of them known? */
static bool is_known(const struct run_data *run, int32_t stage)
{
	bool any = false;
	for (size_t s = 0; s < run->schedule.count; s++) {
		if (!is_in(run, stage, s) || !run_data_gaps(run, (int32_t)s, -1))
			continue;
		if (!run_data_has_positions(run, (int32_t)s))
			return false;
		any = true;
	}
	return any;
}

/* A new histogram; NULL: out of memory. */
static struct histogram *merge_bin(const struct run_data *run, int32_t stage, int bin)
{
	struct histogram *all = histogram_new_coarse();
	for (size_t s = 0; all && s < run->schedule.count; s++) {
		const struct histogram *gaps = is_in(run, stage, s) ? itl_positions_get(run->positions, s, bin) : NULL;
		if (gaps)
			histogram_merge(all, gaps);
	}
	return all;
}

int gap_positions_find(struct gap_positions *found, const struct run_data *run, int32_t stage)
{
	*found = (struct gap_positions){.count = 0};
	if (!is_known(run, stage))
		return 0;
	for (int bin = 0; bin < ITL_POSITION_BINS; bin++) {
		struct histogram *gaps = merge_bin(run, stage, bin);
		if (!gaps)
			return -1;
		if (histogram_count(gaps) == 0) {
			histogram_free(gaps);
			continue;
		}
		found->list[found->count].from = itl_position_first(bin);
		found->list[found->count].to = itl_position_first(bin + 1) - 1;
		found->list[found->count++].gaps = gaps;
	}
	return 1;
}

void gap_positions_release(struct gap_positions *found)
{
	for (int i = 0; i < found->count; i++)
		histogram_free(found->list[i].gaps);
	found->count = 0;
}
