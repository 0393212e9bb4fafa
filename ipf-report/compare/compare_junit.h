/* A comparison as JUnit XML, for the test reports of CI systems: each figure and each condition of --fail-if is a test
 * case. Without conditions, a worse figure fails; with them, only they do. */
#ifndef COMPARE_COMPARE_JUNIT_H
#define COMPARE_COMPARE_JUNIT_H

#include "compare/comparison.h"

void compare_junit(const struct comparison *c, struct buffer *out);

#endif
