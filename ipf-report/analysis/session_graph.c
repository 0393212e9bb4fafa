#include "analysis/session_graph.h"

#include "absent.h"

#include <stdlib.h>

struct session_place {
	int64_t n, at;
};

static int by_n(const void *a, const void *b)
{
	const struct session_place *x = a, *y = b;
	return (x->n > y->n) - (x->n < y->n);
}

/* Where request n is among the rows; -1: the session has no such request. */
static int64_t find_n(const struct session_graph *g, int64_t n)
{
	const struct session_place *found = bsearch(&(struct session_place){n, 0}, g->by_n, (size_t)g->count,
	                                            sizeof *g->by_n, by_n);
	return found ? found->at : -1;
}

int session_graph_link(struct session_graph *g)
{
	g->by_n = malloc((size_t)(g->count + 1) * sizeof *g->by_n);
	g->followers = calloc((size_t)g->count + 1, sizeof *g->followers);
	if (!g->by_n || !g->followers)
		return -1;
	for (int64_t i = 0; i < g->count; i++)
		g->by_n[i] = (struct session_place){g->rows[i]->n, i};
	qsort(g->by_n, (size_t)g->count, sizeof *g->by_n, by_n);
	for (int64_t i = 0; i < g->count; i++) {
		const int64_t *after, waits_for = row_after(g->rows[i], &after);
		g->known |= waits_for > 0;
		for (int64_t k = 0; k < waits_for; k++) {
			int64_t at = find_n(g, after[k]);
			if (at >= 0)
				g->followers[at]++;
		}
	}
	return 0;
}

void session_graph_release(struct session_graph *g)
{
	free(g->by_n);
	free(g->followers);
}

int64_t session_graph_due(const struct row *row)
{
	return row->due_ns != IPF_ABSENT                  ? row->due_ns
	       : row_get(row, ROW_READY_NS) != IPF_ABSENT ? row_get(row, ROW_READY_NS)
	                                                  : row->start_ns;
}

/* The last of rows[0 … before - 1] ended by then; -1: none did. */
static int64_t last_ended(const struct row *const *rows, int64_t before, int64_t by_ns)
{
	int64_t low = 0, high = before;
	while (low < high) {
		int64_t middle = low + (high - low) / 2;
		if (rows[middle]->end_ns <= by_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low - 1;
}

int64_t session_graph_before(const struct session_graph *g, int64_t at)
{
	const int64_t *after, waits_for = row_after(g->rows[at], &after), due = session_graph_due(g->rows[at]);
	int64_t last = -1;
	if (!g->known)
		return last_ended(g->rows, at, due);
	for (int64_t k = 0; k < waits_for; k++) {
		int64_t parent = find_n(g, after[k]);
		if (parent > last && parent < at && g->rows[parent]->end_ns <= due)
			last = parent;
	}
	return last;
}

/* Starts and ends, in the order of time; at the same time ends come first. */
struct moment {
	int64_t t_ns;
	int change;
};

static int by_time(const void *a, const void *b)
{
	const struct moment *x = a, *y = b;
	if (x->t_ns != y->t_ns)
		return x->t_ns < y->t_ns ? -1 : 1;
	return (x->change > y->change) - (x->change < y->change);
}

int session_graph_width(const struct session_graph *g, struct session_width *width)
{
	struct moment *moments = malloc((size_t)(2 * g->count + 1) * sizeof *moments);
	int64_t in_flight = 0;
	*width = (struct session_width){0};
	if (!moments)
		return -1;
	for (int64_t i = 0; i < g->count; i++) {
		moments[2 * i] = (struct moment){g->rows[i]->start_ns, 1};
		moments[2 * i + 1] = (struct moment){g->rows[i]->end_ns, -1};
		width->in_all_ns += g->rows[i]->end_ns - g->rows[i]->start_ns;
	}
	qsort(moments, (size_t)(2 * g->count), sizeof *moments, by_time);
	for (int64_t i = 0; i < 2 * g->count; i++) {
		width->in_flight_ns += in_flight > 0 ? moments[i].t_ns - moments[i - 1].t_ns : 0;
		in_flight += moments[i].change;
		width->most = in_flight > width->most ? in_flight : width->most;
	}
	free(moments);
	return 0;
}
