/* --calibrate: measures how much this program adds to the measured times on this machine, against a server whose send
 * times are known, and finds the load up to which it adds less than a millisecond.
 */
#ifndef IPF_CALIBRATE_H
#define IPF_CALIBRATE_H

#include "run/settings.h"

/* Measures, writes the result to --output or to where calibration_path (run/calibration.h) says, and shows it.
 * `schedule` may be NULL. Returns the exit status. */
int calibrate(const struct fire_options *options, const char *schedule);

#endif
