/* The token for a server asking for one ("Authorization: Bearer …"): from a file, or a command's output.
 *
 *     struct bearer bearer = {.source = "!gcloud auth print-access-token"};
 *     if (bearer_read(&bearer, &err) < 0) …               // again when the server does not accept it any more
 *     curl_slist_append(headers, bearer.header);
 *     bearer_release(&bearer);
 *
 * The token is never written anywhere: neither into messages nor into the results.
 */
#ifndef COLLECT_BEARER_H
#define COLLECT_BEARER_H

#include "error.h"

struct bearer {
	const char *source; /* a path, or "!COMMAND" for the shell; NULL: no token */
	char *header;       /* "Authorization: Bearer TOKEN"; NULL before it was read, or without a source */
};

/* Reads the token; surrounding white space is removed. A command has 10 seconds. -1: IPF_SYSTEM, IPF_USAGE if it is no
 * token. The header of before then stays. */
int bearer_read(struct bearer *bearer, struct ipf_error *err);
void bearer_release(struct bearer *bearer);

#endif
