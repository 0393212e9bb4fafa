/* libipf: the metrics of a record, by the definitions of ipf-results(5); see ipf_functions(3).
 *
 *     ipf_reader_open(&records, "run.records.zst", "records", &err);
 *     ipf_measure_open(&measure, records, NULL, &err);
 *     while ((got = ipf_measure_next(measure, &row, &err)) == 1)
 *         ipf_line_integer(row, "ttft_ns", &ttft_ns, &err);
 *     ipf_measure_close(measure);
 *     ipf_reader_close(records);
 *
 * A row is the line ipf-collect(1) would write for the record. `ipf-report definitions` defines each metric.
 */
#ifndef LIBIPF_MEASURES_H
#define LIBIPF_MEASURES_H

#include <ipf/streams.h>
#include <ipf/tokens.h>

#ifdef __cplusplus
extern "C" {
#endif

struct ipf_measure;

/* Begin with IPF_MEASURE_INIT. */
struct ipf_measure_options {
	size_t size;                           /* this struct's */
	const char *api;                       /* a descriptor's name or file; NULL: the one in the records' header */
	const struct ipf_tokenizer *tokenizer; /* counts output tokens; NULL: none. Must outlive the measure */
	int64_t stall_ns;                      /* a longer gap is a stall; IPF_ABSENT: the default of ipf-collect(1) */
	int64_t deadline_ns;                   /* for the fluidity; IPF_ABSENT: it is not measured */
	int keep_events;                       /* not 0: event_ns and event_tokens in each row */
	int keep_text;                         /* not 0: text and reasoning in each row */
};
#define IPF_MEASURE_INIT                                                                                               \
	{                                                                                                                  \
		sizeof(struct ipf_measure_options), NULL, NULL, IPF_ABSENT, IPF_ABSENT, 0, 0                                   \
	}

/* `records` is a reader of records, of which no line was read; from here on the measure reads it, and it must stay open
 * until ipf_measure_close. NULL, with options->api: records come by ipf_measure_line. `options` may be NULL. */
IPF_PUBLIC int ipf_measure_open(struct ipf_measure **measure, struct ipf_reader *records,
                                const struct ipf_measure_options *options, struct ipf_error *err);
/* 1: the row of the next record, good until the next call; lines about the client and samples are passed over; 0: the
 * end; -1: as ipf_reader_next, or out of memory. */
IPF_PUBLIC int ipf_measure_next(struct ipf_measure *measure, struct ipf_line **row, struct ipf_error *err);
/* The row of a record coming from elsewhere, such as the callback of a run (runs.h). 1 and the row, good until the next
 * call; 0: a line about the client, or a sample; -1. */
IPF_PUBLIC int ipf_measure_line(struct ipf_measure *measure, struct ipf_line *record, struct ipf_line **row,
                                struct ipf_error *err);
/* The record of that row: an IPF_LINE_RECORD; good as long as the row. NULL before the first. */
IPF_PUBLIC struct ipf_line *ipf_measure_record(struct ipf_measure *measure);
IPF_PUBLIC void ipf_measure_close(struct ipf_measure *measure); /* NULL is fine */

#ifdef __cplusplus
}
#endif

#endif
