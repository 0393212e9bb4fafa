/* Everything that was read of a run: its requests as rows of numbers, the histograms, where it all came from.
 *
 *     struct run_data run;
 *     run_data_init(&run, &slo);
 *     for each file: run_data_read(&run, path, …)     // keeps what was good before an error
 *     merge_parts(&run);                           // windows, order
 *     block_build(…, &run, …);
 *     run_data_release(&run);
 */
#ifndef REPORT_RUN_H
#define REPORT_RUN_H

#include "stats/histogram.h"
#include "stream/metric.h"
#include "cli/progress.h"
#include "stream/schedule.h"
#include "results/slo.h"
#include "verdict/verdict.h"

enum { SOURCES = 4 };
extern const char *const sources[SOURCES]; /* usage, tokenizer, events, and "other" */

/* Texts that few values share (models, finish reasons): numbered in order of appearance. */
struct string_table {
	char **list;
	int count;
};

/* What figures are also given by, beside the stages. */
enum grouping { BY_MODEL, BY_TARGET, GROUPINGS };
extern const char *const groupings[GROUPINGS]; /* model, target */

struct row {
	int64_t n;
	int32_t part, stage;
	int32_t group[GROUPINGS], finish; /* in run->groups, run->finishes; -1 */
	int8_t error, source;             /* in verdict_kinds, sources; -1 */
	bool ok, stale;
	uint8_t goodness; /* enum slo_answer */
	uint32_t met;     /* objectives of --slo */
	int64_t due_ns, start_ns, end_ns;
	int64_t metric[METRIC_COUNT];
	int64_t stalls, events, coalesced, deadlines, deadlines_met;
	int64_t input_tokens, output_tokens, output_usage, output_tokenizer, input_usage, input_tokenizer;
	int64_t reasoning_tokens, cached_tokens, asked_input, asked_output;
};

/* A stage's measured part in one results stream, on that stream's own clock. */
struct window {
	int64_t begin_ns, end_ns; /* IPF_ABSENT: the stage never came */
	int64_t drain_ns;         /* end of its last request, and at least end_ns */
	bool counted;             /* bounded by its count: the end belongs to it */
	int64_t length_ns;        /* as scheduled; IPF_ABSENT where counted */
};

/* One results stream: a shard or a repeat. */
struct part {
	char *name;
	json_t *header;
	json_t *clients; /* list: what each ipf-fire told of itself over the whole run (ipf-records(5), the trailer); may be
	                    empty */
	json_t *stages;  /* list: when each stage really began and ended, as ipf-fire saw it; NULL */
	json_t *digests; /* list: of its lines, and of the records that they were made of */
	json_t *records; /* the header of the records where all have the same targets; NULL */
	int64_t t0_ns;   /* its beginning, since the epoch; IPF_ABSENT */
	char incomplete[360]; /* why something of it is missing; "" */
	int64_t last_ns;      /* the latest moment that it tells of */
	int64_t rows;
	int64_t *arrivals;      /* one for each stage of the plan */
	struct window *windows; /* one for each stage, the unnamed ones too */
};

struct pooled_gaps {      /* inter-token gaps */
	int32_t stage, model; /* model -1: of all models */
	struct histogram *gaps;
};

struct run_data {
	const struct slo *slo;
	struct part *parts;
	int part_count;
	bool shards;              /* the parts ran at the same time; else one after another: repeats */
	bool one_schedule;        /* no arrival stands in two of them: what was scheduled counts once */
	struct schedule schedule; /* of the first part; stages that no schedule names are added */
	struct row *rows;         /* by stage, then by start */
	int64_t row_count, row_cap;
	struct string_table groups[GROUPINGS], finishes;
	struct pooled_gaps *pooled;
	int pooled_count;
	struct verdict *verdict;
	struct jdoc doc;
};

int run_data_init(struct run_data *run, const struct slo *slo, struct ipf_error *err);
/* Reads one results stream to its end. -1: err; what was read before stays. A part is marked incomplete where the
 * stream was cut, went wrong on the way, or is whole but says itself that something is missing (which is no error). */
int run_data_read(struct run_data *run, const char *path, struct progress *progress, struct ipf_error *err);
/* Puts the rows in order, finds out how the parts belong together and when each stage was measured (merge_parts.c). */
int merge_parts(struct run_data *run, struct ipf_error *err);
void run_data_release(struct run_data *run);
/* A part before this one that has requests of the same records, so that they count twice; NULL. */
const struct part *run_data_find_duplicate(const struct run_data *run, int part);

/* The rows of a stage: *count of them. */
const struct row *run_data_stage_rows(const struct run_data *run, int32_t stage, int64_t *count);
/* The window of a stage over all shards: from the first's begin to the last's end. */
struct window run_data_window(const struct run_data *run, int32_t stage);
/* What ipf-collect's --itl made a sample of the gaps: "gap", "token", "request". */
const char *run_data_itl(const struct run_data *run, int part);
/* Its pooled gaps, over all models for model -1; NULL. */
const struct histogram *run_data_gaps(const struct run_data *run, int32_t stage, int32_t model);

#endif
