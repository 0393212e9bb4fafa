#include "analysis/session_figures.h"

#include "absent.h"
#include "analysis/session_graph.h"

#include <math.h>
#include <stdlib.h>

const char *const session_part_names[SESSION_PARTS] = {"model", "think", "waiting", "client"};

const char *const session_distribution_names[SESSION_DISTRIBUTIONS] = {
	[SESSION_REQUESTS] = "requests_each",
	[SESSION_PATH] = "requests_on_path",
	[SESSION_TIME] = "time_s",
	[SESSION_PART + SESSION_MODEL] = "model_s",
	[SESSION_PART + SESSION_THINK] = "think_s",
	[SESSION_PART + SESSION_WAITING] = "waiting_s",
	[SESSION_PART + SESSION_CLIENT] = "client_s",
	[SESSION_IN_FLIGHT_MOST] = "in_flight_most",
	[SESSION_IN_FLIGHT_MEAN] = "in_flight_mean",
	[SESSION_PARALLELISM] = "parallelism",
	[SESSION_WAITS_FOR] = "waits_for",
	[SESSION_WAITED_BY] = "waited_by",
};

/* The values of each complete session. */
struct gathered {
	struct samples of[SESSION_DISTRIBUTIONS];
};

/* A session whose path has been followed, in ns. */
struct followed {
	int64_t path, time_ns, part_ns[SESSION_PARTS];
};

/* A sent session: as often as the schedule comes to it. */
struct sent_session {
	int part;  /* the repeat; 0 in shards of one run */
	int64_t n; /* its first request */
	const struct row **rows;
	int64_t count;
};

/* By session, and in the order of the schedule. */
static int by_session(const void *a, const void *b)
{
	const struct row *x = *(const struct row *const *)a, *y = *(const struct row *const *)b;
	if (x->group[BY_SESSION] != y->group[BY_SESSION])
		return x->group[BY_SESSION] < y->group[BY_SESSION] ? -1 : 1;
	return (x->n > y->n) - (x->n < y->n);
}

static int by_part(const void *a, const void *b)
{
	const struct row *x = *(const struct row *const *)a, *y = *(const struct row *const *)b;
	return x->part != y->part ? (x->part < y->part ? -1 : 1) : by_session(a, b);
}

/* Requests without an end come first. */
static int by_end(const void *a, const void *b)
{
	const struct row *x = *(const struct row *const *)a, *y = *(const struct row *const *)b;
	if (x->end_ns != y->end_ns)
		return x->end_ns < y->end_ns ? -1 : 1;
	return (x->n > y->n) - (x->n < y->n);
}

static int by_first(const void *a, const void *b)
{
	const struct sent_session *x = a, *y = b;
	if (x->part != y->part)
		return x->part < y->part ? -1 : 1;
	return (x->n > y->n) - (x->n < y->n);
}

/* Its requests are in the order of the trace: from its first one on, it is sent again. */
static bool is_same(const struct run_data *run, const struct row *last, const struct row *row)
{
	int64_t before = row_get(last, ROW_REQ), req = row_get(row, ROW_REQ);
	return last->group[BY_SESSION] == row->group[BY_SESSION] && (run->shards || last->part == row->part) &&
	       last->stage == row->stage && (before == IPF_ABSENT || req == IPF_ABSENT || req > before);
}

/* The sessions in the order in which the schedule has them, whichever client sent them. NULL: no memory. */
static struct sent_session *list_sent(const struct run_data *run, const struct row **rows, int64_t count,
                                      int64_t *sessions)
{
	struct sent_session *list = calloc((size_t)count + 1, sizeof *list);
	*sessions = 0;
	if (!list)
		return NULL;
	qsort(rows, (size_t)count, sizeof *rows, run->shards ? by_session : by_part);
	for (int64_t i = 0; i < count; i++) {
		if (i == 0 || !is_same(run, rows[i - 1], rows[i]))
			list[(*sessions)++] = (struct sent_session){run->shards ? 0 : rows[i]->part, rows[i]->n, rows + i, 0};
		list[*sessions - 1].count++;
	}
	qsort(list, (size_t)*sessions, sizeof *list, by_first);
	for (int64_t i = 0; i < *sessions; i++)
		qsort(list[i].rows, (size_t)list[i].count, sizeof *list[i].rows, by_end);
	return list;
}

/* Follows the critical path of a session, all of whose requests have succeeded. */
static struct followed follow(const struct session_graph *g)
{
	struct followed f = {0};
	for (int64_t at = g->count - 1, before; at >= 0; at = before) {
		const struct row *row = g->rows[at];
		int64_t due = session_graph_due(row), lag = row->start_ns - due, client = row_get(row, METRIC_CLIENT_LAG);
		client = client == IPF_ABSENT || client < 0 ? 0 : client < lag ? client : lag;
		f.path++;
		f.part_ns[SESSION_MODEL] += row->end_ns - row->start_ns;
		f.part_ns[SESSION_CLIENT] += client;
		f.part_ns[SESSION_WAITING] += lag - client;
		f.time_ns = g->rows[g->count - 1]->end_ns - due;
		before = session_graph_before(g, at);
		if (before >= 0)
			f.part_ns[SESSION_THINK] += due - g->rows[before]->end_ns;
	}
	return f;
}

static bool is_complete(const struct row *const *rows, int64_t count)
{
	for (int64_t i = 0; i < count; i++)
		if (!rows[i]->ok || rows[i]->start_ns == IPF_ABSENT || rows[i]->end_ns == IPF_ABSENT ||
		    rows[i]->start_ns < session_graph_due(rows[i]) || rows[i]->end_ns < rows[i]->start_ns)
			return false;
	return true;
}

/* Are some of its requests missing? The first one says how many there are. */
static bool is_cut(const struct row *const *rows, int64_t count)
{
	int64_t all = IPF_ABSENT;
	for (int64_t i = 0; i < count && all == IPF_ABSENT; i++)
		all = row_get(rows[i], ROW_SESSION_REQUESTS);
	return all != IPF_ABSENT && count < all;
}

static void add_branches(struct session_figures *s, struct gathered *all, const struct session_graph *g)
{
	const int64_t *after;
	for (int64_t i = 0; i < g->count; i++) {
		const int64_t waits_for = row_after(g->rows[i], &after), followers = g->followers[i];
		samples_add(&all->of[SESSION_WAITS_FOR], waits_for > 0 ? (double)waits_for : NAN);
		samples_add(&all->of[SESSION_WAITED_BY], followers > 0 ? (double)followers : NAN);
		s->branches |= waits_for > 1;
	}
}

static int add_complete(struct session_figures *s, struct gathered *all, const struct row *const *rows, int64_t count)
{
	struct session_graph g = {.rows = rows, .count = count};
	struct session_width width;
	if (session_graph_link(&g) < 0 || session_graph_width(&g, &width) < 0) {
		session_graph_release(&g);
		return -1;
	}
	struct followed f = follow(&g);
	const double on_path = (double)f.part_ns[SESSION_MODEL], in_all = (double)width.in_all_ns;
	samples_add(&all->of[SESSION_REQUESTS], (double)count);
	samples_add(&all->of[SESSION_PATH], (double)f.path);
	samples_add(&all->of[SESSION_TIME], (double)f.time_ns / 1e9);
	for (int i = 0; i < SESSION_PARTS; i++) {
		samples_add(&all->of[SESSION_PART + i], (double)f.part_ns[i] / 1e9);
		s->share[i] += (double)f.part_ns[i];
	}
	s->branches |= width.most > 1;
	samples_add(&all->of[SESSION_IN_FLIGHT_MOST], (double)width.most);
	samples_add(&all->of[SESSION_IN_FLIGHT_MEAN], width.in_flight_ns > 0 ? in_all / (double)width.in_flight_ns : NAN);
	samples_add(&all->of[SESSION_PARALLELISM], on_path > 0 ? in_all / on_path : NAN);
	add_branches(s, all, &g);
	session_graph_release(&g);
	return 0;
}

/* -1: out of memory. */
static int add_session(struct session_figures *s, struct gathered *all, const struct row *const *rows, int64_t count)
{
	bool judged = false, good = true, cut = is_cut(rows, count);
	for (int64_t i = 0; i < count; i++) {
		judged |= rows[i]->goodness == SLO_GOOD || rows[i]->goodness == SLO_MISSED;
		good &= rows[i]->goodness != SLO_MISSED;
	}
	s->sessions++;
	s->requests += count;
	s->judged += judged && !cut;
	s->good += judged && good && !cut;
	s->cut += cut;
	if (cut)
		return 0;
	if (!is_complete(rows, count)) {
		s->failed++;
		return 0;
	}
	s->complete++;
	return add_complete(s, all, rows, count);
}

/* The time in which sessions ran: summed over repeats, on the clock of each. */
static double extent_s(const struct run_data *run, const struct row *const *rows, int64_t count)
{
	int64_t sum = 0, begin = IPF_ABSENT, end = IPF_ABSENT;
	for (int64_t i = 0; i <= count; i++) {
		if (i == count || (i > 0 && !run->shards && rows[i]->part != rows[i - 1]->part)) {
			sum += begin != IPF_ABSENT && end != IPF_ABSENT && end > begin ? end - begin : 0;
			begin = end = IPF_ABSENT;
		}
		if (i == count)
			break;
		if (rows[i]->start_ns != IPF_ABSENT && (begin == IPF_ABSENT || rows[i]->start_ns < begin))
			begin = rows[i]->start_ns;
		if (rows[i]->end_ns != IPF_ABSENT && (end == IPF_ABSENT || rows[i]->end_ns > end))
			end = rows[i]->end_ns;
	}
	return (double)sum / 1e9;
}

static bool summarise(struct session_figures *s, struct gathered *all, const struct percentiles *list)
{
	double time = 0;
	bool failed = false;
	for (int i = 0; i < SESSION_DISTRIBUTIONS; i++) {
		failed |= all->of[i].failed;
		metric_summary_of_samples(&s->of[i], &all->of[i], 0, 1, list);
		samples_release(&all->of[i]);
	}
	for (int i = 0; i < SESSION_PARTS; i++)
		time += s->share[i];
	for (int i = 0; i < SESSION_PARTS; i++)
		s->share[i] = time > 0 ? s->share[i] / time : NAN;
	return !failed;
}

int session_figures_build(struct session_figures *s, const struct run_data *run, const struct percentiles *list,
                          struct ipf_error *err)
{
	*s = (struct session_figures){.per_hour = NAN};
	if (run->groups[BY_SESSION].count == 0)
		return 0;
	const struct row **rows = malloc((size_t)(run->row_count + 1) * sizeof *rows);
	struct gathered all = {0};
	int64_t count = 0, sessions;
	bool several = false, added = true;
	if (!rows)
		return ipf_error_memory(err);
	for (int64_t i = 0; i < run->row_count; i++)
		if (run->rows[i].group[BY_SESSION] >= 0 && run->schedule.stages[run->rows[i].stage].measured)
			rows[count++] = &run->rows[i];
	struct sent_session *sent = list_sent(run, rows, count, &sessions);
	for (int64_t i = 0; i < sessions; i++) {
		several |= sent[i].count > 1 || is_cut(sent[i].rows, sent[i].count);
		added &= add_session(s, &all, sent[i].rows, sent[i].count) == 0;
	}
	double length = extent_s(run, rows, count);
	bool ok = summarise(s, &all, list) && added && sent;
	free(sent);
	free(rows);
	s->per_hour = length > 0 ? (double)s->complete * 3600 / length : NAN;
	if (!several)
		s->sessions = 0;
	return ok ? 0 : ipf_error_memory(err);
}
