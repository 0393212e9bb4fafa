/* The JSON object of a gateway, from which text, page and Markdown are made (gateway_document.h); its members are in
 * share/ipf/schema/gateway.members.
 */
#ifndef GATEWAY_GATEWAY_JSON_H
#define GATEWAY_GATEWAY_JSON_H

#include "gateway/gateway.h"

#include <jansson.h>

/* New. NULL: out of memory. */
json_t *gateway_json(const struct gateway *g, struct ipf_error *err);

/* ---- its parts; each is a new object ---- */

/* Fills the members "added_ms", "windows" and "events". -1: out of memory. */
int gateway_json_added(json_t *to, const struct gateway *g, struct ipf_error *err);
/* Requests sent on several times. NULL: out of memory. */
json_t *gateway_json_retries(const struct gateway *g);
/* Requests in front without one behind, by their status. */
json_t *gateway_json_own_answers(const struct gateway *g);
/* Requests behind, by server, and whether sessions stay at one. */
json_t *gateway_json_targets(const struct gateway *g);
json_t *gateway_json_sessions(const struct gateway *g);

#endif
