#include "capture/tls_opener.h"

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/kdf.h>
#include <string.h>

#define EXPLICIT_SIZE  8  /* bytes of the nonce in a record of TLS 1.2, RFC 5288 section 3 */
#define IMPLICIT_SIZE  4  /* bytes of the nonce from its key block */
#define KEY_MOST       32 /* bytes */
#define KEY_BLOCK_MOST (2 * (KEY_MOST + TLS_NONCE_SIZE))
#define NUMBER_SIZE    8
#define AAD_MOST       (NUMBER_SIZE + TLS_HEADER_SIZE)

/* ---- derivation ---- */

static const char *hash_of(const struct tls_suite *suite)
{
	return suite->hash_len == 48 ? "SHA384" : "SHA256";
}

static bool derive(const char *name, const OSSL_PARAM *params, uint8_t *to, size_t len)
{
	EVP_KDF *kdf = EVP_KDF_fetch(NULL, name, NULL);
	EVP_KDF_CTX *context = kdf ? EVP_KDF_CTX_new(kdf) : NULL;
	const bool good = context && EVP_KDF_derive(context, to, len, params) == 1;
	EVP_KDF_CTX_free(context);
	EVP_KDF_free(kdf);
	return good;
}

static OSSL_PARAM text_param(const char *key, const char *text)
{
	return OSSL_PARAM_construct_utf8_string(key, (char *)(uintptr_t)text, 0);
}

static OSSL_PARAM bytes_param(const char *key, const void *bytes, size_t len)
{
	return OSSL_PARAM_construct_octet_string(key, (void *)(uintptr_t)bytes, len);
}

/* HKDF-Expand-Label with an empty context, RFC 8446 section 7.1. */
static bool expand_label(const struct tls_suite *suite, const uint8_t *secret, const char *label, uint8_t *to,
                         size_t len)
{
	int mode = EVP_KDF_HKDF_MODE_EXPAND_ONLY;
	const OSSL_PARAM params[] = {
		text_param(OSSL_KDF_PARAM_DIGEST, hash_of(suite)),        OSSL_PARAM_construct_int(OSSL_KDF_PARAM_MODE, &mode),
		bytes_param(OSSL_KDF_PARAM_KEY, secret, suite->hash_len), bytes_param(OSSL_KDF_PARAM_PREFIX, "tls13 ", 6),
		bytes_param(OSSL_KDF_PARAM_LABEL, label, strlen(label)),  OSSL_PARAM_construct_end(),
	};
	return derive("TLS13-KDF", params, to, len);
}

/* The key block, RFC 5246 section 6.3: two keys, then two nonces, the client's first. */
static bool expand_master(const struct tls_suite *suite, const struct tls_master *m, uint8_t *block, size_t len)
{
	static const char label[] = "key expansion";
	uint8_t seed[sizeof label - 1 + 2 * TLS_RANDOM_SIZE];
	memcpy(seed, label, sizeof label - 1);
	memcpy(seed + sizeof label - 1, m->server_random, TLS_RANDOM_SIZE);
	memcpy(seed + sizeof label - 1 + TLS_RANDOM_SIZE, m->client_random, TLS_RANDOM_SIZE);
	const OSSL_PARAM params[] = {
		text_param(OSSL_KDF_PARAM_DIGEST, hash_of(suite)),
		bytes_param(OSSL_KDF_PARAM_SECRET, m->secret, sizeof m->secret),
		bytes_param(OSSL_KDF_PARAM_SEED, seed, sizeof seed),
		OSSL_PARAM_construct_end(),
	};
	return derive("TLS1-PRF", params, block, len);
}

/* ---- keys ---- */

static const EVP_CIPHER *cipher_of(const struct tls_suite *suite)
{
	if (suite->aead == TLS_CHACHA20)
		return EVP_chacha20_poly1305();
	if (suite->aead == TLS_CCM)
		return suite->key_len == 16 ? EVP_aes_128_ccm() : EVP_aes_256_ccm();
	return suite->key_len == 16 ? EVP_aes_128_gcm() : EVP_aes_256_gcm();
}

static bool set_key(struct tls_opener *o, const struct tls_suite *suite, const uint8_t *key)
{
	const bool ccm = suite->aead == TLS_CCM;
	if (!o->context && !(o->context = EVP_CIPHER_CTX_new()))
		return false;
	o->suite = suite;
	o->sequence = 0;
	return EVP_DecryptInit_ex(o->context, cipher_of(suite), NULL, NULL, NULL) == 1 &&
	       EVP_CIPHER_CTX_ctrl(o->context, EVP_CTRL_AEAD_SET_IVLEN, TLS_NONCE_SIZE, NULL) == 1 &&
	       (!ccm || EVP_CIPHER_CTX_ctrl(o->context, EVP_CTRL_AEAD_SET_TAG, suite->tag_len, NULL) == 1) &&
	       EVP_DecryptInit_ex(o->context, NULL, NULL, key, NULL) == 1;
}

bool tls_opener_set_traffic(struct tls_opener *o, const struct tls_suite *suite, const uint8_t *secret)
{
	uint8_t key[KEY_MOST];
	memmove(o->secret, secret, suite->hash_len);
	const bool good = expand_label(suite, o->secret, "key", key, suite->key_len) &&
	                  expand_label(suite, o->secret, "iv", o->iv, sizeof o->iv) && set_key(o, suite, key);
	OPENSSL_cleanse(key, sizeof key);
	return good;
}

bool tls_opener_set_next(struct tls_opener *o)
{
	uint8_t next[TLS_SECRET_MOST];
	const bool good = expand_label(o->suite, o->secret, "traffic upd", next, o->suite->hash_len) &&
	                  tls_opener_set_traffic(o, o->suite, next);
	OPENSSL_cleanse(next, sizeof next);
	return good;
}

bool tls_opener_set_master(struct tls_opener *o, const struct tls_suite *suite, const struct tls_master *master,
                           bool from_server)
{
	uint8_t block[KEY_BLOCK_MOST];
	const size_t side = from_server ? 1 : 0, key_len = suite->key_len;
	const size_t iv_len = suite->aead == TLS_CHACHA20 ? TLS_NONCE_SIZE : IMPLICIT_SIZE;
	bool good = expand_master(suite, master, block, 2 * (key_len + iv_len));
	if (good) {
		memcpy(o->iv, block + 2 * key_len + side * iv_len, iv_len);
		good = set_key(o, suite, block + side * key_len);
	}
	OPENSSL_cleanse(block, sizeof block);
	return good;
}

/* ---- records ---- */

static void write_number(uint8_t *to, uint64_t number)
{
	for (int i = NUMBER_SIZE - 1; i >= 0; i--, number >>= 8)
		to[i] = (uint8_t)number;
}

/* RFC 8446 section 5.3 and RFC 7905 section 2; RFC 5288 section 3 for AES in TLS 1.2. */
static void make_nonce(const struct tls_opener *o, const uint8_t *explicit_part, uint8_t nonce[TLS_NONCE_SIZE])
{
	memcpy(nonce, o->iv, TLS_NONCE_SIZE);
	if (explicit_part) {
		memcpy(nonce + IMPLICIT_SIZE, explicit_part, EXPLICIT_SIZE);
		return;
	}
	uint8_t number[NUMBER_SIZE];
	write_number(number, o->sequence);
	for (int i = 0; i < NUMBER_SIZE; i++)
		nonce[TLS_NONCE_SIZE - NUMBER_SIZE + i] ^= number[i];
}

/* The authenticated header: RFC 8446 section 5.2, RFC 5246 section 6.2.3.3. Returns its length. */
static int make_header(const struct tls_opener *o, const uint8_t *record, size_t plain_len, uint8_t aad[AAD_MOST])
{
	if (o->suite->tls13) {
		memcpy(aad, record, TLS_HEADER_SIZE);
		return TLS_HEADER_SIZE;
	}
	write_number(aad, o->sequence);
	memcpy(aad + NUMBER_SIZE, record, TLS_HEADER_SIZE - 2);
	aad[AAD_MOST - 2] = (uint8_t)(plain_len >> 8);
	aad[AAD_MOST - 1] = (uint8_t)plain_len;
	return AAD_MOST;
}

/* Encrypted bytes with their tag behind them. */
struct sealed {
	uint8_t *bytes, *to;
	int len;
};

static bool open_sealed(EVP_CIPHER_CTX *c, const struct tls_suite *suite, const uint8_t *nonce, const uint8_t *aad,
                        int aad_len, const struct sealed *s)
{
	int len = 0, rest = 0;
	uint8_t *tag = s->bytes + s->len;
	if (suite->aead == TLS_CCM) /* wants tag and length first, and checks the tag when it decrypts */
		return EVP_CIPHER_CTX_ctrl(c, EVP_CTRL_AEAD_SET_TAG, suite->tag_len, tag) == 1 &&
		       EVP_DecryptInit_ex(c, NULL, NULL, NULL, nonce) == 1 &&
		       EVP_DecryptUpdate(c, NULL, &len, NULL, s->len) == 1 &&
		       EVP_DecryptUpdate(c, NULL, &len, aad, aad_len) == 1 &&
		       EVP_DecryptUpdate(c, s->to, &len, s->bytes, s->len) == 1;
	return EVP_DecryptInit_ex(c, NULL, NULL, NULL, nonce) == 1 && EVP_DecryptUpdate(c, NULL, &len, aad, aad_len) == 1 &&
	       EVP_DecryptUpdate(c, s->to, &len, s->bytes, s->len) == 1 &&
	       EVP_CIPHER_CTX_ctrl(c, EVP_CTRL_AEAD_SET_TAG, suite->tag_len, tag) == 1 &&
	       EVP_DecryptFinal_ex(c, s->to + s->len, &rest) == 1;
}

int64_t tls_opener_open(struct tls_opener *o, uint8_t *record, size_t len, uint8_t *room, uint8_t **plain)
{
	const bool has_explicit = !o->suite->tls13 && o->suite->aead != TLS_CHACHA20;
	const size_t before = TLS_HEADER_SIZE + (has_explicit ? EXPLICIT_SIZE : 0), around = before + o->suite->tag_len;
	uint8_t nonce[TLS_NONCE_SIZE], aad[AAD_MOST];
	if (len < around)
		return -1;
	const struct sealed s = {record + before, room ? room : record + before, (int)(len - around)};
	make_nonce(o, has_explicit ? record + TLS_HEADER_SIZE : NULL, nonce);
	const int aad_len = make_header(o, record, len - around, aad);
	*plain = s.to;
	if (!open_sealed(o->context, o->suite, nonce, aad, aad_len, &s)) {
		ERR_clear_error();
		return -1;
	}
	o->sequence++;
	return s.len;
}

void tls_opener_release(struct tls_opener *o)
{
	EVP_CIPHER_CTX_free(o->context);
	OPENSSL_cleanse(o, sizeof *o);
}
