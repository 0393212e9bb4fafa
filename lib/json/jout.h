/* Writes JSON on the paths running per line. Commas are added automatically. jdoc.h reads.
 *
 *     struct jout w = {.out = &line};
 *     jout_begin_map(&w);
 *     jout_key(&w, "n"); jout_int(&w, 7);
 *     jout_end_map(&w);
 *
 * Running out of memory shows in the buffer's `failed`.
 */
#ifndef IPF_JOUT_H
#define IPF_JOUT_H

#include "buffer.h"

#include <jansson.h>
#include <stdint.h>

struct jout {
	struct buffer *out;
	bool comma; /* a value precedes: the next one needs a comma */
};
enum { JOUT_ROW = 3 };

void jout_begin_map(struct jout *w);
void jout_end_map(struct jout *w);
void jout_begin_list(struct jout *w);
void jout_end_list(struct jout *w);
void jout_key(struct jout *w, const char *key);              /* ASCII needing no escapes: written verbatim */
void jout_name(struct jout *w, const char *key, size_t len); /* the same, of a known length */
void jout_int(struct jout *w, int64_t value);
void jout_uint(struct jout *w, uint64_t value);
void jout_row(struct jout *w, const int64_t values[JOUT_ROW]); /* a list of so many integers, at once */
void jout_double(struct jout *w, double value); /* the shortest form reading back equal; null unless finite */
void jout_bool(struct jout *w, bool value);
void jout_null(struct jout *w);
void jout_string(struct jout *w, struct slice text); /* invalid UTF-8 becomes U+FFFD */
void jout_string0(struct jout *w, const char *text);
/* A part of a text, without quotes: valid UTF-8, which may begin and end within a character. */
void jout_escaped(struct jout *w, struct slice part);
void jout_value(struct jout *w, struct slice raw); /* bytes that are JSON already */
void jout_json(struct jout *w, json_t *value);     /* a jansson value; unlike jansson, reals in their shortest form */
/* Key and value together. An IPF_ABSENT integer or an absent slice writes neither. */
void jout_member_double(struct jout *w, const char *key, double value); /* nor does an infinite double */
void jout_member_int(struct jout *w, const char *key, int64_t value);
void jout_member_string(struct jout *w, const char *key, struct slice text);
void jout_member_value(struct jout *w, const char *key, struct slice raw);

#endif
