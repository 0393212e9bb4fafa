/* Parses JSON into a tree, with bounded memory: a list in a list is two bytes of text, and over a hundred of memory.
 *
 *     json_t *tree = json_tree_load(buffer_all(&text), FILE_MOST, JSON_REJECT_DUPLICATES, &why);
 */
#ifndef IPF_JSON_TREE_H
#define IPF_JSON_TREE_H

#include "buffer.h"

#include <jansson.h>

/* `most`: the bytes that such a text may have; of its values there may be a sixteenth of that, so the tree takes at
 * most some 8 * `most` bytes. `flags` are jansson's. NULL: `why` has the line (-1: none) and the reason. */
json_t *json_tree_load(struct slice text, size_t most, size_t flags, json_error_t *why);

#endif
