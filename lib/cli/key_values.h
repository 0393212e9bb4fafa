/* The value of an option saying several things: `1:4,delay=5s,scale-at=8`. The text before the first comma is the
 * option's own business; this reads the rest.
 *
 *     static const struct key_value keys[] = {{"delay", KEY_VALUE_DURATION, offsetof(struct x, delay_ns), NULL}};
 *     if (key_values_parse("delay=5s,idle=1m", keys, 1, &x, err) < 0) …
 */
#ifndef IPF_KEY_VALUES_H
#define IPF_KEY_VALUES_H

#include "error.h"

#include <stddef.h>

#define KEY_VALUE_TEXT_SIZE 101 /* the longest a part can be, and a NUL */

enum key_value_kind {
	KEY_VALUE_COUNT,    /* int64_t */
	KEY_VALUE_DURATION, /* int64_t ns */
	KEY_VALUE_SIZE,     /* int64_t bytes */
	KEY_VALUE_SHARE,    /* double 0…1 */
	KEY_VALUE_RATE,     /* double per second */
	KEY_VALUE_CHOICE,   /* int: the index in `choices` */
	KEY_VALUE_TEXT      /* char[KEY_VALUE_TEXT_SIZE] */
};

struct key_value {
	const char *name;
	enum key_value_kind kind;
	size_t offset;
	const char *const *choices; /* NULL at the end */
};

/* Each KEY=VALUE of the text, between commas, goes into its member of `into`; an empty text is none. -1: err says which
 * part is wrong. */
int key_values_parse(const char *text, const struct key_value *keys, size_t count, void *into, struct ipf_error *err);

#endif
