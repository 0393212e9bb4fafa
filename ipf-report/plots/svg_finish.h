/* Makes the SVG that gnuplot draws fit for pages: for people who do not see it, for dark pages, and beside others.
 *
 *  - A title and a description, which screen readers read, replace gnuplot's; it is one image for them (role="img").
 *  - Every id begins with the plot's name, so several plots can be in one page.
 *  - The colours of plot_style.h become classes, whose colours are CSS variables (--plot-ink, --plot-1, …) with the
 *    light ones as their defaults; svg_style() sets the dark ones for dark pages. Viewers without CSS find the
 *    light colours in the attributes.
 *  - Elements that draw nothing are left out: empty groups, and all that are neither shape nor text.
 *
 *     svg_finish(buffer_all(&image), &plot, SVG_ALONE, &out);
 */
#ifndef REPORT_SVG_FINISH_H
#define REPORT_SVG_FINISH_H

#include "plots/plot.h"

enum svg_use {
	SVG_ALONE, /* a file: with an XML declaration, the style, and a background */
	SVG_INLINE /* within an HTML page, which has svg_style() once; without a background */
};

/* Appends the result. Whatever `svg` is, the result is one <svg> element, without scripts. */
void svg_finish(struct slice svg, const struct plot *p, enum svg_use use, struct buffer *out);

/* Appends the CSS rules of all plots, for a <style> element. */
void svg_style(struct buffer *out);

#endif
