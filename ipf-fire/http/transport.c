#include "http/transport_state.h"

#include "absent.h"
#include "cli/units.h"
#include "clock.h"
#include "http/answer_limit.h"
#include "http/protocols.h"
#include "text_hash.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

/* Kinds of deadlines: the first token, one for each of the cancels, and these. */
#define DEADLINE_REQUEST(t) (1 + (t)->options->cancels.count)
#define DEADLINE_CONNECT(t) (2 + (t)->options->cancels.count)
#define DEADLINE_HANG_UP(t) (3 + (t)->options->cancels.count) /* the recorded client's */
#define DEADLINE_KINDS(t)   (4 + (t)->options->cancels.count)

/* ---- deadlines ---- */

/* Has the owner of the deadline received its event, or ended? */
static bool deadline_over(const struct transport *t, const struct deadline *deadline, size_t kind)
{
	if (kind == DEADLINE_CONNECT(t)) {
		const struct connection *c = deadline->owner;
		return c->generation != deadline->serial || c->step == STEP_OPEN || c->step == STEP_CLOSED;
	}
	const struct exchange *x = deadline->owner;
	return !x->job || x->serial != deadline->serial || (kind == 0 && x->job->reads_count);
}

/* Keeps ended owners' deadlines from waking the event loop. */
static void drop_over(struct transport *t, size_t kind)
{
	for (const struct deadline *first; (first = deadlines_first(t->deadlines, kind)) && deadline_over(t, first, kind);)
		deadlines_drop_first(t->deadlines, kind);
}

static void set_deadline(struct transport *t, size_t kind, void *owner, uint64_t serial, int64_t at_ns)
{
	drop_over(t, kind);
	/* without memory for it the request is not ended in time, and ends by itself */
	deadlines_set(t->deadlines, kind, (struct deadline){.at_ns = at_ns, .owner = owner, .serial = serial});
}

static bool has_hang_up(const struct transport_options *o, const struct job *job)
{
	return job->hang_up_ns != IPF_ABSENT && !o->cancels.no_recorded && !job_is_warmup(job);
}

int64_t transport_hang_up(const struct transport_options *o, const struct job *job)
{
	int cancel = cancels_find(&o->cancels, job->arrival.n);
	int64_t after = cancel >= 0 ? o->cancels.list[cancel].after_ns : INT64_MAX;
	if (has_hang_up(o, job) && job->hang_up_ns < after)
		after = job->hang_up_ns;
	return after == INT64_MAX ? INT64_MAX : job_first_start(job) + after;
}

static void set_deadlines(struct transport *t, struct exchange *x)
{
	const struct transport_options *o = t->options;
	int64_t start = job_first_start(x->job);
	int cancel = cancels_find(&o->cancels, x->job->arrival.n);
	if (o->first_token_ns)
		set_deadline(t, 0, x, x->serial, x->job->start_ns + o->first_token_ns);
	if (o->timeout_ns)
		set_deadline(t, DEADLINE_REQUEST(t), x, x->serial, start + o->timeout_ns);
	if (has_hang_up(o, x->job))
		set_deadline(t, DEADLINE_HANG_UP(t), x, x->serial, start + x->job->hang_up_ns);
	if (cancel >= 0)
		set_deadline(t, 1 + (size_t)cancel, x, x->serial, start + o->cancels.list[cancel].after_ns);
}

int64_t transport_deadline(const struct transport *t)
{
	int64_t next = network_deadline(&t->network);
	for (size_t i = 0; i < DEADLINE_KINDS(t); i++) {
		const struct deadline *first = deadlines_first(t->deadlines, i);
		if (first && first->at_ns < next)
			next = first->at_ns;
	}
	return next;
}

static void expire_one(struct transport *t, const struct deadline *deadline, size_t kind, int64_t now)
{
	char text[96], within[32];
	if (kind == DEADLINE_CONNECT(t)) {
		struct connection *c = deadline->owner;
		snprintf(text, sizeof text, "%s within %s", c->step == STEP_TLS ? "no TLS handshake" : "not connected",
		         format_duration(t->options->connect_timeout_ns, within));
		protocols_failed(c, connection_late(c), text);
	} else if (kind == DEADLINE_REQUEST(t)) {
		snprintf(text, sizeof text, "not answered within %s", format_duration(t->options->timeout_ns, within));
		protocols_end(t, deadline->owner, RECORD_TIMEOUT, text, now);
	} else if (kind == DEADLINE_HANG_UP(t)) {
		protocols_end(t, deadline->owner, RECORD_HUNG_UP, "the recorded client disconnected then", now);
	} else {
		protocols_end(t, deadline->owner, kind ? RECORD_HUNG_UP : RECORD_TIMEOUT,
		              kind ? "simulated client disconnect (--cancel)" : t->no_token_text, now);
	}
}

static void expire_deadlines(struct transport *t, int64_t now)
{
	for (size_t kind = 0; kind < DEADLINE_KINDS(t); kind++)
		for (const struct deadline *first; (first = deadlines_first(t->deadlines, kind)) && first->at_ns <= now;) {
			struct deadline deadline = *first;
			bool over = deadline_over(t, first, kind);
			deadlines_drop_first(t->deadlines, kind);
			if (!over)
				expire_one(t, &deadline, kind, now);
		}
}

/* ---- beginning ---- */

static void refuse(struct transport *t, struct job *job, int64_t now, const char *why)
{
	if (job->start_ns == IPF_ABSENT)
		job->start_ns = now;
	job->end_ns = now;
	job_fail(job, RECORD_CANCELLED, why);
	job_list_put(&t->ended, job);
}

static struct exchange *take_exchange(struct transport *t)
{
	struct exchange *x = t->spare;
	if (x)
		t->spare = x->next;
	else if (!(x = malloc(sizeof *x)))
		return NULL;
	*x = (struct exchange){.transport = t, .serial = ++t->serial, .stream = -1, .next = t->in_flight};
	if (x->next)
		x->next->previous = x;
	t->in_flight = x;
	return x;
}

/* Before anything of a new connection is reported. */
static void prepare_connection(struct connection *c, void *opener)
{
	struct exchange *x = opener;
	c->opener = x;
	x->opening = c;
	pool_opening(x->shelf, c);
}

/* Sets the deadline of a connection being opened. */
static void watch_connect(struct transport *t, struct connection *c)
{
	if (t->options->connect_timeout_ns && c->step != STEP_OPEN && c->step != STEP_CLOSED)
		set_deadline(t, DEADLINE_CONNECT(t), c, c->generation, c->begin_ns + t->options->connect_timeout_ns);
}

/* Opens a connection for the request, which may have ended when this returns. */
static void open_for(struct transport *t, struct exchange *x)
{
	struct connection *c = connection_open(&t->network, &t->origins[x->target], x->target, prepare_connection, x);
	if (!c)
		protocols_end(t, x, RECORD_CANCELLED, "out of memory", network_now(&t->network));
	else
		watch_connect(t, c);
}

/* A connection with room for the request; NULL: none. Those the server is about to close are closed. */
static struct connection *take(struct transport *t, const struct exchange *x)
{
	struct shelf *s = x->shelf;
	for (struct connection *c; (c = s->room) && c->existed && !c->streams;) {
		bool known = c->keep_alive.idle_ns != INT64_MAX || c->keep_alive.requests != INT64_MAX;
		if (!known || !keep_alive_over(&c->keep_alive, network_now(&t->network) - c->idle_ns))
			break;
		protocols_close(c);
	}
	return s->room && s->room->id >= x->connection_from ? pool_take(&t->pool, s) : NULL;
}

/* Must it wait? A request needing a new connection takes the place of an idle one. */
static bool must_wait(struct transport *t, const struct exchange *x, size_t ahead)
{
	struct shelf *s = x->shelf;
	if (!pool_must_wait(&t->pool, s, ahead))
		return false;
	if (!x->connection_from || s->opening || !s->room_last || s->room_last->streams)
		return true;
	protocols_close(s->room_last);
	return pool_must_wait(&t->pool, s, ahead);
}

/* Sends the request, opens a connection for it, or lets it wait. */
static void place(struct transport *t, struct exchange *x)
{
	struct shelf *s = x->shelf;
	struct connection *c = s->held ? NULL : take(t, x);
	if (c)
		protocols_send(x, c);
	else if (must_wait(t, x, s->held_count))
		protocols_hold(t, x);
	else
		open_for(t, x);
}

static void begin(struct transport *t, struct job *job, size_t target)
{
	bool sticky = t->options->connections.kind == CONNECTION_POLICY_SESSION && job->session.data;
	int64_t now = network_now(&t->network);
	struct shelf *shelf = pool_shelf(&t->pool, target, sticky ? text_hash_mixed(job->session) | 1 : 0);
	struct exchange *x = shelf && !job->request.text.failed ? take_exchange(t) : NULL;
	if (!x) {
		if (shelf)
			shelf_leave(&t->pool, shelf);
		balance_ended(t->balance, target);
		refuse(t, job, now, "out of memory");
		return;
	}
	x->job = job;
	x->target = target;
	x->shelf = shelf;
	job->start_ns = now;
	run_observer_started(t->options->observer, job);
	t->pool.targets[target].busy++;
	set_deadlines(t, x);
	place(t, x);
}

/* ---- waiting ---- */

static void admit_held(struct transport *t, struct shelf *s)
{
	for (struct exchange *x; (x = s->held);) {
		struct connection *c = take(t, x);
		if (!c && must_wait(t, x, s->held_count - 1))
			return;
		shelf_release(s, x);
		t->held--;
		if (c)
			protocols_send(x, c);
		else
			open_for(t, x);
	}
}

static void admit_waiting(struct transport *t, size_t target)
{
	struct pool_target *p = &t->pool.targets[target];
	while (p->waiting.first && !pool_full(&t->pool, target)) {
		struct job *job = job_list_take(&p->waiting);
		t->waiting--;
		job->pool_ns = network_now(&t->network);
		begin(t, job, target);
	}
}

static void finish_cut(struct transport *t, struct exchange *x, int64_t now)
{
	protocols_end(t, x, RECORD_CANCELLED, x->cancelled, now);
}

/* The consequences of an event: once no connection is at work. */
static void follow(struct transport *t)
{
	for (bool more = true; more;) {
		answer_limit_end_cut(t, t->network.event_ns, finish_cut);
		while (t->due) {
			struct shelf *s = t->due;
			t->due = s->next_due;
			s->due = false;
			admit_held(t, s);
			shelf_leave(&t->pool, s);
		}
		for (size_t i = 0; t->waiting && i < t->pool.count; i++)
			admit_waiting(t, i);
		more = t->due || t->cut;
	}
	for (struct connection *c; (c = pool_surplus(&t->pool));)
		protocols_close(c);
}

/* ---- ending ---- */

struct job *transport_ended(struct transport *t)
{
	return job_list_take(&t->ended);
}

/* ---- the interface ---- */

void transport_start(struct transport *t, struct job *job)
{
	size_t target = balance_choose(t->balance, job->session);
	struct pool_target *p = &t->pool.targets[target];
	network_reap(&t->network);
	if (t->endpoint->count > 1)
		job->target = (int64_t)target;
	if (!p->waiting.first && !pool_full(&t->pool, target)) {
		begin(t, job, target);
	} else {
		job_list_put(&p->waiting, job);
		t->waiting++;
	}
	follow(t);
}

void transport_flush(struct transport *t)
{
	if (!t->unwritten)
		return;
	network_reap(&t->network);
	while (t->unwritten) {
		protocols_flush(t);
		follow(t);
	}
}

size_t transport_waiting(const struct transport *t)
{
	return t->waiting;
}

void transport_foresee(const struct transport *t, uint64_t tag, int step)
{
	if (!step) {
		network_prefetch(&t->network, tag);
		return;
	}
	const struct connection *c = network_find(&t->network, tag);
	const struct exchange *x = c && !c->h2 ? c->exchanges : NULL;
	if (x && step == 1)
		__builtin_prefetch(x, 1);
	else if (x && step == 2)
		__builtin_prefetch(x->job, 1);
	else if (x && x->job)
		job_prefetch_ends(x->job);
}

void transport_event(struct transport *t, uint64_t tag, uint32_t events, int64_t t_ns)
{
	network_reap(&t->network);
	t->network.event_ns = t_ns;
	struct connection *c = network_find(&t->network, tag);
	if (c)
		connection_event(c, events, t_ns);
	else
		network_event(&t->network, tag, events);
	follow(t);
}

void transport_expire(struct transport *t, int64_t now)
{
	network_reap(&t->network);
	t->network.event_ns = now;
	expire_deadlines(t, now);
	network_expire(&t->network, now);
	follow(t);
}

bool transport_save_memory(struct transport *t, int64_t now)
{
	network_reap(&t->network);
	bool saved = answer_limit_cut_largest(t, now, finish_cut);
	follow(t);
	return saved;
}

void transport_cancel(struct transport *t, int64_t now, const char *why)
{
	network_reap(&t->network);
	for (size_t target = 0; target < t->endpoint->count; target++) {
		struct pool_target *p = &t->pool.targets[target];
		for (; p->waiting.first; t->waiting--) {
			balance_ended(t->balance, target);
			refuse(t, job_list_take(&p->waiting), now, why);
		}
	}
	while (t->in_flight)
		protocols_end(t, t->in_flight, RECORD_CANCELLED, why, now);
	follow(t);
}

/* ---- opening ahead ---- */

static void prepare_ahead(struct connection *c, void *transport)
{
	struct transport *t = transport;
	struct shelf *s = &t->pool.targets[c->target].shelf;
	c->existed = true;
	pool_opening(s, c);
}

static bool some_open(const struct transport *t)
{
	for (size_t i = 0; i < t->pool.count; i++)
		if (t->pool.targets[i].shelf.opening)
			return true;
	return false;
}

int transport_open_ahead(struct transport *t, struct ipf_error *err)
{
	struct epoll_event events[64];
	for (size_t i = 0; i < t->pool.count; i++)
		for (int64_t k = 0; k < t->options->connections.pool; k++) {
			struct connection *c = connection_open(&t->network, &t->origins[i], i, prepare_ahead, t);
			if (!c)
				return ipf_error_memory(err);
			watch_connect(t, c);
		}
	while (some_open(t) && !t->failed_text[0]) {
		int count = epoll_wait(t->network.o.epoll_fd, events, 64, 10);
		int64_t now = network_now(&t->network);
		for (int i = 0; i < count; i++)
			transport_event(t, events[i].data.u64, events[i].events, now);
		if (transport_deadline(t) <= now)
			transport_expire(t, now);
	}
	return t->failed_text[0] ? ipf_error_set(err, IPF_SYSTEM, "--open-ahead: %s", t->failed_text) : 0;
}

/* ---- opening and closing ---- */

static int open_network(struct transport *t, int epoll_fd, struct ipf_error *err)
{
	const struct transport_options *o = t->options;
	enum http_version http = o->connections.http;
	for (size_t i = 0; i < t->endpoint->count; i++)
		if (origin_open(&t->origins[i], &t->endpoint->targets[i], o->network_path, http != HTTP_1_1, err) < 0)
			return -1;
	const struct network_options network = {.path = o->network_path,
	                                        .owner = &protocols_owner,
	                                        .kernel_timestamps = o->kernel_timestamps,
	                                        .h2 = http != HTTP_1_1,
	                                        .only_h2 = http == HTTP_2_PRIOR,
	                                        .no_resumption = o->connections.no_resumption,
	                                        .origins = t->endpoint->count,
	                                        .numbers = o->numbers,
	                                        .stats = t->stats,
	                                        .epoll_fd = epoll_fd,
	                                        .data = t};
	return network_open(&t->network, &network, t->origins, err);
}

int transport_open(struct transport **transport, const struct endpoint *endpoint,
                   const struct transport_options *options, int epoll_fd, struct thread_stats *stats,
                   struct ipf_error *err)
{
	char text[32];
	struct transport *t = calloc(1, sizeof *t);
	*transport = t;
	if (!t)
		return ipf_error_memory(err);
	t->balance = options->balance;
	t->options = options;
	t->endpoint = endpoint;
	t->stats = stats;
	t->origins = calloc(endpoint->count, sizeof *t->origins);
	t->deadlines = deadlines_new(DEADLINE_KINDS(t));
	if (!t->origins || !t->deadlines)
		return ipf_error_memory(err);
	snprintf(t->no_token_text, sizeof t->no_token_text, "no first token within %s",
	         format_duration(options->first_token_ns, text));
	answer_limit_init(t);
	if (pool_open(&t->pool, &options->connections, endpoint->count, err) < 0)
		return -1;
	return open_network(t, epoll_fd, err);
}

void transport_zero(struct transport *t, int64_t zero_ns)
{
	t->network.zero_ns = zero_ns;
}

void transport_close(struct transport *t)
{
	if (!t)
		return;
	protocols_close_all(t);
	network_close(&t->network);
	pool_close(&t->pool);
	for (struct exchange *x = t->spare, *next; x; x = next) {
		next = x->next;
		free(x);
	}
	for (size_t i = 0; t->origins && i < t->endpoint->count; i++)
		origin_close(&t->origins[i]);
	free(t->origins);
	deadlines_free(t->deadlines);
	buffer_release(&t->head);
	buffer_release(&t->token);
	free(t);
}
