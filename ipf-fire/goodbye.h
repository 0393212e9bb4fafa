/* Has libcurl hear a server of HTTP/2 out when that closes a connection; see goodbye.c. */
#ifndef IPF_GOODBYE_H
#define IPF_GOODBYE_H

struct transport;

/* Once, before there are threads. */
void goodbye_init(void);

/* From here on the calling thread works for this transport. */
void goodbye_attach(const struct transport *t);

#endif
