/* TLS over a pair of sockets: the other end is OpenSSL's server, with certificates made here. */
#include "http/tls.h"

#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* ---- certificates ---- */

struct identity {
	X509 *certificate;
	EVP_PKEY *key;
};

static struct identity authority, good, expired, by_address, own_signed;

static void add_extension(X509 *x, X509 *issuer, int nid, const char *value)
{
	X509V3_CTX v3;
	X509V3_set_ctx_nodb(&v3);
	X509V3_set_ctx(&v3, issuer, x, NULL, NULL, 0);
	X509_EXTENSION *e = X509V3_EXT_conf_nid(NULL, &v3, nid, value);
	assert_non_null(e);
	assert_int_equal(X509_add_ext(x, e, -1), 1);
	X509_EXTENSION_free(e);
}

/* `issuer` NULL: signed by itself. `names` NULL: an authority. Valid until `until_s` from now. */
static struct identity make(const char *common_name, const char *names, const struct identity *issuer, long until_s)
{
	static long serial = 1;
	struct identity id = {X509_new(), EVP_EC_gen("P-256")};
	assert_true(id.certificate && id.key);
	X509_set_version(id.certificate, 2);
	ASN1_INTEGER_set(X509_get_serialNumber(id.certificate), serial++);
	X509_gmtime_adj(X509_getm_notBefore(id.certificate), -7200);
	X509_gmtime_adj(X509_getm_notAfter(id.certificate), until_s);
	X509_set_pubkey(id.certificate, id.key);
	X509_NAME_add_entry_by_txt(X509_get_subject_name(id.certificate), "CN", MBSTRING_ASC,
	                           (const unsigned char *)common_name, -1, -1, 0);
	const struct identity *by = issuer ? issuer : &id;
	X509_set_issuer_name(id.certificate, X509_get_subject_name(by->certificate));
	if (names)
		add_extension(id.certificate, by->certificate, NID_subject_alt_name, names);
	else
		add_extension(id.certificate, by->certificate, NID_basic_constraints, "critical,CA:TRUE");
	assert_true(X509_sign(id.certificate, by->key, EVP_sha256()) > 0);
	return id;
}

static void write_pem(const char *path, X509 *certificate, EVP_PKEY *key, const char *phrase)
{
	FILE *file = fopen(path, "w");
	assert_non_null(file);
	if (certificate)
		assert_int_equal(PEM_write_X509(file, certificate), 1);
	if (key)
		assert_int_equal(PEM_write_PrivateKey(file, key, phrase ? EVP_aes_128_cbc() : NULL,
		                                      (const unsigned char *)phrase, phrase ? (int)strlen(phrase) : 0, NULL,
		                                      NULL),
		                 1);
	assert_int_equal(fclose(file), 0);
}

static int make_certificates(void **state)
{
	(void)state;
	authority = make("authority", NULL, NULL, 3600);
	good = make("server", "DNS:server.test,DNS:*.wild.test", &authority, 3600);
	expired = make("server", "DNS:server.test", &authority, -60);
	by_address = make("server", "IP:127.0.0.1,IP:::1", &authority, 3600);
	own_signed = make("server", "DNS:server.test", NULL, 3600);
	write_pem("authority.pem", authority.certificate, NULL, NULL);
	write_pem("own.pem", own_signed.certificate, NULL, NULL);
	write_pem("cert.pem", good.certificate, NULL, NULL);
	write_pem("key.pem", NULL, good.key, NULL);
	write_pem("both.pem", good.certificate, good.key, NULL);
	write_pem("secret.pem", NULL, good.key, "phrase");
	return 0;
}

static int free_certificates(void **state)
{
	struct identity *all[] = {&authority, &good, &expired, &by_address, &own_signed};
	(void)state;
	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		X509_free(all[i]->certificate);
		EVP_PKEY_free(all[i]->key);
	}
	return 0;
}

/* ---- the server ---- */

static int choose_protocol(SSL *ssl, const unsigned char **out, unsigned char *len, const unsigned char *in, unsigned n,
                           void *data)
{
	(void)ssl, (void)data;
	/* the client's first */
	*out = in + 1;
	*len = in[0];
	return n ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_NOACK;
}

static SSL_CTX *server_new(const struct identity *id, int version)
{
	SSL_CTX *c = SSL_CTX_new(TLS_server_method());
	assert_non_null(c);
	assert_int_equal(SSL_CTX_use_certificate(c, id->certificate), 1);
	assert_int_equal(SSL_CTX_use_PrivateKey(c, id->key), 1);
	SSL_CTX_set_session_id_context(c, (const unsigned char *)"t", 1);
	SSL_CTX_set_alpn_select_cb(c, choose_protocol, NULL);
	SSL_CTX_set_mode(c, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
	if (version)
		SSL_CTX_set_max_proto_version(c, version);
	return c;
}

/* ---- a connection between both ---- */

struct pair {
	int fds[2]; /* ours, the server's */
	struct tls *tls;
	SSL *server;
	size_t reads, writes; /* our socket's */
	enum tls_result result;
	double own_s; /* our handshake's */
};

static double seconds(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static ssize_t read_socket(void *data, void *to, size_t len)
{
	struct pair *p = data;
	p->reads++;
	return recv(p->fds[0], to, len, MSG_DONTWAIT);
}

static ssize_t write_socket(void *data, const void *from, size_t len)
{
	struct pair *p = data;
	p->writes++;
	return send(p->fds[0], from, len, MSG_DONTWAIT | MSG_NOSIGNAL);
}

static const struct tls_io socket_io = {read_socket, write_socket};

static void pair_open(struct pair *p, SSL_CTX *server, struct tls_context *client, const char *host, size_t key)
{
	*p = (struct pair){.result = TLS_WANT_READ};
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, p->fds), 0);
	p->server = SSL_new(server);
	SSL_set_fd(p->server, p->fds[1]);
	SSL_set_accept_state(p->server);
	double begin = seconds();
	assert_int_equal(tls_open(&p->tls, client, host, key, &socket_io, p), 0);
	p->own_s = seconds() - begin;
}

static enum tls_result pair_handshake(struct pair *p)
{
	int done = 0;
	for (int i = 0; i < 50 && (p->result == TLS_WANT_READ || p->result == TLS_WANT_WRITE || done != 1); i++) {
		double begin = seconds();
		if (p->result == TLS_WANT_READ || p->result == TLS_WANT_WRITE)
			p->result = tls_handshake(p->tls);
		p->own_s += seconds() - begin;
		if (done != 1)
			done = SSL_do_handshake(p->server);
		ERR_clear_error();
	}
	return p->result;
}

static void pair_close(struct pair *p)
{
	tls_free(p->tls);
	SSL_free(p->server);
	close(p->fds[0]);
	close(p->fds[1]);
}

static struct tls_context *client_new(const struct tls_options *o)
{
	struct tls_context *c;
	struct ipf_error err = {0};
	if (tls_context_open(&c, o, &err) < 0)
		fail_msg("%s: %s", err.file, err.text);
	return c;
}

static void server_says(struct pair *p, const char *text)
{
	assert_int_equal(SSL_write(p->server, text, (int)strlen(text)), (int)strlen(text));
}

static void client_reads(struct pair *p, const char *expected)
{
	char text[100];
	size_t got;
	assert_int_equal(tls_read(p->tls, text, sizeof text - 1, &got), TLS_DONE);
	text[got] = '\0';
	assert_string_equal(text, expected);
}

static void client_says(struct pair *p, const char *text)
{
	size_t put;
	char got[100];
	assert_int_equal(tls_write(p->tls, text, strlen(text), &put), TLS_DONE);
	assert_int_equal(put, strlen(text));
	assert_int_equal(SSL_read(p->server, got, sizeof got), (int)strlen(text));
	assert_memory_equal(got, text, strlen(text));
}

static const struct tls_options trusting = {.cacert = "authority.pem", .keys = 2};

/* ---- tests ---- */

static void test_both_ways(void **state)
{
	SSL_CTX *server = server_new(&good, 0);
	struct tls_context *client = client_new(&trusting);
	struct pair p;
	char text[100];
	size_t got;
	(void)state;
	pair_open(&p, server, client, "server.test", 0);
	assert_int_equal(pair_handshake(&p), TLS_DONE);
	assert_string_equal(SSL_get_servername(p.server, TLSEXT_NAMETYPE_host_name), "server.test");
	assert_false(tls_is_h2(p.tls));
	assert_false(tls_is_resumed(p.tls));
	client_says(&p, "hello");
	assert_int_equal(tls_read(p.tls, text, sizeof text, &got), TLS_WANT_READ);
	/* one read a record, and one for several that are there */
	p.reads = 0;
	server_says(&p, "one");
	client_reads(&p, "one");
	server_says(&p, "two");
	server_says(&p, "three");
	client_reads(&p, "twothree");
	assert_int_equal(p.reads, 2);
	assert_false(tls_has_more(p.tls));
	/* the rest is not lost */
	server_says(&p, "abc");
	server_says(&p, "defg");
	assert_int_equal(tls_read(p.tls, text, 2, &got), TLS_DONE);
	assert_true(got == 2 && tls_has_more(p.tls));
	client_reads(&p, "cdefg");
	assert_false(tls_has_more(p.tls));
	assert_int_equal(p.reads, 3);
	/* new keys, and the answer to them with the next write */
	assert_int_equal(SSL_key_update(p.server, SSL_KEY_UPDATE_REQUESTED), 1);
	server_says(&p, "new");
	client_reads(&p, "new");
	client_says(&p, "new as well");
	SSL_shutdown(p.server);
	assert_int_equal(tls_read(p.tls, text, sizeof text, &got), TLS_CLOSED);
	assert_int_equal(tls_read(p.tls, text, sizeof text, &got), TLS_CLOSED);
	tls_bye(p.tls);
	assert_int_equal(SSL_read(p.server, text, sizeof text), 0);
	assert_int_equal(SSL_get_shutdown(p.server) & SSL_RECEIVED_SHUTDOWN, SSL_RECEIVED_SHUTDOWN);
	pair_close(&p);
	tls_context_free(client);
	SSL_CTX_free(server);
}

static void test_protocols(void **state)
{
	static const struct {
		bool h2, only_h2, expected;
	} cases[] = {{false, false, false}, {true, false, true}, {false, true, true}};
	SSL_CTX *server = server_new(&good, 0);
	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct tls_options o = trusting;
		struct pair p;
		o.h2 = cases[i].h2;
		o.only_h2 = cases[i].only_h2;
		struct tls_context *client = client_new(&o);
		pair_open(&p, server, client, "server.test", 0);
		assert_int_equal(pair_handshake(&p), TLS_DONE);
		assert_int_equal(tls_is_h2(p.tls), cases[i].expected);
		pair_close(&p);
		tls_context_free(client);
	}
	SSL_CTX_free(server);
}

static void test_resumption(void **state)
{
	static const int versions[] = {TLS1_2_VERSION, TLS1_3_VERSION};
	(void)state;
	for (int i = 0; i < 6; i++) {
		struct tls_options o = trusting;
		struct pair p[3];
		bool off = i / 2 == 1, ends_badly = i / 2 == 2;
		o.no_resumption = off;
		SSL_CTX *server = server_new(&good, versions[i % 2]);
		struct tls_context *client = client_new(&o);
		pair_open(&p[0], server, client, "server.test", 1);
		assert_int_equal(pair_handshake(&p[0]), TLS_DONE);
		assert_false(tls_is_resumed(p[0].tls));
		server_says(&p[0], "x"); /* the tickets of TLS 1.3 come with it */
		client_reads(&p[0], "x");
		if (ends_badly) { /* that is no reason to lose the session */
			char byte;
			size_t got;
			close(p[0].fds[1]);
			assert_int_equal(tls_read(p[0].tls, &byte, 1, &got), TLS_CUT);
			p[0].fds[1] = -1;
		}
		pair_close(&p[0]);
		/* a session is good for several connections at a time, of its key only */
		for (int k = 0; k < 3; k++) {
			pair_open(&p[k], server, client, "server.test", k < 2);
			assert_int_equal(pair_handshake(&p[k]), TLS_DONE);
			assert_int_equal(tls_is_resumed(p[k].tls), k < 2 && !off);
			client_says(&p[k], "hello");
		}
		for (int k = 0; k < 3; k++)
			pair_close(&p[k]);
		tls_context_free(client);
		SSL_CTX_free(server);
	}
}

struct verification {
	const struct identity *server;
	const char *host, *why; /* NULL: it is trusted */
	const char *cacert;
};

static const struct verification verifications[] = {
	{&good, "server.test", NULL, "authority.pem"},
	{&good, "server.test.", NULL, "authority.pem"},
	{&good, "SERVER.test", NULL, "authority.pem"},
	{&good, "a.wild.test", NULL, "authority.pem"},
	{&good, "a.b.wild.test", "hostname mismatch", "authority.pem"},
	{&good, "wild.test", "hostname mismatch", "authority.pem"},
	{&good, "other.test", "hostname mismatch", "authority.pem"},
	{&good, "127.0.0.1", "IP address mismatch", "authority.pem"},
	{&by_address, "127.0.0.1", NULL, "authority.pem"},
	{&by_address, "::1", NULL, "authority.pem"},
	{&by_address, "::1%lo", NULL, "authority.pem"},
	{&by_address, "127.0.0.2", "IP address mismatch", "authority.pem"},
	{&by_address, "server.test", "hostname mismatch", "authority.pem"},
	{&expired, "server.test", "certificate has expired", "authority.pem"},
	{&own_signed, "server.test", "self-signed certificate", "authority.pem"},
	{&own_signed, "server.test", NULL, "own.pem"},
	{&good, "server.test", NULL, "cert.pem"},
	{&good, "server.test", "unable to get local issuer certificate", "own.pem"},
	{&good, "server.test", "unable to get local issuer certificate", NULL},
};

static void test_verification(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof verifications / sizeof *verifications; i++) {
		const struct verification *v = &verifications[i];
		for (int insecure = 0; insecure < 2; insecure++) {
			struct tls_options o = {.cacert = v->cacert, .insecure = insecure, .keys = 1};
			struct pair p;
			char why[100], byte;
			size_t got;
			SSL_CTX *server = server_new(v->server, 0);
			struct tls_context *client = client_new(&o);
			pair_open(&p, server, client, v->host, 0);
			pair_handshake(&p);
			if (insecure || !v->why) {
				assert_int_equal(p.result, TLS_DONE);
			} else {
				assert_int_equal(p.result, TLS_FAILED);
				tls_why(p.tls, why, sizeof why);
				assert_string_equal(why, v->why);
				tls_why(p.tls, why, 8);
				assert_int_equal(strlen(why), 7);
				assert_int_equal(tls_read(p.tls, &byte, 1, &got), TLS_FAILED);
				assert_int_equal(tls_write(p.tls, "x", 1, &got), TLS_FAILED);
				/* the server has been told */
				assert_int_equal(SSL_do_handshake(p.server), -1);
				tls_bye(p.tls);
			}
			const char *sni = SSL_get_servername(p.server, TLSEXT_NAMETYPE_host_name);
			assert_int_equal(sni != NULL, strspn(v->host, "0123456789.:%lo") != strlen(v->host));
			pair_close(&p);
			tls_context_free(client);
			SSL_CTX_free(server);
		}
	}
}

static void test_ends(void **state)
{
	SSL_CTX *server = server_new(&good, 0);
	struct tls_context *client = client_new(&trusting);
	struct pair p;
	char text[100];
	size_t got;
	(void)state;
	/* without close_notify, after some bytes */
	pair_open(&p, server, client, "server.test", 0);
	assert_int_equal(pair_handshake(&p), TLS_DONE);
	server_says(&p, "last");
	shutdown(p.fds[1], SHUT_WR);
	client_reads(&p, "last");
	assert_int_equal(tls_read(p.tls, text, sizeof text, &got), TLS_CUT);
	assert_int_equal(tls_read(p.tls, text, sizeof text, &got), TLS_CUT);
	pair_close(&p);
	/* with it, in the same read */
	pair_open(&p, server, client, "server.test", 0);
	assert_int_equal(pair_handshake(&p), TLS_DONE);
	server_says(&p, "last");
	SSL_shutdown(p.server);
	client_reads(&p, "last");
	assert_true(tls_has_more(p.tls));
	assert_int_equal(tls_read(p.tls, text, sizeof text, &got), TLS_CLOSED);
	pair_close(&p);
	tls_context_free(client);
	SSL_CTX_free(server);
}

/* Bytes that are no whole record, or not the peer's. */
static void test_damaged_records(void **state)
{
	SSL_CTX *server = server_new(&good, 0);
	struct tls_context *client = client_new(&trusting);
	struct pair p;
	char text[100];
	size_t got;
	(void)state;
	/* a cut record */
	pair_open(&p, server, client, "server.test", 0);
	assert_int_equal(pair_handshake(&p), TLS_DONE);
	server_says(&p, "x");
	client_reads(&p, "x");
	assert_int_equal(send(p.fds[1], "\x17\x03\x03\x00\x30only a part", 16, 0), 16);
	assert_int_equal(tls_read(p.tls, text, sizeof text, &got), TLS_WANT_READ);
	shutdown(p.fds[1], SHUT_WR);
	assert_int_equal(tls_read(p.tls, text, sizeof text, &got), TLS_CUT);
	pair_close(&p);
	/* a forged record */
	pair_open(&p, server, client, "server.test", 0);
	assert_int_equal(pair_handshake(&p), TLS_DONE);
	assert_int_equal(send(p.fds[1], "\x17\x03\x03\x00\x13the wrong bytes and", 24, 0), 24);
	for (int i = 0; i < 3 && (p.result = tls_read(p.tls, text, sizeof text, &got)) == TLS_WANT_READ; i++)
		;
	assert_int_equal(p.result, TLS_FAILED);
	tls_why(p.tls, text, sizeof text);
	assert_string_equal(text, "decryption failed or bad record mac");
	pair_close(&p);
	tls_context_free(client);
	SSL_CTX_free(server);
}

static void test_broken_sockets(void **state)
{
	SSL_CTX *server = server_new(&good, 0);
	struct tls_context *client = client_new(&trusting);
	struct pair p;
	size_t got;
	(void)state;
	/* during the handshake */
	pair_open(&p, server, client, "server.test", 0);
	assert_int_equal(tls_handshake(p.tls), TLS_WANT_READ);
	tls_bye(p.tls);
	shutdown(p.fds[1], SHUT_WR);
	assert_int_equal(tls_handshake(p.tls), TLS_CUT);
	pair_close(&p);
	/* the socket breaks */
	pair_open(&p, server, client, "server.test", 0);
	assert_int_equal(pair_handshake(&p), TLS_DONE);
	close(p.fds[1]);
	p.fds[1] = -1;
	errno = 0;
	assert_int_equal(tls_write(p.tls, "x", 1, &got), TLS_BROKEN);
	assert_int_equal(errno, EPIPE);
	pair_close(&p);
	tls_context_free(client);
	SSL_CTX_free(server);
}

/* A server that does not speak TLS, or another one than we do. */
static void test_other_servers(void **state)
{
	SSL_CTX *server = server_new(&good, 0), *strict = server_new(&good, TLS1_2_VERSION);
	struct tls_context *client = client_new(&trusting);
	struct pair p;
	char why[100];
	(void)state;
	pair_open(&p, server, client, "server.test", 0);
	assert_int_equal(tls_handshake(p.tls), TLS_WANT_READ);
	assert_int_equal(send(p.fds[1], "HTTP/1.1 400 Bad Request\r\n\r\n", 28, 0), 28);
	assert_int_equal(tls_handshake(p.tls), TLS_FAILED);
	tls_why(p.tls, why, sizeof why);
	assert_string_equal(why, "wrong version number");
	pair_close(&p);
	SSL_CTX_set_cipher_list(strict, "AES128-SHA"); /* a client of today does not offer its cipher */
	SSL_CTX_set_options(strict, SSL_OP_NO_TLSv1_2);
	pair_open(&p, strict, client, "server.test", 0);
	assert_int_equal(pair_handshake(&p), TLS_FAILED);
	tls_why(p.tls, why, sizeof why);
	assert_non_null(strstr(why, "protocol version"));
	pair_close(&p);
	tls_context_free(client);
	SSL_CTX_free(server);
	SSL_CTX_free(strict);
}

/* More than the socket takes; the bytes move between the calls. */
static void test_large_writes(void **state)
{
	enum { SIZE = 1000000 };
	SSL_CTX *server = server_new(&good, 0);
	struct tls_context *client = client_new(&trusting);
	char *sent = malloc(SIZE), *received = malloc(SIZE);
	struct pair p;
	size_t at = 0, got = 0, waited = 0;
	(void)state;
	for (size_t i = 0; i < SIZE; i++)
		sent[i] = (char)(i * 7 + i / 1000);
	pair_open(&p, server, client, "server.test", 0);
	assert_int_equal(pair_handshake(&p), TLS_DONE);
	int small = 4096;
	setsockopt(p.fds[0], SOL_SOCKET, SO_SNDBUF, &small, sizeof small);
	while (got < SIZE) {
		size_t put, len = SIZE - at;
		char *moved = malloc(len ? len : 1);
		memcpy(moved, sent + at, len);
		enum tls_result result = tls_write(p.tls, moved, len, &put);
		free(moved);
		assert_true(result == TLS_DONE || (result == TLS_WANT_WRITE && !put));
		waited += result == TLS_WANT_WRITE;
		at += put;
		for (size_t n; SSL_read_ex(p.server, received + got, SIZE - got, &n) == 1;)
			got += n;
		ERR_clear_error();
	}
	assert_true(waited > 10);
	assert_memory_equal(sent, received, SIZE);
	/* 64 KiB are one write if the socket takes it */
	int large = 1 << 20;
	setsockopt(p.fds[0], SOL_SOCKET, SO_SNDBUF, &large, sizeof large);
	p.writes = 0;
	assert_int_equal(tls_write(p.tls, sent, 60000, &got), TLS_DONE);
	assert_true(got == 60000 && p.writes == 1);
	pair_close(&p);
	tls_context_free(client);
	SSL_CTX_free(server);
	free(sent);
	free(received);
}

/* More than one read takes: each comes whole, in its order. */
static void test_large_reads(void **state)
{
	enum { SIZE = 300000 };
	SSL_CTX *server = server_new(&good, 0);
	struct tls_context *client = client_new(&trusting);
	char *sent = malloc(SIZE), *received = malloc(SIZE);
	struct pair p;
	size_t at = 0, all = 0, n;
	uint64_t seed = test_seed("test_large_reads");
	(void)state;
	for (size_t i = 0; i < SIZE; i++)
		sent[i] = (char)(i * 5 + i / 777);
	pair_open(&p, server, client, "server.test", 0);
	assert_int_equal(pair_handshake(&p), TLS_DONE);
	while (all < SIZE) {
		size_t len = 1 + test_random(&seed) % 40000, room = 1 + test_random(&seed) % 50000;
		if (at < SIZE && SSL_write_ex(p.server, sent + at, len < SIZE - at ? len : SIZE - at, &n) == 1)
			at += n;
		ERR_clear_error();
		do {
			enum tls_result result = tls_read(p.tls, received + all, room < SIZE - all ? room : SIZE - all, &n);
			assert_true(result == TLS_DONE ? n > 0 : result == TLS_WANT_READ && !n);
			all += n;
		} while (tls_has_more(p.tls) && all < SIZE);
	}
	assert_memory_equal(sent, received, SIZE);
	pair_close(&p);
	tls_context_free(client);
	SSL_CTX_free(server);
	free(sent);
	free(received);
}

/* ---- TLS through TLS ---- */

static ssize_t as_errno(enum tls_result result, size_t bytes)
{
	if (result == TLS_DONE)
		return (ssize_t)bytes;
	errno = EAGAIN;
	return result == TLS_CLOSED || result == TLS_CUT ? 0 : -1;
}

static ssize_t read_outer(void *data, void *to, size_t len)
{
	size_t got;
	enum tls_result result = tls_read(data, to, len, &got);
	return as_errno(result, got);
}

static ssize_t write_outer(void *data, const void *from, size_t len)
{
	size_t put;
	enum tls_result result = tls_write(data, from, len, &put);
	return as_errno(result, put);
}

/* Carries bytes between the proxy's TLS and the server behind it. */
static void relay(SSL *proxy, BIO *behind)
{
	char bytes[16000]; /* at most a record */
	int n;
	while ((n = SSL_read(proxy, bytes, sizeof bytes)) > 0)
		assert_int_equal(BIO_write(behind, bytes, n), n);
	while ((n = BIO_read(behind, bytes, sizeof bytes)) > 0)
		assert_int_equal(SSL_write(proxy, bytes, n), n);
	ERR_clear_error();
}

/* A server behind a proxy, both with TLS. */
struct nested {
	struct pair outer;
	struct tls *inner;
	SSL *origin;
	BIO *behind;
	SSL_CTX *server;
	struct tls_context *client;
};

static void nested_open(struct nested *x)
{
	static const struct tls_io through = {read_outer, write_outer};
	enum tls_result result = TLS_WANT_READ;
	BIO *near;
	x->server = server_new(&good, 0);
	x->client = client_new(&trusting);
	pair_open(&x->outer, x->server, x->client, "server.test", 0);
	assert_int_equal(pair_handshake(&x->outer), TLS_DONE);
	x->origin = SSL_new(x->server);
	assert_int_equal(BIO_new_bio_pair(&near, 0, &x->behind, 0), 1);
	SSL_set_bio(x->origin, near, near);
	SSL_set_accept_state(x->origin);
	assert_int_equal(tls_open(&x->inner, x->client, "a.wild.test", 1, &through, x->outer.tls), 0);
	for (int i = 0; i < 20 && (result == TLS_WANT_READ || !SSL_is_init_finished(x->origin)); i++) {
		result = tls_handshake(x->inner);
		relay(x->outer.server, x->behind);
		SSL_do_handshake(x->origin);
		relay(x->outer.server, x->behind);
		ERR_clear_error();
	}
	assert_int_equal(result, TLS_DONE);
}

static void nested_close(struct nested *x)
{
	char byte;
	tls_bye(x->inner);
	relay(x->outer.server, x->behind);
	assert_int_equal(SSL_read(x->origin, &byte, 1), 0);
	tls_free(x->inner);
	SSL_free(x->origin);
	BIO_free(x->behind);
	pair_close(&x->outer);
	tls_context_free(x->client);
	SSL_CTX_free(x->server);
}

static void test_tls_in_tls(void **state)
{
	struct nested x;
	char text[100];
	size_t n;
	(void)state;
	nested_open(&x);
	assert_int_equal(tls_write(x.inner, "hello", 5, &n), TLS_DONE);
	relay(x.outer.server, x.behind);
	assert_int_equal(SSL_read(x.origin, text, sizeof text), 5);
	x.outer.reads = 0;
	assert_int_equal(SSL_write(x.origin, "one", 3), 3);
	assert_int_equal(SSL_write(x.origin, "two", 3), 3);
	relay(x.outer.server, x.behind);
	assert_int_equal(tls_read(x.inner, text, sizeof text, &n), TLS_DONE);
	assert_true(n == 6 && !memcmp(text, "onetwo", 6));
	assert_int_equal(x.outer.reads, 1);
	nested_close(&x);
}

/* More than one read takes: no socket reports bytes decrypted by the outer one. */
static void test_large_reads_through_tls(void **state)
{
	static char sent[60000], received[sizeof sent];
	struct nested x;
	char byte;
	size_t at = 0, got = 0, n;
	(void)state;
	nested_open(&x);
	for (size_t i = 0; i < sizeof sent; i++)
		sent[i] = (char)(i * 3 + i / 999);
	while (at < sizeof sent) { /* in records that are not the proxy's */
		while (at < sizeof sent && SSL_write_ex(x.origin, sent + at, 5000, &n) == 1)
			at += n;
		relay(x.outer.server, x.behind);
	}
	while (got < sizeof sent) {
		/* as an event loop does: reads when the socket has bytes */
		enum tls_result result;
		assert_int_equal(recv(x.outer.fds[0], &byte, 1, MSG_DONTWAIT | MSG_PEEK), 1);
		do {
			result = tls_read(x.inner, received + got, 3000, &n);
			got += n;
		} while (result == TLS_DONE && tls_has_more(x.inner));
	}
	assert_memory_equal(received, sent, sizeof sent);
	nested_close(&x);
}

/* ---- files ---- */

static int accept_any(int ok, X509_STORE_CTX *store)
{
	(void)ok, (void)store;
	return 1;
}

static void test_client_certificate(void **state)
{
	static const struct tls_options cases[] = {
		{.cacert = "authority.pem", .cert = "cert.pem", .key = "key.pem"},
		{.cacert = "authority.pem", .cert = "both.pem"},
		{.cacert = "authority.pem"},
	};
	SSL_CTX *server = server_new(&good, 0);
	(void)state;
	SSL_CTX_set_verify(server, SSL_VERIFY_PEER, accept_any);
	for (size_t i = 0; i < 3; i++) {
		struct tls_context *client = client_new(&cases[i]);
		struct pair p;
		pair_open(&p, server, client, "server.test", 0);
		assert_int_equal(pair_handshake(&p), TLS_DONE);
		X509 *shown = SSL_get1_peer_certificate(p.server);
		assert_int_equal(shown != NULL, i < 2);
		X509_free(shown);
		pair_close(&p);
		tls_context_free(client);
	}
	SSL_CTX_free(server);
}

static void test_unusable_files(void **state)
{
	static const struct {
		struct tls_options o;
		const char *file, *says;
		enum ipf_error_kind kind;
	} cases[] = {
		{{.cacert = "missing.pem"}, "missing.pem", "cannot open", IPF_SYSTEM},
		{{.cacert = "key.pem"}, "key.pem", "--cacert", IPF_USAGE},
		{{.cert = "missing.pem"}, "missing.pem", "cannot open", IPF_SYSTEM},
		{{.cert = "cert.pem"}, "cert.pem", "--key", IPF_USAGE},
		{{.cert = "cert.pem", .key = "missing.pem"}, "missing.pem", "cannot open", IPF_SYSTEM},
		{{.cert = "own.pem", .key = "key.pem"}, "key.pem", "--key", IPF_USAGE},
		{{.cert = "cert.pem", .key = "secret.pem"}, "secret.pem", "--key", IPF_USAGE}, /* no question on the terminal */
	};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct tls_context *client;
		struct ipf_error err = {0};
		assert_int_equal(tls_context_open(&client, &cases[i].o, &err), -1);
		assert_null(client);
		assert_int_equal(err.kind, cases[i].kind);
		assert_string_equal(err.file, cases[i].file);
		assert_memory_equal(err.text, cases[i].says, strlen(cases[i].says));
		assert_int_equal(ERR_peek_error(), 0);
	}
	tls_context_free(NULL);
	tls_free(NULL);
}

/* ---- figures ---- */

enum { CONNECTIONS = 50, EVENTS = 5000 };

/* Opens them all; returns microseconds of ours and of the server's for each. */
static double open_all(struct pair *p, SSL_CTX *server, struct tls_context *client, bool resumed)
{
	double begin = seconds();
	for (int i = 0; i < CONNECTIONS; i++) {
		pair_open(&p[i], server, client, "server.test", 0);
		assert_int_equal(pair_handshake(&p[i]), TLS_DONE);
		server_says(&p[i], "x");
		client_reads(&p[i], "x");
		assert_int_equal(tls_is_resumed(p[i].tls), resumed);
	}
	return (seconds() - begin) / CONNECTIONS * 1e6;
}

/* Prints times and memory; whoever changes the module compares. */
static void test_figures(void **state)
{
	static struct pair p[CONNECTIONS], first;
	SSL_CTX *server = server_new(&good, 0);
	char event[200] = {0};
	size_t got;
	(void)state;
	for (int resumed = 0; resumed < 2; resumed++) {
		struct tls_options o = trusting;
		o.no_resumption = !resumed;
		struct tls_context *client = client_new(&o);
		pair_open(&first, server, client, "server.test", 0);
		assert_int_equal(pair_handshake(&first), TLS_DONE);
		server_says(&first, "x");
		client_reads(&first, "x");
		double both_us = open_all(p, server, client, resumed), own_us = 0;
		double begin = seconds();
		for (int i = 0; i < EVENTS; i++) {
			SSL_write(p[0].server, event, sizeof event);
			assert_int_equal(tls_read(p[0].tls, event, sizeof event, &got), TLS_DONE);
		}
		double event_ns = (seconds() - begin) / EVENTS * 1e9;
		size_t before = mallinfo2().uordblks;
		for (int i = 0; i < CONNECTIONS; i++) {
			own_us += p[i].own_s / CONNECTIONS * 1e6;
			tls_free(p[i].tls);
			p[i].tls = NULL;
		}
		print_message(
			"# %s: a handshake %.0f us, %.0f with the server; %zu bytes a connection; an event %.0f ns with the "
			"server\n",
			resumed ? "resumed" : "full", own_us, both_us, (before - mallinfo2().uordblks) / CONNECTIONS, event_ns);
		for (int i = 0; i < CONNECTIONS; i++)
			pair_close(&p[i]);
		pair_close(&first);
		tls_context_free(client);
	}
	SSL_CTX_free(server);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_both_ways),
		cmocka_unit_test(test_protocols),
		cmocka_unit_test(test_resumption),
		cmocka_unit_test(test_verification),
		cmocka_unit_test(test_ends),
		cmocka_unit_test(test_damaged_records),
		cmocka_unit_test(test_broken_sockets),
		cmocka_unit_test(test_other_servers),
		cmocka_unit_test(test_large_writes),
		cmocka_unit_test(test_large_reads),
		cmocka_unit_test(test_tls_in_tls),
		cmocka_unit_test(test_large_reads_through_tls),
		cmocka_unit_test(test_client_certificate),
		cmocka_unit_test(test_unusable_files),
		cmocka_unit_test(test_figures),
	};
	return cmocka_run_group_tests(tests, make_certificates, free_certificates);
}
