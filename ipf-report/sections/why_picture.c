#include "sections/why_picture.h"

#include "document/shown_numbers.h"
#include "json_report/json_path.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>

const struct why_words why_words[WHY_WORDS] = {
	{"connect", "connection", "opening a connection"},
	{"overhead", "overhead", "the server's overhead, network included"},
	{"queue", "queue", "waiting in the server's queue"},
	{"own_prompt", "own prompt", "computing its own prompt"},
	{"other_prompts", "prompts of others", "prompts of other requests, computed before its first token"},
	{"steps", "rest of the steps", "the other work of the steps that computed its prompt"},
	{"later_prompts", "later: prompts of others", "prompts of other requests, computed between its tokens"},
	{"decoding", "later: decoding", "decoding"},
	{"unexplained", "not explained", "not explained by the twin"},
};

enum {
	BARS = 2,
	WIDTH = 400,
	TITLE = 20,
	FROM = 32,
	TO = 336,
	BAR = 22,
	ROW = 30,
	LEGEND_ROW = 18,
	LEGEND_COLUMN = 200,
	SWATCH = 10
};
static const char *const bars[BARS] = {"p50", "p99"};

struct bar {
	double ms[WHY_WORDS]; /* 0: there is no such part, or it is negative, which a bar cannot show */
	double sum, measured;
};

/* False: there is none. */
static bool read_bar(struct bar *b, json_t *group)
{
	char path[64];
	*b = (struct bar){.measured = figure_at(group, "measured_ms")};
	for (int i = 0; i < WHY_WORDS; i++) {
		snprintf(path, sizeof path, "parts/%s/ms", why_words[i].part);
		const double ms = figure_at(group, path);
		b->ms[i] = isfinite(ms) && ms > 0 ? ms : 0;
		b->sum += b->ms[i];
	}
	return b->sum > 0 && isfinite(b->sum) && isfinite(b->measured);
}

static void draw_bar(struct buffer *out, const struct bar *b, int number, double most)
{
	const int y = TITLE + number * ROW;
	double x = FROM;
	char shown[40];
	buffer_format(out, "<text x=\"0\" y=\"%d\">%s</text>\n", y + 15, bars[number]);
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
	buffer_format(out, "<text x=\"%.2f\" y=\"%d\">%s ms</text>\n", x + 4, y + 15, show_number(b->measured, shown));
}

/* The parts that one of the bars has. */
static void draw_legend(struct buffer *out, const bool drawn[WHY_WORDS])
{
	int at = 0;
	for (int i = 0; i < WHY_WORDS; i++) {
		if (!drawn[i])
			continue;
		const int x = FROM + at % 2 * LEGEND_COLUMN, y = TITLE + BARS * ROW + at / 2 * LEGEND_ROW;
		buffer_format(out, "<rect class=\"part-%d\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/>", i, x, y, SWATCH,
		              SWATCH);
		buffer_format(out, "<text x=\"%d\" y=\"%d\">%s</text>\n", x + SWATCH + 5, y + SWATCH, why_words[i].row);
		at++;
	}
}

void why_picture(struct buffer *out, const char *id, const char *title, json_t *latency)
{
	struct bar list[BARS];
	bool drawn[WHY_WORDS] = {false};
	int parts = 0;
	for (int k = 0; k < BARS; k++)
		if (!read_bar(&list[k], json_at(latency, bars[k])))
			return;
	for (int i = 0; i < WHY_WORDS; i++)
		parts += drawn[i] = list[0].ms[i] > 0 || list[1].ms[i] > 0;
	buffer_format(out,
	              "<figure><svg viewBox=\"0 0 %d %d\" role=\"img\" aria-labelledby=\"%s-title %s-desc\">\n"
	              "<title id=\"%s-title\">%s</title>\n<desc id=\"%s-desc\">A bar for p50 and one for p99, as long as "
	              "the parts of the table below together.</desc>\n"
	              "<text x=\"0\" y=\"11\">%s</text>\n",
	              WIDTH, TITLE + BARS * ROW + (parts + 1) / 2 * LEGEND_ROW, id, id, id, title, id, title);
	for (int k = 0; k < BARS; k++)
		draw_bar(out, &list[k], k, fmax(list[0].sum, list[1].sum));
	draw_legend(out, drawn);
	buffer_text(out, "</svg></figure>\n");
}
