/* What stages are made of beside their specs: results of earlier runs and files. And what there is to say of that. */
#ifndef IPF_RESOURCES_H
#define IPF_RESOURCES_H

#include "buffer.h"
#include "observed.h"

struct resources {
	struct observed observed; /* of -r */
	json_t *files;            /* entries for our header's "from"; NULL: none so far */
	struct buffer notes;      /* lines for standard error */
	struct buffer answer;     /* what a search found; empty while it goes on */
	int64_t first_req;        /* the requests of the trace before this one were used by earlier runs; 0 */
};

#endif
