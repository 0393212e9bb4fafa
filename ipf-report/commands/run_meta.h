/* The user's notes about a run with --meta KEY=VALUE, for every output format: "meta" of the run.
 *
 *     json_t *meta = NULL;
 *     run_meta_add(&meta, "commit=5f3a9c1", &err);     // {"commit": "5f3a9c1"}
 */
#ifndef REPORT_RUN_META_H
#define REPORT_RUN_META_H

#include "error.h"

#include <jansson.h>

enum { RUN_META_MOST = 64 };

/* Adds an entry to *meta, a new object at first; a present key gets the new value. The key has letters, digits and _
 * and does not begin with a digit, so it can be the name of a column or a label. IPF_USAGE. */
int run_meta_add(json_t **meta, const char *text, struct ipf_error *err);

#endif
