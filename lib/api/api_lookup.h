/* Finds the built-in descriptors by name and by the other names under which people know a server ("aliases" of the
 * descriptors).
 *
 *     const char *text = api_lookup("vllm");        // the descriptor openai-chat
 *     if (!text)
 *         return api_lookup_failed("vlm", err);     // unknown API "vlm": did you mean vllm?
 */
#ifndef IPF_API_LOOKUP_H
#define IPF_API_LOOKUP_H

#include "error.h"

/* The JSON text of the descriptor with this name, or of the one with this alias; NULL: there is none. In an alias,
 * upper and lower case are the same, and so are "_", "." and "-". */
const char *api_lookup(const char *name);
/* IPF_USAGE for a name that api_lookup does not know: the nearest name, or all of them. Returns -1. */
int api_lookup_failed(const char *name, struct ipf_error *err);

#endif
