/* --class-header, --class-body: headers and body members of the requests of a class, which is their tag "class".
 *
 *     class_parts_add_body(&parts, "interactive:priority=0", &err);
 *     class_parts_add_header(&parts, "batch:X-Tenant: nightly", &err);
 *     class_parts_find(&parts, slice_of("batch"))->headers …      // {"X-Tenant":"nightly"}
 */
#ifndef PREP_CLASS_PARTS_H
#define PREP_CLASS_PARTS_H

#include "buffer.h"
#include "draft/share_list.h"
#include "error.h"

#define CLASS_PARTS_MOST 64

struct class_part {
	char *name;
	struct buffer headers, body; /* members of a JSON map, between braces; empty: none */
};

struct class_parts {
	struct class_part items[CLASS_PARTS_MOST];
	size_t count;
};

/* "CLASS:NAME: VALUE", "CLASS:KEY=JSON". -1: IPF_USAGE, also for parts impossible in a request of the trace. */
int class_parts_add_header(struct class_parts *parts, const char *text, struct ipf_error *err);
int class_parts_add_body(struct class_parts *parts, const char *text, struct ipf_error *err);
/* -1: IPF_USAGE, a class is not among those of --classes. An empty list has any. */
int class_parts_check(const struct class_parts *parts, const struct share_list *classes, struct ipf_error *err);
/* NULL: the class has none. */
const struct class_part *class_parts_find(const struct class_parts *parts, struct slice name);
void class_parts_release(struct class_parts *parts);

#endif
