/* Whether a run has one load or several: figures of all stages together describe none of several. */
#ifndef REPORT_LOADS_H
#define REPORT_LOADS_H

#include "results/run_data.h"

/* Do measured stages of the run differ in their load: in kind, rate or users? A ramp does the same by itself. */
bool loads_differ(const struct run_data *run);
/* Several results are repeats with their own numbers of users. */
bool repeats_differ(const struct run_data *run);
/* Does the stage have one load? Not if it is a ramp, or if it stands for differing repeats. */
bool stage_has_one_load(const struct run_data *run, size_t stage);

#endif
