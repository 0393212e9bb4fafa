/* Reads the result files of other tools as if they were results of ours.
 *
 * A file showing requests becomes rows as ipf-collect would have written them; missing values are absent. One that only
 * has figures becomes those figures (results/stated.h), as the tool states them. Both kinds show in the report whose
 * definitions they have, and leave open the checks of the verdict they have no values for.
 *
 *     for each operand: import_read(&run, path, IMPORT_AUTOMATIC, &progress, &err);
 *
 * A file is recognised by its members, not by its name (file_outline.h). A tool is a file import_NAME.c that defines
 * `const struct importer import_NAME`, an entry in the list below, and a section in ipf-exports(5):
 *
 *     static int read(struct import *in, struct ipf_error *err)
 *     {
 *         … json_pull_… (&in->json …)
 *         int stage = import_stage(in, &(struct import_stage){.name = "…", .kind = "poisson", .rate = 5}, err);
 *         for each request: import_row(in, &row, err);            // and import_gap for gaps between its tokens
 *         or: struct stated_stage *figures = import_figures(in, stage, err);
 *     }
 */
#ifndef IPF_IMPORT_H
#define IPF_IMPORT_H

#include "imports/file_outline.h"
#include "imports/json_pull.h"
#include "results/run_data.h"

/* All tools: identifier in C, and name after --from. --from, --help and the shell completion use this list. A file is
 * read by the first one that recognises it. */
#define IMPORTERS(IMPORTER)                                                                                            \
	IMPORTER(vllm, "vllm")                                                                                             \
	IMPORTER(sglang, "sglang")                                                                                         \
	IMPORTER(aiperf, "aiperf")                                                                                         \
	IMPORTER(guidellm, "guidellm")                                                                                     \
	IMPORTER(inference_perf, "inference-perf")                                                                         \
	IMPORTER(genai_perf, "genai-perf")

enum { IMPORT_AUTOMATIC = -1 };

struct import {
	struct json_pull json;
	const char *name; /* the file's, for messages */
	struct file_outline outline;
	struct run_data *run;
	json_t *facts;   /* "imported" in the header: tool, version, …; the reader adds the file's facts */
	json_t *records; /* like the header of records: "model", "target", "t0_unix_ns" */
	struct import_parts *parts;
};

struct importer {
	const char *tool;         /* "vLLM bench serve" */
	const char *as_of;        /* the version whose sources the reader follows */
	const char *const *notes; /* its definitions where they are not ours; NULL ends them */
	bool (*recognises)(const struct file_outline *outline);
	int (*read)(struct import *in, struct ipf_error *err);
};

#define IMPORTER_DECLARE(id_, name_) extern const struct importer import_##id_;
IMPORTERS(IMPORTER_DECLARE)

#define IMPORTER_TEXT(id_, name_) " " name_
#define IMPORTER_CHOICES          IMPORTERS(IMPORTER_TEXT)
extern const char *const importer_names[]; /* NULL ends them */

/* Reads a file as a new part of the run: results of ipf-collect, or a file of another tool. `path` is NULL or "-" for
 * standard input; `from` is an index into importer_names, or IMPORT_AUTOMATIC. As run_data_read. */
int import_read(struct run_data *run, const char *path, int from, struct progress *progress, struct ipf_error *err);

/* ---- for import_read ---- */

int import_begin(struct import *in, const struct importer *importer, const char *format, struct ipf_error *err);
/* The rows of a tool can only be merged with those of the same one (NULL: ipf-collect), and figures with none. */
int import_check_alike(const struct run_data *run, const char *name, const char *tool, struct ipf_error *err);
int import_end(struct import *in, const char *tool, struct progress *progress, struct ipf_error *err);
void import_release(struct import *in);

/* ---- for the tools ---- */

struct import_stage {
	const char *name; /* NULL or "": a number; made unique */
	const char *kind; /* as in ipf-schedule(5): "poisson", "closed", …; NULL: "unknown" */
	double rate;      /* requests per second; 0: none is planned */
	int64_t slots;    /* the most requests in flight; 0: no limit */
	bool warmup;      /* not measured */
};

/* The number of the new stage, from 0; -1. */
int import_stage(struct import *in, const struct import_stage *stage, struct ipf_error *err);
/* Adds a request of a stage; sets row->n. Times may count from any moment: that of the earliest start becomes that of
 * the run. */
int import_row(struct import *in, struct result *row, struct ipf_error *err);
void import_gap(struct import *in, int stage, int64_t gap_ns);
/* All gaps of a stage at once, instead; takes them over. */
void import_gaps(struct import *in, int stage, struct histogram *gaps);
/* The figures of a stage, to be filled in; NULL: out of memory. A file with rows may have them for figures that these
 * do not show. Valid until the next call. */
struct stated_stage *import_figures(struct import *in, int stage, struct ipf_error *err);
/* How long the run took, if no row says it. */
void import_lasted(struct import *in, double seconds);
/* Adds a remark to the report. */
void import_note(struct import *in, const char *text);

/* Nanoseconds of a time in units of `unit` ns; IPF_ABSENT: not known, or out of range. */
int64_t import_ns(double value, double unit);
/* A moment in ns since the epoch, from another one; IPF_ABSENT: none is known, or one that is years away. */
int64_t import_moment(const struct jdoc *doc, jdoc_id node, int64_t base_ns);
/* A count of tokens; IPF_ABSENT: not known, or no count. */
int64_t import_count(double value);
/* Derived values: end, TPOT, NTPOT, mean and greatest gap; known ones stay. */
void import_derive(struct result *row, int64_t gaps, double gaps_ns, int64_t gap_max_ns);
/* The moment the times of rows count from, since the epoch. */
void import_began(struct import *in, int64_t unix_ns);
/* A list of times of events, each later by `by_ns`, into `out`, which is cleared first. */
void import_move_events(struct slice list, int64_t by_ns, struct buffer *out);
/* Reads a value and parses it; `raw` must live as long as `doc` is used. */
int import_value(struct import *in, struct buffer *raw, struct jdoc *doc, struct ipf_error *err);
/* A member of the header of the records, from JSON text with its quotes; absent: nothing. */
void import_fact(json_t *to, const char *key, struct slice text);

#endif
