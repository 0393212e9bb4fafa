/* Counts, in constant memory, the parts of an anonymous trace possibly pointing to persons.
 *
 *     struct remains r = {0};
 *     remains_note(&r, &request);          // each request that is written
 *     remains_print(&r, &facts, stderr);
 *     remains_release(&r);
 */
#ifndef PREP_REMAINS_H
#define PREP_REMAINS_H

#include "anonymize/anonymizer.h"
#include "anonymize/group_counts.h"
#include "shape/distinct_count.h"

#include <stdio.h>

/* Zero-initialise. */
struct remains {
	int64_t requests, timed, empty; /* all; with an arrival; with a prompt of no token */
	int64_t latencies;              /* with recorded ones */
	int64_t blocks;
	int64_t last_ns;
	struct distinct_count arrivals, different_blocks;
	struct group_counts lengths;  /* by model, hour, and lengths of prompt and answer */
	struct group_counts sessions; /* by session: its turns */
	struct group_counts models;
};

/* How the trace was made. */
struct remains_facts {
	const struct anonymizer *anonymizer;
	const char *salt_file; /* NULL: the salt was made and thrown away */
	int64_t k, too_few;
	int64_t assumed; /* requests whose length of the answer is assumed */
};

void remains_note(struct remains *r, const struct anonymous_request *request);
bool remains_failed(const struct remains *r); /* out of memory */
void remains_print(const struct remains *r, const struct remains_facts *facts, FILE *to);
void remains_release(struct remains *r);

#endif
