#include "formats/text_autoscaling.h"

#include <math.h>
#include <stdio.h>

enum { EVENTS_SHOWN = 8 };

static void show_objectives(struct layout *l, const struct autoscaling_event *e)
{
	char text[320], a[40], b[40], c[40];
	if (isnan(e->missed_after_s)) {
		layout_entry(l, "", "the objectives were met throughout");
		return;
	}
	snprintf(text, sizeof text, "missed the objectives after %s s%s, ", show_number(e->missed_after_s, a),
	         e->missed_before ? " (and before)" : "");
	if (isnan(e->met_after_s))
		snprintf(b, sizeof b, "did not meet them again");
	else
		snprintf(b, sizeof b, "met them after %s s", show_number(e->met_after_s, a));
	join(text, sizeof text, "", b, "");
	layout_entry(l, "", text);
	snprintf(text, sizeof text, "%s of %s requests were beyond them, with %s output tokens", show_count(e->missed, a),
	         show_count(e->requests, b), show_count(e->missed_tokens, c));
	layout_entry(l, "", text);
}

static void show_replicas(struct layout *l, const struct autoscaling_event *e)
{
	char text[320], a[40], b[40];
	if (isnan(e->replicas_most))
		return;
	snprintf(text, sizeof text, "replicas: %.3g before, at most %.3g", e->replicas_before, e->replicas_most);
	if (!isnan(e->added_after_s)) {
		snprintf(b, sizeof b, "the first was added after %s s", show_number(e->added_after_s, a));
		join(text, sizeof text, ", ", b, "");
	}
	if (!isnan(e->replicas_enough)) {
		snprintf(b, sizeof b, "%.6g", e->replicas_enough);
		join(text, sizeof text, "; ", b, "would have been enough");
	}
	layout_entry(l, "", text);
}

void text_autoscaling(struct layout *l, const struct report *report)
{
	const struct autoscaling *all = &report->analyses->autoscaling;
	char text[320], a[40], b[40], c[40];
	if (all->count == 0)
		return;
	layout_heading(l, "Autoscaling");
	layout_to(l, 14);
	layout_format(l, FAINT, "in windows of %s s", show_number(all->window_s, a));
	layout_end_line(l);
	for (int i = 0; i < all->count && i < EVENTS_SHOWN; i++) {
		const struct autoscaling_event *e = &all->events[i];
		snprintf(text, sizeof text, "%.100s, at %s s: from %s/s to %s/s", report->run->schedule.stages[e->stage].name,
		         show_number((double)e->begin_ns / 1e9, a), show_number(e->rate_before, b),
		         show_number(e->rate_peak, c));
		layout_entry(l, e->ramp ? "ramp" : "spike", text);
		if (all->objectives)
			show_objectives(l, e);
		show_replicas(l, e);
	}
	if (all->count > EVENTS_SHOWN) {
		snprintf(text, sizeof text, "%d more: -f json has all", all->count - EVENTS_SHOWN);
		layout_entry(l, "", text);
	}
	if (all->no_enough) {
		snprintf(text, sizeof text, "how many replicas would have been enough is not known: %s", all->no_enough);
		layout_entry(l, "", text);
	} else {
		snprintf(text, sizeof text, "enough: at %s/s a replica the objectives were met",
		         show_number(all->rate_per_replica, a));
		layout_entry(l, "", text);
	}
}
