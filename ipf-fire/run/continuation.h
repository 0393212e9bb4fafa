/* --continue: the rest of an interrupted run. Which lines of its schedule the records of the run lack, and when the
 * rest begins.
 *
 *     struct continuation c = {0};
 *     continuation_read(&c, &options->continued, schedule, &err);
 *     if (continuation_sends(&c, arrival.n)) …
 *     continuation_release(&c);
 *
 * The clock of the schedule stood still meanwhile: the run begins at c.at_ns of it, so the rest has its recorded gaps,
 * and its times follow those of the first part. A session with a missing request is sent again from its beginning,
 * because its later turns rest on the server's knowledge of the earlier ones.
 */
#ifndef IPF_CONTINUATION_H
#define IPF_CONTINUATION_H

#include "cli/options.h"
#include "seen_numbers.h"
#include "stream/schedule.h"

#include <jansson.h>

struct continuation {
	struct seen_numbers sent; /* the n of sent lines; others are not */
	int64_t lines;            /* how many they are */
	int64_t restarted;        /* the part of these recorded earlier */
	int64_t at_ns;            /* the schedule's time at which the rest begins */
	bool closed;              /* its stage has no times */
	bool on;
	json_t *restarted_list;
	int64_t t0_unix_ns;    /* the first part's; IPF_ABSENT: not known */
	int64_t ended_unix_ns; /* when the last request of the last part ended; IPF_ABSENT */
};

/* Reads the records of all earlier parts, which may be cut, and the schedule, which must be a file. -1: IPF_INPUT also
 * if the records are of another schedule; IPF_USAGE if the schedule has no rest for another run: it is limited by
 * time. */
int continuation_read(struct continuation *c, const struct string_list *records, const char *schedule,
                      struct ipf_error *err);
bool continuation_sends(const struct continuation *c, int64_t n);
/* The member "continues" of the records' header, given the start of this run since the epoch. New; NULL: no memory. */
json_t *continuation_json(const struct continuation *c, int64_t wall_ns);
void continuation_release(struct continuation *c);

#endif
