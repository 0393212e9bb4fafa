#include "tokenizer/token_counter.h"

#include "utf8.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define APPROX_BYTES 4
#define POOL_MAX     64 /* scratches kept for later calls */

struct token_counter {
	struct tokenizer *tokenizer; /* NULL: the approximation */
	struct scratch_pool {
		pthread_mutex_t lock;
		struct tokenizer_scratch *scratches[POOL_MAX];
		int count;
		struct ipf_error failure; /* first failure */
	} * pool;
};

/* A word that is not a path was meant as the name of a tokenizer. */
static bool looks_like_name(const char *name)
{
	return !strchr(name, '/') && access(name, F_OK) != 0 && errno == ENOENT;
}

int token_counter_open(struct token_counter **counter, const char *name, struct ipf_error *err)
{
	struct tokenizer *tokenizer;
	*counter = NULL;
	if (name && strcmp(name, "approx") != 0) {
		if (looks_like_name(name))
			return ipf_error_set(
				err, IPF_USAGE,
				"unknown tokenizer \"%s\": expected approx, or the path of a tokenizer.json or .tiktoken file", name);
		return tokenizer_open(&tokenizer, name, err) < 0 ? -1 : token_counter_of(counter, tokenizer, err);
	}
	struct token_counter *c = calloc(1, sizeof *c);
	if (!c)
		return ipf_error_memory(err);
	*counter = c;
	return 0;
}

int token_counter_of(struct token_counter **counter, struct tokenizer *tokenizer, struct ipf_error *err)
{
	struct token_counter *c = calloc(1, sizeof *c);
	*counter = NULL;
	if (c)
		c->pool = calloc(1, sizeof *c->pool);
	if (!c || !c->pool) {
		free(c);
		tokenizer_close(tokenizer);
		return ipf_error_memory(err);
	}
	c->tokenizer = tokenizer;
	pthread_mutex_init(&c->pool->lock, NULL);
	*counter = c;
	return 0;
}

void token_counter_close(struct token_counter *c)
{
	if (!c)
		return;
	if (c->pool) {
		for (int i = 0; i < c->pool->count; i++)
			tokenizer_scratch_free(c->pool->scratches[i]);
		pthread_mutex_destroy(&c->pool->lock);
		free(c->pool);
	}
	tokenizer_close(c->tokenizer);
	free(c);
}

bool token_counter_is_exact(const struct token_counter *c)
{
	return c->tokenizer;
}

static struct tokenizer_scratch *scratch_take(const struct token_counter *c)
{
	struct tokenizer_scratch *s = NULL;
	pthread_mutex_lock(&c->pool->lock);
	if (c->pool->count)
		s = c->pool->scratches[--c->pool->count];
	pthread_mutex_unlock(&c->pool->lock);
	return s ? s : tokenizer_scratch_new(c->tokenizer);
}

static void scratch_put(const struct token_counter *c, struct tokenizer_scratch *s)
{
	pthread_mutex_lock(&c->pool->lock);
	if (c->pool->count < POOL_MAX) {
		c->pool->scratches[c->pool->count++] = s;
		s = NULL;
	}
	pthread_mutex_unlock(&c->pool->lock);
	tokenizer_scratch_free(s);
}

/* Returns the number of bytes of an ill-formed sequence that become one U+FFFD: Unicode's "maximal subpart", as in
 * servers. */
static size_t bad_bytes(const char *at, size_t left)
{
	const char rest[3] = {(char)0x80, (char)0x80, (char)0x80};
	char whole[4];
	size_t most = left < 3 ? left : 3;
	for (size_t n = most; n > 1; n--)
		for (size_t missing = 1; n + missing <= 4; missing++) {
			memcpy(whole, at, n);
			memcpy(whole + n, rest, missing);
			if (utf8_valid(whole, n + missing, NULL))
				return n;
		}
	return 1;
}

static void replace_bad(const char *text, size_t len, struct buffer *out)
{
	size_t good;
	while (!utf8_valid(text, len, &good)) {
		size_t bad = bad_bytes(text + good, len - good);
		buffer_append(out, text, good);
		buffer_append(out, "\xef\xbf\xbd", 3);
		text += good + bad;
		len -= good + bad;
	}
	buffer_append(out, text, len);
}

static int64_t approximate(size_t len)
{
	return (int64_t)(len / APPROX_BYTES + (len % APPROX_BYTES != 0));
}

/* Processes a text with a scratch. -1 on error. */
typedef int64_t action(const struct token_counter *c, struct tokenizer_scratch *s, struct slice text,
                       struct token_ids *ids, struct ipf_error *err);

static int64_t count_ids(const struct token_counter *c, struct tokenizer_scratch *s, struct slice text,
                         struct token_ids *ids, struct ipf_error *err)
{
	(void)ids;
	return tokenizer_count(c->tokenizer, s, text, 0, err);
}

static int64_t list_ids(const struct token_counter *c, struct tokenizer_scratch *s, struct slice text,
                        struct token_ids *ids, struct ipf_error *err)
{
	return tokenizer_encode(c->tokenizer, s, text, 0, ids, err) < 0 ? -1 : (int64_t)ids->count;
}

/* Calls an action with the text; invalid UTF-8 becomes U+FFFD. */
static int64_t with_scratch(const struct token_counter *c, action *what, struct slice text, struct token_ids *ids,
                            struct ipf_error *err)
{
	struct tokenizer_scratch *s = scratch_take(c);
	struct buffer whole = {0};
	int64_t result = -1;

	if (s && utf8_valid(text.data, text.len, NULL)) {
		result = what(c, s, text, ids, err);
	} else if (s) {
		replace_bad(text.data, text.len, &whole);
		result = whole.failed ? -1 : what(c, s, buffer_all(&whole), ids, err);
	}
	if (s)
		scratch_put(c, s);
	buffer_release(&whole);
	return result < 0 && !err->kind ? ipf_error_memory(err) : result;
}

static void keep_failure(const struct token_counter *c, const struct ipf_error *err)
{
	pthread_mutex_lock(&c->pool->lock);
	if (!c->pool->failure.kind)
		c->pool->failure = *err;
	pthread_mutex_unlock(&c->pool->lock);
}

int64_t token_counter_count(const struct token_counter *c, const char *text, size_t len)
{
	struct ipf_error err = {0};
	if (!c->tokenizer)
		return approximate(len);
	int64_t count = with_scratch(c, count_ids, (struct slice){text, len}, NULL, &err);
	if (count >= 0)
		return count;
	keep_failure(c, &err);
	return approximate(len);
}

int token_counter_check(const struct token_counter *c, struct ipf_error *err)
{
	if (!c->pool)
		return 0;
	pthread_mutex_lock(&c->pool->lock);
	bool failed = c->pool->failure.kind;
	if (failed && !err->kind)
		*err = c->pool->failure;
	pthread_mutex_unlock(&c->pool->lock);
	return failed ? -1 : 0;
}

int64_t token_counter_count_prefixes(const struct token_counter *c, struct slice text, const size_t *ends, size_t count,
                                     int64_t *counts, struct ipf_error *err)
{
	struct token_ids ids = {0};
	size_t *places = NULL;
	int64_t total;

	if (!c->tokenizer) {
		for (size_t i = 0; i < count; i++)
			counts[i] = approximate(ends[i]);
		return approximate(text.len);
	}
	total = with_scratch(c, list_ids, text, &ids, err);
	if (total > 0 && !(places = reallocarray(NULL, ids.count, sizeof *places)))
		total = ipf_error_memory(err);
	if (total > 0 && tokenizer_token_ends(c->tokenizer, &ids, text, places, err) < 0)
		total = -1;
	for (size_t i = 0, k = 0; total >= 0 && i < count; i++) {
		while (k < ids.count && places[k] <= ends[i])
			k++;
		counts[i] = (int64_t)k;
	}
	free(places);
	token_ids_release(&ids);
	return total;
}

static bool continues(char c)
{
	return ((unsigned char)c & 0xc0) == 0x80;
}

/* Returns the start of the character at `at`; `at` itself if there is no character. */
static size_t character_start(const char *text, size_t len, size_t at)
{
	if (at >= len)
		return len;
	for (size_t back = 0; back < 4 && back < at; back++)
		if (!continues(text[at - back]))
			return at - back;
	return at;
}

static size_t character_end(const char *text, size_t at, size_t len)
{
	size_t end = at + 1;
	while (end < len && end < at + 4 && continues(text[end]))
		end++;
	return end < len ? end : len;
}

#define STEPS 32 /* a cut is moved by at most this many characters */

/* Adjusts `at`, where the first `count` tokens end by their texts: counted alone, a beginning of the text may have
 * other tokens than the whole text has there. */
static size_t adjust_cut(const struct token_counter *c, const char *text, size_t len, size_t at, int64_t count)
{
	int64_t have = token_counter_count(c, text, at);
	for (size_t step = 1; at > 0 && have > count; step += step / 8 + 1) {
		at = step < at ? character_start(text, len, at - step) : 0;
		have = token_counter_count(c, text, at);
	}
	size_t best = at;
	for (int i = 0; i < STEPS && at < len && have < count; i++) {
		at = character_end(text, at, len);
		int64_t more = token_counter_count(c, text, at);
		if (more <= count && more > have) {
			best = at;
			have = more;
		}
	}
	return best;
}

static size_t cut_approximately(const char *text, size_t len, int64_t count)
{
	return approximate(len) <= count ? len : character_start(text, len, (size_t)count * APPROX_BYTES);
}

static size_t cut_exactly(const struct token_counter *c, const char *text, size_t len, int64_t count)
{
	struct token_ids ids = {0};
	struct buffer decoded = {0};
	struct ipf_error err = {0};
	size_t end = len;
	int64_t all = with_scratch(c, list_ids, (struct slice){text, len}, &ids, &err);

	if (all > count && tokenizer_decode(c->tokenizer, ids.ids, (size_t)count, 0, &decoded, &err) == 0)
		end = decoded.len < len ? decoded.len : len;
	token_ids_release(&ids);
	buffer_release(&decoded);
	if (err.kind) {
		keep_failure(c, &err);
		return cut_approximately(text, len, count);
	}
	return adjust_cut(c, text, len, character_start(text, len, end), count);
}

size_t token_counter_cut(const struct token_counter *c, const char *text, size_t len, int64_t count)
{
	if (count <= 0)
		return 0;
	if (c->tokenizer)
		return cut_exactly(c, text, len, count);
	return cut_approximately(text, len, count);
}

int64_t token_counter_special_tokens(const struct token_counter *c)
{
	struct ipf_error err = {0};
	struct tokenizer_scratch *s = c->tokenizer ? scratch_take(c) : NULL;
	int64_t with = s ? tokenizer_count(c->tokenizer, s, slice_of("a"), TOKENIZER_SPECIAL, &err) : 0;
	if (!s)
		return 0;
	scratch_put(c, s);
	return with < 0 ? 0 : with - token_counter_count(c, "a", 1);
}

bool token_counter_encode(const struct token_counter *c, const char *text, size_t len, struct token_ids *ids)
{
	struct ipf_error err = {0};
	struct tokenizer_scratch *s = scratch_take(c);
	bool done = s && tokenizer_encode(c->tokenizer, s, (struct slice){text, len}, 0, ids, &err) == 0;
	if (s)
		scratch_put(c, s);
	return done;
}

uint32_t token_counter_vocabulary_size(const struct token_counter *c)
{
	return tokenizer_vocabulary_size(c->tokenizer);
}

void token_counter_token_text(const struct token_counter *c, uint32_t id, struct buffer *text)
{
	struct ipf_error err = {0};
	if (tokenizer_decode(c->tokenizer, &id, 1, 0, text, &err) < 0)
		text->failed = true;
}

json_t *token_counter_describe(const struct token_counter *c)
{
	if (c->tokenizer)
		return tokenizer_describe(c->tokenizer);
	return json_pack("{s:s, s:s, s:b}", "name", "approx", "rule", "bytes/4", "exact", 0);
}
