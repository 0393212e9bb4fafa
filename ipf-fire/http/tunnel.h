/* Asks an HTTP proxy to connect to a server (RFC 9110 section 9.3.6). */
#ifndef IPF_TUNNEL_H
#define IPF_TUNNEL_H

#include "http/http1_reader.h"
#include "http/origin.h"

/* Appends the request, with the proxy's credentials if its URL has some. */
void tunnel_request(struct buffer *out, const struct origin *origin);
/* Reads the next bytes of the answer, and none beyond it. 1: the tunnel is there; 0: more is to come; -1: there is
 * none, and `why`. */
int tunnel_answer(struct http1_reader *reader, const char *bytes, size_t len, char *why, size_t why_size);

#endif
