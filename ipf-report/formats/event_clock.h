/* Which clock gave the times of events, in words. */
#ifndef REPORT_EVENT_CLOCK_H
#define REPORT_EVENT_CLOCK_H

#include <jansson.h>
#include <stdbool.h>

struct event_clock {
	char text[160];
};

/* From `run` of the JSON report (run_info_json): the clock, and how late ipf-fire read the data: of several clients,
 * the worst. False: it is not known. */
bool event_clock_say(json_t *run, struct event_clock *say);

#endif
