#include "run/server_dates.h"

void server_dates_add(struct server_dates *dates, const struct server_date *date)
{
	for (int i = dates->count; i-- > 0;) {
		struct server_date *known = &dates->list[i];
		if (known->target != date->target || known->date_s != date->date_s)
			continue;
		known->seen_ns = date->seen_ns < known->seen_ns ? date->seen_ns : known->seen_ns;
		known->start_ns = date->start_ns > known->start_ns ? date->start_ns : known->start_ns;
		return;
	}
	if (dates->count < SERVER_DATES_MOST)
		dates->list[dates->count++] = *date;
}

void server_dates_write(struct server_dates *dates, struct jout *w)
{
	if (dates->count == 0)
		return;
	jout_key(w, "dates");
	jout_begin_list(w);
	for (int i = 0; i < dates->count; i++) {
		const struct server_date *d = &dates->list[i];
		jout_begin_list(w);
		jout_int(w, d->target);
		jout_int(w, d->date_s);
		jout_int(w, d->seen_ns);
		jout_int(w, d->start_ns);
		jout_end_list(w);
	}
	jout_end_list(w);
	dates->count = 0;
}
