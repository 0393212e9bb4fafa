/* Has libcurl hear a server of HTTP/2 out when that closes a connection; see h2_goaway.c. */
#ifndef IPF_H2_GOAWAY_H
#define IPF_H2_GOAWAY_H

struct transport;

/* Once, before there are threads. */
void h2_goaway_init(void);

/* From here on the calling thread works for this transport. */
void h2_goaway_attach(const struct transport *t);

#endif
