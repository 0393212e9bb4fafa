/* Was the capture of an observed run good enough? The question of the verdict that replaces client_headroom: packets
 * that are missing, dropped or cut, connections whose contents could not be read, clocks that disagree.
 *
 *     capture_health_judge(capture, requests, unseen, check);
 */
#ifndef IPF_CAPTURE_HEALTH_H
#define IPF_CAPTURE_HEALTH_H

#include "verdict/verdict_check.h"

/* `capture`: the object "observed" of the records' trailer (ipf-records(5)); NULL: there is none yet, as in a run going
 * on. `requests`: all rows; `unseen`: those of which a part is missing. False: out of memory. */
bool capture_health_judge(const json_t *capture, int64_t requests, int64_t unseen, struct verdict_check *check);

#endif
