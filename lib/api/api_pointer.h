/* JSON Pointers with wildcards and conditions: how a descriptor says where in an event to find a value.
 *
 *     struct api_pointer *p;
 *     if (api_pointer_new(&p, json, &err) < 0) …               // "/choices/…/delta/content", see below
 *     jdoc_id node = api_pointer_first(p, &doc, JDOC_ROOT);
 *
 * A pointer is an RFC 6901 JSON Pointer in which a segment `*` matches every element of an array, and
 * `*[member=value]` or `*[member!=value]` the elements whose member equals, or does not equal, that value. It is
 * written as a string or as an object with a condition:
 *
 *     "/choices/0/text"
 *     {"at": "/object", "is": "error"}                                   matches only a node with that value (a string,
 *                                                                        an integer, true or false)
 *     {"at": "/delta", "where": {"at": "/type", "is": "text"}}           matches only in a document in which the
 *                                                                        pointer of `where` matches too
 *
 * "" is the whole document.
 */
#ifndef IPF_API_POINTER_H
#define IPF_API_POINTER_H

#include "error.h"
#include "json/jdoc.h"

#include <jansson.h>
#include <stdbool.h>

struct api_pointer;

/* -1: out of memory, or IPF_INPUT with the expected form (without a place). */
int api_pointer_new(struct api_pointer **pointer, json_t *value, struct ipf_error *err);
void api_pointer_free(struct api_pointer *pointer); /* NULL is fine */
/* Has the pointer an `is`? Then a match is a fact about the event (it is an error, it is the end), not a value. */
bool api_pointer_conditional(const struct api_pointer *pointer);
/* The member of the document below which all that can match is found; NULL if there is none such, as for "". */
const char *api_pointer_root(const struct api_pointer *pointer);

/* The name of the member it matches: its last segment; NULL for "". */
const char *api_pointer_name(const struct api_pointer *pointer);

/* Whether a match may depend on the value of a member of that name: by a condition, of this pointer or of `where`. */
bool api_pointer_depends(const struct api_pointer *pointer, struct slice name);
/* The same, or whether it may match such a member, or one below it. */
bool api_pointer_mentions(const struct api_pointer *pointer, struct slice name);

/* Calls `found` for every node that matches, in document order, until it returns false. */
void api_pointer_each(const struct api_pointer *pointer, const struct jdoc *doc, jdoc_id root,
                      bool (*found)(const struct jdoc *doc, jdoc_id node, void *data), void *data);
/* The first matching node that is not null, or JDOC_NONE. */
jdoc_id api_pointer_first(const struct api_pointer *pointer, const struct jdoc *doc, jdoc_id root);

/* A list of pointers. They are alternatives (the first matching counts) unless their user says otherwise. */
struct api_pointers {
	struct api_pointer **list;
	size_t count;
	struct api_pointers *sum; /* token counts: if no pointer matches, the sum of these pointers' values; NULL */
	uint8_t first_part;       /* a sum's: where the parts found so far are kept (response.h) */
	char *header;             /* token counts and timings: the response header (lower case) that has the value if the
	                             body does not; NULL */
	uint64_t roots;           /* the members of the document below which the pointers begin (api_roots.h) */
};

/* The first non-null node of the first pointer that matches, or JDOC_NONE. */
jdoc_id api_pointers_first(const struct api_pointers *pointers, const struct jdoc *doc, jdoc_id root);
void api_pointers_release(struct api_pointers *pointers);

#endif
