/* Checks of an API descriptor's members, and the errors they give. All of them set an IPF_INPUT error of the form
 * `FILE: response.usage: expected an object, got 5` and return -1.
 */
#ifndef IPF_DESCRIPTOR_CHECK_H
#define IPF_DESCRIPTOR_CHECK_H

#include "error.h"

#include <jansson.h>
#include <stdbool.h>

/* A place in the descriptor, for error messages. */
struct descriptor_place {
	const char *file;
	const char *inside; /* dotted path of the enclosing object, such as "response.usage"; NULL at the top level */
	bool recorded;      /* by a program that may be newer: unknown members are ignored */
};

/* -1 with "inside.member: " and the formatted text. */
__attribute__((format(printf, 4, 5))) int descriptor_error(struct descriptor_place at, const char *member,
                                                           struct ipf_error *err, const char *format, ...);
/* -1 with "inside.member: expected <expected>, got <got as JSON>". A NULL `got` is shown as "nothing". */
int descriptor_wrong(struct descriptor_place at, const char *member, struct ipf_error *err, const char *expected,
                     json_t *got);
/* The same place, but for the path. */
static inline struct descriptor_place descriptor_inside(struct descriptor_place at, const char *inside)
{
	at.inside = inside;
	return at;
}

/* -1 if the object has a member that is not in `known` (a list ending with NULL), unless `recorded`. */
int descriptor_only_members(struct descriptor_place at, json_t *object, const char *const *known,
                            struct ipf_error *err);
/* -1 unless the member is a non-empty string. An `optional` one may be absent or empty. */
int descriptor_check_string(struct descriptor_place at, json_t *object, const char *key, bool optional,
                            struct ipf_error *err);
/* -1 unless `path` is a string beginning with a slash, without white space or fragment; the only variable it may
 * contain is $model. */
int descriptor_check_path(struct descriptor_place at, const char *member, json_t *path, struct ipf_error *err);

#endif
