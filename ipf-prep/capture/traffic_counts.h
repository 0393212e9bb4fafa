/* Requests counted by method and path, the path without its query and the like: what else a port of a model server
 * carries.
 *
 *     traffic_counts_add(&counts, method, target);
 *     json_t *json = traffic_counts_json(&counts);        // {"GET /metrics": 12, "others": 3}
 *
 * At most TRAFFIC_COUNTED names; requests of further ones are counted together.
 */
#ifndef PREP_TRAFFIC_COUNTS_H
#define PREP_TRAFFIC_COUNTS_H

#include "buffer.h"

#include <jansson.h>
#include <stdint.h>

enum { TRAFFIC_COUNTED = 64, TRAFFIC_COUNT_NAME = 120 };

struct traffic_counts {
	struct traffic_count {
		char name[TRAFFIC_COUNT_NAME];
		int64_t count;
	} * list;
	size_t count, cap;
	int64_t all, further;
	bool failed; /* out of memory */
};

void traffic_counts_add(struct traffic_counts *c, struct slice method, struct slice target);
json_t *traffic_counts_json(const struct traffic_counts *c); /* new; NULL: out of memory */
void traffic_counts_release(struct traffic_counts *c);

#endif
