/* TLS for the raw server and the bare client, on sockets that do not block: reads and writes as recv and send would do
 * them.
 *
 *     struct ssl_ctx_st *tls;                                  // OpenSSL's context; NULL: plain HTTP
 *     rawtls_open(&tls, "server.pem", "server.key", &err);     // TLS 1.2 and 1.3, with session tickets
 *     struct ssl_st *of = rawtls_accept(tls, fd);              // the handshake happens within the first reads
 *     n = rawtls_recv(of, room, size);                         // -1 with EAGAIN: later; 0: closed
 *     rawtls_end(of);
 */
#ifndef IPF_RAWTLS_H
#define IPF_RAWTLS_H

#include "error.h"

#include <sys/types.h>

struct ssl_ctx_st;
struct ssl_st;

int rawtls_open(struct ssl_ctx_st **tls, const char *cert, const char *key, struct ipf_error *err);
int rawtls_open_client(struct ssl_ctx_st **tls, struct ipf_error *err); /* verifies nothing, resumes nothing */
void rawtls_close(struct ssl_ctx_st *tls);                              /* NULL is fine */

struct ssl_st *rawtls_accept(struct ssl_ctx_st *tls, int fd);  /* NULL: out of memory */
struct ssl_st *rawtls_connect(struct ssl_ctx_st *tls, int fd); /* likewise */
ssize_t rawtls_recv(struct ssl_st *of, void *to, size_t len);
/* After -1 with EAGAIN it must be called again with at least as many bytes. */
ssize_t rawtls_send(struct ssl_st *of, const void *from, size_t len);
void rawtls_end(struct ssl_st *of); /* NULL is fine */

#endif
