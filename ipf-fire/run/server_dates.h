/* The Date headers of answers, as few figures as bound the moments at which a server's Date changed: several clients of
 * one server compare their clocks by them (series/clock_offsets.h). See "dates" in ipf-records(5).
 *
 *     struct server_dates dates = {0};
 *     server_dates_add(&dates, target, &date, start_ns);     // each answer that ended
 *     server_dates_write(&dates, &w);                        // a member "dates", or none; then empty again
 *
 * For each target and Date: the earliest arrival of the header, and the latest start of such a request. Dates beyond
 * SERVER_DATES_MOST between writes are left out.
 */
#ifndef IPF_SERVER_DATES_H
#define IPF_SERVER_DATES_H

#include "json/jout.h"

#include <stdint.h>

enum { SERVER_DATES_MOST = 64 };

struct server_date {
	int64_t target, date_s, seen_ns, start_ns;
};

struct server_dates {
	struct server_date list[SERVER_DATES_MOST];
	int count;
};

/* `target`: its number, 0 if there is only one. `date_s` is in seconds since the epoch; the other times count from the
 * run's start. */
void server_dates_add(struct server_dates *dates, const struct server_date *date);
void server_dates_write(struct server_dates *dates, struct jout *w);

#endif
