/* The stages of a command line: operands of the form KIND:key=value,…, one after another.
 *
 *     struct stages stages;
 *     if (stages_parse(&stages, operands.items, operands.count, &inputs, &err) < 0) …
 *     stages_release(&stages);
 */
#ifndef IPF_STAGES_H
#define IPF_STAGES_H

#include "buffer.h"
#include "kinds/stage_kind.h"

struct stages {
	struct stage *list;
	size_t count;
};

/* Parses `count` specs, which are borrowed, and expands those that are shorthand for several stages. Afterwards every
 * stage has a unique name. `inputs` provides the results of earlier runs and receives notes, answers and files; if it
 * is NULL, no file is read. An invalid spec is IPF_USAGE, with the stage and the key in the text:
 * `stage 1 (poisson): rate: expected a rate above 0, got "0"`. Release the stages also after an error. */
int stages_parse(struct stages *stages, char *const *specs, int count, struct stage_inputs *inputs,
                 struct ipf_error *err);
void stages_release(struct stages *stages);

/* Appends the text of --list: every kind with its keys. */
void stages_describe(struct buffer *out);

#endif
