/* A list of names for a message, of bounded length: "id", "question", "answer" and 9 more.
 *
 *     struct quoted_names names = {0};
 *     quoted_names_add(&names, slice_of("id"));
 *     … quoted_names_text(&names) …
 *     quoted_names_release(&names);
 */
#ifndef PREP_QUOTED_NAMES_H
#define PREP_QUOTED_NAMES_H

#include "buffer.h"

struct quoted_names {
	struct buffer text;
	size_t count;
};

void quoted_names_add(struct quoted_names *names, struct slice name);
/* A call after the last _add ends the list. "" if there is no name. */
const char *quoted_names_text(struct quoted_names *names);
void quoted_names_release(struct quoted_names *names);

#endif
