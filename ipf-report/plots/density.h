/* Points too many to be drawn: counted in the cells of a grid, which are shaded by how many there are.
 *
 *     struct density d;
 *     density_init(&d, &x, &y, 72);                  // the grid between the ends of two axes
 *     density_add(&d, 12.5, 80, 1);
 *     density_draw(&d, p, "t_s", "ttft_ms");         // a table of the cells, and a plot command without the line's end
 *     density_release(&d);
 */
#ifndef REPORT_DENSITY_H
#define REPORT_DENSITY_H

#include "plots/plot_style.h"

enum { DENSITY_COLUMNS_MOST = 72, DENSITY_ROWS = 30 };

struct density {
	struct plot_axis x, y;
	int columns;
	double *cells; /* DENSITY_ROWS rows of `columns`, from the lowest; NULL: memory ran out */
	double most;
};

/* At most DENSITY_COLUMNS_MOST columns. */
void density_init(struct density *d, const struct plot_axis *x, const struct plot_axis *y, int columns);
void density_release(struct density *d);
/* A point beyond an axis counts in the cell at its end. */
void density_add(struct density *d, double x, double y, double count);

/* Adds the table (the low and high ends of each non-empty cell, and its count), a legend, for which `what` are the
 * points, and the beginning of a plot command, which the caller continues or ends. Begins the panel of this command. */
void density_draw(const struct density *d, struct plot *p, const char *x_name, const char *y_name, const char *what);

#endif
