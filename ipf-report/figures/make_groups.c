#include "figures/make_groups.h"

#include "absent.h"
#include "array.h"
#include "cli/units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int grouping_choice_parse(struct grouping_choice *choice, const char *text, struct ipf_error *err)
{
	static const char *const names[GROUPINGS] = {"model", "target", "session", NULL, NULL, "replica", "tag", "inputs"};
	struct ipf_error reason = {0};
	*choice = (struct grouping_choice){.by = GROUPINGS};
	if (strcmp(text, "stage") == 0)
		return 0;
	for (enum grouping by = 0; by < GROUPINGS; by++)
		if (names[by] && strcmp(text, names[by]) == 0) {
			choice->by = by;
			choice->tag = by == BY_TAG ? "" : NULL;
			return 0;
		}
	if (strncmp(text, "tag=", 4) == 0 && text[4]) {
		*choice = (struct grouping_choice){.by = BY_TAG, .tag = text + 4};
		return 0;
	}
	if (strncmp(text, "time=", 5) == 0) {
		choice->by = BY_TIME;
		if (parse_duration(text + 5, &choice->value, &reason) < 0)
			return ipf_error_set(err, IPF_USAGE, "time: %s", reason.text);
		if (choice->value <= 0)
			return ipf_error_set(err, IPF_USAGE, "time: expected a time above 0, got \"%s\"", text + 5);
		return 0;
	}
	if (strncmp(text, "input-tokens=", 13) == 0) {
		choice->by = BY_INPUT_TOKENS;
		if (parse_count(text + 13, &choice->value, &reason) < 0)
			return ipf_error_set(err, IPF_USAGE, "input-tokens: %s", reason.text);
		if (choice->value < 2 || choice->value > MADE_GROUPS_MOST)
			return ipf_error_set(err, IPF_USAGE, "input-tokens: expected a count from 2 to %d, got %lld",
			                     MADE_GROUPS_MOST, (long long)choice->value);
		return 0;
	}
	return ipf_error_set(err, IPF_USAGE,
	                     "expected stage, model, target, replica, session, tag, tag=NAME, inputs, time=TIME or "
	                     "input-tokens=COUNT, got \"%s\"",
	                     text);
}

static int64_t floor_of(int64_t t_ns, int64_t length_ns)
{
	return t_ns >= 0 ? t_ns / length_ns : -((-t_ns + length_ns - 1) / length_ns);
}

static int64_t time_of(const struct row *row)
{
	return row->due_ns != IPF_ABSENT ? row->due_ns : row->start_ns;
}

/* Adds a name to a table of groups. -1: out of memory. */
static int name_group(struct string_table *table, const char *name)
{
	if (!array_one_more(table->list, table->count))
		return -1;
	if (!(table->list[table->count] = strdup(name)))
		return -1;
	table->count++;
	return 0;
}

static int make_times(struct run_data *run, int64_t length_ns, struct ipf_error *err)
{
	int64_t first = INT64_MAX, last = INT64_MIN;
	for (int64_t i = 0; i < run->row_count; i++) {
		int64_t t = time_of(&run->rows[i]);
		if (t == IPF_ABSENT)
			continue;
		int64_t window = floor_of(t, length_ns);
		first = window < first ? window : first;
		last = window > last ? window : last;
	}
	if (first > last)
		return 0;
	if (last - first >= MADE_GROUPS_MOST)
		return ipf_error_set(err, IPF_USAGE, "--by time: %lld windows, and at most %d are possible: use longer ones",
		                     (long long)(last - first + 1), MADE_GROUPS_MOST);
	for (int64_t window = first; window <= last; window++) {
		char name[48];
		snprintf(name, sizeof name, "%.10g s", (double)(window * length_ns) / 1e9);
		if (name_group(&run->groups[BY_TIME], name) < 0)
			return ipf_error_memory(err);
	}
	for (int64_t i = 0; i < run->row_count; i++) {
		int64_t t = time_of(&run->rows[i]);
		run->rows[i].group[BY_TIME] = t == IPF_ABSENT ? -1 : (int32_t)(floor_of(t, length_ns) - first);
	}
	run->time_group_ns = length_ns;
	run->time_group_first = first;
	return 0;
}

/* Numbers of inputs with a group each. */
#define SIZES_MOST 16

static int by_value(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
	return (x > y) - (x < y);
}

/* The bin of a value: how many of the edges are at or below it. */
static int32_t bin_of(int64_t value, const int64_t *edges, int32_t count)
{
	int32_t bin = 0;
	while (bin < count && edges[bin] <= value)
		bin++;
	return bin;
}

/* Values in order, and where one bin ends and the next begins. */
struct bins {
	int64_t *values, count, edges[MADE_GROUPS_MOST];
	int32_t edge_count;
};

/* Names the bins by their least and their greatest value. -1: out of memory. */
static int name_bins(struct string_table *table, const struct bins *b)
{
	const int64_t *values = b->values, count = b->count, *edges = b->edges;
	const int32_t edge_count = b->edge_count;
	for (int64_t i = 0, k; i < count; i = k) {
		int32_t bin = bin_of(values[i], edges, edge_count);
		for (k = i; k < count && bin_of(values[k], edges, edge_count) == bin;)
			k++;
		char name[64];
		if (values[i] == values[k - 1])
			snprintf(name, sizeof name, "%lld", (long long)values[i]);
		else
			snprintf(name, sizeof name, "%lld-%lld", (long long)values[i], (long long)values[k - 1]);
		if (name_group(table, name) < 0)
			return -1;
	}
	return 0;
}

/* All values of the column, in order. -1: out of memory. */
static int read_values(struct bins *b, const struct run_data *run, int column)
{
	b->values = malloc((size_t)(run->row_count + 1) * sizeof *b->values);
	if (!b->values)
		return -1;
	for (int64_t i = 0; i < run->row_count; i++)
		if (row_get(&run->rows[i], column) != IPF_ABSENT)
			b->values[b->count++] = row_get(&run->rows[i], column);
	qsort(b->values, (size_t)b->count, sizeof *b->values, by_value);
	return 0;
}

static void add_edge(struct bins *b, int64_t edge)
{
	if (edge > b->values[0] && (b->edge_count == 0 || edge > b->edges[b->edge_count - 1]))
		b->edges[b->edge_count++] = edge;
}

/* Puts each row into its bin. -1: out of memory. */
static int use_bins(struct bins *b, struct run_data *run, enum grouping by, int column)
{
	int bad = name_bins(&run->groups[by], b);
	free(b->values);
	for (int64_t i = 0; i < run->row_count; i++) {
		int64_t value = row_get(&run->rows[i], column);
		run->rows[i].group[by] = value == IPF_ABSENT ? -1 : bin_of(value, b->edges, b->edge_count);
	}
	return bad;
}

static int make_bins(struct run_data *run, int64_t bins, struct ipf_error *err)
{
	struct bins b = {.count = 0};
	if (read_values(&b, run, ROW_INPUT_TOKENS) < 0)
		return ipf_error_memory(err);
	for (int64_t k = 1; k < bins && b.count > 0; k++)
		add_edge(&b, b.values[b.count * k / bins]);
	return use_bins(&b, run, BY_INPUT_TOKENS, ROW_INPUT_TOKENS) < 0 ? ipf_error_memory(err) : 0;
}

/* A group for each number of inputs; if there are many, for each power of two and the numbers above the one before
 * it. */
static int make_sizes(struct run_data *run, struct ipf_error *err)
{
	struct bins b = {.count = 0};
	int64_t distinct = 0;
	if (!run->row_count || !column_exists(&run->rows[0].columns->list[ROW_INPUTS]))
		return 0;
	if (read_values(&b, run, ROW_INPUTS) < 0)
		return ipf_error_memory(err);
	for (int64_t i = 0; i < b.count; i++)
		distinct += i == 0 || b.values[i] != b.values[i - 1];
	for (int64_t i = 0; i < b.count && distinct <= SIZES_MOST; i++)
		add_edge(&b, b.values[i]);
	for (int64_t edge = 2; b.count > 0 && distinct > SIZES_MOST && edge <= b.values[b.count - 1]; edge = 2 * edge - 1)
		add_edge(&b, edge);
	return use_bins(&b, run, BY_INPUTS, ROW_INPUTS) < 0 ? ipf_error_memory(err) : 0;
}

int make_groups(struct run_data *run, const struct grouping_choice *choice, struct ipf_error *err)
{
	if (make_sizes(run, err) < 0)
		return -1;
	if (choice->by == BY_TIME)
		return make_times(run, choice->value, err);
	return choice->by == BY_INPUT_TOKENS ? make_bins(run, choice->value, err) : 0;
}
