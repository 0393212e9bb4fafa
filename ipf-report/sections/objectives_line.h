/* The one line about objectives of a run whose stages differ in load, from "objectives" of the JSON report:
 *
 *     met up to 39.5/s in sweep 40/s, 19.3 % below the capacity; first missed at 59.2/s in sweep 60/s; 44.1/s between
 *     them by a straight line
 */
#ifndef REPORT_OBJECTIVES_LINE_H
#define REPORT_OBJECTIVES_LINE_H

#include "document/document.h"

/* NULL: the run has no such verdict. */
const char *objectives_line(struct document *d, json_t *objectives);
/* "39.5/s", "16 users": a load of "objectives". */
const char *objectives_load(struct document *d, json_t *load);

#endif
