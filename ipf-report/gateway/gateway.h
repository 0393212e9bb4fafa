/* ipf-report gateway: requests in front of a gateway and behind it, and the differences.
 *
 *     struct gateway g;
 *     if (gateway_build(&g, (const struct run_data *[]){&front, &back}, &err) < 0) …
 *     json_t *json = gateway_json(&g, &err);             // gateway_json.h: all figures
 *     gateway_release(&g);
 *
 * Both runs have been read with their lines and merged (merge_parts.h).
 */
#ifndef GATEWAY_GATEWAY_H
#define GATEWAY_GATEWAY_H

#include "gateway/pairing.h"

enum gateway_side { GATEWAY_FRONT, GATEWAY_BACK, GATEWAY_SIDES };
extern const char *const gateway_side_names[GATEWAY_SIDES]; /* "front", "back" */

struct gateway {
	const struct run_data *runs[GATEWAY_SIDES];
	const struct verdict_finding *verdicts[GATEWAY_SIDES];
	struct gateway_requests sides[GATEWAY_SIDES];
	struct pairing pairing;
};

/* -1: out of memory, or results without the time of their beginning. */
int gateway_build(struct gateway *g, const struct run_data *const runs[GATEWAY_SIDES], struct ipf_error *err);
void gateway_release(struct gateway *g);

static inline const struct gateway_request *gateway_front(const struct gateway *g, size_t i)
{
	return &g->sides[GATEWAY_FRONT].list[i];
}

static inline const struct gateway_request *gateway_back(const struct gateway *g, size_t i)
{
	return &g->sides[GATEWAY_BACK].list[i];
}

/* The request behind, of one sent there once and answered on both sides; NULL: it was not. Only these are in
 * the added times: for another, the gateway did more than to pass it on. */
const struct gateway_request *gateway_passed_on(const struct gateway *g, size_t front);
/* Did all of the request happen while the other side was captured? */
bool gateway_is_covered(const struct gateway *g, enum gateway_side by, const struct gateway_request *request);

#endif
