#include "draft/unit_draws.h"

#include "absent.h"
#include "clock.h"
#include "memory_limit.h"
#include "sort/sort_key.h"

#include <math.h>
#include <stdlib.h>

/* Half of the limit is for the lists. */
static int check_memory(uint64_t count, struct ipf_error *err)
{
	if (count <= UINT32_MAX && count <= memory_limit() / 2 / 8)
		return 0;
	return ipf_error_set(err, IPF_USAGE,
	                     "random order takes 8 bytes of memory for each of %llu requests or sessions: give --memory at "
	                     "least %llu MiB, or select fewer",
	                     (unsigned long long)count, (unsigned long long)(count * 16 >> 20) + 1);
}

/* ---- random order ---- */

/* The place of each unit in the new order. */
static uint32_t *shuffled_places(uint64_t count, struct rng *rng)
{
	uint32_t *units = reallocarray(NULL, count + 1, sizeof *units), *places = NULL;
	for (uint64_t i = 0; units && i < count; i++)
		units[i] = (uint32_t)i;
	for (uint64_t i = count; units && i > 1; i--) {
		uint64_t k = rng_below(rng, i);
		uint32_t moved = units[i - 1];
		units[i - 1] = units[k];
		units[k] = moved;
	}
	if (units)
		places = reallocarray(NULL, count + 1, sizeof *places);
	for (uint64_t i = 0; places && i < count; i++)
		places[units[i]] = (uint32_t)i;
	free(units);
	return places;
}

int unit_draws_shuffle(struct draft_sorter *units, uint64_t count, struct rng *rng, struct draft_sorter *drawn,
                       struct ipf_error *err)
{
	struct draft d = {0};
	struct unit unit;
	int got = check_memory(count, err);
	uint32_t *places = got < 0 ? NULL : shuffled_places(count, rng);
	if (got == 0 && !places)
		got = ipf_error_memory(err);
	if (got == 0)
		got = draft_sorter_begin(units, err);
	uint64_t left = 0, next = 0;
	while (got == 0 && (got = draft_sorter_next(units, &unit, sizeof unit, &d, err)) > 0) {
		if (left == 0)
			next++;
		left = (left ? left : unit.drafts) - 1;
		sort_key_number(&drawn->key, places[next - 1]);
		got = draft_sorter_add(drawn, &unit, sizeof unit, &d, err);
	}
	free(places);
	draft_release(&d);
	return got;
}

/* ---- with replacement ---- */

/* The requests of each unit, so draws can be counted before anything is read. */
static int64_t *count_requests(struct draft_sorter *units, uint64_t count, struct ipf_error *err)
{
	int64_t *requests = calloc(count + 1, sizeof *requests);
	struct draft d = {0};
	struct unit unit;
	uint64_t left = 0, next = 0;
	int got = requests ? draft_sorter_begin(units, err) : ipf_error_memory(err);
	while (got == 0 && (got = draft_sorter_next(units, &unit, sizeof unit, &d, err)) > 0) {
		if (left == 0) {
			requests[next++] = unit.requests;
			left = unit.drafts;
		}
		left--;
		got = 0;
	}
	draft_release(&d);
	if (got == 0)
		return requests;
	free(requests);
	return NULL;
}

/* Adds the number of each draw to `draws`, by unit. */
static int draw(const int64_t *requests, uint64_t count, struct draw_limits *limits, struct rng *rng,
                struct record_sorter *draws, struct ipf_error *err)
{
	struct buffer key = {0};
	int64_t drawn = 0, sum = 0;
	int status = 0;
	while (status == 0 && count > 0 && (limits->requests == IPF_ABSENT || sum < limits->requests) &&
	       (limits->units == IPF_ABSENT || drawn < limits->units)) {
		uint64_t unit = rng_below(rng, count);
		if (limits->requests != IPF_ABSENT && sum + requests[unit] > limits->requests) {
			limits->too_long = requests[unit];
			break;
		}
		sum += requests[unit];
		buffer_clear(&key);
		sort_key_number(&key, (int64_t)unit);
		status = record_sorter_add(draws, buffer_all(&key), (struct slice){(const char *)&drawn, sizeof drawn}, err);
		drawn++;
	}
	buffer_release(&key);
	return status;
}

/* Adds a copy of a unit, which is a list of its own. */
static int add_copy(struct draft_sorter *unit, int64_t copy, int64_t place, struct draft_sorter *drawn,
                    struct ipf_error *err)
{
	struct draft d = {0};
	struct unit facts;
	int got = draft_sorter_begin(unit, err);
	while (got == 0 && (got = draft_sorter_next(unit, &facts, sizeof facts, &d, err)) > 0) {
		d.copy = copy;
		sort_key_number(&drawn->key, place);
		got = draft_sorter_add(drawn, &facts, sizeof facts, &d, err);
	}
	draft_release(&d);
	return got;
}

/* Reads the next unit of a list into one of its own: 1, 0, -1. */
static int take_unit(struct draft_sorter *units, struct draft_sorter *unit, struct draft *d, struct ipf_error *err)
{
	struct unit facts;
	int got = draft_sorter_next(units, &facts, sizeof facts, d, err);
	uint64_t left = got > 0 ? facts.drafts : 0;
	draft_sorter_clear(unit);
	for (; got > 0 && left > 0; left--) {
		if (draft_sorter_add(unit, &facts, sizeof facts, d, err) < 0)
			return -1;
		if (left > 1)
			got = draft_sorter_next(units, &facts, sizeof facts, d, err);
	}
	return got;
}

/* Joins units and draws, which are both in the order of units. */
static int add_drawn(struct draft_sorter *units, struct record_sorter *draws, struct draft_sorter *drawn,
                     struct ipf_error *err)
{
	struct draft_sorter unit = {0};
	struct buffer key = {0};
	struct draft d = {0};
	const struct sorted_record *record = NULL;
	int more = record_sorter_next(draws, &record, err), got = more;
	for (int64_t i = 0; more > 0 && got > 0 && (got = take_unit(units, &unit, &d, err)) > 0; i++) {
		buffer_clear(&key);
		sort_key_number(&key, i);
		for (int64_t copy = 0; more > 0 && slice_equal(sorted_record_key(record), buffer_all(&key)); copy++) {
			int64_t place;
			memcpy(&place, sorted_record_bytes(record).data, sizeof place);
			more = add_copy(&unit, copy, place, drawn, err) < 0 ? -1 : record_sorter_next(draws, &record, err);
		}
	}
	draft_sorter_release(&unit);
	buffer_release(&key);
	draft_release(&d);
	return more < 0 || got < 0 ? -1 : 0;
}

int unit_draws_replacing(struct draft_sorter *units, uint64_t count, struct draw_limits *limits, struct rng *rng,
                         struct draft_sorter *drawn, struct ipf_error *err)
{
	struct record_sorter draws = {0};
	limits->too_long = 0;
	if (check_memory(count, err) < 0)
		return -1;
	int64_t *requests = count_requests(units, count, err);
	int status = requests ? draw(requests, count, limits, rng, &draws, err) : -1;
	free(requests);
	if (status == 0)
		status = record_sorter_sort(&draws, err);
	if (status == 0)
		status = draft_sorter_begin(units, err);
	if (status == 0)
		status = add_drawn(units, &draws, drawn, err);
	record_sorter_release(&draws);
	return status;
}

/* ---- scaling ---- */

/* The largest distance between the arrivals of a copy and its original. */
struct window {
	const struct scaling *scaling;
	int64_t ns;
};

static int find_window(struct draft_sorter *units, uint64_t count, int64_t *window_ns, struct ipf_error *err)
{
	int64_t first = INT64_MAX, last = INT64_MIN, least = 30 * NS_PER_S;
	struct draft d = {0};
	struct unit unit;
	uint64_t left = 0;
	int got = draft_sorter_begin(units, err);
	while (got == 0 && (got = draft_sorter_next(units, &unit, sizeof unit, &d, err)) > 0) {
		int64_t at_ns = d.requests[0].at_ns;
		if (left == 0 && at_ns != IPF_ABSENT) {
			first = at_ns < first ? at_ns : first;
			last = at_ns > last ? at_ns : last;
		}
		left = (left ? left : unit.drafts) - 1;
		got = 0;
	}
	draft_release(&d);
	int64_t gaps = last > first ? (last - first) / (int64_t)count * 10 : 0;
	*window_ns = gaps > least ? gaps : least;
	return got;
}

static void move_arrivals(struct draft *d, int64_t ns)
{
	for (size_t i = 0; i < d->count; i++)
		if (d->requests[i].at_ns != IPF_ABSENT)
			d->requests[i].at_ns += ns;
}

/* Draws how often a unit occurs and when, by its first draft; adds its copies. `index` is its place in the list. */
static int add_copies(struct draft_sorter *unit, int64_t index, const struct draft *first, const struct window *window,
                      struct draft_sorter *drawn, struct ipf_error *err)
{
	const struct scaling *scaling = window->scaling;
	const int64_t window_ns = window->ns;
	struct draft d = {0};
	struct unit facts;
	struct rng rng;
	const double whole = floor(scaling->factor);
	const int64_t at_ns = first->requests[0].at_ns;
	int got = 0;
	rng_init(&rng, scaling->seed, "scale",
	         (uint64_t)first->number + (uint64_t)first->part * UINT64_C(0x9e3779b97f4a7c15));
	int64_t copies = (int64_t)whole + (rng_uniform(&rng) < scaling->factor - whole);
	for (int64_t copy = 0; copy < copies && got == 0; copy++) {
		int64_t shift_ns = 0;
		if (copy > 0 && at_ns != IPF_ABSENT) {
			shift_ns = (int64_t)rng_below(&rng, 2 * (uint64_t)window_ns) - window_ns;
			shift_ns = at_ns + shift_ns < scaling->from_ns ? -shift_ns : shift_ns;
		}
		got = draft_sorter_begin(unit, err);
		while (got == 0 && (got = draft_sorter_next(unit, &facts, sizeof facts, &d, err)) > 0) {
			d.copy = copy;
			move_arrivals(&d, shift_ns);
			sort_key_number(&drawn->key, at_ns + shift_ns);
			sort_key_number(&drawn->key, index);
			sort_key_number(&drawn->key, copy);
			got = draft_sorter_add(drawn, &facts, sizeof facts, &d, err);
		}
	}
	draft_release(&d);
	return got;
}

int unit_draws_scale(struct draft_sorter *units, uint64_t count, const struct scaling *scaling,
                     struct draft_sorter *drawn, struct ipf_error *err)
{
	struct draft_sorter unit = {0};
	struct draft d = {0};
	struct unit facts;
	struct window window = {.scaling = scaling};
	int got = find_window(units, count, &window.ns, err);
	if (got == 0)
		got = draft_sorter_begin(units, err);
	for (int64_t i = 0; got == 0 && (got = take_unit(units, &unit, &d, err)) > 0; i++) {
		struct draft first = {0};
		got = draft_sorter_begin(&unit, err) < 0 || draft_sorter_next(&unit, &facts, sizeof facts, &first, err) < 0 ||
		              add_copies(&unit, i, &first, &window, drawn, err) < 0
		          ? -1
		          : 0;
		draft_release(&first);
	}
	draft_sorter_release(&unit);
	draft_release(&d);
	return got;
}
