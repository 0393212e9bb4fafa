/* Requests a gateway did not pass on once: sent on again, answered by itself; and where it sent them. */
#include "figures/jain_index.h"
#include "figures/metric_summary.h"
#include "gateway/gateway_json.h"
#include "json_report/json_figures.h"
#include "safe_text.h"

#include <math.h>
#include <stdlib.h>

/* ---- several behind ---- */

struct retry_counts {
	int64_t requests, behind, answered, same_target, failover, at_once;
	struct samples wait; /* milliseconds from the first attempt to the last */
};

static void count_retries(const struct gateway *g, size_t f, struct retry_counts *n)
{
	const struct pairing *p = &g->pairing;
	bool moved = false, at_once = false;
	const struct gateway_request *first = gateway_back(g, (size_t)p->first[f]), *before = first;
	for (int32_t b = p->next[p->first[f]]; b >= 0; b = p->next[b]) {
		const struct gateway_request *next = gateway_back(g, (size_t)b);
		moved |= next->target != before->target;
		at_once |= before->end_ns != IPF_ABSENT && next->start_ns < before->end_ns - PAIRING_SLACK_NS;
		before = next;
	}
	n->requests++;
	n->behind += p->count[f];
	n->answered += gateway_front(g, f)->ok;
	n->failover += moved;
	n->same_target += !moved;
	n->at_once += at_once;
	samples_add(&n->wait, (double)(before->start_ns - first->start_ns) / 1e6);
}

json_t *gateway_json_retries(const struct gateway *g)
{
	struct retry_counts n = {0};
	struct percentiles list;
	struct metric_summary summary;
	json_t *json = json_object();
	for (size_t f = 0; f < g->sides[GATEWAY_FRONT].count; f++)
		if (g->pairing.count[f] > 1)
			count_retries(g, f, &n);
	if (n.requests > 0) {
		percentiles_default(&list);
		metric_summary_of_samples(&summary, &n.wait, 0, 1, &list);
		json_put_count(json, "requests", n.requests);
		json_put_count(json, "behind", n.behind);
		json_put_count(json, "answered", n.answered);
		json_put_count(json, "same_target", n.same_target);
		json_put_count(json, "failover", n.failover);
		json_put_count(json, "at_once", n.at_once);
		json_put_object(json, "until_last_ms", json_summary(&summary, &list));
	}
	samples_release(&n.wait);
	return json;
}

/* ---- none behind ---- */

static void count_member(json_t *to, const char *name)
{
	json_object_set_new(to, name, json_integer(json_integer_value(json_object_get(to, name)) + 1));
}

json_t *gateway_json_own_answers(const struct gateway *g)
{
	json_t *json = json_object(), *statuses = json_object();
	int64_t requests = 0, cached = 0, limited = 0, none = 0, outside = 0;
	for (size_t f = 0; f < g->sides[GATEWAY_FRONT].count; f++) {
		const struct gateway_request *r = gateway_front(g, f);
		char status[24];
		if (g->pairing.count[f] > 0 || g->pairing.unclear_front[f] || r->unseen)
			continue;
		if (!gateway_is_covered(g, GATEWAY_BACK, r) && g->pairing.clock.one) {
			outside++;
			continue;
		}
		requests++;
		cached += r->ok;
		limited += r->status == 429;
		none += r->status == IPF_ABSENT;
		if (r->status == IPF_ABSENT)
			continue;
		snprintf(status, sizeof status, "%lld", (long long)r->status);
		count_member(statuses, status);
	}
	json_put_count(json, "requests", requests);
	json_put_count(json, "ok", cached);
	json_put_count(json, "rate_limited", limited);
	json_put_count(json, "other", requests - cached - limited);
	json_put_count(json, "no_status", none);
	json_put_object(json, "statuses", statuses);
	json_put_count(json, "outside", outside);
	return json;
}

/* ---- where they went ---- */

struct target_count {
	int64_t requests, ok, tokens;
};

static json_t *target_json(const char *name, const struct target_count *n, size_t all)
{
	json_t *json = json_object();
	json_put_text(json, "target", shown(name).text);
	json_put_count(json, "requests", n->requests);
	json_put(json, "share", (double)n->requests / (double)all);
	json_put_count(json, "ok", n->ok);
	json_put_count(json, "output_tokens", n->tokens);
	return json;
}

json_t *gateway_json_targets(const struct gateway *g)
{
	const struct gateway_requests *back = &g->sides[GATEWAY_BACK];
	const struct string_table *names = &back->run->groups[BY_TARGET];
	struct target_count *counts = calloc((size_t)names->count + 1, sizeof *counts);
	struct jain_index index = {0};
	json_t *json = json_object(), *list = json_array();
	for (size_t b = 0; counts && b < back->count; b++) {
		const struct gateway_request *r = &back->list[b];
		if (r->target < 0)
			continue;
		counts[r->target].requests++;
		counts[r->target].ok += r->ok;
		counts[r->target].tokens += r->output_tokens == IPF_ABSENT ? 0 : r->output_tokens;
	}
	for (int t = 0; counts && t < names->count; t++) {
		jain_index_add(&index, (double)counts[t].requests);
		json_array_append_new(list, target_json(names->list[t], &counts[t], back->count));
	}
	json_put_object(json, "list", list);
	json_put(json, "jain_index", jain_index(&index));
	free(counts);
	return json;
}

/* By the sessions of the requests in front: the client says them, and a gateway may not pass them on. */
struct session_place {
	int32_t requests, last_target;
	bool moved;
};

json_t *gateway_json_sessions(const struct gateway *g)
{
	const struct gateway_requests *front = &g->sides[GATEWAY_FRONT];
	const int32_t sessions = front->run->groups[BY_SESSION].count;
	struct session_place *places = calloc((size_t)sessions + 1, sizeof *places);
	int64_t several = 0, stayed = 0, later = 0, same = 0;
	json_t *json = json_object();
	for (size_t f = 0; places && f < front->count; f++) {
		const int32_t session = front->list[f].session, last = g->pairing.last[f];
		const int32_t target = last < 0 ? -1 : gateway_back(g, (size_t)last)->target;
		if (session < 0 || target < 0)
			continue;
		struct session_place *place = &places[session];
		later += place->requests > 0;
		same += place->requests > 0 && place->last_target == target;
		place->moved |= place->requests > 0 && place->last_target != target;
		place->last_target = target;
		place->requests++;
	}
	for (int32_t s = 0; places && s < sessions; s++) {
		several += places[s].requests > 1;
		stayed += places[s].requests > 1 && !places[s].moved;
	}
	free(places);
	if (several == 0)
		return json;
	json_put_count(json, "sessions", several);
	json_put_count(json, "one_target", stayed);
	json_put_count(json, "later_requests", later);
	json_put(json, "same_target_share", (double)same / (double)later);
	return json;
}
