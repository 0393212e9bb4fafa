/* Reads JSON on the paths running per line or per event: strict about types, and errors name the field. Headers,
 * descriptors and reports use jansson, which is twenty times slower. jout.h writes.
 *
 * A text is parsed into a flat table of nodes. The table is reused for the next text, so nothing is allocated once it
 * has grown. Strings are decoded only on request.
 *
 *     struct jdoc j = {0};
 *     if (jdoc_parse(&j, line.data, line.len, &err) < 0) …
 *     int64_t tokens;
 *     switch (jdoc_get_int(&j, JDOC_ROOT, "output_tokens", &tokens, &err)) {
 *     case 1: …  case 0: absent or null  case -1: err says `output_tokens: expected an integer, got "many"`
 *     }
 *     jdoc_release(&j);
 *
 * The text must outlive its use. Errors: invalid UTF-8, control characters in strings, numbers that are not JSON,
 * nesting deeper than 512, anything after the value. If a key is duplicate, the first one counts.
 */
#ifndef IPF_JDOC_H
#define IPF_JDOC_H

#include "buffer.h"
#include "error.h"

#include <stdint.h>

enum jdoc_type { JDOC_NULL, JDOC_BOOL, JDOC_NUMBER, JDOC_TEXT, JDOC_LIST, JDOC_MAP };

typedef uint32_t jdoc_id; /* the index of a node; a typedef so that it is not mistaken for a count */
#define JDOC_ROOT ((jdoc_id)0)
#define JDOC_NONE UINT32_MAX

struct jdoc_node {
	uint32_t begin, end; /* the value's bytes in the text, quotes included */
	jdoc_id next;        /* the node after this one and everything in it */
	uint32_t count;      /* elements of a list, members of a map */
	uint8_t type;
	bool escaped; /* a text with a backslash in it */
	uint8_t use;  /* enum jdoc_use */
};

struct jdoc {
	const char *text;
	struct jdoc_node *nodes;
	uint32_t count, cap;
	bool watched; /* by jdoc_watch() */
};

/* Parses exactly one value; white space around it is allowed. 0, or -1 with the byte offset and the fault in err.
 */
int jdoc_parse(struct jdoc *j, const char *text, size_t len, struct ipf_error *err);
void jdoc_release(struct jdoc *j);

/* Whether a value was asked for: as a member, as an element, or in a loop. A list or map whose bytes were taken is used
 * with everything in it. Only a document watched knows this; each jdoc_parse() begins anew. */
enum jdoc_use { JDOC_UNUSED, JDOC_USED, JDOC_USED_WHOLE };
static inline void jdoc_watch(struct jdoc *j)
{
	j->watched = true;
}
/* For a value asked for and then not used after all. */
static inline void jdoc_unuse(const struct jdoc *j, jdoc_id node)
{
	if (node < j->count)
		j->nodes[node].use = JDOC_UNUSED;
}
/* For a value whose node is known. */
static inline jdoc_id jdoc_used(const struct jdoc *j, jdoc_id node)
{
	if (node < j->count)
		j->nodes[node].use = JDOC_USED;
	return node;
}
static inline enum jdoc_use jdoc_use_of(const struct jdoc *j, jdoc_id node)
{
	return node < j->count ? (enum jdoc_use)j->nodes[node].use : JDOC_UNUSED;
}

/* Two members of the root that are most of a long line, and that are read while it is parsed instead of being kept as
 * nodes: a text, and a list of rows of three integers, as [[10,243,11],[20,240,21]].
 *
 *     struct jdoc_direct d = {.text_key = "body", .text = &body, .rows_key = "reads"};
 *     if (jdoc_parse_direct(&j, line.data, line.len, &d, &err) < 0) …
 *     if (d.rows_node != JDOC_NONE && d.rows_node == jdoc_get(&j, JDOC_ROOT, "reads")) … d.rows[i][0] …
 *
 * A member read has a node, of a list without its elements. A list in another form (spaces, rows of another length,
 * negative or larger numbers, other values) is not read but has nodes like any other. */
enum { JDOC_ROW = 3 };
struct jdoc_direct {
	const char *text_key, *rows_key;
	struct buffer *text;       /* the caller's; cleared, then the decoded characters */
	int64_t (*rows)[JDOC_ROW]; /* zero-initialise; reused by the next call; the caller frees it */
	size_t rows_count, rows_cap;
	jdoc_id text_node, rows_node; /* the values read, the first of each key; JDOC_NONE: none */
};
int jdoc_parse_direct(struct jdoc *j, const char *text, size_t len, struct jdoc_direct *direct, struct ipf_error *err);

/* Access. Every function accepts JDOC_NONE and returns JDOC_NONE, 0 or an absent slice for it. */
static inline enum jdoc_type jdoc_type_of(const struct jdoc *j, jdoc_id node)
{
	return node < j->count ? (enum jdoc_type)j->nodes[node].type : JDOC_NULL;
}
/* The value of a map's member; JDOC_NONE if it is absent or `map` is not a map. A NUL must follow the key. */
jdoc_id jdoc_member(const struct jdoc *j, jdoc_id map, struct slice key);
static inline jdoc_id jdoc_get(const struct jdoc *j, jdoc_id map, const char *key)
{
	return jdoc_member(j, map, (struct slice){key, strlen(key)}); /* the length of a literal is known here */
}
jdoc_id jdoc_at(const struct jdoc *j, jdoc_id list, uint32_t index);
/* The key of a map's member; JDOC_NONE if the node is none. */
jdoc_id jdoc_key_of(const struct jdoc *j, jdoc_id node);
uint32_t jdoc_count(const struct jdoc *j, jdoc_id node);
struct slice jdoc_raw(const struct jdoc *j, jdoc_id node);               /* its bytes in the text, verbatim */
bool jdoc_is_null(const struct jdoc *j, jdoc_id node);                   /* true for JDOC_NONE too */
bool jdoc_text_is(const struct jdoc *j, jdoc_id node, const char *text); /* a text node that equals `text` */
/* Whether no text in the value has characters a terminal must not get (safe_text.h). */
bool jdoc_is_safe(const struct jdoc *j, jdoc_id node);
bool jdoc_text_empty(const struct jdoc *j, jdoc_id node); /* false only for a text that is not "" */

/* for (struct jdoc_each e = jdoc_each(&j, node); jdoc_step(&e);) … e.key (JDOC_NONE in a list), e.value */
struct jdoc_each {
	const struct jdoc *j;
	jdoc_id at, end;
	bool map;
	jdoc_id key, value;
};
struct jdoc_each jdoc_each(const struct jdoc *j, jdoc_id node);
bool jdoc_step(struct jdoc_each *e);

/* Appends the decoded characters of a text node as UTF-8. A lone surrogate becomes U+FFFD. */
void jdoc_text(const struct jdoc *j, jdoc_id node, struct buffer *out);
/* False: not an integer literal within int64, whose least value is none: it is IPF_ABSENT. */
bool jdoc_to_int(const struct jdoc *j, jdoc_id node, int64_t *value);
/* False: not a number, too large for a double, or of 1 kB or more. */
bool jdoc_to_double(const struct jdoc *j, jdoc_id node, double *value);

/* Members of a given type. 1: found; 0: absent or null; -1: another type, err says `key: expected …, got …`. */
int jdoc_get_int(const struct jdoc *j, jdoc_id map, const char *key, int64_t *value, struct ipf_error *err);
int jdoc_get_uint(const struct jdoc *j, jdoc_id map, const char *key, int64_t *value, struct ipf_error *err); /* >= 0 */
int jdoc_get_bool(const struct jdoc *j, jdoc_id map, const char *key, bool *value, struct ipf_error *err);
/* Appends the decoded text. */
int jdoc_get_text(const struct jdoc *j, jdoc_id map, const char *key, struct buffer *out, struct ipf_error *err);
/* The bytes of a member of this type (a text with its quotes). *raw is absent unless the result is 1. */
int jdoc_get_raw(const struct jdoc *j, jdoc_id map, const char *key, enum jdoc_type type, struct slice *raw,
                 struct ipf_error *err);
/* Sets err to `key: expected WANTED, got VALUE` with the node's value, shortened; returns -1. */
int jdoc_expected(const struct jdoc *j, jdoc_id node, const char *key, const char *wanted, struct ipf_error *err);

#endif
