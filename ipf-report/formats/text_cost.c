#include "formats/text_cost.h"

#include <math.h>
#include <stdio.h>

/* At least three significant digits, however small. */
static const char *show_small(double value, char text[40])
{
	if (isnan(value) || value >= 1 || value <= 0)
		return show_number(value, text);
	snprintf(text, 40, "%.*f", (int)(2 - floor(log10(value))), value);
	return text;
}

static void add_figure(char *text, size_t size, double value, const char *what)
{
	char number[40];
	if (!isnan(value))
		join(text, size, "; ", show_small(value, number), what);
}

static void show_price(struct layout *l, const struct report *report)
{
	const struct cost *c = &report->analyses->cost;
	const struct price *price = report->price;
	char text[400], item[80], a[40];
	if (isnan(price->per_hour))
		return;
	if (c->no_price) {
		snprintf(text, sizeof text, "not known: %s", c->no_price);
		layout_entry(l, "price", text);
		return;
	}
	snprintf(text, sizeof text, "%s%s%s an hour", price->currency, price->currency[0] ? " " : "",
	         show_small(c->per_hour, a));
	if (price->per_gpu) {
		snprintf(item, sizeof item, "for %d GPU%s", c->gpus, plural(c->gpus));
		join(text, sizeof text, " ", item, "");
	}
	add_figure(text, sizeof text, 1e6 * c->per_token, "per million output tokens");
	add_figure(text, sizeof text, 1e6 * c->per_good_token, "per million of good requests");
	add_figure(text, sizeof text, c->per_request, "per request");
	add_figure(text, sizeof text, c->per_good_request, "per good request");
	layout_entry(l, "price", text);
}

static void show_energy(struct layout *l, const struct cost *c)
{
	char text[400] = "";
	if (c->gpus == 0)
		snprintf(text, sizeof text, "not known: no accelerators were sampled (ipf-collect --gpu)");
	else if (c->no_energy[0])
		snprintf(text, sizeof text, "not known: %s", c->no_energy);
	add_figure(text, sizeof text, c->power_w, "W");
	add_figure(text, sizeof text, c->j_per_token, "J per output token");
	add_figure(text, sizeof text, c->j_per_good_token, "J per output token of good requests");
	add_figure(text, sizeof text, c->j_per_request, "J per request");
	layout_entry(l, "energy", text);
}

void text_cost(struct layout *l, const struct report *report)
{
	const struct cost *c = &report->analyses->cost;
	/* without a price, why energy is not known stands with the accelerators */
	if (isnan(report->price->per_hour) && (c->gpus == 0 || c->no_energy[0]))
		return;
	layout_heading(l, "Cost");
	layout_end_line(l);
	show_price(l, report);
	show_energy(l, c);
	if (c->no_good && !(c->no_price && c->no_energy[0])) {
		char text[200];
		snprintf(text, sizeof text, "not known: %s", c->no_good);
		layout_entry(l, "of good", text);
	}
}
