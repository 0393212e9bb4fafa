#include "http/tls.h"

#include "buffer.h"
#include "http/authorities.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>
#include <stdio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdlib.h>
#include <string.h>

#define WRITE_MOST ((size_t)64 << 10) /* bytes encrypted before they are written */
#define NAME_MOST  256                /* a host's, RFC 1035 section 2.3.4, and its NUL */

struct tls_context {
	SSL_CTX *ssl;
	BIO_METHOD *method;
	SSL_SESSION **sessions; /* by key; NULL: none yet */
	size_t keys;
	bool insecure;
	int keylog; /* where secrets are written; -1: nowhere */
};

struct tls {
	SSL *ssl;
	struct tls_context *context;
	const struct tls_io *io;
	void *data;
	size_t key;
	struct buffer out;    /* encrypted, and not yet written */
	size_t written;       /* bytes of `out` */
	size_t taken;         /* bytes of the caller's in `out`, not yet reported by tls_write */
	unsigned long reason; /* OpenSSL's code of the failure */
	enum tls_result end;  /* once TLS has failed */
	int io_errno;
	bool no_read;  /* this call reads no more from the socket */
	bool full;     /* the last read of the socket got all it asked for */
	bool at_end;   /* the socket has no more */
	bool broken;   /* the socket failed, with io_errno */
	bool failed;   /* TLS has failed, see `end`: OpenSSL has to be left alone */
	bool has_more; /* bytes have been left in OpenSSL's buffers, or, after a full read, in a TLS around this one */
};

/* ---- between OpenSSL and the socket ---- */

static int on_read(BIO *bio, char *to, int len)
{
	struct tls *t = BIO_get_data(bio);
	BIO_clear_retry_flags(bio);
	ssize_t got = -1;
	if (t->no_read) {
		BIO_set_retry_read(bio);
		return -1;
	}
	do
		got = t->io->read(t->data, to, (size_t)len);
	while (got < 0 && errno == EINTR);
	if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
		BIO_set_retry_read(bio);
	} else if (got < 0) {
		t->broken = true;
		t->io_errno = errno;
	} else if (got == 0) {
		t->at_end = true;
	}
	t->full = got == len;
	t->no_read = !t->full;
	return (int)got;
}

/* Collects, so one write sends all records of a call. */
static int on_write(BIO *bio, const char *from, int len)
{
	struct tls *t = BIO_get_data(bio);
	BIO_clear_retry_flags(bio);
	buffer_append(&t->out, from, (size_t)len);
	return t->out.failed ? -1 : len;
}

static long on_control(BIO *bio, int command, long number, void *pointer)
{
	(void)bio, (void)number, (void)pointer;
	return command == BIO_CTRL_FLUSH;
}

static BIO_METHOD *method_new(void)
{
	BIO_METHOD *m = BIO_meth_new(BIO_TYPE_SOURCE_SINK, "ipf");
	if (m && BIO_meth_set_read(m, on_read) && BIO_meth_set_write(m, on_write) && BIO_meth_set_ctrl(m, on_control))
		return m;
	BIO_meth_free(m);
	return NULL;
}

/* Writes OpenSSL's waiting bytes. */
static enum tls_result flush(struct tls *t)
{
	while (t->written < t->out.len && !t->broken) {
		ssize_t put = t->io->write(t->data, t->out.data + t->written, t->out.len - t->written);
		if (put > 0) {
			t->written += (size_t)put;
		} else if (put == 0 || errno == EAGAIN || errno == EWOULDBLOCK) {
			return TLS_WANT_WRITE;
		} else if (errno != EINTR) {
			t->broken = true;
			t->io_errno = errno;
		}
	}
	buffer_release(&t->out);
	t->written = 0;
	if (t->broken)
		errno = t->io_errno;
	return t->broken ? TLS_BROKEN : TLS_DONE;
}

/* ---- the context ---- */

static struct tls *tls_of(const SSL *ssl)
{
	return SSL_get_app_data(ssl);
}

/* A session, or in TLS 1.3 a ticket, has come. 1: it is ours now. */
static int on_session(SSL *ssl, SSL_SESSION *session)
{
	struct tls *t = tls_of(ssl);
	if (t->key >= t->context->keys)
		return 0;
	SSL_SESSION **slot = &t->context->sessions[t->key];
	SSL_SESSION_free(*slot);
	*slot = session;
	return 1;
}

/* Without this callback OpenSSL would ask for the pass phrase on the terminal. */
static int refuse_pass_phrase(char *text, int size, int writing, void *data)
{
	(void)text, (void)size, (void)writing, (void)data;
	return -1;
}

/* OpenSSL cannot use a file that tls_files_check() has read: it cannot be opened now, or the rest of it is wrong. */
static int unusable(const char *path, enum ipf_error_kind kind, const char *says, struct ipf_error *err)
{
	for (unsigned long code; (code = ERR_get_error());)
		if (ERR_SYSTEM_ERROR(code))
			return ipf_error_errno(err, ERR_GET_REASON(code), path, "cannot open");
	return ipf_error_at(err, kind, path, 0, "%s", says);
}

static int set_trust(SSL_CTX *ssl, const struct tls_options *o, struct ipf_error *err)
{
	X509_VERIFY_PARAM *param = SSL_CTX_get0_param(ssl);
	if (o->insecure)
		return 0;
	SSL_CTX_set_verify(ssl, SSL_VERIFY_PEER, NULL);
	/* as libcurl does: any certificate trusted ends the chain, a server's own as well */
	X509_VERIFY_PARAM_set_flags(param, X509_V_FLAG_PARTIAL_CHAIN | X509_V_FLAG_TRUSTED_FIRST);
	X509_VERIFY_PARAM_set_hostflags(param, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
	/* a system that is not the one OpenSSL was built on: OpenSSL itself reads SSL_CERT_FILE and SSL_CERT_DIR */
	const char *named = getenv("SSL_CERT_FILE");
	bool elsewhere = !o->cacert && !(named && *named) && access(X509_get_default_cert_dir(), R_OK) < 0;
	const char *authorities = elsewhere ? authorities_file() : NULL;
	if (o->cacert && SSL_CTX_load_verify_file(ssl, o->cacert) != 1)
		return unusable(o->cacert, IPF_USAGE, "--cacert: the file's certificates cannot be used", err);
	if (!o->cacert && SSL_CTX_set_default_verify_paths(ssl) != 1)
		return ipf_error_memory(err);
	if (authorities && SSL_CTX_load_verify_file(ssl, authorities) != 1)
		return unusable(authorities, IPF_SYSTEM, "the certificates of this system cannot be used", err);
	return 0;
}

static int set_certificate(SSL_CTX *ssl, const struct tls_options *o, struct ipf_error *err)
{
	const char *key = o->key ? o->key : o->cert;
	SSL_CTX_set_default_passwd_cb(ssl, refuse_pass_phrase);
	if (o->cert && SSL_CTX_use_certificate_chain_file(ssl, o->cert) != 1)
		return unusable(o->cert, IPF_USAGE, "--cert: the certificate cannot be used", err);
	if (o->cert && SSL_CTX_use_PrivateKey_file(ssl, key, SSL_FILETYPE_PEM) != 1)
		return unusable(key, IPF_USAGE, "--key: the private key cannot be used", err);
	return 0;
}

static int set_protocol(SSL_CTX *ssl, const struct tls_options *o, struct ipf_error *err)
{
	static const unsigned char both[] = "\x02h2\x08http/1.1";
	const unsigned char *offered = o->h2 || o->only_h2 ? both : both + 3;
	unsigned len = o->only_h2 ? 3 : o->h2 ? sizeof both - 1 : sizeof both - 4;
	SSL_CTX_set_options(ssl, SSL_OP_NO_RENEGOTIATION);
	/* the buffers go when they are empty: a thousand idle connections need none */
	SSL_CTX_set_mode(ssl, SSL_MODE_RELEASE_BUFFERS);
	SSL_CTX_set_read_ahead(ssl, 1);
	/* 0 is success, unlike elsewhere */
	if (SSL_CTX_set_min_proto_version(ssl, TLS1_2_VERSION) != 1 || SSL_CTX_set_alpn_protos(ssl, offered, len) != 0)
		return ipf_error_memory(err);
	return 0;
}

static int set_resumption(struct tls_context *c, const struct tls_options *o, struct ipf_error *err)
{
	SSL_CTX_set_session_cache_mode(c->ssl, SSL_SESS_CACHE_OFF);
	if (o->no_resumption || !o->keys)
		return 0;
	c->sessions = calloc(o->keys, sizeof *c->sessions);
	if (!c->sessions)
		return ipf_error_memory(err);
	c->keys = o->keys;
	SSL_CTX_set_session_cache_mode(c->ssl, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
	SSL_CTX_sess_set_new_cb(c->ssl, on_session);
	return 0;
}

/* A line of the key log, in one write: threads have contexts of their own, and the file is the same. */
static void log_secret(const SSL *ssl, const char *line)
{
	struct tls *t = SSL_get_app_data(ssl);
	char text[512];
	const int len = snprintf(text, sizeof text, "%s\n", line);
	/* a secret that cannot be written is lacking in the log: the run goes on */
	if (t && len > 0 && (size_t)len < sizeof text && write(t->context->keylog, text, (size_t)len) < len)
		errno = 0;
}

/* As curl and browsers do: $SSLKEYLOGFILE gets the secrets. */
static int set_keylog(struct tls_context *c, struct ipf_error *err)
{
	const char *path = getenv("SSLKEYLOGFILE");
	if (!path || !*path)
		return 0;
	c->keylog = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
	if (c->keylog < 0)
		return ipf_error_errno(err, errno, path, "SSLKEYLOGFILE: cannot open");
	SSL_CTX_set_keylog_callback(c->ssl, log_secret);
	return 0;
}

int tls_context_open(struct tls_context **context, const struct tls_options *o, struct ipf_error *err)
{
	struct tls_context *c = calloc(1, sizeof *c);
	int result = -1;
	*context = NULL;
	ERR_clear_error();
	if (c)
		c->keylog = -1;
	if (!c || !(c->method = method_new()) || !(c->ssl = SSL_CTX_new(TLS_client_method()))) {
		ipf_error_memory(err);
		goto out;
	}
	c->insecure = o->insecure;
	if (set_trust(c->ssl, o, err) == 0 && set_certificate(c->ssl, o, err) == 0 && set_protocol(c->ssl, o, err) == 0 &&
	    set_resumption(c, o, err) == 0 && set_keylog(c, err) == 0) {
		*context = c;
		c = NULL;
		result = 0;
	}
out:
	ERR_clear_error();
	tls_context_free(c);
	return result;
}

void tls_context_free(struct tls_context *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->keys; i++)
		SSL_SESSION_free(c->sessions[i]);
	free(c->sessions);
	SSL_CTX_free(c->ssl);
	BIO_meth_free(c->method);
	if (c->keylog >= 0)
		close(c->keylog);
	free(c);
}

/* ---- a connection ---- */

/* Sets the name for the server's certificate and for the handshake. */
static bool set_host(struct tls *t, const char *host)
{
	X509_VERIFY_PARAM *param = SSL_get0_param(t->ssl);
	unsigned char address[16];
	char name[NAME_MOST];
	size_t len = strlen(host);
	bool v6 = strchr(host, ':') != NULL;
	if (v6)
		len = strcspn(host, "%"); /* without its zone */
	else if (len && host[len - 1] == '.')
		len--; /* RFC 6066 section 3 */
	if (len >= sizeof name)
		return false;
	memcpy(name, host, len);
	name[len] = '\0';
	if (v6 || inet_pton(AF_INET, name, address) == 1)
		return t->context->insecure || X509_VERIFY_PARAM_set1_ip_asc(param, name) == 1;
	return SSL_set_tlsext_host_name(t->ssl, name) == 1 &&
	       (t->context->insecure || X509_VERIFY_PARAM_set1_host(param, name, len) == 1);
}

/* Offers the newest session: a copy, because OpenSSL lets a ticket of TLS 1.3 be used only once. */
static bool offer_session(struct tls *t)
{
	SSL_SESSION *newest = t->key < t->context->keys ? t->context->sessions[t->key] : NULL;
	if (!newest || !SSL_SESSION_is_resumable(newest))
		return true;
	SSL_SESSION *copy = SSL_SESSION_dup(newest);
	bool set = copy && SSL_set_session(t->ssl, copy) == 1;
	SSL_SESSION_free(copy);
	return set;
}

int tls_open(struct tls **tls, struct tls_context *c, const char *host, size_t key, const struct tls_io *io, void *data)
{
	struct tls *t = calloc(1, sizeof *t);
	BIO *bio = NULL;
	*tls = NULL;
	ERR_clear_error();
	if (!t || !(t->ssl = SSL_new(c->ssl)) || !(bio = BIO_new(c->method)))
		goto failed;
	t->context = c;
	t->io = io;
	t->data = data;
	t->key = key;
	BIO_set_data(bio, t);
	BIO_set_init(bio, 1);
	SSL_set_bio(t->ssl, bio, bio);
	SSL_set_connect_state(t->ssl);
	if (SSL_set_app_data(t->ssl, t) != 1 || !set_host(t, host) || !offer_session(t))
		goto failed;
	*tls = t;
	return 0;
failed:
	ERR_clear_error();
	tls_free(t);
	return -1;
}

void tls_free(struct tls *t)
{
	if (!t)
		return;
	/* a connection just ended is no reason against its session, which others use */
	if (t->ssl && !(t->failed && t->end == TLS_FAILED))
		SSL_set_shutdown(t->ssl, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
	SSL_free(t->ssl);
	buffer_release(&t->out);
	free(t);
}

/* ---- moving bytes ---- */

/* The meaning of a failed call of OpenSSL. */
static enum tls_result why_not(struct tls *t, int returned)
{
	int error = SSL_get_error(t->ssl, returned);
	unsigned long reason = ERR_peek_error();
	ERR_clear_error();
	if (error == SSL_ERROR_WANT_READ)
		return TLS_WANT_READ;
	if (error == SSL_ERROR_ZERO_RETURN)
		return TLS_CLOSED;
	t->failed = true;
	t->end = t->at_end ? TLS_CUT : t->broken ? TLS_BROKEN : TLS_FAILED;
	t->reason = t->out.failed ? ERR_PACK(ERR_LIB_SSL, 0, ERR_R_MALLOC_FAILURE) : reason;
	if (t->end == TLS_FAILED)
		flush(t); /* the alert for the server; its fate changes nothing */
	errno = t->io_errno;
	return t->end;
}

/* A call begins: OpenSSL looks at the queue of errors afterwards. false: there is nothing to be done any more. */
static bool begin(struct tls *t, enum tls_result *result)
{
	if (t->failed) {
		errno = t->io_errno;
		*result = t->end;
		return false;
	}
	ERR_clear_error();
	t->no_read = false;
	return true;
}

enum tls_result tls_handshake(struct tls *t)
{
	enum tls_result result = TLS_DONE, flushed;
	if (!begin(t, &result))
		return result;
	int returned = SSL_do_handshake(t->ssl);
	if (returned != 1)
		result = why_not(t, returned);
	if (result == TLS_FAILED && t->key < t->context->keys) {
		/* the session may be the cause */
		SSL_SESSION_free(t->context->sessions[t->key]);
		t->context->sessions[t->key] = NULL;
	}
	if (result != TLS_DONE && result != TLS_WANT_READ)
		return result;
	flushed = flush(t);
	return flushed == TLS_DONE ? result : flushed;
}

enum tls_result tls_read(struct tls *t, char *to, size_t len, size_t *got)
{
	enum tls_result result = TLS_DONE;
	size_t bytes = 0;
	*got = 0;
	t->has_more = false;
	if (!begin(t, &result))
		return result;
	int returned = SSL_read_ex(t->ssl, to, len, &bytes);
	while (returned == 1) {
		*got += bytes;
		t->no_read = true; /* another read would have another time */
		t->has_more = SSL_has_pending(t->ssl);
		if (*got == len || !t->has_more)
			break;
		returned = SSL_read_ex(t->ssl, to + *got, len - *got, &bytes);
	}
	if (returned != 1) {
		result = why_not(t, returned);
		t->has_more = *got && result != TLS_WANT_READ; /* the end follows these bytes */
	}
	t->has_more = t->has_more || (*got && t->full);
	/* a new ticket makes OpenSSL allocate a buffer for writing, which would stay until the next write */
	if (!t->failed && !t->has_more)
		SSL_free_buffers(t->ssl);
	/* an answer to the server, such as to its change of keys; the next write sends the rest */
	if (t->out.len && !t->failed)
		flush(t);
	return *got ? TLS_DONE : result;
}

enum tls_result tls_write(struct tls *t, const char *from, size_t len, size_t *put)
{
	enum tls_result result = TLS_DONE;
	size_t bytes = 0;
	*put = 0;
	if (!begin(t, &result))
		return result;
	result = flush(t); /* the rest of an earlier call */
	if (result == TLS_DONE && !t->taken && len) {
		int returned = SSL_write_ex(t->ssl, from, len < WRITE_MOST ? len : WRITE_MOST, &bytes);
		if (returned != 1)
			return why_not(t, returned);
		t->taken = bytes;
		result = flush(t);
	}
	if (result != TLS_DONE)
		return result;
	*put = t->taken;
	t->taken = 0;
	return TLS_DONE;
}

void tls_bye(struct tls *t)
{
	enum tls_result result;
	if (!begin(t, &result) || !SSL_is_init_finished(t->ssl) || t->broken)
		return;
	SSL_shutdown(t->ssl);
	ERR_clear_error();
	flush(t);
}

/* ---- results of the handshake ---- */

bool tls_is_h2(const struct tls *t)
{
	const unsigned char *name;
	unsigned len;
	SSL_get0_alpn_selected(t->ssl, &name, &len);
	return len == 2 && !memcmp(name, "h2", 2);
}

bool tls_is_resumed(const struct tls *t)
{
	return SSL_session_reused(t->ssl);
}

bool tls_has_more(const struct tls *t)
{
	return t->has_more;
}

void tls_why(const struct tls *t, char *text, size_t len)
{
	const char *why = NULL;
	if (ERR_GET_LIB(t->reason) == ERR_LIB_SSL && ERR_GET_REASON(t->reason) == SSL_R_CERTIFICATE_VERIFY_FAILED)
		why = X509_verify_cert_error_string(SSL_get_verify_result(t->ssl));
	if (!why)
		why = ERR_reason_error_string(t->reason);
	snprintf(text, len, "%s", why ? why : "unknown error");
}
