#include "sections/why_picture.h"

#include "document/shown_numbers.h"
#include "json_report/json_path.h"
#include "output/markup.h"
#include "safe_text.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>

const struct why_words why_words[WHY_WORDS] = {
	{"connect", "connection", "opening a connection"},
	{"overhead", "overhead", "the server's overhead, network included"},
	{"queue", "queue", "waiting in the server's queue"},
	{"thrown_out", "thrown out", "being thrown out of the KV cache and computed again"},
	{"own_prompt", "own prompt", "computing its own prompt"},
	{"other_prompts", "prompts of others", "prompts of other requests, computed before its first token"},
	{"steps", "rest of the steps", "the other work of the steps that computed its prompt"},
	{"later_prompts", "later: prompts of others", "prompts of other requests, computed between its tokens"},
	{"decoding", "later: decoding", "decoding"},
	{"unexplained", "not explained", "not explained by the twin"},
};

enum { WIDTH = 400, TITLE = 20, PERCENTILES = 2 };
static const char *const percentiles[PERCENTILES] = {"p50", "p99"};

/* The subject of a picture. */
struct latency {
	const char *name, *shown;
};
static const struct latency latencies[] = {{"ttft", "TTFT"}, {"e2e", "E2E"}};

struct bar {
	double ms[WHY_WORDS]; /* 0: there is no such part, or it is negative, which a bar cannot show */
	double sum, measured;
};

/* False: there is none. Notes its parts in `drawn`. */
static bool read_bar(struct bar *b, json_t *group, bool drawn[WHY_WORDS])
{
	char path[64];
	*b = (struct bar){.measured = figure_at(group, "measured_ms")};
	for (int i = 0; i < WHY_WORDS; i++) {
		snprintf(path, sizeof path, "parts/%s/ms", why_words[i].part);
		const double ms = figure_at(group, path);
		b->ms[i] = isfinite(ms) && ms > 0 ? ms : 0;
		b->sum += b->ms[i];
	}
	const bool found = b->sum > 0 && isfinite(b->sum) && isfinite(b->measured);
	for (int i = 0; i < WHY_WORDS && found; i++)
		drawn[i] |= b->ms[i] > 0;
	return found;
}

/* `id`, `title` and `description` are texts of ours. */
static void begin_picture(struct buffer *out, const char *id, int height, const char *title, const char *description)
{
	buffer_format(
		out,
		"<figure><svg viewBox=\"0 0 %d %d\" role=\"img\" aria-labelledby=\"%s-title %s-desc\">\n"
		"<title id=\"%s-title\">%s</title>\n<desc id=\"%s-desc\">%s</desc>\n<text x=\"0\" y=\"11\">%s</text>\n",
		WIDTH, height, id, id, id, title, id, description, title);
}

static void end_picture(struct buffer *out)
{
	buffer_text(out, "</svg></figure>\n");
}

/* ---- by stage ---- */

enum { FROM = 32, TO = 336, BAR = 18, ROW = 22, LABEL = 17, GAP = 6 };

/* The whole run, or a stage. */
struct bars {
	const char *name; /* NULL: the only one */
	struct bar at[PERCENTILES];
};

static void draw_bar(struct buffer *out, const struct bar *b, const char *name, int y, double most)
{
	double x = FROM;
	char shown[40];
	buffer_format(out, "<text x=\"0\" y=\"%d\">%s</text>\n", y + 13, name);
	for (int i = 0; i < WHY_WORDS; i++) {
		const double width = b->ms[i] / most * (TO - FROM);
		if (!(width > 0))
			continue;
		buffer_format(out,
		              "<rect class=\"part-%d\" x=\"%.2f\" y=\"%d\" width=\"%.2f\" height=\"%d\"><title>%s: %s "
		              "ms</title></rect>\n",
		              i, x, y, width, BAR, why_words[i].row, show_number(b->ms[i], shown));
		x += width;
	}
	buffer_format(out, "<text x=\"%.2f\" y=\"%d\">%s ms</text>\n", x + 4, y + 13, show_number(b->measured, shown));
}

/* Long names are cut to fit. */
static void draw_name(struct buffer *out, const char *name, int y)
{
	char text[60];
	safe_text(text, sizeof text, slice_of(name));
	buffer_format(out, "<text x=\"0\" y=\"%d\">", y + 12);
	markup_escape(out, slice_of(text), "");
	buffer_text(out, "</text>\n");
}

/* The run, and its stages if there are several. Returns how many there are. */
static size_t read_bars(struct bars list[WHY_STAGES + 1], json_t *why, const char *latency, bool drawn[WHY_WORDS])
{
	json_t *stages = json_at(why, "stages");
	size_t count = 0;
	for (size_t i = 0; i <= json_array_size(stages) && i <= WHY_STAGES; i++) {
		json_t *of = i == 0 ? why : json_array_get(stages, i - 1), *both = json_at(of, latency);
		struct bars *b = &list[count];
		const char *name = i == 0 ? "all stages" : json_string_value(json_at(of, "name"));
		b->name = json_array_size(stages) == 0 ? NULL : name ? name : "";
		if (read_bar(&b->at[0], json_at(both, percentiles[0]), drawn) &&
		    read_bar(&b->at[1], json_at(both, percentiles[1]), drawn))
			count++;
	}
	return count;
}

static void picture_by_stage(struct buffer *out, json_t *why, const struct latency *latency, bool drawn[WHY_WORDS])
{
	struct bars list[WHY_STAGES + 1];
	const size_t count = read_bars(list, why, latency->name, drawn), stages = json_array_size(json_at(why, "stages"));
	char id[40], title[60], more[80] = "";
	double most = 0;
	int y = TITLE;
	if (count == 0)
		return;
	const int height = PERCENTILES * ROW + (list[0].name ? LABEL + GAP : 0);
	for (size_t k = 0; k < count * PERCENTILES; k++)
		most = fmax(most, list[k / PERCENTILES].at[k % PERCENTILES].sum);
	if (stages > WHY_STAGES)
		snprintf(more, sizeof more, " The first %d of %zu stages are drawn.", WHY_STAGES, stages);
	snprintf(id, sizeof id, "why-picture-%s", latency->name);
	snprintf(title, sizeof title, "%s from start, by part%s", latency->shown, stages > 0 ? " and stage" : "");
	char about[200];
	snprintf(about, sizeof about, "A bar for p50 and one for p99%s, as long as their parts in the tables together.%s",
	         stages > 0 ? " of the run and of each stage" : "", more);
	begin_picture(out, id, TITLE + (int)count * height + (*more ? LABEL : 0), title, about);
	for (size_t k = 0; k < count; k++, y += list[0].name ? GAP : 0) {
		if (list[k].name)
			draw_name(out, list[k].name, y);
		y += list[k].name ? LABEL : 0;
		for (int p = 0; p < PERCENTILES; p++, y += ROW)
			draw_bar(out, &list[k].at[p], percentiles[p], y, most);
	}
	if (*more)
		draw_name(out, more + 1, y);
	end_picture(out);
}

/* ---- over time ---- */

enum { LEFT = 48, RIGHT = 380, TOP = 28, BOTTOM = 158, SLOTS_MOST = 1000, TICKS_MOST = 6 };

/* 1, 2, 5 or 10 times a power of ten. */
static double round_step(double rough)
{
	const double power = pow(10, floor(log10(rough)));
	return rough <= power ? power : rough <= 2 * power ? 2 * power : rough <= 5 * power ? 5 * power : 10 * power;
}

/* The axes' units: seconds of the run, milliseconds. */
struct axes {
	double first_s, every_s, most_ms;
	int slots;
};

static double x_of(const struct axes *a, double t_s)
{
	return LEFT + (t_s - a->first_s) / (a->every_s * a->slots) * (RIGHT - LEFT);
}

static double y_of(const struct axes *a, double ms)
{
	return BOTTOM - ms / a->most_ms * (BOTTOM - TOP);
}

/* False: there is nothing to draw. */
static bool read_axes(struct axes *a, json_t *over_time, const char *latency, bool drawn[WHY_WORDS])
{
	json_t *intervals = json_at(over_time, "intervals"), *one;
	const double last_s = figure_at(json_array_get(intervals, json_array_size(intervals) - 1), "t_s");
	struct bar b;
	size_t i;
	if (json_array_size(intervals) < 2)
		return false;
	*a = (struct axes){.first_s = figure_at(json_array_get(intervals, 0), "t_s"),
	                   .every_s = figure_at(over_time, "every_s")};
	const double slots = round((last_s - a->first_s) / a->every_s) + 1;
	if (!(slots >= 2 && slots <= SLOTS_MOST && a->every_s > 0))
		return false;
	a->slots = (int)slots;
	json_array_foreach(intervals, i, one)
	{
		if (read_bar(&b, json_at(one, latency), drawn))
			a->most_ms = fmax(a->most_ms, b.sum);
	}
	return a->most_ms > 0;
}

static void draw_axes(struct buffer *out, const struct axes *a)
{
	const double end_s = a->first_s + a->every_s * a->slots;
	const double ms = round_step(a->most_ms / 4), s = round_step((end_s - a->first_s) / 5);
	char shown[40];
	for (int k = 0; k <= TICKS_MOST && k * ms <= a->most_ms; k++)
		buffer_format(
			out, "<path class=\"grid\" d=\"M%d %.1fH%d\"/>\n<text class=\"soft end\" x=\"%d\" y=\"%.1f\">%s%s</text>\n",
			LEFT, y_of(a, k * ms), RIGHT, LEFT - 5, y_of(a, k * ms) + 4, show_number(k * ms, shown),
			k == 0 ? " ms" : "");
	const double first = ceil(a->first_s / s - 1e-9);
	for (int k = 0; k <= TICKS_MOST && (first + k) * s <= end_s + 1e-9; k++)
		buffer_format(out, "<text class=\"soft middle\" x=\"%.1f\" y=\"%d\">%.6g s</text>\n", x_of(a, (first + k) * s),
		              BOTTOM + 16, (first + k) * s);
}

static void draw_interval(struct buffer *out, const struct axes *a, const struct bar *b, json_t *interval)
{
	const double x = x_of(a, figure_at(interval, "t_s")), slot = (double)(RIGHT - LEFT) / a->slots;
	const double width = slot > 4 ? slot - 1 : slot;
	char from[40], time[40], requests[40];
	double ms = 0;
	if (!(x >= LEFT - 0.01 && x + slot <= RIGHT + 0.01))
		return;
	buffer_format(out, "<g><title>from %s s: %s ms, requests: %s</title>\n",
	              show_number(figure_at(interval, "t_s"), from), show_number(b->measured, time),
	              show_whole(figure_at(interval, "requests"), requests));
	for (int i = 0; i < WHY_WORDS; i++) {
		if (!(b->ms[i] > 0))
			continue;
		ms += b->ms[i];
		buffer_format(out, "<rect class=\"part-%d\" x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\"/>\n", i, x,
		              y_of(a, ms), width, y_of(a, ms - b->ms[i]) - y_of(a, ms));
	}
	buffer_text(out, "</g>\n");
}

static void picture_over_time(struct buffer *out, json_t *over_time, const struct latency *latency,
                              bool drawn[WHY_WORDS])
{
	struct axes a;
	struct bar b;
	json_t *one;
	size_t i;
	char id[40], title[60];
	bool ignored[WHY_WORDS] = {false};
	if (!read_axes(&a, over_time, latency->name, drawn))
		return;
	snprintf(id, sizeof id, "why-time-%s", latency->name);
	snprintf(title, sizeof title, "Mean %s by when requests started, by part", latency->shown);
	begin_picture(out, id, BOTTOM + 22, title,
	              "A bar for each interval of the run, in seconds, as high as the mean of the requests started in it.");
	draw_axes(out, &a);
	json_array_foreach(json_at(over_time, "intervals"), i, one)
	{
		if (read_bar(&b, json_at(one, latency->name), ignored))
			draw_interval(out, &a, &b, one);
	}
	end_picture(out);
}

/* ---- all ---- */

/* The parts of one of the bars. */
static void draw_legend(struct buffer *out, const bool drawn[WHY_WORDS])
{
	enum { LEGEND_ROW = 18, LEGEND_COLUMN = 200, SWATCH = 10 };
	int at = 0, parts = 0;
	for (int i = 0; i < WHY_WORDS; i++)
		parts += drawn[i];
	begin_picture(out, "why-legend", TITLE + (parts + 1) / 2 * LEGEND_ROW, "Parts",
	              "The colours of the pictures below.");
	for (int i = 0; i < WHY_WORDS; i++) {
		if (!drawn[i])
			continue;
		const int x = at % 2 * LEGEND_COLUMN, y = TITLE + at / 2 * LEGEND_ROW;
		buffer_format(out, "<rect class=\"part-%d\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/>", i, x, y, SWATCH,
		              SWATCH);
		buffer_format(out, "<text x=\"%d\" y=\"%d\">%s</text>\n", x + SWATCH + 5, y + SWATCH, why_words[i].row);
		at++;
	}
	end_picture(out);
}

void why_pictures(struct buffer *out, json_t *why)
{
	struct buffer pictures = {0};
	bool drawn[WHY_WORDS] = {false};
	for (size_t k = 0; k < sizeof latencies / sizeof *latencies; k++)
		picture_by_stage(&pictures, why, &latencies[k], drawn);
	for (size_t k = 0; k < sizeof latencies / sizeof *latencies; k++)
		picture_over_time(&pictures, json_at(why, "over_time"), &latencies[k], drawn);
	if (pictures.len > 0)
		draw_legend(out, drawn);
	buffer_slice(out, buffer_all(&pictures));
	out->failed |= pictures.failed;
	buffer_release(&pictures);
}
