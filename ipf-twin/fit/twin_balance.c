#include "fit/twin_balance.h"

#include <math.h>
#include <stdlib.h>

#define CHOICES_LEAST 20  /* that chance alone would not have explained */
#define SHARE_LEAST   0.9 /* that a way explains beyond chance, to be known */

/* The choices of one part of the run. */
struct choices {
	const struct twin_data *data;
	const struct measured_request **starts, **ends; /* its requests, by their starts and by their ends */
	int64_t count;
	struct server {
		int64_t turn; /* its last request's, from 1; 0: it had none */
		int64_t in_flight;
		bool known;              /* had a request in this part */
	} * servers;                 /* the part's */
	int32_t *last;               /* each session's: the server of its last request; -1 */
	int32_t first, server_count; /* number of the part's first server, and how many were seen */
};

/* How many choices a way explained, and how many it would have by chance. */
struct tally {
	double choices, hits, chance;
};

static int by_start(const void *a, const void *b)
{
	const struct measured_request *x = *(const struct measured_request *const *)a,
								  *y = *(const struct measured_request *const *)b;
	return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

static int by_end(const void *a, const void *b)
{
	const struct measured_request *x = *(const struct measured_request *const *)a,
								  *y = *(const struct measured_request *const *)b;
	return (x->last_ns > y->last_ns) - (x->last_ns < y->last_ns);
}

static struct server *server_of(struct choices *c, const struct measured_request *r)
{
	return &c->servers[r->server - c->first];
}

/* The requests of the part whose servers begin with `first`, from `at` on; returns the first one of the next part. */
static int64_t gather(struct choices *c, int64_t at)
{
	const struct twin_data *d = c->data;
	c->count = c->server_count = 0;
	c->first = d->requests[at].server / d->servers_each * d->servers_each;
	for (int32_t s = 0; s < d->servers_each; s++)
		c->servers[s] = (struct server){0};
	for (int32_t s = 0; s < d->sessions; s++)
		c->last[s] = -1;
	for (; at < d->request_count && d->requests[at].server < c->first + d->servers_each; at++) {
		struct server *server = server_of(c, &d->requests[at]);
		c->server_count += !server->known;
		server->known = true;
		c->starts[c->count] = c->ends[c->count] = &d->requests[at];
		c->count++;
	}
	qsort(c->starts, (size_t)c->count, sizeof *c->starts, by_start);
	qsort(c->ends, (size_t)c->count, sizeof *c->ends, by_end);
	return at;
}

static void count(struct tally *t, bool hit, double chance)
{
	t->choices++;
	t->hits += hit;
	t->chance += chance;
}

/* By each way. Turns count once all servers have had a request. */
static void judge(struct choices *c, const struct measured_request *r, int64_t turn,
                  struct tally tallies[BALANCE_KINDS])
{
	const struct server *chosen = server_of(c, r);
	const double servers = c->server_count;
	int64_t oldest = turn, least = INT64_MAX, ties = 0;
	for (int32_t s = 0; s < c->data->servers_each; s++) {
		const struct server *server = &c->servers[s];
		if (!server->known)
			continue;
		oldest = server->turn < oldest ? server->turn : oldest;
		ties = server->in_flight < least ? 1 : ties + (server->in_flight == least);
		least = server->in_flight < least ? server->in_flight : least;
	}
	if (oldest > 0)
		count(&tallies[BALANCE_ROUND_ROBIN], chosen->turn == oldest, 1 / servers);
	count(&tallies[BALANCE_LEAST], chosen->in_flight == least, (double)ties / servers);
	if (r->session >= 0 && c->last[r->session] >= 0)
		count(&tallies[BALANCE_SESSION], c->last[r->session] == r->server, 1 / servers);
}

static void follow(struct choices *c, struct tally tallies[BALANCE_KINDS])
{
	int64_t ended = 0;
	for (int64_t k = 0; k < c->count; k++) {
		const struct measured_request *r = c->starts[k];
		for (; ended < c->count && c->ends[ended]->last_ns <= r->start_ns; ended++)
			server_of(c, c->ends[ended])->in_flight--;
		judge(c, r, k + 1, tallies);
		server_of(c, r)->turn = k + 1;
		server_of(c, r)->in_flight++;
		if (r->session >= 0)
			c->last[r->session] = r->server;
	}
}

static void choose(struct twin *twin, const struct tally tallies[BALANCE_KINDS])
{
	for (int way = 0; way < BALANCE_KINDS; way++) {
		const struct tally *t = &tallies[way];
		const double open = t->choices - t->chance, share = (t->hits - t->chance) / open;
		if (open < CHOICES_LEAST)
			continue;
		if (isnan(twin->balancing_share) || share > twin->balancing_share) {
			twin->balancing_share = fmax(share, 0);
			twin->balancing = share >= SHARE_LEAST ? (enum balance_kind)way : BALANCE_KINDS;
		}
	}
}

int twin_balance_fit(struct twin *twin, const struct twin_data *data, struct ipf_error *err)
{
	struct choices c = {.data = data,
	                    .starts = malloc((size_t)data->request_count * sizeof *c.starts),
	                    .ends = malloc((size_t)data->request_count * sizeof *c.ends),
	                    .servers = malloc((size_t)data->servers_each * sizeof *c.servers),
	                    .last = malloc((size_t)data->sessions * sizeof *c.last + 1)};
	struct tally tallies[BALANCE_KINDS] = {0};
	const bool fine = c.starts && c.ends && c.servers && c.last;
	for (int64_t at = 0; fine && at < data->request_count;) {
		at = gather(&c, at);
		if (c.server_count > 1)
			follow(&c, tallies);
	}
	if (fine)
		choose(twin, tallies);
	free(c.starts);
	free(c.ends);
	free(c.servers);
	free(c.last);
	return fine ? 0 : ipf_error_memory(err);
}
