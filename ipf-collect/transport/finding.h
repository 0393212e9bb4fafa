/* One finding of the transport: the observation, the affected share, possible causes, and the remedy. ipf-results(5)
 * describes the object.
 *
 *     finding_add(list, &(struct finding){.kind = "buffering", .affected = 93, .of = 100, .unit = "responses",
 *                                         .detail = …, .can_be = …, .advice = …, .evidence = json_pack(…)});
 */
#ifndef COLLECT_FINDING_H
#define COLLECT_FINDING_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct finding {
	const char *kind;
	int64_t affected, of;
	const char *unit;   /* the counted things: "responses", "requests", "gaps" */
	const char *detail; /* a sentence without a full stop */
	const char *can_be, *advice;
	json_t *evidence; /* taken over */
	bool doubt;       /* it makes figures doubtful: the detail becomes a clause of the verdict */
};

/* False: out of memory. */
bool finding_add(json_t *list, const struct finding *finding);
/* Seconds, milliseconds and shares are rounded, so they read well. */
json_t *finding_number(double value);

#endif
