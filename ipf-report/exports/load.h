/* The requests of a run as another tool would have seen them: those of one measured stage, which for that tool is a
 * run, or of all of them together.
 *
 *     for (int32_t stage = load_first(report); stage != LOAD_END; stage = load_next(report, stage)) {
 *         struct load load;
 *         load_init(&load, report, stage);
 *         for_load(&load, row) …
 *     }
 *
 * The rows of a load are those that started, in the order of their starts. Requests ipf-fire disconnected on purpose
 * are in none: they are neither successes nor failures, and the tools have no name for them. Nor are checked requests
 * (stream/request_check.h), whose latencies count nowhere.
 */
#ifndef REPORT_LOAD_H
#define REPORT_LOAD_H

#include "figures/figures.h"
#include "formats/report_format.h"
#include "json/jout.h"
#include "other_tools/tool_rules.h"
#include "cli/report_output.h"

enum { LOAD_ALL = -1, LOAD_END = -2 }; /* besides numbers of stages */

struct load {
	const struct report *report;
	const struct run_data *run;
	int32_t stage;                    /* LOAD_ALL: all measured stages */
	const struct schedule_stage *one; /* the stage, also if it is the only measured one; NULL: several */
	const struct row *rows;           /* the range containing those of the load, among others */
	int64_t count;
	int64_t sent, ok, failed;            /* ok + failed = sent */
	int64_t input_tokens, output_tokens; /* the successes' */
	int64_t begin_ns, end_ns;            /* first start and last end, from t0 of the first part; IPF_ABSENT */
	int64_t ok_begin_ns;                 /* first start of a success; IPF_ABSENT */
	int64_t begin_unix_ns, end_unix_ns;  /* the same by the wall clock; IPF_ABSENT: not known, or --reproducible */
	double duration_s; /* the time for rates: from the first start to the last end, of failures too, or by the rule of
	                    * the tool; of repeats the sum. NAN: none */
};

void load_init(struct load *load, const struct report *report, int32_t stage);
/* The first measured stage in which a request started; LOAD_ALL if there is none, so a document has one load. */
int32_t load_first(const struct report *report);
int32_t load_next(const struct report *report, int32_t stage); /* LOAD_END: there is no other */

/* Writes a JSON object on a line of its own for each load, with the members that `members` puts in. */
void load_documents(const struct report *report, struct buffer *out,
                    void (*members)(struct jout *w, const struct load *load, bool detailed), bool detailed);

bool load_has(const struct load *load, const struct row *row);
/* for_load(load, row) { … } */
#define for_load(load_, row_)                                                                                          \
	for (const struct row *row_ = (load_)->rows, *end_ = (load_)->rows ? (load_)->rows + (load_)->count : NULL;        \
	     row_ < end_; row_++)                                                                                          \
		if (load_has(load_, row_))

/* When a request started or ended, from t0 of the first part. */
int64_t load_start_ns(const struct load *load, const struct row *row);
int64_t load_end_ns(const struct load *load, const struct row *row); /* its start, if its end is not known */

/* Scheduled requests per second; NAN: a closed loop, or as fast as possible. */
double load_rate(const struct load *load);
/* The most requests in flight that the stage allowed; IPF_ABSENT: no limit. */
int64_t load_slots(const struct load *load);
/* The most successful requests in flight at once, each from its start for `latency` ns. */
int64_t load_peak(const struct load *load, enum metric latency);

/* The same in whole seconds from the first start of a success on: the most of them in flight at any time in a second.
 */
int64_t load_peak_second(const struct load *load, enum metric latency);

/* The settings of the run; NULL: not known, or not the same for all of it. Borrowed. */
const char *load_model(const struct load *load);
const char *load_api(const struct load *load);
const char *load_target(const struct load *load);
const char *load_dataset(const struct load *load);   /* the name of its format in ipf-prep */
const char *load_tokenizer(const struct load *load); /* NULL also for an approximation */
json_t *load_meta(const struct load *load);          /* an object of texts, from --meta; NULL: none */
/* Those texts as members, without those whose name is in `taken`, which NULL ends; "*_ms" is all ending so. */
void load_put_meta(struct jout *w, const struct load *load, const char *const *taken);

/* A time in UTC as several tools write it, "20261122-041400"; "" if it is not known. */
struct load_date {
	char text[48];
};
struct load_date load_date(int64_t unix_ns);

#endif
