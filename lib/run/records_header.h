/* The header and the trailer of records a program writes while it carries out a schedule; see ipf-records(5). A program
 * adds its own members.
 *
 *     json_t *header = records_header(&about);                       // NULL: out of memory
 *     records_header_targets(header, names, count, balance);
 *     …
 *     json_t *end = records_trailer(arrivals, &result, started);
 */
#ifndef IPF_RECORDS_HEADER_H
#define IPF_RECORDS_HEADER_H

#include "api/api.h"
#include "requests/arrival_reader.h"
#include "run/run_options.h"

/* All borrowed, except for argv. */
struct records_about {
	const char *tool; /* "ipf-fire" */
	const struct common_options *common;
	const struct run_options *run;
	const struct api *api;
	struct arrival_reader *arrivals;
	const char *model; /* --model, or the only one of the server; NULL: those of the trace */
	json_t *argv;      /* taken over */
	bool streamed, warm;
	int64_t wall_ns;   /* the run's start on the wall clock */
	const char *clock; /* the times': "CLOCK_MONOTONIC" */
};

/* The outcome of a run. */
struct run_result {
	int signals; /* that came */
	bool memory_full;
	const char *stopped;                    /* why it ended early, if not by signals or memory; the caller's; NULL */
	int64_t starved;                        /* requests that could not be sent because open files ran out */
	int64_t unstarted;                      /* arrivals read and never started */
	int64_t cut_sessions;                   /* in progress when their stage ended */
	struct ipf_error error;                 /* an invalid arrival, after which nothing was started; IPF_OK */
	struct ipf_error input;                 /* the first fault of schedule and trace, `error` included; IPF_OK */
	int64_t *stage_begin_ns, *stage_end_ns; /* in run time, IPF_ABSENT if unknown; free them */
};

/* Without the targets. New; NULL: out of memory. */
json_t *records_header(const struct records_about *about);
/* Adds "target", its `count` names for people; if there are several, also "targets", of which each record has an index,
 * and "balance". -1: out of memory. */
int records_header_targets(json_t *header, const char *const *names, size_t count, enum balance_kind balance);
/* The trailer's own members, after so many requests were started. New. */
json_t *records_trailer(struct arrival_reader *arrivals, const struct run_result *result, int64_t started);

#endif
