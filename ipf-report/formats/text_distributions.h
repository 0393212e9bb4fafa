/* The section of the text report that shows the shape of the main latencies: a small histogram each, from the least
 * value to p99. A mean of two peaks, as of a cache that half of the prompts hit, is seen at once.
 */
#ifndef REPORT_TEXT_DISTRIBUTIONS_H
#define REPORT_TEXT_DISTRIBUTIONS_H

#include "formats/report_format.h"
#include "formats/text_layout.h"

/* Fewer requests have no shape. */
enum { DISTRIBUTION_SAMPLES = 100 };

/* Nothing if there are fewer samples, or all of them are equal. */
void text_distributions(struct layout *l, const struct report *report);

#endif
