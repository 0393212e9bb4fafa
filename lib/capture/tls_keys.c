#include "capture/tls_keys.h"

#include "array.h"
#include "hash_index.h"
#include "text_hash.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/crypto.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LINE_MOST  ((size_t)512)      /* bytes; the longest line of use has less than half of it */
#define READ_MOST  ((size_t)64 << 10) /* bytes of a read */
#define BLOCK      ((size_t)256)      /* secrets: they stay in their place, so no copy of them remains elsewhere */
#define MASTER_LEN ((size_t)48)       /* RFC 5246 section 8.1 */
#define SHORT_LEN  ((size_t)32)       /* for suites with SHA-256 */

struct secret {
	uint8_t random[TLS_RANDOM_SIZE];
	uint8_t label, len;
	uint8_t bytes[TLS_SECRET_MOST];
};

struct place {
	uint64_t key;
	uint32_t at;
};

struct tls_keys {
	int fd;
	char *path;
	struct secret **blocks;
	size_t blocks_cap;
	struct place *index;
	size_t room;
	struct tls_keys_count count;
	struct ipf_error err; /* from reading appended lines */
	char line[LINE_MOST]; /* the last one, not yet ended */
	size_t line_len;
	bool line_too_long;
};

static const char *const names[TLS_LABELS] = {
	[TLS_MASTER] = "CLIENT_RANDOM",
	[TLS_CLIENT_EARLY] = "CLIENT_EARLY_TRAFFIC_SECRET",
	[TLS_CLIENT_HANDSHAKE] = "CLIENT_HANDSHAKE_TRAFFIC_SECRET",
	[TLS_SERVER_HANDSHAKE] = "SERVER_HANDSHAKE_TRAFFIC_SECRET",
	[TLS_CLIENT_TRAFFIC] = "CLIENT_TRAFFIC_SECRET_0",
	[TLS_SERVER_TRAFFIC] = "SERVER_TRAFFIC_SECRET_0",
};

const char *tls_label_name(enum tls_label label)
{
	return names[label];
}

/* ---- secrets ---- */

static uint64_t key_of(enum tls_label label, const uint8_t *random)
{
	char text[1 + TLS_RANDOM_SIZE] = {(char)('0' + label)};
	memcpy(text + 1, random, TLS_RANDOM_SIZE);
	return hash_index_key(text_hash_mixed((struct slice){text, sizeof text}));
}

static struct secret *secret_at(const struct tls_keys *k, size_t at)
{
	return &k->blocks[at / BLOCK][at % BLOCK];
}

/* The entry of this label and random, or the free one. There is a table. */
static struct place *place_of(const struct tls_keys *k, enum tls_label label, const uint8_t *random)
{
	struct place *p = hash_index_find(k->index, k->room, key_of(label, random));
	while (p->key) {
		const struct secret *s = secret_at(k, p->at);
		if (s->label == label && memcmp(s->random, random, TLS_RANDOM_SIZE) == 0)
			break;
		p = hash_index_next(k->index, k->room, p);
	}
	return p;
}

static bool make_room(struct tls_keys *k)
{
	const size_t count = (size_t)k->count.secrets, block = count / BLOCK;
	if (!hash_index_room(k->index, k->room, count + 1))
		return false;
	if (count % BLOCK)
		return true;
	return array_room(k->blocks, k->blocks_cap, block + 1) && (k->blocks[block] = calloc(BLOCK, sizeof **k->blocks));
}

/* False: out of memory. */
static bool keep(struct tls_keys *k, const struct secret *s)
{
	struct place *p = k->room ? place_of(k, s->label, s->random) : NULL;
	if (p && p->key) {
		*secret_at(k, p->at) = *s;
		return true;
	}
	if (k->count.secrets == TLS_KEYS_MOST) {
		k->count.left_out++;
		return true;
	}
	if (!make_room(k))
		return false;
	p = place_of(k, s->label, s->random);
	*p = (struct place){key_of(s->label, s->random), (uint32_t)k->count.secrets};
	*secret_at(k, (size_t)k->count.secrets++) = *s;
	return true;
}

/* ---- lines ---- */

static int digit_of(char c)
{
	const char lower = (char)(c | 0x20);
	return c >= '0' && c <= '9' ? c - '0' : lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

static bool read_hex(struct slice text, uint8_t *to)
{
	for (size_t i = 0; i < text.len; i += 2) {
		const int high = digit_of(text.data[i]), low = i + 1 < text.len ? digit_of(text.data[i + 1]) : -1;
		if (high < 0 || low < 0)
			return false;
		to[i / 2] = (uint8_t)(high << 4 | low);
	}
	return true;
}

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static struct slice next_word(struct slice *rest)
{
	size_t from = 0, to;
	while (from < rest->len && is_space(rest->data[from]))
		from++;
	for (to = from; to < rest->len && !is_space(rest->data[to]);)
		to++;
	const struct slice word = {rest->data + from, to - from};
	*rest = (struct slice){rest->data + to, rest->len - to};
	return word;
}

enum line_kind { EMPTY, SECRET, OTHER, MALFORMED };

static enum line_kind read_line(struct slice line, struct secret *s)
{
	const struct slice label = next_word(&line), random = next_word(&line), secret = next_word(&line);
	if (!label.len || label.data[0] == '#')
		return EMPTY;
	if (!secret.len || next_word(&line).len)
		return MALFORMED;
	enum tls_label l = 0;
	while (l < TLS_LABELS && !slice_is(label, names[l]))
		l++;
	if (l == TLS_LABELS)
		return OTHER;
	const bool length_fits = secret.len == 2 * MASTER_LEN || (secret.len == 2 * SHORT_LEN && l != TLS_MASTER);
	*s = (struct secret){.label = (uint8_t)l, .len = (uint8_t)(secret.len / 2)};
	if (random.len != sizeof s->random * 2 || !length_fits)
		return MALFORMED;
	return read_hex(random, s->random) && read_hex(secret, s->bytes) ? SECRET : MALFORMED;
}

/* `ended`: by a newline. A line without one is used if it is complete, and counted later. False: out of memory. */
static bool take_line(struct tls_keys *k, struct slice line, bool ended)
{
	struct secret s = {0};
	const enum line_kind kind = k->line_too_long ? MALFORMED : read_line(line, &s);
	const bool good = kind != SECRET || keep(k, &s);
	OPENSSL_cleanse(&s, sizeof s);
	k->count.others += ended && kind == OTHER;
	k->count.malformed += ended && kind == MALFORMED;
	return good;
}

static bool take_bytes(struct tls_keys *k, const char *bytes, size_t len)
{
	for (const char *end = bytes + len; bytes < end;) {
		const char *newline = memchr(bytes, '\n', (size_t)(end - bytes)), *stop = newline ? newline : end;
		const size_t more = (size_t)(stop - bytes);
		if (more > LINE_MOST - k->line_len)
			k->line_too_long = true;
		if (!k->line_too_long)
			memcpy(k->line + k->line_len, bytes, more);
		k->line_len += k->line_too_long ? 0 : more;
		bytes = stop + (newline != NULL);
		if (!newline)
			break;
		if (!take_line(k, (struct slice){k->line, k->line_len}, true))
			return false;
		k->line_len = 0;
		k->line_too_long = false;
	}
	return true;
}

/* Reads to the present end of the file. */
static int read_on(struct tls_keys *k, struct ipf_error *err)
{
	char *chunk = malloc(READ_MOST);
	ssize_t got = 0;
	bool good = chunk != NULL;
	while (good) {
		got = read(k->fd, chunk, READ_MOST);
		if (got == 0 || (got < 0 && errno != EINTR))
			break;
		good = got < 0 || take_bytes(k, chunk, (size_t)got);
	}
	const int why = got < 0 ? errno : 0;
	if (good && !why && k->line_len)
		good = take_line(k, (struct slice){k->line, k->line_len}, false);
	if (chunk)
		OPENSSL_cleanse(chunk, READ_MOST);
	free(chunk);
	if (why)
		return ipf_error_errno(err, why, k->path, "cannot read");
	return good ? 0 : ipf_error_memory(err);
}

/* ---- the log ---- */

int tls_keys_open(struct tls_keys **keys, const char *path, struct ipf_error *err)
{
	struct tls_keys *k = calloc(1, sizeof *k);
	*keys = NULL;
	if (!k)
		return ipf_error_memory(err);
	k->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (k->fd < 0)
		ipf_error_errno(err, errno, path, "cannot open");
	else if (!(k->path = strdup(path)))
		ipf_error_memory(err);
	else if (read_on(k, err) == 0)
		*keys = k;
	if (!*keys)
		tls_keys_close(k, err);
	return *keys ? 0 : -1;
}

bool tls_keys_find(struct tls_keys *keys, enum tls_label label, const uint8_t random[TLS_RANDOM_SIZE], uint8_t *secret,
                   size_t len)
{
	for (int tries = 0; tries < 2; tries++) {
		const struct place *p = keys->room ? place_of(keys, label, random) : NULL;
		const struct secret *s = p && p->key ? secret_at(keys, p->at) : NULL;
		if (s && s->len == len) {
			memcpy(secret, s->bytes, len);
			return true;
		}
		if (tries || read_on(keys, &keys->err) < 0)
			break;
	}
	return false;
}

struct tls_keys_count tls_keys_count(const struct tls_keys *keys)
{
	return keys->count;
}

int tls_keys_close(struct tls_keys *keys, struct ipf_error *err)
{
	if (!keys)
		return 0;
	const struct ipf_error failed = keys->err;
	for (size_t i = 0; i * BLOCK < (size_t)keys->count.secrets; i++) {
		OPENSSL_cleanse(keys->blocks[i], BLOCK * sizeof **keys->blocks);
		free(keys->blocks[i]);
	}
	if (keys->fd >= 0)
		close(keys->fd);
	free(keys->blocks);
	free(keys->index);
	free(keys->path);
	OPENSSL_cleanse(keys, sizeof *keys);
	free(keys);
	if (failed.kind != IPF_OK && err->kind == IPF_OK)
		*err = failed;
	return failed.kind == IPF_OK ? 0 : -1;
}
