/* Forms, multipart/form-data, read strictly: a breach of RFC 7578 is refused. Written from the RFC, and not from
 * lib/api/form.c, so the one can be held against the other. */
#ifndef SIM_MULTIPART_H
#define SIM_MULTIPART_H

#include "buffer.h"
#include "error.h"

#define MULTIPART_MOST 32

struct multipart_part {
	struct slice name, filename, type, data; /* the body's; filename, type: absent if the part has none */
};

struct multipart {
	struct multipart_part parts[MULTIPART_MOST];
	size_t count;
};

/* -1 (IPF_INPUT): the body is not such a form. */
int multipart_read(struct multipart *form, struct slice content_type, struct slice body, struct ipf_error *err);
/* The first part of this name; NULL: there is none. */
const struct multipart_part *multipart_find(const struct multipart *form, const char *name);

#endif
