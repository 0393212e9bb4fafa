/* Checks of keys that several kinds of stages share. They fail with IPF_USAGE; the text begins with the key. */
#ifndef IPF_STAGE_CHECKS_H
#define IPF_STAGE_CHECKS_H

#include "kinds/stage_kind.h"

/* For kinds taking either for= or n=. */
int limits_check(const struct stage *stage, struct ipf_error *err);
/* Is the coefficient of variation (NAN: not given) within the bounds of these gaps? */
int cv_check(enum gaps_kind gaps, double cv, struct ipf_error *err);
/* The same for a kind with process=, which may require one. */
int process_check(const struct stage *stage, struct ipf_error *err);

/* rampup= needs a closed loop, and is at most for=. `of`: the keys making one, for the message. */
int rampup_check(const struct stage *stage, bool closed, const char *of, struct ipf_error *err);

#endif
