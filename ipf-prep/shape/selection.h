/* Which drafts become requests: turns, time slice, filters, -n and --sessions, samples; what has to wait for the end is
 * held.
 *
 *     struct selection *s;
 *     selection_new(&s, &plan, &renderer, &tally, &progress, &err);
 *     … the reader hands drafts to selection_sink(s) …
 *     selection_finish(s, &err);           // what was held is written now
 *     selection_free(s);
 *
 * Sessions are kept or left out whole.
 */
#ifndef PREP_SELECT_H
#define PREP_SELECT_H

#include "cli/progress.h"
#include "shape/trace_renderer.h"

struct selection;

int selection_new(struct selection **s, const struct prep_plan *plan, struct renderer *renderer,
                  struct selection_counts *tally, struct progress *progress, struct ipf_error *err);
struct sink *selection_sink(struct selection *s);
int selection_finish(struct selection *s, struct ipf_error *err);
void selection_free(struct selection *s);

#endif
