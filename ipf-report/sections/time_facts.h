/* Facts about the times of a run, for the sections sharing them: the clock, the client's additions on this machine, and
 * the error bars. */
#ifndef REPORT_TIME_FACTS_H
#define REPORT_TIME_FACTS_H

#include "sections/sections.h"

/* Each adds a fact, if it is known; never NULL. */
struct doc_part *tell_event_times(const struct telling *t);
struct doc_part *tell_calibration(const struct telling *t);
/* A table of the error bars of a block ("accuracy" of it). `itl`: the samples of ITL; NULL: a gap. */
void tell_error_bars(const struct telling *t, json_t *bars, const char *itl);

#endif
