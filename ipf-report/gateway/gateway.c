#include "gateway/gateway.h"

const char *const gateway_side_names[GATEWAY_SIDES] = {"front", "back"};

int gateway_build(struct gateway *g, const struct run_data *const runs[GATEWAY_SIDES], struct ipf_error *err)
{
	*g = (struct gateway){0};
	for (int s = 0; s < GATEWAY_SIDES; s++) {
		g->runs[s] = runs[s];
		if (!(g->verdicts[s] = verdict_judge(runs[s]->verdict)))
			return ipf_error_memory(err);
		if (gateway_requests_read(&g->sides[s], runs[s], err) < 0)
			return -1;
	}
	return pairing_make(&g->pairing, &g->sides[GATEWAY_FRONT], &g->sides[GATEWAY_BACK], err);
}

void gateway_release(struct gateway *g)
{
	pairing_release(&g->pairing);
	for (int s = 0; s < GATEWAY_SIDES; s++)
		gateway_requests_release(&g->sides[s]);
	*g = (struct gateway){0};
}

const struct gateway_request *gateway_passed_on(const struct gateway *g, size_t front)
{
	const int32_t first = g->pairing.first[front];
	if (g->pairing.count[front] != 1 || !gateway_front(g, front)->ok || !gateway_back(g, (size_t)first)->ok)
		return NULL;
	return gateway_back(g, (size_t)first);
}

bool gateway_is_covered(const struct gateway *g, enum gateway_side by, const struct gateway_request *request)
{
	const struct gateway_requests *side = &g->sides[by];
	return request->start_ns >= side->begin_ns - PAIRING_SLACK_NS &&
	       (request->end_ns == IPF_ABSENT || request->end_ns <= side->end_ns + PAIRING_SLACK_NS);
}
