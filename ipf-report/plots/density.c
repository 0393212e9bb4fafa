#include "plots/density.h"

#include "plots/plot_panels.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void density_init(struct density *d, const struct plot_axis *x, const struct plot_axis *y, int columns)
{
	*d = (struct density){.x = *x, .y = *y, .columns = columns};
	d->cells = calloc((size_t)columns * DENSITY_ROWS, sizeof *d->cells);
}

void density_release(struct density *d)
{
	free(d->cells);
}

static int cell_of(const struct plot_axis *axis, double value, int count)
{
	double place = axis->log && !(value > axis->low) ? 0 : plot_axis_place(axis, value);
	int cell = place > 0 ? (int)fmin(place * count, count) : 0;
	return cell < count ? cell : count - 1;
}

void density_add(struct density *d, double x, double y, double count)
{
	if (!d->cells || isnan(x) || isnan(y))
		return;
	double *cell = &d->cells[cell_of(&d->y, y, DENSITY_ROWS) * d->columns + cell_of(&d->x, x, d->columns)];
	*cell += count;
	d->most = fmax(d->most, *cell);
}

/* The edge of a cell: the inverse of plot_axis_place. */
static double edge(const struct plot_axis *axis, int cell, int count)
{
	double share = (double)cell / count;
	return axis->log ? axis->low * pow(axis->high / axis->low, share) : axis->low + share * (axis->high - axis->low);
}

/* How far a cell is transparent, from 0 to 255: by the logarithm of its count, so single points are seen, too. */
static int transparency(double count, double most)
{
	return (int)round(255 * 0.85 * (1 - log(1 + count) / log(1 + most)));
}

static void add_legend(const struct density *d, struct plot *p, const char *what)
{
	struct plot_legend_entry entries[3];
	char names[3][64], lines[3][48];
	double counts[3] = {1, round(sqrt(d->most)), d->most};
	int n = 0;
	for (int i = 0; i < 3; i++) {
		if (i && counts[i] <= counts[i - 1])
			continue;
		const bool named = i == 2 || d->most <= 1;
		const int letters = (int)strlen(what) - (counts[i] <= 1); /* without the s of the plural */
		snprintf(names[n], sizeof names[n], "%.0f%s%.*s", counts[i], named ? " " : "", named ? letters : 0, what);
		snprintf(lines[n], sizeof lines[n], "fc rgb '#%02x%06x'", transparency(counts[i], d->most),
		         (unsigned)plot_colours[PLOT_SERIES].light);
		entries[n] = (struct plot_legend_entry){names[n], lines[n], PLOT_LINE};
		n++;
	}
	plot_legend(p, entries, n);
}

void density_draw(const struct density *d, struct plot *p, const char *x_name, const char *y_name, const char *what)
{
	char columns[160];
	snprintf(columns, sizeof columns, "%s_low\t%s_high\t%s_low\t%s_high\tcount", x_name, x_name, y_name, y_name);
	int block = plot_block(p, columns);
	for (int i = 0; d->cells && i < d->columns * DENSITY_ROWS; i++) {
		int column = i % d->columns, row = i / d->columns;
		if (d->cells[i] > 0)
			plot_row(p,
			         (double[]){edge(&d->x, column, d->columns), edge(&d->x, column + 1, d->columns),
			                    edge(&d->y, row, DENSITY_ROWS), edge(&d->y, row + 1, DENSITY_ROWS), d->cells[i]},
			         5);
	}
	add_legend(d, p, what);
	plot_panel(p, PANEL_CELLS);
	plot_cells(p, block, d->columns, DENSITY_ROWS, what);
	plot_command(p, "shade(n) = int(255 * 0.85 * (1 - log(1 + n) / log(1 + %.9g)) + 0.5) * 2**24 + 0x%06x", d->most,
	             (unsigned)plot_colours[PLOT_SERIES].light);
	plot_part(p, "plot data index %d using (($1+$2)/2):(($3+$4)/2):1:2:3:4:(shade($5)) with boxxyerror lc rgb variable",
	          block);
}
