/* The probes of Kubernetes, over HTTP: /healthz, is the operator alive, and /readyz, does it know the objects?
 *
 *     struct health *health = health_open(8080, &err);
 *     health_beat(health, true);          // each time the loop comes around, and whether all is listed
 *     health_close(health);
 *
 * Alive is who has come around within two minutes. An API server away makes nobody sick: a restart would not bring it
 * back. It listens on all addresses, as the kubelet asks from outside, has a thread of its own, and tells nothing but
 * "ok".
 */
#ifndef IPF_OPERATOR_HEALTH_H
#define IPF_OPERATOR_HEALTH_H

#include "error.h"

#include <stdbool.h>
#include <stdint.h>

struct health;

/* Port 0: a free one. NULL: the port is taken. */
struct health *health_open(int64_t port, struct ipf_error *err);
int health_port(const struct health *h);
void health_beat(struct health *h, bool ready);
void health_close(struct health *h); /* NULL is fine */

#endif
