/* How fast captured TLS is decrypted: decrypt SUITE WRITE_BYTES PIECE_BYTES. A client of OpenSSL writes 64 MB to a
 * server in memory, and the capture is given to tls_stream in pieces, as TCP segments are. Prints megabytes a second of
 * content, and those of bare EVP_DecryptUpdate calls on as many bytes: the same cipher and sizes, without nonces and
 * tags. Both are the best of seven rounds by CPU time, in turn. */
#include "capture/tls_stream.h"

#include "buffer.h"

#include <fcntl.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define TOTAL  ((size_t)64 << 20)
#define ROUNDS 7
#define CHUNKS 200

static int key_file;

static void must(bool good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "decrypt: %s failed\n", what);
	exit(1);
}

static double cpu_s(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void on_key(const SSL *ssl, const char *line)
{
	(void)ssl;
	must(dprintf(key_file, "%s\n", line) > 0, "writing the key log");
}

/* ---- the capture ---- */

struct chunk {
	bool from_server;
	struct buffer bytes;
};

struct capture {
	struct chunk chunks[CHUNKS];
	size_t count;
};

static void carry(struct capture *c, SSL *from, SSL *to, bool from_server)
{
	BIO *bio = SSL_get_wbio(from);
	const size_t len = BIO_ctrl_pending(bio);
	if (!len)
		return;
	must(c->count < CHUNKS, "room for the handshake");
	struct chunk *k = &c->chunks[c->count++];
	k->from_server = from_server;
	must(buffer_reserve(&k->bytes, len) && BIO_read(bio, k->bytes.data, (int)len) == (int)len, "reading");
	k->bytes.len = len;
	if (len < 100000) /* the content is not needed at the other end */
		BIO_write(SSL_get_rbio(to), k->bytes.data, (int)len);
}

static SSL *end_new(SSL_CTX *x, const char *suite)
{
	must(SSL_CTX_set_ciphersuites(x, suite) == 1, "choosing the suite");
	SSL_CTX_set_keylog_callback(x, on_key);
	SSL *ssl = SSL_new(x);
	must(ssl != NULL, "OpenSSL");
	SSL_set_bio(ssl, BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
	return ssl;
}

static void make_capture(struct capture *c, const char *suite, size_t write_bytes)
{
	static char content[16384];
	EVP_PKEY *key = EVP_EC_gen("P-256");
	X509 *certificate = X509_new();
	SSL_CTX *server = SSL_CTX_new(TLS_server_method()), *client = SSL_CTX_new(TLS_client_method());
	X509_gmtime_adj(X509_getm_notBefore(certificate), -3600);
	X509_gmtime_adj(X509_getm_notAfter(certificate), 3600);
	X509_set_pubkey(certificate, key);
	must(X509_sign(certificate, key, EVP_sha256()) > 0, "signing");
	must(SSL_CTX_use_certificate(server, certificate) == 1 && SSL_CTX_use_PrivateKey(server, key) == 1,
	     "a certificate");
	SSL *s = end_new(server, suite), *k = end_new(client, suite);
	SSL_set_accept_state(s);
	SSL_set_connect_state(k);
	for (int i = 0; i < 5; i++) {
		SSL_do_handshake(k);
		carry(c, k, s, false);
		SSL_do_handshake(s);
		carry(c, s, k, true);
	}
	must(SSL_is_init_finished(k) && SSL_is_init_finished(s), "the handshake");
	for (size_t sent = 0; sent < TOTAL; sent += write_bytes)
		must(SSL_write(k, content, (int)write_bytes) == (int)write_bytes, "writing");
	carry(c, k, s, false);
	SSL_free(s);
	SSL_free(k);
	SSL_CTX_free(server);
	SSL_CTX_free(client);
	X509_free(certificate);
	EVP_PKEY_free(key);
}

/* ---- the two measured ---- */

static int count_plain(void *data, bool from_server, const char *bytes, size_t len, int64_t t_ns)
{
	(void)from_server;
	(void)bytes;
	(void)t_ns;
	*(size_t *)data += len;
	return 0;
}

static double decrypt(const struct capture *c, struct tls_keys *keys, size_t piece)
{
	static const struct tls_sink sink = {count_plain, NULL};
	size_t got = 0;
	struct tls_stream *s = tls_stream_new(keys, &sink, &got);
	const double from = cpu_s();
	for (size_t i = 0; i < c->count; i++) {
		const struct buffer *b = &c->chunks[i].bytes;
		for (size_t at = 0; at < b->len; at += piece)
			tls_stream_bytes(s, c->chunks[i].from_server, b->data + at, b->len - at < piece ? b->len - at : piece, 0);
	}
	const double took = cpu_s() - from;
	must(got >= TOTAL && tls_stream_end(s) == TLS_STREAM_MORE, tls_stream_fault(s));
	tls_stream_free(s);
	return took;
}

static double decrypt_bare(const struct capture *c, const EVP_CIPHER *cipher, size_t write_bytes)
{
	static unsigned char out[16384 + 64], key[32], nonce[12];
	const struct buffer *b = &c->chunks[c->count - 1].bytes;
	EVP_CIPHER_CTX *x = EVP_CIPHER_CTX_new();
	int n;
	must(EVP_DecryptInit_ex(x, cipher, NULL, key, nonce) == 1, "EVP");
	const double from = cpu_s();
	for (size_t at = 0; at + write_bytes <= b->len; at += write_bytes + 22)
		EVP_DecryptUpdate(x, out, &n, (const unsigned char *)b->data + at, (int)write_bytes);
	const double took = cpu_s() - from;
	EVP_CIPHER_CTX_free(x);
	return took;
}

int main(int argc, char **argv)
{
	static struct capture capture;
	struct ipf_error err = {0};
	struct tls_keys *keys;
	char path[40];
	if (argc != 4)
		return 2;
	const size_t write_bytes = strtoul(argv[2], NULL, 10), piece = strtoul(argv[3], NULL, 10);
	const EVP_CIPHER *cipher = strstr(argv[1], "CHACHA")    ? EVP_chacha20_poly1305()
	                           : strstr(argv[1], "AES_256") ? EVP_aes_256_gcm()
	                                                        : EVP_aes_128_gcm();
	key_file = memfd_create("keys", MFD_CLOEXEC);
	snprintf(path, sizeof path, "/proc/self/fd/%d", key_file);
	make_capture(&capture, argv[1], write_bytes);
	must(tls_keys_open(&keys, path, &err) == 0, "opening the key log");
	double best = 1e9, bare = 1e9;
	for (int i = 0; i < ROUNDS; i++) {
		const double a = decrypt(&capture, keys, piece), b = decrypt_bare(&capture, cipher, write_bytes);
		best = a < best ? a : best;
		bare = b < bare ? b : bare;
	}
	printf("%.0f %.0f\n", (double)TOTAL / 1e6 / best, (double)TOTAL / 1e6 / bare);
	tls_keys_close(keys, &err);
	for (size_t i = 0; i < capture.count; i++)
		buffer_release(&capture.chunks[i].bytes);
	return 0;
}
