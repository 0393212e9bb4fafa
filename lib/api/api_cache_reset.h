/* How a server's prefix cache is emptied: the member "cache_reset" of an API descriptor (ipf-api(5)), a list of
 * requests to try in order until the server knows one.
 *
 *     for (size_t i = 0; i < resets->count; i++)
 *         … resets->list[i].method, resets->list[i].path
 */
#ifndef IPF_API_CACHE_RESET_H
#define IPF_API_CACHE_RESET_H

#include "api/api_pointer.h"
#include "api/descriptor_check.h"

#define API_CACHE_RESET_EACH "$each" /* in a path: an id of the list */

/* All texts are borrowed from the descriptor. */
struct api_cache_reset {
	const char *method, *path;
	const char *needs;            /* the server's setting without which it does not know the path; NULL */
	const char *each_path;        /* GET it first, and send a request for each id; NULL: one request */
	struct api_pointer *each_ids; /* where the ids are in that response */
};

enum { API_CACHE_RESETS_MOST = 8 };

struct api_cache_resets {
	struct api_cache_reset list[API_CACHE_RESETS_MOST];
	size_t count; /* 0: the server cannot, as far as is known */
};

/* Checks and reads the member; NULL: there is none. Release it also after a failure. -1: IPF_INPUT, or out of memory.
 */
int api_cache_resets_compile(struct api_cache_resets *resets, struct descriptor_place top, json_t *list,
                             struct ipf_error *err);
void api_cache_resets_release(struct api_cache_resets *resets);

#endif
