/* Keys sorting as bytes: several values behind each other sort by the first, then by the second, and so on.
 *
 *     struct buffer key = {0};
 *     sort_key_text(&key, session);
 *     sort_key_number(&key, start_ns);
 *     record_sorter_add(&sorter, buffer_all(&key), record, &err);
 */
#ifndef PREP_SORT_KEY_H
#define PREP_SORT_KEY_H

#include "buffer.h"

#include <stdint.h>

/* Sorts negative numbers before others. Takes 8 bytes. */
void sort_key_number(struct buffer *key, int64_t number);
/* Sorts bytes, and a text before longer ones beginning with it. An absent text is like an empty one. */
void sort_key_text(struct buffer *key, struct slice text);

#endif
