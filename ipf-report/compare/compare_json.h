/* A comparison as JSON: share/ipf/schema/comparison.schema.json describes it. Every other format shows its contents.
 */
#ifndef COMPARE_COMPARE_JSON_H
#define COMPARE_COMPARE_JSON_H

#include "compare/comparison.h"

/* A new object; NULL: out of memory. */
json_t *compare_json(const struct comparison *c);

#endif
