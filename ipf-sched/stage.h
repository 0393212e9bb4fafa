/* The stages of a command line: `KIND:key=value,…` each, one after another.
 *
 *     struct stages stages;
 *     if (stages_parse(&stages, operands.items, operands.count, &resources, &err) < 0) …
 *     stages_release(&stages);
 */
#ifndef IPF_STAGE_H
#define IPF_STAGE_H

#include "buffer.h"
#include "kind.h"

struct stages {
	struct stage *list;
	size_t count;
};

/* Reads them strictly. What was wrong is IPF_USAGE: `poisson:rate=0: rate: expected a rate above 0, got "0"`. The
 * specs are borrowed. Every stage has a name afterwards, unlike any other's. `resources` have the results of earlier
 * runs, and take what there is to say of them; NULL: no file is read. Release the stages also after an error. */
int stages_parse(struct stages *stages, char *const *specs, int count, struct resources *resources,
                 struct ipf_error *err);
void stages_release(struct stages *stages);

/* What --list prints: every kind with its keys. */
void stages_describe(struct buffer *out);

#endif
