/* Groups of requests known only when all rows were read: windows of time, bins of input tokens, and numbers of inputs;
 * and the selection by --by.
 *
 *     struct grouping_choice by = {.by = GROUPINGS};           // none
 *     grouping_choice_parse(&by, "time=10s", &err);
 *     make_groups(&run, &by, &err);                            // after merge_parts: run.groups[BY_TIME]
 */
#ifndef REPORT_MAKE_GROUPS_H
#define REPORT_MAKE_GROUPS_H

#include "results/run_data.h"

/* Limit of windows or bins. */
enum { MADE_GROUPS_MOST = 1000 };

struct grouping_choice {
	enum grouping by; /* GROUPINGS: none, only stages */
	const char *tag;  /* BY_TAG: its name, borrowed from the parsed text; "": all tags together; else NULL */
	int64_t value;    /* the length of a window in ns, the number of bins; else 0 */
};

/* "stage", "model", "target", "replica", "session", "tag", "tag=NAME", "inputs", "time=10s" or "input-tokens=8".
 * IPF_USAGE. */
int grouping_choice_parse(struct grouping_choice *choice, const char *text, struct ipf_error *err);
/* Divides the rows: by the time at which they were due (without one, at which they started), from the start of the run;
 * or by input tokens into bins of about equal numbers, such that equal values are in the same bin. Always by the number
 * of inputs, if rows have one: each number, or powers of two if there are many. Nothing for other groupings. IPF_USAGE:
 * more than MADE_GROUPS_MOST windows. */
int make_groups(struct run_data *run, const struct grouping_choice *choice, struct ipf_error *err);

#endif
