#include "fit/twin_drafts.h"

#include <math.h>

#define REQUESTS_LEAST 20
#define EVENTS_LEAST   8    /* a request's, so the last one, whose drafts are cut, counts little */
#define NONE_BELOW     1.02 /* tokens of a step, on average: no drafts, but a token coming in two events, or two in one */
#define SHARE_FLOOR    0.005

static void set_none(struct twin *twin)
{
	twin_set(twin, TWIN_DRAFT_TOKENS, 0, 0, 0);
	twin_set(twin, TWIN_DRAFT_ACCEPTED, 0, 0, 0);
}

/* ---- by the tokens of each event ---- */

static bool inner(const struct twin_data *data, const struct measured_event *e)
{
	return e->order > 0 && e->order + 1 < data->requests[e->request].events && e->tokens > 0;
}

static void fit_events(struct twin *twin, const struct twin_data *data)
{
	int64_t most = 0, accepted = 0, trials = 0;
	for (int64_t i = 0; i < data->event_count; i++)
		if (inner(data, &data->events[i]) && data->events[i].tokens - 1 > most)
			most = data->events[i].tokens - 1;
	for (int64_t i = 0; i < data->event_count; i++) {
		int64_t got = data->events[i].tokens - 1;
		if (!inner(data, &data->events[i]))
			continue;
		accepted += got;
		trials += got < most ? got + 1 : most;
	}
	if (most == 0 || most > BATCHING_MOST_DRAFT) {
		set_none(twin);
		return;
	}
	double share = (double)accepted / (double)trials;
	double half = 1.96 * sqrt(share * (1 - share) / (double)trials) + SHARE_FLOOR;
	twin_set(twin, TWIN_DRAFT_TOKENS, (double)most, (double)most, (double)most);
	twin_set(twin, TWIN_DRAFT_ACCEPTED, share, share - half, share + half);
}

/* ---- by mean and variance ---- */

struct moments {
	double mean, variance;
};

static struct moments of_step(int drafts, double share)
{
	double sum = 0, squares = 0, left = 1;
	for (int j = 0; j <= drafts; j++) {
		double p = j < drafts ? left * (1 - share) : left;
		sum += p * (1 + j);
		squares += p * (1 + j) * (1 + j);
		left *= share;
	}
	return (struct moments){sum, squares - sum * sum};
}

/* The probability by which a step of so many drafts has this mean. */
static double share_of_mean(int drafts, double mean)
{
	double low = 0, high = 1;
	for (int i = 0; i < 60; i++) {
		double middle = (low + high) / 2;
		if (of_step(drafts, middle).mean < mean)
			low = middle;
		else
			high = middle;
	}
	return (low + high) / 2;
}

/* Counts for the steps that decoded, over all requests. Without the first event, which has one token, and with half of
 * the last one. */
static bool measure(const struct twin_data *data, struct moments *m)
{
	double tokens = 0, steps = 0, squares = 0;
	int64_t requests = 0;
	for (int pass = 0; pass < 2; pass++)
		for (int64_t i = 0; i < data->request_count; i++) {
			const struct measured_request *r = &data->requests[i];
			if (r->events < EVENTS_LEAST)
				continue;
			double own = (double)r->events - 1.5, off = (double)(r->output_tokens - 1) - m->mean * own;
			tokens += pass ? 0 : (double)(r->output_tokens - 1);
			steps += pass ? 0 : own;
			squares += pass ? off * off / own : 0;
			requests += pass;
			m->mean = pass || !(steps > 0) ? m->mean : tokens / steps;
		}
	m->variance = requests ? squares / (double)requests : 0;
	return requests >= REQUESTS_LEAST;
}

static void fit_moments(struct twin *twin, const struct twin_data *data)
{
	struct moments seen = {0};
	int best = 0, least = 0, most = 0;
	double nearest = INFINITY;
	if (!measure(data, &seen) || seen.mean < NONE_BELOW) {
		set_none(twin);
		return;
	}
	for (int drafts = 1; drafts <= BATCHING_MOST_DRAFT; drafts++) {
		if (seen.mean > drafts + 1)
			continue;
		double off = fabs(of_step(drafts, share_of_mean(drafts, seen.mean)).variance - seen.variance);
		most = off < 0.3 * seen.variance ? drafts : most;
		least = off < 0.3 * seen.variance && !least ? drafts : least;
		best = off < nearest ? drafts : best;
		nearest = fmin(nearest, off);
	}
	if (!best) {
		set_none(twin);
		return;
	}
	double share = share_of_mean(best, seen.mean);
	least = least && least < best ? least : best;
	most = most > best ? most : best;
	twin_set(twin, TWIN_DRAFT_TOKENS, best, least, most);
	twin_set(twin, TWIN_DRAFT_ACCEPTED, share, fmin(share_of_mean(most, seen.mean), share - SHARE_FLOOR),
	         fmax(share_of_mean(least, seen.mean), share + SHARE_FLOOR));
}

void twin_drafts_fit(struct twin *twin, const struct twin_data *data)
{
	if (data->tokens_known)
		fit_events(twin, data);
	else
		fit_moments(twin, data);
}
