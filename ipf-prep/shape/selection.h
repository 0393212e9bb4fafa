/* Which drafts become requests: applies --turns, the time slice, the limits on lengths, -n and --sessions, and samples.
 * Drafts written at the end only are held, in memory or in temporary files; the others go to the renderer at once.
 *
 *     struct selection *s;
 *     selection_new(&s, &config, &renderer, &counts, &progress, &err);
 *     … the reader hands drafts to selection_sink(s) …
 *     selection_finish(s, &err);           // writes what is held
 *     selection_free(s);
 *
 * Sessions are kept or left out as a whole.
 */
#ifndef PREP_SELECTION_H
#define PREP_SELECTION_H

#include "cli/progress.h"
#include "shape/trace_renderer.h"

struct selection;

/* All arguments must outlive the selection. */
int selection_new(struct selection **s, const struct prep_config *config, struct trace_renderer *renderer,
                  struct selection_counts *counts, struct progress *progress, struct ipf_error *err);
struct sink *selection_sink(struct selection *s);
int selection_finish(struct selection *s, struct ipf_error *err);
void selection_free(struct selection *s); /* may be NULL */

#endif
