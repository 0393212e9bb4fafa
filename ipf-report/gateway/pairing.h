/* Which requests behind a gateway belong to which request in front of it.
 *
 *     struct pairing p;
 *     if (pairing_make(&p, &front, &back, &err) < 0) …
 *     for (int32_t b = p.first[f]; b >= 0; b = p.next[b]) …     // the attempts of front.list[f], by their start
 *     pairing_release(&p);
 *
 * A request behind belongs to the request in front with the same request id, else the same trace id, else the same
 * response id, during which it began. If several such requests were in flight, the id does not tell them apart, and the
 * next one is tried. Requests without a pair by then are paired by content and order: one lies within the other in
 * time, and nothing contradicts it (model, outcome, numbers of tokens, text). That counts only if each is the other's
 * only candidate; else both are ambiguous.
 *
 * All of it requires one clock. Requests whose ids are unique on both sides show whether there is one: most of those
 * behind must lie within those in front. If not, only unique ids pair.
 */
#ifndef GATEWAY_PAIRING_H
#define GATEWAY_PAIRING_H

#include "gateway/gateway_requests.h"

/* The ids of gateway_requests.h, then: */
enum { PAIRED_BY_CONTENT = GATEWAY_IDS, PAIRING_KEYS };
extern const char *const pairing_key_names[PAIRING_KEYS]; /* "request_id", …, "content" */

/* A request behind may seem to begin so much earlier, or end so much later: an answer's last bytes may be read late. */
#define PAIRING_SLACK_NS INT64_C(1000000)

struct pairing_clock {
	int64_t checked;  /* requests with unique ids */
	int64_t outside;  /* those not within their partner */
	bool one;         /* or not known to differ */
	int64_t apart_ns; /* how far apart the clocks are at least, the median of these; 0 if there is one */
};

/* Indices into the lists of both sides; -1: none. */
struct pairing {
	int32_t *front;                     /* for each request behind: its request in front */
	int8_t *key;                        /* … and by which key; -1 */
	int32_t *first, *last;              /* for each request in front: the first and the last behind it */
	int32_t *next;                      /* for each request behind: the next of the same request */
	int32_t *count;                     /* for each request in front: how many there are */
	bool *unclear_front, *unclear_back; /* has candidates, but more than one, or shared ones */
	int64_t keys[PAIRING_KEYS];         /* requests behind, by the key */
	struct pairing_clock clock;
};

/* Both lists are in order of start. -1: out of memory, or more than INT32_MAX requests. */
int pairing_make(struct pairing *p, const struct gateway_requests *front, const struct gateway_requests *back,
                 struct ipf_error *err);
void pairing_release(struct pairing *p);

#endif
