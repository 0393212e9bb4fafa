#include "compare/compare_pictures.h"

#include "compare/compare_words.h"
#include "document/shown_numbers.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- order ---- */

bool compare_differs(const struct figure_difference *f)
{
	return f->d.finding == FINDING_LOWER || f->d.finding == FINDING_HIGHER;
}

static int rank_of(const struct figure_difference *f)
{
	return compare_differs(f) ? 0 : f->d.finding == FINDING_FEW_RUNS ? 1 : f->d.finding == FINDING_SAME ? 2 : 3;
}

void compare_order(const struct comparison *c, const struct figure_difference *order[COMPARED_FIGURES])
{
	size_t count = 0;
	for (int rank = 0; rank <= 3; rank++)
		for (size_t k = 0; k < c->count; k++)
			if (rank_of(&c->figures[k]) == rank)
				order[count++] = &c->figures[k];
}

/* ---- axes ---- */

enum { PICTURE_WIDTH = 400, TICKS_MOST = 12 };

/* A scale from values to units of the picture. */
struct axis {
	double low, high;
	int from, to; /* where `low` and `high` are */
	bool log;
	double ticks[TICKS_MOST];
	int count;
};

static double place(const struct axis *a, double value)
{
	const double v = fmin(fmax(value, a->low), a->high);
	const double share = a->log ? (log(v) - log(a->low)) / (log(a->high) - log(a->low))
	                            : (v - a->low) / (a->high - a->low);
	return a->from + share * (a->to - a->from);
}

/* Round numbers, `wanted` or fewer. */
static void set_ticks(struct axis *a, int wanted)
{
	static const double steps[] = {1, 2, 5, 10};
	const double rough = (a->high - a->low) / wanted, power = pow(10, floor(log10(rough)));
	double step = 10 * power;
	for (size_t i = sizeof steps / sizeof *steps; i-- > 0;)
		if (steps[i] * power >= rough)
			step = steps[i] * power;
	for (double k = ceil(a->low / step - 1e-9); k * step <= a->high * (1 + 1e-9) + 1e-12 && a->count < TICKS_MOST; k++)
		a->ticks[a->count++] = k * step;
}

/* 1, 2, 5 and their powers of ten; over more than two powers only these. */
static void set_log_ticks(struct axis *a)
{
	static const double steps[] = {1, 2, 5};
	const bool wide = a->high / a->low > 100;
	for (double power = pow(10, floor(log10(a->low))); power <= a->high; power *= 10)
		for (size_t i = 0; i < (wide ? 1 : sizeof steps / sizeof *steps); i++)
			if (steps[i] * power >= a->low && steps[i] * power <= a->high && a->count < TICKS_MOST)
				a->ticks[a->count++] = steps[i] * power;
}

static void begin_picture(struct buffer *out, const char *name, int height, const char *title, const char *description)
{
	buffer_format(out,
	              "<figure><svg viewBox=\"0 0 %d %d\" role=\"img\" aria-labelledby=\"%s-title %s-desc\">\n"
	              "<title id=\"%s-title\">%s</title>\n<desc id=\"%s-desc\">%s</desc>\n",
	              PICTURE_WIDTH, height, name, name, name, title, name, description);
}

static void end_picture(struct buffer *out)
{
	buffer_text(out, "</svg></figure>\n");
}

/* ---- intervals ---- */

enum { FOREST_FROM = 112, FOREST_TO = 392, ROW = 22, FOREST_TOP = 8, FOREST_BOTTOM = 34, FOREST_TICKS = 6 };

/* Failures have no relative change. */
static bool is_drawn(const struct figure_difference *f)
{
	return f->d.relative && !isnan(f->d.change) && !isnan(f->d.low) && !isnan(f->d.high);
}

/* All changes and the least effect are inside; much wider intervals are cut. */
static struct axis forest_axis(const struct comparison *c)
{
	struct axis a = {
		.from = FOREST_FROM, .to = FOREST_TO, .low = -1.5 * c->options->effect, .high = 1.5 * c->options->effect};
	double reach = a.high;
	for (size_t k = 0; k < c->count; k++)
		if (is_drawn(&c->figures[k]))
			reach = fmax(reach, fmin(2 * fabs(c->figures[k].d.change), 10));
	for (size_t k = 0; k < c->count; k++)
		if (is_drawn(&c->figures[k])) {
			const struct difference *d = &c->figures[k].d;
			a.low = fmin(a.low, fmax(d->low, -reach));
			a.high = fmax(a.high, fmin(d->high, reach));
		}
	set_ticks(&a, FOREST_TICKS);
	return a;
}

static void draw_end(struct buffer *out, const struct axis *a, double limit, double y)
{
	const double x = place(a, limit);
	if (limit < a->low)
		buffer_format(out, "<polygon points=\"%.1f,%.1f %.1f,%.1f %.1f,%.1f\"/>\n", x - 4, y, x + 2, y - 3.5, x + 2,
		              y + 3.5);
	else if (limit > a->high)
		buffer_format(out, "<polygon points=\"%.1f,%.1f %.1f,%.1f %.1f,%.1f\"/>\n", x + 4, y, x - 2, y - 3.5, x - 2,
		              y + 3.5);
	else
		buffer_format(out, "<path d=\"M%.1f %.1fv6\"/>\n", x, y - 3);
}

static void draw_interval(struct buffer *out, const struct axis *a, const struct figure_difference *f, int row)
{
	const double y = FOREST_TOP + ROW * (row + 0.5), x = place(a, f->d.change);
	const char *class = !compare_differs(f)                         ? f->d.finding == FINDING_SAME ? "same" : "few"
	                    : finding_is_worse(f->figure, f->d.finding) ? "worse"
	                                                                : "better";
	buffer_format(out, "<text x=\"0\" y=\"%.1f\">%s</text>\n<g class=\"%s\"><path d=\"M%.1f %.1fH%.1f\"/>\n", y + 4,
	              f->figure->label, class, place(a, f->d.low), y, place(a, f->d.high));
	draw_end(out, a, f->d.low, y);
	draw_end(out, a, f->d.high, y);
	if (compare_differs(f))
		buffer_format(out, "<rect class=\"mark\" x=\"%.1f\" y=\"%.1f\" width=\"8\" height=\"8\"/>", x - 4, y - 4);
	else
		buffer_format(out, "<circle class=\"mark\" cx=\"%.1f\" cy=\"%.1f\" r=\"%s\"/>", x, y,
		              f->d.finding == FINDING_SAME ? "3" : "3.5");
	buffer_text(out, "</g>\n");
}

static void draw_forest_axis(struct buffer *out, const struct axis *a, const struct comparison *c, int rows)
{
	const double bottom = FOREST_TOP + ROW * rows, low = place(a, -c->options->effect),
				 high = place(a, c->options->effect);
	char text[40];
	buffer_format(out, "<rect class=\"band\" x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%.0f\"/>\n", low, FOREST_TOP,
	              high - low, bottom - FOREST_TOP);
	for (int i = 0; i < a->count; i++) {
		const double x = place(a, a->ticks[i]);
		snprintf(text, sizeof text, fabs(a->ticks[i]) < 1e-9 ? "0" : "%+.3g", 100 * a->ticks[i]);
		buffer_format(
			out, "<path class=\"%s\" d=\"M%.1f %dV%.0f\"/>\n<text class=\"middle\" x=\"%.1f\" y=\"%.0f\">%s</text>\n",
			fabs(a->ticks[i]) < 1e-9 ? "zero" : "grid", x, FOREST_TOP, bottom, x, bottom + 14, text);
	}
	buffer_format(out,
	              "<text class=\"middle soft\" x=\"%d\" y=\"%.0f\">change of new from base, %%; shaded: less than the "
	              "least effect</text>\n",
	              (FOREST_FROM + FOREST_TO) / 2 - 30, bottom + 30);
}

void compare_forest(const struct comparison *c, struct buffer *out)
{
	const struct figure_difference *order[COMPARED_FIGURES];
	const struct axis axis = forest_axis(c);
	struct buffer description = {0};
	char change[40], interval[64];
	int rows = 0;
	compare_order(c, order);
	for (size_t k = 0; k < c->count; k++)
		if (is_drawn(order[k])) {
			buffer_format(&description, "%s%s %s, %s, %s", rows ? "; " : "", order[k]->figure->label,
			              compare_change(&order[k]->d, change), compare_interval(&order[k]->d, interval),
			              finding_name(order[k]->figure, order[k]->d.finding));
			rows++;
		}
	if (rows > 0 && !description.failed) {
		begin_picture(out, "forest", FOREST_TOP + ROW * rows + FOREST_BOTTOM, "Changes with their 95 % intervals",
		              description.data);
		draw_forest_axis(out, &axis, c, rows);
		rows = 0;
		for (size_t k = 0; k < c->count; k++)
			if (is_drawn(order[k]))
				draw_interval(out, &axis, order[k], rows++);
		end_picture(out);
	}
	out->failed |= description.failed;
	buffer_release(&description);
}

/* ---- distributions ---- */

enum { CURVE_FROM = 36, CURVE_TO = 388, CURVE_TOP = 26, CURVE_BOTTOM = 186, CURVE_HEIGHT = 220, CURVE_LAST = 99 };

/* The slowest request alone would take most of the picture: curves end at p99. */
static struct axis time_axis(const struct compared_distribution *d)
{
	struct axis a = {.from = CURVE_FROM, .to = CURVE_TO};
	a.low = fmin(d->at[SIDE_BASE][0], d->at[SIDE_NEW][0]);
	a.high = fmax(d->at[SIDE_BASE][CURVE_LAST], d->at[SIDE_NEW][CURVE_LAST]);
	if (!(a.high > a.low))
		a.high = a.low + fmax(1, fabs(a.low));
	a.log = a.low > 0 && a.high > 5 * a.low;
	if (a.log)
		set_log_ticks(&a);
	else
		set_ticks(&a, 5);
	return a;
}

static void draw_curve(struct buffer *out, const struct axis *x, const struct axis *y, const double *at,
                       const char *class)
{
	buffer_format(out, "<polyline class=\"%s\" points=\"", class);
	for (int p = 0; p <= CURVE_LAST; p++)
		buffer_format(out, "%s%.1f,%.1f", p ? " " : "", place(x, at[p]), place(y, p));
	buffer_text(out, "\"/>\n");
}

static void draw_grid(struct buffer *out, const struct axis *x, const struct axis *y, const char *label)
{
	char text[40];
	for (int i = 0; i < x->count; i++) {
		const double at = place(x, x->ticks[i]);
		buffer_format(
			out, "<path class=\"grid\" d=\"M%.1f %dV%d\"/>\n<text class=\"middle\" x=\"%.1f\" y=\"%d\">%s</text>\n", at,
			CURVE_TOP, CURVE_BOTTOM, at, CURVE_BOTTOM + 14, show_number(x->ticks[i], text));
	}
	for (int p = 0; p <= 100; p += 25)
		buffer_format(out,
		              "<path class=\"grid\" d=\"M%d %.1fH%d\"/>\n<text class=\"end\" x=\"%d\" y=\"%.1f\">%d</text>\n",
		              CURVE_FROM, place(y, p), CURVE_TO, CURVE_FROM - 5, place(y, p) + 4, p);
	buffer_format(out,
	              "<text class=\"soft middle\" x=\"%d\" y=\"%d\">%s, ms%s</text>\n"
	              "<text class=\"soft\" x=\"0\" y=\"14\">%% of requests</text>\n",
	              (CURVE_FROM + CURVE_TO) / 2, CURVE_BOTTOM + 30, label, x->log ? " (logarithmic)" : "");
}

static void draw_key(struct buffer *out)
{
	buffer_text(out, "<polyline class=\"base\" points=\"232,10 260,10\"/>\n<text x=\"266\" y=\"14\">base</text>\n"
	                 "<polyline class=\"new\" points=\"320,10 348,10\"/>\n<text x=\"354\" y=\"14\">new</text>\n");
}

static void draw_distribution(struct buffer *out, const struct compared_distribution *d, const char *name,
                              const char *label)
{
	const struct axis x = time_axis(d), y = {.low = 0, .high = 100, .from = CURVE_BOTTOM, .to = CURVE_TOP};
	char title[80], description[300], id[40], a[4][40];
	snprintf(id, sizeof id, "curve-%.20s", name);
	snprintf(title, sizeof title, "Distribution of %s", label);
	snprintf(
		description, sizeof description,
		"Half of the requests took at most %s ms with base and %s ms with new, 90 %% of them at most %s ms and %s ms.",
		show_number(d->at[SIDE_BASE][50], a[0]), show_number(d->at[SIDE_NEW][50], a[1]),
		show_number(d->at[SIDE_BASE][90], a[2]), show_number(d->at[SIDE_NEW][90], a[3]));
	begin_picture(out, id, CURVE_HEIGHT, title, description);
	draw_grid(out, &x, &y, label);
	draw_key(out);
	draw_curve(out, &x, &y, d->at[SIDE_BASE], "base");
	draw_curve(out, &x, &y, d->at[SIDE_NEW], "new");
	end_picture(out);
}

void compare_distributions(const struct comparison *c, struct buffer *out)
{
	for (size_t k = 0; k < c->distribution_count; k++) {
		const struct metric_spec *metric = &metrics[c->distributions[k].metric];
		char label[40];
		snprintf(label, sizeof label, "%s%s%s", metric->label, metric->remark ? ", " : "",
		         metric->remark ? metric->remark : "");
		draw_distribution(out, &c->distributions[k], metric->name, label);
	}
}
