/* JSON Schemas out of lines, one for each member: share/ipf/schema/NAME.members, of which the build makes
 * NAME.schema.json.
 *
 *     $results   object   A line of results.                    a type, for others to use
 *       n!       count    number of the request in the run      a member; !: required
 *       error    object                                         its own members follow, indented further
 *         kind!  connect|reset|"N/A"
 *         ...                                                   there may be others
 *       window   ms[2]{}  its begin and end, by stage
 *       @times                                                  the members of the type `times`
 *
 * A line has a name, a type and a description. Types are written without spaces:
 *
 *     text number integer boolean object array null any        the names of JSON, but for text
 *     count share time                                          0 or more, 0 to 1, a date with time
 *     integer:1..8  number:>0..                                 within limits
 *     "text"  7  true  a|b|c  ^[a-z]+$                          a constant, texts, texts by a pattern
 *     NAME                                                      a type of the file, or of a table in C
 *     T[]  T[2]  T[1..]  T{}  T{..32}  T{NAME}                  a list; a map, its names of the type NAME
 *     T/U  (T/U)[]                                              either
 *
 * A type of `-` changes a member that was there before: it becomes required, is described, or gets more members. The
 * name of a member beginning with ^ is a pattern. A line "." says: no other members; "?name T": with the member `name`,
 * the object is a T; "? T": otherwise.
 */
#ifndef JSON_SCHEMA_MEMBERS_H
#define JSON_SCHEMA_MEMBERS_H

#include "error.h"

#include <jansson.h>

/* Adds the types of a file to `types`, an object of schemas by name. `text` is changed. -1: err names the line. */
int members_read(json_t *types, const char *path, char *text, struct ipf_error *err);
/* A new schema of this type, with the types it uses. NULL: err names the missing one. */
json_t *members_schema(const json_t *types, const char *name, struct ipf_error *err);

#endif
