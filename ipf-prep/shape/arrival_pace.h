/* Notices arrivals whose rate no service has: times read in the wrong unit.
 *
 *     struct arrival_pace pace = {0};
 *     arrival_pace_add(&pace, at_ns);                       // for each request with an arrival, in any order
 *     enum pace_verdict verdict = arrival_pace_judge(&pace, scale, unit_ns);
 *
 * Too fast are more than 2,000 requests per second, or more than 100 if at least half of the times have fractions of
 * their unit and these are a millisecond or less. Too slow is a mean gap of more than six hours. Fewer than 48
 * requests, or simultaneous ones, say nothing.
 */
#ifndef PREP_ARRIVAL_PACE_H
#define PREP_ARRIVAL_PACE_H

#include <stdint.h>
#include <stdio.h>

struct string_list;

struct arrival_pace {
	int64_t requests, first_ns, last_ns;
	/* Differences to the first time: how many are no whole milliseconds and microseconds. */
	int64_t origin_ns, part_ms, part_us;
};

enum pace_verdict { PACE_PLAUSIBLE, PACE_TOO_FAST, PACE_TOO_SLOW };

void arrival_pace_add(struct arrival_pace *p, int64_t at_ns);
/* `scale`: how many times as fast as recorded the requests arrive. `unit_ns`: the unit in which they were read; 0: the
 * format has its own. */
enum pace_verdict arrival_pace_judge(const struct arrival_pace *p, double scale, int64_t unit_ns);
/* Reports the fault in a line, with the unit that would fit and the --field option for it if `fields` (as given to
 * --field) has the arrival. Prints nothing for a plausible rate. */
void arrival_pace_print(const struct arrival_pace *p, double scale, const struct string_list *fields, FILE *to);

#endif
