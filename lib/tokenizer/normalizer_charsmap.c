/* Precompiled: SentencePiece's map from strings to strings, a double-array trie in base64.
 *
 * The reference looks up each grapheme cluster of less than six bytes, then each character, and takes the first
 * (shortest) prefix it finds. It drops the rest of the cluster; so does this normalizer.
 */
#include "base64.h"
#include "tokenizer/code_point.h"
#include "tokenizer/normalizer.h"
#include "tokenizer/part_config.h"
#include "tokenizer/unicode.h"

#include "utf8.h"

#include <stdlib.h>
#include <string.h>

struct charsmap {
	struct normalizer base;
	uint32_t *units;
	size_t count;
	char *texts; /* each text ends in NUL, and so does the whole */
	size_t texts_len;
};

/* ---- the trie (Darts-clone's layout) ---- */

static size_t unit_offset(uint32_t unit)
{
	return (size_t)(unit >> 10) << ((unit & 0x200) >> 6);
}

/* Returns the text for the shortest prefix of `key` in the map; absent if there is none, and if a damaged trie leads
 * outside itself. */
static struct slice look_up(const struct charsmap *m, const char *key, size_t len)
{
	size_t node = unit_offset(m->units[0]);
	for (size_t i = 0; i < len && key[i]; i++) {
		unsigned char c = (unsigned char)key[i];
		node ^= c;
		if (node >= m->count)
			break;
		uint32_t unit = m->units[node];
		if ((unit & 0x800000ff) != c)
			break;
		node ^= unit_offset(unit);
		if (node >= m->count)
			break;
		if (unit >> 8 & 1) {
			size_t at = m->units[node] & 0x7fffffff;
			if (at > m->texts_len || ((unsigned char)m->texts[at] & 0xc0) == 0x80)
				break;
			return (struct slice){m->texts + at, strlen(m->texts + at)};
		}
	}
	return (struct slice){NULL, 0};
}

/* ---- clusters ---- */

static const char *cluster_end(const char *at, const char *end)
{
	utf8proc_int32_t state = 0;
	if (end - at >= 2 && (unsigned char)at[0] < 0x80 && (unsigned char)at[1] < 0x80 && *at != '\r')
		return at + 1;
	uint32_t before = unicode_for_clusters(utf8_next(&at));
	while (at < end) {
		const char *next = at;
		uint32_t c = unicode_for_clusters(utf8_next(&next));
		if (utf8proc_grapheme_break_stateful((utf8proc_int32_t)before, (utf8proc_int32_t)c, &state))
			break;
		before = c;
		at = next;
	}
	return at;
}

/* ---- applying ---- */

struct rewriting {
	const struct charsmap *map;
	struct buffer *out;
	const char *kept; /* the text from here on is not copied yet */
	bool changed;
};

static bool replace(struct rewriting *r, const char *at, const char *end)
{
	struct slice to = look_up(r->map, at, (size_t)(end - at));
	if (!to.data)
		return false;
	buffer_append(r->out, r->kept, (size_t)(at - r->kept));
	buffer_slice(r->out, to);
	r->kept = end;
	r->changed = true;
	return true;
}

static int apply_charsmap(const struct normalizer *self, struct slice text, struct buffer *out, struct ipf_error *err)
{
	const char *at = text.data, *end = text.data + text.len;
	struct rewriting r = {.map = (const struct charsmap *)self, .out = out, .kept = at};

	while (at < end) {
		const char *cluster = cluster_end(at, end);
		if (cluster - at < 6 && replace(&r, at, cluster)) {
			at = cluster;
			continue;
		}
		while (at < cluster) {
			const char *next = at;
			utf8_next(&next);
			replace(&r, at, next);
			at = next;
		}
	}
	if (r.changed)
		buffer_append(out, r.kept, (size_t)(end - r.kept));
	return out->failed ? ipf_error_memory(err) : r.changed;
}

/* ---- reading the map ---- */

/* Reads the length of the trie in bytes (little endian), the trie, and the texts. */
static int read_map(struct charsmap *m, const struct buffer *bytes, struct ipf_error *err)
{
	static const char part[] = "normalizer: Precompiled";
	const unsigned char *b = (const unsigned char *)bytes->data;
	if (bytes->len < 8)
		return config_refuse(part, "precompiled_charsmap", "a trie", err);
	size_t size = b[0] | (size_t)b[1] << 8 | (size_t)b[2] << 16 | (size_t)b[3] << 24;
	if (size % 4 || size < 4 || size > bytes->len - 4)
		return config_refuse(part, "precompiled_charsmap", "a complete trie", err);
	m->count = size / 4;
	m->texts_len = bytes->len - 4 - size;
	m->units = malloc(size);
	m->texts = malloc(m->texts_len + 1);
	if (!m->units || !m->texts)
		return ipf_error_memory(err);
	for (size_t i = 0; i < m->count; i++) {
		const unsigned char *u = b + 4 + 4 * i;
		m->units[i] = u[0] | (uint32_t)u[1] << 8 | (uint32_t)u[2] << 16 | (uint32_t)u[3] << 24;
	}
	memcpy(m->texts, b + 4 + size, m->texts_len);
	m->texts[m->texts_len] = '\0';
	for (size_t at = 0; at < m->texts_len; at += strlen(m->texts + at) + 1)
		if (!utf8_valid(m->texts + at, strlen(m->texts + at), NULL))
			return config_refuse(part, "precompiled_charsmap", "texts in UTF-8", err);
	return 0;
}

static void free_charsmap(struct normalizer *self)
{
	struct charsmap *m = (struct charsmap *)self;
	free(m->units);
	free(m->texts);
	free(m);
}

int normalizer_charsmap(struct normalizer **normalizer, const json_t *config, struct ipf_error *err)
{
	static const char part[] = "normalizer: Precompiled";
	struct buffer bytes = {0};
	struct slice text;
	int status = -1;

	if (config_text(config, part, "precompiled_charsmap", &text, err) < 0)
		return -1;
	struct charsmap *m = calloc(1, sizeof *m);
	if (!m)
		return ipf_error_memory(err);
	m->base = (struct normalizer){apply_charsmap, free_charsmap};
	if (text.len % 4 || base64_decode(text, &bytes) < 0)
		config_refuse(part, "precompiled_charsmap", "base64", err);
	else if (bytes.failed)
		ipf_error_memory(err);
	else
		status = read_map(m, &bytes, err);
	buffer_release(&bytes);
	if (status < 0)
		free_charsmap(&m->base);
	else
		*normalizer = &m->base;
	return status;
}
