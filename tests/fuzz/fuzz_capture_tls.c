/* A captured TLS connection: a key log up to the first NUL, then steps. They send bytes, records and hellos, and
 * records encrypted here by another derivation of keys, to reach the readers of contents. Without a key log, one with
 * the secrets of these hellos is used. Pieces of bytes make no difference to the content, which is never longer than
 * the bytes. Times are in order, and a failure has a reason. */
#include "fuzz_input.h"

#include "capture/tls_stream.h"
#include "safe_text.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#define STEPS_MOST  500
#define SECRET      32
#define KEY         16
#define NONCE       12
#define EPOCHS_MOST 4

enum epoch { EARLY, HANDSHAKE, TRAFFIC, UPDATED };

/* The secret of each epoch and direction consists of one letter. */
static const char letters[2][EPOCHS_MOST] = {{'e', 'c', 'C', 0}, {'e', 's', 'S', 0}};

static const char default_random = 'r', master_letter = 'm', server_random = 'q';

/* ---- keys of records made here ---- */

struct sealer {
	uint8_t key[KEY], iv[NONCE];
	uint64_t sequence;
	bool known;
};

static void hmac(const uint8_t *key, size_t key_len, struct slice text, uint8_t to[SECRET])
{
	unsigned len = SECRET;
	must(HMAC(EVP_sha256(), key, (int)key_len, (const uint8_t *)text.data, text.len, to, &len) && len == SECRET);
}

static void expand_label(const uint8_t secret[SECRET], const char *label, uint8_t *to, size_t len)
{
	uint8_t block[SECRET];
	struct buffer info = {0};
	buffer_byte(&info, 0);
	buffer_byte(&info, (char)len);
	buffer_byte(&info, (char)(6 + strlen(label)));
	buffer_format(&info, "tls13 %s", label);
	buffer_append(&info, "\0\1", 2);
	hmac(secret, SECRET, buffer_all(&info), block);
	memcpy(to, block, len);
	buffer_release(&info);
}

static void seal_by_secret(struct sealer *s, bool from_server, enum epoch epoch)
{
	uint8_t secret[SECRET], next[SECRET];
	memset(secret, letters[from_server][epoch == UPDATED ? TRAFFIC : epoch], SECRET);
	if (epoch == UPDATED) {
		expand_label(secret, "traffic upd", next, SECRET);
		memcpy(secret, next, SECRET);
	}
	expand_label(secret, "key", s->key, KEY);
	expand_label(secret, "iv", s->iv, NONCE);
}

/* P_hash of RFC 5246 section 5, two blocks of it: keys and nonces are the first 40 bytes. */
static void seal_by_master(struct sealer *s, bool from_server)
{
	uint8_t master[48], a[SECRET], block[2 * SECRET];
	char seed[SECRET + 13 + 64];
	memset(master, master_letter, sizeof master);
	memcpy(seed + SECRET, "key expansion", 13);
	memset(seed + SECRET + 13, server_random, 32);
	memset(seed + SECRET + 45, default_random, 32);
	hmac(master, sizeof master, (struct slice){seed + SECRET, sizeof seed - SECRET}, a);
	for (int i = 0; i < 2; i++) {
		memcpy(seed, a, SECRET);
		hmac(master, sizeof master, (struct slice){seed, sizeof seed}, block + i * SECRET);
		hmac(master, sizeof master, (struct slice){(char *)a, SECRET}, a);
	}
	memcpy(s->key, block + from_server * KEY, KEY);
	memcpy(s->iv, block + 2 * KEY + from_server * 4, 4);
}

static struct buffer seal(struct sealer *s, bool tls13, uint8_t type, struct slice content)
{
	struct buffer record = {0};
	uint8_t nonce[NONCE], aad[13], number[8];
	const size_t before = tls13 ? 0 : 8, len = before + content.len + 16;
	const uint8_t header[] = {type, 3, 3, (uint8_t)(len >> 8), (uint8_t)len};
	int n;
	for (int i = 0; i < 8; i++)
		number[i] = (uint8_t)(s->sequence >> (56 - 8 * i));
	s->sequence++;
	memcpy(nonce, s->iv, NONCE);
	for (int i = 0; i < 8; i++)
		nonce[4 + i] = tls13 ? (uint8_t)(s->iv[4 + i] ^ number[i]) : number[i];
	memcpy(aad, tls13 ? header : number, tls13 ? 5 : 8);
	if (!tls13)
		memcpy(aad + 8, (uint8_t[]){type, 3, 3, (uint8_t)(content.len >> 8), (uint8_t)content.len}, 5);
	buffer_append(&record, header, sizeof header);
	buffer_append(&record, number, before);
	uint8_t *to = (uint8_t *)buffer_reserve(&record, content.len + 16);
	EVP_CIPHER_CTX *c = EVP_CIPHER_CTX_new();
	must(to && c && EVP_EncryptInit_ex(c, EVP_aes_128_gcm(), NULL, s->key, nonce) == 1);
	must(EVP_EncryptUpdate(c, NULL, &n, aad, tls13 ? 5 : 13) == 1);
	must(EVP_EncryptUpdate(c, to, &n, (const uint8_t *)content.data, (int)content.len) == 1);
	must(EVP_EncryptFinal_ex(c, to + content.len, &n) == 1);
	must(EVP_CIPHER_CTX_ctrl(c, EVP_CTRL_AEAD_GET_TAG, 16, to + content.len) == 1);
	EVP_CIPHER_CTX_free(c);
	record.len += content.len + 16;
	return record;
}

/* ---- a run ---- */

struct run {
	struct tls_stream *stream;
	size_t piece, given;
	bool tls13;
	struct sealer sealers[2][EPOCHS_MOST + 1]; /* the last is TLS 1.2's */
	struct buffer plain[2];
	int64_t now, last[2];
	bool closed[2];
	enum tls_stream_state state;
};

static int on_plain(void *data, bool from_server, const char *bytes, size_t len, int64_t t_ns)
{
	struct run *r = data;
	must(len > 0 && t_ns >= r->last[from_server] && t_ns <= r->now && !r->closed[from_server]);
	r->last[from_server] = t_ns;
	buffer_append(&r->plain[from_server], bytes, len);
	return len == 13 ? -1 : 0; /* some contents stop the stream */
}

static int on_closed(void *data, bool from_server, int alert, int64_t t_ns)
{
	struct run *r = data;
	must(!r->closed[from_server] && alert >= 0 && alert <= 255 && t_ns >= r->last[from_server] && t_ns <= r->now);
	r->closed[from_server] = true;
	return 0;
}

/* In pieces, each in memory of its own. */
static void give(struct run *r, bool from_server, struct slice bytes)
{
	r->given += bytes.len;
	r->now++;
	for (size_t n; bytes.len; bytes.data += n, bytes.len -= n) {
		n = bytes.len < r->piece ? bytes.len : r->piece;
		char *copy = malloc(n);
		must(copy != NULL);
		memcpy(copy, bytes.data, n);
		const enum tls_stream_state before = r->state;
		r->state = tls_stream_bytes(r->stream, from_server, copy, n, r->now);
		must(before == TLS_STREAM_MORE || r->state == before);
		free(copy);
	}
}

static void give_message(struct run *r, bool from_server, uint8_t type, const struct buffer *body)
{
	struct buffer record = {0};
	const size_t len = body->len;
	const uint8_t head[] = {
		22, 3, 3, (uint8_t)((len + 4) >> 8), (uint8_t)(len + 4), type, 0, (uint8_t)(len >> 8), (uint8_t)len};
	buffer_append(&record, head, sizeof head);
	buffer_slice(&record, buffer_all(body));
	give(r, from_server, buffer_all(&record));
	buffer_release(&record);
}

static void append_times(struct buffer *b, char byte, int count)
{
	for (int i = 0; i < count; i++)
		buffer_byte(b, byte);
}

enum hello_flags { OFFERS_EARLY = 1, NAMES_SERVER = 2, OTHER_RANDOM = 4, ASKS_AGAIN = 1 };

static void give_client_hello(struct run *r, uint8_t flags)
{
	struct buffer body = {0}, extensions = {0};
	buffer_append(&body, "\3\3", 2);
	append_times(&body, flags & OTHER_RANDOM ? 'x' : default_random, 32);
	buffer_append(&body, "\0\0\2\x13\1\1", 6);
	buffer_byte(&body, 0);
	if (flags & NAMES_SERVER)
		buffer_append(&extensions, "\0\0\0\x0b\0\x09\0\0\6s.test", 15);
	if (flags & OFFERS_EARLY)
		buffer_append(&extensions, "\0\x2a\0\0", 4);
	buffer_byte(&body, 0);
	buffer_byte(&body, (char)extensions.len);
	buffer_slice(&body, buffer_all(&extensions));
	give_message(r, false, 1, &body);
	buffer_release(&body);
	buffer_release(&extensions);
}

static void give_server_hello(struct run *r, uint8_t flags, const uint8_t version[2], const uint8_t suite[2])
{
	static const uint8_t retry[] = {0xcf, 0x21, 0xad, 0x74, 0xe5, 0x9a, 0x61, 0x11, 0xbe, 0x1d, 0x8c,
	                                0x02, 0x1e, 0x65, 0xb8, 0x91, 0xc2, 0xa2, 0x11, 0x16, 0x7a, 0xbb,
	                                0x8c, 0x5e, 0x07, 0x9e, 0x09, 0xe2, 0xc8, 0xa8, 0x33, 0x9c};
	struct buffer body = {0};
	r->tls13 = version[0] == 3 && version[1] == 4;
	buffer_append(&body, "\3\3", 2);
	if (flags & ASKS_AGAIN)
		buffer_append(&body, retry, sizeof retry);
	else
		append_times(&body, server_random, 32);
	buffer_byte(&body, 0);
	buffer_append(&body, suite, 2);
	buffer_append(&body, "\0\0\6\0\x2b\0\2", 7);
	buffer_append(&body, version, 2);
	give_message(r, true, 2, &body);
	buffer_release(&body);
}

static void give_sealed(struct run *r, bool from_server, uint8_t epoch, struct slice content)
{
	const int which = r->tls13 ? epoch % EPOCHS_MOST : EPOCHS_MOST;
	struct sealer *s = &r->sealers[from_server][which];
	if (!s->known && r->tls13)
		seal_by_secret(s, from_server, (enum epoch)which);
	else if (!s->known)
		seal_by_master(s, from_server);
	s->known = true;
	struct buffer record = seal(s, r->tls13, r->tls13 ? 23 : (uint8_t)(20 + epoch % 4), content);
	give(r, from_server, buffer_all(&record));
	buffer_release(&record);
}

/* Takes the bytes behind a length of two bytes; *used is where they end. */
static struct slice take_bytes(const uint8_t *from, size_t left, size_t *used)
{
	const size_t wanted = left >= 2 ? (size_t)from[0] << 8 | from[1] : 0, most = left >= 2 ? left - 2 : 0;
	const size_t len = wanted < most ? wanted : most;
	*used += left < 2 ? left : 2 + len;
	return (struct slice){left < 2 ? "" : (const char *)from + 2, len};
}

/* Takes a step; returns how many bytes it used. */
static size_t take_step(struct run *r, const uint8_t *step, size_t left)
{
	const bool from_server = step[0] & 1;
	const uint8_t argument = left > 1 ? step[1] : 0;
	size_t used = left > 1 ? 2 : 1;
	switch (step[0] / 2 % 5) {
	case 0: /* these bytes */
		used = 1;
		give(r, from_server, take_bytes(step + 1, left - 1, &used));
		break;
	case 1: { /* a record */
		const struct slice content = take_bytes(step + used, left - used, &used);
		struct buffer record = {0};
		const uint8_t header[] = {(uint8_t)(20 + argument % 4), 3, 3, (uint8_t)(content.len >> 8),
		                          (uint8_t)content.len};
		buffer_append(&record, header, sizeof header);
		buffer_slice(&record, content);
		give(r, from_server, buffer_all(&record));
		buffer_release(&record);
		break;
	}
	case 2: {
		struct slice content = take_bytes(step + used, left - used, &used);
		content.len = content.len < 16500 ? content.len : 16500;
		give_sealed(r, from_server, argument, content);
		break;
	}
	case 3:
		give_client_hello(r, argument);
		break;
	default:
		if (left >= 6)
			give_server_hello(r, argument, step + 2, step + 4);
		used = left < 6 ? left : 6;
	}
	return used;
}

static void run_steps(struct run *r, struct tls_keys *keys, struct slice steps)
{
	static const struct tls_sink sink = {on_plain, on_closed};
	char why[TLS_WHY_SIZE];
	r->stream = tls_stream_new(keys, &sink, r);
	must(r->stream != NULL);
	for (size_t at = 0, count = 0; at < steps.len && count < STEPS_MOST; count++)
		at += take_step(r, (const uint8_t *)steps.data + at, steps.len - at);
	r->state = tls_stream_end(r->stream);
	tls_stream_why(r->stream, why, sizeof why);
	must((r->state == TLS_STREAM_MORE) == !tls_stream_fault(r->stream)[0]);
	must(safe_text_is_safe(slice_of(why)) && strlen(why) >= strlen(tls_stream_fault(r->stream)));
	must(r->state != TLS_STREAM_NO_MEMORY && r->plain[0].len + r->plain[1].len <= r->given);
	tls_stream_free(r->stream);
}

static void append_default_log(struct buffer *log)
{
	static const struct {
		const char *label;
		char letter;
		int len;
	} lines[] = {{"CLIENT_RANDOM", 'm', 48},
	             {"CLIENT_EARLY_TRAFFIC_SECRET", 'e', SECRET},
	             {"CLIENT_HANDSHAKE_TRAFFIC_SECRET", 'c', SECRET},
	             {"SERVER_HANDSHAKE_TRAFFIC_SECRET", 's', SECRET},
	             {"CLIENT_TRAFFIC_SECRET_0", 'C', SECRET},
	             {"SERVER_TRAFFIC_SECRET_0", 'S', SECRET}};
	for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
		buffer_format(log, "%s ", lines[i].label);
		for (int b = 0; b < 32; b++)
			buffer_format(log, "%02x", default_random);
		buffer_byte(log, ' ');
		for (int b = 0; b < lines[i].len; b++)
			buffer_format(log, "%02x", lines[i].letter);
		buffer_byte(log, '\n');
	}
}

static bool is_prefix(const struct buffer *a, const struct buffer *of)
{
	return a->len <= of->len && (!a->len || memcmp(a->data, of->data, a->len) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct memory_file file;
	struct slice rest = {(const char *)data, size};
	char *text = take_text(&rest);
	struct buffer log = {0};
	struct run whole = {.piece = SIZE_MAX, .tls13 = true}, bytewise = {.piece = 1, .tls13 = true};
	struct ipf_error err = {0};
	struct tls_keys *keys;
	buffer_text(&log, text);
	if (!log.len)
		append_default_log(&log);
	must(tls_keys_open(&keys, memory_file_set(&file, buffer_all(&log)), &err) == 0);
	for (size_t len = rest.len; len > 1; len--)
		must(!tls_looks_like(rest.data, len) || tls_looks_like(rest.data, len - 1));
	run_steps(&whole, keys, rest);
	run_steps(&bytewise, keys, rest);
	must((whole.state == TLS_STREAM_MORE) == (bytewise.state == TLS_STREAM_MORE));
	for (int i = 0; i < 2; i++) {
		const struct buffer *a = &whole.plain[i], *b = &bytewise.plain[i];
		must(is_prefix(a, b) || is_prefix(b, a));
		must(whole.state != TLS_STREAM_MORE || a->len == b->len);
		buffer_release(&whole.plain[i]);
		buffer_release(&bytewise.plain[i]);
	}
	must(tls_keys_close(keys, &err) == 0);
	buffer_release(&log);
	free(text);
	return 0;
}
