#include "formats/text_accuracy.h"

#include "formats/text_table.h"

#include <stdio.h>
#include <string.h>

void text_accuracy(struct layout *l, const struct report *report)
{
	const struct run_accuracy *a = report->accuracy;
	const struct figures *f = &report->figures->total;
	const char *last = "";
	char per[32];
	struct text_table t;
	if (!a->known)
		return;
	snprintf(per, sizeof per, "per %.20s", run_data_itl(report->run, 0));
	text_table_init(&t, l, &report->options->percentiles, false);
	while (text_table_part(&t, "Client's error, ms ±"))
		for (enum bar bar = 0; bar < ERROR_BARS; bar++) {
			const struct bar_spec *spec = &bar_specs[bar];
			const struct metric_summary w = bar_widths(&a->total.bars[bar], bar_summary(f, bar));
			bool due = spec->version && strcmp(spec->version, "from_due") == 0;
			text_table_row(&t, strcmp(last, spec->label) == 0 ? "" : spec->label,
			               spec->version    ? due ? "from due" : "from start"
			               : bar == BAR_ITL ? per
			                                : "",
			               &w);
			last = w.n ? spec->label : last;
		}
}
