#include "figures/later_turns.h"

#include <math.h>
#include <stdlib.h>

/* A request and the server that answered it. */
struct answered {
	int64_t n;
	int32_t part; /* the repeat; 0 in shards of one run */
	int32_t server;
};

static int by_number(const void *a, const void *b)
{
	const struct answered *x = a, *y = b;
	if (x->part != y->part)
		return x->part < y->part ? -1 : 1;
	return (x->n > y->n) - (x->n < y->n);
}

static struct answered answered_by(const struct run_data *run, const struct row *row)
{
	return (struct answered){row->n, run->shards ? 0 : row->part, row->group[BY_REPLICA]};
}

static bool is_later(const struct run_data *run, const struct row *row, const int64_t **after, int64_t *count)
{
	*count = row_after(row, after);
	return row->ok && *count > 0 && run->schedule.stages[row->stage].measured;
}

static double cached_share(const struct run_data *run)
{
	double cached = 0, of = 0;
	const int64_t *after;
	int64_t count;
	for (const struct row *row = run->rows; row < run->rows + run->row_count; row++) {
		const int64_t found = row_get(row, ROW_CACHED_TOKENS), input = row_get(row, ROW_INPUT_TOKENS);
		if (!is_later(run, row, &after, &count) || found == IPF_ABSENT || input == IPF_ABSENT)
			continue;
		cached += (double)found;
		of += (double)input;
	}
	return of > 0 ? cached / of : NAN;
}

/* `list` has all requests of sessions, sorted. */
static double same_server(const struct run_data *run, const struct answered *list, size_t length)
{
	int64_t same = 0, known = 0, count;
	const int64_t *after;
	for (const struct row *row = run->rows; row < run->rows + run->row_count; row++) {
		struct answered own = answered_by(run, row);
		bool found = false, kept = false;
		for (int64_t k = 0; is_later(run, row, &after, &count) && k < count; k++) {
			const struct answered wanted = {after[k], own.part, 0};
			const struct answered *before = bsearch(&wanted, list, length, sizeof *list, by_number);
			found |= before && before->server >= 0 && own.server >= 0;
			kept |= before && before->server == own.server;
		}
		known += found;
		same += found && kept;
	}
	return known > 0 ? (double)same / (double)known : NAN;
}

int later_turns_read(struct later_turns *turns, const struct run_data *run, struct ipf_error *err)
{
	*turns = (struct later_turns){NAN, NAN};
	if (!column_exists(&run->columns.list[ROW_AFTER]))
		return 0;
	turns->cached_share = cached_share(run);
	if (run->groups[BY_REPLICA].count < 2)
		return 0;
	struct answered *list = malloc((size_t)run->row_count * sizeof *list);
	size_t length = 0;
	if (!list)
		return ipf_error_memory(err);
	for (const struct row *row = run->rows; row < run->rows + run->row_count; row++)
		if (row->group[BY_SESSION] >= 0)
			list[length++] = answered_by(run, row);
	qsort(list, length, sizeof *list, by_number);
	turns->same_server = same_server(run, list, length);
	free(list);
	return 0;
}
