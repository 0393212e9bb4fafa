/* Captured TLS between a client and a server of OpenSSL, joined in memory. Their bytes are a capture, and must be
 * decrypted to the written bytes, with the times of complete records. */
#include "tls_capture.h"

#include "capture/tls_suite.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

enum { CLIENT, SERVER };

#define WRITES_MOST 600
#define CHUNKS_MOST 4000

/* ---- connections ---- */

static struct identity {
	X509 *certificate;
	EVP_PKEY *key;
} elliptic, rsa;

static struct identity make(EVP_PKEY *key)
{
	struct identity id = {X509_new(), key};
	assert_true(id.certificate && id.key);
	X509_gmtime_adj(X509_getm_notBefore(id.certificate), -3600);
	X509_gmtime_adj(X509_getm_notAfter(id.certificate), 3600);
	X509_set_pubkey(id.certificate, id.key);
	assert_true(X509_sign(id.certificate, id.key, EVP_sha256()) > 0);
	return id;
}

static int make_certificates(void **state)
{
	(void)state;
	elliptic = make(EVP_EC_gen("P-256"));
	rsa = make(EVP_RSA_gen(2048));
	return 0;
}

static int free_certificates(void **state)
{
	(void)state;
	X509_free(elliptic.certificate);
	EVP_PKEY_free(elliptic.key);
	X509_free(rsa.certificate);
	EVP_PKEY_free(rsa.key);
	return 0;
}

struct scenario {
	const char *suite; /* NULL: OpenSSL's choice */
	int version;
	bool resumed, early, early_rejected, retried, padded, updated, bare;
	size_t write_most; /* bytes */
	int writes;
};

/* A direction of a connection. */
struct written {
	struct buffer wire, plain;
	struct {
		size_t plain, wire; /* where they ended after a write */
	} writes[WRITES_MOST];
	size_t count;
};

struct connection {
	SSL_CTX *contexts[2];
	SSL *ends[2];
	struct written sides[2];
	struct {
		bool from_server;
		size_t len;
	} chunks[CHUNKS_MOST]; /* pieces of the wire, in order */
	size_t chunks_count;
	struct buffer keys;
	SSL_SESSION *session;
};

static void on_key(const SSL *ssl, const char *line)
{
	struct connection *c = SSL_get_app_data(ssl);
	buffer_format(&c->keys, "%s\n", line);
}

static int on_session(SSL *ssl, SSL_SESSION *session)
{
	struct connection *c = SSL_get_app_data(ssl);
	SSL_SESSION_free(c->session);
	c->session = session;
	return 1;
}

static unsigned client_psk(SSL *ssl, const char *hint, char *identity, unsigned identity_most, unsigned char *psk,
                           unsigned psk_most)
{
	(void)ssl;
	(void)hint;
	snprintf(identity, identity_most, "us");
	assert_true(psk_most >= 16);
	memset(psk, 7, 16);
	return 16;
}

static unsigned server_psk(SSL *ssl, const char *identity, unsigned char *psk, unsigned psk_most)
{
	(void)ssl;
	(void)identity;
	assert_true(psk_most >= 16);
	memset(psk, 7, 16);
	return 16;
}

static size_t pad(SSL *ssl, int type, size_t len, void *data)
{
	(void)ssl;
	(void)type;
	(void)data;
	return len % 3 ? 300 + len % 100 : 0;
}

static void set_up_context(SSL_CTX *x, const struct scenario *how)
{
	SSL_CTX_set_security_level(x, 0);
	SSL_CTX_set_min_proto_version(x, how->version);
	SSL_CTX_set_max_proto_version(x, how->version);
	SSL_CTX_set_options(x, SSL_OP_NO_ANTI_REPLAY);
	if (how->suite && how->version == TLS1_3_VERSION)
		assert_int_equal(SSL_CTX_set_ciphersuites(x, how->suite), 1);
	else if (how->suite)
		assert_int_equal(SSL_CTX_set_cipher_list(x, how->suite), 1);
	if (how->padded)
		SSL_CTX_set_record_padding_callback(x, pad);
	if (how->bare)
		SSL_CTX_clear_options(x, SSL_OP_ENABLE_MIDDLEBOX_COMPAT);
}

static struct connection *connection_new(const struct scenario *how)
{
	struct connection *c = calloc(1, sizeof *c);
	assert_non_null(c);
	for (int i = 0; i < 2; i++) {
		c->contexts[i] = SSL_CTX_new(i == SERVER ? TLS_server_method() : TLS_client_method());
		set_up_context(c->contexts[i], how);
	}
	SSL_CTX *client = c->contexts[CLIENT], *server = c->contexts[SERVER];
	SSL_CTX_set_keylog_callback(client, on_key);
	SSL_CTX_set_session_cache_mode(client, SSL_SESS_CACHE_CLIENT);
	SSL_CTX_sess_set_new_cb(client, on_session);
	SSL_CTX_use_certificate(server, elliptic.certificate);
	SSL_CTX_use_PrivateKey(server, elliptic.key);
	SSL_CTX_use_certificate(server, rsa.certificate);
	SSL_CTX_use_PrivateKey(server, rsa.key);
	SSL_CTX_set_dh_auto(server, 1);
	SSL_CTX_set_max_early_data(server, 16384);
	SSL_CTX_set_session_id_context(server, (const unsigned char *)"test", 4);
	if (how->suite && strstr(how->suite, "PSK")) {
		SSL_CTX_set_psk_client_callback(client, client_psk);
		SSL_CTX_set_psk_server_callback(server, server_psk);
	}
	if (how->retried && !how->early)
		SSL_CTX_set1_groups_list(server, "P-384");
	return c;
}

static void begin(struct connection *c)
{
	for (int i = 0; i < 2; i++) {
		SSL_free(c->ends[i]);
		c->ends[i] = SSL_new(c->contexts[i]);
		SSL_set_app_data(c->ends[i], c);
		SSL_set_bio(c->ends[i], BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
		buffer_clear(&c->sides[i].wire);
		buffer_clear(&c->sides[i].plain);
		c->sides[i].count = 0;
	}
	c->chunks_count = 0;
	SSL_set_connect_state(c->ends[CLIENT]);
	SSL_set_accept_state(c->ends[SERVER]);
	SSL_set_tlsext_host_name(c->ends[CLIENT], "api.test");
}

static void connection_free(struct connection *c)
{
	for (int i = 0; i < 2; i++) {
		SSL_free(c->ends[i]);
		SSL_CTX_free(c->contexts[i]);
		buffer_release(&c->sides[i].wire);
		buffer_release(&c->sides[i].plain);
	}
	SSL_SESSION_free(c->session);
	buffer_release(&c->keys);
	free(c);
	ERR_clear_error();
}

/* Carries pending bytes of an end to the other. */
static bool carry(struct connection *c, int from)
{
	char bytes[70000];
	const int len = BIO_read(SSL_get_wbio(c->ends[from]), bytes, sizeof bytes);
	if (len <= 0)
		return false;
	assert_int_equal(BIO_write(SSL_get_rbio(c->ends[!from]), bytes, len), len);
	buffer_append(&c->sides[from].wire, bytes, (size_t)len);
	assert_true(c->chunks_count < CHUNKS_MOST);
	c->chunks[c->chunks_count].from_server = from == SERVER;
	c->chunks[c->chunks_count++].len = (size_t)len;
	return true;
}

static void note_write(struct connection *c, int from, const char *bytes, size_t len)
{
	struct written *w = &c->sides[from];
	carry(c, from);
	buffer_append(&w->plain, bytes, len);
	assert_true(w->count < WRITES_MOST);
	w->writes[w->count].plain = w->plain.len;
	w->writes[w->count++].wire = w->wire.len;
}

static void send_bytes(struct connection *c, int from, const char *bytes, size_t len)
{
	carry(c, from);
	assert_int_equal(SSL_write(c->ends[from], bytes, (int)len), len);
	note_write(c, from, bytes, len);
}

/* Reads everything from the other end: reading handles a KeyUpdate or a ticket. */
static void read_all(struct connection *c, int end)
{
	char bytes[16384];
	while (SSL_read(c->ends[end], bytes, sizeof bytes) > 0)
		;
	carry(c, end);
}

static void shake_hands(struct connection *c)
{
	for (int i = 0; i < 20; i++) {
		for (int end = 0; end < 2; end++) {
			SSL_do_handshake(c->ends[end]);
			carry(c, end);
		}
	}
	assert_true(SSL_is_init_finished(c->ends[CLIENT]) && SSL_is_init_finished(c->ends[SERVER]));
}

static void shake_hands_early(struct connection *c, const char *data, bool rejected)
{
	char bytes[100];
	size_t n = 0;
	assert_int_equal(SSL_write_early_data(c->ends[CLIENT], data, strlen(data), &n), 1);
	if (rejected)
		carry(c, CLIENT);
	else
		note_write(c, CLIENT, data, n);
	const int got = SSL_read_early_data(c->ends[SERVER], bytes, sizeof bytes, &n);
	assert_int_equal(got, rejected ? SSL_READ_EARLY_DATA_FINISH : SSL_READ_EARLY_DATA_SUCCESS);
	carry(c, SERVER);
	if (!rejected) {
		SSL_write_early_data(c->ends[SERVER], "early answer", 12, &n);
		note_write(c, SERVER, "early answer", 12);
		for (int i = 0; i < 4; i++) {
			SSL_do_handshake(c->ends[CLIENT]);
			carry(c, CLIENT);
			SSL_read_early_data(c->ends[SERVER], bytes, sizeof bytes, &n);
			carry(c, SERVER);
		}
	}
	shake_hands(c);
	assert_int_equal(SSL_get_early_data_status(c->ends[CLIENT]) == SSL_EARLY_DATA_REJECTED, rejected);
}

static void talk(struct connection *c, const struct scenario *how, uint64_t *random)
{
	static char data[16384];
	const size_t most = how->write_most ? how->write_most : 300;
	for (int i = 0; i < how->writes; i++) {
		const int from = (int)(test_random(random) % 2);
		const size_t len = 1 + test_random(random) % most;
		for (size_t b = 0; b < len; b++)
			data[b] = (char)test_random(random);
		send_bytes(c, from, data, len);
		if (how->updated && i % 5 == 3)
			assert_int_equal(
				SSL_key_update(c->ends[from], i % 2 ? SSL_KEY_UPDATE_REQUESTED : SSL_KEY_UPDATE_NOT_REQUESTED), 1);
		if (i % 3 == 0)
			read_all(c, !from);
	}
	read_all(c, CLIENT);
	read_all(c, SERVER);
}

static void say_goodbye(struct connection *c)
{
	for (int end = 0; end < 2; end++) {
		SSL_shutdown(c->ends[end]);
		carry(c, end);
	}
}

/* A whole connection; with a session of an earlier one where the scenario resumes. */
static struct connection *run(const struct scenario *how, uint64_t *random)
{
	struct connection *c = connection_new(how);
	if (how->resumed || how->early) {
		begin(c);
		shake_hands(c);
		read_all(c, CLIENT);
		say_goodbye(c);
		assert_non_null(c->session);
		SSL_SESSION *session = SSL_SESSION_dup(c->session);
		if (how->early && how->retried)
			SSL_CTX_set1_groups_list(c->contexts[SERVER], "P-384");
		if (how->early_rejected)
			SSL_CTX_set_max_early_data(c->contexts[SERVER], 0);
		begin(c);
		SSL_set_session(c->ends[CLIENT], session);
		SSL_SESSION_free(session);
	} else {
		begin(c);
	}
	if (how->early)
		shake_hands_early(c, "early question", how->early_rejected || how->retried);
	else
		shake_hands(c);
	assert_int_equal(SSL_session_reused(c->ends[CLIENT]), how->resumed || how->early);
	talk(c, how, random);
	say_goodbye(c);
	return c;
}

/* ---- captures ---- */

struct capture {
	struct tls_keys *keys;
	struct listener *heard;
	struct tls_stream *stream;
	enum tls_stream_state state;
	struct {
		size_t end; /* position in the wire */
		int64_t t_ns;
	} * pieces[2];
	size_t counts[2];
	int64_t now;
};

static struct capture capture_new(struct tls_keys *keys)
{
	struct capture p = {.keys = keys, .heard = listener_new()};
	p.stream = tls_stream_new(p.keys, &listener_sink, p.heard);
	assert_non_null(p.stream);
	for (int i = 0; i < 2; i++)
		assert_non_null(p.pieces[i] = calloc(400000, sizeof *p.pieces[i]));
	return p;
}

static void capture_free(struct capture *p)
{
	tls_stream_free(p->stream);
	listener_free(p->heard);
	keys_close(p->keys);
	free(p->pieces[0]);
	free(p->pieces[1]);
}

static void give(struct capture *p, bool from_server, const struct buffer *wire, size_t len)
{
	const size_t n = p->counts[from_server]++, from = n ? p->pieces[from_server][n - 1].end : 0;
	p->now += 10;
	p->pieces[from_server][n].end = from + len;
	p->pieces[from_server][n].t_ns = p->now;
	p->state = tls_stream_bytes(p->stream, from_server, wire->data + from, len, p->now);
}

/* In the order of the wire, in pieces of at most so many bytes. */
static void give_in_order(struct capture *p, const struct connection *c, size_t most, uint64_t *random)
{
	for (size_t i = 0; i < c->chunks_count; i++) {
		for (size_t left = c->chunks[i].len, len; left; left -= len) {
			len = 1 + test_random(random) % most;
			len = len < left ? len : left;
			give(p, c->chunks[i].from_server, &c->sides[c->chunks[i].from_server].wire, len);
		}
	}
	if (p->state == TLS_STREAM_MORE)
		p->state = tls_stream_end(p->stream);
}

/* Each direction in order, one as far ahead of the other as it happens. */
static void give_skewed(struct capture *p, const struct connection *c, size_t most, uint64_t *random)
{
	size_t left[2] = {c->sides[0].wire.len, c->sides[1].wire.len};
	while (left[0] || left[1]) {
		const bool side = left[0] && left[1] ? test_random(random) % 2 : left[1] != 0;
		size_t len = 1 + test_random(random) % most;
		len = len < left[side] ? len : left[side];
		give(p, side, &c->sides[side].wire, len);
		left[side] -= len;
	}
	p->state = tls_stream_end(p->stream);
}

static int64_t time_of(const struct capture *p, int side, size_t wire_end)
{
	size_t low = 0, high = p->counts[side] - 1;
	while (low < high) {
		const size_t middle = (low + high) / 2;
		if (p->pieces[side][middle].end >= wire_end)
			high = middle;
		else
			low = middle + 1;
	}
	return p->pieces[side][low].t_ns;
}

static void is_decrypted(const struct capture *p, const struct connection *c)
{
	char why[TLS_WHY_SIZE];
	tls_stream_why(p->stream, why, sizeof why);
	if (p->state != TLS_STREAM_MORE)
		fail_msg("%s", why);
	for (int side = 0; side < 2; side++) {
		const struct written *w = &c->sides[side];
		const struct heard *h = &p->heard->sides[side];
		assert_int_equal(h->plain.len, w->plain.len);
		if (w->plain.len)
			assert_memory_equal(h->plain.data, w->plain.data, w->plain.len);
		assert_int_equal(h->count, w->count);
		for (size_t i = 0; i < w->count; i++) {
			assert_int_equal(h->calls[i].end, w->writes[i].plain);
			assert_int_equal(h->calls[i].t_ns, time_of(p, side, w->writes[i].wire));
		}
		assert_int_equal(h->alert, 0);
		assert_int_equal(h->closed_ns, time_of(p, side, w->wire.len));
	}
}

static void decrypts(const struct scenario *how, uint64_t *random)
{
	struct connection *c = run(how, random);
	static const size_t mosts[] = {1 << 20, 1500, 40, 1};
	for (size_t i = 0; i < sizeof mosts / sizeof *mosts; i++) {
		struct capture p = capture_new(keys_of(c->keys.data));
		give_in_order(&p, c, mosts[i], random);
		is_decrypted(&p, c);
		capture_free(&p);
		if (c->sides[0].wire.len > 50000 || c->sides[1].wire.len > 50000)
			continue;
		p = capture_new(keys_of(c->keys.data));
		give_skewed(&p, c, mosts[i] < 4000 ? mosts[i] : 4000, random);
		is_decrypted(&p, c);
		capture_free(&p);
	}
	connection_free(c);
}

/* ---- tests ---- */

static const char *const suites13[] = {"TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384",
                                       "TLS_CHACHA20_POLY1305_SHA256", "TLS_AES_128_CCM_SHA256",
                                       "TLS_AES_128_CCM_8_SHA256"};

static void every_suite_of_tls_1_3_is_decrypted(void **state)
{
	(void)state;
	uint64_t random = test_seed("TLS 1.3");
	for (size_t i = 0; i < sizeof suites13 / sizeof *suites13; i++)
		for (int kind = 0; kind < few_or_many(2, 20); kind++)
			decrypts(
				&(struct scenario){.suite = suites13[i], .version = TLS1_3_VERSION, .writes = 30, .bare = kind % 2},
				&random);
}

static bool is_supported(const SSL_CIPHER *cipher)
{
	const char *name = SSL_CIPHER_get_name(cipher);
	return SSL_CIPHER_is_aead(cipher) && strcmp(SSL_CIPHER_get_version(cipher), "TLSv1.2") == 0 &&
	       !strstr(name, "ARIA") && !strstr(name, "CAMELLIA") && !strstr(name, "SRP") && !strstr(name, "DSS") &&
	       !strstr(name, "ECDH-");
}

static void every_aead_suite_of_tls_1_2_is_decrypted(void **state)
{
	(void)state;
	uint64_t random = test_seed("TLS 1.2");
	SSL_CTX *all = SSL_CTX_new(TLS_client_method());
	int tried = 0;
	SSL_CTX_set_security_level(all, 0);
	assert_int_equal(SSL_CTX_set_cipher_list(all, "ALL:aNULL:PSK"), 1);
	STACK_OF(SSL_CIPHER) *ciphers = SSL_CTX_get_ciphers(all);
	for (int i = 0; i < sk_SSL_CIPHER_num(ciphers); i++) {
		const SSL_CIPHER *cipher = sk_SSL_CIPHER_value(ciphers, i);
		if (!is_supported(cipher))
			continue;
		const struct scenario how = {
			.suite = SSL_CIPHER_get_name(cipher), .version = TLS1_2_VERSION, .writes = 20, .resumed = i % 2};
		const struct tls_suite *known = tls_suite_find(SSL_CIPHER_get_protocol_id(cipher));
		assert_true(known && strcmp(known->name, SSL_CIPHER_standard_name(cipher)) == 0);
		decrypts(&how, &random);
		tried++;
	}
	printf("# %d suites of TLS 1.2\n", tried);
	assert_true(tried >= 30);
	SSL_CTX_free(all);
}

static void resumed_connections_are_decrypted(void **state)
{
	(void)state;
	uint64_t random = test_seed("resumption");
	for (int i = 0; i < few_or_many(2, 20); i++) {
		decrypts(&(struct scenario){.version = TLS1_2_VERSION, .resumed = true, .writes = 20}, &random);
		decrypts(&(struct scenario){.version = TLS1_3_VERSION, .resumed = true, .writes = 20}, &random);
	}
}

static void accepted_early_data_is_decrypted(void **state)
{
	(void)state;
	uint64_t random = test_seed("early data");
	for (size_t i = 0; i < 3; i++)
		decrypts(&(struct scenario){.suite = suites13[i], .version = TLS1_3_VERSION, .early = true, .writes = 20},
		         &random);
}

static void rejected_early_data_is_left_out(void **state)
{
	(void)state;
	uint64_t random = test_seed("rejected early data");
	struct scenario how = {.version = TLS1_3_VERSION, .early = true, .early_rejected = true, .writes = 20};
	decrypts(&how, &random);
	how.early_rejected = false;
	how.retried = true;
	decrypts(&how, &random);
}

static void a_hello_retry_request_is_followed(void **state)
{
	(void)state;
	uint64_t random = test_seed("hello retry");
	decrypts(&(struct scenario){.version = TLS1_3_VERSION, .retried = true, .writes = 20}, &random);
	decrypts(&(struct scenario){.version = TLS1_3_VERSION, .retried = true, .resumed = true, .writes = 20}, &random);
}

static void keys_are_updated_in_both_directions(void **state)
{
	(void)state;
	uint64_t random = test_seed("key updates");
	for (size_t i = 0; i < sizeof suites13 / sizeof *suites13; i++)
		decrypts(&(struct scenario){.suite = suites13[i], .version = TLS1_3_VERSION, .updated = true, .writes = 60},
		         &random);
}

static void large_and_padded_records_are_decrypted(void **state)
{
	(void)state;
	uint64_t random = test_seed("records");
	decrypts(&(struct scenario){.version = TLS1_3_VERSION, .padded = true, .writes = 100}, &random);
	decrypts(&(struct scenario){.version = TLS1_3_VERSION, .write_most = 16384, .writes = 30}, &random);
	decrypts(&(struct scenario){.version = TLS1_2_VERSION, .write_most = 16384, .writes = 30}, &random);
}

/* The log without lines of these labels. */
static char *without(const struct buffer *keys, const char *first, const char *second)
{
	struct buffer out = {0};
	for (const char *line = keys->data, *end; *line; line = end + 1) {
		end = strchr(line, '\n');
		if (strncmp(line, first, strlen(first)) != 0 && (!second || strncmp(line, second, strlen(second)) != 0))
			buffer_append(&out, line, (size_t)(end + 1 - line));
	}
	buffer_text(&out, "# end\n");
	return out.data;
}

static void traffic_secrets_alone_decrypt_a_connection(void **state)
{
	(void)state;
	uint64_t random = test_seed("traffic secrets");
	static const char *const labels[][2] = {
		{"CLIENT_HANDSHAKE", "SERVER_HANDSHAKE"}, {"CLIENT_HANDSHAKE", NULL}, {"SERVER_HANDSHAKE", NULL}};
	for (size_t i = 0; i < 3; i++) {
		struct connection *c = run(&(struct scenario){.version = TLS1_3_VERSION, .updated = true, .writes = 30},
		                           &random);
		char *text = without(&c->keys, labels[i][0], labels[i][1]);
		struct capture p = capture_new(keys_of(text));
		give_in_order(&p, c, 500, &random);
		is_decrypted(&p, c);
		capture_free(&p);
		free(text);
		connection_free(c);
	}
}

static void missing_secrets_are_named(void **state)
{
	(void)state;
	uint64_t random = test_seed("missing secrets");
	static const struct {
		int version;
		const char *label, *named;
	} cases[] = {
		{TLS1_2_VERSION, "CLIENT_RANDOM", "(CLIENT_RANDOM): TLS 1.2, TLS_"},
		{TLS1_3_VERSION, "CLIENT_", "(CLIENT_HANDSHAKE_TRAFFIC_SECRET): TLS 1.3, TLS_"},
		{TLS1_3_VERSION, "SERVER_", "(SERVER_HANDSHAKE_TRAFFIC_SECRET): TLS 1.3, TLS_"},
		{TLS1_3_VERSION, "CLIENT_TRAFFIC", "(CLIENT_TRAFFIC_SECRET_0): TLS 1.3, TLS_"},
		{TLS1_3_VERSION, "SERVER_TRAFFIC", "(SERVER_TRAFFIC_SECRET_0): TLS 1.3, TLS_"},
	};
	for (size_t i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
		char why[TLS_WHY_SIZE];
		const bool resumed = i % 2;
		struct connection *c = run(
			&(struct scenario){.version = cases[i / 2].version, .resumed = resumed, .writes = 20}, &random);
		char *text = without(&c->keys, cases[i / 2].label, NULL);
		struct capture p = capture_new(keys_of(text));
		give_in_order(&p, c, 300, &random);
		assert_int_equal(p.state, TLS_STREAM_NO_KEYS);
		assert_string_equal(tls_stream_fault(p.stream), "the key log lacks a secret");
		tls_stream_why(p.stream, why, sizeof why);
		assert_non_null(strstr(why, cases[i / 2].named));
		assert_non_null(strstr(why, ", server api.test, client random "));
		assert_string_equal(tls_stream_server_name(p.stream), "api.test");
		capture_free(&p);
		free(text);
		connection_free(c);
	}
}

/* Secrets reach the log only as far as the client has written them when its next bytes are captured. */
static void a_log_that_grows_is_read_on(void **state)
{
	(void)state;
	uint64_t random = test_seed("growing log");
	static const int versions[] = {TLS1_2_VERSION, TLS1_3_VERSION};
	for (int i = 0; i < 4; i++) {
		struct connection *c = run(&(struct scenario){.version = versions[i % 2], .resumed = i > 1, .writes = 20},
		                           &random);
		struct key_log log;
		key_log_open(&log);
		struct capture p = capture_new(key_log_read(&log));
		bool written = false;
		for (size_t n = 0; n < c->chunks_count; n++) {
			const bool from_server = c->chunks[n].from_server;
			if (!from_server && p.counts[CLIENT] == 1) {
				assert_int_equal(p.heard->sides[SERVER].plain.len, 0);
				key_log_add(&log, c->keys.data);
				written = true;
			}
			give(&p, from_server, &c->sides[from_server].wire, c->chunks[n].len);
			assert_int_equal(p.state, TLS_STREAM_MORE);
		}
		assert_true(written);
		is_decrypted(&p, c);
		capture_free(&p);
		connection_free(c);
		close(log.fd);
	}
}

static void a_log_with_wrong_secrets_is_found_out(void **state)
{
	(void)state;
	uint64_t random = test_seed("wrong secrets");
	static const int versions[] = {TLS1_2_VERSION, TLS1_3_VERSION};
	for (int i = 0; i < 2; i++) {
		struct connection *c = run(&(struct scenario){.version = versions[i], .writes = 20}, &random);
		for (char *line = c->keys.data, *end; *line; line = end + 1) {
			end = strchr(line, '\n');
			end[-1] = end[-1] == '0' ? '1' : '0';
		}
		struct capture p = capture_new(keys_of(c->keys.data));
		give_in_order(&p, c, 1 << 20, &random);
		assert_int_equal(p.state, TLS_STREAM_BROKEN);
		assert_string_equal(tls_stream_fault(p.stream), "a record does not authenticate");
		assert_int_equal(p.heard->sides[CLIENT].plain.len + p.heard->sides[SERVER].plain.len, 0);
		capture_free(&p);
		connection_free(c);
	}
}

static bool is_prefix(const struct buffer *a, const struct buffer *of)
{
	return a->len <= of->len && (!a->len || memcmp(a->data, of->data, a->len) == 0);
}

static void a_changed_bit_never_gives_other_content(void **state)
{
	(void)state;
	uint64_t random = test_seed("changed bits");
	static const int versions[] = {TLS1_2_VERSION, TLS1_3_VERSION};
	int found = 0, rounds = few_or_many(200, 5000);
	for (int i = 0; i < 2; i++) {
		struct connection *c = run(&(struct scenario){.version = versions[i], .writes = 20, .resumed = true}, &random);
		for (int round = 0; round < rounds; round++) {
			struct buffer *wire = &c->sides[test_random(&random) % 2].wire;
			const size_t at = test_random(&random) % wire->len;
			const char bit = (char)(1 << test_random(&random) % 8);
			wire->data[at] = (char)(wire->data[at] ^ bit);
			struct capture p = capture_new(keys_of(c->keys.data));
			give_in_order(&p, c, 1 << 20, &random);
			assert_true(is_prefix(&p.heard->sides[CLIENT].plain, &c->sides[CLIENT].plain));
			assert_true(is_prefix(&p.heard->sides[SERVER].plain, &c->sides[SERVER].plain));
			found += p.state != TLS_STREAM_MORE;
			wire->data[at] = (char)(wire->data[at] ^ bit);
			capture_free(&p);
		}
		connection_free(c);
	}
	printf("# %d of %d changed bits were found\n", found, 2 * rounds);
	assert_true(found > rounds);
}

static void unsupported_connections_are_named(void **state)
{
	(void)state;
	uint64_t random = test_seed("unsupported");
	static const struct {
		const char *suite;
		int version;
		const char *why;
	} cases[] = {
		{"ECDHE-RSA-AES128-SHA", TLS1_2_VERSION,
	     "a cipher suite without AES-GCM, AES-CCM or ChaCha20-Poly1305: TLS 1.2, TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA, "},
		{"ARIA128-GCM-SHA256", TLS1_2_VERSION,
	     "a cipher suite without AES-GCM, AES-CCM or ChaCha20-Poly1305: TLS 1.2, cipher suite 0xc050, "},
		{"AES128-SHA", TLS1_1_VERSION, "a version other than TLS 1.2 and 1.3: TLS 1.1, TLS_RSA_WITH_AES_128_CBC_SHA, "},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char why[TLS_WHY_SIZE];
		struct connection *c = run(
			&(struct scenario){.suite = cases[i].suite, .version = cases[i].version, .writes = 5}, &random);
		struct capture p = capture_new(keys_of(c->keys.data));
		give_in_order(&p, c, 1500, &random);
		assert_int_equal(p.state, TLS_STREAM_UNSUPPORTED);
		tls_stream_why(p.stream, why, sizeof why);
		assert_memory_equal(why, cases[i].why, strlen(cases[i].why));
		capture_free(&p);
		connection_free(c);
	}
}

static void renegotiation_is_unsupported(void **state)
{
	(void)state;
	uint64_t random = test_seed("renegotiation");
	for (int by = 0; by < 2; by++) {
		struct connection *c = connection_new(&(struct scenario){.version = TLS1_2_VERSION});
		SSL_CTX_set_options(c->contexts[SERVER], SSL_OP_ALLOW_CLIENT_RENEGOTIATION);
		begin(c);
		shake_hands(c);
		send_bytes(c, CLIENT, "question", 8);
		send_bytes(c, SERVER, "answer", 6);
		read_all(c, SERVER);
		read_all(c, CLIENT);
		assert_int_equal(SSL_renegotiate(c->ends[by]), 1);
		for (int i = 0; i < 4; i++) {
			SSL_do_handshake(c->ends[by]);
			carry(c, by);
			read_all(c, !by);
			read_all(c, by);
		}
		struct capture p = capture_new(keys_of(c->keys.data));
		give_in_order(&p, c, 1500, &random);
		assert_int_equal(p.state, TLS_STREAM_UNSUPPORTED);
		assert_string_equal(tls_stream_fault(p.stream), "renegotiation");
		assert_string_equal(p.heard->sides[SERVER].plain.data, "answer");
		capture_free(&p);
		connection_free(c);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_suite_of_tls_1_3_is_decrypted),
		cmocka_unit_test(every_aead_suite_of_tls_1_2_is_decrypted),
		cmocka_unit_test(resumed_connections_are_decrypted),
		cmocka_unit_test(accepted_early_data_is_decrypted),
		cmocka_unit_test(rejected_early_data_is_left_out),
		cmocka_unit_test(a_hello_retry_request_is_followed),
		cmocka_unit_test(keys_are_updated_in_both_directions),
		cmocka_unit_test(large_and_padded_records_are_decrypted),
		cmocka_unit_test(traffic_secrets_alone_decrypt_a_connection),
		cmocka_unit_test(missing_secrets_are_named),
		cmocka_unit_test(a_log_that_grows_is_read_on),
		cmocka_unit_test(a_log_with_wrong_secrets_is_found_out),
		cmocka_unit_test(a_changed_bit_never_gives_other_content),
		cmocka_unit_test(unsupported_connections_are_named),
		cmocka_unit_test(renegotiation_is_unsupported),
	};
	return cmocka_run_group_tests(tests, make_certificates, free_certificates);
}
