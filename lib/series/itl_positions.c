#include "series/itl_positions.h"

#include "array.h"

#include <stdlib.h>

struct stage_positions {
	struct histogram *bins[ITL_POSITION_BINS];
};

struct itl_positions {
	struct stage_positions *stages;
	size_t count, cap;
};

struct itl_positions *itl_positions_new(void)
{
	return calloc(1, sizeof(struct itl_positions));
}

void itl_positions_free(struct itl_positions *all)
{
	if (!all)
		return;
	for (size_t i = 0; i < all->count; i++)
		for (int bin = 0; bin < ITL_POSITION_BINS; bin++)
			histogram_free(all->stages[i].bins[bin]);
	free(all->stages);
	free(all);
}

int64_t itl_position_first(int bin)
{
	return INT64_C(1) << bin;
}

static int bin_of(int64_t position)
{
	int bin = 63 - __builtin_clzll((unsigned long long)position);
	return bin < ITL_POSITION_BINS ? bin : ITL_POSITION_BINS - 1;
}

static int make_room(struct itl_positions *all, size_t count)
{
	if (!array_room(all->stages, all->cap, count))
		return -1;
	while (all->count < count)
		all->stages[all->count++] = (struct stage_positions){0};
	return 0;
}

/* The histogram of a bin, made if necessary; NULL: out of memory. */
static struct histogram *find(struct itl_positions *all, int64_t stage, int bin)
{
	if (make_room(all, (size_t)stage + 1) < 0)
		return NULL;
	struct histogram **h = &all->stages[stage].bins[bin];
	return *h ? *h : (*h = histogram_new_coarse());
}

int itl_positions_add(struct itl_positions *all, int64_t stage, int64_t position, int64_t value_ns, int64_t count)
{
	while (count > 0) {
		int bin = bin_of(position);
		int64_t left = itl_position_first(bin + 1) - position;
		int64_t n = bin == ITL_POSITION_BINS - 1 || count < left ? count : left;
		struct histogram *h = find(all, stage, bin);
		if (!h)
			return -1;
		histogram_add(h, value_ns, n);
		count -= n;
		if (count > 0) /* the next bin; in the last one there is none, and positions may be as large as any */
			position += n;
	}
	return 0;
}

size_t itl_positions_stages(const struct itl_positions *all)
{
	return all->count;
}

const struct histogram *itl_positions_get(const struct itl_positions *all, size_t stage, int bin)
{
	const struct histogram *h = stage < all->count ? all->stages[stage].bins[bin] : NULL;
	return h && histogram_count(h) > 0 ? h : NULL;
}

void itl_positions_write(const struct itl_positions *all, size_t stage, int bin, struct buffer *line)
{
	buffer_format(line, "{\"histogram\":\"" ITL_POSITIONS_NAME "\",\"stage\":%zu,\"position\":%lld,", stage,
	              (long long)itl_position_first(bin));
	histogram_write_members(all->stages[stage].bins[bin], line);
}

int itl_positions_read(struct itl_positions *all, int64_t stage, const struct jdoc *doc, struct ipf_error *err)
{
	int64_t position;
	jdoc_id node = jdoc_get(doc, JDOC_ROOT, "position");
	if (!jdoc_to_int(doc, node, &position) || position < 1 || position != itl_position_first(bin_of(position)))
		return jdoc_expected(doc, node, "position", "a power of two up to 2^31", err);
	struct histogram *h = find(all, stage, bin_of(position));
	return h ? histogram_read(h, doc, JDOC_ROOT, err) : ipf_error_memory(err);
}
