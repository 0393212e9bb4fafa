/* A run as read: its requests as rows of numbers, the histograms of gaps, and the headers of its streams.
 *
 *     struct run_data run = {0};
 *     run_data_init(&run, &slo, &err);
 *     for each file: run_data_read(&run, input, &progress, &err);    // keeps the part before an error
 *     merge_parts(&run, &err);                                       // merge_parts.h: order, windows
 *     run_figures_build(&figures, &run, &options, &err);             // figures.h
 *     run_data_release(&run);
 */
#ifndef IPF_RUN_DATA_H
#define IPF_RUN_DATA_H

#include "absent.h"
#include "cli/progress.h"
#include "results/client_delays.h"
#include "results/row_columns.h"
#include "results/row_lines.h"
#include "results/slo.h"
#include "results/stated.h"
#include "series/clock_offsets.h"
#include "series/itl_positions.h"
#include "series/series.h"
#include "series/server_samples.h"
#include "series/steady.h"
#include "stats/histogram.h"
#include "stream/metric.h"
#include "stream/schedule.h"
#include "stream/shard_set.h"
#include "stream/predicted.h"
#include "verdict/failure_tally.h"
#include "verdict/verdict.h"

enum { SOURCE_NONE = 4, SOURCES = 6 };
extern const char *const sources[SOURCES]; /* usage, tokenizer, ids, events, none (SOURCE_NONE), and "other" */

/* Distinct texts (models, finish reasons, sessions), numbered in order of appearance. */
struct string_table {
	char **list;
	int count;
	struct string_slot *slots; /* hash_index.h */
	size_t slot_count;
};

/* Groupings of figures, in addition to stages. */
enum grouping { BY_MODEL, BY_TARGET, BY_SESSION, BY_TIME, BY_INPUT_TOKENS, BY_REPLICA, BY_TAG, BY_INPUTS, GROUPINGS };
extern const char *const groupings[GROUPINGS]; /* "model", "target", "session", "time", "input_tokens", … */

/* A request. Integers that are not known are IPF_ABSENT. */
struct row {
	int64_t n;
	const struct row_columns *columns; /* the run's: row_get() has the other values */
	int64_t at;                        /* its number there, and in the order of reading */
	int32_t part, stage;
	int32_t group[GROUPINGS], finish; /* index into run->groups, run->finishes; -1: not known */
	int8_t error, source;             /* index into verdict_kinds, sources; -1: none */
	bool ok, stale, checked;          /* checked: see `check` */
	uint8_t goodness;                 /* enum slo_answer */
	uint8_t not_streamed;             /* enum result_not_streamed */
	uint8_t output_check;             /* enum result_output */
	uint8_t check;                    /* enum result_check, if `checked` */
	uint8_t judged;                   /* enum result_judged */
	uint8_t compared;                 /* enum result_compared */
	struct slo_marks marks;           /* the objectives of --slo */
	int64_t due_ns, start_ns, end_ns;
};

/* A value of the row: of enum metric or enum row_column; IPF_ABSENT: it has none. */
static inline int64_t row_get(const struct row *row, int column)
{
	return column_value(&row->columns->list[column], row->at);
}

/* The n of the requests of its session for whose ends it waited; 0: for none, or it is not known. */
static inline int64_t row_after(const struct row *row, const int64_t **list)
{
	const int64_t at = row_get(row, ROW_AFTER);
	*list = at == IPF_ABSENT ? NULL : &row->columns->lists[at + 1];
	return at == IPF_ABSENT ? 0 : row->columns->lists[at];
}

/* How many edges of stages were during the answer, and for each its time and the tokens coming before it. */
static inline int64_t row_edges(const struct row *row, const int64_t **list)
{
	const int64_t at = row_get(row, ROW_EDGES);
	*list = at == IPF_ABSENT ? NULL : &row->columns->lists[at + 1];
	return at == IPF_ABSENT ? 0 : row->columns->lists[at];
}

/* The same, with an unknown number as none. */
static inline int64_t row_get_or_0(const struct row *row, int column)
{
	const int64_t value = row_get(row, column);
	return value == IPF_ABSENT ? 0 : value;
}

/* The measured part of a stage in one results stream, on the clock of that stream. */
struct stage_window {
	int64_t begin_ns, end_ns; /* IPF_ABSENT: the stage did not begin */
	int64_t drain_ns;         /* end of its last request; at least end_ns */
	bool counted;             /* the stage is bounded by a count, and the window includes end_ns */
	int64_t length_ns;        /* as scheduled; IPF_ABSENT if counted */
	bool steady;              /* narrowed to its steady part */
};

enum { TARGET_UNSEEN = -3 };

/* A part's schedule of a stage. */
struct stage_load {
	int64_t arrivals, slots; /* IPF_ABSENT: not known */
	double rate;             /* per second; NAN: none is planned */
};

/* The load of two shards together: slots or a rate that one of them lacks are not known. Arrivals that are not known
 * count as none. */
void stage_load_add(struct stage_load *sum, const struct stage_load *more);

/* One results stream: a shard or a repeat. The json members are borrowed only where noted. */
struct run_part {
	char *name;
	json_t *header;
	json_t *clients;     /* array, may be empty: each ipf-fire's report about itself (the trailer in ipf-records(5)) */
	json_t *stages;      /* array: when each stage began and ended, from ipf-fire; NULL */
	json_t *digests;     /* array: of the lines, and of the records they were made from */
	json_t *trailer;     /* "end" of the results' trailer; NULL: cut */
	json_t *predicted;   /* by which twin (twin/predicted.h); NULL: the part was measured; borrowed from header */
	json_t *observed;    /* a capture shows it (stream/observed.h); NULL: a client ran it; borrowed from header */
	json_t *records;     /* the header of the records, if all have the same targets; NULL; borrowed from header */
	int32_t only_target; /* in groups[BY_TARGET]: of the requests naming none; -1: none; TARGET_UNSEEN: not looked up */
	int64_t t0_ns;       /* beginning of the run, since the epoch; IPF_ABSENT, as for one that was predicted */
	int64_t capture_t0_ns; /* t0 of the capture showing it, or whose trace it replays, if the caller found that both
	                        * compare block by block; IPF_ABSENT */
	int64_t shift_ns;      /* its t0 - that of the first part; 0 if one is not known */
	char incomplete[360];  /* why part of it is missing; "": it is complete */
	int64_t last_ns;       /* the latest time in the stream */
	struct steady *steady; /* its windows */
	int64_t stopped_ns;    /* where ipf-collect ended the run on purpose: later ends do not count; IPF_ABSENT */
	int64_t stopped_stage; /* … and during which stage */
	int64_t rows;
	int client;                   /* its number in run->clocks, if it has the records of one client; -1 */
	bool sharded;                 /* a schedule divided into shards */
	struct client_delays delays;  /* its clients'; prepared by merge_parts */
	struct stage_load *loads;     /* for each stage of the schedule */
	struct stage_window *windows; /* for each stage, including those without a schedule; set by merge_parts */
};

/* Gaps as they were measured; and the least and the most each of them can be, of all models only. */
enum gaps_kind { GAPS, GAPS_LOW, GAPS_HIGH };

/* Inter-token gaps of all requests of a stage. */
struct pooled_gaps {
	enum gaps_kind kind;
	int32_t stage, model; /* model -1: all models */
	struct histogram *gaps;
};

struct run_data {
	const struct slo *slo;
	const char *tag;    /* set before reading: the one of groups[BY_TAG]; "": all of them together; NULL: none */
	bool any_schedules; /* set before reading: parts may be of different schedules, since only their rows are used */
	const char *only_stage; /* set before reading: this stage is the only measured one; NULL: those of the schedule */
	struct run_part *parts;
	int part_count;
	struct row *rows; /* sorted by stage and start by merge_parts */
	int64_t row_count, row_cap;
	struct row_columns columns;
	struct schedule schedule;   /* the first part's; merge_parts: stages that only rows have, slots and rates of all
	                             * shards, and none where repeats differ in them */
	struct shard_set shard_set; /* the parts, if they are shards by their schedules' headers; empty if each is whole */
	int64_t spread_ns;          /* the most time between the starts of the shards of a run */
	int64_t last_shard;         /* which of them began last */
	bool shards;                /* the parts ran at the same time; else they are repeats */
	bool one_schedule;          /* no arrival is in two parts: scheduled requests count once */
	struct string_table groups[GROUPINGS], finishes; /* time and input tokens: set by make_groups */
	int64_t time_group_ns, time_group_first;         /* length and number of the first window of groups[BY_TIME] */
	struct pooled_gaps
		*pooled; /* a gap is in up to four of them: read them with run_data_gaps and run_data_gap_bounds */
	int pooled_count;
	struct itl_positions *positions; /* the gaps of all stages, by their position in the answer */
	int32_t *stage_models;           /* the part read's: for each stage, the model of its successful requests */
	int64_t stage_models_count;
	struct failure_tally failures;        /* in measured stages; sorted after the last part */
	struct failure_tally invalid_outputs; /* the same of texts that --check-output found not valid */
	struct verdict *verdict;
	struct series *windows;       /* all parts together, on the clock of the first one; NULL: the results have none */
	struct sample_store *samples; /* servers' and accelerators', on the clock of the first part */
	struct server_samples servers;
	struct gpu_samples accelerators;
	struct clock_offsets *clocks; /* for the parts that are of one client each */
	json_t *steady;               /* list: where each stage was steady, or why not; set by steady_windows_find */
	struct row_lines *lines;      /* the lines of the rows; NULL: not kept */
	int64_t *line_places;         /* where that of each row is in them */
	struct stated *stated;        /* figures that another tool states of the run; NULL: none */
	struct jdoc doc;
};

/* The limit of the windows of a run. Beyond that, they are joined to windows of twice the length. */
#define RUN_WINDOWS_BYTES ((size_t)128 << 20)

int run_data_init(struct run_data *run, const struct slo *slo, struct ipf_error *err);
/* Keeps the lines of the rows read from now on: for formats showing values rows have no room for. */
int run_data_keep_lines(struct run_data *run, struct ipf_error *err);
/* The line of a row, as row_lines_read. */
bool run_data_line(const struct run_data *run, const struct row *row, struct result *result);
/* Reads a results stream, opened with stream_reader_open_input, as a new part; takes it over. -1: an error; the part
 * before it is kept. The part is marked incomplete if the stream was cut or has an error, or if its trailer reports
 * that something is missing (which is no error). */
int run_data_read(struct run_data *run, struct stream_reader *input, struct progress *progress, struct ipf_error *err);

/* A part that is no results stream but was read from a file of another tool (imports/import.h): begun with a header
 * like that of results (borrowed), then rows and gaps as such a stream has them, then the end. */
int run_data_begin(struct run_data *run, const char *name, json_t *header, struct ipf_error *err);
/* `line` is the row as result_write renders it. */
int run_data_add(struct run_data *run, const struct result *row, struct slice line, struct ipf_error *err);
/* The gaps of all requests of a stage, of any model; takes them over. */
int run_data_add_gaps(struct run_data *run, int32_t stage, struct histogram *gaps, struct ipf_error *err);
/* `trailer` is like the "end" of results (borrowed). The tool's stated figures cover the time until last_ns, if no row
 * lasted as long.
 */
void run_data_end(struct run_data *run, json_t *trailer, const char *sha256, int64_t last_ns);
void run_data_release(struct run_data *run);

/* The part's trailer about the queries to a Prometheus ("prometheus" in ipf-results(5)); borrowed; NULL. */
json_t *run_part_prometheus(const struct run_part *part);
/* How far apart the clocks of the shards are ("clocks" in ipf-results(5)): a new object; NULL: there are no shards, or
 * it is not known, or out of memory. After merge_parts. */
json_t *run_data_clocks(const struct run_data *run);
/* Was the server's prefix cache filled on purpose before a part of the run (ipf-fire --cache warm)? */
bool run_data_cache_filled(const struct run_data *run);
/* An earlier part with requests from the same records, so they count twice; NULL: there is none. */
const struct run_part *run_data_find_duplicate(const struct run_data *run, int part);
/* Parameters of the twin whose known range the predicted run exceeded: a new list of names, maybe empty. */
json_t *run_data_extrapolated(const struct run_data *run);
/* The URL a request of the part was sent to: number `target` in the list of the header of the records, or the only one.
 * NULL: not known. */
const char *run_part_target(const struct run_part *part, int64_t target);
/* The rows of a stage; *count is their number. After merge_parts. */
const struct row *run_data_stage_rows(const struct run_data *run, int32_t stage, int64_t *count);
/* The window of a stage over all shards, from the first begin to the last end. After merge_parts. */
struct stage_window run_data_window(const struct run_data *run, int32_t stage);
/* The window of a stage in which the requests of a part count: that of all shards, or of repeats the part's own. */
struct stage_window run_data_part_window(const struct run_data *run, int part, int32_t stage);
/* Did the request start in the steady part of its stage? This holds even if its window is not narrowed to it. */
bool run_data_is_steady(const struct run_data *run, const struct row *row);
/* The samples of the pooled gaps, from ipf-collect --itl: "gap", "token" or "request". */
const char *run_data_itl(const struct run_data *run, int part);
/* Whose definitions the rows of the part have: "ipf", or the tool of ipf-collect --definition. */
const char *run_data_definition(const struct run_data *run, int part);
/* The pooled gaps of a stage, of all models for model -1; NULL: there are none, or some of the results have none of
 * each model. */
const struct histogram *run_data_gaps(const struct run_data *run, int32_t stage, int32_t model);
/* GAPS_LOW or GAPS_HIGH of a stage; NULL: not known of all its gaps. */
const struct histogram *run_data_gap_bounds(const struct run_data *run, int32_t stage, enum gaps_kind kind);
/* Is the position known of all gaps of a stage? run->positions has them. */
bool run_data_has_positions(const struct run_data *run, int32_t stage);

#endif
