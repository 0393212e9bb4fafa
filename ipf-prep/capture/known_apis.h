/* Which API a captured request belongs to: by its path, and by the members of its body where several APIs share a path.
 *
 *     struct known_apis *apis;
 *     if (known_apis_open(&apis, &settings->apis, &err) < 0) …
 *     const int index = known_apis_find(apis, target, &body);      // -1: none of them
 *     known_apis_api(apis, index) …
 *     known_apis_close(apis);
 *
 * A path may have anything before that of the descriptor, as behind a gateway: the longest one counts.
 */
#ifndef PREP_KNOWN_APIS_H
#define PREP_KNOWN_APIS_H

#include "api/api.h"
#include "cli/options.h"
#include "json/jdoc.h"

struct known_apis;

/* Those of these names; of no name, all built-in ones that generate text. -1: as api_open. */
int known_apis_open(struct known_apis **apis, const struct string_list *names, struct ipf_error *err);
/* The API of a request to this target (a path with a query, or a URL) with this body (an object; NULL: it is none).
 * -1: none of them. */
int known_apis_find(const struct known_apis *apis, struct slice target, const struct jdoc *body);
int known_apis_count(const struct known_apis *apis);
/* The path of a target: without scheme, host, query, fragment and parameters. */
struct slice known_apis_path(struct slice target);
struct api *known_apis_api(const struct known_apis *apis, int index);
/* Does the target ask for a stream by its path? */
bool known_apis_path_streams(const struct known_apis *apis, int index, struct slice target);
void known_apis_close(struct known_apis *apis); /* NULL is fine */

#endif
