/* Inputs of stages in addition to their specs (results of earlier runs, files), and the conclusions from them. */
#ifndef IPF_STAGE_INPUTS_H
#define IPF_STAGE_INPUTS_H

#include "buffer.h"
#include "search/earlier_runs.h"

#include <stdbool.h>

struct stage_inputs {
	bool force;                  /* --force: use estimates too uncertain to be useful */
	struct earlier_runs earlier; /* from -r */
	json_t *files;               /* array: entries for the header's "from"; NULL: none so far */
	struct buffer notes;         /* lines for standard error: conclusions from the earlier runs */
	struct buffer answer;        /* the line with the answer of a search; empty while the search continues */
	int64_t first_req;           /* earlier runs used the requests of the trace before this one */
};

#endif
