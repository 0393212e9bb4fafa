#include "formats/text_fidelity.h"

#include <math.h>
#include <stdio.h>

/* What was how; with the mean of the cause between `before` and `after`, if it has one. */
static const struct {
	const char *subject, *was, *before, *after;
} words[FIDELITY_CAUSES] = {
	[FIDELITY_UNSENT] = {"request", "not sent, although scheduled", NULL, NULL},
	[FIDELITY_SCHEDULE] = {"request", "scheduled at another time than recorded", ", by ", " ms in the mean"},
	[FIDELITY_SLOTS] = {"request", "held back by slots or connections", ", for ", " ms in the mean"},
	[FIDELITY_CLIENT] = {"request", "late because of the client", ", by ", " ms in the mean"},
	[FIDELITY_CAUSALITY] = {"request", "sent before what they follow had ended", NULL, NULL},
	[FIDELITY_INPUT] = {"prompt", "of another length", ": ",
                        " tokens for each recorded one (another tokenizer, or a chat template)"},
	[FIDELITY_ROUTING] = {"prompt", "not in the replica's prefix cache, but in another's", NULL, NULL},
	[FIDELITY_FAILED] = {"request", "without a complete answer", NULL, NULL},
	[FIDELITY_OUTPUT] = {"answer", "of another length", ": ", " tokens for each recorded one"},
	[FIDELITY_PREFIX] = {"prompt", "not in the server's prefix cache, although computed before", NULL, NULL},
};

const char *fidelity_describe(const struct fidelity *f, enum fidelity_cause cause, char text[200])
{
	const struct fidelity_part *part = &f->causes[cause];
	bool mean = words[cause].before != NULL;
	char count[40], number[40];
	snprintf(text, 200, "%s %s%s %s %s%s%s%s", show_count(part->requests, count), words[cause].subject,
	         plural(part->requests), part->requests == 1 ? "was" : "were", words[cause].was,
	         mean ? words[cause].before : "", mean ? show_number(part->mean, number) : "",
	         mean ? words[cause].after : "");
	return text;
}

void text_fidelity(struct layout *l, const struct report *report)
{
	const struct fidelity *f = &report->trace->fidelity;
	char text[240], item[200], loss[24], a[40], b[40];
	if (!report->trace->given || f->absent)
		return;
	layout_heading(l, "Fidelity");
	layout_to(l, 14);
	layout_format(l, STRONG, "%.3f", f->value);
	layout_format(l, PLAIN, " of a replay as recorded: %s request%s", show_count(f->requests, a), plural(f->requests));
	if (!isnan(f->speed) && fabs(f->speed - 1) > 1e-6)
		layout_format(l, PLAIN, ", at %s times the speed", show_number(f->speed, b));
	layout_end_line(l);
	for (enum fidelity_cause c = 0; c < FIDELITY_CAUSES; c++) {
		if (f->causes[c].requests == 0)
			continue;
		bool little = f->causes[c].loss < 0.0005;
		snprintf(loss, sizeof loss, "-%.3f", little ? 0.001 : f->causes[c].loss);
		snprintf(text, sizeof text, "%s: %s", little ? "below 0.001" : loss, fidelity_describe(f, c, item));
		layout_entry(l, fidelity_cause_names[c], text);
	}
	if (f->moved == 0)
		return;
	snprintf(text, sizeof text, "the server's own speed moved %s of %s later turns, by %s ms in the mean",
	         show_count(f->moved, a), show_count(f->followers, b), show_number(f->moved_ms, item));
	layout_entry(l, "no loss", text);
}
