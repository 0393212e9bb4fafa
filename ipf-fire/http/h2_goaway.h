/* Keeps libcurl from closing an HTTP/2 session before the last streams have ended, when the server sends GOAWAY; see
 * h2_goaway.c.
 */
#ifndef IPF_H2_GOAWAY_H
#define IPF_H2_GOAWAY_H

struct transport;

/* Call it once, before there are threads. */
void h2_goaway_init(void);

/* From here on the calling thread works for this transport. */
void h2_goaway_attach(const struct transport *t);

#endif
