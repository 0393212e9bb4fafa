#include "tokenizer/token_counter.h"

#include "json/utf8.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define APPROX_BYTES 4
#define IDLE_MAX     64 /* scratches kept for the next caller */

struct token_counter {
	struct tokenizer *tokenizer; /* NULL: the approximation */
	struct idle {
		pthread_mutex_t lock;
		struct tokenizer_scratch *scratches[IDLE_MAX];
		int count;
		struct ipf_error failure; /* the first */
	} * idle;
};

/* A word that is no path at all was meant as a name. */
static bool looks_like_name(const char *name)
{
	return !strchr(name, '/') && access(name, F_OK) != 0 && errno == ENOENT;
}

int token_counter_open(struct token_counter **tokens, const char *name, struct ipf_error *err)
{
	*tokens = NULL;
	if (name && strcmp(name, "approx") != 0 && looks_like_name(name))
		return ipf_error_set(err, IPF_USAGE,
		                     "unknown tokenizer \"%s\" (known: approx, or the path of a tokenizer.json)", name);
	struct token_counter *t = calloc(1, sizeof *t);
	if (!t)
		return ipf_error_memory(err);
	if (!name || strcmp(name, "approx") == 0) {
		*tokens = t;
		return 0;
	}
	if (tokenizer_open(&t->tokenizer, name, err) < 0) {
		free(t);
		return -1;
	}
	t->idle = calloc(1, sizeof *t->idle);
	if (!t->idle) {
		token_counter_close(t);
		return ipf_error_memory(err);
	}
	pthread_mutex_init(&t->idle->lock, NULL);
	*tokens = t;
	return 0;
}

void token_counter_close(struct token_counter *t)
{
	if (!t)
		return;
	if (t->idle) {
		for (int i = 0; i < t->idle->count; i++)
			tokenizer_scratch_free(t->idle->scratches[i]);
		pthread_mutex_destroy(&t->idle->lock);
		free(t->idle);
	}
	tokenizer_close(t->tokenizer);
	free(t);
}

bool token_counter_exact(const struct token_counter *t)
{
	return t->tokenizer;
}

static struct tokenizer_scratch *scratch_take(const struct token_counter *t)
{
	struct tokenizer_scratch *s = NULL;
	pthread_mutex_lock(&t->idle->lock);
	if (t->idle->count)
		s = t->idle->scratches[--t->idle->count];
	pthread_mutex_unlock(&t->idle->lock);
	return s ? s : tokenizer_scratch_new(t->tokenizer);
}

static void scratch_give(const struct token_counter *t, struct tokenizer_scratch *s)
{
	pthread_mutex_lock(&t->idle->lock);
	if (t->idle->count < IDLE_MAX) {
		t->idle->scratches[t->idle->count++] = s;
		s = NULL;
	}
	pthread_mutex_unlock(&t->idle->lock);
	tokenizer_scratch_free(s);
}

/* How many bytes of an ill-formed sequence become one U+FFFD: as many as could have begun a character (Unicode's
 * "maximal subpart", what servers do too). */
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

static int no_memory(struct ipf_error *err)
{
	return ipf_error_memory(err);
}

/* What an action does with a text and a scratch: -1 on error. */
typedef int64_t action(const struct token_counter *t, struct tokenizer_scratch *s, const char *text, size_t len,
                       struct token_ids *ids, struct ipf_error *err);

static int64_t count_ids(const struct token_counter *t, struct tokenizer_scratch *s, const char *text, size_t len,
                         struct token_ids *ids, struct ipf_error *err)
{
	(void)ids;
	return tokenizer_count(t->tokenizer, s, text, len, 0, err);
}

static int64_t list_ids(const struct token_counter *t, struct tokenizer_scratch *s, const char *text, size_t len,
                        struct token_ids *ids, struct ipf_error *err)
{
	return tokenizer_encode(t->tokenizer, s, text, len, 0, ids, err) < 0 ? -1 : (int64_t)ids->count;
}

/* With the text as it is, and, where it is not UTF-8, with what stands for that. */
static int64_t act(const struct token_counter *t, action *what, const char *text, size_t len, struct token_ids *ids,
                   struct ipf_error *err)
{
	struct tokenizer_scratch *s = scratch_take(t);
	struct buffer whole = {0};
	int64_t result = -1;

	if (s && utf8_valid(text, len, NULL)) {
		result = what(t, s, text, len, ids, err);
	} else if (s) {
		replace_bad(text, len, &whole);
		result = whole.failed ? -1 : what(t, s, whole.data, whole.len, ids, err);
	}
	if (s)
		scratch_give(t, s);
	buffer_release(&whole);
	return result < 0 && !err->kind ? no_memory(err) : result;
}

static void keep_failure(const struct token_counter *t, const struct ipf_error *err)
{
	pthread_mutex_lock(&t->idle->lock);
	if (!t->idle->failure.kind)
		t->idle->failure = *err;
	pthread_mutex_unlock(&t->idle->lock);
}

int64_t token_counter_count(const struct token_counter *t, const char *text, size_t len)
{
	struct ipf_error err = {0};
	if (!t->tokenizer)
		return approximate(len);
	int64_t count = act(t, count_ids, text, len, NULL, &err);
	if (count >= 0)
		return count;
	keep_failure(t, &err);
	return approximate(len);
}

int token_counter_check(const struct token_counter *t, struct ipf_error *err)
{
	if (!t->idle)
		return 0;
	pthread_mutex_lock(&t->idle->lock);
	bool failed = t->idle->failure.kind;
	if (failed && !err->kind)
		*err = t->idle->failure;
	pthread_mutex_unlock(&t->idle->lock);
	return failed ? -1 : 0;
}

int64_t token_counter_count_parts(const struct token_counter *t, const char *text, size_t len, const size_t *ends,
                                  size_t count, int64_t *counts, struct ipf_error *err)
{
	struct token_ids ids = {0};
	size_t *places = NULL;
	int64_t total;

	if (!t->tokenizer) {
		for (size_t i = 0; i < count; i++)
			counts[i] = approximate(ends[i]);
		return approximate(len);
	}
	total = act(t, list_ids, text, len, &ids, err);
	if (total > 0 && !(places = reallocarray(NULL, ids.count, sizeof *places)))
		total = no_memory(err);
	if (total > 0 && tokenizer_ends(t->tokenizer, ids.ids, ids.count, text, len, places, err) < 0)
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

/* To the character's start; a place where there is no character stays. */
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

#define STEPS 32 /* characters that a cut is moved by at most, to get all of the tokens */

/* `at`: where the first `count` tokens end by their texts. Counted by itself a beginning may have other tokens than the
 * whole has there. */
static size_t settle_cut(const struct token_counter *t, const char *text, size_t len, size_t at, int64_t count)
{
	int64_t have = token_counter_count(t, text, at);
	for (size_t step = 1; at > 0 && have > count; step += step / 8 + 1) {
		at = step < at ? character_start(text, len, at - step) : 0;
		have = token_counter_count(t, text, at);
	}
	size_t best = at;
	for (int i = 0; i < STEPS && at < len && have < count; i++) {
		at = character_end(text, at, len);
		int64_t more = token_counter_count(t, text, at);
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

static size_t cut_exactly(const struct token_counter *t, const char *text, size_t len, int64_t count)
{
	struct token_ids ids = {0};
	struct buffer decoded = {0};
	struct ipf_error err = {0};
	size_t end = len;
	int64_t all = act(t, list_ids, text, len, &ids, &err);

	if (all > count && tokenizer_decode(t->tokenizer, ids.ids, (size_t)count, 0, &decoded, &err) == 0)
		end = decoded.len < len ? decoded.len : len;
	token_ids_release(&ids);
	buffer_release(&decoded);
	if (err.kind) {
		keep_failure(t, &err);
		return cut_approximately(text, len, count);
	}
	return settle_cut(t, text, len, character_start(text, len, end), count);
}

size_t token_counter_cut(const struct token_counter *t, const char *text, size_t len, int64_t count)
{
	if (count <= 0)
		return 0;
	if (t->tokenizer)
		return cut_exactly(t, text, len, count);
	return approximate(len) <= count ? len : character_start(text, len, (size_t)count * APPROX_BYTES);
}

int64_t token_counter_around(const struct token_counter *t)
{
	struct ipf_error err = {0};
	struct tokenizer_scratch *s = t->tokenizer ? scratch_take(t) : NULL;
	int64_t with = s ? tokenizer_count(t->tokenizer, s, "a", 1, TOKENIZER_SPECIAL, &err) : 0;
	if (!s)
		return 0;
	scratch_give(t, s);
	return with < 0 ? 0 : with - token_counter_count(t, "a", 1);
}

bool token_counter_ids(const struct token_counter *t, const char *text, size_t len, struct token_ids *ids)
{
	struct ipf_error err = {0};
	struct tokenizer_scratch *s = scratch_take(t);
	bool done = s && tokenizer_encode(t->tokenizer, s, text, len, 0, ids, &err) == 0;
	if (s)
		scratch_give(t, s);
	return done;
}

uint32_t token_counter_size(const struct token_counter *t)
{
	return tokenizer_size(t->tokenizer);
}

void token_counter_id_text(const struct token_counter *t, uint32_t id, struct buffer *text)
{
	struct ipf_error err = {0};
	if (tokenizer_decode(t->tokenizer, &id, 1, 0, text, &err) < 0)
		text->failed = true;
}

json_t *token_counter_describe(const struct token_counter *t)
{
	if (t->tokenizer)
		return tokenizer_describe(t->tokenizer);
	return json_pack("{s:s, s:s, s:b}", "name", "approx", "rule", "bytes/4", "exact", 0);
}
