#include "rawtls.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

int rawtls_open(struct ssl_ctx_st **tls, const char *cert, const char *key, struct ipf_error *err)
{
	char why[160];
	SSL_CTX *context = SSL_CTX_new(TLS_server_method());
	if (!context || SSL_CTX_use_certificate_chain_file(context, cert) != 1 ||
	    SSL_CTX_use_PrivateKey_file(context, key, SSL_FILETYPE_PEM) != 1) {
		ERR_error_string_n(ERR_get_error(), why, sizeof why);
		SSL_CTX_free(context);
		return ipf_error_set(err, IPF_SYSTEM, "%s, %s: %s", cert, key, why);
	}
	SSL_CTX_set_mode(context,
	                 SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS);
	*tls = context;
	return 0;
}

int rawtls_open_client(struct ssl_ctx_st **tls, struct ipf_error *err)
{
	*tls = SSL_CTX_new(TLS_client_method());
	if (!*tls)
		return ipf_error_set(err, IPF_SYSTEM, "TLS: out of memory");
	SSL_CTX_set_mode(*tls, SSL_MODE_RELEASE_BUFFERS);
	return 0;
}

void rawtls_close(struct ssl_ctx_st *tls)
{
	SSL_CTX_free(tls);
}

static SSL *begin(SSL_CTX *tls, int fd, void (*set_state)(SSL *))
{
	SSL *of = SSL_new(tls);
	if (of && SSL_set_fd(of, fd) == 1) {
		set_state(of);
		return of;
	}
	SSL_free(of);
	return NULL;
}

struct ssl_st *rawtls_accept(struct ssl_ctx_st *tls, int fd)
{
	return begin(tls, fd, SSL_set_accept_state);
}

struct ssl_st *rawtls_connect(struct ssl_ctx_st *tls, int fd)
{
	return begin(tls, fd, SSL_set_connect_state);
}

/* A failure, as recv and send report it. */
static ssize_t as_errno(SSL *of, int result)
{
	int why = SSL_get_error(of, result);
	if (why == SSL_ERROR_ZERO_RETURN)
		return 0;
	if (why == SSL_ERROR_WANT_READ || why == SSL_ERROR_WANT_WRITE)
		errno = EAGAIN;
	else if (why != SSL_ERROR_SYSCALL || !errno || errno == EAGAIN)
		errno = EPROTO;
	return -1;
}

ssize_t rawtls_recv(struct ssl_st *of, void *to, size_t len)
{
	size_t got = 0;
	ERR_clear_error();
	int result = SSL_read_ex(of, to, len, &got);
	return result == 1 ? (ssize_t)got : as_errno(of, result);
}

ssize_t rawtls_send(struct ssl_st *of, const void *from, size_t len)
{
	size_t put = 0;
	ERR_clear_error();
	int result = SSL_write_ex(of, from, len, &put);
	return result == 1 ? (ssize_t)put : as_errno(of, result);
}

void rawtls_end(struct ssl_st *of)
{
	SSL_free(of);
}
