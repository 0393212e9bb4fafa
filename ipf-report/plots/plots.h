/* The plots of a run: each is data, a script for gnuplot, and gnuplot's picture of them.
 *
 * Into memory, for a page:
 *
 *     for (const struct plot_kind *kind = plot_kinds; kind->name; kind++) {
 *         struct plot p;
 *         int made = plot_make(kind, &input, &p, &err);             // 0: this run has no data for it: p.absent says
 * why if (made > 0) drawn = plot_svg(&p, SVG_INLINE, &page, &err);        // 0: gnuplot is not installed
 *         plot_release(&p);
 *     }
 *
 * Into files: plot_files.h. A million requests make a picture of some hundred kilobytes at most, since more than some
 * thousand points are counted in bins.
 */
#ifndef REPORT_PLOTS_H
#define REPORT_PLOTS_H

#include "plots/plot_kind.h"
#include "plots/plot_style.h"
#include "plots/svg_finish.h"

/* All plots, in the order in which a reader wants them; one without a name ends them. */
extern const struct plot_kind plot_kinds[];

/* Makes a plot without drawing it: title, about, data and script. 1; 0: the run has no data for it, and p->absent says
 * why; -1: out of memory. The caller releases the plot in any case. */
int plot_make(const struct plot_kind *kind, const struct plot_input *input, struct plot *p, struct ipf_error *err);

/* The script as it is run in the folder of the plot's files: reads NAME.tsv and writes NAME.FORMAT. */
void plot_script(const struct plot *p, enum plot_format format, struct buffer *script);

/* Draws the plot and appends the bytes of the picture. 1; 0: gnuplot is not installed; -1: it failed. */
int plot_draw(const struct plot *p, enum plot_format format, struct buffer *image, struct ipf_error *err);

/* The same as SVG, in a page or alone: see svg_finish.h. */
int plot_svg(const struct plot *p, enum svg_use use, struct buffer *svg, struct ipf_error *err);

#endif
